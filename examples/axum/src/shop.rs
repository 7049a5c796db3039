//! The shop at `kassa-server`.

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{Html, Redirect},
    routing::{get, post},
};
use kassa_client::{Client, NewCheckout, verify_event};
use tokio::task::block_in_place;
use uuid::Uuid;

use crate::{Failed, orders::Orders, setting};

// docs: begin settings
#[derive(Clone)]
pub struct Shop {
    pub kassa: Client,
    pub events_secret: String,
    pub url: String,
    pub orders: Orders,
}

impl Shop {
    pub fn from_environment() -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self {
            kassa: Client::from_environment()?, // KASSA_SERVER_URL, KASSA_API_KEY
            events_secret: setting("KASSA_EVENTS_SECRET")?,
            url: setting("SHOP_URL")?,
            orders: Orders::open(&setting("SHOP_DATABASE")?)?,
        })
    }

    pub fn router(self) -> Router {
        let routes = Router::new().route("/", get(product)).route("/buy", post(buy)).route("/events", post(event));
        routes.route("/orders/{reference}", get(order)).with_state(self)
    }
}
// docs: end settings

// docs: begin buy
async fn product() -> Html<&'static str> {
    Html(r#"<h1>A jar of honey, 390 som</h1><form method="post" action="/buy"><button>Buy</button></form>"#)
}

async fn buy(State(shop): State<Shop>) -> Result<Redirect, Failed> {
    let reference = format!("order-{}", Uuid::new_v4());
    block_in_place(|| shop.orders.add(&reference))?;
    let back = format!("{}/orders/{reference}", shop.url);
    let checkout = shop.kassa.open_checkout(&NewCheckout::new(&reference, 390.into(), "A jar of honey", &back)).await?;
    Ok(Redirect::to(&checkout.page_url.ok_or("the server shows no pages")?))
}

async fn order(
    State(shop): State<Shop>,
    Path(reference): Path<String>,
) -> Result<Result<Html<String>, StatusCode>, Failed> {
    let state = block_in_place(|| shop.orders.state(&reference))?;
    let page = |state| Html(format!(r#"<meta http-equiv="refresh" content="3"><h1>Your order is {state}</h1>"#));
    Ok(state.map(page).ok_or(StatusCode::NOT_FOUND))
}
// docs: end buy

// docs: begin event
async fn event(State(shop): State<Shop>, headers: HeaderMap, body: Bytes) -> Result<StatusCode, Failed> {
    let event = match verify_event(&body, &headers, [&shop.events_secret]) {
        Ok(event) => event,
        Err(error) => {
            eprintln!("an event was refused: {error}"); // for the log alone: the answer does not say why
            return Ok(StatusCode::UNAUTHORIZED);
        }
    };
    // What is not answered with 2xx comes again.
    let is_taken = !event.is_paid() || block_in_place(|| shop.orders.mark_paid(&event.reference))?;
    Ok(if is_taken { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND })
}
// docs: end event
