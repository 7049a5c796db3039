//! The Python package's description of the native library, as one module: tables of functions, objects, records and enums, which
//! `_core.py` of that package makes calls from, and the functions that read and write values.
//!
//! UniFFI's own generator writes a class for every value, which Python has to import and the package to convert once more. These
//! functions read values straight into the package's own classes.
//!
//! One module, because maturin imports all that a generator has written where the package's folder is imported.

mod functions;
mod order;
mod reach;

use std::{fmt::Write as _, fs, path::Path};

use anyhow::{Context as _, Result, bail};
use uniffi_bindgen::{
    BindgenLoader, BindgenPaths, GlobalConfig,
    interface::{Argument, AsType, Callable, ComponentInterface, Enum, Field, Function, Method, Object, Type},
};

// maturin imports everything from here into the package of the folder: nothing, by `__all__`.
const HEAD: &str = r#""""Tables of the native library, and functions that read and write its values. Generated; not to be edited."""

# mypy: ignore-errors
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from struct import Struct

__all__ = ()
"#;

/// Writes `kassa.py` into a folder, for the library that is given.
pub fn generate(library: &str, folder: &Path) -> Result<()> {
    let loader = BindgenLoader::new(BindgenPaths::default(), GlobalConfig::default());
    let interfaces = loader.load_cis(loader.load_metadata(library.into())?)?;
    let [interface] = interfaces.as_slice() else { bail!("{library} has {} interfaces, not one", interfaces.len()) };
    order::check(interface)?;
    fs::create_dir_all(folder)?;
    fs::write(folder.join("kassa.py"), tables(interface)?)
        .with_context(|| format!("{} cannot be written", folder.display()))
}

fn tables(interface: &ComponentInterface) -> Result<String> {
    let mut out = String::from(HEAD);
    let version = interface.uniffi_contract_version();
    writeln!(out, "CONTRACT = ({:?}, {version})", interface.ffi_uniffi_contract_version().name())?;
    writeln!(out, "ALLOC = {:?}", interface.ffi_rustbuffer_alloc().name())?;
    writeln!(out, "FREE = {:?}", interface.ffi_rustbuffer_free().name())?;

    // Symbol, types of the arguments, and type of the answer.
    out.push_str("FUNCTIONS = {\n");
    for function in interface.function_definitions() {
        entry(&mut out, 4, function.name(), &signature(function, None)?)?;
    }
    // The functions that clone and free a handle, the constructors, and the methods. A method's first argument is the object.
    out.push_str("}\nOBJECTS = {\n");
    for object in interface.object_definitions() {
        if !object.is_trait_interface() {
            object_table(&mut out, object)?;
        }
    }
    out.push_str("}\nRECORDS = {\n");
    for record in interface.record_definitions() {
        entry(&mut out, 4, record.name(), &fields(record.fields())?)?;
    }
    out.push_str("}\nENUMS = {\n");
    for each in interface.enum_definitions().iter().filter(|each| each.name() != reach::CALLS) {
        entry(&mut out, 4, each.name(), &variants(each)?)?;
    }
    // Of records and enums. The value is the first argument.
    out.push_str("}\nMETHODS = {\n");
    let records =
        interface.record_definitions().iter().map(|record| (record.name(), record.as_type(), record.methods()));
    let enums = interface.enum_definitions().iter().map(|each| (each.name(), each.as_type(), each.methods()));
    for (name, value, methods) in records.chain(enums) {
        for method in methods {
            entry(&mut out, 4, &format!("{name}.{}", method.name()), &signature(method, Some(&value))?)?;
        }
    }
    out.push_str("}\n");
    out.push_str(&functions::functions(interface)?);
    Ok(out)
}

fn entry(out: &mut String, indent: usize, name: &str, value: &str) -> Result<()> {
    Ok(writeln!(out, "{:indent$}{name:?}: {value},", "")?)
}

fn object_table(out: &mut String, object: &Object) -> Result<()> {
    let (clone, free) = (object.ffi_object_clone().name(), object.ffi_object_free().name());
    writeln!(out, "    {:?}: ({clone:?}, {free:?}, {{", object.name())?;
    for constructor in object.constructors() {
        let arguments = types(&constructor.arguments(), None)?;
        let value = format!("({:?}, {arguments}, \"@{}\")", constructor.ffi_func().name(), object.name());
        entry(out, 8, constructor.name(), &value)?;
    }
    out.push_str("    }, {\n");
    for method in object.methods() {
        entry(out, 8, method.name(), &signature(method, Some(&object.as_type()))?)?;
    }
    out.push_str("    }),\n");
    Ok(())
}

fn signature(of: &impl Exported, this: Option<&Type>) -> Result<String> {
    if of.is_async() {
        bail!("{} is asynchronous: calls that take time go over the boundary", of.symbol());
    }
    let answer = match of.return_type() {
        Some(answer) => format!("{:?}", name_of(answer)?),
        None => "None".to_owned(),
    };
    Ok(format!("({:?}, {}, {answer})", of.symbol(), types(&of.arguments(), this)?))
}

/// A function or a method, with its symbol in the library.
trait Exported: Callable {
    fn symbol(&self) -> &str;
}

impl Exported for Function {
    fn symbol(&self) -> &str {
        self.ffi_func().name()
    }
}

impl Exported for Method {
    fn symbol(&self) -> &str {
        self.ffi_func().name()
    }
}

fn types(arguments: &[&Argument], this: Option<&Type>) -> Result<String> {
    let mut out = String::from("(");
    if let Some(this) = this {
        write!(out, "{:?}, ", name_of(this)?)?;
    }
    for argument in arguments {
        if argument.is_borrowed_bytes() {
            bail!("the argument {} is borrowed bytes, which the package does not hand over", argument.name());
        }
        write!(out, "{:?}, ", name_of(&argument.as_type())?)?;
    }
    out.push(')');
    Ok(out)
}

fn variants(each: &Enum) -> Result<String> {
    let mut out = String::from("(");
    for variant in each.variants() {
        write!(out, "({:?}, {}), ", variant.name(), fields(variant.fields())?)?;
    }
    out.push(')');
    Ok(out)
}

fn fields(of: &[Field]) -> Result<String> {
    let mut out = String::from("(");
    for field in of {
        write!(out, "{:?}, ", field.name())?;
    }
    out.push(')');
    Ok(out)
}

/// A type as a text: `?` is optional, `[` a sequence, `{` a map with texts as keys, `@` an object; any other one by its name.
fn name_of(type_: &Type) -> Result<String> {
    Ok(match type_ {
        Type::UInt8 => "u8".into(),
        Type::Int8 => "i8".into(),
        Type::UInt16 => "u16".into(),
        Type::Int16 => "i16".into(),
        Type::UInt32 => "u32".into(),
        Type::Int32 => "i32".into(),
        Type::UInt64 => "u64".into(),
        Type::Int64 => "i64".into(),
        Type::Boolean => "bool".into(),
        Type::String => "string".into(),
        Type::Bytes => "bytes".into(),
        Type::Timestamp => "timestamp".into(),
        Type::Duration => "duration".into(),
        Type::Record { name, .. } | Type::Enum { name, .. } | Type::Custom { name, .. } => name.clone(),
        Type::Object { name, .. } => format!("@{name}"),
        Type::Box { inner_type } => name_of(inner_type)?,
        Type::Optional { inner_type } => format!("?{}", name_of(inner_type)?),
        Type::Sequence { inner_type } => format!("[{}", name_of(inner_type)?),
        Type::Map { key_type, value_type } if **key_type == Type::String => format!("{{{}", name_of(value_type)?),
        Type::CallbackInterface { name, .. } => format!("@{name}"),
        other => bail!("{other:?} is a type that the package does not know"),
    })
}
