//! The servers: workers with places, as `server/workers.rs` has them, on one bucket and one table of what is due.

use super::{
    MINUTE, SECOND, STEP_MS, Size, Step,
    gateway::{Gateway, NEVER, Payments, Phase, Queue},
    report::Second,
};
use crate::{
    pace::{
        Class, interval_at, jittered,
        queues::{QUEUES, Queue as PollQueue, Slots},
        rate_limit::{GatewayFeedback, PollLimit, is_overload},
    },
    values::{Method, Millis},
};

/// As the server's settings have them.
const POLL_WORKERS: u32 = 4;
const PLACES: u32 = 32;
const LEASE: Step = 60 * SECOND;
/// The shortest and the longest pause of a worker between two claims.
const SHORTEST_SLEEP: Step = 1;
const LONGEST_SLEEP: Step = SECOND;
/// A quarter of the servers dies here, without a word, and is started again there.
const DIE: Step = 10 * MINUTE;
const START: Step = 15 * MINUTE;

/// The method of all payments.
const METHOD: Method = Method::Mbank;

/// A query in flight.
#[derive(Clone, Copy)]
struct PollInFlight {
    id: u32,
    worker: u32,
    leased_until: Step,
    is_failure: bool,
}

#[derive(Clone, Copy)]
struct Worker {
    free: u32,
    /// Its answers of this step.
    answers: u32,
    failures: u32,
}

pub(super) struct Fleet {
    size: Size,
    payments: Payments,
    queues: [Queue; 3],
    limit: PollLimit,
    gateway: Gateway,
    workers: Vec<Worker>,
    /// The responses of each step, and the workers that claim.
    answers: Ring<PollInFlight>,
    claims: Ring<u32>,
    counted: Second,
    unnoticed: u32,
    /// Of those, the ones that ended before the gateway came back.
    lost: u32,
}

impl Fleet {
    pub(super) fn new(size: Size) -> Self {
        let payments = Payments::new(size);
        let mut queues = [(0, 1), (1, 1), (2, SECOND)].map(|(class, width)| Queue::new(class, width, Phase::END));
        for id in 0..payments.count() {
            queues[usize::from(payments.class[id as usize])].push(id, payments.due[id as usize]);
        }
        let count = size.servers * POLL_WORKERS;
        let mut claims = Ring::new(LONGEST_SLEEP + 1);
        (0..count).for_each(|worker| claims.put(worker % SECOND, worker));
        Self {
            size,
            payments,
            queues,
            limit: PollLimit::full(size.per_second, 0),
            gateway: Gateway::new(size),
            workers: vec![Worker { free: PLACES, answers: 0, failures: 0 }; count as usize],
            answers: Ring::new(31 * SECOND),
            claims,
            counted: Second::default(),
            unnoticed: 0,
            lost: 0,
        }
    }

    pub(super) fn step(&mut self, step: Step) {
        if step.is_multiple_of(SECOND) {
            self.people(step / SECOND);
        }
        if step == START {
            self.start_again(step);
        }
        self.hear(step);
        for worker in self.claims.take(step) {
            if self.is_dead(worker, step) {
                continue;
            }
            let pause = self.claim(worker, step);
            self.claims.put(step + pause, worker);
        }
    }

    /// Payers begin and end.
    fn people(&mut self, second: u32) {
        for id in self.payments.begin_new(second) {
            self.queues[Class::Fresh as usize].push(id, self.payments.due[id as usize]);
        }
        let (ended, hinted) = self.payments.called_back(second);
        if second * SECOND == Phase::Back.begin() {
            self.lost = self.unnoticed;
        }
        self.unnoticed += ended;
        for id in hinted {
            if self.payments.due[id as usize] != NEVER {
                self.put(id, second * SECOND, Class::Hinted);
            }
        }
    }

    fn put(&mut self, id: u32, due: Step, class: Class) {
        self.payments.due[id as usize] = due;
        self.payments.class[id as usize] = class as u8;
        self.queues[class as usize].push(id, due);
    }

    fn is_dead(&self, worker: u32, step: Step) -> bool {
        (DIE..START).contains(&step) && self.dies(worker)
    }

    fn dies(&self, worker: u32) -> bool {
        worker / POLL_WORKERS < self.size.servers / 4
    }

    fn start_again(&mut self, step: Step) {
        for worker in 0..self.size.servers / 4 * POLL_WORKERS {
            self.workers[worker as usize].free = PLACES;
            self.claims.put(step + 1, worker);
        }
    }

    /// Each worker records its responses of this step together.
    fn hear(&mut self, step: Step) {
        let answers = self.answers.take(step);
        for poll in &answers {
            // A server that died gets no responses, even after a restart: the lease ends.
            let began_before = poll.leased_until - LEASE < START;
            if self.is_dead(poll.worker, step) || (step >= START && began_before && self.dies(poll.worker)) {
                continue;
            }
            let worker = &mut self.workers[poll.worker as usize];
            worker.free += 1;
            worker.answers += 1;
            worker.failures += u32::from(poll.is_failure);
            self.counted.failed += u32::from(poll.is_failure);
            self.record(*poll, step);
        }
        for poll in answers {
            let worker = &mut self.workers[poll.worker as usize];
            let (answers, failures) = (std::mem::take(&mut worker.answers), std::mem::take(&mut worker.failures));
            let now = Millis::from(step) * STEP_MS;
            let is_overload = is_overload(failures as usize, answers as usize);
            let heard = GatewayFeedback {
                overloads: is_overload.then_some(None).into_iter().collect(),
                is_well: answers > failures,
            };
            self.limit = self.limit.with_feedback(METHOD, &heard, now);
        }
    }

    fn record(&mut self, poll: PollInFlight, step: Step) {
        let id = poll.id;
        if !poll.is_failure && self.payments.has_ended(id, step) {
            if self.payments.due[id as usize] != NEVER {
                self.payments.due[id as usize] = NEVER;
                self.unnoticed = self.unnoticed.saturating_sub(1);
                self.lost -= u32::from(step >= Phase::Back.begin() && self.payments.ended_before_return(id));
            }
            return;
        }
        // A hint during the query is newer.
        if self.payments.due[id as usize] != poll.leased_until {
            return;
        }
        let age = self.payments.age_ms(id, step);
        let pause = jittered(interval_at(age), self.payments.random()) / STEP_MS;
        self.put(id, step.saturating_add(u32::try_from(pause).unwrap_or(NEVER)), Class::at_age(age));
    }

    /// A worker takes what is due, the most urgent first, and queries it. How long it waits before it does so again.
    fn claim(&mut self, worker: u32, step: Step) -> Step {
        let free = self.workers[worker as usize].free;
        if free == 0 {
            return SHORTEST_SLEEP;
        }
        let now = Millis::from(step) * STEP_MS;
        let due = self.due(free, step);
        let wanted = u32::try_from(due.len()).unwrap_or(u32::MAX);
        if wanted == 0 {
            return 5 * SHORTEST_SLEEP;
        }
        let class_of = |payments: &Payments, id: u32| usize::from(payments.class[id as usize]);
        let of_class = |class: Class| due.iter().filter(|id| class_of(&self.payments, **id) == class as usize).count();
        let mut counts = [0; QUEUES];
        for class in Class::ALL {
            counts[queue_index(class)] = u32::try_from(of_class(class)).unwrap_or(u32::MAX);
        }
        let mut places = Slots::new(PLACES);
        (free..PLACES).for_each(|_| places.take(METHOD));
        let (limit, granted) = self.limit.grant(&counts, places, self.size.per_second, now);
        self.limit = limit;
        let mut left = Class::ALL.map(|class| granted[queue_index(class)]);
        let mut put_back = Vec::new();
        for id in due {
            let left = &mut left[class_of(&self.payments, id)];
            if *left > 0 {
                *left -= 1;
                places.take(METHOD);
                self.poll(id, worker, step);
            } else {
                put_back.push(id);
            }
        }
        // The first one is taken first again.
        for id in put_back.iter().rev() {
            self.queues[class_of(&self.payments, *id)].put_back(*id);
        }
        if !put_back.is_empty() {
            let next = std::array::from_fn(|queue| (counts[queue] > granted[queue]).then_some(now));
            let Some(wait) = self.limit.next_in(&next, places, now).map(|wait| wait / STEP_MS) else {
                return SHORTEST_SLEEP;
            };
            return u32::try_from(wait).unwrap_or(LONGEST_SLEEP).clamp(SHORTEST_SLEEP, LONGEST_SLEEP);
        }
        SHORTEST_SLEEP
    }

    /// Those that are due, as many of each class as there are places.
    fn due(&mut self, most: u32, step: Step) -> Vec<u32> {
        let mut due = Vec::new();
        for queue in &mut self.queues {
            for _ in 0..most {
                let Some(id) = queue.pop(step, &self.payments) else { break };
                due.push(id);
            }
        }
        due
    }

    fn poll(&mut self, id: u32, worker: u32, step: Step) {
        let leased_until = step + LEASE;
        let class = self.payments.class[id as usize];
        self.payments.due[id as usize] = leased_until;
        self.queues[usize::from(class)].push(id, leased_until);
        self.workers[worker as usize].free -= 1;
        self.counted.polls += 1;
        let answer = self.gateway.answer(step);
        let poll = PollInFlight { id, worker, leased_until, is_failure: answer.is_failure };
        self.answers.put(step + answer.after, poll);
    }

    /// The figures of the second that ends now.
    pub(super) fn second(&mut self, end: Step) -> Second {
        let ages = [0, 1, 2].map(|class| {
            let first = self.queues[class].first(end, &self.payments);
            first.map_or(0.0, |id| f64::from(end - self.payments.due[id as usize]) / f64::from(SECOND))
        });
        let counted = std::mem::take(&mut self.counted);
        Second {
            oldest_fresh: ages[0].max(ages[1]),
            oldest_old: ages[2],
            unnoticed: self.unnoticed,
            lost: self.lost,
            ..counted
        }
    }
}

fn queue_index(class: Class) -> usize {
    PollQueue { class, method: METHOD }.index()
}

/// A ring of the next steps.
struct Ring<T>(Vec<Vec<T>>);

impl<T> Ring<T> {
    fn new(length: Step) -> Self {
        Self((0..length).map(|_| Vec::new()).collect())
    }

    fn put(&mut self, step: Step, what: T) {
        let length = self.0.len();
        self.0[step as usize % length].push(what);
    }

    fn take(&mut self, step: Step) -> Vec<T> {
        let length = self.0.len();
        std::mem::take(&mut self.0[step as usize % length])
    }
}
