//! Signatures that must be rejected, and unusual ones that must be accepted.

use base64::{Engine, engine::general_purpose::STANDARD};
use strum::EnumIter;

use crate::event::{Event, Message, key_of, new_id, new_secret, now_s, sign};

/// How an event is forged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub(crate) enum Forgery {
    None,
    Empty,
    AnotherSecret,
    EmptySecret,
    SecretAsText,
    Truncated,
    Version2,
    WithoutVersion,
    Hexadecimal,
    AnotherBody,
    AnotherId,
    AnotherTimestamp,
    WithoutId,
    WithoutTimestamp,
    BodyAlone,
    ManyWrong,
    EmptyAmongOthers,
    SixMinutesOld,
    HourOld,
    YearOld,
    SixMinutesAhead,
    HourAhead,
    TimestampText,
    TimestampNegative,
    TimestampEmpty,
    TimestampMilliseconds,
}

impl Forgery {
    pub(crate) fn name(self) -> &'static str {
        self.names().0
    }

    pub(crate) fn text(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::None => ("no-signature", "checkout.paid without a signature"),
            Self::Empty => ("empty-signature", "checkout.paid with the signature \"v1,\""),
            Self::AnotherSecret => ("another-secret", "checkout.paid signed with another secret"),
            Self::EmptySecret => ("empty-secret", "checkout.paid signed with an empty key"),
            Self::SecretAsText => ("secret-as-text", "checkout.paid signed with a public text as the key"),
            Self::Truncated => ("truncated", "checkout.paid with the first half of a right signature"),
            Self::Version2 => ("version-2", "checkout.paid with a right signature under the version v2"),
            Self::WithoutVersion => ("without-version", "checkout.paid with a wrong signature without a version"),
            Self::Hexadecimal => ("hexadecimal", "checkout.paid with a wrong signature in hexadecimal digits"),
            Self::AnotherBody => ("another-body", "the signature of payment.created above the body of checkout.paid"),
            Self::AnotherId => ("another-id", "a right signature under another webhook-id"),
            Self::AnotherTimestamp => {
                ("another-timestamp", "an old right signature under the present webhook-timestamp")
            }
            Self::WithoutId => ("without-id", "checkout.paid signed with another secret, without webhook-id"),
            Self::WithoutTimestamp => {
                ("without-timestamp", "checkout.paid signed with another secret, without webhook-timestamp")
            }
            Self::BodyAlone => ("body-alone", "checkout.paid with a signature of the body alone"),
            Self::ManyWrong => ("many-wrong", "checkout.paid with a hundred wrong signatures"),
            Self::EmptyAmongOthers => ("empty-among-others", "checkout.paid with empty and malformed signatures"),
            Self::SixMinutesOld => ("six-minutes-old", "a right signature of six minutes ago, as in a replay"),
            Self::HourOld => ("hour-old", "a right signature of an hour ago, as in a replay"),
            Self::YearOld => ("year-old", "a right signature of a year ago, as in a replay"),
            Self::SixMinutesAhead => ("six-minutes-ahead", "a right signature of six minutes ahead"),
            Self::HourAhead => ("hour-ahead", "a right signature of an hour ahead"),
            Self::TimestampText => ("timestamp-text", "a timestamp that is not a number, validly signed"),
            Self::TimestampNegative => ("timestamp-negative", "a negative timestamp, validly signed"),
            Self::TimestampEmpty => ("timestamp-empty", "no timestamp, with a valid signature of the empty one"),
            Self::TimestampMilliseconds => ("timestamp-milliseconds", "a timestamp in milliseconds, validly signed"),
        }
    }

    /// The request. Partly valid signatures use the shop's secret, as in a replay.
    pub(crate) fn message(self, event: &Event, secret: &str) -> Message {
        let (id, body, now) = (event.id.as_str(), event.body.as_slice(), now_s().to_string());
        let (right, wrong) = (key_of(secret), key_of(&new_secret()));
        let of = |key: &[u8]| sign(key, id, &now, body);
        let plain = |signature: &str| Message::new(id, &now, signature, body);
        let at = |timestamp: &str| Message::new(id, timestamp, &sign(&right, id, timestamp, body), body);
        match self {
            Self::None => plain(""),
            Self::Empty => plain("v1,"),
            Self::AnotherSecret => plain(&of(&wrong)),
            Self::EmptySecret => plain(&of(&[])),
            Self::SecretAsText => plain(&of(b"whsec_")),
            Self::Truncated => plain(&of(&right)[..25]),
            Self::Version2 => plain(&of(&right).replace("v1,", "v2,")),
            Self::WithoutVersion => plain(of(&wrong).trim_start_matches("v1,")),
            Self::Hexadecimal => plain(&format!("v1,{}", "0f".repeat(32))),
            Self::AnotherBody => {
                let harmless = event.altered(|event| event["type"] = "payment.created".into());
                plain(&sign(&right, id, &now, &harmless.body))
            }
            Self::AnotherId => plain(&sign(&right, &new_id(), &now, body)),
            Self::AnotherTimestamp => plain(&sign(&right, id, &(now_s() - 86_400).to_string(), body)),
            Self::WithoutId => Message::new("", &now, &of(&wrong), body),
            Self::WithoutTimestamp => Message::new(id, "", &of(&wrong), body),
            Self::BodyAlone => {
                let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &right);
                plain(&format!("v1,{}", STANDARD.encode(ring::hmac::sign(&key, body))))
            }
            Self::ManyWrong => plain(&vec![of(&wrong); 100].join(" ")),
            Self::EmptyAmongOthers => plain("v1, v1 ,v1 v1,= v1,AAAA v0,"),
            Self::SixMinutesOld => at(&(now_s() - 360).to_string()),
            Self::HourOld => at(&(now_s() - 3600).to_string()),
            Self::YearOld => at(&(now_s() - 31_536_000).to_string()),
            Self::SixMinutesAhead => at(&(now_s() + 360).to_string()),
            Self::HourAhead => at(&(now_s() + 3600).to_string()),
            Self::TimestampText => at("now"),
            Self::TimestampNegative => at(&format!("-{now}")),
            Self::TimestampEmpty => at(""),
            Self::TimestampMilliseconds => at(&format!("{now}000")),
        }
    }
}

/// A signature that must be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Genuine {
    NewSecretFirst,
    NewSecretSecond,
    UnknownVersionFirst,
    HalfAMinuteOld,
    HalfAMinuteAhead,
    SpacesInBody,
}

/// All genuine signatures.
pub(crate) const GENUINE: [Genuine; 6] = [
    Genuine::NewSecretFirst,
    Genuine::NewSecretSecond,
    Genuine::UnknownVersionFirst,
    Genuine::HalfAMinuteOld,
    Genuine::HalfAMinuteAhead,
    Genuine::SpacesInBody,
];

impl Genuine {
    pub(crate) fn name(self) -> &'static str {
        self.names().0
    }

    pub(crate) fn text(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::NewSecretFirst => {
                ("rotation-first", "two signatures while the secret is replaced: the first one is right")
            }
            Self::NewSecretSecond => {
                ("rotation-second", "two signatures while the secret is replaced: the second one is right")
            }
            Self::UnknownVersionFirst => {
                ("unknown-version-first", "a signature of an unknown version before the right one")
            }
            Self::HalfAMinuteOld => ("half-a-minute-old", "clocks differ by half a minute: the event is older"),
            Self::HalfAMinuteAhead => {
                ("half-a-minute-ahead", "clocks differ by half a minute: the event is of the future")
            }
            Self::SpacesInBody => ("spaces-in-body", "a body with line breaks and spaces, which the signature covers"),
        }
    }

    pub(crate) fn message(self, event: &Event, secret: &str) -> Message {
        let (id, body, now) = (event.id.as_str(), event.body.as_slice(), now_s().to_string());
        let right = sign(&key_of(secret), id, &now, body);
        let wrong = sign(&key_of(&new_secret()), id, &now, body);
        match self {
            Self::NewSecretFirst => Message::new(id, &now, &format!("{right} {wrong}"), body),
            Self::NewSecretSecond => Message::new(id, &now, &format!("{wrong} {right}"), body),
            Self::UnknownVersionFirst => Message::new(id, &now, &format!("v1a,{} {right}", "A".repeat(86)), body),
            Self::HalfAMinuteOld => Message::signed_at(event, secret, now_s() - 30),
            Self::HalfAMinuteAhead => Message::signed_at(event, secret, now_s() + 30),
            Self::SpacesInBody => {
                let body = serde_json::to_vec_pretty(&event.value()).unwrap_or_default();
                Message::signed(&Event { id: event.id.clone(), body }, secret)
            }
        }
    }
}
