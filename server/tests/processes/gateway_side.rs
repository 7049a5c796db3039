//! The gateway's side of a schedule: which faults strike, and what payers do there.

use std::time::Duration;

use fastrand::Rng;
use kassa_sandbox::{EndpointName, Fault, FaultName, ReusedOrderNumber, Sandbox, SandboxOptions};

use crate::program::PASSWORD;

/// Those that a gateway shows on its bad days. What else the sandbox can do is the core's to withstand.
pub const FAULTS: [FaultName; 21] = [
    FaultName::RequestLost,
    FaultName::ResponseLost,
    FaultName::Delay,
    FaultName::ResetOnConnect,
    FaultName::ResetBeforeResponse,
    FaultName::ResetInHeaders,
    FaultName::ResetInBody,
    FaultName::Html502,
    FaultName::NotJson,
    FaultName::CutJson,
    FaultName::UnknownStatus,
    FaultName::UnknownCode,
    FaultName::StuckPending,
    FaultName::RetryAfter,
    FaultName::Unavailable,
    FaultName::CallbackLost,
    FaultName::CallbackLate,
    FaultName::CallbackDuplicated,
    FaultName::CallbackOutOfOrder,
    FaultName::CallbackForged,
    FaultName::OtpTwice,
];

/// A gateway without idempotency: whoever sends a payment twice charges twice.
pub fn open() -> Sandbox {
    Sandbox::start(SandboxOptions {
        password: PASSWORD.to_owned(),
        reused_order_number: ReusedOrderNumber::ChargeTwice,
        callback_pauses: [50, 100, 200, 400].map(Duration::from_millis).to_vec(),
        callback_timeout: Duration::from_secs(2),
        ..SandboxOptions::default()
    })
    .expect("a sandbox")
}

/// One schedule in eight has none. All others have the one whose turn it is, everywhere and often; most have more, which
/// strike one endpoint or all, often or rarely.
pub fn set_faults(sandbox: &Sandbox, seed: u64, random: &mut Rng) {
    if seed.is_multiple_of(8) {
        return;
    }
    let turn = FAULTS[usize::try_from(seed).unwrap_or_default() % FAULTS.len()];
    sandbox.faults().add(Fault::new(turn).probability(0.3 + 0.5 * random.f64()).seed(random.u64(..))).expect("a fault");
    for _ in 0..random.usize(0..5) {
        let name = FAULTS[random.usize(..FAULTS.len())];
        let mut fault = Fault::new(name).probability(random.f64()).seed(random.u64(..));
        fault = match name {
            // Some longer than the server waits.
            FaultName::Delay | FaultName::CallbackLate => fault.after(Duration::from_millis(random.u64(..1_500))),
            FaultName::RetryAfter | FaultName::Unavailable => fault.retry_after_seconds(random.u32(..2)),
            _ => fault,
        };
        if random.bool() {
            fault = fault.times(random.u64(1..4));
        }
        let narrow = fault.clone().endpoint(EndpointName::ALL[random.usize(..EndpointName::ALL.len())]);
        // Not every fault can strike at every endpoint, or at one.
        if random.bool() || sandbox.faults().add(narrow).is_err() {
            sandbox.faults().add(fault).expect("a fault");
        }
    }
}

/// The payer pays or goes away; where the payer did their part already, the provider decides.
pub fn decide(sandbox: &Sandbox, number: &str, approves: bool) {
    let _final_already = if approves { sandbox.approve(number) } else { sandbox.decline(number) };
}
