//! The gateway's side, and its payer: what a scene says to the sandbox.

use kassa_sandbox::{Fault, Payment, Sandbox, SandboxOptions};
use serde_json::{Value, json};

use crate::Failure;

pub(crate) fn start() -> Result<Sandbox, Failure> {
    Ok(Sandbox::start(SandboxOptions::default())?)
}

/// A step that is the gateway's or its payer's; nothing where the name is none of theirs.
pub(crate) fn step(sandbox: &Sandbox, name: &str, input: &Value) -> Option<Result<Value, Failure>> {
    Some(match name {
        "approve" => decide(sandbox, Sandbox::approve),
        "decline" => decide(sandbox, Sandbox::decline),
        "set_fault" => set_fault(sandbox, input),
        "clear_faults" => {
            sandbox.faults().clear();
            Ok(Value::Null)
        }
        "ledger" => Ok(sandbox.payments().iter().map(line).collect()),
        _ => return None,
    })
}

/// The payer decides the newest payment.
fn decide<E: std::error::Error + Send + Sync + 'static>(
    sandbox: &Sandbox,
    decide: impl Fn(&Sandbox, &str) -> Result<Payment, E>,
) -> Result<Value, Failure> {
    let newest = sandbox.payments().pop().ok_or("the gateway has no payment")?;
    decide(sandbox, &newest.gateway_number)?;
    Ok(Value::Null)
}

fn line(payment: &Payment) -> Value {
    json!({ "kind": payment.kind.as_str(), "is_charged": payment.is_charged() })
}

/// The name and the settings, as the command line writes them.
fn set_fault(sandbox: &Sandbox, input: &Value) -> Result<Value, Failure> {
    let mut written = input["name"].as_str().ok_or("a fault has a name")?.to_owned();
    for (key, value) in input.as_object().into_iter().flatten().filter(|(key, _)| *key != "name") {
        written += &format!(",{key}={}", value.as_str().map_or(value.to_string(), str::to_owned));
    }
    sandbox.faults().add(written.parse::<Fault>()?)?;
    Ok(Value::Null)
}
