//! `events replay`: deliveries that were given up begin again. A server on the same database makes them.

use std::process::ExitCode;

use kassa_server::{Storage, settings::Sources};

use super::{
    failure::{Done, Failure},
    keys::{existing, wait},
};

pub(crate) fn replay(sources: &Sources, checkout: Option<&str>) -> Done<ExitCode> {
    let checkout = checkout.map(str::parse).transpose().map_err(Failure::new)?;
    let started = wait(existing(sources)?.replay(checkout))?.map_err(Failure::new)?;
    println!("{started} checkouts whose events had been given up: a running server delivers them now");
    Ok(ExitCode::SUCCESS)
}
