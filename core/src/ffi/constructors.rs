//! Constructors for other languages, with owned arguments.

use crate::{
    CallbackKey, Card, CardInput, Checkout, CheckoutSettings, Credentials, Dialect, Gateway, GatewayConfig,
    PaymentError, Proxy, QrCode, QrLevel,
};

#[uniffi::export]
impl Gateway {
    /// Creates a gateway from its configuration. Nothing is sent.
    #[uniffi::constructor(name = "new")]
    fn by_config(config: GatewayConfig) -> Result<Self, PaymentError> {
        Self::new(config)
    }
}

#[uniffi::export]
impl Card {
    /// A card as the payer types it: the number with or without spaces and hyphens, the expiry as two and four digits,
    /// the CVC, and the holder's first and last name. Nothing is checked here.
    #[uniffi::constructor(name = "new")]
    fn by_texts(pan: String, expiry_month: String, expiry_year: i32, cvc: String, holder_name: String) -> Self {
        Self::new(pan, expiry_month, expiry_year, cvc, holder_name)
    }
}

/// Strings are owned, and so wiped after they are read.
#[uniffi::export]
impl CardInput {
    /// An empty form.
    #[uniffi::constructor(name = "new")]
    fn empty() -> Self {
        Self::new()
    }

    /// Returns a copy with this number: the whole text of the field.
    #[uniffi::method(name = "with_number")]
    fn and_number(&self, typed: String) -> Self {
        self.with_number(typed)
    }

    /// Returns a copy with this expiry, month first.
    #[uniffi::method(name = "with_expiry")]
    fn and_expiry(&self, typed: String) -> Self {
        self.with_expiry(typed)
    }

    /// Returns a copy with this security code.
    #[uniffi::method(name = "with_cvc")]
    fn and_cvc(&self, typed: String) -> Self {
        self.with_cvc(typed)
    }

    /// Returns a copy with this holder's name, unchanged.
    #[uniffi::method(name = "with_holder_name")]
    fn and_holder_name(&self, typed: String) -> Self {
        self.with_holder_name(typed)
    }

    /// The number, with spaces between groups as the brand prints them.
    #[uniffi::method(name = "number")]
    fn number_text(&self) -> String {
        self.number().to_owned()
    }

    /// The expiry as `08/31`, or as much of it as was typed.
    #[uniffi::method(name = "expiry")]
    fn expiry_text(&self) -> String {
        self.expiry().to_owned()
    }

    /// The digits of the security code.
    #[uniffi::method(name = "cvc")]
    fn cvc_text(&self) -> String {
        self.cvc().to_owned()
    }

    /// The holder's name as it was typed.
    #[uniffi::method(name = "holder_name")]
    fn holder_name_text(&self) -> String {
        self.holder_name().to_owned()
    }
}

#[uniffi::export]
impl Checkout {
    /// Opens a checkout of the merchant's server with a client token, and begins to poll it.
    #[uniffi::constructor(name = "open")]
    fn by_texts(server_url: &str, client_token: &str, settings: CheckoutSettings) -> Result<Self, PaymentError> {
        Self::open_with(server_url, client_token, settings)
    }
}

#[uniffi::export]
impl Credentials {
    /// Credentials for HTTP Basic authentication.
    #[uniffi::constructor(name = "basic")]
    fn by_texts(login: String, password: String) -> Self {
        Self::basic(login, password)
    }
}

#[uniffi::export]
impl CallbackKey {
    /// A key from its secret: 32 or more unguessable bytes.
    #[uniffi::constructor(name = "new")]
    fn by_secret(secret: &str) -> Result<Self, PaymentError> {
        Self::new(secret)
    }
}

#[uniffi::export]
impl Proxy {
    /// No proxy, whatever the environment says. The default.
    #[uniffi::constructor(name = "direct")]
    fn by_default() -> Self {
        Self::direct()
    }

    /// The proxies in `HTTPS_PROXY` and similar variables.
    #[uniffi::constructor(name = "environment")]
    fn by_environment() -> Self {
        Self::environment()
    }

    /// A proxy by its http or https URL.
    #[uniffi::constructor(name = "from_url")]
    fn by_url(url: String) -> Self {
        Self::url(url)
    }
}

#[uniffi::export]
impl Dialect {
    /// The default dialect: it assumes the envelope that the interface shows (`docs/interface.md#envelope`).
    #[uniffi::constructor(name = "new")]
    fn shown() -> Self {
        Self::default()
    }

    /// Reads the JSON form. Settings that it does not name stay as in its `base`, which is the default unless it names another known
    /// dialect.
    #[uniffi::constructor(name = "from_json")]
    fn by_json(text: &str) -> Result<Self, PaymentError> {
        Self::from_json(text)
    }

    /// A known dialect, by its exact name: `interface` is the default, and `finipay` follows the public pages of the gateway FINIPAY. It
    /// was not tested against the live service.
    #[uniffi::constructor(name = "named")]
    fn by_name(name: &str) -> Result<Self, PaymentError> {
        Self::named(name)
    }
}

#[uniffi::export]
impl QrCode {
    /// Encodes a text into the smallest code that holds it.
    #[uniffi::constructor(name = "encode")]
    fn by_text(text: &str, level: QrLevel) -> Result<Self, PaymentError> {
        Self::encode(text, level)
    }
}
