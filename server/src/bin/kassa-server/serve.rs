//! `serve`: everything that runs, from the first address to the last answer.

use std::{io, process::ExitCode, sync::Arc, time::Duration};

use kassa::Gateway;
use kassa_server::{
    HttpPost, KeyRole, Listener, ListenerSettings, Post, RealSurroundings, Server, Storage, metrics_router, pay_router,
    router,
    settings::{ProgramSettings, Sources},
    staff_router,
};
use tokio::{runtime::Handle, sync::watch, task::JoinHandle, time::timeout};

use super::{
    announce::Addresses,
    cli::ServeOptions,
    database,
    failure::{Done, Failure},
    log, stop,
    traces::Traces,
    warnings,
};

/// How long requests under way may go on once it is to stop. All of stopping takes 5 s at most.
const REQUESTS: Duration = Duration::from_millis(4_300);
const STOPPING: Duration = Duration::from_millis(4_600);
/// How long what was handed to the disk is waited for after that.
const DISK: Duration = Duration::from_millis(150);

pub(crate) fn run(sources: &Sources, options: &ServeOptions) -> Done<ExitCode> {
    let settings = ProgramSettings::read(sources).map_err(|problems| Failure::settings(&problems))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::new)?;
    let traces = Traces::to(settings.traces.as_ref(), runtime.handle())?;
    log::start(&settings.log, &traces);
    runtime.block_on(serve(&settings, options, &traces))?;
    traces.close();
    // What still runs is given up: it is asked about after the next start.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

async fn serve(settings: &ProgramSettings, options: &ServeOptions, traces: &Traces) -> Done<()> {
    // Signal handlers are set before anything begins, so that an early signal ends it in order, too.
    let ordered = stop::ordered(options.exit_with_stdin).map_err(Failure::new)?;
    // An address that is taken ends it before the database is touched.
    let listener = Listener::bind(settings.listener.clone()).await.map_err(Failure::new)?;
    let metrics = bind_metrics(settings).await?;
    let storage = database::open(&settings.database).await?;
    let server = build(settings, storage.clone())?;
    let addresses =
        Addresses::new(listener.address(), settings.listener.tls.is_some(), metrics.as_ref().map(Listener::address));
    server.run();

    let (tell, told) = watch::channel(false);
    let answering = [
        Some(answer(listener.counted_by(server.metrics().clone()), traces.over(pages(&server, settings)), &told)),
        metrics.map(|metrics| answer(metrics, metrics_router(server.clone()), &told)),
    ];
    // Payments do not depend on a terminal, or a reader of its output, that is gone. The log has the address, too.
    if let Err(problem) = addresses.print(settings, options.announce_json, &mut io::stdout().lock()) {
        tracing::warn!(target: "kassa_server", %problem, "the addresses could not be printed; the server goes on");
    }
    tell_of_warnings(settings, &*storage).await;
    tracing::info!(target: "kassa_server", url = addresses.url, "serving");

    ordered.await;
    tracing::info!(target: "kassa_server", "stopping");
    tell.send_replace(true);
    end(server, storage, answering.into_iter().flatten().collect()).await;
    tracing::info!(target: "kassa_server", "stopped");
    Ok(())
}

async fn bind_metrics(settings: &ProgramSettings) -> Done<Option<Listener>> {
    let Some(address) = settings.metrics_listen else { return Ok(None) };
    Listener::bind(ListenerSettings::new(address)).await.map(Some).map_err(Failure::new)
}

fn build(settings: &ProgramSettings, storage: Arc<dyn Storage>) -> Done<Server> {
    let gateway = Gateway::new(settings.gateway.clone()).map_err(Failure::new)?;
    let post = settings.events_url.as_ref().map(|url| HttpPost::to(url.expose())).transpose().map_err(Failure::new)?;
    let post = post.map(|post| Arc::new(post) as Arc<dyn Post>);
    let surroundings = Arc::new(RealSurroundings::on(Handle::current()));
    Server::new(storage, Arc::new(gateway), surroundings, settings.server.clone(), post).map_err(Failure::new)
}

fn pages(server: &Server, settings: &ProgramSettings) -> axum::Router {
    let mut pages = router(server.clone(), settings.http.clone());
    if settings.http.has_pay_page {
        pages = pages.merge(pay_router(server.clone(), settings.http.clone(), &settings.merchant));
    }
    if settings.has_staff_pages {
        pages = pages.merge(staff_router(server.clone(), settings.http.clone()));
    }
    pages
}

fn answer(listener: Listener, router: axum::Router, told: &watch::Receiver<bool>) -> JoinHandle<()> {
    let mut told = told.clone();
    let stop = async move { drop(told.wait_for(|is_stopping| *is_stopping).await) };
    tokio::spawn(listener.serve(router, stop, REQUESTS))
}

async fn tell_of_warnings(settings: &ProgramSettings, storage: &dyn Storage) {
    for (about, sentence) in warnings::wrong(settings) {
        tracing::error!(target: "kassa_server", about, "wrong: {sentence}");
    }
    for warning in warnings::of(settings) {
        tracing::warn!(target: "kassa_server", "{warning}");
    }
    if settings.events_url.is_none() {
        tracing::warn!(target: "kassa_server", "no events are delivered: set events.url, or read GET /v1/events");
    }
    if storage
        .api_keys()
        .await
        .is_ok_and(|keys| !keys.iter().any(|key| key.role == KeyRole::Shop && key.revoked_at.is_none()))
    {
        tracing::warn!(target: "kassa_server", "no shop can call yet: kassa-server keys new --name shop");
    }
}

/// Nobody is accepted, who waits is answered, what is under way ends. Both go on at once: a long poll ends when the
/// server says that it stops.
async fn end(server: Server, storage: Arc<dyn Storage>, answering: Vec<JoinHandle<()>>) {
    let requests = async {
        for listener in answering {
            // One that panicked answers nobody any more.
            let _ = listener.await;
        }
    };
    let both = async { tokio::join!(server.stop(), requests) };
    if timeout(STOPPING, both).await.is_err() {
        tracing::warn!(target: "kassa_server", "what was under way was given up: it is asked about after the next \
             start");
    }
    // The last one who holds the storage waits for its threads.
    let closed = tokio::task::spawn_blocking(move || drop((server, storage)));
    let _ = timeout(DISK, closed).await;
}
