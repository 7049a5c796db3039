//! What outlives the processes, and how one is started.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use kassa::{CardInput, Dialect, FakeGateway, FakePayment};
use kassa_server::{
    Boxed, Method, PayerCard, Server, ServerError, ServerSettings, SqliteStorage,
    storage::sqlite::connection::DatabaseClock,
};
use rusqlite::Connection;

use super::{
    crash::{Life, Plan},
    database::Database,
    executor::Inline,
    gateway::{Faults, Line},
    lock, one,
    runtime::Simulated,
    shop::{Postman, Shop},
};

/// The calendar's beginning in this world.
const START: i64 = 1_790_000_000_000;

/// The longest time for which nothing is due while something is open; calendars that jump put a day to it.
const LONGEST_PAUSE: Duration = Duration::from_secs(2 * 24 * 3600);

/// What went over the line.
#[derive(Default)]
pub struct Log {
    /// What may be sent once, by payment and kind.
    pub sent: Vec<(String, String)>,
    /// The payments whose password was sent, and did not certainly do nothing.
    pub confirming: HashSet<String>,
    pub status_queries: usize,
    /// The calendar was put ahead or back.
    pub has_jumped: bool,
    /// The events that were stepped over, as the shop refused them.
    pub skipped: u64,
    /// The database was put back to a backup.
    pub restores: usize,
    /// The pages and codes that were shown by what the database has forgotten.
    pub shown: HashSet<String>,
    /// The payments about which the gateway said something odd.
    pub odd: HashSet<String>,
    pub broken: Vec<String>,
}

pub struct World {
    pub fake: FakeGateway,
    pub db: Arc<Mutex<Connection>>,
    pub clock: DatabaseClock,
    /// How far the database's calendar was put ahead or back.
    pub skew: Arc<AtomicI64>,
    pub log: Arc<Mutex<Log>>,
    pub faults: Faults,
    pub shop: Arc<Mutex<Shop>>,
    pub random: Arc<Mutex<fastrand::Rng>>,
    /// Last: it goes back when nobody has it any more.
    _database: Database,
}

/// A backup of the database: the tables, those first that others refer to.
pub struct Backup {
    tables: Vec<String>,
}

/// Detaches the last backup, if there is one.
pub fn drop_backup(db: &Connection) {
    let is_there = "SELECT 1 FROM pragma_database_list WHERE name = 'backup'";
    if one::<i64>(db, is_there, []).is_some() {
        db.execute_batch("DETACH backup").unwrap();
    }
}

fn tables(db: &Connection) -> Vec<String> {
    let mut tables = db
        .prepare(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence' ORDER BY rowid",
        )
        .unwrap();
    tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// One life of the server.
pub struct Process {
    pub server: Server,
    pub life: Life,
    pub tasks: Arc<Mutex<Vec<Boxed<'static, ()>>>>,
    pub fake: FakeGateway,
}

impl Process {
    pub fn fake_clock(&self) -> &FakeGateway {
        &self.fake
    }
}

impl World {
    pub fn new(seed: u64) -> Self {
        let fake = FakeGateway::new().unwrap();
        let skew = Arc::new(AtomicI64::new(0));
        let clock: DatabaseClock = {
            let (fake, skew) = (fake.clone(), skew.clone());
            Arc::new(move || START + fake.now().as_millis() as i64 + skew.load(Ordering::SeqCst))
        };
        let database = Database::empty(&clock);
        let db = database.connection();
        let faults = Faults::default();
        lock(&faults.0).random = fastrand::Rng::with_seed(seed ^ 1);
        let shop = Shop { random: fastrand::Rng::with_seed(seed ^ 2), ..Shop::default() };
        let random = Arc::new(Mutex::new(fastrand::Rng::with_seed(seed ^ 3)));
        Self {
            fake,
            db,
            clock,
            skew,
            log: Arc::default(),
            faults,
            shop: Arc::new(Mutex::new(shop)),
            random,
            _database: database,
        }
    }

    pub fn settings() -> ServerSettings {
        let mut settings = ServerSettings::new("https://pay.shop.example.kg/callbacks/");
        settings.poll_rate = 1000;
        settings.takes_cards = true;
        settings.megapay_account = Some(ACCOUNT.to_owned());
        settings.dialect = Dialect::from_json(r#"{"megapay": {"check_method": "POST"}}"#).unwrap();
        // Whoever asks again later gets no wrong answer.
        settings.keep_for = Duration::from_secs(24 * 3600);
        settings.signing_secrets = vec!["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap()];
        settings
    }

    pub fn start(&self, plan: Option<Plan>) -> Process {
        self.start_with(plan, Duration::ZERO, Self::settings())
    }

    pub fn start_with(&self, plan: Option<Plan>, offset: Duration, settings: ServerSettings) -> Process {
        let (life, tasks) = (Life::new(plan), Arc::<Mutex<_>>::default());
        let storage = SqliteStorage::over(Arc::new(Inline { db: self.db.clone(), life: life.clone() }));
        let gateway = Line {
            fake: self.fake.clone(),
            db: self.db.clone(),
            log: self.log.clone(),
            life: life.clone(),
            faults: self.faults.clone(),
        };
        let runtime = Simulated { fake: self.fake.clone(), offset, tasks: tasks.clone(), random: self.random.clone() };
        let post = Postman { shop: self.shop.clone(), life: life.clone() };
        let server =
            Server::new(Arc::new(storage), Arc::new(gateway), Arc::new(runtime), settings, Some(Arc::new(post)));
        Process { server: server.unwrap(), life, tasks, fake: self.fake.clone() }
    }

    /// Takes a backup of the database.
    pub fn back_up(&self) -> Backup {
        let db = lock(&self.db);
        drop_backup(&db);
        db.execute_batch("ATTACH ':memory:' AS backup").unwrap();
        let tables = tables(&db);
        for table in &tables {
            db.execute_batch(&format!("CREATE TABLE backup.\"{table}\" AS SELECT * FROM main.\"{table}\"")).unwrap();
        }
        Backup { tables }
    }

    /// Puts the database back to how it was when the last backup was taken. No process is alive.
    pub fn restore(&self, backup: Backup) {
        let db = lock(&self.db);
        let mut log = lock(&self.log);
        log.restores += 1;
        let mut shown = db.prepare("SELECT page_url FROM payments UNION SELECT qr_text FROM payments").unwrap();
        let shown = shown.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
        log.shown.extend(shown.filter_map(Result::unwrap));
        // The payer of what is open again may send the password once more.
        log.confirming.clear();
        for table in backup.tables.iter().rev() {
            db.execute_batch(&format!("DELETE FROM main.\"{table}\"")).unwrap();
        }
        // The file of a backup knows how far its own numbers had come.
        db.execute_batch("DELETE FROM sqlite_sequence").unwrap();
        for table in &backup.tables {
            db.execute_batch(&format!("INSERT INTO main.\"{table}\" SELECT * FROM backup.\"{table}\"")).unwrap();
        }
        drop_backup(&db);
        lock(&self.shop).forget_what_is_lost(&db);
    }

    /// The calendar is put ahead or back, while monotonic time goes on.
    pub fn jump(&self, by: Duration, ahead: bool) {
        let by = by.as_millis() as i64;
        lock(&self.log).has_jumped = true;
        self.skew.fetch_add(if ahead { by } else { -by }, Ordering::SeqCst);
    }

    /// The end of the address to which the gateway sends the callbacks of a payment.
    pub fn address(payment: &FakePayment) -> String {
        let url = payment.callback_url.as_deref().unwrap_or_default();
        url.strip_prefix("https://pay.shop.example.kg/callbacks/").unwrap_or_default().to_owned()
    }

    /// By what the fake gateway's payment can be named.
    pub fn name(payment: &FakePayment) -> String {
        let names = [&payment.page_url, &payment.transaction_id, &payment.order_number];
        names.into_iter().flatten().next().cloned().unwrap_or_default()
    }

    /// Nobody can pay on a page or by a code that was shown to nobody.
    pub fn was_shown(&self, payment: &FakePayment) -> bool {
        let Some(shown) = payment.page_url.as_ref().or(payment.qr_text.as_ref()) else { return true };
        let sql = "SELECT EXISTS (SELECT 1 FROM payments WHERE page_url = ?1 OR qr_text = ?1)";
        lock(&self.log).shown.contains(shown) || one(&lock(&self.db), sql, [shown]).unwrap()
    }

    /// When something is due next, in time from now.
    pub fn next_due(&self) -> Option<Duration> {
        let next =
            "SELECT COALESCE((SELECT MAX(not_before) FROM question_limit WHERE not_before > now_ms()), MIN(at)) FROM (
            SELECT MIN(at) AS at FROM due UNION ALL SELECT MIN(due_at) FROM streams
            UNION ALL SELECT MIN(until) FROM payments WHERE state IN ('prepared', 'sending'))";
        let next: Option<i64> = one(&lock(&self.db), next, []).unwrap();
        next.map(|at| Duration::from_millis((at - (self.clock)()).max(0) as u64))
    }

    /// A shop that does not know a kind refuses it until it is stepped over, where that may be.
    pub fn wait_for_refusals(&self) {
        if lock(&self.shop).refuses.is_none() {
            return;
        }
        let process = self.start(None);
        for _ in 0..6 {
            while process.run(process.server.deliver_once()).unwrap().tried > 0 {}
            // Longer than the fourth pause.
            self.fake.advance(Duration::from_secs(11 * 60));
        }
        let skipped: Option<i64> = one(&lock(&self.db), "SELECT COUNT(*) FROM refused_events", []);
        lock(&self.log).skipped = skipped.unwrap_or_default().unsigned_abs();
    }

    /// Everything comes to its end: the gateway and the shop answer again, payers decide, and the server's workers run.
    pub fn close(&self) {
        lock(&self.faults.0).percent = 0;
        lock(&self.faults.0).forced.clear();
        lock(&self.faults.0).taken_back.clear();
        lock(&self.shop).percent = 0;
        lock(&self.shop).refuses = None;
        let process = self.start(None);
        for payment in self.fake.payments().iter().filter(|payment| !payment.status.is_final()) {
            let name = Self::name(payment);
            let charges = self.was_shown(payment) && lock(&self.random).bool();
            let decided = if charges { self.fake.charge(&name) } else { self.fake.reject(&name) };
            decided.unwrap();
        }
        // Callbacks of pay-forms are all that tells of them, and of the codes that were forgotten; the gateway repeats them until they are taken.
        let by_callback = |payment: &&FakePayment| payment.page_url.is_some() || payment.qr_text.is_some();
        for payment in self.fake.payments().iter().filter(by_callback) {
            let body = callback_of(payment);
            let taken = process.run(process.server.hint(&Self::address(payment), body.as_bytes()));
            let is_forgotten = matches!(taken, Err(ServerError::NotFound { .. })) && lock(&self.log).restores > 0;
            assert!(taken.is_ok() || is_forgotten, "{taken:?}");
        }
        // What was given up in three days of failures, or refused, somebody starts again.
        process.run(process.server.replay(None)).unwrap();
        for round in 0..30 {
            while process.run(process.server.poll_once()).unwrap().queried > 0 {}
            while process.run(process.server.deliver_once()).unwrap().tried > 0 {}
            match self.next_due() {
                Some(wait) if wait > LONGEST_PAUSE => {
                    lock(&self.log).broken.push(format!("invariant 8: nothing is due for {wait:?}"));
                    break;
                }
                Some(wait) => self.fake.advance(wait.max(step_of(round))),
                None => break,
            }
        }
    }
}

/// A payer's card, of which nothing but the last four digits may be found anywhere. Faults of the gateway's repeat its number.
pub fn card() -> PayerCard {
    let typed = CardInput::new().with_number("4000 0000 0000 2016").with_expiry("08/2031").with_cvc(CVC);
    PayerCard::new(typed.with_holder_name("Aibek Usenov"), [203, 0, 113, 7].into())
}

/// Its security code, which no other word is.
pub const CVC: &str = "737";

/// All ways to pay.
pub const ALL: [Method; 5] = Method::ALL;

/// The merchant's requisite for MegaPay.
pub const ACCOUNT: &str = "17";

/// Longer and longer, so that what is due often does not keep from its turn what is due daily.
fn step_of(round: u32) -> Duration {
    Duration::from_secs(match round {
        0..8 => 1,
        8..12 => 60,
        12..20 => 3 * 3600,
        _ => 12 * 3600,
    })
}

/// The callback that the gateway sends of a payment that has ended.
pub fn callback_of(payment: &FakePayment) -> String {
    let number = payment.order_number.as_ref().or(payment.transaction_id.as_ref()).unwrap();
    let status = if payment.status == kassa::PaymentStatus::Charged { "CHARGE" } else { "REJECT" };
    let (amount, currency) = (payment.amount.unwrap(), &payment.currency);
    format!(
        r#"{{"orderNumber":"{number}","amount":{amount},"currency":"{currency}","status":"{status}","dateCreated":"2026-11-20T09:05:07","provider":"Cards"}}"#
    )
}
