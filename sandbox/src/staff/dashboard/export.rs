//! CSV export. The file is streamed from the database, so its size is not limited by memory.

use std::{io, sync::Arc};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use csv::{Terminator, WriterBuilder};
use http_body_util::channel::{Channel, Sender};
use rusqlite::Connection;
use tokio::runtime::Handle;

use crate::{
    domain::Provider,
    staff::dashboard::{PageContext, PageResult, text, transactions::ListQuery},
    state::State,
    store::{
        StoreError,
        browse::{Entry, Selection, Sort, Start},
        payments::Record,
    },
};

/// Payments read at a time.
const CHUNK: usize = 500;
/// Spreadsheets read a file as UTF-8 only if it begins with this.
const BYTE_ORDER_MARK: &str = "\u{feff}";
const COLUMNS: [&str; 16] = [
    "registered",
    "finished",
    "kind",
    "provider",
    "order_number",
    "gateway_number",
    "transaction_id",
    "description",
    "amount",
    "currency",
    "status",
    "reason",
    "card",
    "phone",
    "times_charged",
    "callback_url",
];

pub(super) fn file(context: &PageContext) -> PageResult {
    let list = ListQuery::read(&context.request.query);
    if let Some(problem) = list.problems.first() {
        let text = format!("{} {}\n", problem.field, problem.rule);
        return Ok((StatusCode::BAD_REQUEST, text).into_response());
    }
    let (sender, channel) = Channel::<Bytes, io::Error>::new(1);
    Handle::current().spawn(write(Arc::clone(&context.state), list, sender));
    let mut response = Response::new(Body::new(channel));
    for (name, value) in [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"transactions.csv\""),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// Chunk after chunk, until the end or until the client hangs up; a slow client blocks no thread.
/// A failure aborts the transfer, so that a partial file is not mistaken for a complete one.
async fn write(state: Arc<State>, list: ListQuery, mut sender: Sender<Bytes, io::Error>) {
    let mut head = BYTE_ORDER_MARK.as_bytes().to_vec();
    head.extend(lines([COLUMNS.map(str::to_owned).to_vec()]));
    if sender.send_data(head.into()).await.is_err() {
        return;
    }
    let (filter, sort) = (list.filter, list.sort);
    let search = move |connection: &Connection| Selection::of(connection, filter);
    let Some(selection) = read(&state, search).await.map(Arc::new) else {
        return sender.abort(io::ErrorKind::Other.into());
    };
    let mut start = Some(Start::First);
    while let Some(from) = start {
        let selection = Arc::clone(&selection);
        let Some((chunk, next)) = read(&state, move |connection| chunk(connection, &selection, sort, from)).await
        else {
            return sender.abort(io::ErrorKind::Other.into());
        };
        if !chunk.is_empty() && sender.send_data(chunk.into()).await.is_err() {
            return;
        }
        start = next;
    }
}

/// Reads the store on a blocking thread; `None` on failure.
async fn read<T: Send + 'static>(
    state: &Arc<State>,
    work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
) -> Option<T> {
    state.on_blocking_thread("an export broke off", |state| state.store.browse(work)).await
}

/// The lines of the payments from a cursor on, and the start of the next chunk, if any.
fn chunk(
    connection: &Connection,
    selection: &Selection,
    sort: Sort,
    start: Start,
) -> Result<(Vec<u8>, Option<Start>), StoreError> {
    let page = selection.page(connection, sort, start, CHUNK)?;
    let next = page.rows.last().filter(|_| page.has_later).map(|last| Start::After(last.cursor));
    Ok((lines(page.rows.iter().map(cells)), next))
}

fn lines(rows: impl IntoIterator<Item = Vec<String>>) -> Vec<u8> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    for row in rows {
        // Writing into memory with equally long rows cannot fail.
        let _written = writer.write_record(row);
    }
    writer.into_inner().unwrap_or_default()
}

fn cells(entry: &Entry) -> Vec<String> {
    let record: &Record = &entry.record;
    let payment = &record.payment;
    let cells = [
        text::time(record.created_at),
        record.finished_at.map(text::time).unwrap_or_default(),
        payment.kind.as_str().to_owned(),
        payment.provider.map(Provider::as_str).unwrap_or_default().to_owned(),
        payment.order_number.clone(),
        payment.gateway_number.clone(),
        payment.transaction_id.clone().unwrap_or_default(),
        record.description.clone(),
        text::amount(payment).map(|amount| amount.to_string()).unwrap_or_default(),
        payment.currency.clone(),
        payment.status.as_str().to_owned(),
        payment.reject_reason.map(text::reason).unwrap_or_default(),
        payment.masked_card.clone().unwrap_or_default(),
        payment.masked_phone.clone().unwrap_or_default(),
        payment.times_charged.to_string(),
        record.callback_url.clone().unwrap_or_default(),
    ];
    cells.into_iter().map(harmless).collect()
}

/// A cell that a spreadsheet reads as text, even if a payer or a shop entered a formula.
fn harmless(cell: String) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { format!("'{cell}") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_is_only_text() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(harmless(formula.to_owned()), format!("'{formula}"));
        }
        assert_eq!(harmless("ORDER-1".to_owned()), "ORDER-1");
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let row = vec!["a,b".to_owned(), "c\"d".to_owned(), "e\nf".to_owned()];
        assert_eq!(lines([row]), b"\"a,b\",\"c\"\"d\",\"e\nf\"\r\n");
    }
}
