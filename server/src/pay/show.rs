//! The page, and its changing part: the state of a payment.

use std::time::{SystemTime, UNIX_EPOCH};

use askama::Template;
use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use kassa::{Decimal, DeclineReason, Dialect, Language};
use url::Url;

use super::{
    context::{RejectedInput, RequestContext},
    frame::{ErrorPage, Frame, Links},
    merchant::Contact,
    page_state::PageState,
    qr::{CodeLinks, Drawing, draw},
    receipt::{Receipt, receipt},
    screen::{Screen, is_web, last_failed},
    texts::{Texts, texts},
    ways::{MethodChoice, choices, preselected, ways},
};
use crate::{
    checkouts::{Checkout, CheckoutView},
    locale::{days_until, moment, money, time_of_day},
    net::page,
    payments::{Failure, Payment},
    values::{CheckoutState, Method, Millis, PaymentId, PaymentState, error::ServerError, millis},
};

#[derive(Template)]
#[template(path = "pay/page.html")]
struct Page {
    frame: Frame,
    order: Order,
    title: &'static str,
    /// Rendered HTML.
    state: String,
    /// For a page without scripts: the seconds until it reloads, and the address.
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
    render_page(&context, StatusCode::OK, RejectedInput { is_choosing, ..RejectedInput::default() }).await
}

/// The current page, with the payer's rejected input.
pub(super) async fn render_page(
    context: &RequestContext,
    status: StatusCode,
    typed: RejectedInput,
) -> Result<Response, ErrorPage> {
    let shop = Shop::of(&context.pages, &context.view).await?;
    let state = StateFragment::new(&context.view, &context.links, &shop, typed);
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

/// The changing part, as soon as it changes (long poll); 204 if it does not.
pub(super) async fn state(context: RequestContext) -> Result<Response, ErrorPage> {
    let after = context.query.get("after").parse::<i64>().unwrap_or(-1);
    let shown = context.query.get("screen").to_owned();
    let RequestContext { pages, view, links, .. } = context;
    let id = view.checkout.id.clone();
    // Thousands may wait.
    drop(view);
    // A payer's claim, or a decline on the gateway's page, changes the screen without an event.
    let is_news =
        |view: &CheckoutView| view.checkout.version > after || !(shown.is_empty() || shown == Screen::of(view).name());
    let view = {
        let _waiting = pages.server.metrics().waiting();
        pages.server.checkout_when(&id, pages.settings.longest_wait, &is_news).await?
    };
    if !is_news(&view) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let shop = Shop::of(&pages, &view).await?;
    Ok(page(StatusCode::OK, &StateFragment::new(&view, &links, &shop, RejectedInput::default())))
}

/// The page that leads to the gateway's page. It is needed because the policy that forms post only to their own origin also
/// blocks redirects after a form.
pub(super) async fn go(context: RequestContext) -> Result<Response, ErrorPage> {
    let Some(url) = Screen::of(&context.view).page_url() else { return Ok(context.home()) };
    let frame = Frame::new(&context.pages, &context.links, host(&context.view).as_deref());
    Ok(page(StatusCode::OK, &RedirectPage { frame, url }))
}

/// The server's data for a rendering.
struct Shop {
    /// The idempotency key of this rendering's form.
    key: String,
    takes_megapay: bool,
    dialect: Dialect,
    name: Option<String>,
    contacts: Vec<Contact>,
    /// When the gateway last reported the awaited payment as pending.
    checked_at: Option<Millis>,
    now: Millis,
}

impl Shop {
    async fn of(pages: &PageState, view: &CheckoutView) -> Result<Self, ServerError> {
        let settings = pages.server.settings();
        let checked_at = match Screen::of(view) {
            Screen::Claimed(payment) => pages.server.last_pending_report(&payment.id).await?,
            _ => None,
        };
        Ok(Self {
            key: pages.server.new_form_key()?,
            takes_megapay: settings.taken_methods().megapay,
            dialect: settings.dialect.clone(),
            name: pages.name.clone().or_else(|| host(view)),
            contacts: pages.contacts.clone(),
            checked_at,
            now: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis),
        })
    }
}

/// The host that payers return to, if they return to a page.
fn host(view: &CheckoutView) -> Option<String> {
    let url = Some(&view.checkout.return_url).filter(|url| is_web(url))?;
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

fn render_failed(problem: askama::Error) -> ErrorPage {
    tracing::error!(target: "kassa_server", %problem, "a page could not be written");
    ErrorPage::failed()
}

/// The query that requests the other payment methods.
pub(super) const OTHER_WAYS: &str = "others";

/// The part of the page that changes.
#[derive(Template)]
#[template(path = "pay/state.html")]
pub(super) struct StateFragment<'a> {
    t: &'static Texts,
    screen: Screen<'a>,
    version: i64,
    /// The state that the script polls.
    watch: Option<String>,
    pay: String,
    confirm: String,
    check: String,
    go: String,
    /// The idempotency key of this rendering's form.
    key: String,
    ways: Vec<MethodChoice>,
    /// The payment that another one would replace.
    instead: Option<&'a PaymentId>,
    /// For a page without scripts: the address that shows the other methods, on a page that does
    /// not reload while its payer types.
    others: String,
    typed: RejectedInput,
    /// The outcome of the last attempt, and its reason in the payer's language.
    last_failed: Option<(&'static str, Option<&'static str>)>,
    drawing: Option<Drawing>,
    qr_text: Option<&'a str>,
    /// Links that open the code on the phone that shows it.
    code_links: CodeLinks,
    /// The time until which the payer can act.
    until: Option<String>,
    has_way_back: bool,
    reference: &'a str,
    return_url: &'a str,
    is_paid_twice: bool,
    code_problem: Option<&'static str>,
    /// The phone to which the code was sent, as far as it is stored.
    code_more: String,
    code_label: &'static str,
    /// The wallet's total, which its payer must see before entering the PIN.
    wallet: Option<WalletTerms>,
    confirm_text: String,
    pay_text: String,
    /// When the gateway last reported on the awaited payment.
    checked_at: Option<String>,
    receipt: Receipt,
    contacts: Vec<Contact>,
    /// The end of the checkout and the current time, for the script's countdown.
    expires_at: Millis,
    now: Millis,
}

/// The cost of a wallet payment for its payer.
struct WalletTerms {
    sums: Vec<(&'static str, String)>,
    is_commission_unknown: bool,
    /// The time until which the PIN is valid.
    until: Option<String>,
}

impl WalletTerms {
    fn of(payment: &Payment, checkout: &Checkout, t: &Texts, language: Language) -> Self {
        let shown = |amount: Decimal| money(amount, &checkout.currency, language);
        let sums = [(t.amount, Some(checkout.amount)), (t.commission, payment.commission), (t.total, payment.total)];
        Self {
            sums: sums.into_iter().filter_map(|(name, amount)| Some((name, shown(amount?)))).collect(),
            is_commission_unknown: payment.commission.is_none(),
            until: payment.code_expires_at.map(|at| moment(at, language)),
        }
    }
}

impl<'a> StateFragment<'a> {
    fn new(view: &'a CheckoutView, links: &Links, shop: &Shop, typed: RejectedInput) -> Self {
        let (language, checkout) = (links.locale.language, &view.checkout);
        let (t, screen) = (texts(language), Screen::of(view));
        let wallet_payment = wallet_payment(screen);
        let wallet_total = wallet_payment.and_then(|payment| payment.total);
        let is_open = checkout.state == CheckoutState::Open;
        Self {
            version: checkout.version,
            watch: screen.can_change().then(|| links.to("/state")),
            pay: links.to("/pay"),
            confirm: links.to("/confirm"),
            check: links.to("/check"),
            go: links.to("/go"),
            key: shop.key.clone(),
            ways: ways(&choices(view, screen, shop.takes_megapay), t, &typed, preselected(view, screen)),
            instead: screen.replaceable(view).map(|payment| &payment.id),
            others: others_link(&links.to("")),
            last_failed: ended(view, screen).map(|payment| {
                let (text, reason) = failure_text(payment, &shop.dialect, t);
                (text, reason.map(|reason| reason.text_in(language)))
            }),
            drawing: screen.qr_text().and_then(draw),
            qr_text: screen.qr_text(),
            code_links: screen.qr_text().map(|text| CodeLinks::of(text, t)).unwrap_or_default(),
            until: (is_open && screen.awaits_payer()).then(|| until(checkout.expires_at, shop.now, t, language)),
            has_way_back: is_open,
            reference: &checkout.reference,
            return_url: &checkout.return_url,
            is_paid_twice: checkout.is_overpaid,
            code_problem: typed.code_problem.or_else(|| code_problem(screen, &shop.dialect, t, language)),
            code_more: code_more(screen, t),
            code_label: if wallet_payment.is_some() { t.pin_label } else { t.code_label },
            wallet: wallet_payment.map(|payment| WalletTerms::of(payment, checkout, t, language)),
            confirm_text: match wallet_total {
                Some(total) => t.pay_total.replace("{}", &money(total, &checkout.currency, language)),
                None => t.confirm.to_owned(),
            },
            pay_text: t.pay_total.replace("{}", &money(checkout.amount, &checkout.currency, language)),
            checked_at: shop.checked_at.map(|at| t.checked_at.replace("{}", &time_of_day(at))),
            receipt: receipt(view, shop.name.as_deref(), t, language),
            contacts: shop.contacts.clone(),
            expires_at: checkout.expires_at,
            now: shop.now,
            typed,
            t,
            screen,
        }
    }

    /// The page's heading, which is announced when it changes.
    pub(super) fn heading(&self) -> &'static str {
        let t = self.t;
        match self.screen {
            Screen::Choose => self.last_failed.map_or(t.choose, |(text, _)| text),
            Screen::UnderWay => t.under_way,
            Screen::EnterCode(_) if self.wallet.is_some() => t.pin,
            Screen::EnterCode(_) => t.code,
            Screen::NoCodesLeft => t.no_codes,
            Screen::OpenPage(..) => t.page,
            Screen::ShowQr(..) => t.scan,
            Screen::Claimed(_) => t.claimed,
            Screen::Declined(_) => t.declined,
            Screen::Waiting => t.waiting,
            Screen::Unknown => t.unknown,
            Screen::Paid => t.paid,
            Screen::PersonNeeded => t.person,
            Screen::Expired => t.expired,
            Screen::Cancelled => t.cancelled,
            Screen::Late => t.late,
        }
    }

    /// Never while its payer may be typing.
    pub(super) fn reload_after(&self) -> Option<u32> {
        self.screen.reload_after().filter(|_| !self.is_choosing())
    }

    /// Whether the other payment methods are expanded.
    fn is_choosing(&self) -> bool {
        self.typed.is_choosing || self.typed.method.is_some()
    }

    /// A payment that was not made is shown if a new one can be begun.
    fn shows_end(&self) -> bool {
        matches!(self.screen, Screen::Choose | Screen::OpenPage(..) | Screen::Declined(_))
    }

    /// Whether the heading has the outcome of the last attempt.
    fn is_headed_by_end(&self) -> bool {
        matches!(self.screen, Screen::Choose | Screen::Declined(_))
    }

    fn is_claimed(&self) -> bool {
        matches!(self.screen, Screen::Claimed(_))
    }

    /// Whether the steps of a payment are shown while its payer waits.
    fn shows_steps(&self) -> bool {
        matches!(self.screen, Screen::UnderWay | Screen::Waiting | Screen::Unknown)
    }
}

/// The time until which a checkout can be paid, as text.
fn until(at: Millis, now: Millis, t: &Texts, language: Language) -> String {
    let (phrase, time) = match days_until(at, now) {
        Some(0) => (t.today_until, time_of_day(at)),
        Some(1) => (t.tomorrow_until, time_of_day(at)),
        _ => (t.day_until, moment(at, language)),
    };
    t.until.replace("{}", &phrase.replace("{}", &time))
}

/// The payment whose end the page shows: declined on the gateway's page, or the last attempt without a charge.
fn ended<'a>(view: &'a CheckoutView, screen: Screen<'a>) -> Option<&'a Payment> {
    match screen {
        Screen::Declined(payment) => Some(payment),
        _ => last_failed(view),
    }
}

/// The outcome of a payment without a charge, and its reason in the payer's language. The gateway's own
/// message is only for the staff.
fn failure_text(payment: &Payment, dialect: &Dialect, t: &Texts) -> (&'static str, Option<DeclineReason>) {
    let failure = payment.failure.as_ref();
    let is_unreachable = failure.is_some_and(|failure| matches!(failure.kind.as_str(), "Unavailable" | "Interrupted"));
    let text = match payment.state {
        PaymentState::Rejected | PaymentState::Awaiting => t.declined,
        _ if is_unreachable => t.not_reached,
        _ => t.not_made,
    };
    (text, payment.decline_reason(dialect))
}

/// The payment from a wallet whose PIN is requested.
fn wallet_payment(screen: Screen<'_>) -> Option<&Payment> {
    let Screen::EnterCode(payment) = screen else { return None };
    Some(payment).filter(|payment| payment.method == Method::Megapay)
}

fn others_link(home: &str) -> String {
    let separator = if home.contains('?') { '&' } else { '?' };
    format!("{home}{separator}{OTHER_WAYS}=1")
}

fn code_more(screen: Screen<'_>, t: &Texts) -> String {
    let digits = if let Screen::EnterCode(payment) = screen { payment.phone_last2.as_deref() } else { None };
    let (more, more_to) = match wallet_payment(screen) {
        Some(_) => (t.pin_more, t.pin_more_to),
        None => (t.code_more, t.code_more_to),
    };
    digits.map_or_else(|| more.to_owned(), |digits| more_to.replace("{}", digits))
}

/// Why the last one-time password was not accepted.
fn code_problem(screen: Screen<'_>, dialect: &Dialect, t: &Texts, language: Language) -> Option<&'static str> {
    let Screen::EnterCode(payment) = screen else { return None };
    let failure = payment.failure.as_ref()?;
    let is_pin = payment.method == Method::Megapay;
    let reason = payment.decline_reason(dialect).filter(|reason| *reason != DeclineReason::WrongCode);
    Some(match (failure.kind == Failure::REFUSED, is_pin, reason) {
        (true, _, Some(reason)) => reason.text_in(language),
        (true, false, None) => t.code_wrong,
        (true, true, None) => t.pin_wrong,
        (false, false, _) => t.code_not_sent,
        (false, true, _) => t.pin_not_sent,
    })
}

/// The constant part of the page: the checkout to pay.
pub(super) struct Order {
    pub(super) amount: String,
    pub(super) description: String,
    pub(super) reference: String,
}

impl Order {
    pub(super) fn of(view: &CheckoutView, links: &Links) -> Self {
        let checkout = &view.checkout;
        let amount = money(checkout.amount, &checkout.currency, links.locale.language);
        Self { amount, description: checkout.description.clone(), reference: checkout.reference.clone() }
    }
}
