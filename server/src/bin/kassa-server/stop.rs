//! Graceful shutdown: by a signal or, where that is asked for, by the end of the standard input.

use std::{future::pending, io, process, thread};

use tokio::sync::oneshot;

/// What a shell would say of a program that SIGTERM ended.
const AT_ONCE: i32 = 128 + 15;

/// Completes when the server is to stop. A second signal ends the program at once. Must be called inside a runtime.
pub(crate) fn ordered(with_stdin: bool) -> io::Result<impl Future<Output = ()>> {
    let (tell, told) = oneshot::channel();
    let mut signals = signals()?;
    tokio::spawn(async move {
        signals.next().await;
        let _heard = tell.send(());
        signals.next().await;
        process::exit(AT_ONCE);
    });
    let stdin_end = with_stdin.then(stdin_end).transpose()?;
    Ok(async move {
        let stdin_end = async {
            match stdin_end {
                Some(end) => drop(end.await),
                None => pending().await,
            }
        };
        tokio::select! {
            _ = told => {}
            () = stdin_end => {}
        }
    })
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
fn signals() -> io::Result<Signals> {
    use tokio::signal::unix::{SignalKind, signal};
    Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
}

#[cfg(unix)]
impl Signals {
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
fn signals() -> io::Result<Signals> {
    Ok(Signals)
}

#[cfg(not(unix))]
impl Signals {
    async fn next(&mut self) {
        let _pressed = tokio::signal::ctrl_c().await;
    }
}

/// Told once nothing more can be read from the standard input: by its end, or by an error. The thread is not waited for:
/// a read cannot be broken off.
fn stdin_end() -> io::Result<oneshot::Receiver<()>> {
    let (sender, receiver) = oneshot::channel();
    let read = move || {
        let _read = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _told = sender.send(());
    };
    thread::Builder::new().name("kassa-stdin".to_owned()).spawn(read)?;
    Ok(receiver)
}
