//! The server as a program.

#![forbid(unsafe_code)]

mod announce;
mod check;
mod cli;
mod database;
mod events;
mod failure;
mod finding;
mod gateway_check;
mod keys;
mod log;
mod output;
mod probe;
mod secret;
mod serve;
mod stop;
mod traces;
mod warnings;

use std::process::ExitCode;

use cli::Task;

fn main() -> ExitCode {
    let call = cli::parse();
    let done = match call.task {
        Task::Serve(options) => serve::run(&call.sources, &options),
        Task::Check => check::run(&call.sources),
        Task::Probe(options) => Ok(probe::run(&call.sources, *options)),
        Task::NewKey { role, may, name } => keys::new(&call.sources, role, may, &name),
        Task::ListKeys => keys::list(&call.sources),
        Task::RevokeKey { id } => keys::revoke(&call.sources, &id),
        Task::ReplayEvents { checkout } => events::replay(&call.sources, checkout.as_deref()),
        Task::Secret => secret::print(),
    };
    match done {
        Ok(code) => code,
        Err(failure) => {
            output::note(failure);
            ExitCode::FAILURE
        }
    }
}
