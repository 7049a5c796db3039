//! The shop by the SDK alone, with its worker: `cargo run -p kassa-axum-shop --bin axum-direct`.

use std::{env, error::Error};

use kassa::{DeliveryPolicy, StopSignal};
use kassa_axum_shop::direct::DirectShop;
use tokio::net::TcpListener;

// docs: begin main
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let shop = DirectShop::from_environment()?;
    let stop = StopSignal::new();
    let worker = {
        let (shop, stopped) = (shop.clone(), stop.stopped());
        tokio::spawn(async move { shop.deliver(DeliveryPolicy::default(), stopped).await })
    };
    let address = env::var("SHOP_LISTEN").unwrap_or_else(|_| "127.0.0.1:8000".to_owned());
    let gateway = shop.gateway.clone();
    axum::serve(TcpListener::bind(address).await?, shop.router())
        .with_graceful_shutdown(async { drop(tokio::signal::ctrl_c().await) })
        .await?;
    stop.stop();
    println!("{}", worker.await??); // what was delivered, and what is left open
    gateway.close().await;
    Ok(())
}
// docs: end main
