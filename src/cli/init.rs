//! `onceproof init`: a commented deployment file that runs as it is, or the schema of such files.

use crate::cli::exit::Failure;
use crate::cli::{Exit, out};
use crate::deployment_file::{EXAMPLE, schema};
use crate::report::files::Staged;
use crate::report::words::quoted;
use clap::Args;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What to write.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  onceproof init                            write deployment.toml, and look at it with `onceproof run`
  onceproof init - | less                   only show it
  onceproof init --schema schema.json       for editors: put `#:schema ./schema.json` into the first line of your file

Exit codes:
  0  written
  2  wrong usage, the file is there already, or it cannot be written")]
pub struct InitArgs {
    /// Where to; `-` is standard output [default: deployment.toml, or standard output with --schema]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    /// The JSON Schema of deployment files instead
    #[arg(long)]
    schema: bool,
}

/// Writes it.
pub fn run(args: &InitArgs) -> Result<Exit, Failure> {
    let (text, usual) = if args.schema { (schema::text(), "-") } else { (EXAMPLE.to_owned(), "deployment.toml") };
    let file = args.file.as_deref().unwrap_or(Path::new(usual));
    if file == Path::new("-") {
        out::print(&text)?;
        return Ok(Exit::AsExpected);
    }
    let name = file.display().to_string();
    let unwritable = |e: std::io::Error| match e.kind() {
        ErrorKind::AlreadyExists => Failure::Usage(format!("{name} is there already; write another name, or --force to replace it")),
        _ => Failure::Usage(format!("cannot write {name}: {e}")),
    };
    if args.force {
        let staged = Staged::at(file).map_err(unwritable)?;
        staged.write(&text).and_then(|()| staged.keep()).map_err(unwritable)?;
    } else {
        // Whoever makes the same file at the same time wins: nothing of theirs is lost.
        let mut file = OpenOptions::new().write(true).create_new(true).open(file).map_err(unwritable)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(unwritable)?;
    }
    let next = match args.schema {
        true => format!("put `#:schema {name}` into the first line of your file"),
        false => format!("look at it, then: onceproof run {}", quoted(&name)),
    };
    out::print(&format!("{name} is written; {next}\n"))?;
    Ok(Exit::AsExpected)
}
