//! What a limit says, taken apart: other languages count in other words.

/// A limit as it is written in violations: `16`, `13 to 20`, `13, 16 or 19`, or anything else.
pub(super) enum Limit<'a> {
    Range(&'a str, &'a str),
    /// The earlier ones as they are, and the last one.
    Choice(&'a str, &'a str),
    One(&'a str),
}

impl<'a> Limit<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        if let Some((least, most)) = text.split_once(" to ") {
            Self::Range(least, most)
        } else if let Some((others, last)) = text.rsplit_once(" or ") {
            Self::Choice(others, last)
        } else {
            Self::One(text)
        }
    }

    /// The last number, by which a noun behind it is inflected.
    pub(super) fn last(&self) -> &'a str {
        match self {
            Self::Range(_, last) | Self::Choice(_, last) | Self::One(last) => last,
        }
    }
}
