//! The payer's app on one device: a checkout, and what its screen has shown last.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use kassa::{Card, Checkout, CheckoutState, CheckoutStates, PaymentError};
use kassa_test_patience::patience;
use serde_json::{Value, json};
use tokio::{sync::Mutex, time::timeout};

use crate::compare::matches;

pub type Stage = Arc<Mutex<kassa_stage::Scene>>;

pub struct App {
    checkout: Checkout,
    states: CheckoutStates,
    shown: Option<Value>,
}

impl App {
    pub fn open(server_url: &str, token: &str, input: &Value, stage: &Stage) -> Result<Self, PaymentError> {
        let mut checkout = Checkout::open(server_url, token)?;
        if let Some(failures) = input["renews_after_failures"].as_u64() {
            checkout = checkout.with_token_renewal(renewal(failures, stage));
        }
        Ok(Self { states: checkout.states(), checkout, shown: None })
    }

    /// What the payer does, or the app for them; nothing where the name is none of theirs.
    pub fn act(&self, name: &str, input: &Value) -> Option<Result<Value, PaymentError>> {
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        let done = match name {
            "pay_by_mbank" => self.checkout.pay_by_mbank(text("phone")),
            "pay_by_megapay" => self.checkout.pay_by_megapay(text("phone")),
            "pay_by_qr" => self.checkout.pay_by_qr(),
            "pay_by_form" => self.checkout.pay_by_form(),
            "pay_by_card" => {
                let year = i32::try_from(input["expiry_year"].as_i64().unwrap()).unwrap();
                let card = Card::new(text("pan"), text("expiry_month"), year, text("cvc"), text("holder_name"));
                self.checkout.pay_by_card(&card)
            }
            "confirm" => self.checkout.confirm(text("otp")),
            "change_method" => self.checkout.change_method(),
            "keep_method" => self.checkout.keep_method(),
            "page_opened" => {
                self.checkout.page_opened();
                Ok(())
            }
            "came_back" => {
                self.checkout.came_back();
                Ok(())
            }
            "check_now" => {
                self.checkout.check_now();
                Ok(())
            }
            "renew_token" => {
                self.checkout.renew_token(text("client_token"));
                Ok(())
            }
            "close" => {
                self.checkout.close();
                Ok(())
            }
            "details" => return Some(Ok(json!(self.checkout.details()))),
            "print" => return Some(Ok(json!(format!("{:?} {:?}", self.checkout, self.states)))),
            _ => return None,
        };
        Some(done.map(|()| Value::Null))
    }

    /// Waits until the screen shows what is expected. It must show nothing of `never` on the way.
    pub async fn until(&mut self, expected: &Value, never: &[Value]) -> Result<(), String> {
        let mut seen = vec![json!(self.shown)];
        loop {
            if let Some(wrong) = never.iter().find(|kind| matches(kind, &seen[seen.len() - 1]["kind"])) {
                return Err(format!("must never show {wrong}, and did: {seen:?}"));
            }
            if seen.last().is_some_and(|shown| matches(expected, shown)) {
                return Ok(());
            }
            let next = timeout(patience(), self.states.next());
            let state = next.await.map_err(|_| format!("does not come to {expected}: {seen:?}"))?;
            self.shown = state.as_ref().map(canonical);
            seen.push(json!(self.shown));
            if state.is_none() && !matches(expected, &Value::Null) {
                return Err(format!("ended before {expected}: {seen:?}"));
            }
        }
    }
}

/// What the app does when a token has run out: it fails a few times, then it has a new one.
fn renewal(
    failures: u64,
    stage: &Stage,
) -> impl Fn() -> std::pin::Pin<Box<dyn Future<Output = Result<String, String>> + Send>> + Send + Sync + 'static {
    let (calls, stage) = (AtomicU64::new(0), stage.clone());
    move || {
        let fails = calls.fetch_add(1, Ordering::Relaxed) < failures;
        let stage = stage.clone();
        Box::pin(async move {
            if fails {
                return Err("the shop does not answer".to_owned());
            }
            stage.lock().await.new_token().await.map_err(|problem| problem.to_string())
        })
    }
}

fn canonical(state: &CheckoutState) -> Value {
    json!(state)
}
