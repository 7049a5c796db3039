//! What the gateway was asked about payments, and what it answered. Saving writes it down.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::{problem::Problem, rows, session::Session};
use crate::{
    payments::{exchange::Exchange, payment::Payment},
    storage::staff::KeptExchange,
};

const OF_PAYMENTS: &str =
    "SELECT payment_id, asked, claim, outcome, http_status, code, words, response, first_at, last_at, times
    FROM exchanges WHERE payment_id = ANY($1) ORDER BY payment_id, number";

/// All that are kept of each payment, the first one first.
pub(super) async fn of_payments(db: &Session, payments: &[Payment]) -> Result<Vec<Vec<KeptExchange>>, Problem> {
    let ids: Vec<&str> = payments.iter().map(|payment| payment.id.as_str()).collect();
    let rows = db.rows(OF_PAYMENTS, &[&ids]).await?;
    let mut exchanges: HashMap<&str, Vec<KeptExchange>> = HashMap::new();
    for row in &rows {
        exchanges.entry(row.try_get(0)?).or_default().push(kept(row)?);
    }
    Ok(ids.iter().map(|id| exchanges.remove(id).unwrap_or_default()).collect())
}

fn kept(row: &Row) -> Result<KeptExchange, Problem> {
    let status: Option<i64> = row.try_get(4)?;
    let exchange = Exchange {
        claim: row.try_get(2)?,
        http_status: status.and_then(|status| u16::try_from(status).ok()),
        code: row.try_get(5)?,
        words: row.try_get(6)?,
        response: row.try_get(7)?,
        ..Exchange::new(rows::read(row.try_get(1)?, "question")?, row.try_get::<_, String>(3)?)
    };
    Ok(KeptExchange { exchange, first_at: row.try_get(8)?, last_at: row.try_get(9)?, times: rows::count(row, 10)? })
}
