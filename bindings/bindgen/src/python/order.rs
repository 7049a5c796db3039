//! Checks that objects come first in whatever is given to the library.
//!
//! The library reads values one after the other, and a value that is refused, such as an amount that is no decimal, ends the reading. What
//! was read before is dropped. A handle behind it is never read, and would hold its object for ever: a card with its number.

use anyhow::{Context as _, Result, bail};
use uniffi_bindgen::interface::{AsType as _, ComponentInterface, Type};

use super::reach::calls;

/// What is read of a value, as far as the order matters.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Object,
    /// The library may refuse it.
    Refusable,
    Other,
}

/// In messages nothing comes before an object: writing may fail as well, and a message that was begun is given back by reading it. The
/// arguments of a function are separate values; there, nothing comes before an object that may be refused.
pub fn check(interface: &ComponentInterface) -> Result<()> {
    for record in interface.record_definitions() {
        let types = record.fields().iter().map(|field| (field.name(), field.as_type()));
        check_order(interface, record.name(), types, |part| part != Part::Object)?;
    }
    for call in calls(interface)? {
        let types = call.fields().iter().map(|field| (field.name(), field.as_type()));
        check_order(interface, call.name(), types, |part| part != Part::Object)?;
    }
    for callable in interface.iter_callables() {
        let arguments = callable.arguments();
        let types = arguments.iter().map(|argument| (argument.name(), argument.as_type()));
        check_order(interface, "a function", types, |part| part == Part::Refusable)?;
    }
    Ok(())
}

fn check_order<'a>(
    interface: &ComponentInterface,
    of: &str,
    types: impl Iterator<Item = (&'a str, Type)>,
    comes_after: impl Fn(Part) -> bool,
) -> Result<()> {
    let mut earlier = None;
    for (name, type_) in types {
        let mut parts = Vec::new();
        collect(interface, &type_, &mut parts)?;
        for part in parts {
            match earlier {
                Some(before) if part == Part::Object => {
                    bail!(
                        "{of}: {before} stands before the object in {name}; put objects first, so that none is left behind"
                    )
                }
                None if comes_after(part) => earlier = Some(name),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The parts of a value, in the order in which they are read. A recursive type is one of values alone.
fn collect(interface: &ComponentInterface, type_: &Type, parts: &mut Vec<Part>) -> Result<()> {
    match type_ {
        Type::Object { .. } | Type::CallbackInterface { .. } => parts.push(Part::Object),
        Type::Custom { .. } | Type::Duration | Type::Timestamp => parts.push(Part::Refusable),
        Type::Optional { inner_type } | Type::Sequence { inner_type } | Type::Box { inner_type } => {
            collect(interface, inner_type, parts)?
        }
        Type::Record { name, .. } => {
            let record = interface.get_record_definition(name).with_context(|| format!("there is no {name}"))?;
            for field in record.fields() {
                collect(interface, &field.as_type(), parts)?;
            }
        }
        // Its variants have no objects that are given to the library, but for the calls, which are checked one by one.
        Type::Enum { .. } => parts.push(Part::Refusable),
        _ => parts.push(Part::Other),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(definitions: &str) -> Result<()> {
        let calls = "[Enum] interface AsyncCall { Ask(Card card, string text); };";
        let types = "interface Card {}; namespace shop { void pay(string text, Card card); };";
        let interface = ComponentInterface::from_webidl(&format!("{types} {calls} {definitions}"), "shop")?;
        check(&interface)
    }

    #[test]
    fn objects_come_first() {
        checked("dictionary Payment { Card card; duration limit; };").unwrap();
        checked("dictionary Payment { Card card; }; dictionary Sale { Payment payment; string text; };").unwrap();
    }

    #[test]
    fn object_behind_a_value_is_refused() {
        for behind in [
            "dictionary Payment { string text; Card card; };",
            "dictionary Payment { duration limit; Card? card; };",
            "dictionary Payment { Card card; string text; }; dictionary Sale { string note; Payment payment; };",
            "interface Shop { void sell(duration limit, Card card); };",
        ] {
            let error = checked(behind).unwrap_err().to_string();
            assert!(error.contains("put objects first"), "{error}");
        }
    }
}
