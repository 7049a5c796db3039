//! What commands print. `println!` and `eprintln!` panic where nobody reads, or a disk is full.

use std::{
    fmt,
    io::{self, Write},
};

use super::failure::Failure;

/// Writes a line to the standard output, and flushes it. A command whose output cannot be written has failed.
pub(crate) fn line(text: impl fmt::Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Writes a line for a person to the standard error, if it can be written.
pub(crate) fn note(text: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The failure of a command whose output could not be written.
pub(crate) fn unwritten(problem: io::Error) -> Failure {
    Failure::new(format_args!("the output could not be written: {problem}"))
}
