//! What everybody uses: identifiers, states, what is wrong with an input, errors.

pub mod card_number;
pub mod error;
pub mod text_file;

use std::{fmt, str::FromStr};

use error::{Rule, Violation};
use strum::{Display, EnumIter, EnumString, IntoStaticStr};

/// A moment by the database's clock: milliseconds since the beginning of 1970.
pub type Millis = i64;

/// Milliseconds of a duration, cut at the largest that a database keeps.
pub fn millis(duration: std::time::Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

// Identifiers: a prefix that says of what, and 128 random bits in 32 characters of `0-9a-f`.

/// Bytes as `0-9a-f`.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// True for 32 characters of `0-9a-f`.
pub fn is_hex_128(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

macro_rules! id {
    ($(#[$about:meta])* $name:ident, $prefix:literal, $field:literal) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// A new one, from 128 random bits.
            pub fn from_random(bytes: [u8; 16]) -> Self {
                Self(format!(concat!($prefix, "{}"), hex(&bytes)))
            }

            /// Its text, with the prefix.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Its text without the prefix.
            pub fn bare(&self) -> &str {
                &self.0[$prefix.len()..]
            }
        }

        impl FromStr for $name {
            type Err = Violation;

            fn from_str(text: &str) -> Result<Self, Violation> {
                let is_one = text.strip_prefix($prefix).is_some_and(is_hex_128);
                let sentence = concat!("must be ", $prefix, " and 32 characters of 0-9a-f");
                if is_one { Ok(Self(text.to_owned())) } else { Err(Violation::new($field, Rule::Format, sentence)) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id! {
    /// A checkout's identifier: `co_` and 32 characters.
    CheckoutId, "co_", "checkout"
}
id! {
    /// A payment's identifier: `pay_` and 32 characters. Without the prefix it is the payment's order number at the gateway.
    PaymentId, "pay_", "payment"
}

id! {
    /// An API key's identifier: `key_` and 32 characters. It is no secret.
    ApiKeyId, "key_", "key"
}

// Ways to pay.

/// A way to pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// The gateway's hosted page.
    PayForm,
    /// A dynamic QR code.
    Qr,
    /// The mobile bank, confirmed by a one-time password.
    Mbank,
    /// A card whose number passes through the server, which puts it under PCI DSS: only where the settings turn cards on, and
    /// the checkout names it.
    Card,
}

impl Method {
    /// All of them, in their order, which databases keep (`pace::queues`).
    pub const ALL: [Self; 4] = [Self::PayForm, Self::Qr, Self::Mbank, Self::Card];

    /// True where the request that begins such a payment can itself take money; else it makes a page or a code that nobody
    /// can pay who has not seen it.
    pub fn moves_money(self) -> bool {
        matches!(self, Self::Mbank | Self::Card)
    }

    /// True where it may wait until it can be sent. A card may not: it would have to be kept meanwhile.
    pub fn may_wait(self) -> bool {
        self != Self::Card
    }
}

// States of checkouts and payments.

/// Where a checkout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum CheckoutState {
    /// It can be paid.
    Open,
    /// The gateway reported that a payment of it was charged. Nothing takes that back.
    Paid,
    /// Its time passed. Money that comes late makes it paid all the same.
    Expired,
    /// The shop cancelled it. Money that comes late makes it paid all the same.
    Cancelled,
}

/// Where a payment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum PaymentState {
    /// Written down, and certainly not sent.
    Prepared,
    /// Written down, and perhaps sent.
    Sending,
    /// Certainly nothing happened at the gateway, or nobody can pay what was made there.
    NotMade,
    /// It may have happened. It is asked about, and never sent again.
    Unknown,
    /// The gateway has it; the payer has to act.
    Awaiting,
    /// The payer's one-time password was sent, or may have been.
    Confirming,
    /// The gateway reported that the money was taken, or a person decided it. Nothing takes that back.
    Charged,
    /// The gateway reported that it ended without money being taken, or a person decided it.
    Rejected,
    /// The gateway reports something else than was asked for: a person has to look.
    Mismatch,
    /// The gateway reports a charge that cannot be verified: a person has to look.
    Unverifiable,
}

/// Where a number stands that a callback claimed for a pay-form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ClaimState {
    /// The gateway has not answered about it yet.
    Asked,
    /// The gateway's answers say nothing about it.
    Unknown,
    /// The gateway reports that it is pending.
    Pending,
    /// The gateway reports that it ended without a charge. The payer may have tried again under another number.
    Rejected,
    /// The gateway reports the charge that was asked for. Nothing takes that back.
    Charged,
    /// The gateway reports a charge that cannot be verified.
    Unverifiable,
    /// The gateway reports a charge of another amount, currency or order.
    Mismatch,
    /// The gateway reports a charge that belongs to another payment.
    OtherPayment,
}

impl ClaimState {
    /// The gateway reports a charge that cannot be believed: a person has to decide.
    pub fn is_in_doubt(self) -> bool {
        matches!(self, Self::Unverifiable | Self::Mismatch | Self::OtherPayment)
    }

    /// It gives way to a newer claim where too many are kept.
    pub(crate) fn gives_way(self) -> bool {
        matches!(self, Self::Rejected | Self::Unknown)
    }
}

/// What a person finds out about a payment of which nobody knows what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Resolution {
    /// The money was taken.
    Charged,
    /// It was not, and will not be.
    NotCharged,
}

impl Resolution {
    /// The state that it makes.
    pub fn state(self) -> PaymentState {
        match self {
            Self::Charged => PaymentState::Charged,
            Self::NotCharged => PaymentState::Rejected,
        }
    }
}

impl PaymentState {
    /// The states in which money may still be taken, or may have been without anybody knowing.
    pub const MAY_TAKE_MONEY: [Self; 7] = [
        Self::Prepared,
        Self::Sending,
        Self::Unknown,
        Self::Awaiting,
        Self::Confirming,
        Self::Mismatch,
        Self::Unverifiable,
    ];

    /// The states in which a request of ours is under way, or nobody knows what it did: a person may find a mismatch or an
    /// unverifiable one charged. They hold back the expiry of a checkout, and its cancellation, as a card does that awaits
    /// nothing of its payer.
    pub const UNDER_WAY: [Self; 6] =
        [Self::Prepared, Self::Sending, Self::Unknown, Self::Confirming, Self::Mismatch, Self::Unverifiable];

    /// True where it may still take money.
    pub fn may_take_money(self) -> bool {
        Self::MAY_TAKE_MONEY.contains(&self)
    }

    /// True where nobody needs to ask about it any more, unless somebody hints that there is something new.
    pub fn is_final(self) -> bool {
        matches!(self, Self::NotMade | Self::Charged | Self::Rejected) || self.is_in_doubt()
    }

    /// True where the gateway reported a charge that cannot be believed: a person has to decide, and nobody pays meanwhile.
    pub fn is_in_doubt(self) -> bool {
        matches!(self, Self::Mismatch | Self::Unverifiable)
    }
}

// Texts that no log and no error may show.

/// A text that prints as nothing.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Hidden(String);

impl Hidden {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

#[cfg(test)]
mod ids_tests {
    use super::*;

    #[test]
    fn identifiers_are_read_back_and_others_refused() {
        let id = CheckoutId::from_random([0xab; 16]);
        assert_eq!(id.as_str().parse::<CheckoutId>(), Ok(id.clone()));
        assert_eq!(id.bare().len(), 32);
        for text in ["", "co_", "pay_abababababababababababababababab", "co_ABABABABABABABABABABABABABABABAB", "co_é"]
        {
            assert!(text.parse::<CheckoutId>().is_err(), "{text}");
        }
    }
}

// Cursors of the feed of events. A cursor names the event it stands at, so that a database that was restored from a backup
// recognises cursors of the history it has lost.

/// How many characters of the event's identifier a cursor holds: 64 random bits.
const ID_LENGTH: usize = 16;
/// An event that both histories have was written before the lost event of a cursor. Clocks may differ by so much.
const CLOCK_MARGIN: Millis = 3600 * 1000;

/// A place in the feed of events: [`Server::events_after`](crate::Server::events_after) reads on from it. Its text is opaque;
/// `0` is the place before the first event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) seq: i64,
    pub(crate) at: Millis,
    /// The beginning of the event's identifier, without its prefix.
    id: String,
}

impl Cursor {
    /// The place of an event.
    pub(crate) fn at(seq: i64, at: Millis, event_id: &str) -> Self {
        let bare = event_id.strip_prefix("evt_").unwrap_or(event_id);
        Self { seq, at, id: bare.chars().take(ID_LENGTH).collect() }
    }

    /// True for the place before the first event, which every history has.
    pub(crate) fn is_start(&self) -> bool {
        self.seq == 0
    }

    /// Whether this is the place of an event with this identifier.
    pub(crate) fn is_of(&self, event_id: &str) -> bool {
        *self == Self::at(self.seq, self.at, event_id)
    }

    /// Events of the lost history up to this moment may be in the restored one as well; none after the cursor's own is.
    pub(crate) fn shared_until(&self) -> Millis {
        self.at.saturating_sub(CLOCK_MARGIN)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_start() {
            return f.write_str("0");
        }
        write!(f, "{}.{}.{}", self.seq, letters(&format!("{:x}", self.at)), letters(&self.id))
    }
}

impl FromStr for Cursor {
    type Err = Violation;

    fn from_str(text: &str) -> Result<Self, Violation> {
        let read = || {
            if text == "0" {
                return Some(Self::default());
            }
            let mut parts = text.split('.');
            let seq = parts.next().filter(|seq| seq.starts_with(|first| matches!(first, '1'..='9')))?.parse().ok()?;
            let at = Millis::from_str_radix(&hexadecimal(parts.next()?)?, 16).ok()?;
            let id = hexadecimal(parts.next()?).filter(|id| id.len() == ID_LENGTH)?;
            parts.next().is_none().then_some(Self { seq, at, id })
        };
        let sentence = "must be a cursor that this server gave, or 0 for the first event";
        read().ok_or_else(|| Violation::new("after", Rule::Format, sentence))
    }
}

/// Hexadecimal digits as the letters a to p, because a long run of decimal digits could look like a card number.
fn letters(hexadecimal: &str) -> String {
    let letter = |digit: char| char::from(b'a' + u8::try_from(digit.to_digit(16).unwrap_or(0)).unwrap_or(0));
    hexadecimal.chars().map(letter).collect()
}

fn hexadecimal(letters: &str) -> Option<String> {
    let digit = |letter: char| char::from_digit(u32::from(letter).checked_sub(u32::from('a'))?, 16);
    letters.chars().map(digit).collect()
}

#[cfg(test)]
mod cursor_tests {
    use super::*;
    use crate::looks_like_card_number;

    #[test]
    fn cursors_are_read_back() {
        let cursor = Cursor::at(42, 1_795_456_800_000, "evt_0123456789abcdef0123456789abcdef");
        let text = cursor.to_string();
        assert_eq!(text.parse(), Ok(cursor.clone()));
        assert!(cursor.is_of("evt_0123456789abcdef0123456789abcdef"));
        assert!(!cursor.is_of("evt_1123456789abcdef0123456789abcdef"));
        assert!(!looks_like_card_number(&text), "{text}");
        assert_eq!(("0".parse(), Cursor::default().to_string()), (Ok(Cursor::default()), "0".to_owned()));
    }

    #[test]
    fn invalid_cursor_text_is_rejected() {
        for text in [
            "",
            "-1",
            "42",
            "0.a.a",
            "+42.b.abcdefghijklmnop",
            "042.b.abcdefghijklmnop",
            "42.b.c",
            "42.b.abcdefghijklmnoq",
            "42.b.abcdefghijklmnop.x",
            "42.1.abcdefghijklmnop",
        ] {
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }
}
