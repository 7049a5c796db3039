//! One schedule: shop, apps and payers act by chance, while servers are killed, stand still, are stopped and started.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use fastrand::Rng;

use crate::{
    books, disruptions,
    fleet::{APART, FLEET, Fleet, RESTLESS},
    gateway_side, paying,
    program::Program,
    recording,
    scene::Scene,
};

/// Longer than a server that stands still has the lease of what it sends: 1 s for the gateway, and 20 s.
const PAST_THE_LEASE: Duration = Duration::from_secs(22);
/// One schedule in so many waits for that, by real time; as many hear nothing of the database for that long.
const STANDS_STILL_EVERY: u64 = 40;
const OF_FLEETS: u64 = 10;
/// Which ones of those are parted from the database for that long.
const PARTED: u64 = 3;
/// One schedule in so many is parted by a link of the kernel's: they wait for one another.
const BY_LINKS_EVERY: u64 = 2 * OF_FLEETS;
/// One schedule in so many has a primary that restarts.
const RESTARTS_EVERY: u64 = 5;

/// What was met, and how often: a check that meets nothing shows nothing.
pub type Coverage = BTreeMap<String, u64>;

/// A schedule that is being played.
pub struct Play {
    pub scene: Arc<Scene>,
    pub servers: [Option<Program>; 2],
    pub random: Rng,
    pub met: Coverage,
    disruptions: Option<Disruptions>,
    calls: Vec<JoinHandle<()>>,
}

/// What a fleet's database does.
#[derive(Clone, Copy)]
struct Disruptions {
    restarts: bool,
}

/// Plays the schedule of a seed. What is broken is told with everything that everybody did.
pub fn play_on_a_file(seed: u64) -> Result<Coverage, String> {
    play(seed, Scene::open(seed), None)
}

/// The same with PostgreSQL.
pub fn play_in_a_fleet(seed: u64) -> Result<Coverage, String> {
    let play = |fleet, restarts| play(seed, Scene::of_fleet(seed, fleet), Some(Disruptions { restarts }));
    if seed.is_multiple_of(RESTARTS_EVERY) {
        let (cluster, turn) = &*RESTLESS;
        let _alone = turn.lock().unwrap_or_else(PoisonError::into_inner);
        return play(Fleet::by_lines(cluster), true);
    }
    if seed % BY_LINKS_EVERY == PARTED
        && let Some(apart) = &*APART
    {
        let _alone = apart.turn.lock().unwrap_or_else(PoisonError::into_inner);
        return play(Fleet::by_links(apart), false);
    }
    play(Fleet::by_lines(&FLEET), false)
}

fn play(seed: u64, scene: Scene, disruptions: Option<Disruptions>) -> Result<Coverage, String> {
    let scene = Arc::new(scene);
    let mut play = Play {
        scene: scene.clone(),
        servers: [None, None],
        random: Rng::with_seed(seed),
        met: Coverage::new(),
        disruptions,
        calls: Vec::new(),
    };
    let played = catch_unwind(AssertUnwindSafe(|| play.run(seed)));
    let broken = match played {
        Ok(Ok(())) => {
            if std::env::var_os("KASSA_SEED").is_some() {
                println!("{}", scene.story.text());
            }
            return Ok(play.met);
        }
        Ok(Err(broken)) => broken,
        Err(panic) => match panic.downcast_ref::<String>() {
            Some(text) => text.clone(),
            None => format!("a panic: {:?}", panic.downcast_ref::<&str>()),
        },
    };
    let (story, log) = (scene.story.text(), scene.log());
    let requests: Vec<_> = scene.sandbox.requests().iter().map(|request| format!("{request:?}")).collect();
    let payments: Vec<_> = scene.sandbox.payments().iter().map(|payment| format!("{payment:?}")).collect();
    let (requests, payments) = (requests.join("\n"), payments.join("\n"));
    // Who reads only the end of it reads what is broken.
    Err(format!("{story}\n\nat the gateway:\n{requests}\n{payments}\n\nlogged:\n{log}\n\n{broken}"))
}

impl Play {
    fn run(&mut self, seed: u64) -> Result<(), String> {
        gateway_side::set_faults(&self.scene.sandbox, seed, &mut self.random);
        self.scene.shop.fails([0, 30, 70][self.random.usize(0..3)]);
        self.start(0)?;
        if self.random.bool() {
            self.start(1)?;
        }
        for _ in 0..2 {
            let opens = paying::open(&mut self.random);
            opens(&self.scene);
        }
        let acts = self.random.usize(15..45);
        let every = if self.disruptions.is_some() { OF_FLEETS } else { STANDS_STILL_EVERY };
        let stands_still_at = (seed % every == 7).then_some(acts / 2);
        let restarts_at = self.disruptions.is_some_and(|disruptions| disruptions.restarts).then_some(acts / 2);
        let is_parted_at = (self.disruptions.is_some() && seed % every == PARTED).then_some(acts / 2);
        for act in 0..acts {
            self.act()?;
            thread::sleep(Duration::from_millis(self.random.u64(0..50)));
            if stands_still_at == Some(act) {
                self.start(1)?;
                self.stand_still(0, PAST_THE_LEASE);
                self.meet("SIGSTOP past the lease");
            }
            if is_parted_at == Some(act) {
                self.start(1)?;
                disruptions::part_past_the_lease(self, 0);
            }
            if restarts_at == Some(act) {
                disruptions::restart(self);
            }
        }
        self.wait_for_calls();
        for fault in self.scene.sandbox.faults().list() {
            *self.met.entry(fault.fault.name().to_string()).or_default() += fault.struck;
        }
        no(books::broken(&self.scene))?;
        recording::record(self)?;
        disruptions::count(self);
        for event in self.scene.ledger().events() {
            self.meet(&event.kind);
            for method in ["card", "megapay"] {
                if event.body.contains(&format!(r#""method":"{method}""#)) {
                    self.meet(&format!("{} {method}", event.kind));
                }
            }
        }
        Ok(())
    }

    fn act(&mut self) -> Result<(), String> {
        if let Some(Disruptions { restarts }) = self.disruptions
            && self.random.u32(0..5) == 0
        {
            disruptions::strike(self, restarts);
        }
        let random = &mut self.random;
        let deed = match random.u32(0..100) {
            0..12 => paying::open(random),
            12..40 => paying::pay(random),
            40..56 => paying::confirm(random),
            56..68 => {
                self.payer_decides();
                return Ok(());
            }
            68..76 => paying::look(random),
            76..79 => paying::cancel(random),
            79..83 => paying::read_events(random),
            83..84 => paying::type_a_card_number(random),
            84..90 => return self.kill(),
            90..92 => return self.stop(),
            92..95 => return self.start_or_end_the_other(),
            95..98 => {
                let (which, time) = (random.usize(0..2), Duration::from_millis(random.u64(50..600)));
                self.stand_still(which, time);
                return Ok(());
            }
            _ => {
                let by =
                    Duration::from_secs([random.u64(1..40), random.u64(40..900)][usize::from(random.u32(0..4) == 0)]);
                self.time_passes(by);
                return Ok(());
            }
        };
        let scene = self.scene.clone();
        self.meanwhile(move || deed(&scene));
        Ok(())
    }

    /// Others go on.
    pub fn meanwhile(&mut self, deed: impl FnOnce() + Send + 'static) {
        self.calls.push(thread::spawn(deed));
    }

    /// Pays or goes away, on a page or by a code that was shown.
    fn payer_decides(&mut self) {
        let rows = self.scene.ledger().rows();
        let books = self.scene.sandbox.payments();
        let open = rows.iter().filter(|row| row.was_shown()).filter_map(|row| row.booked(&books));
        let open: Vec<_> = open.filter(|payment| !payment.status.is_final()).collect();
        if let Some(payment) = self.random.choice(open) {
            let approves = self.random.u32(0..4) > 0;
            self.scene.story.tell(format!("the payer of {} pays: {approves}", payment.gateway_number));
            gateway_side::decide(&self.scene.sandbox, &payment.gateway_number, approves);
        }
    }

    pub fn start(&mut self, which: usize) -> Result<(), String> {
        if self.servers[which].is_none() {
            let mut plan = self.scene.plans[which].clone();
            plan.set("KASSA_SERVER_MAX_CONCURRENT_SENDS", ["1", "64"][self.random.usize(0..2)]);
            plan.set("KASSA_SERVER_PAYMENT_WAIT", "2s");
            plan.set("KASSA_SERVER_LOG", ["trace", "info"][usize::from(self.random.u32(0..8) > 0)]);
            self.servers[which] = Some(plan.start_in_the_end()?);
            self.scene.story.tell(format!("server {which} is started"));
        }
        Ok(())
    }

    /// Without a word, wherever its calls are just now.
    fn kill(&mut self) -> Result<(), String> {
        let which = self.random.usize(0..2);
        if let Some(server) = self.servers[which].take() {
            server.kill();
            self.scene.story.tell(format!("server {which} is killed"));
            self.meet("kill -9");
            thread::sleep(Duration::from_millis(self.random.u64(0..200)));
            self.start(which)?;
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), String> {
        let which = self.random.usize(0..2);
        if self.end(which)? {
            self.start(which)?;
        }
        Ok(())
    }

    fn start_or_end_the_other(&mut self) -> Result<(), String> {
        if !self.end(1)? {
            self.start(1)?;
        }
        Ok(())
    }

    /// SIGTERM, where it runs: it ends in order.
    pub fn end(&mut self, which: usize) -> Result<bool, String> {
        let Some(server) = self.servers[which].take() else { return Ok(false) };
        let (status, took) = server.stop();
        self.scene.story.tell(format!("server {which} was stopped: {status} after {took:?}"));
        self.meet("SIGTERM");
        if status.success() { Ok(true) } else { Err(format!("server {which} ended with {status}")) }
    }

    /// Stands still wherever its calls are, and goes on as if no time had passed.
    fn stand_still(&mut self, which: usize, time: Duration) {
        let Some(server) = &self.servers[which] else { return };
        server.signal("STOP");
        self.scene.story.tell(format!("server {which} stands still for {time:?}"));
        thread::sleep(time);
        server.signal("CONT");
        self.scene.story.tell(format!("server {which} goes on"));
        self.meet("SIGSTOP");
    }

    /// By the calendar, as where it is put ahead.
    pub fn time_passes(&mut self, by: Duration) {
        // A server that stands still may have the database just now.
        self.scene.keeper.time_passes(by);
        self.scene.story.tell(format!("{by:?} pass"));
    }

    pub fn wait_for_calls(&mut self) {
        for call in self.calls.drain(..) {
            if let Err(panic) = call.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }

    pub fn meet(&mut self, what: &str) {
        *self.met.entry(what.to_owned()).or_default() += 1;
    }
}

/// Nothing is broken.
pub fn no(broken: Vec<String>) -> Result<(), String> {
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}
