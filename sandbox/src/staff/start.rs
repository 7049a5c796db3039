//! The start page for browsers: how to begin, and links to everything else. Unknown addresses get a page that links to it.

use askama::Template;
use axum::{
    http::{Method, StatusCode},
    response::Response,
};

use crate::{
    admin,
    domain::{EndpointName, Language, PaymentStatus},
    endpoints::{ENDPOINTS, Endpoint},
    pages,
    settings::WELL_KNOWN_PASSWORD,
    staff::{
        layout::{Section, Staff},
        receiver,
    },
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
    /// The merchant's login and password, if they are not the user's own secret.
    credentials: Option<(String, &'static str)>,
    steps: [Step; 4],
    endpoints: Vec<Operation>,
    admin_routes: Vec<Operation>,
    payer_pages: [PayerPage; 4],
    /// The status word of payments that wait for their payer.
    waiting: &'static str,
    repository: &'static str,
}

/// A link to a section of the staff pages.
struct Link {
    name: &'static str,
    /// The path, relative to the sandbox's root.
    path: &'static str,
    text: &'static str,
    /// The required credentials.
    key: &'static str,
}

/// A command that can be copied.
struct Step {
    name: &'static str,
    text: &'static str,
    curl: String,
}

/// A request that the sandbox answers.
struct Operation {
    id: String,
    method: String,
    path: &'static str,
    summary: &'static str,
}

/// A page of the payer.
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

/// Renders it.
pub(crate) fn page(state: &State) -> Response {
    let credentials = credentials(state);
    let page = Start {
        document: Document::at(PATH, Language::English),
        staff: Staff::default(),
        links: LINKS,
        steps: steps(state, credentials.as_ref()),
        credentials,
        endpoints: endpoints(),
        admin_routes: admin_routes(),
        payer_pages: PAYER_PAGES,
        waiting: PaymentStatus::Created.as_str(),
        repository: env!("CARGO_PKG_REPOSITORY"),
        base_url: state.public_url.clone(),
    };
    web::page(StatusCode::OK, Policy::Staff, &page)
}

/// Login and password, if a page may show them and a shell accepts them unquoted.
fn credentials(state: &State) -> Option<(String, &'static str)> {
    let options = &state.options;
    let is_plain = options.login.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte));
    (is_plain && options.password == WELL_KNOWN_PASSWORD).then(|| (options.login.clone(), WELL_KNOWN_PASSWORD))
}

/// Commands that work unchanged. Each visit shows another order number, because a used one is refused.
fn steps(state: &State, credentials: Option<&(String, &'static str)>) -> [Step; 4] {
    let base_url = &state.public_url;
    let order = format!("try-{}", state.clock().now_ms() / 1000);
    let callback = format!("{base_url}{}start", receiver::PREFIX);
    let year = state.clock().today().year() + 3;
    let user = credentials.map_or("\"$LOGIN:$PASSWORD\"".to_owned(), |(login, password)| format!("{login}:{password}"));
    let call = |endpoint: EndpointName, body: &str| {
        format!("curl -u {user} {base_url}{} -d '{{\n{body}\n}}'", endpoint.path())
    };
    [
        Step {
            name: "A pay-form",
            text: "The answer has the link of its page, payFormUrl. Open it and pay with a test card: one click fills the form.",
            curl: call(
                EndpointName::PayForm,
                &format!(
                    "  \"amount\": 99.50, \"serviceName\": \"Flower shop\",\n  \
                     \"callbackURL\": \"{callback}\",\n  \"returnURL\": \"{base_url}/\""
                ),
            ),
        },
        Step {
            name: "A card payment",
            text: "This test card needs no confirmation: it is charged at once, and the callback goes to the receiver.",
            curl: call(
                EndpointName::Payment,
                &format!(
                    "  \"orderNumber\": \"{order}\", \"description\": \"Two coffees\",\n  \
                     \"amount\": 100.10, \"currency\": \"KGS\", \"language\": \"en\",\n  \
                     \"pan\": \"4000000000002016\", \"cvc\": \"123\",\n  \
                     \"expiryMonth\": \"12\", \"expiryYear\": {year},\n  \
                     \"name\": \"Aibek Asanov\", \"ip\": \"203.0.113.7\",\n  \
                     \"callbackUrl\": \"{callback}\",\n  \"returnUrl\": \"{base_url}/\""
                ),
            ),
        },
        Step {
            name: "Its status",
            text: "A shop delivers on this answer alone, never on a callback.",
            curl: call(EndpointName::GetStatus, &format!("  \"orderNumber\": \"{order}\", \"provider\": \"Cards\"")),
        },
        Step {
            name: "What really happened",
            text: "The ledger knows each charge. TOKEN is the admin token, printed at startup.",
            curl: format!(
                "curl -H \"Authorization: Bearer $TOKEN\" '{base_url}/admin/ledger?{}={order}'",
                admin::ORDER_NUMBER
            ),
        },
    ]
}

fn endpoints() -> Vec<Operation> {
    let requests = ENDPOINTS.iter().flat_map(|endpoint| endpoint.requests().map(move |(method, _)| (endpoint, method)));
    let operation = |(endpoint, method): (&Endpoint, &Method)| Operation {
        id: endpoint.operation_id(method),
        method: method.to_string(),
        path: endpoint.name.path(),
        summary: endpoint.description.summary,
    };
    requests.map(operation).collect()
}

fn admin_routes() -> Vec<Operation> {
    let operation = |route: &admin::Route| Operation {
        id: route.operation_id(),
        method: route.method.to_string(),
        path: route.path,
        summary: route.summary,
    };
    admin::ROUTES.iter().map(operation).collect()
}

#[derive(Template)]
#[template(path = "staff/not_found.html")]
struct NotFound {
    document: Document,
    staff: Staff,
    base_url: String,
}

/// The page for a browser at an unknown address.
pub(crate) fn not_found(state: &State, path: &str) -> Response {
    let document = Document::at(path, Language::English);
    let page = NotFound { document, staff: Staff::default(), base_url: state.public_url.clone() };
    web::page(StatusCode::NOT_FOUND, Policy::Staff, &page)
}
