//! The commands that begin a payment: every field of its request, with test values.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use kassa::Decimal;

use super::values::amount;

/// A card. Its fields are texts, so that no complaint about one repeats it.
#[derive(Args, Clone)]
#[command(next_help_heading = "Card (better given by the environment or --secrets-stdin)")]
pub(crate) struct CardFields {
    /// The card number, 13 to 20 digits; spaces and hyphens are left out
    #[arg(long, env = "KASSA_CARD_PAN", hide_env_values = true, default_value = "4111 1111 1111 1111")]
    pub(crate) pan: String,

    /// The month of expiry, two digits
    #[arg(long, env = "KASSA_CARD_EXPIRY_MONTH", hide_env_values = true, value_name = "MM", default_value = "12")]
    pub(crate) expiry_month: String,

    /// The year of expiry, four digits
    #[arg(long, env = "KASSA_CARD_EXPIRY_YEAR", hide_env_values = true, value_name = "YYYY", default_value = "2099")]
    pub(crate) expiry_year: String,

    /// The card's verification code
    #[arg(long, env = "KASSA_CARD_CVC", hide_env_values = true, default_value = "123")]
    pub(crate) cvc: String,

    /// The cardholder, first name first
    #[arg(long, env = "KASSA_CARD_NAME", default_value = "Aibek Usenov")]
    pub(crate) name: String,
}

/// `checkout card`
#[derive(Args)]
pub(crate) struct CardArgs {
    /// The merchant's unique number of the payment [default: a new one]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) order_number: Option<String>,

    /// What is paid for
    #[arg(long, default_value = "Two tickets")]
    pub(crate) description: String,

    /// The amount in units of the currency, at least 1
    #[arg(long, default_value = "100.10", value_parser = amount)]
    pub(crate) amount: Decimal,

    /// The currency's three letters
    #[arg(long, default_value = "KGS")]
    pub(crate) currency: String,

    /// The payer's language, two letters
    #[arg(long, default_value = "en")]
    pub(crate) language: String,

    /// The payer's IP address
    #[arg(long, default_value = "203.0.113.7")]
    pub(crate) ip: String,

    /// The payer's e-mail [default: none]
    #[arg(long)]
    pub(crate) email: Option<String>,

    /// Where the payer's browser goes after success; an empty text leaves it out [default: a page of this program]
    #[arg(long, value_name = "URL")]
    pub(crate) return_url: Option<String>,

    /// The one-time password that the robot enters on the 3DS page [default: that of the sandbox's test card]
    #[arg(long, env = "KASSA_OTP", hide_env_values = true)]
    pub(crate) otp: Option<String>,

    /// Stop after the gateway's answer; `watch --resume` goes on
    #[arg(long)]
    pub(crate) no_wait: bool,

    #[command(flatten)]
    pub(crate) card: CardFields,
}

/// `checkout mbank`
#[derive(Args)]
pub(crate) struct MbankArgs {
    /// The merchant's unique number of the payment [default: a new one]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) order_number: Option<String>,

    /// The payer's phone number, to which the one-time password goes
    #[arg(long, default_value = "996555000101")]
    pub(crate) phone: String,

    /// The amount in whole som, at least 1
    #[arg(long, value_name = "SOM", default_value_t = 250)]
    pub(crate) amount: i64,

    /// What is paid for
    #[arg(long, default_value = "Lunch for two")]
    pub(crate) comment: String,

    /// Ask for no callback
    #[arg(long)]
    pub(crate) no_callback: bool,

    /// The payer's one-time password [default: that of the sandbox's test phone; --interactive asks]
    #[arg(long, env = "KASSA_OTP", hide_env_values = true)]
    pub(crate) otp: Option<String>,

    /// Stop after the gateway's answer to the creation; `checkout confirm` goes on
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// `checkout confirm`
#[derive(Args)]
pub(crate) struct ConfirmArgs {
    /// The merchant's order number of the payment
    #[arg(long, value_name = "NUMBER")]
    pub(crate) order_number: String,

    /// The payer's one-time password; better given by the environment or --secrets-stdin [--interactive asks]
    #[arg(long, env = "KASSA_OTP", hide_env_values = true)]
    pub(crate) otp: Option<String>,

    /// The amount in whole som; needed where the journal does not know the payment
    #[arg(long, value_name = "SOM")]
    pub(crate) amount: Option<i64>,

    /// The identifier that the creation yielded, where the dialect names one [default: what the journal holds]
    #[arg(long)]
    pub(crate) identifier: Option<String>,

    /// Stop after the gateway's answer; `watch --resume` goes on
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// `checkout pay-form`
#[derive(Args)]
pub(crate) struct PayFormArgs {
    /// The amount in KGS, at least 1; MegaPay takes no less than 5
    #[arg(long, default_value = "75.50", value_parser = amount)]
    pub(crate) amount: Decimal,

    /// What is paid for
    #[arg(long, default_value = "A month of music")]
    pub(crate) service_name: String,

    /// Where the payer's browser goes after success [default: a page of this program]
    #[arg(long, value_name = "URL")]
    pub(crate) return_url: Option<String>,

    /// What the robot picks on the page
    #[arg(long, value_enum, default_value = "megapay")]
    pub(crate) pay_with: PayWith,

    /// The phone number that the robot enters for a wallet [default: the sandbox's approved test phone]
    #[arg(long)]
    pub(crate) phone: Option<String>,

    /// The one-time password that the robot enters [default: that of the sandbox's test card or phone]
    #[arg(long, env = "KASSA_OTP", hide_env_values = true)]
    pub(crate) otp: Option<String>,

    /// Stop after the gateway's answer; `watch --resume` goes on
    #[arg(long)]
    pub(crate) no_wait: bool,

    #[command(flatten)]
    pub(crate) card: CardFields,
}

/// What the robot picks on a pay-form.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PayWith {
    /// The card of --pan and its companions
    Card,
    /// MBank
    Mbank,
    /// MegaPay
    Megapay,
}

/// `checkout qr`
#[derive(Args)]
pub(crate) struct QrArgs {
    /// The amount in som, to the tyiyn; `open` lets the payer name it (not with --image)
    #[arg(long, value_name = "SOM", default_value = "120.50")]
    pub(crate) amount: String,

    /// The payee: a phone number, or the name of the enterprise or branch; an empty text leaves it out
    #[arg(long, default_value = "Kassa Coffee, Bishkek")]
    pub(crate) requisite: String,

    /// Ask for no callback
    #[arg(long)]
    pub(crate) no_callback: bool,

    /// Ask for the gateway's own picture instead of the data, and save it here (PNG, 400x400)
    #[arg(long, value_name = "FILE")]
    pub(crate) image: Option<PathBuf>,

    /// Let the robot decline instead of approve
    #[arg(long)]
    pub(crate) decline: bool,

    /// Stop after the gateway's answer; `watch --resume` goes on
    #[arg(long)]
    pub(crate) no_wait: bool,
}

/// `checkout all`
#[derive(Args)]
pub(crate) struct AllArgs {
    /// The phone number of the MBank payment
    #[arg(long, default_value = "996555000101")]
    pub(crate) phone: String,

    #[command(flatten)]
    pub(crate) card: CardFields,
}
