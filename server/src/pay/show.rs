//! The page, and the part of it that changes.

use askama::Template;
use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use url::Url;

use super::{
    context::RequestContext,
    error_page::ErrorPage,
    frame::{Frame, page},
    screen::{Screen, is_web},
    state::{OTHER_WAYS, Order, RejectedInput, StateFragment},
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
struct RedirectPage<'a> {
    frame: Frame,
    url: &'a str,
}

pub(super) async fn show(context: RequestContext) -> Result<Response, ErrorPage> {
    let is_choosing = !context.query.get(OTHER_WAYS).is_empty();
    render_page(&context, StatusCode::OK, RejectedInput { is_choosing, ..RejectedInput::default() })
}

/// The page as it stands, with what was typed and is not taken.
pub(super) fn render_page(
    context: &RequestContext,
    status: StatusCode,
    typed: RejectedInput,
) -> Result<Response, ErrorPage> {
    let key = context.pages.server.new_form_key()?;
    let state = StateFragment::new(&context.view, &context.links, key, typed);
    let text = state.render().map_err(render_failed)?;
    let template = Page {
        frame: Frame::new(&context.pages, &context.links, host(&context.view).as_deref()),
        order: Order::of(&context.view, &context.links),
        title: state.heading(),
        reload: state.reload_after().map(|seconds| (seconds, context.links.to(""))),
        state: text,
    };
    Ok(page(status, &template))
}

/// The part that changes, as soon as it has changed (long poll); 204 where it has not.
pub(super) async fn state(context: RequestContext) -> Result<Response, ErrorPage> {
    let after = context.query.get("after").parse::<i64>().unwrap_or(-1);
    let RequestContext { pages, view, links, .. } = context;
    let id = view.checkout.id.clone();
    // Thousands may wait.
    drop(view);
    let view = {
        let _waiting = pages.server.metrics().waiting();
        pages.server.checkout_after(&id, after, pages.settings.longest_wait).await?
    };
    if view.checkout.version <= after {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let key = pages.server.new_form_key()?;
    Ok(page(StatusCode::OK, &StateFragment::new(&view, &links, key, RejectedInput::default())))
}

/// On to the gateway's page. A page between, as a policy of forms that post to their own origin alone holds for redirects after
/// them, too.
pub(super) async fn go(context: RequestContext) -> Result<Response, ErrorPage> {
    let Screen::OpenPage(_, url) = Screen::of(&context.view) else { return Ok(context.home()) };
    let frame = Frame::new(&context.pages, &context.links, host(&context.view).as_deref());
    Ok(page(StatusCode::OK, &RedirectPage { frame, url }))
}

/// The host that payers return to, where they return to a page.
fn host(view: &CheckoutView) -> Option<String> {
    let url = Some(&view.checkout.return_url).filter(|url| is_web(url))?;
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

fn render_failed(problem: askama::Error) -> ErrorPage {
    tracing::error!(target: "kassa_server", %problem, "a page could not be written");
    ErrorPage::failed()
}
