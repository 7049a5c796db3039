//! Seed data for demonstrations: ninety days of a shop's payments, deterministic for a seed. None of it is ever sent.

mod generate;
mod write;

use crate::{
    settings::Demo,
    store::{Store, StoreError, payments},
};

/// Fills an empty store completely or not at all. Returns false, and adds nothing, if there are payments already.
pub(crate) fn fill(store: &Store, demo: Demo) -> Result<bool, StoreError> {
    let now = store.clock.now_ms();
    store.write(|transaction| {
        if payments::any(transaction)? {
            return Ok(false);
        }
        let mut generator = generate::Generator::new(demo.seed, now);
        for (index, at) in generator.times(demo.payments).into_iter().enumerate() {
            write::write_payment(transaction, &generator.payment(index, at))?;
        }
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::*;
    use crate::{
        domain::{PaymentKind, PaymentStatus},
        endpoints::{ENDPOINTS, Fields},
        redact::without_card_numbers,
        settings::Database,
    };

    fn filled(demo: Demo) -> Store {
        let store = Store::open(&Database::Memory).expect("a store");
        assert!(fill(&store, demo).expect("filled"));
        store
    }

    #[test]
    fn demo_history_has_all_statuses_and_valid_times() {
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

    /// A request and its response, as stored.
    struct StoredExchange {
        endpoint: String,
        http_status: u16,
        request: Value,
        response: Value,
    }

    /// Adds all requests. Fails if one has no response.
    fn stored_exchanges(store: &Store) -> Vec<StoredExchange> {
        let read = store.read(|connection| {
            let sql =
                "SELECT endpoint, http_status, request_head, request_body, response_head, response_body FROM exchanges";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map((), |row| {
                let heads: [String; 2] = [row.get(2)?, row.get(4)?];
                let bodies: [Option<String>; 2] = [row.get(3)?, Some(row.get(5)?)];
                for text in bodies.iter().flatten() {
                    assert_eq!(&without_card_numbers(text), text);
                }
                let [request, response] =
                    bodies.map(|body| body.map(|body| serde_json::from_str(&body).expect("JSON")));
                assert!(heads[1].contains("content-type: application/json"), "{}", heads[1]);
                Ok(StoredExchange {
                    endpoint: row.get(0)?,
                    http_status: row.get(1)?,
                    request: request.unwrap_or_default(),
                    response: response.unwrap_or_default(),
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        });
        read.expect("exchanges")
    }

    fn count(store: &Store, sql: &str) -> i64 {
        store.read(|connection| Ok(connection.query_row(sql, (), |row| row.get(0))?)).expect("a count")
    }

    #[test]
    fn demo_requests_and_responses_match_real_ones() {
        let store = filled(Demo::of(500));
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for StoredExchange { endpoint: path, http_status, request, response } in stored_exchanges(&store) {
            let endpoint = ENDPOINTS.iter().find(|endpoint| endpoint.name.path() == path).expect("an endpoint");
            let spec = Fields::spec_of(endpoint.description.take).fields;
            let members = request.as_object().cloned().unwrap_or_default();
            for field in spec.iter().filter(|field| field.is_required && !request.is_null()) {
                assert!(members.contains_key(field.name), "{path}: {} is missing in {request}", field.name);
            }
            for name in members.keys() {
                assert!(spec.iter().any(|field| field.name == name), "{path}: there is no field {name}");
            }
            for secret in ["cvc", "otp", "pinCode", "expiryMonth", "expiryYear"] {
                assert!(request[secret].is_null() || request[secret] == "***", "{request}");
            }
            assert!(
                response["code"].is_string() && response["message"].is_string() && response["data"].is_object(),
                "{response}"
            );
            assert_eq!(http_status == 200, response["code"] != "422", "{response}");
            *seen.entry(path).or_default() += 1;
        }
        assert_eq!(seen.len(), 9, "{seen:?}");
        let outnumbered = count(&store, "SELECT COUNT(*) FROM exchanges WHERE at > unixepoch() * 1000 + 2000");
        assert_eq!(outnumbered, 0, "no query is in the future");
    }

    #[test]
    fn each_payment_has_the_requests_of_its_kind() {
        let store = filled(Demo::of(2000));
        let payments = store.read(|connection| payments::all(connection, None)).expect("payments");
        let exchanges = stored_exchanges(&store);
        for payment in payments.iter().filter(|payment| payment.kind == PaymentKind::Mbank && payment.is_charged()) {
            let confirmed = exchanges.iter().any(|stored| {
                stored.endpoint.ends_with("/mbank/confirm")
                    && stored.request["orderNumber"] == payment.order_number
                    && stored.response["data"]["status"] == "CHARGE"
            });
            assert!(confirmed, "{}", payment.order_number);
        }
        for payment in payments.iter().filter(|payment| payment.kind == PaymentKind::Megapay && payment.is_charged()) {
            let of_payment = |path: &str, answer: &str| {
                exchanges.iter().any(|stored| {
                    stored.endpoint.ends_with(path)
                        && stored.request["orderNumber"] == payment.order_number
                        && stored.request["account"] == "7"
                        && stored.response["message"] == answer
                })
            };
            let is_whole = of_payment("/mega/check", "CREATED") && of_payment("/mega/pay", "CONFIRMED");
            let of_it = exchanges.iter().filter(|stored| stored.request["orderNumber"] == payment.order_number);
            let seen: Vec<_> = of_it.map(|stored| (&stored.endpoint, &stored.request, &stored.response)).collect();
            assert!(is_whole, "{seen:?}");
        }
        let direct = exchanges.iter().filter(|stored| stored.response["data"]["status"] == "Success").count();
        let with_page =
            exchanges.iter().filter(|stored| stored.response["data"]["ConfirmationUrl"].is_string()).count();
        assert!(direct > 0 && with_page > direct, "{direct} {with_page}");
        for invalid in [
            "SELECT COUNT(*) FROM payments WHERE kind IN ('card', 'pay-form')
                AND (return_url IS NULL OR callback_url IS NULL)",
            "SELECT COUNT(*) FROM payments WHERE kind = 'card' AND language IS NULL",
            "SELECT COUNT(*) FROM payments WHERE kind = 'qr' AND requisite IS NULL",
            "SELECT COUNT(*) FROM payments WHERE kind = 'card' AND confirmation_page = 0 AND finished_at <> created_at",
        ] {
            assert_eq!(count(&store, invalid), 0, "{invalid}");
        }
        let waiting = payments.iter().filter(|payment| payment.status == PaymentStatus::Pending).count();
        let now = store.clock.now_ms();
        let due = store.read(|connection| payments::pending_since(connection, now)).expect("ids");
        assert!(waiting > 0 && due.len() == waiting, "{waiting} are pending, {} can end", due.len());
    }

    #[test]
    fn same_seed_gives_the_same_payments() {
        let numbers = |seed| -> Vec<String> {
            let store = filled(Demo { payments: 50, seed });
            let payments = store.read(|connection| payments::all(connection, None)).expect("payments");
            payments.into_iter().map(|payment| payment.gateway_number).collect()
        };
        assert_eq!(numbers(3), numbers(3));
        assert_ne!(numbers(3), numbers(4));
    }

    #[test]
    fn store_with_payments_is_not_filled() {
        let store = filled(Demo::of(3));
        assert!(!fill(&store, Demo::of(3)).expect("looked at"));
        assert_eq!(store.read(|connection| payments::all(connection, None)).expect("payments").len(), 3);
    }
}
