//! The server as a program.

#![forbid(unsafe_code)]

mod check;
mod cli;
mod database;
mod log;
mod output;
mod probe;
mod rejudge;
mod serve;

use std::process::ExitCode;

use cli::Task;

fn main() -> ExitCode {
    let call = cli::parse();
    let done = match call.task {
        Task::Serve(options) => serve::run(&call.sources, &options),
        Task::Check => check::run(&call.sources),
        Task::Probe(options) => Ok(probe::run(&call.sources, *options)),
        Task::Rejudge(options) => Ok(rejudge::run(&call.sources, &options)),
        Task::NewKey { role, permission, name } => database::new_key(&call.sources, role, permission, &name),
        Task::ListKeys => database::list_keys(&call.sources),
        Task::RevokeKey { id } => database::revoke_key(&call.sources, &id),
        Task::ReplayEvents { checkout } => database::replay_events(&call.sources, checkout.as_deref()),
        Task::Secret => database::new_secret(),
    };
    match done {
        Ok(code) => code,
        Err(failure) => {
            output::note(failure);
            ExitCode::FAILURE
        }
    }
}
