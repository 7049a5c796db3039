//! The tests of this package are programs of their own; this is what they share.

use std::process::ExitCode;

/// Prints how many cases a program has played, as Rust's own test programs do, so that whoever counts them finds the line. A program that
/// has played none has failed: a filter that matches no name tests nothing.
pub fn report(played: usize, problems: usize) -> ExitCode {
    let is_good = problems == 0 && played > 0;
    let word = if is_good { "ok" } else { "FAILED" };
    println!("\ntest result: {word}. {} passed; {problems} failed", played.saturating_sub(problems));
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
