//! Aggregation of payments by time, provider, method and outcome. Days and longer periods use
//! daily counts, so the number of payments does not slow them down; hours are counted on request.

use rusqlite::{Connection, Row};
use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::{
    domain::{PaymentKind, PaymentStatus, Provider, RejectReason, all, clock},
    store::{
        StoreError,
        columns::{optional_parsed, parsed},
    },
};

/// Bishkek's hours ahead of UTC, in milliseconds.
const AHEAD: i64 = clock::ZONE.whole_seconds() as i64 * 1000;
const DAY: i64 = 86_400_000;

/// The number of the day in Bishkek that contains a time: 0 is 1 January 1970.
pub(crate) fn day(ms: i64) -> i64 {
    (ms + AHEAD).div_euclid(DAY)
}

/// The length of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Unit {
    Hour,
    Day,
    Week,
    Month,
}

impl Unit {
    /// All values.
    pub(crate) const ALL: [Self; Self::COUNT] = all();

    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }

    /// A number for the period of a day: the same for all its days, and increasing with time.
    /// For months, each day has its own. 1970 began on a Thursday; weeks begin on Mondays.
    fn of_day(self) -> &'static str {
        match self {
            Self::Week => "(day + 3) / 7",
            // Days are grouped into months afterwards: SQL has no calendar of Bishkek.
            _ => "day",
        }
    }
}

/// Payments of one period, status and currency.
pub(crate) struct PeriodCount {
    pub(crate) period: i64,
    pub(crate) status: PaymentStatus,
    pub(crate) currency: String,
    pub(crate) count: i64,
    /// Their amounts, in hundredths.
    pub(crate) minor: i64,
}

/// Payments by period (by day if the unit is a month), registered at `from` or later and before `until`.
pub(crate) fn by_time(
    connection: &Connection,
    unit: Unit,
    from: i64,
    until: i64,
) -> Result<Vec<PeriodCount>, StoreError> {
    let (sql, range) = match unit {
        Unit::Hour => (by_hour(), (from, until)),
        _ => (by_days(unit), (day(from), day(until))),
    };
    let mut statement = connection.prepare_cached(&sql)?;
    let counted = statement
        .query_map(range, |row| {
            Ok(PeriodCount {
                period: row.get("period")?,
                status: parsed(row, "status")?,
                currency: row.get("currency")?,
                count: row.get("count")?,
                minor: row.get("minor")?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(counted)
}

fn by_hour() -> String {
    format!(
        "SELECT (created_at + {AHEAD}) / 3600000 AS period, status, currency, COUNT(*) AS count,
            SUM(amount_minor) AS minor
         FROM payments WHERE created_at >= ?1 AND created_at < ?2 GROUP BY period, status, currency"
    )
}

fn by_days(unit: Unit) -> String {
    format!(
        "SELECT {} AS period, status, currency, SUM(count) AS count, SUM(amount_minor) AS minor
         FROM payments_by_day WHERE day >= ?1 AND day < ?2 AND count > 0 GROUP BY period, status, currency",
        unit.of_day()
    )
}

/// Payments that are equal in all respects of an analysis.
pub(crate) struct PaymentGroup {
    pub(crate) kind: PaymentKind,
    pub(crate) provider: Option<Provider>,
    pub(crate) status: PaymentStatus,
    pub(crate) reason: Option<RejectReason>,
    pub(crate) currency: String,
    pub(crate) count: i64,
    pub(crate) minor: i64,
    /// Total time from registration to the end, in milliseconds; 0 for open ones.
    pub(crate) took: i64,
}

/// Payments grouped for an analysis, registered on a day or later.
pub(crate) fn payment_groups(connection: &Connection, first_day: i64) -> Result<Vec<PaymentGroup>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT kind, NULLIF(provider, '') AS provider, status, NULLIF(reject_reason, '') AS reject_reason, currency,
            SUM(count) AS count, SUM(amount_minor) AS minor, SUM(took_ms) AS took
         FROM payments_by_day WHERE day >= ?1 AND count > 0
         GROUP BY kind, provider, status, reject_reason, currency",
    )?;
    let found = statement.query_map([first_day], of_row)?.collect::<Result<_, _>>()?;
    Ok(found)
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<PaymentGroup> {
    Ok(PaymentGroup {
        kind: parsed(row, "kind")?,
        provider: optional_parsed(row, "provider")?,
        status: parsed(row, "status")?,
        reason: optional_parsed(row, "reject_reason")?,
        currency: row.get("currency")?,
        count: row.get("count")?,
        minor: row.get("minor")?,
        took: row.get("took")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        demo,
        settings::{Database, Demo},
        store::{Store, WriteTransaction, payments},
    };

    /// The expected counts by day, computed from the payments themselves.
    const COUNTED: &str = "SELECT (created_at + 21600000) / 86400000, kind, IFNULL(provider, ''), status,
            IFNULL(reject_reason, ''), currency, COUNT(*), SUM(amount_minor), SUM(IFNULL(finished_at - created_at, 0))
        FROM payments GROUP BY 1, 2, 3, 4, 5, 6";
    const KEPT: &str = "SELECT * FROM payments_by_day WHERE count > 0";

    /// How many groups stand in one and not in the other.
    fn differences(transaction: &WriteTransaction<'_>) -> Result<u32, StoreError> {
        let sql = format!(
            "SELECT COUNT(*) FROM (SELECT * FROM ({COUNTED} EXCEPT {KEPT}) UNION ALL SELECT * FROM ({KEPT} EXCEPT {COUNTED}))"
        );
        Ok(transaction.query_row(&sql, (), |row| row.get(0))?)
    }

    #[test]
    fn counts_by_day_match_the_payments() {
        let store = Store::open(&Database::Memory).expect("a store");
        demo::fill(&store, Demo { payments: 500, seed: 7 }).expect("payments");
        let found = store.write(|transaction| {
            assert_eq!(differences(transaction)?, 0);
            payments::set_payer(transaction, 1, Provider::Cards, None, None)?;
            payments::set_amount(transaction, 2, "123.45".parse().expect("an amount"))?;
            payments::set_status(transaction, 3, PaymentStatus::Charged, None)?;
            payments::set_status(transaction, 4, PaymentStatus::Rejected, Some(RejectReason::Declined))?;
            payments::set_status(transaction, 5, PaymentStatus::Pending, None)?;
            let days: u32 =
                transaction.query_row("SELECT COUNT(DISTINCT day) FROM payments_by_day", (), |row| row.get(0))?;
            Ok((differences(transaction)?, days))
        });
        let (differences, days) = found.expect("counts");
        assert_eq!(differences, 0);
        assert!(days > 30, "the payments are of {days} days alone");
    }
}
