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
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        [] | ["start"] => start::run(None).await,
        ["start", "--events-url", url] => start::run(Some(url)).await,
        ["play"] => play::run().await,
        _ => Err("usage: kassa-server-demo start [--events-url URL], or kassa-server-demo play".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}
