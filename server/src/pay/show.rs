//! The page, and the part of it that changes.

use askama::Template;
use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use url::Url;

use super::{
    frame::{Frame, page},
    refusal::Refusal,
    screen::{Screen, is_web},
    state::{OTHER_WAYS, Order, State, Typed},
    visit::{Answering, Visit},
};
use crate::checkouts::checkout::CheckoutView;

#[derive(Template)]
#[template(path = "pay/page.html")]
struct Page {
    frame: Frame,
    order: Order,
    title: &'static str,
    /// HTML that was written already.
    state: String,
    /// Without scripts: after how many seconds, and where.
    reload: Option<(u32, String)>,
}

#[derive(Template)]
#[template(path = "pay/go.html")]
struct Go<'a> {
    frame: Frame,
    url: &'a str,
}

pub(super) fn show(visit: Visit) -> Answering {
    Box::pin(async move {
        let is_choosing = !visit.query.get(OTHER_WAYS).is_empty();
        shown(&visit, StatusCode::OK, Typed { is_choosing, ..Typed::default() })
    })
}

/// The page as it stands, with what was typed and is not taken.
pub(super) fn shown(visit: &Visit, status: StatusCode, typed: Typed) -> Result<Response, Refusal> {
    let key = visit.till.server.new_form_key()?;
    let state = State::new(&visit.view, &visit.links, key, typed);
    let text = state.render().map_err(unwritten)?;
    let template = Page {
        frame: Frame::new(&visit.till, &visit.links, host(&visit.view).as_deref()),
        order: Order::of(&visit.view, &visit.links),
        title: state.heading(),
        reload: state.reload_after().map(|seconds| (seconds, visit.links.to(""))),
        state: text,
    };
    Ok(page(status, &template))
}

/// The part that changes, as soon as it has changed (long poll); 204 where it has not.
pub(super) fn state(visit: Visit) -> Answering {
    Box::pin(async move {
        let after = visit.query.get("after").parse::<i64>().unwrap_or(-1);
        let Visit { till, view, links, .. } = visit;
        let id = view.checkout.id.clone();
        // Thousands may wait.
        drop(view);
        let view = {
            let _waiting = till.server.metrics().waiting();
            till.server.checkout_after(&id, after, till.settings.longest_wait).await?
        };
        if view.checkout.version <= after {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        let key = till.server.new_form_key()?;
        Ok(page(StatusCode::OK, &State::new(&view, &links, key, Typed::default())))
    })
}

/// On to the gateway's page. A page between, as a policy of forms that post to their own origin alone holds for redirects after
/// them, too.
pub(super) fn go(visit: Visit) -> Answering {
    Box::pin(async move {
        let Screen::OpenPage(_, url) = Screen::of(&visit.view) else { return Ok(visit.home()) };
        let frame = Frame::new(&visit.till, &visit.links, host(&visit.view).as_deref());
        Ok(page(StatusCode::OK, &Go { frame, url }))
    })
}

/// The host that payers return to, where they return to a page.
fn host(view: &CheckoutView) -> Option<String> {
    let url = Some(&view.checkout.return_url).filter(|url| is_web(url))?;
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

fn unwritten(problem: askama::Error) -> Refusal {
    tracing::error!(target: "kassa_server", %problem, "a page could not be written");
    Refusal::failed()
}
