//! Login and sessions of a section of the staff pages. The right secret starts a session, with brute
//! force protection and a CSRF token for each form. Sessions are in memory: a restart logs everybody out.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use kassa_pages::{
    Cookie, Lockout, read_cookie,
    token::{csrf_of, is_same},
};
use url::Url;
use uuid::Uuid;

use crate::web::PageRequest;

/// The login of one section. Each section has its own sessions and rate limit.
pub(crate) struct Access {
    public_url: String,
    /// Whether the sandbox itself uses TLS.
    has_tls: bool,
    name: &'static str,
    sessions: Sessions,
    lockout: Lockout,
    session_cookie: String,
    login_cookie: String,
}

/// Why a login was rejected.
pub(crate) enum LoginRejection {
    /// The form is from another site, or from before a restart.
    OutOfDate,
    /// The secret is wrong.
    Wrong,
    /// The rate limit, with the time to wait.
    LockedOut(Duration),
}

impl Access {
    /// The cookies' names contain the port: browsers send a cookie to every port of a host, and several sandboxes may run on one.
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

    /// The CSRF token for the forms of the caller's session, if any.
    pub(crate) fn csrf(&self, request: &PageRequest) -> Option<String> {
        self.sessions.csrf(self.session(request), Instant::now())
    }

    /// Checks a posted login: its CSRF token, the rate limit, the secret.
    pub(crate) fn log_in(&self, request: &PageRequest, is_right: impl FnOnce() -> bool) -> Result<(), LoginRejection> {
        let sent = read_cookie(&request.headers, &self.login_cookie).unwrap_or_default();
        if !is_same(request.form.get("csrf"), sent) {
            return Err(LoginRejection::OutOfDate);
        }
        let (caller, now) = (client_address(&request.headers, request.peer), Instant::now());
        self.lockout.guess(caller, now).map_err(LoginRejection::LockedOut)?;
        if is_right() {
            self.lockout.guessed_right(caller);
            return Ok(());
        }
        tracing::warn!(%caller, part = self.name, "a wrong login");
        Err(self.lockout.wait(caller, now).map_or(LoginRejection::Wrong, LoginRejection::LockedOut))
    }

    /// Starts a session after a login.
    pub(crate) fn begin(&self, request: &PageRequest, response: &mut Response) {
        self.set_cookie(request, response, &self.session_cookie, &self.sessions.begin(Instant::now()));
        self.set_cookie(request, response, &self.login_cookie, "");
    }

    /// Ends the caller's session.
    pub(crate) fn end(&self, request: &PageRequest, response: &mut Response) {
        self.sessions.end(self.session(request));
        self.set_cookie(request, response, &self.session_cookie, "");
    }

    /// The login page, also after a rejection. Its form has a CSRF token that is also set as a cookie: no other site can
    /// read or set that.
    pub(crate) fn login_page(
        &self,
        request: &PageRequest,
        rejection: Option<&LoginRejection>,
        page: impl FnOnce(&str) -> Response,
    ) -> Response {
        let known = read_cookie(&request.headers, &self.login_cookie).filter(|token| is_token(token));
        let csrf = known.map_or_else(random_token, str::to_owned);
        let mut response = page(&csrf);
        if let Some(LoginRejection::LockedOut(wait)) = rejection {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds(*wait)));
        }
        self.set_cookie(request, &mut response, &self.login_cookie, &csrf);
        response
    }

    fn session<'a>(&self, request: &'a PageRequest) -> &'a str {
        read_cookie(&request.headers, &self.session_cookie).unwrap_or_default()
    }

    fn set_cookie(&self, request: &PageRequest, response: &mut Response, name: &str, value: &str) {
        let is_secure = self.has_tls || came_by_tls(&request.headers, &self.public_url);
        // `Lax`: a link on another site may lead a logged-in user to a page.
        let cookie = Cookie::new(name, value).lax().secure(is_secure);
        response.headers_mut().append(header::SET_COOKIE, cookie.header());
    }
}

impl LoginRejection {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::OutOfDate | Self::Wrong => StatusCode::FORBIDDEN,
            Self::LockedOut(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// The message of the login page; `wrong` is the one for a wrong secret.
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

/// Whether it has the form of a token from here: a cookie planted by another site is not accepted.
fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A duration in seconds, rounded up.
fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

/// Idle timeout: a session ends after this time without a request.
const IDLE: Duration = Duration::from_secs(2 * 3600);
/// The maximum duration of a session.
const LONGEST: Duration = Duration::from_secs(12 * 3600);
/// The maximum number of sessions; a new one replaces the one that was idle longest.
const MOST: usize = 500;

/// The sessions, by the token in their cookie.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Session>>);

struct Session {
    began: Instant,
    last_seen: Instant,
}

impl Session {
    fn is_over(&self, now: Instant) -> bool {
        now.duration_since(self.last_seen) > IDLE || now.duration_since(self.began) > LONGEST
    }
}

/// A random token of 244 bits.
fn random_token() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

impl Sessions {
    /// Starts a session; returns the token for its cookie.
    pub(crate) fn begin(&self, now: Instant) -> String {
        let mut sessions = self.locked();
        sessions.retain(|_, session| !session.is_over(now));
        if sessions.len() >= MOST
            && let Some(idle) = sessions.iter().min_by_key(|(_, session)| session.last_seen).map(|(key, _)| key.clone())
        {
            sessions.remove(&idle);
        }
        let token = random_token();
        sessions.insert(token.clone(), Session { began: now, last_seen: now });
        token
    }

    /// The CSRF token for the forms of a session that has not ended.
    pub(crate) fn csrf(&self, token: &str, now: Instant) -> Option<String> {
        let mut sessions = self.locked();
        let session = sessions.get_mut(token)?;
        if session.is_over(now) {
            sessions.remove(token);
            return None;
        }
        session.last_seen = now;
        Some(csrf_of(token))
    }

    /// Ends a session.
    pub(crate) fn end(&self, token: &str) {
        self.locked().remove(token);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The caller's address. A proxy appends it to `X-Forwarded-For`; everything before it is from the request and may
/// be forged. The header is ignored if the connection is from another machine, because any client could send it.
fn client_address(headers: &HeaderMap, peer: IpAddr) -> IpAddr {
    let is_proxy = peer.to_canonical().is_loopback();
    let last = headers.get_all(FORWARDED_FOR).iter().next_back().filter(|_| is_proxy);
    let last = last.and_then(|value| value.to_str().ok()?.rsplit(',').next());
    last.and_then(|text| parse_address(text.trim())).unwrap_or(peer)
}

/// Parses an address; some proxies append a port, or put it in brackets.
fn parse_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()))
}

/// Whether the browser reached a proxy in front of the sandbox over TLS: the proxy says so, or the request has the public
/// address, which is an https one. A browser that bypasses the proxy over plain HTTP gets a cookie that works there.
fn came_by_tls(headers: &HeaderMap, public_url: &str) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let forwarded = text(HeaderName::from_static("x-forwarded-proto")).split(',').next().unwrap_or_default().trim();
    let public_host = public_url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    let asked_for = text(header::HOST);
    forwarded.eq_ignore_ascii_case("https") || public_host.is_some_and(|host| host.eq_ignore_ascii_case(asked_for))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn session_expires_when_idle_or_old() {
        let sessions = Sessions::default();
        let began = Instant::now();
        let token = sessions.begin(began);
        assert!(sessions.csrf(&token, began + IDLE).is_some());
        assert!(sessions.csrf(&token, began + 2 * IDLE + Duration::from_secs(1)).is_none());
        assert!(sessions.csrf(&token, began).is_none(), "over is over");

        let token = sessions.begin(began);
        let mut now = began;
        while now < began + LONGEST {
            assert!(sessions.csrf(&token, now).is_some());
            now += IDLE;
        }
        assert!(sessions.csrf(&token, began + LONGEST + Duration::from_secs(1)).is_none());
    }

    #[test]
    fn ended_session_is_invalid_and_idlest_evicted() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let first = sessions.begin(now);
        sessions.end(&first);
        assert!(sessions.csrf(&first, now).is_none());
        let oldest = sessions.begin(now);
        let others: Vec<_> = (0..MOST).map(|_| sessions.begin(now + Duration::from_secs(1))).collect();
        assert!(sessions.csrf(&oldest, now + Duration::from_secs(2)).is_none());
        assert!(others.iter().all(|token| sessions.csrf(token, now + Duration::from_secs(2)).is_some()));
    }

    fn caller(peer: &str, forwarded: &[&'static str]) -> String {
        let pairs = forwarded.iter().map(|value| (FORWARDED_FOR, HeaderValue::from_static(value)));
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value);
        }
        client_address(&headers, peer.parse().expect("an address")).to_string()
    }

    #[test]
    fn forwarded_header_of_a_local_proxy_is_used() {
        for peer in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(caller(peer, &["192.0.2.1"]), "192.0.2.1");
            assert_eq!(caller(peer, &["198.51.100.7, 192.0.2.1"]), "192.0.2.1", "the proxy's own word is the last one");
            assert_eq!(caller(peer, &["192.0.2.1", "198.51.100.7"]), "198.51.100.7");
        }
        for written in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"] {
            assert_eq!(caller("127.0.0.1", &[written]), "2001:db8::1");
        }
        assert_eq!(caller("127.0.0.1", &["192.0.2.1:51234"]), "192.0.2.1");
        for unknown in ["unknown", "", "192.0.2.1,"] {
            assert_eq!(caller("127.0.0.1", &[unknown]), "127.0.0.1");
        }
    }

    #[test]
    fn forwarded_header_of_a_remote_peer_is_ignored() {
        assert_eq!(caller("198.51.100.7", &["192.0.2.1"]), "198.51.100.7");
        assert_eq!(caller("2001:db8::7", &["192.0.2.1"]), "2001:db8::7");
    }

    #[test]
    fn tls_is_detected_by_header_or_public_url() {
        let came = |name: &'static str, value: &'static str, public_url: &str| {
            let headers = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))]);
            came_by_tls(&headers, public_url)
        };
        let (here, tunnel) = ("http://127.0.0.1:8400", "https://tunnel.example/kassa");
        assert!(came("x-forwarded-proto", "https", here) && came("x-forwarded-proto", "HTTPS, http", here));
        assert!(!came("x-forwarded-proto", "http", here) && !came("host", "127.0.0.1:8400", here));
        assert!(came("host", "tunnel.example", tunnel));
        assert!(!came("host", "127.0.0.1:8400", tunnel), "past the tunnel, over plain http");
    }
}
