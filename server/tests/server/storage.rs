//! The suite that every storage passes, and what SQLite's adds: the file, reopened; group commit.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use kassa::{PaymentRef, PaymentStatus, Provider};
use kassa_server::{
    ApiKey, CheckoutId, CheckoutState, ClaimState, Cursor, Event, EventKind, Exchange, ExchangeKind, Failure, Hidden,
    KeyRole, Method, NewCheckout, Payment, PaymentId, PaymentState, Permission, PostgresSettings, PostgresStorage,
    Resolution, ServerError, SqliteStorage, Storage, StorageError, TokenHash,
    storage::{
        inputs::{
            BeginConfirmation, BeginPayment, CheckoutLookup, Claim, ClaimDeliveries, ClaimPolls, ConfirmResult,
            ConfirmationOutcome, DeliveryOutcome, DeliveryResult, Hint, Key, NewApiKey, NewToken, OpenCheckout,
            PollResult, Report, Resolve, SendOutcome, SendResult, Slots, StatusReport, Sweep, TakePrepared,
            WalletTerms,
        },
        listing::{CheckoutFilter, ListCheckouts, ListPosition, Start, TextFilter},
        outputs::{Decision, Delivery, HintOutcome, RecordedPayment, SendTurn, SkippedEvent, StatusQuery},
        sqlite::connection::{DatabaseClock, VERSION},
        staff::{
            MOST_UNKNOWN_CALLBACKS, Need, Period, StoredExchange, StoredReply, StoredUnknownCallback, UnknownCallback,
        },
    },
};
use kassa_test_postgres::Database;
use pollster::block_on;

/// Of a MegaPay wallet.
const PHONE: &str = "996755000201";

/// A calendar that the test moves. PostgreSQL reads it from a table.
#[derive(Clone)]
struct Calendar(Arc<AtomicI64>, Option<Arc<Database<'static>>>);

impl Calendar {
    fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_790_000_000_000)), None)
    }

    /// The clock of a database that has its tables by now.
    fn of(database: Arc<Database<'static>>) -> Self {
        let calendar = Self(Self::new().0, Some(database.clone()));
        database.psql(&format!(
            "CREATE TABLE calendar AS SELECT {}::bigint AS at;
             CREATE OR REPLACE FUNCTION now_ms() RETURNS BIGINT LANGUAGE SQL VOLATILE AS 'SELECT at FROM calendar'",
            calendar.0.load(Ordering::SeqCst)
        ));
        calendar
    }

    fn clock(&self) -> DatabaseClock {
        let now = self.0.clone();
        Arc::new(move || now.load(Ordering::SeqCst))
    }

    fn pass(&self, time: Duration) {
        self.move_by(time.as_millis() as i64);
    }

    /// It is put back.
    fn back(&self, time: Duration) {
        self.move_by(-(time.as_millis() as i64));
    }

    fn move_by(&self, time: i64) {
        self.0.fetch_add(time, Ordering::SeqCst);
        if let Some(database) = &self.1 {
            database.psql(&format!("UPDATE calendar SET at = at + ({time})"));
        }
    }
}

pub fn id(number: u8) -> CheckoutId {
    CheckoutId::from_random([number; 16])
}

pub fn payment_id(number: u8) -> PaymentId {
    PaymentId::from_random([number; 16])
}

pub fn new(number: u8) -> OpenCheckout {
    let reference = format!("order-{number}");
    let wanted = NewCheckout::new(reference, 390.into(), "Two tickets", "https://shop.example.kg/paid");
    let secret = || Hidden::new(format!("{number:032x}"));
    let methods = vec![Method::PayForm, Method::Qr, Method::Mbank];
    OpenCheckout { id: id(number), wanted, methods, callback_secret: secret(), page_secret: secret() }
}

pub fn begin(checkout: u8, number: u8, method: Method) -> BeginPayment {
    let id = payment_id(number);
    let reference = match method {
        Method::Mbank => PaymentRef::mbank(id.bare(), 390),
        Method::Megapay => PaymentRef::megapay(id.bare(), 390.into()),
        Method::Qr => PaymentRef::qr(Some(39_000)),
        Method::Card => PaymentRef::card(id.bare(), 390.into(), "KGS"),
        _ => PaymentRef::pay_form(390.into()),
    };
    BeginPayment {
        checkout: self::id(checkout),
        id,
        method,
        reference,
        key: None,
        sender: format!("sender-{number}"),
        is_sent_at_once: true,
        send_for_ms: 80_000,
        wait_for_ms: 30_000,
        attempts: 2,
        card_attempts: 2,
        card_last4: None,
        phone_last2: None,
        payer_phone: Some(Hidden::new(PHONE)).filter(|_| method == Method::Megapay),
        instead_of: None,
    }
}

pub fn accepted(checkout: u8, number: u8, reference: PaymentRef) -> SendOutcome {
    sent(
        checkout,
        number,
        SendResult::Accepted { reference, page_url: None, qr_text: None, terms: WalletTerms::default() },
    )
}

fn sent(checkout: u8, number: u8, result: SendResult) -> SendOutcome {
    let (checkout, payment, sender) = (id(checkout), payment_id(number), format!("sender-{number}"));
    SendOutcome { checkout, payment, sender, result, exchange: None }
}

fn claim() -> ClaimPolls {
    ClaimPolls { places: Slots::new(10), lease_ms: 60_000, per_second: 100 }
}

pub fn answer(checkout: u8, number: u8, leased_until: i64, report: Report) -> PollResult {
    let reports = vec![StatusReport { claim: None, report, exchange: said() }];
    let method = Method::Mbank;
    PollResult { payment: payment_id(number), checkout: id(checkout), method, leased_until, reports, random: 50 }
}

/// Events of these kinds, or of all.
pub fn deliver(most: u32, kinds: Option<Vec<EventKind>>) -> ClaimDeliveries {
    ClaimDeliveries { most, lease_ms: 30_000, kinds }
}

fn deliveries(storage: &dyn Storage) -> Vec<Delivery> {
    block_on(storage.claim_deliveries(deliver(10, None))).unwrap().deliveries
}

fn came_to(storage: &dyn Storage, delivery: &Delivery, result: DeliveryResult) -> Vec<SkippedEvent> {
    block_on(storage.record_deliveries(vec![DeliveryOutcome::of(delivery, result)])).unwrap()
}

fn refused() -> DeliveryResult {
    DeliveryResult::Refused { why: "it answered 400".to_owned() }
}

fn said() -> Exchange {
    Exchange::new(ExchangeKind::Status, "pending")
}

fn events_after(storage: &dyn Storage, cursor: &Cursor, most: u32) -> Vec<Event> {
    block_on(storage.events_after(cursor.clone(), most)).unwrap()
}

/// What was begun now, and is to be sent.
pub fn is_new(begun: &Result<RecordedPayment, StorageError>) -> bool {
    begun.as_ref().is_ok_and(|begun| begun.is_changed)
}

/// What the same request began before.
fn is_known(begun: &Result<RecordedPayment, StorageError>) -> bool {
    begun.as_ref().is_ok_and(|begun| !begun.is_changed)
}

/// Why a request was rejected. Nothing of it was written.
pub fn refusal<T: std::fmt::Debug>(result: &Result<T, StorageError>) -> ServerError {
    match result {
        Err(problem @ StorageError::Rejected(why)) if problem.wrote_nothing() => why.clone(),
        other => panic!("not rejected: {other:?}"),
    }
}

fn state(storage: &dyn Storage, checkout: u8, number: u8) -> PaymentState {
    let view = block_on(storage.checkout(CheckoutLookup::Id(id(checkout)))).unwrap().unwrap();
    view.payment(&payment_id(number)).unwrap().state
}

fn last_report_counts_only_if_pending(storage: &dyn Storage, calendar: &Calendar) {
    for number in [1, 2] {
        following(storage, calendar, number);
    }
    let last = |number| block_on(storage.last_pending_report(payment_id(number))).unwrap();
    assert_eq!(last(1), None, "the gateway was not asked yet");
    let report = |outcome: &str, claim: Option<&str>| {
        calendar.pass(Duration::from_secs(10));
        let claim = claim.map(str::to_owned);
        let mut exchange = Exchange::new(ExchangeKind::Status, outcome);
        exchange.claim = claim.clone();
        let reports = vec![StatusReport { claim, report: Report::Nothing, exchange }];
        let answered = PollResult { reports, ..answer(1, 1, 0, Report::Nothing) };
        block_on(storage.record_poll_results(vec![answered])).unwrap();
        calendar.0.load(Ordering::SeqCst)
    };
    report("pending", None);
    let claimed = report("pending", Some("claimed"));
    assert_eq!(last(1), Some(claimed));
    // It is counted in the first row, which is the last report all the same.
    let again = report("pending", None);
    assert_eq!((last(1), again - claimed), (Some(again), 10_000));
    report("Unexpected", Some("claimed"));
    assert_eq!(last(1), None, "the last one may have been that of the charge");
    assert_eq!(last(2), None, "another payment");
}

pub const SWEEP: Sweep = Sweep { most: 10, keep_for_ms: 90 * 24 * 3_600_000 };

/// One promise of a storage's, on an empty one.
type Check = fn(&dyn Storage, &Calendar);

/// The functions with their names.
macro_rules! suite {
    ($($check:ident),+ $(,)?) => { [$((stringify!($check), $check as Check)),+] };
}

/// Every storage passes these.
const SUITE: [(&str, Check); 46] = suite![
    reference_opens_one_checkout,
    number_of_other_payment_is_not_adopted,
    charge_in_doubt_blocks_other_payment,
    charge_without_number_is_in_doubt,
    unknown_status_without_number_is_reported,
    unknown_status_of_failed_code_is_reported,
    send_refusal_pauses_one_method_and_no_polls,
    clock_set_back_delays_nothing,
    client_token_opens_one_checkout_until_expiry,
    api_key_is_valid_until_revoked,
    idempotency_key_returns_same_payment,
    idempotency_keys_of_a_payer_are_bounded,
    one_payment_of_checkout_may_take_money,
    replaced_payment_is_never_confirmed,
    wallet_terms_are_kept_and_its_phone_is_wiped,
    phone_of_confirmed_or_left_wallet_is_wiped,
    confirming_payment_is_not_replaced,
    concurrent_replace_and_confirm_exclude,
    qr_payment_is_replaced_by_other_method,
    prepared_payment_is_taken_once,
    card_payment_does_not_wait,
    card_without_page_blocks_expiry,
    card_and_payment_attempts_are_bounded,
    queued_payment_of_paid_checkout_is_not_sent,
    claims_are_stored_with_their_reports,
    only_the_sender_records_the_outcome,
    person_resolves_unknown_payment,
    waiting_checkout_delays_no_others,
    equal_responses_are_counted_and_bounded,
    last_report_counts_only_if_pending,
    claimed_poll_is_leased,
    hint_during_lease_is_not_lost,
    most_urgent_poll_is_claimed_first,
    payment_is_polled_at_most_once_a_second,
    hint_keeps_place_of_overdue_poll,
    otp_attempts_are_bounded,
    streams_are_delivered_in_order,
    event_without_action_is_skipped,
    refused_event_is_redelivered_in_order,
    unselected_event_kinds_are_not_delivered,
    checkouts_are_listed_by_filter_in_pages,
    statistics_count_current_state,
    statement_mapping_is_stored_once,
    unknown_callbacks_are_stored_up_to_a_limit,
    write_check_succeeds,
    retention_deletes_expired_data,
];

#[test]
fn sqlite_passes_the_suite() {
    for (name, check) in SUITE {
        let (folder, calendar) = (tempfile::tempdir().unwrap(), Calendar::new());
        let storage = SqliteStorage::open_with_clock(&folder.path().join("kassa.db"), &calendar.clock()).unwrap();
        println!("{name}");
        check(&storage, &calendar);
    }
}

#[test]
fn postgres_passes_the_suite() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (name, check) in SUITE {
        let database = Arc::new(kassa_test_postgres::shared().database());
        let settings = PostgresSettings::parse(&database.url()).unwrap();
        let storage = runtime.block_on(PostgresStorage::open(&settings)).unwrap();
        println!("{name}");
        check(&storage, &Calendar::of(database));
    }
}

/// Responses are read in their order, from any place on, as the histories have them.
fn check_replies(storage: &dyn Storage, replies: impl Fn(&(String, u64)) -> Vec<StoredReply>) {
    let start = (String::new(), 0);
    assert_eq!(replies(&start), []);
    for number in 1..=3 {
        block_on(storage.open_checkout(new(number))).unwrap();
        let begun = begin(number, number, Method::Mbank);
        let reference = begun.reference.clone();
        block_on(storage.begin_payment(begun)).unwrap();
        let outcome = SendOutcome { exchange: Some(said()), ..accepted(number, number, reference) };
        block_on(storage.record_send_outcome(outcome)).unwrap();
    }
    let all = replies(&start);
    assert_eq!(all.len(), 3);
    for (number, reply) in (1..=3).zip(&all) {
        let history = block_on(storage.history(id(number))).unwrap().unwrap();
        let payment = &history.listed.view.payments[0];
        assert_eq!((reply.payment_id.as_str(), &reply.reference), (payment.id.as_str(), &payment.reference));
        assert_eq!(history.exchanges[0], std::slice::from_ref(&reply.stored));
    }
    for (place, reply) in all.iter().enumerate() {
        assert_eq!(replies(&(reply.payment_id.clone(), reply.number)), all[place + 1..]);
    }
}

#[test]
fn sqlite_replies_are_read_in_order() {
    let (folder, calendar) = (tempfile::tempdir().unwrap(), Calendar::new());
    let path = folder.path().join("kassa.db");
    let storage = SqliteStorage::open_with_clock(&path, &calendar.clock()).unwrap();
    check_replies(&storage, |after| SqliteStorage::replies(&path, after).unwrap());
}

#[test]
fn postgres_replies_are_read_in_order() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = kassa_test_postgres::shared().database();
    let settings = PostgresSettings::parse(&database.url()).unwrap();
    let storage = runtime.block_on(PostgresStorage::open(&settings)).unwrap();
    check_replies(&storage, |after| runtime.block_on(PostgresStorage::replies(&settings, after)).unwrap());
}

fn whole(text: &str) -> CheckoutFilter {
    CheckoutFilter { text: Some(TextFilter::Whole(text.to_owned())), ..CheckoutFilter::default() }
}

fn part(text: &str) -> CheckoutFilter {
    CheckoutFilter { text: Some(TextFilter::Part(text.to_owned())), ..CheckoutFilter::default() }
}

fn listed_ids(storage: &dyn Storage, which: &CheckoutFilter, start: Start, most: u32) -> Vec<CheckoutId> {
    let list = ListCheckouts { which: which.clone(), start, most };
    let found = block_on(storage.list_checkouts(list)).unwrap();
    assert_eq!(found.searched_to, None);
    found.checkouts.into_iter().map(|listed| listed.view.checkout.id).collect()
}

fn checkouts_are_listed_by_filter_in_pages(storage: &dyn Storage, calendar: &Calendar) {
    let opened_at = |number: u8| {
        let view = block_on(storage.checkout(CheckoutLookup::Id(id(number)))).unwrap().unwrap();
        view.checkout.opened_at
    };
    for number in 1..=5 {
        block_on(storage.open_checkout(new(number))).unwrap();
        calendar.pass(Duration::from_secs(60));
    }
    let mbank = BeginPayment { phone_last2: Some("01".to_owned()), ..begin(1, 1, Method::Mbank) };
    block_on(storage.begin_payment(mbank)).unwrap();
    block_on(storage.begin_payment(begin(2, 2, Method::Qr))).unwrap();
    block_on(storage.cancel_checkout(id(5), None)).unwrap();

    let all = CheckoutFilter::default();
    let place = |number: u8| ListPosition { opened_at: opened_at(number), id: id(number) };
    let (older, newer) = (|number| Start::OlderThan(place(number)), |number| Start::NewerThan(place(number)));
    assert_eq!(listed_ids(storage, &all, Start::Newest, 2), [id(5), id(4)]);
    assert_eq!(listed_ids(storage, &all, older(4), 2), [id(3), id(2)]);
    assert_eq!(listed_ids(storage, &all, newer(2), 2), [id(4), id(3)], "right before it, the newest first");
    let opened = Some(Period { from: opened_at(2), until: opened_at(4) });
    let of_time = CheckoutFilter { opened, ..all.clone() };
    assert_eq!(listed_ids(storage, &of_time, Start::Newest, 9), [id(3), id(2)]);
    assert_eq!(listed_ids(storage, &of_time, older(3), 9), [id(2)]);
    assert_eq!(listed_ids(storage, &of_time, newer(1), 9), [id(3), id(2)]);
    for (which, expected) in [
        (CheckoutFilter { state: Some(CheckoutState::Cancelled), ..all.clone() }, vec![id(5)]),
        (CheckoutFilter { state: Some(CheckoutState::Open), opened, ..all.clone() }, vec![id(3), id(2)]),
        (CheckoutFilter { method: Some(Method::Mbank), ..all.clone() }, vec![id(1)]),
        (CheckoutFilter { method: Some(Method::Qr), ..of_time.clone() }, vec![id(2)]),
        (CheckoutFilter { needs_person: true, ..all.clone() }, vec![]),
        (whole("order-3"), vec![id(3)]),
        (CheckoutFilter { state: Some(CheckoutState::Cancelled), ..whole("order-3") }, vec![]),
        (CheckoutFilter { needs_person: true, ..whole("order-3") }, vec![]),
        (whole("order-"), vec![]),
        (part("RDER-"), vec![id(5), id(4), id(3), id(2), id(1)]),
        (CheckoutFilter { method: Some(Method::Qr), ..part("order") }, vec![id(2)]),
        (part(&payment_id(1).to_string()[6..20]), vec![id(1)]),
        (part("01"), vec![id(1)]),
        (part("02"), vec![]),
        (part("%"), vec![]),
    ] {
        assert_eq!(listed_ids(storage, &which, Start::Newest, 9), expected, "{which:?}");
        let totals = block_on(storage.total_checkouts(which.clone(), 9)).unwrap();
        assert_eq!((totals.count, totals.counted_to), (expected.len() as u64, None), "{which:?}");
        let newer_ones: Vec<_> = expected.into_iter().filter(|one| *one != id(1)).collect();
        assert_eq!(listed_ids(storage, &which, newer(1), 9), newer_ones, "{which:?}");
    }
    let totals = block_on(storage.total_checkouts(all.clone(), 3)).unwrap();
    assert_eq!((totals.count, totals.counted_to), (3, Some(opened_at(3))), "the newest alone were counted");

    let charge = |checkout, number| {
        let unknown = SendResult::Unknown { reference: PaymentRef::mbank(payment_id(number).bare(), 390) };
        block_on(storage.record_send_outcome(sent(checkout, number, unknown))).unwrap();
        let outcome = Resolve {
            payment: payment_id(number),
            resolution: Resolution::Charged,
            reason: "seen".into(),
            by: "Aizada".into(),
            seen: None,
        };
        block_on(storage.resolve(outcome)).unwrap();
    };
    let totals = |method| {
        let which = CheckoutFilter { method, ..all.clone() };
        let totals = block_on(storage.total_checkouts(which, 9)).unwrap();
        let charged: Vec<_> = totals.charged.iter().map(|one| (one.method, one.count, one.sum)).collect();
        (totals.count, charged)
    };
    charge(1, 1);
    assert_eq!(totals(None), (5, vec![(Method::Mbank, 1, Some(390.into()))]));
    // Charged by another method than the one that is requested.
    block_on(storage.begin_payment(begin(3, 3, Method::Qr))).unwrap();
    let nothing = SendResult::NothingHappened { failure: Failure::of_kind("Refused"), retry_after: None };
    block_on(storage.record_send_outcome(sent(3, 3, nothing))).unwrap();
    block_on(storage.begin_payment(begin(3, 4, Method::Mbank))).unwrap();
    charge(3, 4);
    assert_eq!(totals(Some(Method::Qr)), (2, vec![]));
    assert_eq!(totals(Some(Method::Mbank)), (2, vec![(Method::Mbank, 2, Some(780.into()))]));
}

fn reference_opens_one_checkout(storage: &dyn Storage, _: &Calendar) {
    assert!(matches!(block_on(storage.open_checkout(new(1))), Ok(view) if view.checkout.version == 0));
    let again = OpenCheckout { id: id(9), callback_secret: Hidden::new("9"), page_secret: Hidden::new("9"), ..new(1) };
    assert!(matches!(block_on(storage.open_checkout(again)), Ok(view) if view.checkout.id == id(1)));
    let mut other = new(1);
    other.wanted.amount = 391.into();
    assert!(matches!(refusal(&block_on(storage.open_checkout(other))), ServerError::ReferenceUsed { .. }));
    let read = block_on(storage.checkout(CheckoutLookup::Id(id(1)))).unwrap().unwrap();
    assert_eq!((read.checkout.amount, read.checkout.methods.len()), (390.into(), 3));
    let page_of = |number: u8| block_on(storage.checkout(CheckoutLookup::Page(new(number).page_secret))).unwrap();
    assert_eq!((page_of(1).map(|view| view.checkout.id), page_of(2)), (Some(id(1)), None));
    assert!(block_on(storage.checkout(CheckoutLookup::Id(id(9)))).unwrap().is_none());
    let by = |reference: &str| block_on(storage.checkout(CheckoutLookup::Reference(reference.to_owned()))).unwrap();
    assert_eq!(by("order-1").unwrap(), read);
    assert!(by("order-9").is_none());
    assert!(block_on(storage.cancel_checkout(id(1), None)).is_ok());
    assert!(matches!(refusal(&block_on(storage.begin_payment(begin(1, 1, Method::Qr)))), ServerError::NotOpen { .. }));
}

fn client_token_opens_one_checkout_until_expiry(storage: &dyn Storage, calendar: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let add = |number: u8, checkout| {
        let hash = TokenHash([number; 32]);
        block_on(storage.add_token(NewToken { checkout: id(checkout), hash, lifetime_ms: 900_000 })).unwrap()
    };
    assert!(add(1, 1) && add(2, 1) && !add(3, 7));
    let opens = |number: u8| {
        let found = block_on(storage.checkout(CheckoutLookup::Token(TokenHash([number; 32])))).unwrap();
        found.map(|view| view.checkout.id)
    };
    assert_eq!((opens(1), opens(2), opens(3)), (Some(id(1)), Some(id(1)), None));
    calendar.pass(Duration::from_secs(900));
    assert_eq!(opens(1), None);
    assert!(add(4, 1));
    assert_eq!(opens(4), Some(id(1)));
    block_on(storage.revoke_tokens(id(1))).unwrap();
    assert_eq!(opens(4), None);
}

fn api_key_is_valid_until_revoked(storage: &dyn Storage, calendar: &Calendar) {
    let keys = [1, 2].map(|number| ApiKey::from_random(KeyRole::Shop, [number; 16], [number; 32]));
    for (key, name) in keys.iter().zip(["old", "new"]) {
        let (id, name, hash) = (key.id().clone(), name.to_owned(), key.hash());
        let new = NewApiKey { id, name, hash, role: KeyRole::Shop, permission: Permission::Decide };
        block_on(storage.add_api_key(new)).unwrap();
        calendar.pass(Duration::from_secs(1));
    }
    let all = block_on(storage.api_keys()).unwrap();
    assert_eq!(all.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["old", "new"]);
    assert!(keys[0].is(&all[0].hash) && !keys[1].is(&all[0].hash));
    assert!(block_on(storage.revoke_api_key(keys[0].id().clone())).unwrap());
    assert!(!block_on(storage.revoke_api_key(keys[0].id().clone())).unwrap(), "it was revoked before");
    let read = |key: &ApiKey| block_on(storage.api_key(key.id().clone())).unwrap();
    assert!(read(&keys[0]).unwrap().revoked_at.is_some());
    assert_eq!(read(&keys[1]), Some(all[1].clone()));
    assert_eq!(read(&ApiKey::from_random(KeyRole::Shop, [3; 16], [1; 32])), None);
}

fn statement_mapping_is_stored_once(storage: &dyn Storage, _: &Calendar) {
    assert_eq!(block_on(storage.statement_mapping()).unwrap(), None);
    for mapping in ["amount=Sum", "amount=Сумма", "amount=Сумма"] {
        block_on(storage.set_statement_mapping(mapping.to_owned())).unwrap();
        assert_eq!(block_on(storage.statement_mapping()).unwrap().as_deref(), Some(mapping));
    }
}

fn unknown_callbacks_are_stored_up_to_a_limit(storage: &dyn Storage, calendar: &Calendar) {
    let callback = |of: u32, status: &str| UnknownCallback {
        payment: PaymentId::from_random([of as u8; 16]),
        number: Some(format!("GW-{of}")),
        amount: Some("390.50".parse().unwrap()),
        status: Some(status.to_owned()),
    };
    block_on(storage.record_unknown_callback(callback(0, "pending"))).unwrap();
    let first = block_on(storage.moment()).unwrap();
    calendar.pass(Duration::from_secs(5));
    block_on(storage.record_unknown_callback(callback(0, "charged"))).unwrap();
    let found = block_on(storage.unknown_callbacks()).unwrap();
    let last_at = first + 5000;
    let expected = StoredUnknownCallback { callback: callback(0, "charged"), first_at: first, last_at, times: 2 };
    assert_eq!(found, [expected]);
    calendar.pass(Duration::from_secs(1));
    for of in 1..=MOST_UNKNOWN_CALLBACKS {
        block_on(storage.record_unknown_callback(callback(of, "charged"))).unwrap();
    }
    let looked_at = block_on(storage.unknown_callbacks()).unwrap();
    assert_eq!(looked_at.len(), MOST_UNKNOWN_CALLBACKS as usize);
    assert!(looked_at.iter().all(|one| one.callback.number.as_deref() != Some("GW-0")), "the oldest one went");
    // What comes after somebody has looked stays.
    calendar.pass(Duration::from_secs(1));
    block_on(storage.record_unknown_callback(callback(7, "pending"))).unwrap();
    let removed = block_on(storage.remove_unknown_callbacks(looked_at[0].last_at)).unwrap();
    assert_eq!(removed, u64::from(MOST_UNKNOWN_CALLBACKS) - 1);
    let left = block_on(storage.unknown_callbacks()).unwrap();
    assert_eq!(left.iter().map(|one| &one.callback).collect::<Vec<_>>(), [&callback(7, "pending")]);
}

fn idempotency_keys_of_a_payer_are_bounded(storage: &dyn Storage, _: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let with = |key: u32, fingerprint: u8| BeginPayment {
        key: Some(Key { text: format!("key-{key}"), fingerprint: vec![fingerprint] }),
        ..begin(1, 1, Method::Qr)
    };
    let begin = |key, fingerprint| block_on(storage.begin_payment(with(key, fingerprint)));
    assert!(is_new(&begin(0, 1)));
    let reference = PaymentRef::qr(Some(39_000)).with_transaction_id("transaction-1");
    let shown =
        SendResult::Accepted { reference, page_url: None, qr_text: Some("qr".into()), terms: WalletTerms::default() };
    block_on(storage.record_send_outcome(sent(1, 1, shown))).unwrap();
    for key in 1..300 {
        assert!(is_known(&begin(key, 1)), "{key}");
    }
    assert!(
        matches!(refusal(&begin(0, 2)), ServerError::KeyReused)
            && matches!(refusal(&begin(99, 2)), ServerError::KeyReused)
    );
    assert!(is_known(&begin(299, 2)), "it is not remembered, and the same is shown");
}

fn idempotency_key_returns_same_payment(storage: &dyn Storage, _: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let with = |number, fingerprint: u8| BeginPayment {
        key: Some(Key { text: "key".into(), fingerprint: vec![fingerprint] }),
        ..begin(1, number, Method::Mbank)
    };
    assert!(is_new(&block_on(storage.begin_payment(with(1, 1)))));
    assert!(
        matches!(block_on(storage.begin_payment(with(2, 1))), Ok(same) if !same.is_changed && same.payment.id == payment_id(1))
    );
    assert!(matches!(refusal(&block_on(storage.begin_payment(with(3, 2)))), ServerError::KeyReused));
}

fn one_payment_of_checkout_may_take_money(storage: &dyn Storage, _: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let begun = |number, method| block_on(storage.begin_payment(begin(1, number, method)));
    assert!(is_new(&begun(1, Method::PayForm)));
    assert!(
        matches!(begun(2, Method::PayForm), Ok(same) if !same.is_changed && same.payment.id == payment_id(1)),
        "its page is shown again"
    );
    assert!(is_new(&begun(3, Method::Mbank)), "a pay-form is the exception");
    for method in [Method::Mbank, Method::Qr, Method::Card] {
        assert!(matches!(refusal(&begun(4, method)), ServerError::UnderWay { state: PaymentState::Sending, .. }));
    }
    assert!(matches!(refusal(&block_on(storage.cancel_checkout(id(1), None))), ServerError::UnderWay { .. }));
}

/// Whether the phone of a wallet is kept. It is hidden.
fn keeps_phone(payment: &Payment) -> bool {
    let text = format!("{payment:?}");
    assert!(!text.contains(PHONE), "{text}");
    text.contains("payer_phone: Some([hidden])")
}

fn wallet_terms_are_kept_and_its_phone_is_wiped(storage: &dyn Storage, _: &Calendar) {
    for number in [1, 2, 3] {
        block_on(storage.open_checkout(new(number))).unwrap();
        let begin = begin(number, number, Method::Megapay);
        let reference = begin.reference.clone();
        let begun = block_on(storage.begin_payment(begin)).unwrap();
        assert!(keeps_phone(&begun.payment));
        let (commission, total) = (Some("7.80".parse().unwrap()), Some("397.80".parse().unwrap()));
        let terms = WalletTerms { commission, total, pin_lifetime: Some(Duration::from_secs(180)) };
        let accepted = SendResult::Accepted { reference, page_url: None, qr_text: None, terms };
        let awaiting = block_on(storage.record_send_outcome(sent(number, number, accepted))).unwrap().payment;
        let view = block_on(storage.checkout(CheckoutLookup::Id(id(number)))).unwrap().unwrap();
        assert_eq!(view.payments, std::slice::from_ref(&awaiting));
        assert_eq!((awaiting.commission, awaiting.total), (commission, total));
        assert_eq!(awaiting.code_expires_at, Some(awaiting.begun_at + 180_000));
        assert!(keeps_phone(&awaiting));
    }
    let events = block_on(storage.events_after(Cursor::default(), 100)).unwrap();
    let accepted = events.iter().find(|event| event.kind == Some(EventKind::PaymentAccepted)).unwrap();
    let told = r#""commission":"7.80","total":"397.80","code_expires_at_ms":"#;
    assert!(accepted.body.contains(told) && !accepted.body.contains(PHONE), "{}", accepted.body);

    // A wrong PIN leaves another try; after the last one no PIN is sent.
    assert!(is_new(&confirmed(storage, 1, "a")));
    not_confirmed(storage, 1, "a");
    assert!(keeps_phone(&payment(storage, 1)));
    assert!(keeps_phone(&confirmed(storage, 1, "b").unwrap().payment), "the request needs it");
    not_confirmed(storage, 1, "b");
    assert!(!keeps_phone(&payment(storage, 1)));
    // The checkout has ended.
    block_on(storage.cancel_checkout(id(2), None)).unwrap();
    let view = block_on(storage.checkout(CheckoutLookup::Id(id(2)))).unwrap().unwrap();
    assert!(view.payments[0].state == PaymentState::Awaiting && !keeps_phone(&view.payments[0]));
    // A person decides.
    let (payment, reason, by) = (payment_id(3), "the wallet's statement".to_owned(), "Aizada".into());
    let resolve = Resolve { payment, resolution: Resolution::NotCharged, reason, by, seen: None };
    block_on(storage.resolve(resolve)).unwrap();
    let view = block_on(storage.checkout(CheckoutLookup::Id(id(3)))).unwrap().unwrap();
    assert!(view.payments[0].state == PaymentState::Rejected && !keeps_phone(&view.payments[0]));
    assert_eq!(view.payments[0].commission.map(|amount| amount.to_string()).as_deref(), Some("7.80"));
}

/// A PIN that was sent is the last one; and a payment that its payer left takes none.
fn phone_of_confirmed_or_left_wallet_is_wiped(storage: &dyn Storage, _: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let awaiting = |begin: BeginPayment, number| {
        let reference = begin.reference.clone();
        assert!(is_new(&block_on(storage.begin_payment(begin))));
        assert!(block_on(storage.record_send_outcome(accepted(1, number, reference))).unwrap().is_changed);
    };
    awaiting(begin(1, 1, Method::Megapay), 1);
    awaiting(BeginPayment { instead_of: Some(payment_id(1)), ..begin(1, 2, Method::Megapay) }, 2);
    assert_eq!((keeps_phone(&payment(storage, 1)), keeps_phone(&payment(storage, 2))), (false, true));
    assert!(is_new(&confirmed(storage, 2, "a")));
    assert!(keeps_phone(&payment(storage, 2)), "it may be not confirmed");
    let (checkout, payment_id, sender) = (id(1), payment_id(2), "a".to_owned());
    let result = ConfirmResult::Sent { reference: None };
    let sent = ConfirmationOutcome { checkout, payment: payment_id, sender, result, exchange: None };
    block_on(storage.record_confirmation(sent)).unwrap();
    let confirming = payment(storage, 2);
    assert!(confirming.state == PaymentState::Confirming && !keeps_phone(&confirming));
}

/// By mobile bank, instead of another.
fn instead(number: u8, other: u8) -> BeginPayment {
    let key = Some(Key { text: format!("key-{number}"), fingerprint: vec![number] });
    let phone_last2 = Some("01".to_owned());
    BeginPayment { instead_of: Some(payment_id(other)), key, phone_last2, ..begin(1, number, Method::Mbank) }
}

fn confirmed(storage: &dyn Storage, number: u8, sender: &str) -> Result<RecordedPayment, StorageError> {
    let (checkout, payment) = (id(1), payment_id(number));
    let begin = BeginConfirmation { checkout, payment, key: None, sender: sender.into() };
    block_on(storage.begin_confirmation(begin))
}

fn not_confirmed(storage: &dyn Storage, number: u8, sender: &str) {
    let result = ConfirmResult::Refused { failure: Failure::of_kind("Refused") };
    let (checkout, payment, sender) = (id(1), payment_id(number), sender.into());
    let confirmed = ConfirmationOutcome { checkout, payment, sender, result, exchange: None };
    assert!(block_on(storage.record_confirmation(confirmed)).unwrap().is_changed);
}

fn payment(storage: &dyn Storage, number: u8) -> Payment {
    let view = block_on(storage.checkout(CheckoutLookup::Id(id(1)))).unwrap().unwrap();
    view.payments.into_iter().find(|payment| payment.id == payment_id(number)).unwrap()
}

fn replaced_payment_is_never_confirmed(storage: &dyn Storage, calendar: &Calendar) {
    following(storage, calendar, 1);
    let begun = |begin| block_on(storage.begin_payment(begin));
    // A wrong password did nothing.
    assert!(is_new(&confirmed(storage, 1, "a")));
    not_confirmed(storage, 1, "a");
    assert!(
        matches!(
            refusal(&begun(begin(1, 2, Method::Mbank))),
            ServerError::UnderWay { state: PaymentState::Awaiting, .. }
        ),
        "none names it"
    );
    assert!(
        matches!(refusal(&begun(instead(2, 7))), ServerError::UnderWay { state: PaymentState::Awaiting, .. }),
        "another one is named"
    );
    assert!(payment(storage, 1).can_be_replaced());

    assert!(matches!(begun(instead(2, 1)), Ok(new) if new.is_changed && new.payment.state == PaymentState::Sending));
    assert!(
        matches!(begun(instead(2, 1)), Ok(same) if !same.is_changed && same.payment.id == payment_id(2)),
        "by its key"
    );
    assert_eq!(payment(storage, 2).phone_last2.as_deref(), Some("01"));
    let left = payment(storage, 1);
    assert_eq!((left.state, left.is_replaced, left.can_be_replaced()), (PaymentState::Awaiting, true, false));
    assert!(matches!(
        refusal(&confirmed(storage, 1, "b")),
        ServerError::NotAwaited { state: PaymentState::Awaiting, .. }
    ));
    assert!(
        matches!(refusal(&begun(instead(3, 1))), ServerError::UnderWay { state: PaymentState::Sending, .. }),
        "it is left once"
    );
    let count =
        |kind| events_after(storage, &Cursor::default(), 100).iter().filter(|event| event.kind == Some(kind)).count();
    assert_eq!((count(EventKind::PaymentReplaced), count(EventKind::PaymentCreated)), (1, 2));

    // Its password stays good for nothing after the other one's end, and the gateway's report ends it.
    block_on(storage.record_send_outcome(accepted(1, 2, PaymentRef::mbank(payment_id(2).bare(), 390)))).unwrap();
    assert!(is_new(&confirmed(storage, 2, "c")));
    not_confirmed(storage, 2, "c");
    calendar.pass(Duration::from_secs(60));
    let polls = block_on(storage.claim_polls(claim())).unwrap().questions;
    assert!(polls.iter().any(|question| question.payment == payment_id(1)), "it is followed");
    let rejected = |number| {
        let leased = polls.iter().find(|question| question.payment == payment_id(number)).unwrap().leased_until;
        block_on(storage.record_poll_results(vec![answer(1, number, leased, Report::Rejected)])).unwrap();
        assert_eq!(state(storage, 1, number), PaymentState::Rejected);
    };
    rejected(2);
    assert!(matches!(
        refusal(&confirmed(storage, 1, "d")),
        ServerError::NotAwaited { state: PaymentState::Awaiting, .. }
    ));
    rejected(1);

    // Each sends somebody a message: five are left, and no more.
    assert!(is_new(&begun(begin(1, 10, Method::Mbank))));
    for number in 10..15 {
        block_on(storage.record_send_outcome(accepted(1, number, PaymentRef::mbank(payment_id(number).bare(), 390))))
            .unwrap();
        let begun = begun(instead(number + 1, number));
        assert_eq!(is_new(&begun), number < 14, "{begun:?}");
        assert!(number != 14 || matches!(refusal(&begun), ServerError::NoAttemptsLeft), "{begun:?}");
    }
    assert!(is_new(&confirmed(storage, 14, "e")), "the last one is not left");
}

fn confirming_payment_is_not_replaced(storage: &dyn Storage, calendar: &Calendar) {
    following(storage, calendar, 1);
    let leave = || block_on(storage.begin_payment(instead(2, 1)));
    assert!(is_new(&confirmed(storage, 1, "a")));
    assert!(
        matches!(refusal(&leave()), ServerError::UnderWay { state: PaymentState::Confirming, .. }),
        "it is on its way"
    );
    let result = ConfirmResult::Sent { reference: None };
    let (checkout, payment, sender) = (id(1), payment_id(1), "a".into());
    let unknown = ConfirmationOutcome { checkout, payment, sender, result, exchange: None };
    block_on(storage.record_confirmation(unknown)).unwrap();
    assert!(
        matches!(refusal(&leave()), ServerError::UnderWay { state: PaymentState::Confirming, .. }),
        "nobody knows what it did"
    );
    assert!(!self::payment(storage, 1).is_replaced);
}

fn concurrent_replace_and_confirm_exclude(storage: &dyn Storage, calendar: &Calendar) {
    following(storage, calendar, 1);
    let (begun, confirmed) = std::thread::scope(|scope| {
        let confirming = scope.spawn(|| confirmed(storage, 1, "a"));
        let leaving = scope.spawn(|| block_on(storage.begin_payment(instead(2, 1))));
        (leaving.join().unwrap(), confirming.join().unwrap())
    });
    let is_left = payment(storage, 1).is_replaced;
    assert_eq!(is_new(&begun), is_left, "{begun:?}");
    assert_eq!(is_new(&confirmed), !is_left, "{confirmed:?}");
}

fn qr_payment_is_replaced_by_other_method(storage: &dyn Storage, _: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let begun = |begin| block_on(storage.begin_payment(begin));
    assert!(is_new(&begun(begin(1, 1, Method::Qr))));
    assert!(
        matches!(refusal(&begun(instead(2, 1))), ServerError::UnderWay { state: PaymentState::Sending, .. }),
        "nobody has seen its code"
    );
    let reference = PaymentRef::qr(Some(39_000)).with_transaction_id("transaction-1");
    let shown =
        SendResult::Accepted { reference, page_url: None, qr_text: Some("qr".into()), terms: WalletTerms::default() };
    block_on(storage.record_send_outcome(sent(1, 1, shown))).unwrap();
    let other = BeginPayment { instead_of: Some(payment_id(1)), ..begin(1, 2, Method::PayForm) };
    assert!(is_new(&begun(other)));
    assert!(is_new(&begun(begin(1, 3, Method::Mbank))), "what was left holds back nothing");
    block_on(storage.record_send_outcome(accepted(1, 3, PaymentRef::mbank(payment_id(3).bare(), 390)))).unwrap();

    // The page that is open is shown again, and what is left for it is left all the same.
    let back = BeginPayment { instead_of: Some(payment_id(3)), ..begin(1, 4, Method::PayForm) };
    assert!(matches!(begun(back), Ok(same) if !same.is_changed && same.payment.id == payment_id(2)));
    assert!(payment(storage, 3).is_replaced);
    assert!(matches!(
        refusal(&confirmed(storage, 3, "a")),
        ServerError::NotAwaited { state: PaymentState::Awaiting, .. }
    ));
    assert!(is_new(&begun(begin(1, 5, Method::Qr))), "a code that was left is not shown again");
}

fn prepared_payment_is_taken_once(storage: &dyn Storage, calendar: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let waits = |number| BeginPayment { is_sent_at_once: false, ..begin(1, number, Method::Mbank) };
    assert!(
        matches!(block_on(storage.begin_payment(waits(1))), Ok(one) if one.is_changed && one.payment.state == PaymentState::Prepared)
    );
    let take = |sender: &str| {
        let take = TakePrepared { checkout: id(1), payment: payment_id(1), sender: sender.into(), send_for_ms: 80_000 };
        block_on(storage.take_prepared(take)).unwrap()
    };
    assert!(matches!(take("another"), SendTurn::Gone));
    assert!(matches!(take("sender-1"), SendTurn::Send));
    assert!(matches!(take("sender-1"), SendTurn::Gone), "once");
    calendar.pass(Duration::from_secs(79));
    assert!(block_on(storage.sweep(SWEEP)).unwrap().changed.is_empty());
    calendar.pass(Duration::from_secs(1));
    assert_eq!(block_on(storage.sweep(SWEEP)).unwrap().changed, [id(1)]);
    assert_eq!(state(storage, 1, 1), PaymentState::Unknown);
    // One that nobody takes was never sent.
    block_on(storage.open_checkout(new(2))).unwrap();
    let waits = BeginPayment { is_sent_at_once: false, ..begin(2, 2, Method::Mbank) };
    block_on(storage.begin_payment(waits)).unwrap();
    calendar.pass(Duration::from_secs(30));
    block_on(storage.sweep(SWEEP)).unwrap();
    assert_eq!(state(storage, 2, 2), PaymentState::NotMade);
}

/// Nobody has it any more when its turn comes; its key is used, and its events tell it.
fn card_payment_does_not_wait(storage: &dyn Storage, _: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let waits = |number| BeginPayment { is_sent_at_once: false, ..begin(1, number, Method::Card) };
    let waits = |number| BeginPayment { card_last4: Some("2016".into()), ..waits(number) };
    let begun = block_on(storage.begin_payment(waits(1)));
    assert!(is_new(&begun), "{begun:?}");
    let payment = begun.unwrap().payment;
    assert_eq!((payment.state, payment.card_last4.as_deref()), (PaymentState::NotMade, Some("2016")));
    let take = TakePrepared { checkout: id(1), payment: payment_id(1), sender: "sender-1".into(), send_for_ms: 80_000 };
    assert!(matches!(block_on(storage.take_prepared(take)), Ok(SendTurn::Gone)));
    let kinds: Vec<_> =
        events_after(storage, &Cursor::default(), 10).iter().map(|event| event.kind.unwrap().name()).collect();
    assert_eq!(kinds, ["payment.created", "payment.not_made"]);
    assert!(is_new(&block_on(storage.begin_payment(begin(1, 2, Method::Card)))), "another try may");
}

/// A card without a page is with the gateway alone, which has probably taken the money.
fn card_without_page_blocks_expiry(storage: &dyn Storage, calendar: &Calendar) {
    for number in 1..=2 {
        block_on(storage.open_checkout(new(number))).unwrap();
        let card = begin(number, number, Method::Card);
        block_on(storage.begin_payment(card.clone())).unwrap();
        let page_url = (number == 2).then(|| "https://gateway.example.kg/3ds".to_owned());
        let result = SendResult::Accepted {
            reference: card.reference.clone(),
            page_url,
            qr_text: None,
            terms: WalletTerms::default(),
        };
        block_on(storage.record_send_outcome(sent(number, number, result))).unwrap();
    }
    let cancel = |number| block_on(storage.cancel_checkout(id(number), None));
    assert!(matches!(refusal(&cancel(1)), ServerError::UnderWay { state: PaymentState::Awaiting, .. }));
    assert!(cancel(2).is_ok(), "its payer has confirmed nothing");
    calendar.pass(Duration::from_secs(3600));
    let open = || block_on(storage.checkout(CheckoutLookup::Id(id(1)))).unwrap().unwrap().checkout.state;
    block_on(storage.sweep(SWEEP)).unwrap();
    assert_eq!(open(), CheckoutState::Open, "its shop must not hear that it expired");
    let polls = block_on(storage.claim_polls(claim())).unwrap().questions;
    let poll = polls.into_iter().find(|poll| poll.payment == payment_id(1)).unwrap();
    block_on(storage.record_poll_results(vec![answer(1, 1, poll.leased_until, Report::Rejected)])).unwrap();
    block_on(storage.sweep(SWEEP)).unwrap();
    assert_eq!(open(), CheckoutState::Expired, "as soon as the gateway says so");
}

/// Card testing: nobody finds out with one checkout which of many cards are good.
fn card_and_payment_attempts_are_bounded(storage: &dyn Storage, _: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let ended = |number: u8, method, kind: &str| {
        let begun = block_on(storage.begin_payment(begin(1, number, method)));
        let result = SendResult::NothingHappened { failure: Failure::of_kind(kind), retry_after: None };
        if is_new(&begun) {
            block_on(storage.record_send_outcome(sent(1, number, result))).unwrap();
        }
        begun
    };
    let cards = [(1, "Refused"), (2, "Unavailable"), (3, "Interrupted"), (4, "Refused")];
    for (number, kind) in cards {
        assert!(is_new(&ended(number, Method::Card, kind)), "{number}: {kind} tells nothing of a card");
    }
    assert!(matches!(refusal(&ended(5, Method::Card, "Refused")), ServerError::NoAttemptsLeft));
    for number in 5..=50 {
        assert!(is_new(&ended(number, Method::Mbank, "Refused")), "other ways stay: {number}");
    }
    for method in [Method::Mbank, Method::Qr, Method::PayForm] {
        assert!(matches!(refusal(&ended(51, method, "Refused")), ServerError::NoAttemptsLeft), "{method}");
    }
}

fn queued_payment_of_paid_checkout_is_not_sent(storage: &dyn Storage, _: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let form = begin(1, 1, Method::PayForm);
    block_on(storage.begin_payment(form.clone())).unwrap();
    block_on(storage.record_send_outcome(accepted(1, 1, form.reference.clone()))).unwrap();
    block_on(storage.begin_payment(BeginPayment { is_sent_at_once: false, ..begin(1, 2, Method::Mbank) })).unwrap();
    let (claim, status) = (Some(Claim { number: "form-1".into(), provider: None }), Some(PaymentStatus::Charged));
    let (secret, payment) = (format!("{:032x}", 1), payment_id(1));
    let hint = Hint::Callback { secret, payment, claim, status, same: None, exchange: None, is_whole: true };
    block_on(storage.record_hint(hint)).unwrap();
    let poll = block_on(storage.claim_polls(self::claim())).unwrap().questions.remove(0);
    assert_eq!(poll.queries[0].reference.order_number.as_deref(), Some("form-1"));
    let report = Report::Charged(Box::new(poll.queries[0].reference.clone()));
    let reports = vec![StatusReport { claim: poll.queries[0].claim.clone(), report, exchange: said() }];
    let answered = PollResult { reports, ..answer(1, 1, poll.leased_until, Report::Nothing) };
    assert_eq!(block_on(storage.record_poll_results(vec![answered])).unwrap().changed, [id(1)]);
    let take = TakePrepared { checkout: id(1), payment: payment_id(2), sender: "sender-2".into(), send_for_ms: 80_000 };
    assert!(matches!(block_on(storage.take_prepared(take)), Ok(SendTurn::Gone)));
    assert_eq!((state(storage, 1, 1), state(storage, 1, 2)), (PaymentState::Charged, PaymentState::NotMade));
}

/// The gateway takes no mobile-bank payment, and asks to wait for an hour.
fn send_refusal_pauses_one_method_and_no_polls(storage: &dyn Storage, calendar: &Calendar) {
    following(storage, calendar, 1);
    let begun = |number: u8, method| {
        block_on(storage.open_checkout(new(number))).unwrap();
        let begun = block_on(storage.begin_payment(begin(number, number, method)));
        assert!(is_new(&begun), "{begun:?}");
        begun.unwrap().payment.state
    };
    let take = |number: u8| {
        let (payment, sender) = (payment_id(number), format!("sender-{number}"));
        let take = TakePrepared { checkout: id(number), payment, sender, send_for_ms: 80_000 };
        block_on(storage.take_prepared(take)).unwrap()
    };
    assert_eq!(begun(2, Method::Mbank), PaymentState::Sending);
    let failure = Failure::of_kind("Unavailable");
    let busy = SendResult::NothingHappened { failure, retry_after: Some(Duration::from_secs(3_600)) };
    block_on(storage.record_send_outcome(sent(2, 2, busy))).unwrap();
    assert_eq!((begun(3, Method::Qr), begun(4, Method::Mbank)), (PaymentState::Sending, PaymentState::Prepared));
    assert_eq!(begun(5, Method::Mbank), PaymentState::Prepared);
    assert!(matches!(take(4), SendTurn::Wait(1..=60_000)));
    assert_eq!(block_on(storage.claim_polls(claim())).unwrap().questions.len(), 1, "nobody refused questions");
    calendar.pass(Duration::from_secs(60));
    assert!(matches!((take(4), take(5)), (SendTurn::Send, SendTurn::Wait(_))), "one tries");
    block_on(storage.record_send_outcome(accepted(4, 4, begin(4, 4, Method::Mbank).reference))).unwrap();
    assert!(matches!(take(5), SendTurn::Send));
}

/// It was six hours ahead.
fn clock_set_back_delays_nothing(storage: &dyn Storage, calendar: &Calendar) {
    following(storage, calendar, 1);
    block_on(storage.open_checkout(new(2))).unwrap();
    block_on(storage.begin_payment(begin(2, 2, Method::Mbank))).unwrap();
    block_on(storage.sweep(SWEEP)).unwrap();
    let leased = block_on(storage.claim_polls(claim())).unwrap().questions[0].leased_until;
    let open = Report::Pending(Box::new(begin(1, 1, Method::Mbank).reference));
    block_on(storage.record_poll_results(vec![answer(1, 1, leased, open)])).unwrap();
    while let [delivery, ..] = &block_on(storage.claim_deliveries(deliver(1, None))).unwrap().deliveries[..] {
        came_to(storage, delivery, DeliveryResult::Failed);
    }
    calendar.back(Duration::from_secs(6 * 3_600));
    block_on(storage.sweep(SWEEP)).unwrap();
    calendar.pass(Duration::from_secs(120));
    block_on(storage.sweep(SWEEP)).unwrap();
    assert_eq!(state(storage, 2, 2), PaymentState::Unknown, "its sender was given up");
    // On PostgreSQL the first look notices that what it remembers is of a time to come.
    let mut polls = (0..6).flat_map(|_| {
        calendar.pass(Duration::from_secs(1));
        block_on(storage.claim_polls(claim())).unwrap().questions
    });
    assert!(polls.any(|question| question.payment == payment_id(1)));
    let delivered = [(); 2].map(|()| deliveries(storage).len());
    assert_eq!(delivered.iter().sum::<usize>(), 2);
}

/// The first one was rejected, and a second one has begun.
fn charge_in_doubt_blocks_other_payment(storage: &dyn Storage, calendar: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let own = |number: u8| begin(1, number, Method::Mbank).reference;
    let begin_and_accept = |number: u8| {
        block_on(storage.begin_payment(begin(1, number, Method::Mbank))).unwrap();
        block_on(storage.record_send_outcome(accepted(1, number, own(number)))).unwrap();
    };
    let report_after = |seconds: u64, report: &Report| {
        calendar.pass(Duration::from_secs(seconds));
        let polls = block_on(storage.claim_polls(claim())).unwrap().questions;
        let leased = polls.into_iter().find(|question| question.payment == payment_id(1)).unwrap().leased_until;
        block_on(storage.record_poll_results(vec![answer(1, 1, leased, report.clone())])).unwrap();
    };
    begin_and_accept(1);
    report_after(60, &Report::Rejected);
    begin_and_accept(2);
    let mismatch = Report::Mismatch { fields: vec!["amount".into()], is_charge: true };
    [30, 120, 500].into_iter().for_each(|seconds| report_after(seconds, &mismatch));
    assert_eq!((state(storage, 1, 1), state(storage, 1, 2)), (PaymentState::Mismatch, PaymentState::Awaiting));
    let confirmation =
        BeginConfirmation { checkout: id(1), payment: payment_id(2), key: None, sender: "sender-2".into() };
    let begun = block_on(storage.begin_confirmation(confirmation));
    assert!(matches!(refusal(&begun), ServerError::UnderWay { state: PaymentState::Mismatch, .. }), "{begun:?}");
}

/// A callback about the code of a checkout, which says this.
fn call_about_code(storage: &dyn Storage, checkout: u8, status: Option<PaymentStatus>) -> HintOutcome {
    let said = status.as_ref().map_or("nothing".to_owned(), ToString::to_string);
    let claim = Some(Claim { number: "qr-1".into(), provider: None });
    let (secret, payment) = (format!("{checkout:032x}"), payment_id(checkout));
    let exchange = Some(Box::new(Exchange::new(ExchangeKind::Callback, said)));
    block_on(storage.record_hint(Hint::Callback {
        secret,
        payment,
        claim,
        status,
        same: None,
        exchange,
        is_whole: true,
    }))
    .unwrap()
}

/// Of a code that the gateway has made, and whose number this database does not know, a callback reports a charge.
fn charge_without_number_is_in_doubt(storage: &dyn Storage, calendar: &Calendar) {
    let call = |checkout: u8, status| call_about_code(storage, checkout, Some(status));
    // The callback of one comes while it is being sent.
    for checkout in [1, 2] {
        block_on(storage.open_checkout(new(checkout))).unwrap();
        block_on(storage.begin_payment(begin(checkout, checkout, Method::Qr))).unwrap();
    }
    call(2, PaymentStatus::Charged);
    calendar.pass(Duration::from_secs(3_600));
    block_on(storage.sweep(SWEEP)).unwrap();
    assert_eq!((state(storage, 1, 1), state(storage, 2, 2)), (PaymentState::NotMade, PaymentState::Unverifiable));
    for status in [PaymentStatus::Rejected, PaymentStatus::Other("DONE".into())] {
        call(1, status);
        assert_eq!(state(storage, 1, 1), PaymentState::NotMade);
    }
    call(1, PaymentStatus::Charged);
    assert_eq!(state(storage, 1, 1), PaymentState::Unverifiable);
}

/// The gateway told no transaction of a code, and its callbacks say what the dialect does not know.
fn unknown_status_without_number_is_reported(storage: &dyn Storage, _: &Calendar) {
    let stuck = || {
        let events = events_after(storage, &Cursor::default(), 100);
        events.iter().filter(|event| event.kind == Some(EventKind::PaymentStuck)).count()
    };
    let other = || Some(PaymentStatus::Other("DONE".into()));
    for checkout in 1..=3 {
        block_on(storage.open_checkout(new(checkout))).unwrap();
        block_on(storage.begin_payment(begin(checkout, checkout, Method::Qr))).unwrap();
    }
    // Of two codes it says so before the gateway has answered. Of one the answer tells the transaction.
    for checkout in [2, 3] {
        call_about_code(storage, checkout, other());
    }
    assert_eq!(stuck(), 0);
    for checkout in [1, 2] {
        let reference = begin(checkout, checkout, Method::Qr).reference;
        block_on(storage.record_send_outcome(accepted(checkout, checkout, reference))).unwrap();
    }
    let known = begin(3, 3, Method::Qr).reference.with_transaction_id("tx-3");
    block_on(storage.record_send_outcome(accepted(3, 3, known))).unwrap();
    assert_eq!(stuck(), 1);
    let polls = block_on(storage.claim_polls(claim())).unwrap().questions;
    assert_eq!(polls.iter().map(|question| &question.payment).collect::<Vec<_>>(), [&payment_id(3)], "at once");
    let rejected = Some(PaymentStatus::Rejected);
    for status in [rejected, other(), other(), None] {
        assert_eq!(call_about_code(storage, 1, status), HintOutcome::Due(0));
    }
    // Two words, and no word, which says nothing new.
    assert_eq!((stuck(), state(storage, 1, 1)), (3, PaymentState::Awaiting));
    let history = block_on(storage.history(id(1))).unwrap().unwrap();
    let called = history.exchanges[0].iter().filter(|stored| stored.exchange.kind == ExchangeKind::Callback);
    let outcomes: Vec<_> = called.map(|stored| stored.exchange.outcome.as_str()).collect();
    assert_eq!((outcomes, history.listed.needs), (vec!["rejected", "\"DONE\"", "nothing"], vec![Need::Stuck]));
    // A word that is known is a charge all the same.
    call_about_code(storage, 1, Some(PaymentStatus::Charged));
    assert_eq!(state(storage, 1, 1), PaymentState::Unverifiable);
}

/// The word came while the code was being made, and nobody recorded a code. The payment ends, and the word is not forgotten with it.
fn unknown_status_of_failed_code_is_reported(storage: &dyn Storage, calendar: &Calendar) {
    for checkout in 1..=3 {
        block_on(storage.open_checkout(new(checkout))).unwrap();
        block_on(storage.begin_payment(begin(checkout, checkout, Method::Qr))).unwrap();
    }
    for checkout in [1, 2] {
        call_about_code(storage, checkout, Some(PaymentStatus::Other("DONE".into())));
    }
    let nothing = SendResult::NothingHappened { failure: Failure::of_kind("Refused"), retry_after: None };
    block_on(storage.record_send_outcome(sent(1, 1, nothing))).unwrap();
    calendar.pass(Duration::from_secs(3_600));
    block_on(storage.sweep(SWEEP)).unwrap();
    for checkout in 1..=3 {
        assert_eq!(state(storage, checkout, checkout), PaymentState::NotMade);
    }
    let events = events_after(storage, &Cursor::default(), 100);
    let stuck: Vec<_> = events.iter().filter(|event| event.kind == Some(EventKind::PaymentStuck)).collect();
    assert!(stuck.iter().all(|event| event.body.contains("was not made as far as this server knows")), "{stuck:?}");
    let checkouts: Vec<_> = stuck.iter().map(|event| &event.checkout).collect();
    assert_eq!(checkouts, [&id(1), &id(2)], "once each");
    for checkout in [1, 2] {
        let history = block_on(storage.history(id(checkout))).unwrap().unwrap();
        assert!(history.exchanges[0].iter().any(|stored| stored.exchange.outcome == "\"DONE\""), "{history:?}");
    }
}

fn claims_are_stored_with_their_reports(storage: &dyn Storage, calendar: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    let form = begin(1, 1, Method::PayForm);
    block_on(storage.begin_payment(form.clone())).unwrap();
    block_on(storage.record_send_outcome(accepted(1, 1, form.reference.clone()))).unwrap();
    let claimed = |number: u32| {
        let provider = (number == 2).then_some(Provider::MBank);
        let status = Some(PaymentStatus::Charged);
        let claim = Some(Claim { number: format!("GW-{number}"), provider });
        let (secret, exchange) =
            (format!("{:032x}", 1), Some(Box::new(Exchange::new(ExchangeKind::Callback, "incomplete"))));
        let payment = payment_id(1);
        let hint = Hint::Callback { secret, payment, claim, status, same: None, exchange, is_whole: false };
        assert_eq!(block_on(storage.record_hint(hint)).unwrap(), HintOutcome::Due(1));
        calendar.pass(Duration::from_secs(1));
    };
    (1..=3).for_each(claimed);
    let record = |report: &dyn Fn(&PaymentRef) -> Report| {
        let poll = block_on(storage.claim_polls(claim())).unwrap().questions.remove(0);
        let report =
            |ask: StatusQuery| StatusReport { report: report(&ask.reference), claim: ask.claim, exchange: said() };
        let reports = poll.queries.into_iter().map(report).collect();
        let answered = PollResult { reports, ..answer(1, 1, poll.leased_until, Report::Nothing) };
        block_on(storage.record_poll_results(vec![answered])).unwrap();
    };
    record(&|reference| match reference.order_number.as_deref() {
        Some("GW-1") => Report::Rejected,
        Some("GW-2") => Report::Unverifiable { why: "no amount".into() },
        _ => Report::Pending(Box::new(reference.clone())),
    });
    let listed = || block_on(storage.history(id(1))).unwrap().unwrap();
    let claims: Vec<_> = listed().claims.remove(0).into_iter().map(|claim| (claim.number, claim.state)).collect();
    let expected = [("GW-1", ClaimState::Rejected), ("GW-2", ClaimState::Unverifiable), ("GW-3", ClaimState::Pending)];
    assert_eq!(claims, expected.map(|(number, state)| (number.to_owned(), state)));
    let stored = listed().claims.remove(0).remove(1);
    assert_eq!((stored.provider.as_deref(), stored.reason.as_deref()), (Some("MBank"), Some("no amount")));
    assert_eq!((state(storage, 1, 1), listed().listed.needs), (PaymentState::Unverifiable, vec![Need::Unverifiable]));
    let needs = block_on(storage.count_needs()).unwrap();
    assert!(needs.contains(&(Need::Unverifiable, 1)) && needs.contains(&(Need::Mismatch, 0)), "{needs:?}");
    let need_person = CheckoutFilter { needs_person: true, ..CheckoutFilter::default() };
    assert_eq!(listed_ids(storage, &need_person, Start::Newest, 10), [id(1)]);
    for (number, expected) in [("GW-3", vec![id(1)]), ("GW-9", vec![])] {
        let which = CheckoutFilter { needs_person: true, ..whole(number) };
        assert_eq!(listed_ids(storage, &whole(number), Start::Newest, 10), expected);
        assert_eq!(listed_ids(storage, &which, Start::Newest, 10), expected);
        assert_eq!(block_on(storage.total_checkouts(which, 9)).unwrap().count, expected.len() as u64);
    }
    // Two charges of one form, in one answer.
    calendar.pass(Duration::from_secs(60));
    record(&|reference| Report::Charged(Box::new(reference.clone())));
    let view = block_on(storage.checkout(CheckoutLookup::Id(id(1)))).unwrap().unwrap();
    assert_eq!((view.checkout.state, view.checkout.refunds_due), (CheckoutState::Paid, 2));
    assert!(!view.payments[0].is_in_doubt && listed().listed.needs == [Need::Overpaid]);
    // Those that came to nothing give way.
    (4..=60).for_each(|number| {
        claimed(number);
        record(&|_| Report::Nothing);
    });
    let stored = listed().claims.remove(0);
    assert_eq!(stored.iter().filter(|claim| claim.state == ClaimState::Charged).count(), 3);
    assert_eq!(stored.len(), 32);
}

/// A gateway that repeats itself must not have one charge pay for two orders.
fn number_of_other_payment_is_not_adopted(storage: &dyn Storage, _: &Calendar) {
    let made = |number: u8, method, page_url: Option<&str>| {
        block_on(storage.open_checkout(new(number))).unwrap();
        let begin = begin(number, number, method);
        block_on(storage.begin_payment(begin.clone())).unwrap();
        let reference = match method {
            Method::Qr => begin.reference.with_transaction_id("tx-1"),
            Method::PayForm => begin.reference,
            _ => begin.reference.with_gateway_number("GW-1"),
        };
        let result = SendResult::Accepted {
            reference,
            page_url: page_url.map(str::to_owned),
            qr_text: None,
            terms: WalletTerms::default(),
        };
        block_on(storage.record_send_outcome(sent(number, number, result))).unwrap().payment
    };
    let (page, other_page) = ("https://gw.example.kg/3ds?token=1", "https://gw.example.kg/3ds?token=2");
    let first = made(1, Method::Card, Some(page));
    let known = (first.reference.gateway_number.as_deref(), first.page_url.as_deref());
    assert_eq!(known, (Some("GW-1"), Some(page)));
    let second = made(2, Method::Card, Some(other_page));
    let known = (second.reference.gateway_number.as_deref(), second.page_url.as_deref(), second.state);
    assert_eq!(known, (None, Some(other_page), PaymentState::Awaiting), "it is queried by its own number");
    let third = made(3, Method::Card, Some(page));
    assert_eq!((third.page_url, third.state), (None, PaymentState::Awaiting), "nobody is shown another's page");
    assert_eq!(made(4, Method::Mbank, None).reference.gateway_number, None);
    let form = "https://gw.example.kg/form/1";
    assert_eq!(made(5, Method::PayForm, Some(form)).page_url.as_deref(), Some(form));
    assert_eq!(made(6, Method::Qr, None).state, PaymentState::Awaiting);
    for (number, method, kind) in [(7, Method::PayForm, "PageTwice"), (8, Method::Qr, "TransactionTwice")] {
        let payment = made(number, method, Some(form).filter(|_| method == Method::PayForm));
        assert_eq!((payment.state, payment.page_url), (PaymentState::NotMade, None), "{method}");
        assert_eq!(payment.failure.unwrap().kind, kind);
    }
}

fn only_the_sender_records_the_outcome(storage: &dyn Storage, _: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    block_on(storage.begin_payment(begin(1, 1, Method::Mbank))).unwrap();
    let failure = Failure::of_kind("Refused");
    let result = SendResult::NothingHappened { failure, retry_after: None };
    let record = |sender: &str| {
        let sent = SendOutcome { sender: sender.into(), ..sent(1, 1, result.clone()) };
        block_on(storage.record_send_outcome(sent)).unwrap()
    };
    assert!(!record("another").is_changed);
    assert_eq!(state(storage, 1, 1), PaymentState::Sending);
    let recorded = record("sender-1");
    assert_eq!((recorded.is_changed, recorded.payment.state), (true, PaymentState::NotMade));
    assert_eq!(recorded.payment.failure.unwrap().kind, "Refused");
    assert!(!record("sender-1").is_changed);
    assert!(is_new(&block_on(storage.begin_payment(begin(1, 2, Method::Mbank)))));
}

fn person_resolves_unknown_payment(storage: &dyn Storage, calendar: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    block_on(storage.begin_payment(begin(1, 1, Method::Mbank))).unwrap();
    let resolve = |number, resolution| {
        let (reason, by) = ("the bank said so".into(), "Aizada".into());
        block_on(storage.resolve(Resolve { payment: payment_id(number), resolution, reason, by, seen: None }))
    };
    assert!(matches!(refusal(&resolve(9, Resolution::Charged)), ServerError::NotFound { what: "payment", .. }));
    assert!(matches!(
        refusal(&resolve(1, Resolution::Charged)),
        ServerError::NotInDoubt { state: PaymentState::Sending, .. }
    ));
    calendar.pass(Duration::from_secs(80));
    block_on(storage.sweep(SWEEP)).unwrap();
    assert!(
        matches!(resolve(1, Resolution::NotCharged), Ok(Decision::Recorded(one)) if one.state == PaymentState::Rejected)
    );
    assert!(matches!(resolve(1, Resolution::NotCharged), Ok(Decision::Unchanged(_))));
    assert!(matches!(
        refusal(&resolve(1, Resolution::Charged)),
        ServerError::NotInDoubt { state: PaymentState::Rejected, .. }
    ));
    let events = events_after(storage, &Cursor::default(), 100);
    let resolved: Vec<_> = events.iter().filter(|event| event.kind == Some(EventKind::PaymentResolved)).collect();
    assert_eq!((resolved.len(), resolved[0].number), (1, 3));
    assert!(is_new(&block_on(storage.begin_payment(begin(1, 2, Method::Qr)))), "it is free");
    // A person can be wrong.
    calendar.pass(Duration::from_secs(60));
    let polls = block_on(storage.claim_polls(claim())).unwrap().questions;
    assert_eq!(polls[0].payment, payment_id(1));
    let charged = Report::Charged(Box::new(PaymentRef::mbank(payment_id(1).bare(), 390)));
    block_on(storage.record_poll_results(vec![answer(1, 1, polls[0].leased_until, charged)])).unwrap();
    assert_eq!(state(storage, 1, 1), PaymentState::Charged);
}

fn waiting_checkout_delays_no_others(storage: &dyn Storage, calendar: &Calendar) {
    for number in 1..=3 {
        block_on(storage.open_checkout(new(number))).unwrap();
    }
    for number in 1..=2 {
        block_on(storage.begin_payment(begin(number, number, Method::Mbank))).unwrap();
    }
    calendar.pass(Duration::from_secs(3600));
    // What was sent becomes unknown, and keeps its checkout from expiring.
    let sweep = || block_on(storage.sweep(Sweep { most: 1, ..SWEEP })).unwrap();
    assert_eq!([sweep().changed, sweep().changed, sweep().changed], [vec![id(1)], vec![id(2)], vec![id(3)]]);
    assert!(!sweep().is_more);
    let expired = events_after(storage, &Cursor::default(), 100);
    let expired: Vec<_> = expired.iter().filter(|event| event.kind == Some(EventKind::CheckoutExpired)).collect();
    assert_eq!((expired.len(), &expired[0].checkout), (1, &id(3)));
}

fn following(storage: &dyn Storage, calendar: &Calendar, checkout: u8) {
    block_on(storage.open_checkout(new(checkout))).unwrap();
    let begin = begin(checkout, checkout, Method::Mbank);
    block_on(storage.begin_payment(begin.clone())).unwrap();
    block_on(storage.record_send_outcome(accepted(checkout, checkout, begin.reference))).unwrap();
    calendar.pass(Duration::from_secs(10));
}

fn stored_exchanges(storage: &dyn Storage) -> Vec<StoredExchange> {
    block_on(storage.history(id(1))).unwrap().unwrap().exchanges.remove(0)
}

fn equal_responses_are_counted_and_bounded(storage: &dyn Storage, calendar: &Calendar) {
    block_on(storage.open_checkout(new(1))).unwrap();
    block_on(storage.begin_payment(begin(1, 1, Method::Mbank))).unwrap();
    for _ in 0..2 {
        // A sender whose commit was not answered notes it again.
        let exchange = Some(Exchange::new(ExchangeKind::Create, "accepted"));
        let reference = begin(1, 1, Method::Mbank).reference;
        block_on(storage.record_send_outcome(SendOutcome { exchange, ..accepted(1, 1, reference) })).unwrap();
    }
    let ask = |exchange: &Exchange, claim: Option<&str>| {
        calendar.pass(Duration::from_secs(10));
        let claim = claim.map(str::to_owned);
        let mut exchange = exchange.clone();
        exchange.claim = claim.clone();
        let reports = vec![StatusReport { claim, report: Report::Nothing, exchange }];
        let answered = PollResult { reports, ..answer(1, 1, 0, Report::Nothing) };
        block_on(storage.record_poll_results(vec![answered])).unwrap();
    };
    // Two questions take turns, and each one's answers are counted.
    for _ in 0..3 {
        ask(&said(), None);
        ask(&said(), Some("claimed"));
    }
    let now = stored_exchanges(storage);
    assert_eq!(now.iter().map(|one| one.times).collect::<Vec<_>>(), [1, 3, 3]);
    assert_eq!(now[1].last_at - now[1].first_at, 40_000);
    assert_eq!((now[0].exchange.kind, now[2].exchange.claim.as_deref()), (ExchangeKind::Create, Some("claimed")));
    // Answers to all numbers of a payment come together.
    let together = [None, Some("claimed"), Some("other")].map(|claim| {
        let (claim, mut exchange) = (claim.map(str::to_owned), said());
        exchange.claim = claim.clone();
        StatusReport { claim, report: Report::Nothing, exchange }
    });
    let answered = PollResult { reports: together.into(), ..answer(1, 1, 0, Report::Nothing) };
    block_on(storage.record_poll_results(vec![answered])).unwrap();
    let now = stored_exchanges(storage);
    assert_eq!(now.iter().map(|one| one.times).collect::<Vec<_>>(), [1, 4, 4, 1]);
    assert_eq!(now[3].exchange.claim.as_deref(), Some("other"));
    let mut other = said();
    for number in 0..100 {
        other.code = Some(number.to_string());
        ask(&other, None);
    }
    let now = stored_exchanges(storage);
    assert_eq!((now.len(), now[0].exchange.kind), (50, ExchangeKind::Create), "the first ones are kept");
    assert_eq!(now.last().unwrap().exchange.code.as_deref(), Some("99"));
    ask(&said(), None);
    ask(&said(), None);
    assert_eq!(stored_exchanges(storage).last().map(|one| one.times), Some(2), "an older answer came again");
}

fn claimed_poll_is_leased(storage: &dyn Storage, calendar: &Calendar) {
    following(storage, calendar, 1);
    let first = block_on(storage.claim_polls(claim())).unwrap();
    assert_eq!(first.questions.len(), 1);
    assert!(block_on(storage.claim_polls(claim())).unwrap().questions.is_empty(), "somebody has it");
    calendar.pass(Duration::from_secs(60));
    let second = block_on(storage.claim_polls(claim())).unwrap();
    assert_eq!(second.questions.len(), 1, "who had it is dead");
    let (early, late) = (first.questions[0].leased_until, second.questions[0].leased_until);
    let charged = Report::Charged(Box::new(PaymentRef::mbank(payment_id(1).bare(), 390)));
    block_on(storage.record_poll_results(vec![answer(1, 1, early, charged.clone())])).unwrap();
    let again = block_on(storage.record_poll_results(vec![answer(1, 1, late, charged)])).unwrap();
    assert!(again.changed.is_empty(), "of two recorders one wins");
    assert_eq!(state(storage, 1, 1), PaymentState::Charged);
    let events = events_after(storage, &Cursor::default(), 100);
    let kinds: Vec<_> = events.iter().map(|event| (event.number, event.kind.unwrap())).collect();
    let accepted = (2, EventKind::PaymentAccepted);
    let expected =
        [(1, EventKind::PaymentCreated), accepted, (3, EventKind::PaymentCharged), (1, EventKind::CheckoutPaid)];
    assert_eq!(kinds, expected);
    let rest = events_after(storage, &events[1].cursor(), 1);
    assert_eq!(rest, events[2..3]);
}

fn hint_during_lease_is_not_lost(storage: &dyn Storage, calendar: &Calendar) {
    following(storage, calendar, 1);
    let leased = block_on(storage.claim_polls(claim())).unwrap().questions[0].leased_until;
    calendar.pass(Duration::from_secs(1));
    let hint = || Hint::Callback {
        secret: format!("{:032x}", 1),
        payment: payment_id(1),
        claim: None,
        status: None,
        same: Some([1; 32]),
        exchange: None,
        is_whole: true,
    };
    assert_eq!(block_on(storage.record_hint(hint())).unwrap(), HintOutcome::Due(1));
    assert_eq!(block_on(storage.record_hint(hint())).unwrap(), HintOutcome::SeenBefore);
    // The answer may be from before what the hint tells of.
    let open = Report::Pending(Box::new(PaymentRef::mbank(payment_id(1).bare(), 390)));
    block_on(storage.record_poll_results(vec![answer(1, 1, leased, open)])).unwrap();
    assert_eq!(block_on(storage.claim_polls(claim())).unwrap().questions.len(), 1);
    let (secret, payment) = ("x".into(), payment_id(1));
    let nobody =
        Hint::Callback { secret, payment, claim: None, status: None, same: None, exchange: None, is_whole: true };
    assert!(matches!(refusal(&block_on(storage.record_hint(nobody))), ServerError::NotFound { .. }));
}

/// Else a payer who presses a button all the time is not asked about while others wait.
fn hint_keeps_place_of_overdue_poll(storage: &dyn Storage, calendar: &Calendar) {
    (1..=2).for_each(|number| following(storage, calendar, number));
    for number in [1, 2, 1, 1] {
        calendar.pass(Duration::from_secs(1));
        block_on(storage.record_hint(Hint::Checkout { id: id(number), claimed: None })).unwrap();
    }
    let one = ClaimPolls { places: Slots::new(1), ..claim() };
    assert_eq!(block_on(storage.claim_polls(one)).unwrap().questions[0].payment, payment_id(1));
}

/// However often its payer presses a button.
fn payment_is_polled_at_most_once_a_second(storage: &dyn Storage, calendar: &Calendar) {
    following(storage, calendar, 1);
    let claimed = || block_on(storage.claim_polls(claim())).unwrap();
    assert_eq!(claimed().questions.len(), 1);
    for _ in 0..10 {
        block_on(storage.record_hint(Hint::Checkout { id: id(1), claimed: None })).unwrap();
    }
    let early = claimed();
    assert_eq!((early.questions.len(), early.next_in_ms), (0, Some(1_000)));
    calendar.pass(Duration::from_secs(1));
    assert_eq!(claimed().questions.len(), 1);
}

fn most_urgent_poll_is_claimed_first(storage: &dyn Storage, calendar: &Calendar) {
    (1..=3).for_each(|number| following(storage, calendar, number));
    let one = ClaimPolls { places: Slots::new(1), ..claim() };
    block_on(storage.record_hint(Hint::Checkout { id: id(3), claimed: None })).unwrap();
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(block_on(storage.claim_polls(one)).unwrap().questions[0].payment.clone());
    }
    assert_eq!(order, [payment_id(3), payment_id(1), payment_id(2)]);
    // The rate is for all who ask.
    calendar.pass(Duration::from_secs(60));
    let slow = ClaimPolls { per_second: 1, ..claim() };
    assert_eq!(block_on(storage.claim_polls(slow)).unwrap().questions.len(), 1);
    let next = block_on(storage.claim_polls(slow)).unwrap();
    assert_eq!((next.questions.len(), next.next_in_ms), (0, Some(1000)));
}

fn otp_attempts_are_bounded(storage: &dyn Storage, calendar: &Calendar) {
    following(storage, calendar, 1);
    let begin = |sender: &str| {
        let begin = BeginConfirmation { checkout: id(1), payment: payment_id(1), key: None, sender: sender.into() };
        block_on(storage.begin_confirmation(begin))
    };
    let refuse = |sender: &str| {
        let result = ConfirmResult::Refused { failure: Failure::of_kind("Refused") };
        let (checkout, payment, sender) = (id(1), payment_id(1), sender.into());
        let confirmed = ConfirmationOutcome { checkout, payment, sender, result, exchange: None };
        block_on(storage.record_confirmation(confirmed)).unwrap()
    };
    assert!(is_new(&begin("a")));
    assert!(
        matches!(refusal(&begin("b")), ServerError::NotAwaited { state: PaymentState::Confirming, .. }),
        "one at a time"
    );
    assert!(!refuse("b").is_changed);
    assert_eq!(refuse("a").payment.attempts_left, 1);
    assert!(is_new(&begin("c")));
    assert_eq!(refuse("c").payment.attempts_left, 0);
    assert!(matches!(refusal(&begin("d")), ServerError::NoAttemptsLeft));
}

fn streams_are_delivered_in_order(storage: &dyn Storage, calendar: &Calendar) {
    following(storage, calendar, 1);
    following(storage, calendar, 2);
    let next = || deliveries(storage);
    let record = |delivery: &Delivery, is_taken: bool| {
        let result = if is_taken { DeliveryResult::Taken } else { DeliveryResult::Failed };
        assert!(came_to(storage, delivery, result).is_empty());
    };
    let first = next();
    assert_eq!(first.len(), 2, "one a stream");
    assert!(next().is_empty(), "somebody has them");
    record(&first[0], true);
    record(&first[1], false);
    let second = next();
    assert_eq!(second.len(), 1, "one that fails holds up nobody else's");
    assert!(second[0].checkout == first[0].checkout && second[0].seq > first[0].seq);
    record(&second[0], true);
    calendar.pass(Duration::from_secs(5));
    let again = next();
    assert_eq!((again.len(), &again[0].id), (1, &first[1].id), "the same, before what comes after it");
    // Three days of failures, and it is given up until somebody or something starts it again.
    let mut delivery = again[0].clone();
    for _ in 0..20 {
        record(&delivery, false);
        calendar.pass(Duration::from_secs(12 * 3600));
        match next().pop() {
            Some(again) => delivery = again,
            None => break,
        }
    }
    assert!(next().is_empty());
    assert_eq!(block_on(storage.replay(None)).unwrap(), 1);
    assert_eq!(next()[0].id, first[1].id);
}

/// Charges the payment that [`following`] has begun. Its checkout's events are `payment.created`, `payment.accepted`,
/// `payment.charged` and `checkout.paid`.
fn charged(storage: &dyn Storage, number: u8) {
    let polls = block_on(storage.claim_polls(claim())).unwrap().questions;
    let leased = polls.into_iter().find(|question| question.payment == payment_id(number)).unwrap().leased_until;
    let charged = Report::Charged(Box::new(PaymentRef::mbank(payment_id(number).bare(), 390)));
    block_on(storage.record_poll_results(vec![answer(number, number, leased, charged)])).unwrap();
}

/// The kinds of events that the shop gets, which refuses one of them; the event that was stepped over, where one was.
fn play_shop(
    storage: &dyn Storage,
    calendar: &Calendar,
    refuses: Option<EventKind>,
    turns: usize,
) -> (Vec<EventKind>, Vec<SkippedEvent>) {
    let (mut got, mut skipped) = (Vec::new(), Vec::new());
    for _ in 0..turns {
        let Some(delivery) = deliveries(storage).pop() else {
            calendar.pass(Duration::from_secs(12 * 3600));
            continue;
        };
        got.push(delivery.kind.expect("a known kind"));
        let result = if refuses == delivery.kind { refused() } else { DeliveryResult::Taken };
        skipped.extend(came_to(storage, &delivery, result));
    }
    (got, skipped)
}

fn event_without_action_is_skipped(storage: &dyn Storage, calendar: &Calendar) {
    use EventKind::{CheckoutPaid, PaymentAccepted, PaymentCharged, PaymentCreated};
    let history = || block_on(storage.history(id(1))).unwrap().unwrap();
    let count = || block_on(storage.statistics()).unwrap();
    following(storage, calendar, 1);
    charged(storage, 1);
    // A failure says nothing of the event.
    let first = deliveries(storage).remove(0);
    came_to(storage, &first, DeliveryResult::Failed);
    let (got, skipped) = play_shop(storage, calendar, Some(PaymentCreated), 10);
    assert_eq!(got, [PaymentCreated; 5], "a pause between two");
    assert_eq!(skipped.len(), 1);
    let (seq, kind, why) = (skipped[0].seq, skipped[0].kind, skipped[0].why.as_str());
    assert_eq!((seq, kind, why), (first.seq, PaymentCreated, "it answered 400"));
    assert_eq!((&skipped[0].event, &skipped[0].checkout), (&first.id, &id(1)));
    let stored = history();
    assert_eq!((stored.delivered, stored.failures, stored.refused.len()), (first.seq, 0, 1));
    assert_eq!((stored.refused[0].seq, stored.refused[0].reason.as_str()), (first.seq, "it answered 400"));
    assert_eq!(stored.listed.needs, [Need::Refused]);
    assert!(block_on(storage.count_needs()).unwrap().contains(&(Need::Refused, 1)));
    assert_eq!((count().refused_events, count().streams_given_up), (1, 0));
    // What is behind it comes at once; and what asks for something is never stepped over.
    let (got, skipped) = play_shop(storage, calendar, Some(CheckoutPaid), 40);
    assert_eq!(got[..3], [PaymentAccepted, PaymentCharged, CheckoutPaid]);
    assert!(got.len() > 8 && got[2..].iter().all(|kind| *kind == CheckoutPaid) && skipped.is_empty(), "{got:?}");
    assert_eq!((count().refused_events, count().streams_given_up), (1, 1), "given up after three days, as any");
}

fn refused_event_is_redelivered_in_order(storage: &dyn Storage, calendar: &Calendar) {
    use EventKind::{CheckoutPaid, PaymentAccepted, PaymentCharged, PaymentCreated};
    following(storage, calendar, 1);
    charged(storage, 1);
    let (got, skipped) = play_shop(storage, calendar, Some(PaymentAccepted), 14);
    let accepted = [PaymentAccepted; 5];
    assert_eq!(got, [&[PaymentCreated][..], &accepted, &[PaymentCharged, CheckoutPaid]].concat());
    assert_eq!(skipped.len(), 1);
    assert!(deliveries(storage).is_empty());
    assert_eq!(block_on(storage.replay(Some(id(2)))).unwrap(), 0);
    assert_eq!(block_on(storage.replay(Some(id(1)))).unwrap(), 1);
    assert_eq!(block_on(storage.replay(None)).unwrap(), 0, "the refusals are forgotten");
    let stored = block_on(storage.history(id(1))).unwrap().unwrap();
    assert!(stored.refused.is_empty() && stored.listed.needs.is_empty());
    assert_eq!(block_on(storage.statistics()).unwrap().refused_events, 0);
    // It takes five refusals again.
    let (got, skipped) = play_shop(storage, calendar, Some(PaymentAccepted), 7);
    assert_eq!((got.len(), got[0], skipped.len()), (4, PaymentAccepted, 0));
    let (_, skipped) = play_shop(storage, calendar, Some(PaymentAccepted), 2);
    assert_eq!(skipped.len(), 1);
    // One that is under way while the stream is put back does not take it past what comes again.
    let late = deliveries(storage).remove(0);
    assert_eq!(late.kind, Some(PaymentCharged));
    assert_eq!(block_on(storage.replay(None)).unwrap(), 1);
    came_to(storage, &late, DeliveryResult::Taken);
    let (got, _) = play_shop(storage, calendar, None, 5);
    assert_eq!(got, [PaymentAccepted, PaymentCharged, CheckoutPaid]);
}

fn unselected_event_kinds_are_not_delivered(storage: &dyn Storage, calendar: &Calendar) {
    let next =
        |kinds: &[EventKind]| block_on(storage.claim_deliveries(deliver(10, Some(kinds.to_vec())))).unwrap().deliveries;
    let undelivered = || block_on(storage.statistics()).unwrap().oldest_undelivered_ms;
    following(storage, calendar, 1);
    assert_eq!(undelivered(), 10_000);
    assert!(next(&[EventKind::CheckoutPaid]).is_empty());
    calendar.pass(Duration::from_secs(60));
    assert_eq!(undelivered(), 0, "the shop does not miss them");
    charged(storage, 1);
    let paid = next(&[EventKind::CheckoutPaid]);
    assert_eq!((paid.len(), paid[0].kind), (1, Some(EventKind::CheckoutPaid)));
    assert_eq!(events_after(storage, &Cursor::default(), 10).len(), 4, "the feed has all");
    came_to(storage, &paid[0], DeliveryResult::Failed);
    calendar.pass(Duration::from_secs(5));
    let again = next(&[EventKind::CheckoutPaid]);
    assert_eq!((again.len(), &again[0].id), (1, &paid[0].id));
    came_to(storage, &again[0], DeliveryResult::Taken);
    calendar.pass(Duration::from_secs(60));
    assert!(deliveries(storage).is_empty(), "nothing is delivered later, where the setting changes");
    assert_eq!(undelivered(), 0);
    // One that failed, and that nobody chooses any more, is not missed.
    following(storage, calendar, 2);
    let first = deliveries(storage).remove(0);
    came_to(storage, &first, DeliveryResult::Failed);
    calendar.pass(Duration::from_secs(5));
    assert!(next(&[EventKind::CheckoutPaid]).is_empty() && undelivered() == 0);
}

fn statistics_count_current_state(storage: &dyn Storage, calendar: &Calendar) {
    let count = || block_on(storage.statistics()).unwrap();
    let open = |state| count().open_payments.into_iter().find(|(of, _)| *of == state).map(|(_, number)| number);
    let empty = count();
    assert!(empty.open_payments.iter().all(|(_, number)| *number == 0) && empty.database_bytes > 0);
    assert_eq!((empty.due_payments, empty.oldest_due_ms, empty.oldest_undelivered_ms), (0, 0, 0));
    following(storage, calendar, 1);
    following(storage, calendar, 2);
    block_on(storage.open_checkout(new(3))).unwrap();
    block_on(storage.begin_payment(begin(3, 3, Method::Qr))).unwrap();
    assert_eq!((open(PaymentState::Awaiting), open(PaymentState::Sending)), (Some(2), Some(1)));
    assert_eq!((open(PaymentState::Unknown), open(PaymentState::Charged)), (Some(0), None));
    assert_eq!((count().due_payments, count().oldest_due_ms), (2, 10_000));
    assert_eq!(count().oldest_undelivered_ms, 20_000, "nobody has delivered anything");
    // The first is charged: nobody asks about it any more.
    let leased = block_on(storage.claim_polls(claim())).unwrap().questions[0].leased_until;
    assert_eq!((count().due_payments, count().oldest_due_ms), (0, 0), "somebody asks");
    let charged = Report::Charged(Box::new(PaymentRef::mbank(payment_id(1).bare(), 390)));
    block_on(storage.record_poll_results(vec![answer(1, 1, leased, charged)])).unwrap();
    assert_eq!((open(PaymentState::Awaiting), open(PaymentState::Sending)), (Some(1), Some(1)));
    // The other one is open for days, and the shop takes nothing.
    let mut most = 0;
    for _ in 0..20 {
        calendar.pass(Duration::from_secs(12 * 3600));
        let deliveries = deliveries(storage);
        let failed = deliveries.iter().map(|delivery| DeliveryOutcome::of(delivery, DeliveryResult::Failed));
        block_on(storage.record_deliveries(failed.collect())).unwrap();
        most = most.max(count().oldest_undelivered_ms);
    }
    assert!(most >= 2 * 24 * 3_600_000, "{most}");
    assert_eq!((count().streams_given_up, count().oldest_undelivered_ms), (3, 0));
    let leased = block_on(storage.claim_polls(claim())).unwrap().questions[0].leased_until;
    let still_open = Report::Pending(Box::new(PaymentRef::mbank(payment_id(2).bare(), 390)));
    block_on(storage.record_poll_results(vec![answer(2, 2, leased, still_open)])).unwrap();
    assert_eq!(count().stuck_payments, 1);
    assert_eq!((count().streams_given_up, count().oldest_undelivered_ms), (2, 0), "it is told that one is stuck");
    block_on(storage.replay(None)).unwrap();
    assert_eq!(count().streams_given_up, 0);
    assert_eq!((count().oldest_unknown_ms, count().gateway_wait_ms), (0, 0));
    block_on(storage.open_checkout(new(4))).unwrap();
    let begin_unknown = begin(4, 5, Method::Mbank);
    let unknown = SendResult::Unknown { reference: begin_unknown.reference.clone() };
    block_on(storage.begin_payment(begin_unknown)).unwrap();
    block_on(storage.record_send_outcome(sent(4, 5, unknown))).unwrap();
    calendar.pass(Duration::from_secs(5));
    block_on(storage.open_checkout(new(5))).unwrap();
    block_on(storage.begin_payment(begin(5, 6, Method::Mbank))).unwrap();
    let retry_after = Some(Duration::from_secs(30));
    let busy = SendResult::NothingHappened { failure: Failure::of_kind("Unavailable"), retry_after };
    block_on(storage.record_send_outcome(sent(5, 6, busy))).unwrap();
    assert_eq!((count().oldest_unknown_ms, count().gateway_wait_ms), (5_000, 30_000));
}

fn write_check_succeeds(storage: &dyn Storage, calendar: &Calendar) {
    assert_eq!(block_on(storage.check_writable()), Ok(()), "of an empty database");
    following(storage, calendar, 1);
    let before = block_on(storage.checkout(CheckoutLookup::Id(id(1)))).unwrap();
    assert_eq!(block_on(storage.check_writable()), Ok(()));
    assert_eq!(block_on(storage.checkout(CheckoutLookup::Id(id(1)))).unwrap(), before, "and nothing is changed");
}

fn retention_deletes_expired_data(storage: &dyn Storage, calendar: &Calendar) {
    let key = || Some(Key { text: "key".into(), fingerprint: vec![1] });
    let begin = |number| BeginPayment { key: key(), ..begin(number, number, Method::PayForm) };
    for number in 1..=2 {
        block_on(storage.open_checkout(new(number))).unwrap();
        block_on(storage.begin_payment(begin(number))).unwrap();
        calendar.pass(Duration::from_secs(3600 + 80));
    }
    let hint = || Hint::Callback {
        secret: format!("{:032x}", 1),
        payment: payment_id(1),
        claim: Some(Claim { number: "form-1".into(), provider: None }),
        status: Some(PaymentStatus::Charged),
        same: Some([1; 32]),
        exchange: None,
        is_whole: true,
    };
    block_on(storage.record_hint(hint())).unwrap();
    block_on(storage.record_poll_results(vec![answer(1, 1, 0, Report::Nothing)])).unwrap();
    while block_on(storage.sweep(Sweep { most: 1, ..SWEEP })).unwrap().is_more {}
    let begun = |number| block_on(storage.begin_payment(begin(number)));
    calendar.pass(Duration::from_secs(89 * 24 * 3600));
    block_on(storage.sweep(SWEEP)).unwrap();
    assert!(is_known(&begun(1)) && is_known(&begun(2)));
    assert_eq!(
        (block_on(storage.record_hint(hint())).unwrap(), stored_exchanges(storage).len()),
        (HintOutcome::SeenBefore, 1)
    );
    calendar.pass(Duration::from_secs(24 * 3600));
    while block_on(storage.sweep(Sweep { most: 1, ..SWEEP })).unwrap().is_more {}
    assert!(
        matches!(refusal(&begun(1)), ServerError::NotOpen { .. })
            && matches!(refusal(&begun(2)), ServerError::NotOpen { .. })
    );
    assert!(matches!(block_on(storage.record_hint(hint())).unwrap(), HintOutcome::Due(1)));
    assert_eq!((state(storage, 1, 1), stored_exchanges(storage).len()), (PaymentState::NotMade, 0));
    assert_eq!(events_after(storage, &Cursor::default(), 100).len(), 6, "what happened is never forgotten");
}

/// Its file is copied while it is open, as a power cut leaves it: what was answered is there, and goes on.
#[test]
fn acknowledged_write_survives_power_cut() {
    let (folder, calendar) = (tempfile::tempdir().unwrap(), Calendar::new());
    let path = folder.path().join("kassa.db");
    let storage = SqliteStorage::open_with_clock(&path, &calendar.clock()).unwrap();
    block_on(storage.open_checkout(new(1))).unwrap();
    block_on(storage.begin_payment(begin(1, 1, Method::Mbank))).unwrap();
    let copy = folder.path().join("copy.db");
    for end in ["", "-wal"] {
        std::fs::copy(with_end(&path, end), with_end(&copy, end)).unwrap();
    }
    let later = SqliteStorage::open_with_clock(&copy, &calendar.clock()).unwrap();
    assert_eq!(state(&later, 1, 1), PaymentState::Sending);
    calendar.pass(Duration::from_secs(80));
    block_on(later.sweep(SWEEP)).unwrap();
    assert_eq!((state(&later, 1, 1), state(&storage, 1, 1)), (PaymentState::Unknown, PaymentState::Sending));
}

fn with_end(path: &Path, end: &str) -> std::path::PathBuf {
    format!("{}{end}", path.display()).into()
}

#[test]
fn newer_sqlite_file_is_rejected_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kassa.db");
    drop(SqliteStorage::open(&path).unwrap());
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", VERSION + 1).unwrap();
    drop(db);
    let before = std::fs::read(&path).unwrap();
    let refused = SqliteStorage::open(&path).map(|_| ()).unwrap_err();
    assert!(matches!(refused, StorageError::Newer { found, .. } if found == VERSION + 1), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// Many callers at once share commits; one that fails takes nothing from the others.
#[test]
fn failed_transaction_rolls_back_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kassa.db");
    let storage = SqliteStorage::open(&path).unwrap();
    let callers: Vec<_> = (0..60)
        .map(|number: u8| {
            let storage = storage.clone();
            std::thread::spawn(move || {
                let mut new = new(number);
                if number.is_multiple_of(3) {
                    // The secret of another one: the insert breaks its unique index.
                    new.callback_secret = Hidden::new("same");
                }
                block_on(storage.open_checkout(new)).is_ok()
            })
        })
        .collect();
    let written: Vec<bool> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
    for (number, was_written) in written.iter().enumerate() {
        let found = block_on(storage.checkout(CheckoutLookup::Id(id(number as u8)))).unwrap();
        assert_eq!(found.is_some(), *was_written, "{number}");
    }
    let same = written.iter().step_by(3).filter(|was_written| **was_written).count();
    assert_eq!((same, written.iter().filter(|was_written| **was_written).count()), (1, 41));
}

/// Who is refused is told so at once, while the others wait; nothing of it was written, and it can be asked for again.
#[test]
fn overloaded_storage_rejects_callers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kassa.db");
    let storage = SqliteStorage::open(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    // Somebody else writes, and the writer waits for them.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let order = |number: u32| {
        let wanted = NewCheckout::new(format!("order-{number}"), 390.into(), "Tea", "https://shop.example.kg/paid");
        let id = CheckoutId::from_random(u128::from(number).to_be_bytes());
        let secret = || Hidden::new(format!("{number:032x}"));
        let methods = vec![Method::PayForm];
        OpenCheckout { id, wanted, methods, callback_secret: secret(), page_secret: secret() }
    };
    let mut waiting: Vec<_> = (0..2500).map(|number| storage.open_checkout(order(number))).collect();
    let last = waiting.pop().unwrap();
    assert!(matches!(block_on(last), Err(StorageError::Busy)));
    other.execute_batch("COMMIT").unwrap();
    let written = waiting.into_iter().map(block_on).filter(Result::is_ok).count();
    let stored: u32 = other.query_row("SELECT COUNT(*) FROM checkouts", [], |row| row.get(0)).unwrap();
    assert!(written >= 2048 && written == stored as usize, "{written} were confirmed, {stored} are there");
    assert_eq!(block_on(storage.open_checkout(order(2499))).unwrap().checkout.reference, order(2499).wanted.reference);
}

/// The index, and not the code, keeps a second payment out.
#[test]
fn database_index_rejects_second_active_payment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kassa.db");
    let storage = SqliteStorage::open(&path).unwrap();
    block_on(storage.open_checkout(new(1))).unwrap();
    block_on(storage.begin_payment(begin(1, 1, Method::Mbank))).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    for state in PaymentState::MAY_TAKE_MONEY.into_iter().filter(|state| !state.is_in_doubt()) {
        let added = db.execute(
            "INSERT INTO payments (id, checkout_id, number, method, state, reference, begun_at, until, sender,
                attempts_left) SELECT 'x', checkout_id, 2, 'qr', ?1, reference, 0, 0, '', 0 FROM payments",
            [state.to_string()],
        );
        assert!(added.is_err_and(|problem| problem.to_string().contains("UNIQUE")), "{state}");
    }
}

/// A person has to look at it; the others are followed all the same.
#[test]
fn damaged_payment_row_blocks_no_other_polling() {
    let (folder, calendar) = (tempfile::tempdir().unwrap(), Calendar::new());
    let path = folder.path().join("kassa.db");
    let storage = SqliteStorage::open_with_clock(&path, &calendar.clock()).unwrap();
    (1..=3).for_each(|number| following(&storage, &calendar, number));
    let leased = block_on(storage.claim_polls(claim())).unwrap().questions[0].leased_until;
    let db = rusqlite::Connection::open(&path).unwrap();
    let damage = "UPDATE payments SET reference = 'torn' WHERE id = ?1";
    assert_eq!(db.execute(damage, [payment_id(2).as_str()]).unwrap(), 1);
    let all = (1..=3).map(|number| answer(number, number, leased, Report::Rejected)).collect();
    assert_eq!(block_on(storage.record_poll_results(all)).unwrap().changed, [id(1), id(3)]);
    calendar.pass(Duration::from_secs(60));
    following(&storage, &calendar, 4);
    let polls = block_on(storage.claim_polls(claim())).unwrap().questions;
    let others = [payment_id(1), payment_id(3), payment_id(4)];
    assert_eq!(polls.into_iter().map(|question| question.payment).collect::<Vec<_>>(), others);
}
