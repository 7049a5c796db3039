//! Columns with a name or a number as text, parsed when they are read.

use rusqlite::{
    Row, RowIndex,
    types::{FromSql, FromSqlError, FromSqlResult, ValueRef},
};
use rust_decimal::Decimal;

use crate::{
    domain::{Language, PaymentKind, PaymentStatus, Provider, RejectReason},
    faults::FaultName,
};

/// A stored word, read by its parser.
pub(super) struct Parsed<T>(T);

pub(super) trait ParseColumn: Sized {
    fn parse_word(word: &str) -> Option<Self>;
}

macro_rules! parse {
    ($($kind:ty => $parser:path),* $(,)?) => {$(
        impl ParseColumn for $kind {
            fn parse_word(word: &str) -> Option<Self> {
                $parser(word)
            }
        }
    )*};
}

parse! {
    PaymentKind => PaymentKind::parse,
    Provider => Provider::parse,
    PaymentStatus => PaymentStatus::parse,
    RejectReason => RejectReason::parse,
    Language => Language::from_code,
    FaultName => FaultName::parse,
}

impl ParseColumn for Decimal {
    fn parse_word(word: &str) -> Option<Self> {
        Self::from_str_exact(word).ok()
    }
}

impl<T: ParseColumn> FromSql for Parsed<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        T::parse_word(value.as_str()?).map(Self).ok_or(FromSqlError::InvalidType)
    }
}

/// A column's word.
pub(super) fn parsed<T: ParseColumn>(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<T> {
    row.get::<_, Parsed<T>>(column).map(|word| word.0)
}

/// A column's word, if any.
pub(super) fn optional_parsed<T: ParseColumn>(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<Option<T>> {
    let found: Option<Parsed<T>> = row.get(column)?;
    Ok(found.map(|word| word.0))
}
