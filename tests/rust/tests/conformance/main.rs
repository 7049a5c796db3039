//! Runs the conformance vectors against the Rust core. What a vector means is described in
//! `tests/conformance/README.md`.
//!
//! `cargo test -p kassa-conformance --test conformance -- TEXT` runs the vectors with TEXT in their name or group only;
//! `-- --generate` writes the generated files anew.

mod canonical;
mod compare;
mod coverage;
mod generate;
mod inputs;
mod journals;
mod log;
mod operations;
mod printed;
mod run;
mod sandbox;
mod server;
mod vectors;

use std::{
    collections::BTreeMap,
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use vectors::Vector;

/// Most vectors wait for sockets and pauses, so many of them share a core.
const AT_ONCE: usize = 64;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--generate") {
        generate::write();
        return ExitCode::SUCCESS;
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-')).cloned().unwrap_or_default();
    let log = log::capture();
    let (all, mut problems) = vectors::load();
    let chosen: Vec<&Vector> =
        all.iter().filter(|vector| vector.name.contains(&filter) || vector.group.contains(&filter)).collect();
    problems.extend(run_all(&chosen));
    problems.extend(printed::search_log(&log, &chosen));
    if filter.is_empty() {
        problems.extend(coverage::gaps(&all));
        problems.extend(generate::differences());
    }
    report(&chosen, &problems)
}

fn run_all(chosen: &[&Vector]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(vector) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = run::run(vector);
                    problems.lock().unwrap().extend(found);
                }
            });
        }
    });
    problems.into_inner().unwrap()
}

fn report(chosen: &[&Vector], problems: &[String]) -> ExitCode {
    let mut groups = BTreeMap::<&str, usize>::new();
    chosen.iter().for_each(|vector| *groups.entry(&vector.group).or_default() += 1);
    for (group, count) in groups {
        println!("{group:>14}  {count:>4} vectors");
    }
    for problem in problems {
        println!("\nFAILED  {problem}");
    }
    kassa_conformance::report(chosen.len(), problems.len())
}
