//! Runs the conformance vectors of a checkout against the Rust core: a real server, a real sandbox, a network that fails. What
//! a vector means is described in `tests/conformance/checkout/README.md`.
//!
//! `cargo test -p kassa-conformance --test checkout -- TEXT` runs the vectors with TEXT in their name only.

mod app;
mod compare;
mod run;
mod vectors;

use std::{process::ExitCode, sync::Arc};

use tokio::sync::Semaphore;

/// Most wait for what goes over sockets, and each has a server of its own.
const AT_ONCE: usize = 8;

fn main() -> ExitCode {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let chosen = vectors::load(&filter);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let (count, problems) = (chosen.len(), runtime.block_on(run_all(chosen)));
    for problem in &problems {
        println!("\nFAILED  {problem}");
    }
    kassa_conformance::report(count, problems.len())
}

async fn run_all(chosen: Vec<vectors::Vector>) -> Vec<String> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let running: Vec<_> = chosen
        .into_iter()
        .map(|vector| {
            let places = places.clone();
            tokio::spawn(async move {
                let _place = places.acquire().await.expect("it is never closed");
                run::run(&vector).await.map_err(|problem| format!("{} / {}: {problem}", vector.group, vector.name))
            })
        })
        .collect();
    let mut problems = Vec::new();
    for task in running {
        match task.await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => problems.push(problem),
            Err(panic) => problems.push(format!("panicked: {panic}")),
        }
    }
    problems
}
