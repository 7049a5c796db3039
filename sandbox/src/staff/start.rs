//! The start page: links to everything else, for a browser at the bare address.

use askama::Template;
use axum::{http::StatusCode, response::Response};

use crate::{
    domain::{EndpointName, Language, PaymentStatus},
    pages,
    staff::layout::{Section, Staff},
    state::State,
    web::{self, Document, Policy},
};

pub(crate) const PATH: &str = "/";

#[derive(Template)]
#[template(path = "staff/start.html")]
struct Start {
    document: Document,
    staff: Staff,
    base_url: String,
    links: [Link; 4],
    payer_pages: [PayerPage; 4],
    /// A request that makes a payment with a page.
    curl: String,
    /// The status word of payments that wait for their payer.
    waiting: &'static str,
}

/// A link to a part of the staff's pages.
struct Link {
    name: &'static str,
    /// Seen from the sandbox's root.
    path: &'static str,
    text: &'static str,
    /// Who has access.
    key: &'static str,
}

/// A page for payers.
struct PayerPage {
    path: &'static str,
    text: &'static str,
}

const LINKS: [Link; 4] = [
    Link {
        name: "Dashboard",
        path: Section::Transactions.path(),
        text: "Payments with each request and response, charts, an analysis, and callbacks with their delivery \
            attempts.",
        key: "Requires the merchant's login and password, which the sandbox prints at startup.",
    },
    Link {
        name: "Control",
        path: Section::Control.path(),
        text: "Faults, switches, the clock, manual decisions on payments, and a reset.",
        key: "Requires the admin token, which is also printed at startup.",
    },
    Link {
        name: "API description",
        path: Section::Api.path(),
        text: "The gateway's endpoints and the admin interface: fields, rules, responses, and a curl command for each. \
               The OpenAPI document is at /openapi.json.",
        key: "No login required.",
    },
    Link {
        name: "Receiver",
        path: Section::Receiver.path(),
        text: "A callback URL for testing: it accepts and shows every request.",
        key: "Requires the login of the dashboard.",
    },
];

const PAYER_PAGES: [PayerPage; 4] = [
    PayerPage {
        path: pages::pay_form::PATH,
        text: "The hosted pay-form: card, MBank or MegaPay. Its link is payFormUrl.",
    },
    PayerPage { path: pages::otp::THREE_DS_PATH, text: "A card's one-time password. Its link is ConfirmationUrl." },
    PayerPage { path: pages::otp::WALLET_PATH, text: "A wallet's one-time password, after the pay-form." },
    PayerPage { path: pages::qr::PATH, text: "The page that a phone opens when it scans the QR code." },
];

/// Shows it.
pub(crate) fn page(state: &State) -> Response {
    let base_url = state.public_url.clone();
    let page = Start {
        document: Document::at(PATH, Language::English),
        staff: Staff::default(),
        links: LINKS,
        payer_pages: PAYER_PAGES,
        curl: curl(&base_url),
        waiting: PaymentStatus::Created.as_str(),
        base_url,
    };
    web::page(StatusCode::OK, Policy::Staff, &page)
}

fn curl(base_url: &str) -> String {
    let url = format!("{base_url}{}", EndpointName::PayForm.path());
    format!(
        "curl -u \"$LOGIN:$PASSWORD\" {url} -d '{{\n  \"amount\": 99.50, \"serviceName\": \"Flower shop\",\n  \
         \"callbackURL\": \"{base_url}/receiver/start\", \"returnURL\": \"{base_url}/\"\n}}'"
    )
}
