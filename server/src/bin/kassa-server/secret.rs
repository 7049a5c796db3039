//! `secret`: a new secret for signing events.

use std::process::ExitCode;

use kassa_server::{RealSurroundings, SigningSecret, Surroundings};

use super::{
    failure::{Done, Failure},
    output,
};

pub(crate) fn print() -> Done<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Failure::new)?;
    let mut bytes = [0; 32];
    RealSurroundings::on(runtime.handle().clone()).fill(&mut bytes).map_err(Failure::new)?;
    let printed = output::line(SigningSecret::from_random(bytes).expose());
    printed.map_err(|problem| Failure::new(format_args!("the secret could not be printed, and is lost: {problem}")))?;
    Ok(ExitCode::SUCCESS)
}
