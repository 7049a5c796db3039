//! The merchant's server over SQLite on a disk that flushes: what a payment takes, how many a second, how punctually many are
//! asked about, what they and waiting apps hold. Each measurement has a process of its own.

mod apps;
mod fill;
mod first_payment;
mod following;
mod gateway;
mod intents;
mod settlements;
mod start;

use std::{fs, path::Path, process::Command, sync::Arc};

use kassa::PaymentGateway;
use kassa_server::{NewCheckout, RealSurroundings, Server, ServerSettings, Storage};
use tokio::runtime::{Builder, Handle, Runtime};

type Measure = fn(&Path);
const MEASURES: [(&str, Measure); 6] = [
    ("first-payment", first_payment::measure),
    ("intents", intents::measure),
    ("settlements", settlements::measure),
    ("following", following::measure),
    ("start", start::measure),
    ("apps", apps::measure),
];
/// What a measurement starts beside itself.
const APART: [(&str, Measure); 2] = [("start-apart", start::apart), ("apps-apart", apps::apart)];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = arguments.get(1).expect("usage: server FOLDER [MEASUREMENT]");
    let wanted = arguments.get(2).filter(|argument| !argument.starts_with("--"));
    match wanted {
        Some(name) => {
            let found = MEASURES.iter().chain(&APART).find(|(known, _)| known == name);
            found.expect("a measurement").1(Path::new(folder));
        }
        None => MEASURES.iter().for_each(|(name, _)| alone(Path::new(folder), name)),
    }
}

/// In a folder of its own, which is removed: some files have a gigabyte.
fn alone(folder: &Path, name: &str) {
    eprintln!("measuring: {name}");
    let folder = folder.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    assert!(this_program(&folder, name).status().expect("a process").success(), "{name}");
    fs::remove_dir_all(&folder).expect("it was made just now");
}

/// This program in another process.
fn this_program(folder: &Path, name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a program"));
    command.arg(folder).arg(name);
    command
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

/// A server that asks as often as it must.
fn server(storage: impl Storage, gateway: impl PaymentGateway + 'static) -> Server {
    let mut settings = ServerSettings::new("https://pay.shop.example.kg/callbacks");
    settings.questions_per_second = 10_000;
    let surroundings = Arc::new(RealSurroundings::on(Handle::current()));
    Server::new(Arc::new(storage), Arc::new(gateway), surroundings, settings, None).expect("settings that can work")
}

fn order(reference: impl Into<String>) -> NewCheckout {
    NewCheckout::new(reference, 390.into(), "Two tickets", "https://shop.example.kg/paid")
}
