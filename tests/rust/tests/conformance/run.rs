//! Runs one vector: its steps one after the other, then what it says about the requests and about what was printed.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use futures_util::future::{AbortHandle, Abortable};
use kassa::{Decimal, Gateway, PaymentError, StatusWatch};
use kassa_test_patience::patience;
use serde_json::{Map, Value, json};

use crate::{
    compare::differences,
    inputs,
    journals::{self, Folder, JOURNAL_CALLS},
    operations::{self, Came, GATEWAY_CALLS, answer, shaped},
    printed,
    sandbox::Borrowed,
    server::{Received, Server},
    vectors::{Vector, object, text},
};

/// The problems of one vector.
pub fn run(vector: &Vector) -> Vec<String> {
    let (found, finding) = mpsc::channel();
    let spec = vector.spec.clone();
    thread::spawn(move || {
        let problems = catch_unwind(AssertUnwindSafe(|| run_spec(&spec)));
        let _ = found.send(problems.unwrap_or_else(|_| vec!["panicked, see above".to_owned()]));
    });
    let problems =
        finding.recv_timeout(patience() * 2).unwrap_or_else(|_| vec!["does not end, or not with a result".to_owned()]);
    problems.into_iter().map(|problem| format!("{} / {}: {problem}", vector.group, vector.name)).collect()
}

fn run_spec(spec: &Value) -> Vec<String> {
    let started = Instant::now();
    let mut scenario = Scenario::new(spec);
    let mut problems = Vec::new();
    let steps = spec["steps"].as_array().cloned().unwrap_or_else(|| vec![spec.clone()]);
    for (number, step) in steps.iter().enumerate() {
        let came = scenario.step(&text(&step["do"]), &scenario.placed(&step["input"]));
        scenario.printed.push_str(&came.printed);
        if let Some(expected) = step.get("expect") {
            let place = format!("step {} ({})", number + 1, step["do"]);
            let found = differences(&scenario.placed(expected), &came.result);
            problems.extend(found.into_iter().map(|found| format!("{place} {found}")));
        }
        scenario.keep(&step["keep"], &came.result);
    }
    let least = Duration::from_millis(spec["took_at_least_ms"].as_u64().unwrap_or_default());
    if started.elapsed() < least {
        problems.push(format!("took only {:?}", started.elapsed()));
    }
    problems.extend(scenario.check_requests(spec));
    problems.extend(printed::problems(spec, &scenario.printed));
    problems
}

/// What the steps of one vector share.
struct Scenario {
    config: Value,
    /// Dropped, and so emptied, before the server that its callbacks go to.
    sandbox: Option<Borrowed>,
    server: Server,
    journal: Option<Folder>,
    kept: Map<String, Value>,
    gateway: Option<Gateway>,
    watch: Option<StatusWatch>,
    started: Option<(AbortHandle, JoinHandle<Option<Came>>)>,
    printed: String,
}

impl Scenario {
    fn new(spec: &Value) -> Self {
        let responses = spec["responses"].as_array().cloned().unwrap_or_default();
        Self {
            config: spec["config"].clone(),
            server: Server::start(responses),
            sandbox: Borrowed::of(spec),
            journal: Folder::of(spec),
            kept: Map::new(),
            gateway: None,
            watch: None,
            started: None,
            printed: String::new(),
        }
    }

    fn gateway(&mut self) -> Result<Gateway, PaymentError> {
        if self.gateway.is_none() {
            let config = inputs::config(&self.placed(&self.config), &self.server.url())?;
            let gateway = Gateway::new(config)?;
            self.gateway = Some(match &self.journal {
                Some(folder) => gateway.with_journal(folder.open()?),
                None => gateway,
            });
        }
        Ok(self.gateway.clone().expect("it was made just now"))
    }

    fn step(&mut self, name: &str, input: &Value) -> Came {
        match name {
            "new_gateway" => shaped(self.gateway().map(|_| Value::Null)),
            "watch" => self.watch(input),
            "check_now" => self.on_watch(StatusWatch::check_now),
            "cancel" => self.on_watch(StatusWatch::cancel),
            "start" => self.start(input),
            "abandon" => self.abandon(),
            "finish" => self.started.take().and_then(|(_, thread)| thread.join().unwrap()).expect("was not abandoned"),
            "wait_for_requests" => answer(self.server.wait_for_requests(input["count"].as_u64().unwrap() as usize)),
            "release" => {
                self.server.release();
                answer(Value::Null)
            }
            "new_process" => self.new_process(),
            "sent" => answer(self.server.received().len()),
            "answered" => answer(self.server.answered()),
            "received" => {
                let number = input["number"].as_u64().unwrap() as usize;
                answer(self.server.received()[number - 1].body.as_str())
            }
            _ => {
                let sandbox_step = self.sandbox.as_ref().and_then(|sandbox| sandbox.step(name, input));
                let journal_step = || self.journal.as_ref().and_then(|journal| journal.step(name, input));
                match sandbox_step.or_else(journal_step).or_else(|| operations::function(name, input)) {
                    Some(came) => came,
                    None if JOURNAL_CALLS.contains(&name) => match self.gateway() {
                        Ok(gateway) => journals::call(&gateway, name, input),
                        Err(error) => shaped(Err(error)),
                    },
                    None => pollster::block_on(self.awaited(name, input)),
                }
            }
        }
    }

    /// With a sandbox: the addresses and what was kept, where they are named.
    fn placed(&self, value: &Value) -> Value {
        let Some(sandbox) = &self.sandbox else { return value.clone() };
        match value {
            Value::String(text) => {
                text.replace("{sandbox}", sandbox.url()).replace("{server}", &self.server.url()).into()
            }
            Value::Array(items) => items.iter().map(|item| self.placed(item)).collect(),
            Value::Object(map) => match map.get("$kept").and_then(Value::as_str) {
                Some(name) => self.kept.get(name).unwrap_or_else(|| panic!("{name:?} was not kept")).clone(),
                None => map.iter().map(|(key, item)| (key.clone(), self.placed(item))).collect::<Map<_, _>>().into(),
            },
            other => other.clone(),
        }
    }

    fn keep(&mut self, wanted: &Value, result: &Value) {
        for (name, path) in object(wanted) {
            let found = path.as_array().into_iter().flatten().fold(result, |value, key| match key.as_u64() {
                Some(index) => &value[index as usize],
                None => &value[text(key)],
            });
            self.kept.insert(name, found.clone());
        }
    }

    /// The future of everything that waits. It owns what it needs, so that it can be started and given up.
    fn awaited(&mut self, name: &str, input: &Value) -> impl Future<Output = Came> + Send + use<> {
        let (name, input) = (name.to_owned(), input.clone());
        let gateway = self.gateway().and_then(|gateway| inputs::within(gateway, &input));
        let watch = self.watch.clone();
        async move {
            let gateway = match gateway {
                Ok(gateway) => gateway,
                Err(error) => return shaped(Err(error)),
            };
            match name.as_str() {
                "close" => {
                    gateway.close().await;
                    answer(Value::Null)
                }
                name if GATEWAY_CALLS.contains(&name) => operations::call(&gateway, name, &input).await,
                name => operations::watch(&watch.expect("a watch"), name).await,
            }
        }
    }

    /// The gateway ends, and the next step has another one, as a program has that is started again.
    fn new_process(&mut self) -> Came {
        if let Some(gateway) = self.gateway.take() {
            pollster::block_on(gateway.close());
        }
        answer(Value::Null)
    }

    fn watch(&mut self, input: &Value) -> Came {
        let payment = inputs::payment_ref(&input["payment"]);
        let gateway = self.gateway().and_then(|gateway| inputs::within(gateway, input));
        let watch = gateway.and_then(|gateway| gateway.watch(payment, inputs::policy(input)));
        let came = shaped(watch.as_ref().map(|_| Value::Null).map_err(Clone::clone));
        self.watch = watch.ok();
        Came { printed: format!("{} {:?}", came.printed, self.watch), ..came }
    }

    fn on_watch(&mut self, act: impl Fn(&StatusWatch)) -> Came {
        act(self.watch.as_ref().expect("a watch"));
        answer(Value::Null)
    }

    fn start(&mut self, input: &Value) -> Came {
        let future = self.awaited(&text(&input["do"]), &input["input"]);
        let (handle, registration) = AbortHandle::new_pair();
        let thread = thread::spawn(move || pollster::block_on(Abortable::new(future, registration)).ok());
        self.started = Some((handle, thread));
        answer(Value::Null)
    }

    /// Gives up on what was started, and answers whether it had not ended by itself.
    fn abandon(&mut self) -> Came {
        let (handle, thread) = self.started.take().expect("something was started");
        handle.abort();
        answer(thread.join().unwrap().is_none())
    }

    /// Closing waits for payments on their way. A request whose caller gave up may still have to be read.
    fn check_requests(&mut self, spec: &Value) -> Vec<String> {
        self.server.release();
        if let Some(gateway) = self.gateway.take() {
            pollster::block_on(gateway.close());
        }
        let expected = spec["requests"].as_array();
        let count = expected.map(Vec::len).or(spec["sent"].as_u64().map(|count| count as usize));
        self.server.wait_for_requests(count.unwrap_or_default());
        let received = self.server.received();
        let mut problems = Vec::new();
        if count.is_some_and(|count| count != received.len()) {
            problems.push(format!("{} requests were sent, not {}", received.len(), count.unwrap_or_default()));
        }
        for (number, (expected, request)) in expected.into_iter().flatten().zip(&received).enumerate() {
            let found = request_problems(expected, request);
            problems.extend(found.into_iter().map(|problem| format!("request {} {problem}", number + 1)));
        }
        problems
    }
}

fn request_problems(expected: &Value, request: &Received) -> Vec<String> {
    let mut problems = Vec::new();
    for (key, came) in [("method", &request.method), ("target", &request.target), ("body", &request.body)] {
        if let Some(expected) = expected.get(key) {
            problems.extend(differences(expected, &json!(came)).into_iter().map(|found| format!("{key} {found}")));
        }
    }
    for (name, expected) in object(&expected["headers"]) {
        let came = request.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
        problems.extend(differences(&expected, &json!(came)).into_iter().map(|found| format!("header {name} {found}")));
    }
    for (name, expected) in object(&expected["numbers"]) {
        let came = number_in(&request.body, &name);
        if came != Some(inputs::decimal(&expected)) {
            problems.push(format!("number {name}: expected {expected}, body {}", request.body));
        }
    }
    problems
}

/// The number after `"name":`, which must be one without quotes.
fn number_in(body: &str, name: &str) -> Option<Decimal> {
    let (_, rest) = body.split_once(&format!("\"{name}\":"))?;
    Decimal::from_str_exact(&rest[..rest.find([',', '}'])?]).ok()
}
