//! `/staff/report`: the report of a day for bookkeeping: one printable page.

use askama::Template;
use axum::{http::StatusCode, response::Response};

use super::{
    checkouts::{Row, capped, row},
    comparison_view::ChargeView,
    context::{RequestContext, run_exclusive},
    labels,
    page::{ErrorPage, Frame, Section},
    reconciliation::{MOST, Sum, sums},
    texts::fill,
};
use crate::{
    net::page,
    storage::{
        listing::{CheckoutFilter, ListCheckouts, Start},
        staff::Period,
    },
    values::Millis,
};

const DAY: Millis = 24 * 3600 * 1000;
/// The most open checkouts on the page.
const MOST_OPEN: u32 = 30;

#[derive(Template)]
#[template(path = "staff/report.html")]
struct Page {
    frame: Frame,
    day: String,
    shown_day: String,
    /// Whether the day is not over.
    is_partly: bool,
    made: String,
    ways: Vec<Sum>,
    totals: Vec<Sum>,
    /// A sentence with the number of those that a person decided, if any.
    decided: Option<String>,
    twice: Vec<ChargeView>,
    open: Vec<Row>,
    is_more_open: bool,
    /// A sentence if not all that need a person are listed.
    capped: Option<String>,
}

/// Shows the page. It may read 100,000 payments.
pub(super) async fn show(context: RequestContext) -> Result<Response, ErrorPage> {
    run_exclusive(&context.admin.reconciling.clone(), showing(context)).await
}

async fn showing(context: RequestContext) -> Result<Response, ErrorPage> {
    let (server, t) = (&context.admin.server, context.t());
    let now = server.moment().await?;
    let given = Some(context.query.get("day")).filter(|day| !day.is_empty());
    let from = labels::first_moment(given.unwrap_or(&labels::day(now)))
        .ok_or_else(|| ErrorPage::new(StatusCode::BAD_REQUEST, |t| t.write_day))?;
    let until = from.saturating_add(DAY);
    let charged = server.charges(Period { from, until }, MOST).await?;
    if charged.is_more {
        return Err(ErrorPage::written(StatusCode::BAD_REQUEST, fill(t.too_many_payments, &[&MOST])));
    }
    let charges = charged.charges;
    let opened = Some(Period { from: Millis::MIN, until });
    let which = CheckoutFilter { opened, needs_person: true, ..CheckoutFilter::default() };
    let open = server.list_checkouts(ListCheckouts { which, start: Start::Newest, most: MOST_OPEN }).await?;
    let capped = capped(&server.count_needs().await?, t);
    let decided = charges.iter().filter(|charge| charge.is_resolved).count();
    let name = context.user.as_ref().map(|user| user.name.clone()).unwrap_or_default();
    let template = Page {
        frame: context.frame(Section::Day),
        day: labels::day(from),
        shown_day: labels::shown_day(from, t),
        is_partly: now < until,
        made: fill(t.report_made, &[&labels::moment(now, t), &name]),
        ways: sums(&charges, t, |charge| (String::new(), labels::method(charge.method, t))),
        totals: sums(&charges, t, |_| (String::new(), "")),
        decided: (decided > 0).then(|| fill(t.report_decided, &[&decided])),
        twice: charges.iter().filter(|charge| charge.is_overpaid).map(|charge| ChargeView::of(charge, t)).collect(),
        open: open.checkouts.iter().map(|listed| row(listed, t)).collect(),
        is_more_open: open.is_more,
        capped,
    };
    Ok(page(StatusCode::OK, &template))
}
