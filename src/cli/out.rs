//! The two streams. Colours go out only to a terminal, and not if `NO_COLOR` is set; a reader
//! that has gone away (`onceproof list | head`) is no error.

use crate::cli::exit::Failure;
use std::io::{self, IsTerminal, Write};

/// Columns if nobody says how wide the terminal is: when the output goes to a file.
const DEFAULT_WIDTH: usize = 120;

/// Writes to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What a write to standard output came to. Whoever closed the pipe has seen enough; anyone else
/// must not take a truncated text for a whole one.
pub fn written(done: io::Result<()>) -> Result<(), Failure> {
    match done {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output(e.to_string())),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Writes an error to standard error, as one line.
pub fn complain(text: &str) {
    let error = crate::report::words::one_line(text);
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{red}error:{red:#} {error}");
}

/// Writes to standard error what an error is about: several lines, none longer than the terminal is wide.
pub fn explain(text: &str) {
    let terminal = || io::stderr().is_terminal().then(|| usize::from(console_width()));
    let text = match columns().or_else(terminal) {
        Some(width) => folded(text, width.clamp(40, 160)),
        None => text.to_owned(),
    };
    let _ = writeln!(anstream::stderr(), "{}", text.trim_end());
}

/// Text whose long lines are continued under their beginnings. What shows a place in a file stays as it is.
fn folded(text: &str, width: usize) -> String {
    let shows_a_place = |line: &str| {
        line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" | ") || line.trim_start().starts_with("| ")
    };
    let mut out = String::new();
    for line in text.lines() {
        if line.chars().count() <= width || shows_a_place(line) {
            out += line;
            out.push('\n');
            continue;
        }
        let lead = line.len() - line.trim_start().len();
        for (n, part) in crate::report::words::wrap(line, width.saturating_sub(lead + 2)).into_iter().enumerate() {
            out += &" ".repeat(if n == 0 { lead } else { lead + 2 });
            out += &part;
            out.push('\n');
        }
    }
    out
}

/// How many columns there are: `COLUMNS` if it is set, else the terminal's, at most 160 so that lines stay readable.
pub fn width() -> usize {
    let terminal = || io::stdout().is_terminal().then(|| usize::from(console_width()));
    columns().or_else(terminal).filter(|columns| *columns > 0).unwrap_or(DEFAULT_WIDTH).clamp(40, 160)
}

/// `COLUMNS`, if it is set.
fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0)
}

fn console_width() -> u16 {
    // comfy-table already asks the operating system; no second crate for one number.
    let mut table = comfy_table::Table::new();
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    table.width().unwrap_or(DEFAULT_WIDTH as u16)
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn a_mistake_is_folded_and_the_line_that_it_shows_is_not() {
        let code = "zone = \"Asia/Shanghai\" # a comment that is long";
        let text = format!(
            "d.toml:3:8: unknown time zone `Asia/Atlantis` in the schedule\n 3 | {code}\n   |        ^^^^^\n   = write an IANA name, or an offset from UTC\n"
        );
        let folded = folded(&text, 40);
        assert!(folded.lines().all(|line| line.contains("| ") || line.chars().count() <= 40), "{folded}");
        assert!(folded.starts_with("d.toml:3:8: unknown time zone\n  `Asia/Atlantis` in the schedule\n 3 | zone"), "{folded}");
        assert!(folded.contains(code) && folded.ends_with("   = write an IANA name, or an offset\n     from UTC\n"), "{folded}");
    }
}
