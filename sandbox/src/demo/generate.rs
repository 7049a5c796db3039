//! The deterministic generator of demo payments: amounts, descriptions, times and outcomes.

use fastrand::Rng;
use rust_decimal::Decimal;
use time::Duration;

use crate::{
    domain::{Language, PaymentKind, PaymentStatus, Provider, RejectReason, clock, test_data::TEST_CARDS},
    redact::card_numbers,
};

/// The delay of a shop's status query after the last change.
pub(super) const ASKED_AFTER: i64 = 10_000;
const DAYS: i64 = 90;
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// The share of purchases in each hour of a day in Bishkek.
const HOURS: [u32; 24] = [3, 2, 1, 1, 1, 2, 4, 9, 18, 28, 36, 40, 44, 42, 40, 41, 43, 48, 54, 58, 52, 38, 22, 9];
/// The share of purchases on each weekday, from Monday on.
const WEEKDAYS: [u32; 7] = [90, 92, 95, 100, 118, 126, 104];
const BANKS: [&str; 6] = ["411111", "417397", "520000", "545454", "400000", "439083"];
const DESCRIPTIONS: [&str; 20] = [
    "Two coffees",
    "Flowers, a bouquet of peonies",
    "Taxi to Manas airport",
    "Electronics, headphones",
    "Monthly gym pass",
    "Tickets to the philharmonic",
    "Доставка пиццы",
    "Оплата интернета",
    "Детская одежда",
    "Курсы английского, ноябрь",
    "Аптека",
    "Абонемент в бассейн",
    "Китептер",
    "Нан жана сүт",
    "Балдар бакчасы",
    "Үй эмеректери",
    "Books, three volumes",
    "Car wash",
    "Онлайн-консультация",
    "Сумка",
];
const SERVICES: [&str; 5] = ["Flower shop", "Dordoi Online", "Книжный дом", "Ала-Тоо такси", "Coffee on Chui"];
const HOLDERS: [&str; 6] =
    ["AIBEK ASANOV", "NURGUL BEKOVA", "IVAN PETROV", "AIZADA TOKTOSUNOVA", "ELENA KIM", "BAKYT OSMONOV"];

/// A payment before it is stored.
pub(super) struct DemoPayment {
    pub(super) kind: PaymentKind,
    pub(super) order_number: String,
    pub(super) gateway_number: String,
    pub(super) provider: Option<Provider>,
    pub(super) amount: Option<Decimal>,
    pub(super) currency: &'static str,
    pub(super) description: &'static str,
    pub(super) holder_name: Option<&'static str>,
    pub(super) masked_card: Option<String>,
    pub(super) masked_phone: Option<String>,
    /// The language in the request.
    pub(super) language: Option<Language>,
    pub(super) confirmation_page: bool,
    pub(super) created_at: i64,
    /// Its status changes with their times, in order.
    pub(super) changes: Vec<(PaymentStatus, i64)>,
    pub(super) reason: Option<RejectReason>,
    /// The result of its callbacks.
    pub(super) callback: CallbackOutcome,
    pub(super) status_queries: u32,
}

/// How a shop answers callbacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallbackOutcome {
    /// The request had no callback URL.
    None,
    Taken,
    /// Accepted after this many failed attempts.
    TakenAfter(u32),
    Rejected,
}

/// Generates payments; the same seed generates the same ones.
pub(super) struct Generator {
    rng: Rng,
    now: i64,
}

impl Generator {
    pub(super) fn new(seed: u64, now: i64) -> Self {
        Self { rng: Rng::with_seed(seed), now }
    }

    /// When the payments were registered, in order.
    pub(super) fn times(&mut self, count: u32) -> Vec<i64> {
        let today = clock::midnight(clock::day(self.now));
        let first_weekday = i64::from(clock::day(self.now).weekday().number_days_from_monday()) - DAYS;
        let weights: Vec<u32> = (0..DAYS)
            .map(|day| {
                let weekday = usize::try_from((first_weekday + day + 1).rem_euclid(7)).unwrap_or_default();
                // Growth of the shop: 50 % more sales at the end of the time.
                WEEKDAYS[weekday] * u32::try_from(2 * DAYS + day).unwrap_or_default()
            })
            .collect();
        let mut times: Vec<i64> = (0..count)
            .map(|_| {
                // Drawn again if it lies in the future.
                loop {
                    let day = i64::try_from(self.weighted(&weights)).unwrap_or_default();
                    let hour = i64::try_from(self.weighted(&HOURS)).unwrap_or_default();
                    let at = today + (day + 1 - DAYS) * DAY + hour * HOUR + self.rng.i64(0..HOUR);
                    if at < self.now {
                        break at;
                    }
                }
            })
            .collect();
        times.sort_unstable();
        times
    }

    pub(super) fn payment(&mut self, index: usize, at: i64) -> DemoPayment {
        let kind = [PaymentKind::Card, PaymentKind::PayForm, PaymentKind::Mbank, PaymentKind::Qr, PaymentKind::Megapay]
            [self.weighted(&[46, 24, 16, 14, 8])];
        let provider = match kind {
            PaymentKind::Card => Some(Provider::Cards),
            PaymentKind::Mbank | PaymentKind::Qr => Some(Provider::MBank),
            PaymentKind::Megapay => Some(Provider::MegaPay),
            PaymentKind::PayForm => [Some(Provider::Cards), Some(Provider::MBank), Some(Provider::MegaPay), None]
                [self.weighted(&[52, 28, 17, 3])],
        };
        let (mut changes, reason) = self.outcome(kind, provider, at);
        let is_resolved_at_once = kind == PaymentKind::Card
            && matches!(reason, None | Some(RejectReason::Declined | RejectReason::InsufficientFunds))
            && !changes.is_empty()
            && self.rng.u32(0..4) == 0;
        if is_resolved_at_once {
            changes.iter_mut().for_each(|(_, changed_at)| *changed_at = at);
        }
        let is_open = !changes.last().is_some_and(|(status, _)| status.is_final());
        let queried_at = changes.last().map_or(at, |(_, changed_at)| *changed_at) + ASKED_AFTER;
        let with_card = provider == Some(Provider::Cards);
        let has_no_sum = kind == PaymentKind::Qr && is_open && self.rng.u32(0..3) == 0;
        DemoPayment {
            kind,
            order_number: match kind {
                PaymentKind::Card | PaymentKind::Mbank | PaymentKind::Megapay => format!("SHOP-{}", 100_001 + index),
                PaymentKind::PayForm => format!("PF-{:032x}", self.rng.u128(..)),
                PaymentKind::Qr => format!("QR-{:032x}", self.rng.u128(..)),
            },
            gateway_number: self.gateway_number(),
            amount: if has_no_sum { None } else { Some(self.amount(kind)) },
            currency: match kind {
                PaymentKind::Card => ["KGS", "USD", "EUR"][self.weighted(&[96, 3, 1])],
                _ => "KGS",
            },
            description: match kind {
                // MegaPay requests have no description.
                PaymentKind::Megapay => "",
                PaymentKind::PayForm | PaymentKind::Qr => SERVICES[self.rng.usize(..SERVICES.len())],
                _ => DESCRIPTIONS[self.rng.usize(..DESCRIPTIONS.len())],
            },
            holder_name: (kind == PaymentKind::Card).then(|| HOLDERS[self.rng.usize(..HOLDERS.len())]),
            masked_card: with_card.then(|| self.card(is_open)),
            masked_phone: (kind != PaymentKind::Qr && matches!(provider, Some(Provider::MBank | Provider::MegaPay)))
                .then(|| format!("996{}****{:04}", [5, 7, 9][self.rng.usize(..3)], self.rng.u32(..10_000))),
            language: (kind == PaymentKind::Card)
                .then(|| [Language::Russian, Language::Kyrgyz, Language::English][self.weighted(&[70, 20, 10])]),
            confirmation_page: kind == PaymentKind::Card && !is_resolved_at_once,
            status_queries: if queried_at < self.now { self.rng.u32(0..2) } else { 0 },
            provider,
            created_at: at,
            changes,
            reason,
            callback: match self.weighted(&[4, 890, 60, 4]) {
                // Cards and pay-forms require a callback URL.
                0 if matches!(kind, PaymentKind::Mbank | PaymentKind::Megapay | PaymentKind::Qr) => {
                    CallbackOutcome::None
                }
                0 | 1 => CallbackOutcome::Taken,
                2 => CallbackOutcome::TakenAfter(self.rng.u32(1..4)),
                _ => CallbackOutcome::Rejected,
            },
        }
    }

    /// The status changes after registration, and the reason of a rejection.
    fn outcome(
        &mut self,
        kind: PaymentKind,
        provider: Option<Provider>,
        at: i64,
    ) -> (Vec<(PaymentStatus, i64)>, Option<RejectReason>) {
        let Some(provider) = provider else {
            return (Vec::new(), None);
        };
        // Charged, rejected, pending, and abandoned by the payer.
        let outcomes = match (kind, provider) {
            (PaymentKind::Qr, _) => [840, 90, 5, 65],
            (_, Provider::Cards) => [855, 118, 9, 18],
            (_, Provider::MBank) => [915, 63, 7, 15],
            (_, Provider::MegaPay) => [890, 86, 8, 16],
        };
        let took = self.took(kind).min((self.now - at).max(0));
        match self.weighted(&outcomes) {
            0 => (vec![(PaymentStatus::Charged, at + took)], None),
            1 => {
                let reasons = match kind {
                    PaymentKind::Qr => [20, 15, 60, 0, 5],
                    _ => [44, 29, 14, 8, 5],
                };
                let reason = RejectReason::ALL[self.weighted(&reasons)];
                (vec![(PaymentStatus::Rejected, at + took)], Some(reason))
            }
            2 => (vec![(PaymentStatus::Pending, at + took)], None),
            _ => (Vec::new(), None),
        }
    }

    /// How long the payer takes, in milliseconds.
    fn took(&mut self, kind: PaymentKind) -> i64 {
        let (shortest, longest) = match kind {
            PaymentKind::Card => (9, 110),
            PaymentKind::Mbank | PaymentKind::Megapay => (12, 90),
            PaymentKind::PayForm => (28, 260),
            PaymentKind::Qr => (6, 150),
        };
        // Most are quick.
        let part = self.rng.f64().powi(2);
        let seconds = f64::from(shortest) + part * f64::from(longest - shortest);
        i64::try_from(Duration::seconds_f64(seconds).whole_milliseconds()).unwrap_or_default()
    }

    /// Many small amounts, few large ones; a QR's in tyiyn.
    fn amount(&mut self, kind: PaymentKind) -> Decimal {
        let som = 40.0 * 600_f64.powf(self.rng.f64().powf(1.4));
        let som = som as i64;
        let som = if som > 300 { som / 10 * 10 } else { som };
        match kind {
            PaymentKind::Mbank => Decimal::from(som.max(1)),
            PaymentKind::Qr => Decimal::from(som * 100),
            _ if self.rng.u32(0..4) == 0 => Decimal::new(som * 100 + i64::from(self.rng.u8(1..20)) * 5, 2),
            _ => Decimal::new(som * 100, 2),
        }
    }

    /// A masked card. An open payment gets a test card, which its page accepts.
    fn card(&mut self, is_open: bool) -> String {
        if is_open {
            return card_numbers::mask_card(TEST_CARDS[0].pan);
        }
        format!("{}******{:04}", BANKS[self.rng.usize(..BANKS.len())], self.rng.u32(..10_000))
    }

    fn gateway_number(&mut self) -> String {
        uuid::Builder::from_random_bytes(self.rng.u128(..).to_be_bytes()).into_uuid().to_string()
    }

    /// An index, by weight.
    fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut left = self.rng.u32(..weights.iter().sum::<u32>().max(1));
        for (index, weight) in weights.iter().enumerate() {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return index,
            }
        }
        0
    }
}
