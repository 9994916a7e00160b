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

/// Writes to standard error what an error is about: several lines.
pub fn explain(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", text.trim_end());
}

/// How many columns there are: `COLUMNS` if it is set, else the terminal's, at most 160 so that lines stay readable.
pub fn width() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || io::stdout().is_terminal().then(|| usize::from(console_width()));
    set.or_else(terminal).filter(|columns| *columns > 0).unwrap_or(DEFAULT_WIDTH).clamp(40, 160)
}

fn console_width() -> u16 {
    // comfy-table already asks the operating system; no second crate for one number.
    let mut table = comfy_table::Table::new();
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    table.width().unwrap_or(DEFAULT_WIDTH as u16)
}
