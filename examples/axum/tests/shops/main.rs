//! Both shops, with real servers and with events and callbacks that a test makes itself.

mod direct;
mod shop;

use std::net::SocketAddr;

use axum::Router;
use kassa_axum_shop::orders::Orders;
use reqwest::{Client, Response, redirect::Policy};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// A payer whose payments the sandbox approves.
const PHONE: &str = "996555000101";
const OTP: &str = "101101";

/// A free port of this machine, and the address of the shop there.
async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

fn serve(listener: TcpListener, router: Router) {
    tokio::spawn(async { axum::serve(listener, router).await });
}

fn orders(folder: &TempDir) -> Orders {
    Orders::open(folder.path().join("shop.db").to_str().unwrap()).unwrap()
}

/// A browser that follows no redirect by itself.
fn browser() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().redirect(Policy::none()).build().unwrap()
}

fn location(response: &Response) -> String {
    response.headers()["location"].to_str().unwrap().to_owned()
}

/// Pays a pay-form of the sandbox: its page, then the wallet's page.
async fn pay_by_form(browser: &Client, page: &str) {
    let form = [("provider", "MBank"), ("phone", PHONE)];
    let chosen = browser.post(page).form(&form).send().await.unwrap();
    assert!(chosen.status().is_success() || chosen.status().is_redirection(), "{chosen:?}");
    let wallet = page.replace("/pay-form?", "/wallet?");
    let paid = browser.post(wallet).form(&[("otp", OTP)]).send().await.unwrap();
    assert!(paid.status().is_success() || paid.status().is_redirection(), "{paid:?}");
}
