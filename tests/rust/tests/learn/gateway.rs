//! An invented gateway over real sockets: it registers payments, takes confirmations, and answers queries in its own style.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use kassa::{Decimal, Elqr, ElqrKind, QrCode, QrLevel};
use serde_json::{Value, json};

use crate::style::{Ambiguity, Random, Style, Words};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Created,
    Pending,
    Paid,
    Declined,
}

struct Payment {
    own: Option<String>,
    number: String,
    /// In som.
    amount: Decimal,
    is_qr: bool,
    state: State,
    /// What a pending payment becomes, and after how many queries.
    fate: State,
    queries: u32,
}

struct Core {
    style: Style,
    payments: Vec<Payment>,
    random: Random,
    answered: u64,
}

/// A running gateway.
pub struct Invented {
    pub url: String,
    core: Arc<Mutex<Core>>,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Invented {
    pub fn start(style: &Style) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let random = Random::new(style.seed ^ 0xabcd);
        let core = Arc::new(Mutex::new(Core { style: style.clone(), payments: Vec::new(), random, answered: 0 }));
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (shared, stopped) = (Arc::clone(&core), Arc::clone(&is_stopped));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                if let Ok(stream) = stream {
                    answer(stream, &shared);
                }
            }
        });
        Self { url: format!("http://{address}"), core, is_stopped, thread: Some(thread) }
    }

    /// The payer acts on the gateway's page: the payment waits, and becomes this at its second query.
    pub fn act(&self, number: &str, fate: State) {
        let mut core = self.core.lock().expect("no panic");
        let payment = core.find(number).expect("a payment");
        (payment.state, payment.fate, payment.queries) = (State::Pending, fate, 0);
    }
}

impl Drop for Invented {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Release);
        let _woken = TcpStream::connect(self.url.trim_start_matches("http://"));
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn answer(mut stream: TcpStream, core: &Mutex<Core>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    let mut first = String::new();
    let mut length = 0;
    reader.read_line(&mut first).expect("a request");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the body");
    let target = first.split(' ').nth(1).unwrap_or_default();
    let request = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let (status, response) = core.lock().expect("no panic").respond(target, &request);
    let text = response.to_string();
    let head = format!(
        "HTTP/1.1 {status} Whatever\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        text.len()
    );
    let _sent = stream.write_all(format!("{head}{text}").as_bytes());
}

/// A response that is built up value by value.
struct Draft(Value);

impl Draft {
    fn set(&mut self, pointer: &str, value: Value) {
        let mut at = &mut self.0;
        for name in pointer.split('/').skip(1) {
            if !at.is_object() {
                *at = json!({});
            }
            at = &mut at[name];
        }
        *at = value;
    }
}

impl Core {
    fn find(&mut self, number: &str) -> Option<&mut Payment> {
        self.payments
            .iter_mut()
            .rev()
            .find(|payment| payment.number == number || payment.own.as_deref() == Some(number))
    }

    fn respond(&mut self, target: &str, request: &Value) -> (u16, Value) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        let codes = self.style.codes.clone();
        match path {
            "/api/v1.1.0/payment" => self.create(request, "orderNumber", |core, draft, index| core.card(draft, index)),
            "/api/v1.1.0/mbank/pay" => self.create(request, "orderNumber", |core, draft, index| {
                core.sum(draft, index);
                let number = core.payments[index].number.clone();
                draft.set(&core.style.gateway_number.clone(), json!(number));
            }),
            "/api/v1.1.0/mbank/confirm" => {
                self.confirm(&text(self.style.confirm_field), &text("orderNumber"), &text("otp"))
            }
            "/api/v1.1.0/pay-form" => self.create(request, "", |core, draft, index| {
                let page = format!("https://pay.example/form/{}", core.payments[index].number);
                draft.set(&core.style.form.clone(), json!(page));
            }),
            "/gen/qr/dynamic" => self.create(request, "", |core, draft, _| {
                let picture = QrCode::encode("https://pay.example/qr", QrLevel::Medium)
                    .expect("a code")
                    .png(400)
                    .expect("a picture");
                draft.set(&core.style.image.clone(), json!(STANDARD.encode(picture)));
            }),
            "/gen/qr/dynamic/data" => self.create(request, "", |core, draft, index| core.qr(draft, index)),
            "/api/v1.1.0/status" | "/api/v1.1.0/get-status" => {
                self.report(&text("orderNumber"), path.ends_with("get-status"))
            }
            "/gen/qr/transaction/status" => {
                self.report(query.strip_prefix("transaction_id=").unwrap_or_default(), false)
            }
            _ => (404, self.envelope(&codes.not_found, "No such address").0),
        }
    }

    /// The envelope, with values that mean nothing.
    fn envelope(&mut self, code: &str, reason: &str) -> Draft {
        self.answered += 1;
        let mut draft = Draft(json!({}));
        let is_number = self.style.codes_are_numbers;
        let value = code.parse::<i64>().ok().filter(|_| is_number).map_or_else(|| json!(code), |number| json!(number));
        draft.set(&self.style.code.clone(), value);
        let reason =
            if self.style.ambiguity == Ambiguity::TwoCodes { reason.replace(' ', "_") } else { reason.to_owned() };
        draft.set(&self.style.reason.clone(), json!(reason));
        draft.set("/trace", json!(format!("tr-{:x}-{}", self.random.next(), self.answered)));
        draft.set("/time", json!(format!("2026-11-30T09:{:02}:{:02}", self.answered / 60 % 60, self.answered % 60)));
        draft.set("/version", json!("3.1"));
        draft
    }

    fn create(&mut self, request: &Value, own: &str, fill: impl FnOnce(&mut Self, &mut Draft, usize)) -> (u16, Value) {
        let codes = self.style.codes.clone();
        let own = request[own].as_str().map(str::to_owned);
        if own.as_deref().is_some_and(|own| self.find(own).is_some()) {
            return (409, self.envelope(&codes.duplicate, "The number was used").0);
        }
        let sum = request["sum"].as_i64();
        let amount =
            sum.map_or_else(|| request["amount"].to_string().parse().expect("an amount"), |sum| Decimal::new(sum, 2));
        let number = format!("G{:08x}k{}", self.random.next() >> 32, self.payments.len());
        let (state, fate) = (State::Created, State::Paid);
        self.payments.push(Payment { own, number, amount, is_qr: sum.is_some(), state, fate, queries: 0 });
        let mut draft = self.envelope(&codes.created, "Registered for payment");
        fill(self, &mut draft, self.payments.len() - 1);
        (200, draft.0)
    }

    fn card(&mut self, draft: &mut Draft, index: usize) {
        self.sum(draft, index);
        let number = self.payments[index].number.clone();
        if self.style.has_token {
            draft.set(&self.style.page.clone(), json!(format!("https://pay.example/3ds?lang=ru&token={number}")));
        } else {
            draft.set(&self.style.page.clone(), json!(format!("https://pay.example/3ds/{number}")));
            draft.set(&self.style.gateway_number.clone(), json!(number));
        }
        draft.set("/help", json!("https://pay.example/help"));
    }

    fn sum(&self, draft: &mut Draft, index: usize) {
        let payment = &self.payments[index];
        draft.set(&self.style.order, json!(payment.own));
        self.amount(draft, index);
        draft.set(&self.style.currency, self.currency());
    }

    fn currency(&self) -> Value {
        if self.style.currency_is_number { json!(417) } else { json!("KGS") }
    }

    fn amount(&self, draft: &mut Draft, index: usize) {
        let payment = &self.payments[index];
        let in_tyiyn = payment.is_qr && !self.style.qr_in_som;
        let amount = if in_tyiyn { (payment.amount * Decimal::ONE_HUNDRED).normalize() } else { payment.amount };
        let text = if self.style.amounts_are_texts { amount.to_string() } else { amount.normalize().to_string() };
        let value =
            if self.style.amounts_are_texts { json!(text) } else { serde_json::from_str(&text).expect("a number") };
        draft.set(&self.style.amount, value);
    }

    fn qr(&mut self, draft: &mut Draft, index: usize) {
        let payment = &self.payments[index];
        let mut code = Elqr::new(ElqrKind::Dynamic, "qr.invented.example", "Shop", "5399");
        code.service_code = Some("01".to_owned());
        code.transaction = self.style.transaction_in_code.then(|| payment.number.clone());
        code.amount_tyiyn = i64::try_from(payment.amount * Decimal::ONE_HUNDRED).ok();
        code.amount_editable = Some(false);
        draft.set(&self.style.qr_text, json!(code.text().expect("a code")));
        if !self.style.transaction_in_code {
            draft.set(&self.style.transaction, json!(payment.number));
        }
        self.amount(draft, index);
    }

    fn confirm(&mut self, identifier: &str, order: &str, otp: &str) -> (u16, Value) {
        let codes = self.style.codes.clone();
        let (is_200, order_place) = (self.style.refuses_wrong_passwords_with_200, self.style.order.clone());
        let Some(payment) = self.find(identifier).filter(|payment| payment.number == identifier) else {
            return (404, self.envelope(&codes.not_found, "No such payment").0);
        };
        let own = payment.own.clone();
        assert!(order == identifier || own.as_deref() == Some(order), "the number of another payment");
        if otp == "000000" {
            return (if is_200 { 200 } else { 400 }, self.envelope(&codes.wrong_password, "Wrong password").0);
        }
        payment.state = State::Pending;
        payment.fate = if otp == "666666" { State::Declined } else { State::Paid };
        let mut draft = self.envelope(&codes.confirmed, "Confirmed by payer");
        draft.set(&order_place, json!(own));
        (200, draft.0)
    }

    fn report(&mut self, number: &str, by_own: bool) -> (u16, Value) {
        let style = self.style.clone();
        let known = self.payments.iter().rposition(|payment| {
            let is_own = payment.own.as_deref() == Some(number);
            if by_own { is_own } else { payment.number == number }
        });
        let Some(index) = known else { return (404, self.envelope(&style.codes.not_found, "No such payment").0) };
        let payment = &mut self.payments[index];
        payment.queries += 1;
        if payment.state == State::Pending && payment.queries > 1 {
            payment.state = payment.fate;
        }
        let (state, is_qr) = (payment.state, payment.is_qr);
        let shown = if style.status_reports_own_number { payment.own.clone() } else { Some(payment.number.clone()) };
        let shown = if by_own { payment.own.clone() } else { shown.or(Some(payment.number.clone())) };
        let (code, reason) = match state {
            State::Declined => (&style.codes.declined, "Declined by the bank"),
            State::Paid => (&style.codes.found, "Money was taken"),
            State::Created | State::Pending => (&style.codes.found, "Payment is found"),
        };
        let mut draft = self.envelope(code, reason);
        let word = if is_qr { word(&style.qr_words, state) } else { word(&style.words, state) };
        if let Some(place) = style.qr_word.as_ref().filter(|_| is_qr) {
            draft.set(place, json!(word));
            return (200, draft.0);
        }
        let is_number = if is_qr { style.qr_words.paid == "2" } else { style.words_are_numbers };
        let word = word.parse::<i64>().ok().filter(|_| is_number).map_or_else(|| json!(word), |number| json!(number));
        draft.set(&style.status, word);
        draft.set(&style.currency, self.currency());
        self.amount(&mut draft, index);
        if !is_qr {
            draft.set(&style.order, json!(shown));
        }
        if style.ambiguity == Ambiguity::TwinAmounts && !is_qr {
            let amount = draft.0.pointer(&style.amount).cloned();
            draft.set(&format!("{}_net", style.amount), json!(amount));
        }
        (200, draft.0)
    }
}

fn word(words: &Words, state: State) -> &str {
    match state {
        State::Created => &words.created,
        State::Pending => &words.pending,
        State::Paid => &words.paid,
        State::Declined => &words.declined,
    }
}
