//! Serialization (serde): the forms of amounts, durations and texts that must not be blank. They are those of the
//! conformance vectors, whatever the format.

use serde::{Deserialize as _, Deserializer, de::Error as _};

/// A text that must not be blank, as in parsing.
pub(crate) fn not_blank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_given = !text.trim().is_empty();
    is_given.then_some(text).ok_or_else(|| D::Error::custom("must be given"))
}

/// An amount as the text of its digits: a JSON number passes through a float when it is read.
pub(crate) mod decimal {
    use rust_decimal::Decimal;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(amount: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(amount)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
        exact(&String::deserialize(deserializer)?)
    }

    pub(super) fn exact<E: serde::de::Error>(text: &str) -> Result<Decimal, E> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        let amount = is_plain.then(|| Decimal::from_str_exact(text).ok()).flatten();
        amount.ok_or_else(|| E::custom("an amount is a text of at most 28 digits, such as \"100.10\""))
    }
}

/// An amount that may be absent.
pub(crate) mod optional_decimal {
    use rust_decimal::Decimal;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(crate) fn serialize<S: Serializer>(amount: &Option<Decimal>, serializer: S) -> Result<S::Ok, S::Error> {
        amount.map(|amount| amount.to_string()).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
        Option::<String>::deserialize(deserializer)?.map(|text| crate::serialized::decimal::exact(&text)).transpose()
    }
}

/// A duration as whole milliseconds, rounded up so that none becomes zero.
pub(crate) mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(whole(*duration))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }

    pub(super) fn whole(duration: Duration) -> u64 {
        u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// A duration that may be absent.
pub(crate) mod optional_milliseconds {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(crate) fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        duration.map(crate::serialized::milliseconds::whole).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

/// A moment as whole milliseconds of Unix time.
pub(crate) mod moment {
    use std::time::{Duration, SystemTime};

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(moment: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
        let since = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SystemTime, D::Error> {
        let since = Duration::from_millis(u64::deserialize(deserializer)?);
        SystemTime::UNIX_EPOCH.checked_add(since).ok_or_else(|| D::Error::custom("is not a representable time"))
    }
}

/// A moment that may be absent.
pub(crate) mod optional_moment {
    use std::time::SystemTime;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Moment(#[serde(with = "crate::serialized::moment")] SystemTime);

    pub(crate) fn serialize<S: Serializer>(moment: &Option<SystemTime>, serializer: S) -> Result<S::Ok, S::Error> {
        moment.map(Moment).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SystemTime>, D::Error> {
        Ok(Option::<Moment>::deserialize(deserializer)?.map(|Moment(moment)| moment))
    }
}
