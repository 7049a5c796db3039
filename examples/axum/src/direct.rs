//! The same shop without `kassa-server`: it talks to the gateway itself.

use axum::{
    Router,
    extract::{Path, State},
    http::{StatusCode, Uri},
    response::{Html, Redirect},
    routing::{get, post},
};
use kassa::{
    Callback, CallbackKey, DeliveryPolicy, DeliverySummary, Gateway, GatewayConfig, Journal, PayForm, PaymentError,
};
use tokio::task::block_in_place;

use crate::{
    Failed,
    orders::{Orders, ship},
    setting,
};

// docs: begin settings
#[derive(Clone)]
pub struct DirectShop {
    pub gateway: Gateway,
    pub key: CallbackKey,
    pub url: String,
    pub orders: Orders,
}

impl DirectShop {
    pub fn from_environment() -> Result<Self, Box<dyn std::error::Error>> {
        let journal = Journal::open(setting("SHOP_JOURNAL")?)?;
        Ok(Self {
            // KASSA_URL, KASSA_LOGIN, KASSA_PASSWORD, KASSA_DIALECT
            gateway: Gateway::new(GatewayConfig::from_environment()?)?.with_journal(journal),
            key: CallbackKey::new(&setting("SHOP_CALLBACK_SECRET")?)?,
            url: setting("SHOP_URL")?,
            orders: Orders::open(&setting("SHOP_DATABASE")?)?,
        })
    }

    pub fn router(self) -> Router {
        let routes = Router::new().route("/buy", post(buy)).route("/orders/{reference}", get(order));
        routes.route("/callbacks", post(callback)).with_state(self)
    }
}
// docs: end settings

// docs: begin buy
async fn buy(State(shop): State<DirectShop>) -> Result<Redirect, Failed> {
    let reference = kassa::new_order_number();
    block_in_place(|| shop.orders.add(&reference))?;
    let mut form = PayForm::new(390.into(), "A jar of honey", format!("{}/callbacks", shop.url))
        .with_return_url(format!("{}/orders/{reference}", shop.url))
        .with_entry_id(&reference); // the journal makes one pay-form for each order
    form.callback_url = shop.key.callback_url(&form.callback_url, &form.payment_ref())?;
    let created = shop.gateway.with_note(&reference)?.create_pay_form(form).await?;
    Ok(Redirect::to(&created.pay_form_url))
}
// docs: end buy

async fn order(
    State(shop): State<DirectShop>,
    Path(reference): Path<String>,
) -> Result<Result<Html<String>, StatusCode>, Failed> {
    let state = block_in_place(|| shop.orders.state(&reference))?;
    Ok(state.map(|state| Html(format!("<h1>Your order is {state}</h1>"))).ok_or(StatusCode::NOT_FOUND))
}

// docs: begin callback
async fn callback(State(shop): State<DirectShop>, called: Uri, body: String) -> StatusCode {
    let signed = shop.key.read_callback_url(&called.to_string());
    let (Ok(payment), Ok(claimed)) = (signed, Callback::parse(&body)) else { return StatusCode::BAD_REQUEST };
    // A callback is only a hint. The journal records what the gateway reports, and the worker delivers.
    match shop.gateway.verify_callback(&claimed, &payment).await {
        Ok(_) => StatusCode::NO_CONTENT,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE, // the gateway sends it again
    }
}
// docs: end callback

// docs: begin worker
impl DirectShop {
    /// Polls what the shop has sent, and delivers what is charged, until `stop` is there.
    pub async fn deliver(
        &self,
        policy: DeliveryPolicy,
        stop: impl Future<Output = ()>,
    ) -> Result<DeliverySummary, PaymentError> {
        let deliver = |entry: kassa::JournalEntry| async move {
            let reference = entry.note.unwrap_or_default();
            block_in_place(|| {
                self.orders.mark_paid(&reference)?;
                self.orders.deliver(&reference, ship)
            })
        };
        self.gateway.deliver_forever(policy, stop, deliver).await
    }
}
// docs: end worker
