//! Load test with fault injection: two thousand payments at once, while one exchange in twenty goes wrong, and no leak
//! of memory or sockets.

use std::{alloc::System, collections::HashMap, time::Duration};

use cap::Cap;
use futures_util::future::join_all;
use kassa::{Card, Credentials, Gateway, GatewayConfig, PaymentError, PaymentRef, PollPolicy, Verdict};
use kassa_sandbox::{DecisionError, Fault, PaymentStatus, ReusedOrderNumber, Sandbox, SandboxOptions};
use kassa_test_patience::{patience, patient};

use crate::{
    alone,
    support::{self, changed},
};

/// Counts the bytes that are in use. Only the crowd looks at it.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

const PAYMENTS: usize = 2_000;
/// Each of five faults strikes so often: one exchange in twenty meets one.
const ONE_IN_A_HUNDRED: f64 = 0.01;
/// Leak limit: how many more bytes may be in use after a third crowd than after the first. It is less than what would
/// be left if one payment in ten leaked.
const IN_USE: usize = 128 * 1024;
/// How much more the process may hold (resident memory): the allocator seldom returns what was freed, and keeps it for
/// each thread.
const HELD: u64 = 128 * 1024 * 1024;

/// Whether the gateway may have no payment: only if no result said that it exists.
#[derive(Clone, Copy, PartialEq)]
enum MayBeMissing {
    No,
    Yes,
}

/// What the SDK said in the end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Charged,
    Rejected,
    NeverMade,
}

/// What it measures (memory, sockets) belongs to a whole process, so the test runs in one of its own.
#[test]
fn two_thousand_concurrent_payments_match_ledger() {
    alone::run("crowd::alone_in_its_process", &[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by two_thousand_concurrent_payments_match_ledger"]
async fn alone_in_its_process() {
    // Each payment has a connection of its own, and both of its ends are in this process.
    let allowed = rlimit::increase_nofile_limit(3 * PAYMENTS as u64).unwrap();
    assert!(
        allowed > 2 * PAYMENTS as u64 + 200,
        "this machine lets a process open {allowed} files only: see ulimit -n"
    );
    let sandbox = Sandbox::start(SandboxOptions {
        reused_order_number: ReusedOrderNumber::ChargeTwice,
        callback_pauses: Vec::new(),
        ..SandboxOptions::default()
    })
    .unwrap();

    let (mut in_use, mut held, mut files) = (Vec::new(), Vec::new(), Vec::new());
    for crowd in 0..3 {
        serve_a_crowd(&sandbox, crowd).await;
        sandbox.reset();
        files.push(recovered_files(files.first().copied()).await);
        in_use.push(MEMORY.allocated());
        held.push(resident_bytes());
    }
    assert!(in_use[2] <= in_use[0] + IN_USE, "bytes in use after each crowd: {in_use:?}");
    assert!(held[2] <= held[0] + HELD, "memory held after each crowd: {held:?}");
    assert!(files[2] <= files[0], "open sockets and files after each crowd: {files:?}");
}

async fn serve_a_crowd(sandbox: &Sandbox, seed: u64) {
    for (index, fault) in [
        Fault::request_lost(),
        Fault::response_lost(),
        Fault::reset_before_response(),
        Fault::html_502(),
        Fault::unavailable(),
    ]
    .into_iter()
    .enumerate()
    {
        sandbox.faults().add(fault.probability(ONE_IN_A_HUNDRED).seed(seed * 100 + index as u64)).unwrap();
    }
    let credentials = Credentials::basic(sandbox.login(), sandbox.password());
    let deadline = patient(Duration::from_secs(120));
    let config =
        GatewayConfig::new(sandbox.url(), credentials).with_payment_deadline(deadline).with_query_deadline(deadline);
    let gateway = Gateway::new(config).unwrap();
    let ends = join_all((0..PAYMENTS).map(|number| pay(sandbox, &gateway, number))).await;
    gateway.close().await;

    let ledger = sandbox.payments();
    let mut books: HashMap<&str, _> = HashMap::new();
    for payment in &ledger {
        assert!(books.insert(payment.order_number.as_str(), payment).is_none(), "{} twice", payment.order_number);
        assert!(payment.times_charged <= 1, "{payment:?}");
    }
    for (number, said) in ends.into_iter().enumerate() {
        let order = order(number);
        let due = match books.remove(order.as_str()).map(|payment| payment.status) {
            None => End::NeverMade,
            Some(PaymentStatus::Charged) => End::Charged,
            Some(PaymentStatus::Rejected) => End::Rejected,
            Some(open) => panic!("{order} is still {open}"),
        };
        assert_eq!(said, due, "{order}");
    }
    assert!(books.is_empty(), "payments of nobody: {books:?}");
    let struck: u64 = sandbox.faults().list().iter().map(|fault| fault.struck).sum();
    assert!(struck > PAYMENTS as u64 / 20, "only {struck} exchanges went wrong");
}

fn order(number: usize) -> String {
    format!("order-{number}")
}

/// One payment to its end: by card or by phone, charged or declined.
async fn pay(sandbox: &Sandbox, gateway: &Gateway, number: usize) -> End {
    let charged = !number.is_multiple_of(3);
    let (reference, sent) = if number.is_multiple_of(2) {
        let pan = if charged { "4000000000002016" } else { "4000000000002024" };
        by_card(gateway, order(number), pan).await
    } else {
        let (phone, otp) = if charged { ("996555000101", "101101") } else { ("996555000102", "102102") };
        by_phone(gateway, order(number), phone, otp).await
    };
    match sent {
        Sent::NotCreated => {
            assert!(sandbox.payment(&order(number)).is_none(), "{} was said not to exist", order(number));
            End::NeverMade
        }
        Sent::Accepted => follow(sandbox, gateway, reference, number, MayBeMissing::No).await,
        Sent::Unknown => follow(sandbox, gateway, reference, number, MayBeMissing::Yes).await,
    }
}

/// The results of creating and confirming a payment.
enum Sent {
    /// Its creation came to nothing.
    NotCreated,
    /// It exists, confirmed or not.
    Accepted,
    /// It may exist.
    Unknown,
}

impl Sent {
    fn by_creating<T>(created: &Result<T, PaymentError>) -> Self {
        match created {
            Ok(_) => Self::Accepted,
            Err(error) if error.payment_may_exist() => Self::Unknown,
            Err(_) => Self::NotCreated,
        }
    }
}

async fn by_card(gateway: &Gateway, order_number: String, pan: &str) -> (PaymentRef, Sent) {
    let payment =
        changed(support::card_payment().with_card(Card::new(pan, "12", 2099, support::CVC, "Aibek Usenov")), |it| {
            it.order_number = order_number;
            it.callback_url = "http://127.0.0.1:1/callback".into();
        });
    let reference = payment.payment_ref();
    (reference, Sent::by_creating(&gateway.create_card_payment(payment).await))
}

/// A payer who got a password types it in, even where the merchant's create call got no answer.
async fn by_phone(gateway: &Gateway, order_number: String, phone: &str, otp: &str) -> (PaymentRef, Sent) {
    let payment = changed(support::mbank_payment(), |it| {
        it.order_number = order_number;
        it.phone = phone.into();
    });
    let reference = payment.payment_ref();
    let sent = Sent::by_creating(&gateway.create_mbank_payment(payment).await);
    if matches!(sent, Sent::NotCreated) {
        return (reference, sent);
    }
    match gateway.confirm_mbank_payment(&reference, otp).await {
        Ok(_) => (reference, Sent::Accepted),
        // Whether the payment exists is no more certain than before; where it does, it stays open: its payer went away.
        Err(_) => (reference, sent),
    }
}

/// Polls until it is final. A payment that the gateway never got has no end, and must not be reported as having one.
async fn follow(
    sandbox: &Sandbox,
    gateway: &Gateway,
    reference: PaymentRef,
    number: usize,
    missing: MayBeMissing,
) -> End {
    loop {
        // Nobody confirms it any more; it may also have ended by now.
        let exists = !matches!(sandbox.decline(&order(number)), Err(DecisionError::NotFound));
        // Long enough for a payment that is final by now. One that was never made takes the whole deadline; one that was made meanwhile is
        // watched again, so a slow machine may take longer, and does not fail.
        let deadline = if exists { patience() } else { Duration::from_secs(2) };
        let policy = PollPolicy::default().with_interval(Duration::from_millis(200)).with_deadline(deadline);
        match gateway.watch(reference.clone(), policy).unwrap().outcome().await {
            Ok(Some(Verdict::Charged { .. })) => return End::Charged,
            Ok(Some(Verdict::Rejected { .. })) => return End::Rejected,
            Err(PaymentError::DeadlineExpired { .. }) => match sandbox.payment(&order(number)) {
                None if missing == MayBeMissing::Yes => return End::NeverMade,
                None => panic!("{} was said to exist", order(number)),
                // It was made only after it was looked for.
                Some(_) => {}
            },
            other => panic!("{other:?}"),
        }
    }
}

/// The open sockets and other files, once there are no more than before; or as many as stay. Nothing tells when the last socket of the
/// first crowd is closed, so the count has to stay the same for a while. A slow machine may count too early, which only raises the limit
/// for the later crowds.
async fn recovered_files(before: Option<usize>) -> usize {
    let deadline = tokio::time::Instant::now() + patience();
    let mut last = open_files();
    let mut still = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = open_files();
        still = if now == last { still + 1 } else { 0 };
        last = now;
        let is_recovered = still >= 20 && before.is_none_or(|before| now <= before);
        if is_recovered || tokio::time::Instant::now() > deadline {
            return now;
        }
    }
}

/// Elsewhere than on Linux neither files nor memory are counted, and so they do not grow.
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}
