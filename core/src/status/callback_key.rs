//! Message authentication code (HMAC) of URLs: signs a payment reference into outgoing callback and return URLs, and
//! reads it back from the called URL.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::hmac;

use crate::{
    error::PaymentError, payment_ref::PaymentRef, secret::Secret, status::redirect::with_ampersands,
    validation::Checks, violation::Rule,
};

/// The query parameter that carries the reference and its signature.
const PARAMETER: &str = "kassa";
/// The version of the parameter's form, its first byte. Another version is rejected.
const VERSION: u8 = 1;
/// HMAC-SHA256.
const TAG_LENGTH: usize = 32;
/// As long as the hash: a shorter key makes the code weaker (RFC 2104, section 3).
const SECRET_LENGTH: usize = 32;

/// Signs a payment reference into callback and return URLs, and reads it back from the called URL.
///
/// The interface signs no callbacks (`docs/interface.md#callbacks`). With a key, a shop without a database still knows
/// which order a callback is about, and a forged one is rejected before any query to the gateway.
///
/// **A call is still only a hint.** A genuine URL can be called again, by the gateway and by anyone who saw it; the
/// payer's browser sees the return URL. The signature proves that this shop made the reference, never that anything was
/// paid: the gateway's report decides ([`Gateway::verify_callback`](crate::Gateway::verify_callback),
/// [`Gateway::watch`](crate::Gateway::watch)). A return URL is not accepted as a callback URL, or vice versa.
///
/// The reference of a pay-form or a QR picture has the requested amount and no order number: a payer who paid one cart could call the URL
/// of another cart with the same amount. Store which number paid for which cart, and accept none twice.
///
/// The reference is signed, not encrypted: anyone who sees the URL can read it. Nothing else in the URL is signed:
/// neither host and path, nor the shop's own parameters, nor the `OrderNumber` that the gateway adds.
///
/// The URL grows by one query parameter, `kassa`, of about 140 to 250 characters with ordinary order numbers: 45, and
/// four for every three bytes of the reference's text. The interface sets no length limit.
///
/// ```
/// use kassa::{CallbackKey, PaymentRef};
///
/// # let secret = "0123456789abcdef0123456789abcdef".to_owned();
/// let key = CallbackKey::new(&secret)?; // 32 random bytes or more, as text: openssl rand -base64 32
/// let payment = PaymentRef::card("order-1", "100.10".parse().unwrap(), "KGS");
/// let callback_url = key.callback_url("https://shop.example/callbacks?shop=7", &payment)?;
///
/// // Later, a web framework gives the path and the query that were called.
/// let called = callback_url.strip_prefix("https://shop.example").unwrap();
/// assert_eq!(key.read_callback_url(called)?, payment);
/// assert!(key.read_callback_url("/callbacks?shop=7").is_err());
/// # Ok::<(), kassa::PaymentError>(())
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct CallbackKey {
    /// The secret that signs, then previous ones, which only verify. Never empty.
    current: Secret,
    previous: Vec<Secret>,
}

/// The purpose of a URL (domain separation).
#[derive(Clone, Copy)]
enum Purpose {
    Callback,
    Return,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::Callback => "callback",
            Self::Return => "return",
        }
    }
}

impl CallbackKey {
    /// A key from its secret: 32 or more unguessable bytes, such as `openssl rand -base64 32` prints. Store it with the
    /// gateway's password, and give every shop its own.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if it is shorter than 32 bytes.
    pub fn new(secret: &str) -> Result<Self, PaymentError> {
        Ok(Self { current: checked(secret)?, previous: Vec::new() })
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl CallbackKey {
    /// Returns a copy that also accepts URLs signed with a previous secret: for key rotation. Sign with the new one,
    /// and drop the previous one when its payments are final.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn with_previous(&self, secret: &str) -> Result<Self, PaymentError> {
        let mut key = self.clone();
        key.previous.push(checked(secret)?);
        Ok(key)
    }

    /// A callback URL with the signed reference. The rest of the URL is unchanged.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if the URL is not an absolute http or https URL, if it already has a parameter
    /// `kassa`, or if the reference would not be read back unchanged.
    pub fn callback_url(&self, url: &str, payment: &PaymentRef) -> Result<String, PaymentError> {
        let mut checks = Checks::default();
        checks.http_url("callbackUrl", url);
        checks.finish()?;
        self.signed("callbackUrl", url, payment, Purpose::Callback)
    }

    /// A return URL with the signed reference. It can be an app's deep link. The rest of the URL is unchanged, and the
    /// gateway adds its own parameters.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if the text is not an absolute URI, if it already has a parameter `kassa`, or if the
    /// reference would not be read back unchanged.
    pub fn return_url(&self, url: &str, payment: &PaymentRef) -> Result<String, PaymentError> {
        let mut checks = Checks::default();
        checks.return_uri("returnUrl", url);
        checks.finish()?;
        self.signed("returnUrl", url, payment, Purpose::Return)
    }

    /// The reference that was signed into a called callback URL: pass the whole URL, or its path and query.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if there is no parameter `kassa` or more than one, or if it was not signed by this key
    /// as a callback URL. Answer such a call with an HTTP error, and do not query the gateway.
    pub fn read_callback_url(&self, called: &str) -> Result<PaymentRef, PaymentError> {
        self.read(called, Purpose::Callback)
    }

    /// The reference that was signed into the payer's return URL: pass the whole URL, or its path and query.
    ///
    /// # Errors
    /// The errors of [`read_callback_url`](Self::read_callback_url).
    pub fn read_return_url(&self, called: &str) -> Result<PaymentRef, PaymentError> {
        self.read(called, Purpose::Return)
    }
}

impl CallbackKey {
    fn signed(&self, field: &str, url: &str, payment: &PaymentRef, purpose: Purpose) -> Result<String, PaymentError> {
        if !parameters(url).is_empty() {
            let sentence = "must not have a parameter kassa, which is the signature's";
            return Err(PaymentError::invalid(field, Rule::Format, None, sentence));
        }
        let text = payment.to_string();
        if text.parse().as_ref() != Ok(payment) {
            let sentence = "must be one that its text form is read back as";
            return Err(PaymentError::invalid("payment", Rule::Format, None, sentence));
        }
        let tag = hmac::sign(&key(&self.current), &message(purpose, &text));
        let value = URL_SAFE_NO_PAD.encode([&[VERSION], tag.as_ref(), text.as_bytes()].concat());
        Ok(with_parameter(url, &value))
    }

    fn read(&self, called: &str, purpose: Purpose) -> Result<PaymentRef, PaymentError> {
        let mut given = parameters(called).into_iter();
        let value = given.next().ok_or_else(|| refused(Rule::Required, "must be given"))?;
        if given.next().is_some() {
            return Err(refused(Rule::Format, "must be given once"));
        }
        let form = || refused(Rule::Format, "must be a signed reference, whole and unchanged");
        let bytes = URL_SAFE_NO_PAD.decode(value).map_err(|_| form())?;
        let signed = bytes.split_first().filter(|(version, _)| **version == VERSION).map(|(_, rest)| rest);
        let (tag, text) = signed.and_then(|rest| rest.split_at_checked(TAG_LENGTH)).ok_or_else(form)?;
        let text = str::from_utf8(text).map_err(|_| form())?;
        let message = message(purpose, text);
        let mut secrets = std::iter::once(&self.current).chain(&self.previous);
        // Timing attack: `verify` runs in constant time.
        if !secrets.any(|secret| hmac::verify(&key(secret), &message, tag).is_ok()) {
            let sentence = format!("must be signed by this key, as one of a {} URL", purpose.name());
            return Err(refused(Rule::Signature, &sentence));
        }
        text.parse()
    }
}

impl fmt::Debug for CallbackKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackKey(***)")
    }
}

fn checked(secret: &str) -> Result<Secret, PaymentError> {
    if secret.len() < SECRET_LENGTH {
        let sentence = "must be at least 32 bytes long, and random";
        return Err(PaymentError::invalid("secret", Rule::Length, Some("32"), sentence));
    }
    Ok(Secret::new(secret))
}

/// Created for each use: ring does not wipe its keys (zeroization), so none is stored.
fn key(secret: &Secret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes())
}

/// The signed message. Only its last part is of free form, so different purposes and references give different messages.
fn message(purpose: Purpose, text: &str) -> Vec<u8> {
    format!("kassa signed address {VERSION}\n{}\n{text}", purpose.name()).into_bytes()
}

fn refused(rule: Rule, sentence: &str) -> PaymentError {
    PaymentError::invalid(PARAMETER, rule, None, sentence)
}

/// Splits off the fragment.
fn without_fragment(url: &str) -> (&str, &str) {
    url.split_at(url.find('#').unwrap_or(url.len()))
}

/// The values of all parameters of that name, in any encoding. Text that a careless gateway adds after a second `?`, or `&amp;`, is not
/// part of them.
fn parameters(url: &str) -> Vec<String> {
    let (_, query) = without_fragment(url).0.split_once('?').unwrap_or_default();
    let query = with_ampersands(query).replace("&amp;", "&");
    let pairs = form_urlencoded::parse(query.as_bytes());
    pairs.filter(|(name, _)| name == PARAMETER).map(|(_, value)| value.into_owned()).collect()
}

/// Inserted into the text, because a URL parser would rewrite the rest.
fn with_parameter(url: &str, value: &str) -> String {
    let (address, fragment) = without_fragment(url);
    let separator = match address.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    format!("{address}{separator}{PARAMETER}={value}{fragment}")
}

#[cfg(test)]
mod tests;
