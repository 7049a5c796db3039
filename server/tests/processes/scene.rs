//! What lives longer than the servers: the gateway, the shop, the file, and what shop and apps remember.

use std::{
    fs, io,
    path::PathBuf,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use kassa_sandbox::Sandbox;
use kassa_test_patience::patient;
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    api::{Answer, Caller},
    books,
    fleet::Fleet,
    gateway_side,
    keeper::Keeper,
    ledger::Ledger,
    paying::order,
    program::{EVENTS_SECRET, Plan, until},
    secrets,
    shop::Shop,
    story::Story,
};

/// How long a call waits for a server that may be dead or standing still, and how often it is made again.
const CALL: Duration = Duration::from_secs(4);
const CALLS: usize = 4;

/// A payment that an app began.
#[derive(Clone)]
pub struct Begun {
    pub id: String,
    pub token: String,
    pub otp: &'static str,
}

/// A checkout, and a token for it.
#[derive(Clone)]
pub struct Opened {
    pub id: String,
    pub token: String,
}

/// What the shop and the apps remember.
#[derive(Default)]
pub struct Known {
    pub checkouts: Vec<Opened>,
    pub payments: Vec<Begun>,
    cursor: String,
    events_read: Vec<String>,
}

/// The scene.
pub struct Scene {
    pub sandbox: Sandbox,
    pub shop: Shop,
    pub story: Story,
    pub key: String,
    /// Two servers on one database.
    pub plans: [Plan; 2],
    pub keeper: Keeper,
    known: Mutex<Known>,
    folder: TempDir,
}

/// A database with an API key, made once by the program itself.
struct Template {
    files: Vec<(PathBuf, Vec<u8>)>,
    key: String,
}

fn template(sandbox: &Sandbox) -> &'static Template {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let key = Plan::new(sandbox, folder.path()).new_key();
        let files = fs::read_dir(folder.path()).expect("its files").map_while(Result::ok);
        let files = files.map(|file| (PathBuf::from(file.file_name()), fs::read(file.path()).expect("its bytes")));
        Template { files: files.collect(), key }
    })
}

fn plan(sandbox: &Sandbox, shop: &Shop, folder: &TempDir) -> Plan {
    let mut plan = Plan::new(sandbox, folder.path());
    plan.set("KASSA_SERVER_EVENTS_URL", &shop.url);
    plan.set("KASSA_SERVER_CARDS_ENABLED", "true");
    plan.set("KASSA_SERVER_MEGAPAY_ACCOUNT", "17");
    plan.set("KASSA_SERVER_EVENTS_SECRET", EVENTS_SECRET);
    plan
}

impl Scene {
    /// With a file.
    pub fn open(seed: u64) -> Self {
        let (sandbox, shop) = (gateway_side::open(), Shop::open(seed));
        let folder = tempfile::tempdir().expect("a folder");
        let template = template(&sandbox);
        for (name, bytes) in &template.files {
            fs::write(folder.path().join(name), bytes).expect("a copy");
        }
        let (plan, keeper) = (plan(&sandbox, &shop, &folder), Keeper::File(folder.path().join("kassa.db")));
        let plans = [plan.clone(), plan.another()];
        let key = template.key.clone();
        Self { sandbox, shop, story: Story::new(), key, plans, keeper, known: Mutex::default(), folder }
    }

    /// With a database of PostgreSQL's.
    pub fn of_fleet(seed: u64, fleet: Fleet) -> Self {
        let (sandbox, shop) = (gateway_side::open(), Shop::open(seed));
        let folder = tempfile::tempdir().expect("a folder");
        let plan = plan(&sandbox, &shop, &folder);
        let mut plans = [plan.clone(), plan.another()];
        for (at, plan) in plans.iter_mut().enumerate() {
            plan.set("KASSA_SERVER_DATABASE", fleet.url_of(at));
            plan.set("KASSA_SERVER_DATABASE_CONNECTIONS", "3");
        }
        let key = plans[0].new_key();
        fleet.has_a_calendar();
        let keeper = Keeper::Fleet(fleet);
        Self { sandbox, shop, story: Story::new(), key, plans, keeper, known: Mutex::default(), folder }
    }

    /// What is written down just now.
    pub fn ledger(&self) -> Ledger {
        Ledger::of(&self.keeper)
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub fn log(&self) -> String {
        self.plans[0].log()
    }

    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn tokens(&self) -> Vec<String> {
        self.known().checkouts.iter().map(|opened| opened.token.clone()).collect()
    }

    /// An app with a token for a new checkout, and the checkout's identifier.
    pub fn app(&self, reference: &str) -> (Caller, String) {
        let shop = Caller::new(self.plans[0].address, &self.key);
        let opened = shop.post("/v1/checkouts", &order(reference, 3600)).expect("an answer");
        let id = opened.member("id").expect("a checkout");
        let made = shop.post(&format!("/v1/checkouts/{id}/tokens"), &Value::Null).expect("an answer");
        let token = made.member("token").expect("a token");
        self.known().checkouts.push(Opened { id: id.clone(), token: token.clone() });
        (Caller::new(self.plans[0].address, &token), id)
    }

    /// Waits until everything that the gateway has has ended, as there, and was told; and compares the books.
    pub fn recorded(&self) {
        until("everything ends and is told", || {
            self.read_events(0);
            books::missing(self).is_empty()
        });
        assert_eq!(books::broken(self), Vec::<String>::new());
        assert_eq!(secrets::found(self), Vec::<String>::new());
    }

    /// Makes a call as somebody makes it who was not answered: again, with the same key, by whichever server lives.
    pub fn call(&self, first: usize, who: &str, method: &str, path: &str, key: &str, body: &Value) -> Option<Answer> {
        for attempt in first..first + CALLS {
            let server = attempt % self.plans.len();
            let caller = Caller { patience: patient(CALL), ..Caller::new(self.plans[server].address, who) };
            let answer = caller.send(method, path, Some(key).filter(|key| !key.is_empty()), body);
            let said = text_of(answer.as_ref());
            self.story.tell(format!("{method} {path} {key} {body} to {server}: {said}"));
            match answer {
                Ok(answer) if answer.status < 500 => return Some(answer),
                _ => std::thread::sleep(Duration::from_millis(30)),
            }
        }
        None
    }

    /// What the shop calls.
    pub fn call_by_shop(&self, first: usize, method: &str, path: &str, body: &Value) -> Option<Answer> {
        self.call(first, &self.key, method, path, "", body)
    }

    /// The shop reads on from where it was.
    pub fn read_events(&self, first: usize) {
        loop {
            let after = self.known().cursor.clone();
            let place = if after.is_empty() { "0" } else { after.as_str() };
            let path = format!("/v1/events?after={place}&limit=7");
            let Some(answer) = self.call_by_shop(first, "GET", &path, &Value::Null) else { return };
            let mut known = self.known();
            let events = answer.body["events"].as_array().cloned().unwrap_or_default();
            // Somebody else has read on meanwhile.
            if events.is_empty() || known.cursor != after {
                return;
            }
            known.cursor = answer.body["next"].as_str().map_or(after, str::to_owned);
            known.events_read.extend(events.iter().filter_map(|at| at["event"]["id"].as_str().map(str::to_owned)));
        }
    }

    /// Where the shop reads on.
    pub fn cursor(&self) -> String {
        self.known().cursor.clone()
    }

    pub fn events_read(&self) -> Vec<String> {
        self.known().events_read.clone()
    }
}

fn text_of(answer: Result<&Answer, &io::Error>) -> String {
    match answer {
        Ok(answer) => {
            let body = answer.body.to_string();
            format!("{} {}", answer.status, body.chars().take(300).collect::<String>())
        }
        Err(problem) => problem.to_string(),
    }
}
