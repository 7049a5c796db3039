//! This program's own port: takes the gateway's callbacks and the payers that come back.
//!
//! Each payment has a reference of this program's own in the query of its two URLs (`?ref=...`), which tells whose
//! callback it is; the gateway preserves it. Nothing that arrives here is believed: the status decides.

use std::{
    collections::{HashMap, HashSet},
    net::Ipv4Addr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, Uri, header},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use kassa::{Callback, ReturnRedirect};
use tokio::{
    net::TcpListener,
    sync::mpsc::{self, error::TrySendError},
    task::AbortHandle,
};
use url::{Url, form_urlencoded};

use crate::failure::Failure;

/// The name of the reference in the query.
const REFERENCE: &str = "ref";
const CALLBACK_PATH: &str = "/callback";
const RETURN_PATH: &str = "/return";
/// A callback is a few hundred bytes.
const MOST_BYTES: usize = 64 * 1024;
/// How much may lie unread before the gateway is asked to come again.
const MOST_UNREAD: usize = 64;

/// What came in for one payment.
pub(crate) enum Arrival {
    /// A callback of the gateway.
    Callback {
        /// The reference in the address that was called; empty where there is none.
        reference: String,
        /// What it says.
        callback: Box<Callback>,
        /// True where the same callback was here before. One without a key is never a duplicate.
        duplicate: bool,
    },
    /// The payer's browser came back.
    Return(ReturnRedirect),
}

/// The open port. Dropping it closes it.
pub(crate) struct Receiver {
    address: String,
    public_callback: Option<Url>,
    desk: Arc<Desk>,
    server: AbortHandle,
}

/// Who waits for what.
#[derive(Default)]
struct Desk {
    boxes: Mutex<HashMap<String, Sender>>,
    everything: Mutex<Option<Sender>>,
}

#[derive(Clone)]
struct Sender {
    arrivals: mpsc::Sender<Arrival>,
    seen: Arc<Mutex<HashSet<String>>>,
}

/// Where the arrivals for one payment are read.
pub(crate) struct Mailbox(mpsc::Receiver<Arrival>);

impl Mailbox {
    /// The next arrival.
    pub(crate) async fn next(&mut self) -> Option<Arrival> {
        self.0.recv().await
    }

    /// The next arrival, where one has come already.
    pub(crate) fn already_there(&mut self) -> Option<Arrival> {
        self.0.try_recv().ok()
    }
}

impl Receiver {
    /// Opens the port. `public_callback` is a URL that leads here from outside.
    pub(crate) async fn open(port: u16, public_callback: Option<Url>) -> Result<Self, Failure> {
        let failed =
            |error| Failure::System(format!("port {port} on 127.0.0.1 cannot be opened for callbacks: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let address = format!("http://{}", listener.local_addr().map_err(failed)?);
        let desk = Arc::new(Desk::default());
        let router = Router::new()
            .route(RETURN_PATH, get(payer_returns).post(take_callback))
            .fallback(take_callback)
            .with_state((Arc::clone(&desk), address.clone()));
        let server = tokio::spawn(async move {
            // It ends with the program only.
            let _ended = axum::serve(listener, router).await;
        });
        Ok(Self { address, public_callback, desk, server: server.abort_handle() })
    }

    /// The callback URL without a reference, as people need to know it.
    pub(crate) fn shown_callback_url(&self) -> String {
        self.public_callback.as_ref().map_or_else(|| format!("{}{CALLBACK_PATH}", self.address), Url::to_string)
    }

    /// The callback URL of a payment.
    pub(crate) fn callback_url(&self, reference: &str) -> String {
        with_reference(&self.shown_callback_url(), reference)
    }

    /// The return URL of a payment: a page of this program.
    pub(crate) fn return_url(&self, reference: &str) -> String {
        with_reference(&format!("{}{RETURN_PATH}", self.address), reference)
    }

    /// Takes in what arrives for a payment from now on.
    pub(crate) fn expect(&self, reference: &str) -> Mailbox {
        let (sender, mailbox) = Sender::new();
        locked(&self.desk.boxes).insert(reference.to_owned(), sender);
        mailbox
    }

    /// Takes in every callback that no payment waits for.
    pub(crate) fn expect_everything(&self) -> Mailbox {
        let (sender, mailbox) = Sender::new();
        *locked(&self.desk.everything) = Some(sender);
        mailbox
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Sender {
    fn new() -> (Self, Mailbox) {
        let (arrivals, mailbox) = mpsc::channel(MOST_UNREAD);
        (Self { arrivals, seen: Arc::default() }, Mailbox(mailbox))
    }

    /// Passes a callback on; what cannot be passed on now is not counted as seen, so that its copy gets through.
    fn pass_on(&self, reference: String, callback: Callback) -> StatusCode {
        let key = callback.dedup_key();
        let mut seen = locked(&self.seen);
        let duplicate = key.as_ref().is_some_and(|key| seen.contains(key));
        match self.arrivals.try_send(Arrival::Callback { reference, callback: Box::new(callback), duplicate }) {
            Ok(()) => {
                seen.extend(key);
                StatusCode::OK
            }
            Err(TrySendError::Full(_)) => StatusCode::SERVICE_UNAVAILABLE,
            // Nobody reads any more: the payment is over.
            Err(TrySendError::Closed(_)) => StatusCode::OK,
        }
    }
}

impl Desk {
    fn sender(&self, reference: &str) -> Option<Sender> {
        let own = locked(&self.boxes).get(reference).cloned();
        own.or_else(|| locked(&self.everything).clone())
    }
}

type Shared = State<(Arc<Desk>, String)>;

/// `POST /callback?ref=...`, at any path: a tunnel may change it.
async fn take_callback(State((desk, _)): Shared, request: Request) -> Response {
    if request.method() != axum::http::Method::POST {
        return StatusCode::NOT_FOUND.into_response();
    }
    let reference = reference_of(request.uri());
    let Ok(body) = axum::body::to_bytes(request.into_body(), MOST_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let Ok(callback) = Callback::parse(&String::from_utf8_lossy(&body)) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    match desk.sender(&reference) {
        Some(sender) => sender.pass_on(reference, callback).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// `GET /return?ref=...`: the page that the payer sees at the end.
async fn payer_returns(State((desk, address)): Shared, uri: Uri) -> Response {
    let redirect = ReturnRedirect::parse(&format!("{address}{uri}"));
    if let (Ok(redirect), Some(sender)) = (&redirect, desk.sender(&reference_of(&uri))) {
        // A payer who comes back often enough to fill the box changes nothing.
        let _passed_on = sender.arrivals.try_send(Arrival::Return(redirect.clone()));
    }
    let text = match redirect {
        Ok(_) => "Thank you. The shop is asking for the status of your payment; you may close this page.",
        Err(_) => "This page is for payers who come back from the gateway.",
    };
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Checkout</title>\
         <h1>Checkout</h1><p>{text}</p></html>\n"
    );
    ([(header::CACHE_CONTROL, "no-store")], Html(page)).into_response()
}

fn reference_of(uri: &Uri) -> String {
    let query = uri.query().unwrap_or_default();
    let own = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == REFERENCE);
    own.map(|(_, reference)| reference.into_owned()).unwrap_or_default()
}

/// Text that is no URL is left as it is: the request's own rules will name it.
fn with_reference(url: &str, reference: &str) -> String {
    match Url::parse(url) {
        Ok(mut url) => {
            url.query_pairs_mut().append_pair(REFERENCE, reference);
            url.into()
        }
        Err(_) => url.to_owned(),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
