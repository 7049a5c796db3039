//! An invented history: what a shop's last ninety days could have looked like. Nothing of it was ever sent anywhere.

mod invent;
mod write;

use crate::store::{Store, StoreError, payments};

/// An invented history to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demo {
    /// How many payments. With a hundred thousand the start takes some seconds.
    pub payments: u32,
    /// The same seed invents the same history, up to the present moment.
    pub seed: u64,
}

impl Demo {
    /// So many payments, by the first seed.
    pub fn of(payments: u32) -> Self {
        Self { payments, seed: 1 }
    }
}

/// Fills an empty store: all of it or nothing. Where there are payments already, nothing is added, and it says false.
pub(crate) fn fill(store: &Store, demo: Demo) -> Result<bool, StoreError> {
    let now = store.clock.now_ms();
    store.write(|transaction| {
        if payments::any(transaction)? {
            return Ok(false);
        }
        let mut inventor = invent::Inventor::new(demo.seed, now);
        for (index, at) in inventor.times(demo.payments).into_iter().enumerate() {
            write::payment(transaction, &inventor.payment(index, at))?;
        }
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{options::Database, state::PaymentStatus};

    fn filled(demo: Demo) -> Store {
        let store = Store::open(&Database::Memory).expect("a store");
        assert!(fill(&store, demo).expect("filled"));
        store
    }

    #[test]
    fn a_history_is_mixed_and_in_the_past_and_its_times_agree() {
        let store = filled(Demo::of(2000));
        let now = store.clock.now_ms();
        let payments = store.read(|connection| payments::all(connection, None)).expect("payments");
        assert_eq!(payments.len(), 2000);
        for status in PaymentStatus::ALL {
            assert!(payments.iter().any(|payment| payment.status == status), "{status}");
        }
        let bad: i64 = store
            .read(|connection| {
                let sql = "SELECT COUNT(*) FROM payments p WHERE created_at > ?1 OR created_at < ?1 - 91 * 86400000
                     OR finished_at < created_at OR finished_at > ?1 + 1000
                     OR (finished_at IS NOT NULL) <> (status IN ('CHARGE', 'Reject'))
                     OR (reject_reason IS NOT NULL) <> (status = 'Reject')
                     OR status <> (SELECT status FROM state_changes WHERE payment_id = p.id ORDER BY id DESC LIMIT 1)
                     OR id > 1 AND created_at < (SELECT created_at FROM payments WHERE id = p.id - 1)";
                Ok(connection.query_row(sql, [now], |row| row.get(0))?)
            })
            .expect("a count");
        assert_eq!(bad, 0);
        let waiting: i64 = store
            .read(|connection| {
                let sql = "SELECT COUNT(*) FROM callbacks WHERE next_attempt_at IS NOT NULL OR held_back = 1";
                Ok(connection.query_row(sql, (), |row| row.get(0))?)
            })
            .expect("a count");
        assert_eq!(waiting, 0, "nothing goes out to anybody");
    }

    #[test]
    fn a_seed_invents_the_same_again_and_another_does_not() {
        let numbers = |seed| -> Vec<String> {
            let store = filled(Demo { payments: 50, seed });
            let payments = store.read(|connection| payments::all(connection, None)).expect("payments");
            payments.into_iter().map(|payment| payment.gateway_number).collect()
        };
        assert_eq!(numbers(3), numbers(3));
        assert_ne!(numbers(3), numbers(4));
    }

    #[test]
    fn a_store_that_was_used_is_left_alone() {
        let store = filled(Demo::of(3));
        assert!(!fill(&store, Demo::of(3)).expect("looked at"));
        assert_eq!(store.read(|connection| payments::all(connection, None)).expect("payments").len(), 3);
    }
}
