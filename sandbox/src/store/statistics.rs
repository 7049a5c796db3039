//! Aggregation of the payments: by time, by provider, by means, by outcome.

use rusqlite::{Connection, Row};
use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::{
    domain::{PaymentKind, PaymentStatus, Provider, RejectReason, all, clock},
    store::{
        StoreError,
        word::{optional_word, word},
    },
};

/// Bishkek's hours ahead of UTC, in milliseconds.
const AHEAD: i64 = clock::ZONE.whole_seconds() as i64 * 1000;

/// The length of the periods that payments are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Unit {
    Hour,
    Day,
    Week,
    Month,
}

impl Unit {
    /// All of them.
    pub(crate) const ALL: [Self; Self::COUNT] = all();

    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }

    /// A number for the period of a payment, the same for all in it and growing with time; of a month each day has its
    /// own. 1970 began on a Thursday, weeks begin on Mondays.
    fn sql(self) -> String {
        match self {
            Self::Hour => format!("(created_at + {AHEAD}) / 3600000"),
            // Calendar arithmetic for each row is slow; days become months afterwards.
            Self::Day | Self::Month => format!("(created_at + {AHEAD}) / 86400000"),
            Self::Week => format!("((created_at + {AHEAD}) / 86400000 + 3) / 7"),
        }
    }
}

/// Payments of one period, status and currency.
pub(crate) struct Counted {
    pub(crate) period: i64,
    pub(crate) status: PaymentStatus,
    pub(crate) currency: String,
    pub(crate) count: i64,
    /// Their amounts, in hundredths.
    pub(crate) minor: i64,
}

/// Payments by period, by day where the unit is a month, registered at `from` or later and before `until`.
pub(crate) fn by_time(connection: &Connection, unit: Unit, from: i64, until: i64) -> Result<Vec<Counted>, StoreError> {
    let sql = format!(
        "SELECT {} AS period, status, currency, COUNT(*) AS count, SUM(amount_minor) AS minor
         FROM payments WHERE created_at >= ?1 AND created_at < ?2 GROUP BY period, status, currency",
        unit.sql()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let counted = statement
        .query_map((from, until), |row| {
            Ok(Counted {
                period: row.get("period")?,
                status: word(row, "status")?,
                currency: row.get("currency")?,
                count: row.get("count")?,
                minor: row.get("minor")?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(counted)
}

/// Payments that are alike in all that matters for an analysis.
pub(crate) struct Alike {
    pub(crate) kind: PaymentKind,
    pub(crate) provider: Option<Provider>,
    pub(crate) status: PaymentStatus,
    pub(crate) reason: Option<RejectReason>,
    pub(crate) currency: String,
    pub(crate) count: i64,
    pub(crate) minor: i64,
    /// From registration to the end, all of them together, in milliseconds; 0 for open ones.
    pub(crate) took: i64,
}

/// Payments by everything an analysis asks for, registered at `from` or later.
pub(crate) fn alike(connection: &Connection, from: i64) -> Result<Vec<Alike>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT kind, provider, status, reject_reason, currency, COUNT(*) AS count, SUM(amount_minor) AS minor,
            COALESCE(SUM(finished_at - created_at), 0) AS took
         FROM payments WHERE created_at >= ?1 GROUP BY kind, provider, status, reject_reason, currency",
    )?;
    let found = statement.query_map([from], of_row)?.collect::<Result<_, _>>()?;
    Ok(found)
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<Alike> {
    Ok(Alike {
        kind: word(row, "kind")?,
        provider: optional_word(row, "provider")?,
        status: word(row, "status")?,
        reason: optional_word(row, "reject_reason")?,
        currency: row.get("currency")?,
        count: row.get("count")?,
        minor: row.get("minor")?,
        took: row.get("took")?,
    })
}
