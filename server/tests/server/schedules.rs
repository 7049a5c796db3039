//! Random schedules (deterministic simulation with fault injection): shops, apps, payers and the gateway act by chance on two
//! processes that share a database, and die; faults strike every line; calendars jump. Whatever happens, everything holds.
//!
//! `KASSA_SEED=17 cargo test -p kassa-server --test server schedules` plays one again; `KASSA_SCHEDULES=1000000` plays as many, and
//! `KASSA_FIRST_SEED=1000000` begins with another seed than 0.

use std::{
    ops::AddAssign,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use fastrand::Rng;
use kassa::{FakePayment, FakePlan, PaymentKind, PaymentStatus, StatusReport, Verdict};
use kassa_server::{CheckoutId, Method, NewCheckout, Payment, Resolution, Server};
use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::{
    invariants::{check, check_end},
    support::{
        lock, one,
        runner::Interleaved,
        world::{ALL, Backup, Process, World, callback_of, card},
    },
};

/// How many are played unless the environment says otherwise.
const SCHEDULES: u64 = 5_000;
/// From this number of schedules on, everything must have been met several times. Five methods share them, so fewer than this
/// meet the rarest doubts about a pay-form too seldom.
const MANY: u64 = 3_000;

/// Kinds that a shop may not know.
const REFUSED: [&str; 3] = ["payment.created", "payment.accepted", "checkout.paid"];

#[test]
fn random_schedules_keep_invariants() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    if let Some(seed) = number("KASSA_SEED") {
        play(seed).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        return;
    }
    let schedules = number("KASSA_SCHEDULES").unwrap_or(SCHEDULES);
    let first_seed = number("KASSA_FIRST_SEED").unwrap_or(0);
    let workers = thread::available_parallelism().map_or(1, usize::from) as u64;
    let shares: Vec<_> = (0..workers)
        .map(|worker| thread::spawn(move || play_every(first_seed + worker, workers, first_seed + schedules)))
        .collect();
    let mut seen = Coverage::default();
    for share in shares {
        seen += share.join().expect("a schedule failed; its message says which");
    }
    if schedules >= MANY {
        seen.check();
    }
}

/// Otherwise a failing seed would be of no use: neither what its thread played before counts, nor that it is the first.
#[test]
fn seed_makes_the_same_schedule_again() {
    for seed in 0..20 {
        let alone = thread::spawn(move || play(seed)).join().unwrap();
        assert_eq!(play(seed), alone, "seed {seed}");
    }
}

fn play_every(first: u64, step: u64, end: u64) -> Coverage {
    let mut seen = Coverage::default();
    for seed in (first..end).step_by(step as usize) {
        match play(seed) {
            Ok(covered) => seen += covered,
            Err(broken) => {
                panic!("{broken}\nagain: KASSA_SEED={seed} cargo test -p kassa-server --test server schedules")
            }
        }
    }
    seen
}

/// What the schedules met: a check that meets nothing shows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Coverage(std::collections::BTreeMap<String, u64>);

impl AddAssign for Coverage {
    fn add_assign(&mut self, other: Self) {
        for (what, count) in other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }
}

impl Coverage {
    fn of(world: &World) -> Self {
        let db = lock(&world.db);
        let mut statement = db
            .prepare_cached(
                "SELECT kind || COALESCE(' ' || method, ''), COUNT(*) FROM events
            LEFT JOIN payments ON payments.id = payment_id GROUP BY 1",
            )
            .unwrap();
        let counts = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let mut all: std::collections::BTreeMap<String, u64> =
            counts.map(Result::unwrap).map(|(kind, count): (String, i64)| (kind, count as u64)).collect();
        let late = "SELECT COUNT(*) FROM events WHERE body LIKE '%\"after\":%'";
        all.insert("after".into(), one::<i64>(&db, late, []).unwrap() as u64);
        all.insert("restored".into(), lock(&world.log).restores as u64);
        all.insert("paid again after a restore".into(), paid_again(world, &db));
        all.insert("stepped over".into(), lock(&world.log).skipped);
        Self(all)
    }

    fn check(&self) {
        for what in [
            "restored",
            "paid again after a restore",
            "stepped over",
            "checkout.paid",
            "checkout.expired",
            "checkout.cancelled",
            "checkout.overpaid",
            "payment.created mbank",
            "payment.sending mbank",
            "payment.accepted qr",
            "payment.not_made pay_form",
            "payment.unknown mbank",
            "payment.confirming mbank",
            "payment.not_confirmed mbank",
            "payment.replaced mbank",
            "payment.created megapay",
            "payment.accepted megapay",
            "payment.not_made megapay",
            "payment.unknown megapay",
            "payment.confirming megapay",
            "payment.not_confirmed megapay",
            "payment.replaced megapay",
            "payment.charged megapay",
            "payment.rejected megapay",
            "payment.mismatch megapay",
            "payment.resolved megapay",
            "payment.accepted card",
            "payment.not_made card",
            "payment.unknown card",
            "payment.charged card",
            "payment.rejected card",
            "payment.mismatch card",
            "payment.resolved card",
            "payment.charged mbank",
            "payment.charged qr",
            "payment.charged pay_form",
            "payment.rejected mbank",
            "payment.rejected qr",
            "payment.mismatch mbank",
            "payment.mismatch pay_form",
            "payment.unverifiable mbank",
            "payment.unverifiable card",
            "payment.unverifiable pay_form",
            "payment.resolved mbank",
            "payment.stuck mbank",
            "after",
        ] {
            assert!(self.0.get(what).is_some_and(|count| *count >= 5), "too few of {what}: {self:#?}");
        }
    }
}

/// The checkouts of which the shop read in a history that is gone that they are paid, and that are found paid again.
fn paid_again(world: &World, db: &Connection) -> u64 {
    let shop = lock(&world.shop);
    let paid = shop.seen.values().filter(|text| text.contains("\"checkout.paid\""));
    let is_again = |text: &&String| {
        let event: Value = serde_json::from_str(text).unwrap();
        let (id, checkout) = (event["id"].as_str(), event["data"]["checkout"].as_str());
        let sql = "SELECT EXISTS (SELECT 1 FROM events WHERE checkout_id = ?2 AND kind = 'checkout.paid')
            AND NOT EXISTS (SELECT 1 FROM events WHERE event_id = ?1)";
        one::<bool>(db, sql, [id, checkout]).unwrap()
    };
    paid.filter(is_again).count() as u64
}

/// As gateways write callbacks: whole, without a field, as a form.
fn in_another_form(random: &mut Rng, body: String) -> String {
    let without = |body: &str, name: &str| {
        let mut fields: Map<String, Value> = serde_json::from_str(body).unwrap_or_default();
        fields.remove(name);
        Value::from(fields).to_string()
    };
    match random.u32(0..6) {
        0 => without(&body, "dateCreated"),
        1 => without(&body, "provider"),
        2 => format!(r#"{{"code":"200","data":{body}}}"#),
        3 => {
            let fields: Map<String, Value> = serde_json::from_str(&body).unwrap_or_default();
            let pair = |(name, value): (&String, &Value)| format!("{name}={}", value.to_string().trim_matches('"'));
            fields.iter().map(pair).collect::<Vec<_>>().join("&")
        }
        _ => body,
    }
}

/// What the shop and the apps remember.
#[derive(Default)]
struct Known {
    checkouts: Vec<CheckoutId>,
    payments: Vec<Payment>,
}

struct Play {
    random: Rng,
    processes: [Arc<Process>; 2],
    calls: Interleaved,
    known: Arc<Mutex<Known>>,
    backup: Option<Backup>,
    /// Last: its database goes to the next one.
    world: Arc<World>,
}

fn play(seed: u64) -> Result<Coverage, String> {
    let mut random = Rng::with_seed(seed);
    let world = Arc::new(World::new(seed));
    lock(&world.faults.0).percent = [0, 15, 40][random.usize(0..3)];
    lock(&world.faults.0).without_page = [0, 30][random.usize(0..2)];
    lock(&world.shop).percent = [0, 30, 70][random.usize(0..3)];
    // Three in four know all kinds.
    lock(&world.shop).refuses = REFUSED.get(random.usize(0..12)).copied();
    let processes = [start(&world, &mut random), start(&world, &mut random)];
    let mut play =
        Play { world, random, processes, calls: Interleaved::default(), known: Arc::default(), backup: None };
    for action in 0..play.random.usize(10..50) {
        play.act();
        for _ in 0..play.random.usize(0..60) {
            play.calls.step(&mut play.random);
        }
        if action % 8 == 0 {
            check(&play.world)?;
        }
    }
    play.calls.finish(&mut play.random, &play.world.fake);
    check(&play.world)?;
    play.world.wait_for_refusals();
    check(&play.world)?;
    play.world.close();
    check_end(&play.world)?;
    Ok(Coverage::of(&play.world))
}

/// A process on a machine whose clocks are up to an hour from another's, and which may send few payments at once.
fn start(world: &Arc<World>, random: &mut Rng) -> Arc<Process> {
    let mut settings = World::settings();
    settings.max_concurrent_sends = [1, 1, 64][random.usize(0..3)];
    let offset = Duration::from_secs(random.u64(0..3600));
    Arc::new(world.start_with(None, offset, settings))
}

impl Play {
    fn act(&mut self) {
        let process = self.processes[self.random.usize(0..2)].clone();
        let server = process.server.clone();
        match self.random.u32(0..100) {
            0..14 => self.open(&process, server),
            14..38 => self.pay(&process, server),
            38..48 => self.confirm(&process, server),
            48..60 => self.payer_decides(),
            60..72 => self.call_back(&process, server),
            72..80 => self.calls.add(&process, async move { drop(server.poll_once().await) }),
            80..83 => self.calls.add(&process, async move { drop(server.deliver_once().await) }),
            83..85 => self.a_person_acts(&process, server),
            85..87 => self.look_or_cancel(&process, server),
            87..90 => self.back_up_or_restore(),
            90..93 => self.time_passes(),
            93..95 => self.world.jump(Duration::from_secs(3600), self.random.bool()),
            95..97 => self.crash(),
            97 => self.gateway_is_odd(&process, server),
            98 => self.gateway_takes_back(&process, server),
            _ => self.plan(),
        }
    }

    fn open(&mut self, process: &Arc<Process>, server: Server) {
        let reference = format!("order-{}", self.random.u32(0..3));
        let wanted = NewCheckout::new(&reference, 390.into(), "Two tickets", "https://shop.example.kg/paid");
        let wanted = wanted.with_methods(ALL);
        let known = self.known.clone();
        self.calls.add(process, async move {
            if let Ok(view) = server.open_checkout(wanted).await {
                let _ = server.new_token(&view.checkout.id).await;
                lock(&known).checkouts.push(view.checkout.id);
            }
        });
    }

    fn any_checkout(&mut self) -> Option<CheckoutId> {
        let known = lock(&self.known);
        self.random.choice(known.checkouts.iter()).cloned()
    }

    fn pay(&mut self, process: &Arc<Process>, server: Server) {
        let Some(id) = self.any_checkout() else { return };
        let key = [None, Some("a"), Some("b")][self.random.usize(0..3)];
        let known = lock(&self.known);
        let left = self.random.choice(known.payments.iter()).cloned();
        drop(known);
        let (method, known) = (self.random.u32(0..9), self.known.clone());
        self.calls.add(process, async move {
            let paid = match (method, left) {
                (0 | 8, _) => server.pay_by_form(&id, key).await,
                (1, _) => server.pay_by_qr(&id, key).await,
                (2, _) => server.pay_by_card(&id, &card(), key).await,
                // A payer who typed somebody else's number.
                (3, Some(left)) => server.pay_by_mbank_instead_of(&left.checkout, &left.id, "996700000002", key).await,
                (4, Some(left)) => {
                    server.pay_by_megapay_instead_of(&left.checkout, &left.id, "996700000002", key).await
                }
                (4 | 5, _) => server.pay_by_megapay(&id, "996700000001", key).await,
                _ => server.pay_by_mbank(&id, "996700000001", key).await,
            };
            if let Ok(payment) = paid {
                lock(&known).payments.push(payment);
            }
        });
    }

    fn confirm(&mut self, process: &Arc<Process>, server: Server) {
        let known = lock(&self.known);
        let Some(payment) = self.random.choice(known.payments.iter()).cloned() else { return };
        drop(known);
        let otp = if self.random.u32(0..3) > 0 { self.world.fake.otp() } else { "000000".to_owned() };
        let key = [None, Some("c"), Some("d")][self.random.usize(0..3)];
        self.calls.add(process, async move {
            let _ = server.confirm(&payment.checkout, &payment.id, &otp, key).await;
        });
    }

    /// Of a payment that the payer can see.
    fn payer_decides(&mut self) {
        let books = self.world.fake.payments();
        let open = books.iter().filter(|payment| !payment.status.is_final() && self.world.was_shown(payment));
        if let Some(payment) = self.random.choice(open.collect::<Vec<_>>()) {
            let name = World::name(payment);
            let decided = match self.random.u32(0..3) {
                0 => self.world.fake.reject(&name),
                _ => self.world.fake.charge(&name),
            };
            decided.unwrap();
        }
    }

    /// A callback: true, forged, or replayed against another checkout once it has paid for its own.
    fn call_back(&mut self, process: &Arc<Process>, server: Server) {
        let books = self.world.fake.payments();
        let Some(payment) = self.random.choice(books.iter()) else { return };
        let mut address = World::address(payment);
        let has_number = payment.order_number.is_some() || payment.transaction_id.is_some();
        let mut body = if has_number { callback_of(payment) } else { "{}".to_owned() };
        match self.random.u32(0..6) {
            0 => body = body.replace("390", "1"),
            1 => body = body.replace("orderNumber\":\"", "orderNumber\":\"x"),
            2 => {
                body = body.replace("REJECT", "CHARGE");
                // Of a code that has no number here, nothing shows that it is forged.
                self.is_odd(&address);
            }
            3 if self.has_paid(payment) => {
                let forms = books.iter().filter(|other| other.kind == PaymentKind::PayForm);
                if let Some(other) = self.random.choice(forms.collect::<Vec<_>>()) {
                    address = World::address(other);
                    // A charge under a number that has paid for something else is for a person.
                    self.is_odd(&address);
                }
            }
            _ => {}
        }
        body = in_another_form(&mut self.random, body);
        self.calls.add(process, async move { drop(server.hint(&address, body.as_bytes()).await) });
    }

    /// What is said under this address can be in doubt.
    fn is_odd(&self, address: &str) {
        let id = address.rsplit_once('/').unwrap_or_default().1;
        lock(&self.world.log).odd.insert(format!("pay_{id}"));
    }

    fn has_paid(&self, payment: &FakePayment) -> bool {
        if payment.status != PaymentStatus::Charged || payment.kind != PaymentKind::PayForm {
            return false;
        }
        let number = payment.order_number.as_deref();
        let sql = "SELECT EXISTS (SELECT 1 FROM taken_numbers WHERE number = ?1)";
        one(&lock(&self.world.db), sql, [number]).unwrap()
    }

    fn look_or_cancel(&mut self, process: &Arc<Process>, server: Server) {
        let Some(id) = self.any_checkout() else { return };
        let cancels = self.random.u32(0..3) == 0;
        self.calls.add(process, async move {
            if cancels {
                let _ = server.cancel(&id).await;
            } else {
                let _ = server.check_now(&id).await;
            }
        });
    }

    fn time_passes(&mut self) {
        let seconds = [self.random.u64(0..20), self.random.u64(0..4000), self.random.u64(0..300_000)];
        self.world.fake.advance(Duration::from_secs(seconds[self.random.usize(0..3)]));
    }

    /// Without a word, wherever its calls are just now; another one starts.
    fn crash(&mut self) {
        let index = self.random.usize(0..2);
        self.processes[index].life.kill();
        self.processes[index] = start(&self.world, &mut self.random);
    }

    /// The disk is lost, and with it what happened since the last backup.
    fn back_up_or_restore(&mut self) {
        let Some(backup) = self.backup.take() else {
            self.backup = Some(self.world.back_up());
            return;
        };
        if self.random.bool() {
            let [process, _] = &self.processes;
            while process
                .try_run(process.server.poll_once())
                .is_some_and(|done| done.is_ok_and(|done| done.queried > 0))
            {}
            while process
                .try_run(process.server.deliver_once())
                .is_some_and(|done| done.is_ok_and(|done| done.tried > 0))
            {}
        }
        self.processes.iter().for_each(|process| process.life.kill());
        self.world.restore(backup);
        self.processes = [start(&self.world, &mut self.random), start(&self.world, &mut self.random)];
    }

    /// It reports a charge that cannot be believed, for some time, and is asked thrice.
    fn gateway_is_odd(&mut self, process: &Arc<Process>, server: Server) {
        let known = lock(&self.known);
        let Some(payment) = self.random.choice(known.payments.iter()).cloned() else { return };
        let number = match payment.method {
            Method::Mbank | Method::Megapay | Method::Card => Some(payment.id.bare().to_owned()),
            Method::PayForm => self.number_of_form(&payment),
            _ => None,
        };
        let Some(number) = number else { return };
        let charge = Some(StatusReport::new(PaymentStatus::Charged));
        let odd = match self.random.bool() {
            true => Verdict::mismatch(payment.reference.clone(), ["amount"], charge),
            false => Verdict::unverifiable(payment.reference.clone(), "the report has no amount", charge),
        };
        lock(&self.world.faults.0).forced.insert(number, vec![odd]);
        lock(&self.world.log).odd.insert(payment.id.to_string());
        let clock = self.world.fake.clone();
        self.calls.add(process, async move {
            for _ in 0..3 {
                let _ = server.check_now(&payment.checkout).await;
                let _ = server.poll_once().await;
                // Reports count that lie apart in time.
                clock.advance(Duration::from_secs(6));
            }
        });
    }

    /// A payer has paid, and the gateway says once that it was rejected.
    fn gateway_takes_back(&mut self, process: &Arc<Process>, server: Server) {
        let books = self.world.fake.payments();
        let open = books.iter().filter(|payment| !payment.status.is_final() && self.world.was_shown(payment));
        let Some(payment) = self.random.choice(open.collect::<Vec<_>>()) else { return };
        let name = World::name(payment);
        self.world.fake.charge(&name).unwrap();
        let books = self.world.fake.payments();
        let Some(payment) = books.iter().find(|payment| World::name(payment) == name) else { return };
        let Some(number) = payment.order_number.clone() else { return };
        lock(&self.world.faults.0).taken_back.insert(number);
        let (address, body) = (World::address(payment), callback_of(payment));
        self.calls.add(process, async move {
            drop(server.hint(&address, body.as_bytes()).await);
            drop(server.poll_once().await);
        });
    }

    /// Under which its payer paid or declined.
    fn number_of_form(&self, payment: &Payment) -> Option<String> {
        let books = self.world.fake.payments();
        let form = books.into_iter().find(|form| form.page_url.is_some() && form.page_url == payment.page_url);
        form.and_then(|form| form.order_number)
    }

    /// Rightly or not.
    fn a_person_acts(&mut self, process: &Arc<Process>, server: Server) {
        let sql = "SELECT id FROM payments WHERE state IN ('unknown', 'mismatch', 'unverifiable') OR is_stuck = 1
            ORDER BY begun_at, id LIMIT 1 OFFSET ?1";
        let which = self.random.u32(0..3);
        let Some(id) = one::<String>(&lock(&self.world.db), sql, [which]) else { return };
        let resolution = [Resolution::Charged, Resolution::NotCharged][self.random.usize(0..2)];
        self.calls.add(process, async move {
            let _ = server.resolve(&id.parse().unwrap(), resolution, "the bank said so", "Aizada").await;
        });
    }

    fn plan(&mut self) {
        let after = Duration::from_secs(self.random.u64(0..100));
        let plans = [FakePlan::StayPending, FakePlan::Charge { after }, FakePlan::Reject { after }];
        self.world.fake.plan(plans[self.random.usize(0..3)]);
    }
}
