//! The merchant's server over SQLite and over PostgreSQL, on a disk that flushes: what a payment takes, how many a second, how
//! punctually many are asked about, what they and waiting apps hold; on PostgreSQL, what one more process brings, and what its
//! peers take. Each measurement has a process of its own, and a folder or a database.

mod apps;
mod fill;
mod first_payment;
mod following;
mod gateway;
mod intents;
mod leases;
mod parts;
mod peers;
mod place;
mod plain;
mod recording;
mod sandbox;
mod snapshot;
mod start;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use kassa::PaymentGateway;
use kassa_server::{NewCheckout, Server, ServerSettings, Storage, TokioRuntime};
use kassa_test_postgres::Cluster;
use place::Place;
use tokio::runtime::{Builder, Handle, Runtime};

type Measure = fn(&Place);

/// On either database.
const MEASURES: [(&str, Measure); 7] = [
    ("first-payment", first_payment::measure),
    ("intents", intents::measure),
    ("recording", recording::measure),
    ("sandbox", sandbox::measure),
    ("following", following::measure),
    ("start", start::measure),
    ("apps", apps::measure),
];
/// On PostgreSQL alone.
const OF_A_FLEET: [(&str, Measure); 3] =
    [("leases", leases::measure), ("snapshot", snapshot::measure), ("peers", peers::measure)];
/// What a measurement starts beside itself.
const APART: [(&str, Measure); 8] = [
    ("start-apart", start::apart),
    ("apps-apart", apps::apart),
    ("intents-apart", intents::apart),
    ("leases-apart", leases::apart),
    ("recording-apart", recording::apart),
    ("lease-rounds", peers::lease_rounds),
    ("job-rounds", peers::job_rounds),
    ("plain-rounds", plain::rounds),
];
/// As an operator would set it on a machine such as this one.
const POSTGRES: [&str; 5] = [
    "shared_buffers=2GB",
    "effective_cache_size=8GB",
    "max_wal_size=8GB",
    "checkpoint_timeout=15min",
    "wal_compression=lz4",
];

fn main() {
    let arguments: Vec<String> = std::env::args().filter(|argument| !argument.starts_with("--")).collect();
    let [folder, on] = arguments.get(1..3).unwrap_or_default() else {
        panic!("usage: server FOLDER sqlite|postgres|postgres://... [MEASUREMENT]")
    };
    let (folder, wanted) = (PathBuf::from(folder), arguments.get(3));
    match (on.as_str(), wanted) {
        ("sqlite", None) => MEASURES.iter().for_each(|(name, _)| on_a_file(&folder, name)),
        ("postgres", _) => on_postgres(&folder, wanted),
        ("sqlite", Some(name)) => measure(name, &Place { folder, url: None }),
        (url, Some(name)) => measure(name, &Place { folder, url: Some(url.to_owned()) }),
        (_, None) => panic!("which measurement?"),
    }
}

fn measure(name: &str, place: &Place) {
    let found = MEASURES.iter().chain(&OF_A_FLEET).chain(&APART).find(|(known, _)| *known == name);
    found.expect("a measurement").1(place);
}

fn on_a_file(folder: &Path, name: &str) {
    alone(&Place { folder: folder.join(name), url: None }, name);
}

/// All measurements of a cluster, or those that are named (separated by commas), each over a copy of one database with
/// many open payments.
fn on_postgres(folder: &Path, wanted: Option<&String>) {
    let cluster = Cluster::start_with(&POSTGRES);
    let filled = fill::database(&cluster);
    let is_wanted = |name: &str| wanted.is_none_or(|names| names.split(',').any(|wanted| wanted == name));
    for (name, _) in MEASURES.iter().chain(&OF_A_FLEET).filter(|(name, _)| is_wanted(name)) {
        let database = filled.copy();
        alone(&Place { folder: folder.join(name), url: Some(database.url()) }, name);
    }
}

/// In a folder of its own, which is removed: some files have a gigabyte.
fn alone(place: &Place, name: &str) {
    eprintln!("measuring: {name}, {}", place.kind());
    fs::create_dir_all(&place.folder).expect("a folder");
    assert!(place.process(name).status().expect("a process").success(), "{name}");
    fs::remove_dir_all(&place.folder).expect("it was made just now");
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

/// A server that asks as often as it must.
fn server(storage: Arc<dyn Storage>, gateway: impl PaymentGateway + 'static) -> Server {
    let mut settings = ServerSettings::new("https://pay.shop.example.kg/callbacks");
    settings.poll_rate = 10_000;
    let runtime = Arc::new(TokioRuntime::on(Handle::current()));
    Server::new(storage, Arc::new(gateway), runtime, settings, None).expect("settings that can work")
}

fn order(reference: impl Into<String>) -> NewCheckout {
    NewCheckout::new(reference, 390.into(), "Two tickets", "https://shop.example.kg/paid")
}
