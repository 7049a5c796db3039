//! Pages as responses in the reader's language, errors as pages, and the stylesheets: those shared
//! with the sandbox, and their own.

use std::time::Duration;

use askama::Template;
use axum::{
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use kassa::Language;
use kassa_pages::{Asset, stylesheets};

use super::{
    admin_state::StaffUser,
    cookie,
    fields::FormFields,
    texts::{Texts, texts},
};
use crate::{
    locale::{LANGUAGES, Locale},
    net::{page, retry_after},
    values::{card_number::looks_like_card_number, error::ServerError},
};

/// The parameter of a query that picks a language.
pub(super) const LANGUAGE: &str = "lang";
/// The parameter for the notice after an action, which links to other languages drop.
const DONE: &str = "done";

/// The view of a page: its language and addresses.
#[derive(Clone)]
pub(super) struct View {
    /// The prefix of every address.
    pub(super) home: String,
    pub(super) t: &'static Texts,
    /// The address of this page, with its query; for a posted form, the page with the form.
    here: String,
}

impl View {
    /// The language is the one picked in the query, else the one stored in the browser, else the best one that it requests.
    pub(super) fn of(home: &str, uri: &Uri, is_posted: bool, headers: &HeaderMap) -> Self {
        let query = FormFields::parse(uri.query().unwrap_or_default().as_bytes());
        let picked = Some(query.get(LANGUAGE)).filter(|tag| tag.parse::<Language>().is_ok());
        let picked = picked.or_else(|| cookie::language(headers)).unwrap_or_default();
        let path = Some(uri.path()).filter(|path| !looks_like_card_number(path)).unwrap_or_default();
        let path = path.strip_prefix("/staff").unwrap_or_default();
        let page = if is_posted { page_of_form(path) } else { path };
        let query = if is_posted { String::new() } else { query.shown_again(&[LANGUAGE, DONE]) };
        let here = if query.is_empty() { format!("{home}{page}?") } else { format!("{home}{page}?{query}&") };
        Self { home: home.to_owned(), t: texts(Locale::of(picked, headers).language), here }
    }

    /// The view of the login page, on any address.
    pub(super) fn of_login(&self) -> Self {
        Self { here: format!("{}/login?", self.home), ..self.clone() }
    }

    fn in_language(&self, language: Language) -> String {
        format!("{}{LANGUAGE}={language}", self.here)
    }
}

/// The page with the form that posts to a path: for a decision, the checkout's.
fn page_of_form(path: &str) -> &str {
    let mut slashes = path.match_indices('/').map(|(at, _)| at);
    match slashes.nth(2) {
        Some(third) if path.starts_with("/checkouts/") => path.get(..third).unwrap_or_default(),
        _ if path == "/logout" => "",
        _ if path.starts_with("/unknown-callbacks/") => "/unknown-callbacks",
        _ => path,
    }
}

/// A section of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Checkouts,
    Day,
    Reconciliation,
}

/// The frame that every page shows around its content.
pub(super) struct Frame {
    /// The prefix of every address.
    pub(super) home: String,
    pub(super) stylesheets: [String; 3],
    pub(super) section: Option<Section>,
    pub(super) t: &'static Texts,
    /// The language's tag.
    pub(super) language: String,
    /// All languages: tag, own name, and this page in it; `None` as the address of the current one.
    pub(super) languages: [(String, &'static str, Option<String>); 3],
    /// The logged-in person, and the token of the logout form.
    pub(super) person: Option<(String, String)>,
}

impl Frame {
    pub(super) fn of(view: &View, user: Option<&StaffUser>, section: Option<Section>) -> Self {
        let person = user.map(|user| (user.name.clone(), user.csrf.clone()));
        let shown = view.t.language;
        let languages = LANGUAGES.map(|(language, name)| {
            (language.to_string(), name, (language != shown).then(|| view.in_language(language)))
        });
        let (home, language) = (view.home.clone(), shown.to_string());
        Self { home, stylesheets: stylesheets(), section, t: view.t, language, languages, person }
    }

    /// For `aria-current`.
    pub(super) fn is_in_checkouts(&self) -> bool {
        self.section == Some(Section::Checkouts)
    }

    pub(super) fn is_in_day(&self) -> bool {
        self.section == Some(Section::Day)
    }

    pub(super) fn is_in_reconciliation(&self) -> bool {
        self.section == Some(Section::Reconciliation)
    }
}

/// The error's sentence, in the reader's language once that is known.
#[derive(Clone, Debug)]
enum Sentence {
    Of(fn(&Texts) -> &'static str),
    Written(String),
}

/// An error in one sentence. A handler returns it; the router, which knows the logged-in person, renders it.
#[derive(Clone, Debug)]
pub(super) struct ErrorPage {
    pub(super) status: StatusCode,
    sentence: Sentence,
    pub(super) retry_after: Option<Duration>,
}

impl ErrorPage {
    pub(super) fn new(status: StatusCode, sentence: fn(&Texts) -> &'static str) -> Self {
        Self { status, sentence: Sentence::Of(sentence), retry_after: None }
    }

    /// An error with a finished sentence.
    pub(super) fn written(status: StatusCode, sentence: String) -> Self {
        Self { status, sentence: Sentence::Written(sentence), retry_after: None }
    }

    pub(super) fn too_many_requests(wait: Duration) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, |t| t.too_often).after(wait)
    }

    /// Sets the time after which to try again.
    pub(super) fn after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }

    pub(super) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, |t| t.no_page)
    }

    pub(super) fn failed() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, |t| t.failed)
    }

    pub(super) fn sentence(&self, t: &Texts) -> String {
        match &self.sentence {
            Sentence::Of(text) => text(t).to_owned(),
            Sentence::Written(text) => text.clone(),
        }
    }

    /// Renders the error as a page of its own.
    pub(super) fn page(&self, view: &View, user: Option<&StaffUser>) -> Response {
        let message = Message { frame: Frame::of(view, user, None), sentence: &self.sentence(view.t) };
        self.waiting(page(self.status, &message))
    }

    /// Adds the time to wait, if any.
    pub(super) fn waiting(&self, mut response: Response) -> Response {
        if let Some(wait) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, retry_after(wait));
        }
        response
    }
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ServerError> for ErrorPage {
    fn from(error: ServerError) -> Self {
        match error {
            // Reasons are the only typed input on these pages.
            ServerError::Invalid { .. } => Self::new(StatusCode::BAD_REQUEST, |t| t.bad_reason),
            ServerError::NotFound { .. } => Self::not_found(),
            ServerError::NotOpen { .. } => Self::new(StatusCode::CONFLICT, |t| t.not_open),
            ServerError::UnderWay { .. } => Self::new(StatusCode::CONFLICT, |t| t.is_under_way),
            ServerError::NotInDoubt { .. } => Self::new(StatusCode::CONFLICT, |t| t.nothing_to_decide),
            ServerError::Unavailable { detail } => {
                // Database errors are only for the operator.
                tracing::error!(target: "kassa_server", detail, "a page could not be answered");
                Self::new(StatusCode::SERVICE_UNAVAILABLE, |t| t.unavailable)
            }
            _ => Self::new(StatusCode::CONFLICT, |t| t.conflict),
        }
    }
}

#[derive(Template)]
#[template(path = "staff/message.html")]
struct Message<'a> {
    frame: Frame,
    sentence: &'a str,
}

static OWN: Asset = Asset::new("staff.css", Asset::CSS, include_bytes!("../../assets/staff.css"));
/// The stylesheets, in the order in which a page loads them.
static STYLESHEETS: [&Asset; 3] = [&stylesheets::BASE, &stylesheets::STAFF, &OWN];

/// Their names, which change with their content.
pub(super) fn stylesheets() -> [String; 3] {
    STYLESHEETS.map(Asset::versioned_name)
}

pub(super) fn serve_stylesheet(name: &str, request: &HeaderMap) -> Response {
    let found = STYLESHEETS.iter().find(|asset| asset.versioned_name() == name);
    found.map_or_else(|| StatusCode::NOT_FOUND.into_response(), |asset| asset.serve(request))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, Method};

    use super::*;

    fn view(uri: &str, method: &Method, headers: &HeaderMap) -> View {
        View::of("/kassa/staff", &uri.parse().unwrap(), *method == Method::POST, headers)
    }

    #[test]
    fn language_switch_leads_to_the_same_page() {
        for (uri, method, here) in [
            ("/staff", Method::GET, "/kassa/staff?"),
            ("/staff?state=open&lang=ru&q=a%20b", Method::GET, "/kassa/staff?state=open&q=a+b&"),
            ("/staff?q=4111111111111111", Method::GET, "/kassa/staff?"),
            ("/staff/4111111111111111", Method::GET, "/kassa/staff?"),
            ("/staff/checkouts/co_1?done=checking", Method::GET, "/kassa/staff/checkouts/co_1?"),
            ("/staff/checkouts/co_1/payments/pay_1/resolve", Method::POST, "/kassa/staff/checkouts/co_1?"),
            ("/staff/login", Method::POST, "/kassa/staff/login?"),
            ("/staff/logout", Method::POST, "/kassa/staff?"),
        ] {
            let view = view(uri, &method, &HeaderMap::new());
            assert_eq!(view.in_language(Language::Kyrgyz), format!("{here}lang=ky"), "{uri}");
        }
    }

    #[test]
    fn picked_language_precedes_remembered_and_preferred_ones() {
        let language = |uri, headers: &HeaderMap| view(uri, &Method::GET, headers).t.language;
        let mut headers = HeaderMap::new();
        assert_eq!(language("/staff", &headers), Language::English);
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static("ky, ru;q=0.5"));
        assert_eq!(language("/staff", &headers), Language::Kyrgyz);
        headers.insert(header::COOKIE, HeaderValue::from_static("kassa_language=ru"));
        assert_eq!(language("/staff", &headers), Language::Russian);
        assert_eq!(language("/staff?lang=en", &headers), Language::English);
        assert_eq!(language("/staff?lang=xx", &headers), Language::Russian);
    }
}
