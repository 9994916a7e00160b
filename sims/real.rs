//! Where the real servers are that some tests run against. They are optional: without them these
//! tests say that they did nothing, unless `ONCEPROOF_REQUIRE_SERVERS=1` asks for them.

use std::env;

/// The address in `variable`; `None`, and a line on stderr, if `test` has to do without.
///
/// # Panics
/// There is none, and `ONCEPROOF_REQUIRE_SERVERS` is 1.
pub fn address(variable: &str, test: &str) -> Option<String> {
    let found = env::var(variable).ok().filter(|address| !address.is_empty());
    if found.is_none() {
        let required = env::var("ONCEPROOF_REQUIRE_SERVERS").is_ok_and(|wish| wish == "1");
        assert!(!required, "{test}: {variable} is not set, and ONCEPROOF_REQUIRE_SERVERS is 1");
        eprintln!("skipped: {test}: {variable} is not set");
    }
    found
}
