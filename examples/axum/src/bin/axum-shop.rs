//! The shop at `kassa-server`, with its worker: `cargo run -p kassa-axum-shop --bin axum-shop`.

use std::{env, error::Error};

use kassa_axum_shop::{orders::deliver_paid, shop::Shop};
use tokio::net::TcpListener;

// docs: begin main
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let shop = Shop::from_environment()?; // a missing setting ends the start, and the error names it
    let worker = tokio::spawn(deliver_paid(shop.orders.clone()));
    let address = env::var("SHOP_LISTEN").unwrap_or_else(|_| "127.0.0.1:8000".to_owned());
    let server = axum::serve(TcpListener::bind(address).await?, shop.router());
    tokio::select! {
        ended = server => ended?,
        ended = worker => ended??, // the database failed: the program ends, and is started again
        pressed = tokio::signal::ctrl_c() => pressed?,
    }
    Ok(())
}
// docs: end main
