//! What the storage has now, as it is told when somebody asks.

use super::text::Text;
use crate::storage::outputs::Statistics;

/// Nothing where the storage cannot be asked, so that an old figure is not taken for today's.
pub(super) fn write(is_writable: bool, storage: Option<&Statistics>, text: &mut Text) {
    let help = "1 where the database answers and takes writes, 0 where it does not.";
    text.gauge("kassa_database_up", help, u8::from(is_writable && storage.is_some()));
    if let Some(storage) = storage {
        write_storage(storage, text);
    }
}

fn write_storage(of: &Statistics, text: &mut Text) {
    let name = "kassa_open_payments";
    text.family(name, "gauge", "Payments that may still take money, by state, counted up to a million each.");
    for (state, count) in &of.open_payments {
        text.sample(name, &[("state", state)], count);
    }
    let help = "Payments that have been open for three days, or whose QR code cannot be polled and may have been paid, \
                counted up to 10,000. A person decides.";
    text.gauge("kassa_stuck_payments", help, of.stuck_payments);
    let help = "Age of the oldest payment with an unknown outcome.";
    text.gauge("kassa_oldest_unknown_seconds", help, seconds(of.oldest_unknown_ms));
    let help = "Remaining time of the gateway's Retry-After.";
    text.gauge("kassa_gateway_wait_seconds", help, seconds(of.gateway_wait_ms));
    let help = "Payments whose poll is overdue, counted up to 10,000.";
    text.gauge("kassa_due_payments", help, of.due_payments);
    let help = "How long the most overdue poll has been waiting.";
    text.gauge("kassa_oldest_due_seconds", help, seconds(of.oldest_due_ms));
    let help = "Checkouts whose events are no longer delivered to the shop, counted up to 10,000.";
    text.gauge("kassa_event_streams_given_up", help, of.streams_given_up);
    let help = "Events that the shop refused and that were skipped, counted up to 10,000.";
    text.gauge("kassa_refused_events", help, of.refused_events);
    let help = "How long the event that is undelivered for the longest has been waiting; without those given up.";
    text.gauge("kassa_oldest_undelivered_event_seconds", help, seconds(of.oldest_undelivered_ms));
    text.gauge("kassa_database_size_bytes", "The size of the database.", of.database_bytes);
    if !of.dead_rows.is_empty() {
        let name = "kassa_database_dead_rows";
        text.family(
            name,
            "gauge",
            "Old versions of rows that were not cleaned away yet, as PostgreSQL estimates them.",
        );
        of.dead_rows.iter().for_each(|(table, count)| text.sample(name, &[("table", table)], count));
    }
}

fn seconds(ms: i64) -> f64 {
    ms.max(0) as f64 / 1000.0
}
