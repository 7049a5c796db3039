//! Graceful shutdown of the program: by a signal or, with an option, by the end of its standard input.

use std::{future::pending, io, thread};

use tokio::sync::oneshot;

/// Completes when the program must stop. Must be called inside a runtime.
pub(crate) fn requested(with_stdin: bool) -> io::Result<impl Future<Output = ()>> {
    let signal = signal()?;
    let stdin_end = with_stdin.then(stdin_end).transpose()?;
    Ok(async move {
        let stdin_end = async {
            match stdin_end {
                Some(end) => drop(end.await),
                None => pending().await,
            }
        };
        tokio::select! {
            () = signal => {}
            () = stdin_end => {}
        }
    })
}

/// Completes on Ctrl-C, SIGTERM, or SIGHUP (its terminal is closed).
#[cfg(unix)]
fn signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let hang_up = if outlives_its_terminal() { None } else { Some(signal(SignalKind::hangup())?) };
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        let hang_up = async {
            match hang_up {
                Some(mut signal) => {
                    signal.recv().await;
                }
                None => pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            () = hang_up => {}
        }
    })
}

/// Whether it was started with SIGHUP ignored, as by `nohup`; setting a handler would undo that. If the system does not report
/// it, the output decides: under `nohup`, it is never a terminal.
#[cfg(unix)]
fn outlives_its_terminal() -> bool {
    use std::{fs, io::IsTerminal};
    let ignored = |status: String| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        // The lowest bit is signal 1, SIGHUP.
        Some(u64::from_str_radix(mask.trim(), 16).ok()? & 1 == 1)
    };
    let is_ignored = fs::read_to_string("/proc/self/status").ok().and_then(ignored);
    is_ignored.unwrap_or_else(|| !io::stdout().is_terminal())
}

#[cfg(not(unix))]
fn signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _pressed = tokio::signal::ctrl_c().await;
    })
}

/// Completes when standard input ends or fails. The thread is not joined, because a read cannot be interrupted.
fn stdin_end() -> io::Result<oneshot::Receiver<()>> {
    let (sender, receiver) = oneshot::channel();
    let read = move || {
        let _read = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _is_received = sender.send(());
    };
    thread::Builder::new().name("kassa-sandbox-stdin".to_owned()).spawn(read)?;
    Ok(receiver)
}
