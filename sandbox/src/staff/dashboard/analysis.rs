//! Analysis of outcomes: approval rate, amounts, durations and reasons, by provider and by payment method.

use std::collections::BTreeMap;

use askama::Template;
use axum::http::StatusCode;
use kassa_pages::chart::{self, About, Values};
use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::{
    domain::{PaymentKind, Provider, RejectReason, all},
    staff::{
        dashboard::{
            PageContext, PageResult,
            figures::{self, Row, Segment, Sums},
            text,
            transactions::{Choice, choices},
        },
        layout::{Section, Staff},
    },
    store::statistics::{self, PaymentGroup},
    web::{self, Document, Policy},
};

/// The period of an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
enum Span {
    #[strum(serialize = "7")]
    Week,
    #[strum(serialize = "30")]
    Month,
    #[strum(serialize = "90")]
    Quarter,
    #[strum(serialize = "all")]
    All,
}

impl Span {
    const ALL: [Self; Self::COUNT] = all();

    fn as_str(self) -> &'static str {
        self.into()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Week => "7 days",
            Self::Month => "30 days",
            Self::Quarter => "90 days",
            Self::All => "All",
        }
    }

    /// The number of its first day; today is its last.
    fn first_day(self, today: i64) -> i64 {
        match self {
            Self::Week => today - 6,
            Self::Month => today - 29,
            Self::Quarter => today - 89,
            Self::All => i64::MIN,
        }
    }
}

/// The payment methods that the analysis compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MethodGroup {
    Cards,
    Wallets,
    Qr,
    NotChosen,
}

impl MethodGroup {
    fn of(group: &PaymentGroup) -> Self {
        match (group.kind, group.provider) {
            (PaymentKind::Qr, _) => Self::Qr,
            (_, Some(Provider::Cards)) => Self::Cards,
            (_, Some(Provider::MegaPay | Provider::MBank)) => Self::Wallets,
            (_, None) => Self::NotChosen,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Cards => "Cards",
            Self::Wallets => "Wallets",
            Self::Qr => "QR",
            Self::NotChosen => "Not chosen yet",
        }
    }
}

#[derive(Template)]
#[template(path = "staff/analysis.html")]
struct Analysis {
    document: Document,
    staff: Staff,
    spans: Vec<Choice>,
    figures: Vec<Figure>,
    methods: Vec<Row>,
    providers: Vec<Row>,
    reasons: Vec<Reason>,
    methods_chart: String,
    reasons_chart: String,
}

struct Figure {
    name: &'static str,
    value: String,
    more: String,
}

struct Reason {
    name: String,
    count: String,
    share: String,
    bar: Vec<Segment>,
}

fn add(sums: &mut Sums, group: &PaymentGroup) {
    sums.add(group.status, &group.currency, group.count, group.minor);
    sums.add_time(group.took);
}

pub(super) fn page(context: &PageContext) -> PageResult {
    let span =
        Span::ALL.into_iter().find(|span| span.as_str() == context.request.query.get("span")).unwrap_or(Span::Month);
    let first_day = span.first_day(statistics::day(context.state.clock().now_ms()));
    let groups = context.state.store.browse(|connection| statistics::payment_groups(connection, first_day))?;
    let mut total = Sums::default();
    let mut by_method: BTreeMap<MethodGroup, Sums> =
        [MethodGroup::Cards, MethodGroup::Wallets, MethodGroup::Qr].map(|methods| (methods, Sums::default())).into();
    let mut by_provider: BTreeMap<&str, Sums> = Provider::ALL.map(|one| (one.as_str(), Sums::default())).into();
    let mut by_reason: BTreeMap<&str, (RejectReason, i64)> = BTreeMap::new();
    for one in &groups {
        add(&mut total, one);
        add(by_method.entry(MethodGroup::of(one)).or_default(), one);
        if let Some(provider) = one.provider {
            add(by_provider.entry(provider.as_str()).or_default(), one);
        }
        if let Some(reason) = one.reason {
            by_reason.entry(reason.code()).or_insert((reason, 0)).1 += one.count;
        }
    }
    let mut reasons: Vec<_> = by_reason.into_values().collect();
    reasons.sort_by_key(|(_, count)| -count);
    let most = reasons.first().map_or(0, |(_, count)| *count);
    let page = Analysis {
        document: context.document.clone(),
        staff: context.staff(Section::Analysis),
        spans: choices(&Span::ALL, Span::as_str, Span::name, Some(span)),
        figures: totals(&total),
        methods_chart: methods_chart(&by_method),
        reasons_chart: reasons_chart(&reasons),
        methods: figures::rows(by_method.iter().map(|(methods, sums)| (methods.name().to_owned(), sums))),
        providers: figures::rows(by_provider.iter().map(|(name, sums)| ((*name).to_owned(), sums))),
        reasons: reasons
            .iter()
            .map(|(reason, count)| Reason {
                name: text::reason(*reason),
                count: text::count(*count),
                share: text::share(*count, total.rejected),
                bar: figures::bar([(*count, 2)], most),
            })
            .collect(),
    };
    Ok(web::page(StatusCode::OK, Policy::Staff, &page))
}

fn totals(total: &Sums) -> Vec<Figure> {
    let (amounts, average) = (total.charged_amounts(), total.average());
    let (main, others) = amounts.split_once(", ").unwrap_or((&amounts, ""));
    let more = match (average, others) {
        (average, "") => average,
        (average, others) => format!("{average}; {others}"),
    };
    vec![
        Figure {
            name: "Payments",
            value: text::count(total.all()),
            more: format!("{} still open", text::count(total.open)),
        },
        Figure {
            name: "Approval rate",
            value: total.approval(),
            more: format!("{} of {} finished", text::count(total.charged), text::count(total.finished())),
        },
        Figure { name: "Average time", value: total.took(), more: "from registration to the end".to_owned() },
        Figure { name: "Charged", value: main.to_owned(), more },
    ]
}

fn methods_chart(by_method: &BTreeMap<MethodGroup, Sums>) -> String {
    let labels = by_method.keys().map(|methods| methods.name().to_owned()).collect();
    let values = |color: usize, of: fn(&Sums) -> i64| Values {
        name: text::OUTCOMES[color],
        color,
        values: by_method.values().map(|sums| of(sums) as f32).collect(),
    };
    let about = About {
        title: "Payments by cards, wallets and QR",
        description: "Counts by outcome. The table has the figures.",
    };
    chart::bars(
        &about,
        labels,
        vec![values(0, |sums| sums.charged), values(1, |sums| sums.rejected), values(2, |sums| sums.open)],
    )
}

fn reasons_chart(reasons: &[(RejectReason, i64)]) -> String {
    // The first of the list is at the bottom of the chart.
    let labels = reasons.iter().rev().map(|(reason, _)| text::short_reason(*reason).to_owned()).collect();
    let values = reasons.iter().rev().map(|(_, count)| *count as f32).collect();
    let about =
        About { title: "Why payments were rejected", description: "Counts by reason. The table has the figures." };
    chart::ranking(&about, labels, Values { name: "Rejected", color: 1, values })
}
