//! Where the server of a URL is.

use std::io;

/// `host:port` of a URL such as `scheme://user:password@host:port/name`.
pub(super) fn authority(url: &str, port: u16) -> io::Result<String> {
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    let login_and_host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = login_and_host.rsplit_once('@').map_or(login_and_host, |(_, host)| host);
    if host.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the URL names no host; write `scheme://user:password@host:port/name`"));
    }
    // The colons of an IPv6 address stand in brackets.
    let has_port = host.rsplit_once(':').is_some_and(|(_, digits)| digits.parse::<u16>().is_ok());
    Ok(if has_port { host.to_owned() } else { format!("{host}:{port}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_host_and_may_name_a_port() {
        for (url, address) in [
            ("postgres://postgres@127.0.0.1:5433/postgres", "127.0.0.1:5433"),
            ("postgres://user:p@ss@db.example/name?options=-c%20a%3Db", "db.example:5432"),
            ("postgres://localhost", "localhost:5432"),
            ("postgres://user@[::1]:5433/name", "[::1]:5433"),
            ("postgres://user@[::1]/name", "[::1]:5432"),
        ] {
            assert_eq!(authority(url, 5432).ok().as_deref(), Some(address), "{url}");
        }
        for url in ["", "postgres:///name", "postgres://user@/name"] {
            assert!(authority(url, 5432).is_err(), "{url}");
        }
    }
}
