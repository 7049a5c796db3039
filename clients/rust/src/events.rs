//! Verifying the events that the server sends, by the scheme of Standard Webhooks.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    time::{Duration, SystemTime},
};

use base64::{
    Engine, alphabet,
    engine::{GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};
use reqwest::header::HeaderMap;
use ring::hmac;

use crate::{
    error::{EventError, EventErrorReason},
    values::Event,
};

pub(crate) const ID: &str = "webhook-id";
pub(crate) const TIMESTAMP: &str = "webhook-timestamp";
pub(crate) const SIGNATURE: &str = "webhook-signature";
const SECRET_PREFIX: &str = "whsec_";
const VERSION: &str = "v1";
/// The length of an HMAC-SHA256.
const MAC_BYTES: usize = 32;
const LONGEST_TIMESTAMP: usize = 12;
const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// As most languages read it: the unused bits of the last letter say nothing.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The headers of a request: what your framework has, or pairs of names and values.
pub trait EventHeaders {
    /// The first value of a header, by its name in any case. None if there is none.
    fn value(&self, name: &str) -> Option<&str>;
}

/// As axum, hyper, warp and reqwest have them.
impl EventHeaders for HeaderMap {
    fn value(&self, name: &str) -> Option<&str> {
        self.get(name)?.to_str().ok()
    }
}

impl<N: AsRef<str>, V: AsRef<str>> EventHeaders for [(N, V)] {
    fn value(&self, name: &str) -> Option<&str> {
        find(self.iter().map(|(own, value)| (own.as_ref(), value.as_ref())), name)
    }
}

impl<N: AsRef<str>, V: AsRef<str>, const COUNT: usize> EventHeaders for [(N, V); COUNT] {
    fn value(&self, name: &str) -> Option<&str> {
        self.as_slice().value(name)
    }
}

impl<N: AsRef<str>, V: AsRef<str>> EventHeaders for Vec<(N, V)> {
    fn value(&self, name: &str) -> Option<&str> {
        self.as_slice().value(name)
    }
}

impl<N: AsRef<str>, V: AsRef<str>, S> EventHeaders for HashMap<N, V, S> {
    fn value(&self, name: &str) -> Option<&str> {
        find(self.iter().map(|(own, value)| (own.as_ref(), value.as_ref())), name)
    }
}

impl<N: AsRef<str>, V: AsRef<str>> EventHeaders for BTreeMap<N, V> {
    fn value(&self, name: &str) -> Option<&str> {
        find(self.iter().map(|(own, value)| (own.as_ref(), value.as_ref())), name)
    }
}

fn find<'a>(mut headers: impl Iterator<Item = (&'a str, &'a str)>, name: &str) -> Option<&'a str> {
    headers.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// The event of a request to `events.url`, if the server has signed it.
///
/// - `body`: the bytes of the request as they came, **not** JSON that was parsed and written again
/// - `headers`: the request's headers, with names in any case
/// - `secrets`: `events.secret` of the server (`whsec_…`); several while it is replaced
///
/// An event can come twice, with the same [`Event::id`], and after a restore of the server with a new one: deliver once for each
/// order. Answer with 2xx after the transaction that processes it.
///
/// ```
/// use kassa_client::{testing::sign_event, verify_event};
///
/// # let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// let request = sign_event(secret, "checkout.paid")?; // as the server sends it
/// let event = verify_event(&request.body, &request.headers, [secret])?;
/// assert!(event.is_paid());
/// # Ok::<(), kassa_client::EventError>(())
/// ```
///
/// # Errors
/// [`EventError`] says why it is not accepted.
pub fn verify_event(
    body: &[u8],
    headers: &(impl EventHeaders + ?Sized),
    secrets: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<Event, EventError> {
    EventVerifier::new(secrets)?.verify(body, headers)
}

/// [`verify_event`] with settings of your own, for any number of events.
#[derive(Clone)]
pub struct EventVerifier {
    keys: Vec<hmac::Key>,
    tolerance: Duration,
}

/// It holds secrets.
impl fmt::Debug for EventVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventVerifier").field("tolerance", &self.tolerance).finish_non_exhaustive()
    }
}

impl EventVerifier {
    /// A verifier with the secrets that the shop knows.
    ///
    /// # Errors
    /// [`EventErrorReason::MalformedSecret`].
    pub fn new(secrets: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, EventError> {
        let keys: Vec<Option<hmac::Key>> = secrets.into_iter().map(|secret| key(secret.as_ref())).collect();
        let malformed = |detail: String| EventError::new(EventErrorReason::MalformedSecret, detail);
        let count = keys.len();
        if count == 0 {
            return Err(malformed("there is no secret: give the server's events.secret".to_owned()));
        }
        if let Some(index) = keys.iter().position(Option::is_none) {
            // Its text is not part of the message: it may be another secret.
            let place = if count == 1 { "the secret".to_owned() } else { format!("secret {} of {count}", index + 1) };
            let rule = "must be whsec_ and base64 of 24 to 64 bytes, as `kassa-server secret` prints it";
            return Err(malformed(format!("{place} {rule}")));
        }
        Ok(Self { keys: keys.into_iter().flatten().collect(), tolerance: TOLERANCE })
    }

    /// How far the time of sending may be from now, to either side. Default: five minutes.
    #[must_use]
    pub fn tolerance(self, tolerance: Duration) -> Self {
        Self { tolerance, ..self }
    }

    /// The event of a request: see [`verify_event`].
    ///
    /// # Errors
    /// [`EventError`] says why it is not accepted.
    pub fn verify(&self, body: &[u8], headers: &(impl EventHeaders + ?Sized)) -> Result<Event, EventError> {
        self.verify_at(body, headers, SystemTime::now())
    }

    /// Verifies at another time, for tests.
    ///
    /// # Errors
    /// As there.
    pub fn verify_at(
        &self,
        body: &[u8],
        headers: &(impl EventHeaders + ?Sized),
        now: SystemTime,
    ) -> Result<Event, EventError> {
        let value = |name: &str| {
            let missing = || format!("the header {name} is missing. Is this a request of kassa-server?");
            let value = headers.value(name).filter(|value| !value.is_empty());
            value.ok_or_else(|| EventError::new(EventErrorReason::MissingHeader, missing()))
        };
        let (id, timestamp, signature) = (value(ID)?, value(TIMESTAMP)?, value(SIGNATURE)?);
        self.check_time(timestamp, now)?;
        self.check_signature(signature, &message(id, timestamp, body))?;
        serde_json::from_slice(body).map_err(|problem| {
            let what = if problem.is_data() { problem.to_string() } else { "it is not JSON".to_owned() };
            let detail = format!("the signature is right, but the body is not an event: {what}");
            EventError::new(EventErrorReason::MalformedEvent, detail)
        })
    }

    fn check_time(&self, timestamp: &str, now: SystemTime) -> Result<(), EventError> {
        let is_number = timestamp.len() <= LONGEST_TIMESTAMP && timestamp.bytes().all(|byte| byte.is_ascii_digit());
        let Some(sent) = timestamp.parse::<u64>().ok().filter(|_| is_number) else {
            let shown: String = timestamp.chars().take(20).collect();
            let detail = format!("{TIMESTAMP} must be seconds since 1970, not {shown:?}");
            return Err(EventError::new(EventErrorReason::MalformedTimestamp, detail));
        };
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let difference = now.abs_diff(sent);
        if Duration::from_secs(difference) <= self.tolerance {
            return Ok(());
        }
        let (reason, side) =
            if sent < now { (EventErrorReason::TooOld, "ago") } else { (EventErrorReason::TooNew, "ahead") };
        let allowed = self.tolerance.as_secs();
        let detail = format!(
            "the event was sent {difference} s {side}, and {allowed} s are allowed: check the clocks of both machines. An event \
             that waits in a queue is verified when it arrives, before it waits"
        );
        Err(EventError::new(reason, detail))
    }

    fn check_signature(&self, header: &str, message: &[u8]) -> Result<(), EventError> {
        let macs = header.split(' ').filter_map(|each| {
            let encoded = each.strip_prefix(VERSION)?.strip_prefix(',')?;
            BASE64.decode(encoded).ok().filter(|mac| mac.len() == MAC_BYTES)
        });
        let macs: Vec<Vec<u8>> = macs.collect();
        if macs.is_empty() {
            let detail = format!("{SIGNATURE} must have a signature of the form v1,BASE64 of 32 bytes");
            return Err(EventError::new(EventErrorReason::MalformedSignature, detail));
        }
        // Each in constant time.
        if self.keys.iter().any(|key| macs.iter().any(|mac| hmac::verify(key, message, mac).is_ok())) {
            return Ok(());
        }
        let cause = match self.keys.len() {
            1 => "the secret is not this server's".to_owned(),
            count => format!("none of the {count} secrets is this server's"),
        };
        let detail = format!(
            "the signature does not match: {cause}, or the body was changed (pass the bytes as they came, not JSON that was \
             parsed and written again)"
        );
        Err(EventError::new(EventErrorReason::WrongSignature, detail))
    }
}

/// The key that a secret stands for. None if it is malformed.
fn key(secret: &str) -> Option<hmac::Key> {
    let bytes = BASE64.decode(secret.strip_prefix(SECRET_PREFIX)?).ok()?;
    (24..=64).contains(&bytes.len()).then(|| hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

fn message(id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat()
}

/// The header `webhook-signature`, as the server makes it.
pub(crate) fn signature(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> Result<String, EventError> {
    let malformed = "the secret must be whsec_ and base64 of 24 to 64 bytes";
    let key = key(secret).ok_or_else(|| EventError::new(EventErrorReason::MalformedSecret, malformed))?;
    let mac = hmac::sign(&key, &message(id, timestamp, body));
    Ok(format!("{VERSION},{}", STANDARD.encode(mac)))
}
