//! Graceful shutdown: by a signal or, where that is asked for, by the end of the standard input.

use std::{future::pending, io, process, thread};

use tokio::sync::oneshot;

/// What a shell would say of a program that SIGTERM ended.
const AT_ONCE: i32 = 128 + 15;

/// Completes when the server is to stop. A second SIGINT or SIGTERM ends the program at once. Must be called inside a runtime.
pub(crate) fn ordered(with_stdin: bool) -> io::Result<impl Future<Output = ()>> {
    let (tell, told) = oneshot::channel();
    let mut signals = signals()?;
    tokio::spawn(async move {
        let (mut tell, mut orders) = (Some(tell), 0);
        while orders < 2 {
            if signals.next().await == Kind::Order {
                orders += 1;
            }
            if let Some(tell) = tell.take() {
                let _heard = tell.send(());
            }
        }
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

/// What a signal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Somebody wants the program to stop.
    Order,
    /// The terminal is gone. One closed terminal may send it several times, and a session that ends sends it after SIGTERM: it
    /// never ends the program at once.
    #[cfg(unix)]
    HangUp,
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// Nothing where the program is to outlive its terminal.
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
fn signals() -> io::Result<Signals> {
    use tokio::signal::unix::{SignalKind, signal};
    let hang_up = if outlives_its_terminal() { None } else { Some(signal(SignalKind::hangup())?) };
    Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, hang_up })
}

#[cfg(unix)]
impl Signals {
    async fn next(&mut self) -> Kind {
        let Self { interrupt, terminate, hang_up } = self;
        let hang_up = async {
            match hang_up {
                Some(signal) => {
                    signal.recv().await;
                }
                None => pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => Kind::Order,
            _ = terminate.recv() => Kind::Order,
            () = hang_up => Kind::HangUp,
        }
    }
}

/// Whether the program was started with SIGHUP ignored, as by `nohup`. A handler would undo that, so it is asked for before one is
/// set. Where the system does not tell: under `nohup` the output is never a terminal.
#[cfg(unix)]
fn outlives_its_terminal() -> bool {
    use std::{fs, io::IsTerminal};
    let is_ignored = fs::read_to_string("/proc/self/status").ok().and_then(|status| ignores_hang_up(&status));
    is_ignored.unwrap_or_else(|| !io::stdout().is_terminal())
}

/// What `/proc/self/status` says of SIGHUP, which is signal 1: the lowest bit.
#[cfg(unix)]
fn ignores_hang_up(status: &str) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    Some(u64::from_str_radix(mask.trim(), 16).ok()? & 1 == 1)
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
fn signals() -> io::Result<Signals> {
    Ok(Signals)
}

#[cfg(not(unix))]
impl Signals {
    async fn next(&mut self) -> Kind {
        let _pressed = tokio::signal::ctrl_c().await;
        Kind::Order
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

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_a_hang_up_is_ignored_is_read_from_the_mask() {
        for (status, ignores) in [
            ("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000000\n", Some(true)),
            ("SigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n", Some(false)),
            ("SigIgn:\tnone\n", None),
            ("Name:\tx\n", None),
        ] {
            assert_eq!(ignores_hang_up(status), ignores, "{status}");
        }
    }
}
