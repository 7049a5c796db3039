//! Which types the Python package reads and writes: each of them gets a function of its own.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use uniffi_bindgen::interface::{AsType as _, Callable, ComponentInterface, Enum, Type, Variant};

/// The enum of the calls that go over the boundary. Its first field is the object that is called.
pub const CALLS: &str = "AsyncCall";

#[derive(Default)]
pub struct Reach {
    pub read: BTreeSet<Type>,
    pub written: BTreeSet<Type>,
}

impl Reach {
    pub fn of(interface: &ComponentInterface) -> Result<Self> {
        // What is given to the core. The value that a method belongs to may also be what the core has answered with.
        let (mut given, mut reach) = (BTreeSet::new(), Self::default());
        let records = interface.record_definitions().iter().map(|record| (record.as_type(), record.methods()));
        let enums = interface.enum_definitions().iter().map(|each| (each.as_type(), each.methods()));
        for (value, methods) in records.chain(enums) {
            for method in methods {
                collect(interface, &value, true, &mut reach.written)?;
                reach.add(interface, method, &mut given)?;
            }
        }
        for callable in interface.iter_callables() {
            reach.add(interface, callable, &mut given)?;
        }
        for call in calls(interface)? {
            for argument in call.fields().iter().skip(1) {
                collect(interface, &argument.as_type(), false, &mut given)?;
            }
        }
        // The interface does not say what calls are answered with: whatever is not given alone may be an answer.
        let records = interface.record_definitions().iter().map(|record| record.as_type());
        let enums = interface.enum_definitions().iter().filter(|each| each.name() != CALLS).map(|each| each.as_type());
        for value in records.chain(enums) {
            if !given.contains(&value) {
                collect(interface, &value, false, &mut reach.read)?;
            }
        }
        reach.read.insert(Type::Boolean);
        reach.written.append(&mut given);
        Ok(reach)
    }

    fn add(&mut self, interface: &ComponentInterface, of: &dyn Callable, given: &mut BTreeSet<Type>) -> Result<()> {
        for argument in of.arguments() {
            collect(interface, &argument.as_type(), true, given)?;
        }
        for answer in of.return_type().into_iter().chain(of.throws_type()) {
            collect(interface, answer, true, &mut self.read)?;
        }
        Ok(())
    }
}

/// The calls that go over the boundary.
pub fn calls(interface: &ComponentInterface) -> Result<&[Variant]> {
    let calls = interface.get_enum_definition(CALLS).with_context(|| format!("the library has no {CALLS}"))?;
    Ok(calls.variants())
}

/// An enum without fields, which is a Python enum.
pub fn is_flat(each: &Enum) -> bool {
    each.variants().iter().all(|variant| variant.fields().is_empty())
}

/// Adds a type, and those within it that are called. A whole one is an argument or an answer of its own, and called as well,
/// unless the package hands it over without serialization.
fn collect(interface: &ComponentInterface, type_: &Type, is_whole: bool, types: &mut BTreeSet<Type>) -> Result<()> {
    match type_ {
        Type::Box { inner_type } => return collect(interface, inner_type, is_whole, types),
        Type::Optional { inner_type } => {
            if is_whole {
                types.insert(type_.clone());
            }
            return collect(interface, inner_type, false, types);
        }
        Type::Sequence { inner_type } | Type::Map { value_type: inner_type, .. } => {
            types.insert(type_.clone());
            return collect(interface, inner_type, false, types);
        }
        Type::Bytes | Type::Timestamp | Type::Duration if is_whole => {
            types.insert(type_.clone());
        }
        Type::Record { name, .. } => {
            let record = interface.get_record_definition(name).with_context(|| format!("there is no {name}"))?;
            if types.insert(type_.clone()) {
                for field in record.fields() {
                    collect(interface, &field.as_type(), false, types)?;
                }
            }
        }
        Type::Enum { name, .. } => {
            let each = interface.get_enum_definition(name).with_context(|| format!("there is no {name}"))?;
            if (is_whole || !is_flat(each)) && types.insert(type_.clone()) {
                for field in each.variants().iter().flat_map(|variant| variant.fields()) {
                    collect(interface, &field.as_type(), false, types)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}
