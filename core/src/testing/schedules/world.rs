//! The gateway's side: its payments, what was done to them by which call, what can go wrong, and the bytes that come back.

use std::{
    collections::BTreeMap,
    sync::{Mutex, OnceLock},
    time::Duration,
};

use fastrand::Rng;
use serde_json::{Value, json};
use strum::VariantArray;

use crate::{
    fake::responses::{self, response},
    response::Response,
};

/// The one-time password of every payer.
pub(super) const OTP: &str = "123456";

/// One payment. What is known of it under a reused number is added up: that is what must never happen.
#[derive(Clone, Debug)]
pub(super) struct Payment {
    pub(super) gateway_number: String,
    pub(super) times_made: u32,
    pub(super) times_charged: u32,
    pub(super) end: Option<Ending>,
    /// A mobile-bank payment is charged by its confirmation, not by itself.
    awaits_confirmation: bool,
    planned: Ending,
}

/// The record of one call.
#[derive(Clone, Debug, Default)]
pub(super) struct CallRecord {
    pub(super) sent: u32,
    pub(super) effects: u32,
    pub(super) faults: Vec<Fault>,
}

pub(super) struct World {
    state: Mutex<State>,
    /// The first panic of a task that nobody waits for. On its own, because it may have happened inside the other lock.
    panic: OnceLock<String>,
}

struct State {
    rng: Rng,
    /// One in so many exchanges goes well; none goes wrong any more once healed.
    unreliable: bool,
    /// It gives payments the numbers of others, and its reports have no number.
    repeats_itself: bool,
    /// Until it is healed, it reports rejections of payments that come to be charged, and what was so a while ago.
    takes_back: bool,
    healed: bool,
    /// By the merchant's order number, or the QR transaction.
    payments: BTreeMap<String, Payment>,
    calls: Vec<CallRecord>,
}

impl World {
    pub(super) fn new(mut rng: Rng) -> Self {
        let unreliable = rng.u8(..10) > 0;
        let (repeats_itself, takes_back) = (rng.u8(..4) == 0, rng.u8(..4) == 0);
        let state = State {
            rng,
            unreliable,
            repeats_itself,
            takes_back,
            healed: false,
            payments: BTreeMap::new(),
            calls: Vec::new(),
        };
        Self { state: Mutex::new(state), panic: OnceLock::new() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics in here")
    }

    pub(super) fn note_panic(&self, sentence: String) {
        let _first_one = self.panic.set(sentence);
    }

    pub(super) fn panic_in_a_task(&self) -> Option<String> {
        self.panic.get().cloned()
    }

    pub(super) fn random<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.state().rng)
    }

    pub(super) fn begin_call(&self) -> usize {
        let mut state = self.state();
        state.calls.push(CallRecord::default());
        state.calls.len() - 1
    }

    pub(super) fn call(&self, id: usize) -> CallRecord {
        self.state().calls[id].clone()
    }

    pub(super) fn payment(&self, key: &str) -> Option<Payment> {
        self.state().payments.get(key).cloned()
    }

    pub(super) fn payments(&self) -> Vec<(String, Payment)> {
        self.state().payments.iter().map(|(key, payment)| (key.clone(), payment.clone())).collect()
    }

    pub(super) fn repeats_itself(&self) -> bool {
        self.state().repeats_itself
    }

    /// Whether what it says of a rejection is true.
    pub(super) fn takes_back(&self) -> bool {
        let state = self.state();
        state.takes_back && !state.healed
    }

    /// From now on everything answers, and what is open comes to its end.
    pub(super) fn heal(&self) {
        self.state().healed = true;
    }

    pub(super) fn draw_fault(&self, call: usize) -> Fault {
        let mut state = self.state();
        let fault = if state.healed || !state.unreliable || state.rng.u8(..5) == 0 {
            Fault::Answers
        } else {
            Fault::VARIANTS[state.rng.usize(..Fault::VARIANTS.len())]
        };
        state.calls[call].faults.push(fault);
        fault
    }

    pub(super) fn note_sent(&self, call: usize) {
        self.state().calls[call].sent += 1;
    }

    /// How long the way there and the way back take.
    pub(super) fn way(&self, fault: Fault) -> (Duration, Duration) {
        self.random(|rng| {
            let short = |rng: &mut Rng| Duration::from_millis(rng.u64(..1_500));
            let back = match fault {
                Fault::SlowResponse => Duration::from_millis(rng.u64(2_000..60_000)),
                Fault::NeverResponses => Duration::from_secs(100_000),
                _ => short(rng),
            };
            (short(rng), back)
        })
    }

    /// Carries a request out.
    pub(super) fn carry_out(&self, call: usize, endpoint: &'static str, fields: &Value) -> Response {
        let mut state = self.state();
        let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
        match endpoint {
            "card_payment" => {
                let key = text("orderNumber");
                let with_page = !text("pan").starts_with("40");
                let payment = state.make(call, &key, false);
                card(&key, with_page.then_some(payment.gateway_number.as_str()))
            }
            "mbank_payment" | "megapay_check" => {
                let key = text("orderNumber");
                state.make(call, &key, true);
                created(&key)
            }
            "mbank_confirm" if text("otp") != OTP => refused(400, "a wrong password"),
            "megapay_pay" if text("pinCode") != OTP => refused(400, "a wrong PIN"),
            "mbank_confirm" | "megapay_pay" => state.confirm(call, &text("orderNumber")),
            "pay_form" => pay_form(),
            "qr_image" => qr_image(),
            "qr_data" => {
                let key = format!("QR-{call}");
                state.make(call, &key, false);
                qr_data(&key)
            }
            "payment_status" => {
                let number = text("orderNumber");
                let key = state.payments.iter().find(|(_, it)| it.gateway_number == number).map(|(key, _)| key.clone());
                state.status(&key.unwrap_or_default())
            }
            "provider_status" => state.status(&text("orderNumber")),
            "qr_status" => state.status(&text("transaction_id")),
            other => unreachable!("no such endpoint: {other}"),
        }
    }
}

fn is_qr(key: &str) -> bool {
    key.starts_with("QR")
}

impl State {
    /// A number that was used before makes a second payment: the worst that a gateway can do with it.
    fn make(&mut self, call: usize, key: &str, awaits_confirmation: bool) -> Payment {
        let planned = if self.rng.bool() { Ending::Charged } else { Ending::Rejected };
        let is_repeated = self.repeats_itself && self.rng.bool();
        // A QR code that nobody saw is paid by nobody, even if another payment is queried.
        let first = self.payments.iter().find(|(first, _)| is_repeated && !is_qr(first) && !is_qr(key));
        let gateway_number = first.map_or_else(|| format!("G-{call}-{key}"), |(_, first)| first.gateway_number.clone());
        let payment = self.payments.entry(key.to_owned()).or_insert(Payment {
            gateway_number,
            times_made: 0,
            times_charged: 0,
            end: None,
            awaits_confirmation,
            planned,
        });
        payment.times_made += 1;
        let payment = payment.clone();
        self.calls[call].effects += 1;
        payment
    }

    /// A second confirmation is carried out, too.
    fn confirm(&mut self, call: usize, key: &str) -> Response {
        let Some(payment) = self.payments.get_mut(key).filter(|payment| payment.end != Some(Ending::Rejected)) else {
            return refused(400, "no such payment");
        };
        payment.times_charged += 1;
        payment.end = Some(Ending::Charged);
        self.calls[call].effects += 1;
        created(key)
    }

    fn status(&mut self, key: &str) -> Response {
        let ends = self.healed || self.rng.u8(..6) == 0;
        let done = self.rng.u8(..3) == 0;
        let Some(payment) = self.payments.get_mut(key) else { return refused(404, "no such payment") };
        if payment.end.is_none() && ends && done {
            let charged = payment.planned == Ending::Charged && !payment.awaits_confirmation;
            payment.times_charged += u32::from(charged) * payment.times_made;
            payment.end = Some(if charged { Ending::Charged } else { Ending::Rejected });
        }
        let (mut reported, mut names) = (payment.end, true);
        if self.takes_back && !self.healed {
            reported = match self.rng.u8(..6) {
                0 => Some(Ending::Rejected),
                1 => None,
                _ => reported,
            };
        }
        if self.repeats_itself {
            names = self.rng.bool();
        }
        status(key, reported, names)
    }
}

// How a simulated payment ends, by the gateway's books.

/// A final status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Charged,
    Rejected,
}

// What can go wrong with one exchange.

/// One way for an exchange to go wrong. `Answers` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, VariantArray)]
pub(super) enum Fault {
    Answers,
    NoConnection,
    SlowConnection,
    RequestLost,
    ResponseLost,
    SlowResponse,
    NeverResponses,
    Html502,
    Busy503,
    Busy429,
    Unauthorized401,
    NotTheGateway404,
    Timeout408,
    Conflict409,
    Redirect,
    NotJson,
    CutJson,
    TooLong,
    UnknownStatus,
    UnknownCode,
    OtherDialect,
}

impl Fault {
    /// Whether the gateway carries the request out all the same. Where it says that it did not, it did not.
    pub(super) fn takes_effect(self) -> bool {
        !matches!(
            self,
            Self::NoConnection
                | Self::RequestLost
                | Self::Busy503
                | Self::Busy429
                | Self::Unauthorized401
                | Self::NotTheGateway404
                | Self::Redirect
        )
    }
}

// The bytes that come back.

pub(super) fn card(order: &str, token: Option<&str>) -> Response {
    let mut data = json!({ "amount": 100, "currency": "KGS", "orderNumber": order });
    match token {
        Some(token) => data["ConfirmationUrl"] = format!("https://memory.example/3ds?token={token}").into(),
        None => data["status"] = "Success".into(),
    }
    envelope("110", "CREATED", &data)
}

pub(super) fn created(order: &str) -> Response {
    envelope("110", "CREATED", &json!({ "orderNumber": order }))
}

pub(super) fn pay_form() -> Response {
    envelope("110", "CREATED", &json!({ "payFormUrl": "https://memory.example/pay-form?token=1" }))
}

pub(super) fn qr_image() -> Response {
    static PICTURE: OnceLock<Vec<u8>> = OnceLock::new();
    response(200, PICTURE.get_or_init(white_picture))
}

/// Compressed once: thousands of responses carry it.
fn white_picture() -> Vec<u8> {
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 400, 400);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&vec![0; 400 * 50]));
    written.expect("a picture in memory");
    png
}

pub(super) fn qr_data(transaction: &str) -> Response {
    envelope("110", "CREATED", &json!({ "transaction_id": transaction, "qr_data": "https://memory.example/qr" }))
}

pub(super) fn status(order: &str, end: Option<Ending>, names_it: bool) -> Response {
    let word = match end {
        Some(Ending::Charged) => "CHARGE",
        Some(Ending::Rejected) => "Reject",
        None => "PENDING",
    };
    // A QR code is requested in tyiyn, and the schedules name no unit.
    let amount = if order.starts_with("QR") { 10_000 } else { 100 };
    let number = names_it.then_some(order);
    envelope("200", "STATUS", &json!({ "orderNumber": number, "amount": amount, "status": word, "currency": "KGS" }))
}

pub(super) fn refused(http_status: u16, message: &str) -> Response {
    responses::refused(http_status, &http_status.to_string(), message)
}

fn envelope(code: &str, message: &str, data: &Value) -> Response {
    response(200, json!({ "code": code, "message": message, "data": data }).to_string().as_bytes())
}

/// What the caller sees instead of the response that was due.
pub(super) fn spoiled(fault: Fault, due: Response) -> Response {
    let (http_status, whole) = (due.http_status, due.text().into_owned());
    let changed = |change: fn(&mut Value)| changed(&whole, change).map(|body| response(http_status, body.as_bytes()));
    match fault {
        Fault::Html502 => response(502, b"<html>Bad Gateway</html>"),
        Fault::Busy503 => response(503, b"{}"),
        Fault::Busy429 => Response { retry_after: Some(Duration::from_secs(3)), ..response(429, b"{}") },
        Fault::Unauthorized401 => refused(401, "who are you?"),
        Fault::NotTheGateway404 => response(404, b"<html>Not Found</html>"),
        Fault::Timeout408 => refused(408, "too slow"),
        Fault::Conflict409 => refused(409, "conflict"),
        Fault::Redirect => response(302, b""),
        Fault::NotJson => response(200, b"<html>OK</html>"),
        Fault::CutJson => response(http_status, &whole.as_bytes()[..whole.len() / 2]),
        Fault::TooLong => Response { over_limit: true, ..due },
        Fault::UnknownStatus => changed(|body| body["data"]["status"] = "HELD".into()).unwrap_or(due),
        Fault::UnknownCode => changed(|body| body["code"] = "777".into()).unwrap_or(due),
        Fault::OtherDialect => {
            changed(|body| *body = json!({ "result": body["code"], "payload": body["data"] })).unwrap_or(due)
        }
        _ => due,
    }
}

/// A JSON response with something else in it; none where it is not JSON.
fn changed(whole: &str, change: impl FnOnce(&mut Value)) -> Option<String> {
    let mut response: Value = serde_json::from_str(whole).ok()?;
    change(&mut response);
    Some(response.to_string())
}
