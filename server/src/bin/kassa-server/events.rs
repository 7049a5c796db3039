//! `events replay`: deliveries that were given up, or stepped over, begin again. A server on the same database makes them.

use std::process::ExitCode;

use kassa_server::settings::Sources;

use super::{
    failure::{Done, Failure},
    keys::{existing, place, wait},
    output,
};

pub(crate) fn replay(sources: &Sources, checkout: Option<&str>) -> Done<ExitCode> {
    let checkout = checkout.map(str::parse).transpose().map_err(Failure::new)?;
    let place = place(sources)?;
    let started = wait(async { existing(&place).await?.replay(checkout).await.map_err(Failure::new) })?;
    let sentence = "checkouts whose events had been given up, or refused: a running server delivers them now";
    output::line(format_args!("{started} {sentence}")).map_err(output::unwritten)?;
    Ok(ExitCode::SUCCESS)
}
