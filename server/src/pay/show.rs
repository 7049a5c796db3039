//! The page, and the part of it that changes: how a payment stands.

use askama::Template;
use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use kassa::{Decimal, Language};
use url::Url;

use super::{
    context::RequestContext,
    frame::{ErrorPage, Frame, Links},
    qr::{CodeLinks, Drawing, draw},
    screen::{Screen, is_web, last_failed, offered},
    texts::{Texts, texts},
};
use crate::{
    checkouts::{Checkout, CheckoutView},
    locale::{moment, money},
    net::page,
    payments::Payment,
    values::{CheckoutState, Method, PaymentId, PaymentState},
};

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
    let takes_megapay = context.pages.server.settings().taken_methods().megapay;
    let state = StateFragment::new(&context.view, &context.links, key, typed, takes_megapay);
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
    let takes_megapay = pages.server.settings().taken_methods().megapay;
    Ok(page(StatusCode::OK, &StateFragment::new(&view, &links, key, RejectedInput::default(), takes_megapay)))
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

/// The query that asks for the other ways to pay.
pub(super) const OTHER_WAYS: &str = "others";

/// The payer's rejected input.
#[derive(Default)]
pub(super) struct RejectedInput {
    pub(super) method: Option<Method>,
    pub(super) phone: String,
    /// The phone of a MegaPay wallet, which is another field.
    pub(super) wallet_phone: String,
    pub(super) phone_problem: Option<&'static str>,
    pub(super) code_problem: Option<&'static str>,
    /// The message above the form.
    pub(super) notice: Option<&'static str>,
    /// Without scripts: the payer has asked for the other ways to pay.
    pub(super) is_choosing: bool,
}

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
    /// The payment that another one would be begun instead of.
    instead: Option<&'a PaymentId>,
    /// Without scripts: where the other ways are shown, on a page that does not load again while its payer types.
    others: String,
    typed: RejectedInput,
    /// The outcome of the last try, and the gateway's words.
    last_failed: Option<(&'static str, Option<String>)>,
    drawing: Option<Drawing>,
    /// Links that open the code on the phone that shows it.
    code_links: CodeLinks,
    /// Until when the payer can act.
    until: Option<String>,
    has_way_back: bool,
    reference: &'a str,
    return_url: &'a str,
    is_paid_twice: bool,
    code_problem: Option<&'static str>,
    /// To which number the code went, as far as that is kept.
    code_more: String,
    code_label: &'static str,
    /// What a wallet pays, which its payer has to see before the PIN is typed.
    wallet: Option<WalletTerms>,
    confirm_text: String,
}

/// What a payment from a wallet costs its payer.
struct WalletTerms {
    sums: Vec<(&'static str, String)>,
    is_commission_unknown: bool,
    /// Until when the PIN is valid.
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

/// A way to pay.
struct MethodChoice {
    name: &'static str,
    title: &'static str,
    hint: &'static str,
    is_picked: bool,
    phone: Option<PhoneInput>,
}

/// The field for the phone of a way to pay.
struct PhoneInput {
    field: &'static str,
    hint: &'static str,
    typed: String,
    problem: Option<&'static str>,
}

/// The name of that field. Each way has its own, as a form sends those of all ways.
pub(super) fn phone_field(method: Method) -> &'static str {
    if method == Method::Megapay { "wallet-phone" } else { "phone" }
}

impl<'a> StateFragment<'a> {
    pub(super) fn new(
        view: &'a CheckoutView,
        links: &Links,
        key: String,
        typed: RejectedInput,
        takes_megapay: bool,
    ) -> Self {
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
            key,
            ways: ways(&choices(view, screen, takes_megapay), t, &typed, preselected(screen)),
            instead: screen.replaceable(view).map(|payment| &payment.id),
            others: others_link(&links.to("")),
            last_failed: last_failed(view).map(|payment| failure_text(payment, t)),
            drawing: if let Screen::ShowQr(_, text) = screen { draw(text) } else { None },
            code_links: if let Screen::ShowQr(_, text) = screen {
                CodeLinks::of(text, t)
            } else {
                CodeLinks::default()
            },
            until: (is_open && screen.awaits_payer()).then(|| moment(checkout.expires_at, language)),
            has_way_back: is_open,
            reference: &checkout.reference,
            return_url: &checkout.return_url,
            is_paid_twice: checkout.is_overpaid,
            code_problem: typed.code_problem.or_else(|| code_problem(screen, t)),
            code_more: code_more(screen, t),
            code_label: if wallet_payment.is_some() { t.pin_label } else { t.code_label },
            wallet: wallet_payment.map(|payment| WalletTerms::of(payment, checkout, t, language)),
            confirm_text: match wallet_total {
                Some(total) => t.pay_total.replace("{}", &money(total, &checkout.currency, language)),
                None => t.confirm.to_owned(),
            },
            typed,
            t,
            screen,
        }
    }

    /// The page's heading, which is announced when it changes.
    pub(super) fn heading(&self) -> &'static str {
        let t = self.t;
        match self.screen {
            Screen::Choose => t.choose,
            Screen::UnderWay => t.under_way,
            Screen::EnterCode(_) if self.wallet.is_some() => t.pin,
            Screen::EnterCode(_) => t.code,
            Screen::NoCodesLeft => t.no_codes,
            Screen::OpenPage(..) => t.page,
            Screen::ShowQr(..) => t.scan,
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

    /// Whether the other ways to pay are shown at once.
    fn is_choosing(&self) -> bool {
        self.typed.is_choosing || self.typed.method.is_some()
    }

    /// A payment that was not made is shown where another one can be begun.
    fn shows_end(&self) -> bool {
        self.screen.offers_ways()
    }
}

/// What can be chosen. Beside a page that is open, everything else: that page alone does not hold back the others. Instead of a
/// payment whose code is awaited, everything, as it may have gone to somebody else's number; instead of a QR code, everything
/// else.
fn choices(view: &CheckoutView, screen: Screen<'_>, takes_megapay: bool) -> Vec<Method> {
    let offered = |view| offered(view, takes_megapay);
    match screen {
        Screen::Choose => offered(view).collect(),
        Screen::OpenPage(payment, _) if payment.method == Method::PayForm => {
            offered(view).filter(|method| *method != Method::PayForm).collect()
        }
        Screen::EnterCode(_) if screen.replaceable(view).is_some() => offered(view).collect(),
        Screen::ShowQr(..) if screen.replaceable(view).is_some() => {
            offered(view).filter(|method| *method != Method::Qr).collect()
        }
        _ => Vec::new(),
    }
}

fn ways(offered: &[Method], t: &Texts, typed: &RejectedInput, preselected: Option<Method>) -> Vec<MethodChoice> {
    let picked = typed.method.or(preselected);
    let picked = picked.filter(|method| offered.contains(method)).or(offered.first().copied());
    let way = |method: &Method| {
        let (title, hint) = match method {
            Method::PayForm => (t.pay_form, t.pay_form_hint),
            Method::Qr => (t.qr, t.qr_hint),
            Method::Mbank | Method::Card => (t.mbank, t.mbank_hint),
            Method::Megapay => (t.megapay, t.megapay_hint),
        };
        let phone = |hint, value: &str| PhoneInput {
            field: phone_field(*method),
            hint,
            typed: value.to_owned(),
            problem: typed.phone_problem.filter(|_| typed.method == Some(*method)),
        };
        let phone = match method {
            Method::Mbank => Some(phone(t.phone_hint, &typed.phone)),
            Method::Megapay => Some(phone(t.megapay_phone_hint, &typed.wallet_phone)),
            Method::PayForm | Method::Qr | Method::Card => None,
        };
        MethodChoice { name: method.into(), title, hint, is_picked: picked == Some(*method), phone }
    };
    offered.iter().map(way).collect()
}

/// The outcome of a payment that took no money, and why, in the gateway's own words.
fn failure_text(payment: &Payment, t: &Texts) -> (&'static str, Option<String>) {
    let failure = payment.failure.as_ref();
    let is_trouble = failure.is_some_and(|failure| matches!(failure.kind.as_str(), "Unavailable" | "Interrupted"));
    let text = match payment.state {
        PaymentState::Rejected => t.declined,
        _ if is_trouble => t.not_reached,
        _ => t.not_made,
    };
    (text, failure.and_then(|failure| failure.reason.clone()))
}

/// The preselected method: while a one-time password is awaited, the same method with another number.
fn preselected(screen: Screen<'_>) -> Option<Method> {
    if let Screen::EnterCode(payment) = screen { Some(payment.method) } else { None }
}

/// The payment from a wallet whose PIN is asked for.
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

/// Why the last one-time password was not taken.
fn code_problem(screen: Screen<'_>, t: &Texts) -> Option<&'static str> {
    let Screen::EnterCode(payment) = screen else { return None };
    let failure = payment.failure.as_ref()?;
    Some(if failure.kind == "Refused" { t.code_wrong } else { t.code_not_sent })
}

/// The constant part of the page: the checkout to pay.
pub(super) struct Order {
    pub(super) amount: String,
    pub(super) description: String,
}

impl Order {
    pub(super) fn of(view: &CheckoutView, links: &Links) -> Self {
        let checkout = &view.checkout;
        let amount = money(checkout.amount, &checkout.currency, links.locale.language);
        Self { amount, description: checkout.description.clone() }
    }
}
