//! The programs in Rust that pages of docs/ hold themselves: each stands here as it is shown, and runs against the sandbox.

mod screen;
mod worker;

use kassa::{BlockingGateway, Credentials, GatewayConfig, Journal, MbankPayment};
use kassa_sandbox::{Sandbox, SandboxOptions};
use kassa_stage::Scene;
use serde_json::json;
use tempfile::TempDir;

use crate::repository::Repository;

#[test]
fn what_runs_here_is_what_is_shown() {
    let repository = Repository::committed();
    for (page, program) in [("docs/checkout.md", "screen"), ("docs/journal.md", "worker")] {
        let shown = repository.text(page);
        let shown = shown.split("```").find_map(|block| block.strip_prefix("rust\n"));
        let runs = repository.text(&format!("tests/rust/tests/documents/programs/{program}.rs"));
        assert_eq!(shown, Some(runs.replace("pub ", "").as_str()), "{page}");
    }
}

#[test]
fn payment_screen_is_paid() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let scene = Scene::open(&json!({})).await.unwrap();
        let token = scene.new_token().await.unwrap();
        assert!(screen::screen(&scene.server_url(), &token).await.unwrap());
        scene.close().await;
    });
}

#[test]
fn worker_finishes_payment_charged_meanwhile() {
    let (sandbox, folder) = (Sandbox::start(SandboxOptions::default()).unwrap(), TempDir::new().unwrap());
    let config = || GatewayConfig::new(sandbox.url(), Credentials::basic(sandbox.login(), sandbox.password()));
    let journal = Journal::open(folder.path()).unwrap();
    let shop = BlockingGateway::new(config()).unwrap().with_journal(journal.clone());
    let payment = MbankPayment::new("order-17", 250, "996555000101", "Two coffees");
    let payment = shop.create_mbank_payment(payment).unwrap().payment;
    sandbox.approve("order-17").unwrap();
    worker::deliver_what_is_paid(config(), folder.path()).unwrap();
    assert!(journal.entry(&payment).unwrap().unwrap().is_finished);
}
