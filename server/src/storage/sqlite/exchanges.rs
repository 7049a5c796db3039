//! What the gateway was asked about a payment, and what it answered, with run-length encoding: an answer that is the same as the
//! one before to the same question is counted. Written in the transaction of what it records.

use rusqlite::{Connection, Row, Statement};

use super::rows::read;
use crate::{
    payments::exchange::{Asked, Exchange},
    storage::{
        book::changes::{FIRST_EXCHANGES, MOST_EXCHANGES},
        error::StorageError,
        staff::KeptExchange,
    },
    values::{Millis, ids::PaymentId},
};

type Kept = (Exchange, Millis, Millis, i64);

/// What somebody was told by the gateway, and where a request was sent once, by whom.
pub(super) struct Noted<'a> {
    pub(super) now: Millis,
    pub(super) of: &'a PaymentId,
    pub(super) exchange: &'a Exchange,
    pub(super) sender: Option<&'a str>,
}

impl Noted<'_> {
    /// Writes it down. A sender may say it again where it heard nothing of its commit (idempotency).
    pub(super) fn note(&self, db: &Connection) -> Result<(), StorageError> {
        // A payment is made once: there is nothing to compare with, and its payer waits.
        let is_first = self.exchange.asked == Asked::Create;
        if self.was_noted_before(db)? || (!is_first && self.count_again(db)?) {
            return Ok(());
        }
        if self.insert(db)? > MOST_EXCHANGES {
            db.prepare_cached(
                "DELETE FROM exchanges WHERE payment_id = ?1 AND number =
                    (SELECT number FROM exchanges WHERE payment_id = ?1 ORDER BY number LIMIT 1 OFFSET ?2)",
            )?
            .execute((self.of.as_str(), FIRST_EXCHANGES))?;
        }
        Ok(())
    }

    fn was_noted_before(&self, db: &Connection) -> Result<bool, StorageError> {
        let Some(sender) = self.sender else { return Ok(false) };
        let asked = <&str>::from(self.exchange.asked);
        let sql = "SELECT EXISTS (SELECT 1 FROM exchanges WHERE payment_id = ?1 AND asked = ?2 AND sender = ?3)";
        Ok(db.prepare_cached(sql)?.query_row((self.of.as_str(), asked, sender), |row| row.get(0))?)
    }

    /// True where the last answer to this question was the same.
    fn count_again(&self, db: &Connection) -> Result<bool, StorageError> {
        let mut statement = db.prepare_cached(
            "UPDATE exchanges SET times = times + 1, last_at = ?9, sender = ?10
             WHERE payment_id = ?1 AND number =
                (SELECT MAX(number) FROM exchanges WHERE payment_id = ?1 AND asked = ?2 AND claim IS ?3)
             AND outcome = ?4 AND http_status IS ?5 AND code IS ?6 AND words IS ?7 AND response IS ?8",
        )?;
        self.bind(&mut statement)?;
        Ok(statement.raw_execute()? == 1)
    }

    /// Its number.
    fn insert(&self, db: &Connection) -> Result<i64, StorageError> {
        let mut statement = db.prepare_cached(
            "INSERT INTO exchanges (payment_id, number, asked, claim, outcome, http_status, code, words, response, first_at,
                last_at, times, sender)
             SELECT ?1, COALESCE(MAX(number), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 1, ?10
             FROM exchanges WHERE payment_id = ?1 RETURNING number",
        )?;
        self.bind(&mut statement)?;
        let number = statement.raw_query().next()?.map(|row| row.get(0)).transpose()?;
        number.ok_or_else(|| StorageError::failed("an answer was not written down"))
    }

    fn bind(&self, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
        let exchange = self.exchange;
        statement.raw_bind_parameter(1, self.of.as_str())?;
        statement.raw_bind_parameter(2, <&str>::from(exchange.asked))?;
        statement.raw_bind_parameter(3, &exchange.claim)?;
        statement.raw_bind_parameter(4, &exchange.outcome)?;
        statement.raw_bind_parameter(5, exchange.http_status)?;
        statement.raw_bind_parameter(6, &exchange.code)?;
        statement.raw_bind_parameter(7, &exchange.words)?;
        statement.raw_bind_parameter(8, &exchange.response)?;
        statement.raw_bind_parameter(9, self.now)?;
        statement.raw_bind_parameter(10, self.sender)
    }
}

/// All that are kept of a payment, the first one first.
pub(super) fn of_payment(db: &Connection, id: &PaymentId) -> Result<Vec<KeptExchange>, StorageError> {
    let mut statement = db.prepare_cached(
        "SELECT asked, claim, outcome, http_status, code, words, response, first_at, last_at, times FROM exchanges
         WHERE payment_id = ?1 ORDER BY number",
    )?;
    let rows = statement.query_map([id.as_str()], kept)?.collect::<Result<Vec<_>, _>>()?;
    rows.into_iter()
        .map(|(asked, (exchange, first_at, last_at, times))| {
            let exchange = Exchange { asked: read(&asked, "question")?, ..exchange };
            Ok(KeptExchange { exchange, first_at, last_at, times: times.unsigned_abs() })
        })
        .collect()
}

fn kept(row: &Row<'_>) -> rusqlite::Result<(String, Kept)> {
    let exchange = Exchange {
        claim: row.get(1)?,
        http_status: row.get(3)?,
        code: row.get(4)?,
        words: row.get(5)?,
        response: row.get(6)?,
        ..Exchange::new(Asked::Status, row.get::<_, String>(2)?)
    };
    Ok((row.get(0)?, (exchange, row.get(7)?, row.get(8)?, row.get(9)?)))
}

/// Some time after a checkout's end nobody needs them.
pub(super) fn forget(db: &Connection, checkout: &str) -> Result<(), StorageError> {
    let sql = "DELETE FROM exchanges WHERE payment_id IN (SELECT id FROM payments WHERE checkout_id = ?1)";
    db.prepare_cached(sql)?.execute([checkout])?;
    Ok(())
}
