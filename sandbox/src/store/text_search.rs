//! Full-text search by a trigram index: finds payments by a text in a number, the description or a mask.
//!
//! The index is filled in the background after the first search, so that it does not slow down payments. Payments that are not
//! indexed yet are scanned; for a text of one or two characters, all are. The index ignores case in every script. A scan ignores
//! case in English; in other languages, it finds words in lower case, in upper case, with a capital first letter, and as typed.

use rusqlite::{Connection, ToSql};

use crate::store::{
    StoreError, WriteTransaction,
    filter::{Conditions, MAX_COUNTED, SearchedText},
};

/// Payments that are indexed in one transaction: more would delay new payments.
const BATCH: u32 = 200;

/// The payments that match a text and a filter.
pub(super) enum Matches {
    /// Too many to be counted.
    Many,
    /// These.
    Ids(Vec<i64>),
    /// The text is too short for the index.
    NotIndexed,
}

impl SearchedText {
    /// The payments that match it and the other conditions, up to the maximum count:
    /// indexed ones that are unchanged since, and of the others those that match now.
    pub(super) fn matches(&self, connection: &Connection, others: &Conditions) -> Result<Matches, StoreError> {
        if !self.is_indexed() {
            return Ok(Matches::NotIndexed);
        }
        let (sql, unindexed) = self.searching(others);
        let query = self.query();
        let mut values: Vec<&dyn ToSql> = vec![&query];
        values.extend(others.values());
        for _ in 0..2 {
            values.extend(unindexed.iter().map(AsRef::as_ref));
            values.extend(others.values());
        }
        let mut statement = connection.prepare(&sql)?;
        let ids: Vec<i64> = statement.query_map(values.as_slice(), |row| row.get(0))?.collect::<Result<_, _>>()?;
        let is_counted = u32::try_from(ids.len()).is_ok_and(|count| count <= MAX_COUNTED);
        Ok(if is_counted { Matches::Ids(ids) } else { Matches::Many })
    }

    /// The SQL of the search, and the values for the texts in each of its last two parts.
    fn searching(&self, others: &Conditions) -> (String, Vec<Box<dyn ToSql>>) {
        // Without other conditions, the payments themselves need not be read.
        let indexed = match others.sql.as_slice() {
            [] => "SELECT t.rowid FROM payments_text t",
            _ => "SELECT t.rowid FROM payments_text t CROSS JOIN payments p ON p.id = t.rowid",
        };
        let (condition, unindexed) = self.condition();
        let others_hold: String = others.sql.iter().map(|sql| format!(" AND {sql}")).collect();
        let sql = format!(
            "{indexed} WHERE t.payments_text MATCH ?
                AND t.rowid NOT IN (SELECT payment_id FROM payments_text_stale){others_hold}
             UNION ALL SELECT p.id FROM payments p
                WHERE p.id > (SELECT upto FROM payments_text_upto) AND {condition}{others_hold}
             UNION ALL SELECT p.id FROM payments_text_stale s CROSS JOIN payments p ON p.id = s.payment_id
                WHERE {condition}{others_hold}
             LIMIT {}",
            MAX_COUNTED + 1
        );
        (sql, unindexed)
    }
}

/// Indexes some more payments. False if none are left.
pub(crate) fn index_batch(transaction: &WriteTransaction<'_>) -> Result<bool, StoreError> {
    let stale = format!("SELECT payment_id FROM payments_text_stale ORDER BY payment_id LIMIT {BATCH}");
    let of = |ids: &str| {
        format!(
            "INSERT INTO payments_text (rowid, order_number, gateway_number, masked_phone, masked_card, description)
             SELECT id, order_number, gateway_number, masked_phone, masked_card, description FROM payments WHERE {ids}"
        )
    };
    let execute = |sql: &str| transaction.prepare_cached(sql)?.execute(());
    execute(&format!("DELETE FROM payments_text WHERE rowid IN ({stale})"))?;
    let anew = execute(&of(&format!("id IN ({stale})")))?;
    execute(&format!("DELETE FROM payments_text_stale WHERE payment_id IN ({stale})"))?;
    let more = execute(&of(&format!("id > (SELECT upto FROM payments_text_upto) ORDER BY id LIMIT {BATCH}")))?;
    execute(&format!(
        "UPDATE payments_text_upto SET upto = (
            SELECT MAX(id) FROM (SELECT id FROM payments WHERE id > upto ORDER BY id LIMIT {BATCH})
         ) WHERE EXISTS (SELECT 1 FROM payments WHERE id > upto)"
    ))?;
    Ok(anew + more > 0)
}

/// Empties the index.
pub(super) fn forget(transaction: &WriteTransaction<'_>) -> Result<(), StoreError> {
    Ok(transaction.execute_batch(
        "INSERT INTO payments_text (payments_text) VALUES ('delete-all');
         DELETE FROM payments_text_stale;
         UPDATE payments_text_upto SET upto = 0;",
    )?)
}

#[cfg(test)]
mod tests {
    use rusqlite::params;

    use super::*;
    use crate::{
        demo,
        domain::{PaymentStatus, Provider},
        settings::{Database, Demo},
        store::{
            Store,
            browse::{Selection, Sort, Start},
            database,
            filter::Filter,
            payments,
        },
    };

    const TEXTS: [(&str, Option<&str>); 12] = [
        ("coffee", None),
        ("COFFEE", None),
        ("cof fee", None),
        ("кофе", None),
        ("КОФЕ", None),
        ("a \"quoted\" NOT (word) OR *", None),
        ("100%", None),
        ("_x_", None),
        ("9965", None),
        ("4111111111111111", Some("411111******1111")),
        ("-4", None),
        ("e", None),
    ];

    fn filter((text, card): (&str, Option<&str>)) -> Filter {
        let text = SearchedText { text: text.to_owned(), card: card.map(str::to_owned) };
        Filter { text: Some(text), ..Filter::default() }
    }

    /// Each text alone, and among charged payments.
    fn filters() -> impl Iterator<Item = Filter> {
        let charged = |text| Filter { status: Some(PaymentStatus::Charged), ..filter(text) };
        TEXTS.into_iter().flat_map(move |text| [filter(text), charged(text)])
    }

    /// The ids and the count that are found for each text.
    fn found(connection: &Connection) -> Vec<(Vec<i64>, u32)> {
        let all = filters().map(|filter| {
            let selection = Selection::of(connection, filter).expect("a selection");
            let page = selection.page(connection, Sort::Newest, Start::First, 10_000).expect("a page");
            (page.rows.iter().map(|row| row.record.id).collect(), selection.count(connection).expect("a count"))
        });
        all.collect()
    }

    /// The same by looking through all of it.
    fn expected(connection: &Connection) -> Vec<(Vec<i64>, u32)> {
        let all = filters().map(|filter| {
            let (condition, values) = filter.text.expect("a text").condition();
            let charged = if filter.status.is_some() { " AND p.status = 'CHARGE'" } else { "" };
            let sql =
                format!("SELECT p.id FROM payments p WHERE {condition}{charged} ORDER BY p.created_at DESC, p.id DESC");
            let mut statement = connection.prepare(&sql).expect("a statement");
            let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
            let ids = statement.query_map(values.as_slice(), |row| row.get(0)).expect("rows");
            let ids: Vec<i64> = ids.collect::<Result<_, _>>().expect("ids");
            let count = u32::try_from(ids.len()).expect("few").min(MAX_COUNTED + 1);
            (ids, count)
        });
        all.collect()
    }

    /// Payments that are not indexed yet are found by their ids, also if the other conditions hold for many.
    #[test]
    fn other_conditions_lead_to_no_other_index() {
        let store = Store::open(&Database::Memory).expect("a store");
        let charged =
            Filter { status: Some(PaymentStatus::Charged), from: Some(1), least: Some(1), ..filter(("text", None)) };
        let (sql, _) = charged.text.as_ref().expect("a text").searching(&Conditions::of_known(&charged));
        let steps: Vec<String> = store
            .read(|connection| {
                let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let parameters = vec![1; statement.parameter_count()];
                let steps = statement.query_map(rusqlite::params_from_iter(parameters), |row| row.get("detail"))?;
                Ok(steps.collect::<Result<_, _>>()?)
            })
            .expect("a plan");
        let plan = steps.join("\n");
        assert!(plan.contains("p USING INTEGER PRIMARY KEY (rowid>?)") && !plan.contains("payments_by"), "{plan}");
    }

    fn checked(store: &Store) -> usize {
        let (found, expected) = store.read(|connection| Ok((found(connection), expected(connection)))).expect("read");
        assert_eq!(found, expected);
        found.iter().filter(|(ids, _)| !ids.is_empty()).count()
    }

    #[test]
    fn text_index_finds_the_same_as_a_full_scan() {
        let store = Store::open(&Database::Memory).expect("a store");
        demo::fill(&store, Demo { payments: 450, seed: 3 }).expect("payments");
        let texts = ["a cup of Кофе", "a \"quoted\" NOT (word) OR *", "50 100% _x_ \\", "cof fee", "Coffee, кофе"];
        let write = |id: i64, text: &str| {
            let update = "UPDATE payments SET description = ?2 WHERE id = ?1";
            store.write(|transaction| Ok(transaction.execute(update, params![id, text])?)).expect("written");
        };
        (0..).step_by(100).zip(texts).for_each(|(id, text)| write(id + 1, text));
        assert!(checked(&store) >= 10, "most of the texts are there");
        let mut rounds = 0;
        while store.write(index_batch).expect("indexed") {
            rounds += 1;
            checked(&store);
            if rounds < 4 {
                // Payments that are indexed already, and others.
                write(rounds * 7, "a latte, and no c0ffee");
                let mask = Some("411111******1111");
                let written = store.write(|writing| payments::set_payer(writing, 20, Provider::Cards, mask, None));
                written.expect("written");
                checked(&store);
            }
            assert!(rounds < 20, "it comes to an end");
        }
        let stale = "SELECT COUNT(*) FROM payments_text_stale";
        let left: i64 =
            store.read(|connection| Ok(connection.query_row(stale, (), |row| row.get(0))?)).expect("a count");
        assert_eq!(left, 0);
        checked(&store);
        store.write(database::delete_all).expect("forgotten");
        demo::fill(&store, Demo { payments: 60, seed: 4 }).expect("payments");
        checked(&store);
        while store.write(index_batch).expect("indexed") {}
        checked(&store);
    }
}
