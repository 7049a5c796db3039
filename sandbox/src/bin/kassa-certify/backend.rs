//! The side that the shop calls: kassa-server with the sandbox behind it, or the sandbox alone. Requests of the shop pass through here, so
//! that what it opens is known without querying it, and an answer can be lost.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use kassa_sandbox::{Sandbox, SandboxOptions};
use reqwest::Client;
use serde_json::Value;
use tokio::{net::TcpListener, time::sleep};

use crate::{
    event::{self, Event},
    http::{self, Answer, Received},
    options::Behind,
    pay_method::{PATIENCE, plain, token_of},
    server_process::Server,
    shop::until,
};

/// A checkout at the server or a payment at the gateway, opened by the shop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opened {
    /// The shop's number of the order.
    pub(crate) reference: String,
    /// The checkout, or the gateway's number of the payment.
    pub(crate) id: String,
    pub(crate) amount: String,
    pub(crate) currency: String,
    pub(crate) return_url: String,
    /// The URL for the gateway's callbacks.
    pub(crate) callback_url: String,
}

/// A fault in the shop's next request that opens a checkout or payment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OpeningFault {
    #[default]
    None,
    /// It is refused and has no effect.
    Refused(u16),
    /// It takes effect, and the answer is lost.
    ResponseLost,
    /// It takes effect, and the answer is not JSON.
    Garbage,
    /// It takes effect, and the answer comes after this time.
    Late(Duration),
}

/// A false status of the gateway.
#[derive(Clone, Debug)]
pub(crate) enum FalseStatus {
    /// A member of `data` has another value.
    Member(&'static str, Value),
    /// An HTTP error.
    Status(u16),
    /// Something that is not JSON.
    Garbage,
}

/// State that requests change.
#[derive(Default)]
struct Records {
    opened: Vec<Opened>,
    /// For the next checkout.
    fault: OpeningFault,
    lifetime_s: Option<u64>,
    /// Events of the server or callbacks of the gateway, by the order's reference or the callback key.
    reported: HashMap<String, Vec<Event>>,
    /// The shop's queries.
    questions: Vec<String>,
    lies: HashMap<String, FalseStatus>,
    callbacks: HashMap<String, String>,
}

/// The side that the shop calls.
pub(crate) struct Backend {
    pub(crate) behind: Behind,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) secret: String,
    pub(crate) server: Option<Server>,
    client: Client,
    records: StdMutex<Records>,
    /// The address for the shop.
    front: String,
}

impl Backend {
    /// Starts everything but the shop.
    pub(crate) async fn start(
        behind: Behind,
        program: &Path,
        folder: &Path,
        client: Client,
    ) -> Result<Arc<Self>, String> {
        let sandbox = Sandbox::start(SandboxOptions::default()).map_err(|error| error.to_string())?;
        let failed = |error: std::io::Error| error.to_string();
        let (shop_side, shop_port) = http::listen(0).await.map_err(failed)?;
        let (gateway_side, gateway_port) = http::listen(0).await.map_err(failed)?;
        let (inbox, inbox_port) = http::listen(0).await.map_err(failed)?;
        let secret = event::new_secret();
        let local = |port: u16| format!("http://127.0.0.1:{port}");
        let server = match behind {
            Behind::Gateway => None,
            Behind::Server => {
                let events = format!("{}/events", local(inbox_port));
                Some(Server::prepare(program, folder, &sandbox, &local(gateway_port), &events, &secret).await?)
            }
        };
        let backend = Arc::new(Self {
            behind,
            sandbox: Arc::new(sandbox),
            secret,
            server,
            client,
            records: StdMutex::default(),
            front: local(shop_port),
        });
        backend.serve(shop_side, gateway_side, inbox, &local(inbox_port));
        if let Some(server) = &backend.server {
            server.start().await?;
        }
        Ok(backend)
    }

    fn serve(self: &Arc<Self>, shop_side: TcpListener, gateway_side: TcpListener, inbox: TcpListener, inbox_url: &str) {
        let (shop, gateway, take) = (Arc::clone(self), Arc::clone(self), Arc::clone(self));
        let inbox_url = inbox_url.to_owned();
        http::serve(shop_side, move |received| {
            let (backend, inbox_url) = (Arc::clone(&shop), inbox_url.clone());
            async move {
                match backend.behind {
                    Behind::Server => backend.of_server(received).await,
                    Behind::Gateway => backend.of_gateway(received, &inbox_url).await,
                }
            }
        });
        http::serve(gateway_side, move |received| {
            let backend = Arc::clone(&gateway);
            async move { backend.call_gateway(&received).await }
        });
        http::serve(inbox, move |received| {
            let backend = Arc::clone(&take);
            async move {
                backend.take(&received);
                StatusCode::NO_CONTENT.into_response()
            }
        });
    }

    /// Addresses and credentials for the shop, by placeholder.
    pub(crate) fn given(&self) -> BTreeMap<&'static str, String> {
        match &self.server {
            Some(server) => BTreeMap::from([
                ("server_url", self.front.clone()),
                ("api_key", server.key.clone()),
                ("events_secret", self.secret.clone()),
            ]),
            None => BTreeMap::from([
                ("gateway_url", self.front.clone()),
                ("gateway_login", self.sandbox.login().to_owned()),
                ("gateway_password", self.sandbox.password().to_owned()),
            ]),
        }
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the fault and lifetime of the next request that opens a checkout or payment.
    pub(crate) fn plan(&self, fault: OpeningFault, lifetime_s: Option<u64>) {
        let mut records = self.records();
        records.fault = fault;
        records.lifetime_s = lifetime_s;
    }

    /// The number of checkouts or payments opened so far.
    pub(crate) fn opened(&self) -> usize {
        self.records().opened.len()
    }

    /// Those opened after the first `count`.
    pub(crate) fn opened_since(&self, count: usize) -> Vec<Opened> {
        self.records().opened.iter().skip(count).cloned().collect()
    }

    /// Sets or removes a false status of this payment.
    pub(crate) fn lie(&self, number: &str, lie: Option<FalseStatus>) {
        let mut records = self.records();
        match lie {
            Some(lie) => records.lies.insert(number.to_owned(), lie),
            None => records.lies.remove(number),
        };
    }

    /// Whether a query of the shop contains one of these names.
    pub(crate) fn was_queried(&self, names: &[&str]) -> bool {
        let records = self.records();
        records.questions.iter().any(|question| names.iter().any(|name| !name.is_empty() && question.contains(name)))
    }

    /// The events or callbacks under this key so far.
    pub(crate) fn reported(&self, key: &str) -> Vec<Event> {
        self.records().reported.get(key).cloned().unwrap_or_default()
    }

    /// Waits for an event or callback.
    pub(crate) async fn report(&self, key: &str, is_it: impl Fn(&Event) -> bool) -> Result<Event, String> {
        let found = until(PATIENCE, || async { self.reported(key).into_iter().find(|event| is_it(event)) }).await;
        found.ok_or_else(|| {
            let kinds: Vec<String> = self.reported(key).iter().map(Event::kind).collect();
            format!("no more events or callbacks arrived for {key}: {}", kinds.join(", "))
        })
    }

    /// Stores an event of the server or a callback of the gateway.
    fn take(&self, received: &Received) {
        let value: Value = serde_json::from_slice(&received.body).unwrap_or_default();
        let key = match self.behind {
            Behind::Server => value["data"]["reference"].as_str().unwrap_or_default().to_owned(),
            Behind::Gateway => received.target.trim_start_matches('/').to_owned(),
        };
        let event = Event { id: value["id"].as_str().unwrap_or_default().to_owned(), body: received.body.to_vec() };
        self.records().reported.entry(key).or_default().push(event);
    }

    /// Answers the shop's request to kassa-server.
    async fn of_server(&self, mut received: Received) -> Response {
        let Some(server) = &self.server else {
            return StatusCode::NOT_FOUND.into_response();
        };
        let path = received.target.split('?').next().unwrap_or_default().to_owned();
        let opens = received.method == Method::POST && path == "/v1/checkouts";
        if !opens {
            if received.method == Method::GET {
                self.records().questions.push(received.target.clone());
            }
            return answered(http::forward(&self.client, &server.url, &received).await);
        }
        let (fault, lifetime) = {
            let mut records = self.records();
            (std::mem::take(&mut records.fault), records.lifetime_s.take())
        };
        if let OpeningFault::Refused(status) = fault {
            return StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE).into_response();
        }
        let mut wanted: Value = serde_json::from_slice(&received.body).unwrap_or_default();
        if let Some(lifetime) = lifetime {
            wanted["lifetime_s"] = lifetime.into();
            received.body = wanted.to_string().into();
        }
        let answer = http::forward(&self.client, &server.url, &received).await;
        if let Some(checkout) = answer.as_ref().ok().filter(|answer| answer.status < 300).map(Answer::json) {
            let text = |name: &str| checkout[name].as_str().unwrap_or_default().to_owned();
            self.records().opened.push(Opened {
                reference: text("reference"),
                id: text("id"),
                amount: text("amount"),
                currency: text("currency"),
                return_url: text("return_url"),
                callback_url: String::new(),
            });
        }
        with_fault(fault, answer).await
    }

    /// Answers the shop's request to the gateway.
    async fn of_gateway(&self, mut received: Received, inbox: &str) -> Response {
        let mut wanted: Value = serde_json::from_slice(&received.body).unwrap_or_default();
        let path = received.target.split('?').next().unwrap_or_default().to_owned();
        let opens = ["/payment", "/mbank/pay", "/pay-form", "/qr/dynamic", "/qr/dynamic/data"]
            .iter()
            .any(|end| path.ends_with(end));
        if !opens {
            let number = wanted["orderNumber"].as_str().unwrap_or_default();
            self.records().questions.push(format!("{} {number}", received.target));
            return self.call_gateway(&received).await;
        }
        let fault = std::mem::take(&mut self.records().fault);
        if let OpeningFault::Refused(status) = fault {
            return StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE).into_response();
        }
        let key = event::new_id();
        let mut opened = Opened { currency: "KGS".to_owned(), ..Opened::default() };
        for name in ["callbackUrl", "callbackURL", "callback_url"] {
            if let Some(url) = wanted[name].as_str() {
                opened.callback_url = url.to_owned();
                wanted[name] = format!("{inbox}/{key}").into();
            }
        }
        let first = |names: &[&str]| names.iter().map(|name| &wanted[*name]).find(|value| !value.is_null()).cloned();
        opened.return_url = first(&["returnUrl", "returnURL"]).map(|url| plain(&url)).unwrap_or_default();
        opened.amount = first(&["amount", "sum"]).map(|amount| plain(&amount)).unwrap_or_default();
        opened.reference = first(&["orderNumber"]).map(|number| plain(&number)).unwrap_or_default();
        received.body = wanted.to_string().into();
        let answer = http::forward(&self.client, self.sandbox.url(), &received).await;
        if let Some(body) = answer.as_ref().ok().filter(|answer| answer.status < 300).map(Answer::json) {
            let data = &body["data"];
            let page = data["payFormUrl"].as_str().or(data["ConfirmationUrl"].as_str()).unwrap_or_default();
            let token = token_of(page);
            let number = data["transaction_id"].as_str().or(data["paymentId"].as_str()).map(str::to_owned);
            opened.id = token.or(number).unwrap_or_else(|| opened.reference.clone());
            let mut records = self.records();
            records.callbacks.insert(opened.id.clone(), key);
            records.opened.push(opened);
        }
        with_fault(fault, answer).await
    }

    /// The key of a payment's callbacks.
    pub(crate) fn callback_key(&self, number: &str) -> String {
        self.records().callbacks.get(number).cloned().unwrap_or_default()
    }

    /// Queries the gateway. If a false status is set, that is the answer.
    async fn call_gateway(&self, received: &Received) -> Response {
        let query: Value = serde_json::from_slice(&received.body).unwrap_or_default();
        let number = query["orderNumber"].as_str().map(str::to_owned);
        let number =
            number.or_else(|| received.target.split_once("transaction_id=").map(|(_, number)| number.to_owned()));
        let lie = number.and_then(|number| self.records().lies.get(&number).cloned());
        let is_status = received.target.contains("status");
        match lie.filter(|_| is_status) {
            Some(FalseStatus::Status(status)) => {
                StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY).into_response()
            }
            Some(FalseStatus::Garbage) => (StatusCode::OK, "<html>maintenance</html>").into_response(),
            lie => {
                let mut answer = http::forward(&self.client, self.sandbox.url(), received).await;
                if let (Some(FalseStatus::Member(name, value)), Ok(answer)) = (lie, &mut answer) {
                    let mut body = answer.json();
                    if !body["data"][name].is_null() {
                        body["data"][name] = value;
                        answer.body = body.to_string().into();
                    }
                }
                answered(answer)
            }
        }
    }

    /// Charges a payment, as after the payer has acted.
    pub(crate) async fn approve(&self, number: &str) -> Result<(), String> {
        let (sandbox, name) = (Arc::clone(&self.sandbox), number.to_owned());
        let done = tokio::task::spawn_blocking(move || sandbox.approve(&name).map_err(|error| error.to_string())).await;
        done.map_err(|error| error.to_string())?.map(drop).map_err(|error| format!("payment {number}: {error}"))
    }

    /// Declines a payment.
    pub(crate) async fn decline(&self, number: &str) -> Result<(), String> {
        let (sandbox, name) = (Arc::clone(&self.sandbox), number.to_owned());
        let done = tokio::task::spawn_blocking(move || sandbox.decline(&name).map_err(|error| error.to_string())).await;
        done.map_err(|error| error.to_string())?.map(drop).map_err(|error| format!("payment {number}: {error}"))
    }

    /// Stops the server, if any.
    pub(crate) async fn stop(&self) {
        if let Some(server) = &self.server {
            server.kill().await;
        }
    }
}

fn answered(answer: Result<Answer, String>) -> Response {
    answer.map_or_else(|error| (StatusCode::BAD_GATEWAY, error).into_response(), IntoResponse::into_response)
}

async fn with_fault(fault: OpeningFault, answer: Result<Answer, String>) -> Response {
    match fault {
        OpeningFault::ResponseLost => StatusCode::GATEWAY_TIMEOUT.into_response(),
        OpeningFault::Garbage => (StatusCode::OK, "<html>maintenance</html>").into_response(),
        OpeningFault::Late(time) => {
            sleep(time).await;
            answered(answer)
        }
        OpeningFault::None | OpeningFault::Refused(_) => answered(answer),
    }
}
