//! The table at the end.

use comfy_table::{Cell, CellAlignment, Table, presets::UTF8_FULL_CONDENSED};

use crate::report::{Report, in_time};

/// A row a payment: flow, order, what happened, callbacks seen, time.
pub(crate) fn of(reports: &[Report]) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(["Flow", "Order", "What happened", "Callbacks", "Time"]);
    for report in reports {
        table.add_row([
            Cell::new(report.flow),
            Cell::new(report.order.as_deref().unwrap_or("not named")),
            Cell::new(report.what_happened()),
            Cell::new(report.callback_summary()),
            Cell::new(in_time(report.elapsed)).set_alignment(CellAlignment::Right),
        ]);
    }
    table.to_string()
}
