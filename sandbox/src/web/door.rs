//! Login and sessions of a part of the merchant's side: who knows its secret gets a session, with brute force
//! protection and a CSRF token for each form.

use std::time::{Duration, Instant};

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use kassa_pages::{Cookie, Lockout, read_cookie, token::is_same};
use url::Url;

use crate::{
    encoding::FormPairs,
    web::{
        Call, caller, secure,
        sessions::{Sessions, random_token},
    },
};

/// The login of one part. Each has sessions and a rate limit of its own: a session of one is none of another.
pub(crate) struct Door {
    public_url: String,
    /// Whether the sandbox itself speaks TLS.
    has_tls: bool,
    name: &'static str,
    sessions: Sessions,
    lockout: Lockout,
    session_cookie: String,
    login_cookie: String,
}

/// Why a login was refused.
pub(crate) enum LoginRefusal {
    /// The form came from elsewhere, or from before a restart.
    OutOfDate,
    /// The secret was another one.
    Wrong,
    /// The rate limit holds for so long.
    LockedOut(Duration),
}

impl Door {
    /// A closed door. The cookies' names carry the port: browsers send a cookie to every port of a host, and several
    /// sandboxes may run on one.
    pub(crate) fn new(public_url: &str, has_tls: bool, name: &'static str) -> Self {
        let port = Url::parse(public_url).ok().and_then(|url| url.port_or_known_default()).unwrap_or_default();
        Self {
            public_url: public_url.to_owned(),
            has_tls,
            name,
            sessions: Sessions::default(),
            lockout: Lockout::default(),
            session_cookie: format!("kassa_{name}_{port}"),
            login_cookie: format!("kassa_{name}_login_{port}"),
        }
    }

    /// The token for the forms of the caller's session, if there is one.
    pub(crate) fn csrf(&self, call: &Call) -> Option<String> {
        self.sessions.csrf(self.session(call), Instant::now())
    }

    /// Checks a posted login: its CSRF token, the rate limit, the secret.
    pub(crate) fn knock(
        &self,
        call: &Call,
        form: &FormPairs,
        is_right: impl FnOnce() -> bool,
    ) -> Result<(), LoginRefusal> {
        let sent = read_cookie(&call.headers, &self.login_cookie).unwrap_or_default();
        if !is_same(form.get("csrf"), sent) {
            return Err(LoginRefusal::OutOfDate);
        }
        let (caller, now) = (caller::address(&call.headers, call.line.peer), Instant::now());
        self.lockout.guess(caller, now).map_err(LoginRefusal::LockedOut)?;
        if is_right() {
            self.lockout.guessed_right(caller);
            return Ok(());
        }
        tracing::warn!(%caller, door = self.name, "a wrong login");
        Err(self.lockout.wait(caller, now).map_or(LoginRefusal::Wrong, LoginRefusal::LockedOut))
    }

    /// Begins a session after a login.
    pub(crate) fn begin(&self, call: &Call, response: &mut Response) {
        self.set_cookie(call, response, &self.session_cookie, &self.sessions.begin(Instant::now()));
        self.set_cookie(call, response, &self.login_cookie, "");
    }

    /// Ends the caller's session.
    pub(crate) fn end(&self, call: &Call, response: &mut Response) {
        self.sessions.end(self.session(call));
        self.set_cookie(call, response, &self.session_cookie, "");
    }

    /// The login's page, also after a refusal. It is made with a token that stands in a cookie, too: no other site can
    /// read or set that.
    pub(crate) fn login_page(
        &self,
        call: &Call,
        refusal: Option<&LoginRefusal>,
        page: impl FnOnce(&str) -> Response,
    ) -> Response {
        let known = read_cookie(&call.headers, &self.login_cookie).filter(|token| is_token(token));
        let csrf = known.map_or_else(random_token, str::to_owned);
        let mut response = page(&csrf);
        if let Some(LoginRefusal::LockedOut(wait)) = refusal {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds(*wait)));
        }
        self.set_cookie(call, &mut response, &self.login_cookie, &csrf);
        response
    }

    fn session<'a>(&self, call: &'a Call) -> &'a str {
        read_cookie(&call.headers, &self.session_cookie).unwrap_or_default()
    }

    fn set_cookie(&self, call: &Call, response: &mut Response, name: &str, value: &str) {
        let is_secure = self.has_tls || secure::came_by_tls(&call.headers, &self.public_url);
        // A link on another site may lead somebody who is logged in to a page.
        let cookie = Cookie::new(name, value).lax().secure(is_secure);
        response.headers_mut().append(header::SET_COOKIE, cookie.header());
    }
}

impl LoginRefusal {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::OutOfDate | Self::Wrong => StatusCode::FORBIDDEN,
            Self::LockedOut(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// What the login's page says; `wrong` names the secret.
    pub(crate) fn text(&self, wrong: &str) -> String {
        match self {
            Self::OutOfDate => "The form was out of date. Please try again.".to_owned(),
            Self::Wrong => wrong.to_owned(),
            Self::LockedOut(wait) => {
                format!("Too many wrong attempts. The next one is possible in {} seconds.", seconds(*wait))
            }
        }
    }
}

/// Whether it has the form of a token made here: one that was planted by another site is not taken over.
fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Seconds that cover a duration.
fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}
