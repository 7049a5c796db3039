//! A running replay: a sandbox behind a recording.

use std::sync::Arc;

use crate::{
    recording::RecordingError,
    replay::{ReplayOptions, ReplayReport, Replayer},
    server::Sandbox,
    settings::{SandboxError, SandboxOptions},
};

/// Why a replay could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// An option, an address or the system failed.
    #[error(transparent)]
    Start(#[from] SandboxError),
    /// The file cannot be used.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// A simulation of a recorded gateway, for new payments. Dropping it stops it.
pub struct Replay {
    sandbox: Sandbox,
    replayer: Arc<Replayer>,
}

impl Replay {
    /// Starts a replay and returns when it listens. A sandbox with these options answers requests that were not recorded.
    pub fn start(options: SandboxOptions, replay: ReplayOptions) -> Result<Self, ReplayError> {
        let mut replayer = None;
        let sandbox = Sandbox::start_behind(options, |url, client| {
            let new = Arc::new(Replayer::new(replay, url, client)?);
            replayer = Some(Arc::clone(&new));
            Ok::<_, ReplayError>(Some(new))
        })?;
        let replayer = replayer.ok_or_else(|| SandboxError::System("there is no replay".to_owned()))?;
        Ok(Self { sandbox, replayer })
    }

    /// The sandbox that answers requests that were not recorded. Its URL is the replay's.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// The requests answered and callbacks sent so far.
    pub fn report(&self) -> ReplayReport {
        self.replayer.report()
    }

    /// Stops it, and returns the requests answered and callbacks sent.
    pub fn stop(self) -> ReplayReport {
        let Self { sandbox, replayer } = self;
        sandbox.stop();
        replayer.report()
    }
}
