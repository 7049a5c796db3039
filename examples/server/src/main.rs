//! The server with a sandbox behind it. `start` is for trying it out by hand; `play` plays a shop and its payers, kills the
//! server in the middle of every payment, and shows what happened to the money.

mod api;
mod gateway_side;
mod play;
mod server_process;
mod shop;
mod stage;
mod start;

use std::process::ExitCode;

/// What went wrong, in a sentence.
type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> ExitCode {
    let result = match std::env::args().nth(1).as_deref() {
        None | Some("start") => start::run().await,
        Some("play") => play::run().await,
        Some(other) => Err(format!("there is no {other:?}: say start or play").into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}
