//! One caller's transport to the simulated gateway. A process that stops takes its tasks with it; what was sent before
//! goes on at the gateway.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::FutureExt;
use serde_json::{Map, Value};
use tokio::{sync::oneshot, task::AbortHandle, time::sleep};

use super::super::memory::Stub;
use crate::{
    config::endpoint::Endpoint,
    operations::dialect::ENDPOINTS,
    response::Response,
    testing::schedules::{
        harness::sentence,
        world::{self, Fault, World, spoiled},
    },
    transport::{Boxed, Failure, Request},
};

/// The tasks of one process.
#[derive(Clone, Default)]
pub(super) struct Process(Arc<Mutex<Vec<AbortHandle>>>);

impl Process {
    /// It is killed: nothing of it goes on.
    pub(super) fn kill(&self) {
        self.0.lock().expect("nothing panics in here").drain(..).for_each(|task| task.abort());
    }
}

pub(super) struct WorldTransport {
    world: Arc<World>,
    process: Process,
    /// The call that the exchanges belong to.
    call: AtomicUsize,
    /// Whether a connection may carry a second request, as it must not.
    careless: bool,
}

impl WorldTransport {
    pub(super) fn new(world: Arc<World>, process: Process, careless: bool) -> Self {
        Self { world, process, call: AtomicUsize::default(), careless }
    }

    pub(super) fn begin_call(&self) -> usize {
        let id = self.world.begin_call();
        self.call.store(id, Ordering::Relaxed);
        id
    }
}

impl Stub for WorldTransport {
    fn exchange(&self, request: Arc<Request>) -> Boxed<Result<Response, Failure>> {
        let (world, careless) = (self.world.clone(), self.careless);
        let call = self.call.load(Ordering::Relaxed);
        Box::pin(async move {
            let fault = world.draw_fault(call);
            match fault {
                Fault::SlowConnection => sleep(world.way(Fault::SlowResponse).1 / 3).await,
                _ => sleep(world.way(fault).0).await,
            }
            if fault == Fault::NoConnection {
                return Err(Failure::NotConnected { detail: "refused".into() });
            }
            if !request.establish() && !careless {
                return Err(Failure::NotConnected { detail: "the connection may not be used".into() });
            }
            world.note_sent(call);
            let (response, waiting) = oneshot::channel();
            tokio::spawn(watched(world.clone(), at_the_other_end(world, call, request, fault, response)));
            waiting.await.map_err(|_| Failure::Lost { detail: "reset".into() })
        })
    }

    fn spawn(&self, task: Boxed<()>, spawn: &dyn Fn(Boxed<()>) -> AbortHandle) -> AbortHandle {
        let handle = spawn(Box::pin(watched(self.world.clone(), task)));
        self.process.0.lock().expect("nothing panics in here").push(handle.clone());
        handle
    }

    fn jitter(&self, most: std::time::Duration) -> std::time::Duration {
        self.world.random(|rng| most.mul_f64(rng.f64()))
    }
}

/// No caller waits for the end of a task, so its panic is recorded.
async fn watched(world: Arc<World>, task: impl Future<Output = ()>) {
    if let Err(panic) = AssertUnwindSafe(task).catch_unwind().await {
        world.note_panic(sentence(&*panic));
    }
}

/// A request that was sent arrives, even if its caller is gone.
async fn at_the_other_end(
    world: Arc<World>,
    call: usize,
    request: Arc<Request>,
    fault: Fault,
    answer: oneshot::Sender<Response>,
) {
    let (there, back) = world.way(fault);
    sleep(there).await;
    let due = if fault.takes_effect() {
        world.carry_out(call, endpoint_of(&request).name, &fields_of(&request))
    } else {
        world::refused(400, "never seen")
    };
    sleep(back).await;
    if !matches!(fault, Fault::RequestLost | Fault::ResponseLost) {
        // A caller who has gone hears nothing.
        let _ = answer.send(spoiled(fault, due));
    }
}

fn endpoint_of(request: &Request) -> &'static Endpoint {
    let found = ENDPOINTS.into_iter().find(|endpoint| endpoint.path == request.path);
    found.expect("a path of the interface")
}

fn fields_of(request: &Request) -> Value {
    match (&request.body, &request.query) {
        (Some(body), _) => serde_json::from_slice(body).expect("a JSON body"),
        (None, query) => {
            let pairs = form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes());
            pairs
                .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
                .collect::<Map<_, _>>()
                .into()
        }
    }
}
