//! Why a command could not do its work, and what the program's exit code says about it.

use kassa::PaymentError;

/// Ended as expected.
pub(crate) const AS_EXPECTED: u8 = 0;
/// Ended, but not as expected.
pub(crate) const NOT_AS_EXPECTED: u8 = 1;
/// The command line is wrong; nothing was sent.
pub(crate) const USAGE: u8 = 2;
/// A payment is still pending, or nobody knows yet what became of it.
pub(crate) const NOT_KNOWN: u8 = 3;

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line, the environment or the standard input is wrong. Nothing was sent.
    Usage(String),
    /// The machine did not play along: a port that is taken, a file that cannot be read.
    System(String),
    /// The gateway's side of the story, or the journal's: without a journal nothing is sent.
    Payment(PaymentError),
}

impl Failure {
    /// The name that programs see; of a payment's error that of its variant.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Usage(_) => "Usage",
            Self::System(_) => "System",
            Self::Payment(error) => error.kind(),
        }
    }

    /// What happened, in a sentence or two.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Usage(text) | Self::System(text) => text.clone(),
            Self::Payment(error) => error.describe(),
        }
    }

    /// The program's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE,
            Self::System(_) => NOT_AS_EXPECTED,
            Self::Payment(error) => exit_code_of(error),
        }
    }
}

/// The exit code of a payment's error.
pub(crate) fn exit_code_of(error: &PaymentError) -> u8 {
    match error {
        PaymentError::OutcomeUnknown { .. } | PaymentError::DeadlineExpired { .. } => NOT_KNOWN,
        _ => NOT_AS_EXPECTED,
    }
}

impl From<PaymentError> for Failure {
    fn from(error: PaymentError) -> Self {
        Self::Payment(error)
    }
}
