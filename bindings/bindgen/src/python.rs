//! The Python package's description of the native library: plain tables of functions, objects, records and enums, which `_core.py` of
//! that package makes calls and values from.
//!
//! In place of UniFFI's own generator: the tables are a fifth of a percent of its code to import, and values are read into the
//! package's own classes, without a generated class between.

use std::{fmt::Write as _, fs, path::Path};

use anyhow::{Context as _, Result, bail};
use uniffi_bindgen::{
    BindgenLoader, BindgenPaths, GlobalConfig,
    interface::{Argument, AsType, Callable, ComponentInterface, Enum, Object, Record, Type},
};

/// Writes `kassa.py` into a folder, for the library that is given.
pub fn generate(library: &str, folder: &Path) -> Result<()> {
    let loader = BindgenLoader::new(BindgenPaths::default(), GlobalConfig::default());
    let interfaces = loader.load_cis(loader.load_metadata(library.into())?)?;
    let [interface] = interfaces.as_slice() else { bail!("{library} has {} interfaces, not one", interfaces.len()) };
    fs::create_dir_all(folder)?;
    fs::write(folder.join("kassa.py"), tables(interface)?)
        .with_context(|| format!("{} cannot be written", folder.display()))
}

fn tables(interface: &ComponentInterface) -> Result<String> {
    let mut out = String::from("\"\"\"What the native library has. Generated; not to be edited.\"\"\"\n\n");
    let version = interface.uniffi_contract_version();
    writeln!(out, "CONTRACT = ({:?}, {version})", interface.ffi_uniffi_contract_version().name())?;
    writeln!(out, "ALLOC = {:?}", interface.ffi_rustbuffer_alloc().name())?;
    writeln!(out, "FREE = {:?}", interface.ffi_rustbuffer_free().name())?;

    // Symbol, types of the arguments, type of the answer, and whether it throws.
    out.push_str("FUNCTIONS = {\n");
    for function in interface.function_definitions() {
        entry(&mut out, 4, function.name(), &call(function)?)?;
    }
    out.push_str("}\nOBJECTS = {\n");
    for object in interface.object_definitions() {
        if !object.is_trait_interface() {
            object_table(&mut out, object)?;
        }
    }
    out.push_str("}\nRECORDS = {\n");
    for record in interface.record_definitions() {
        entry(&mut out, 4, record.name(), &record_fields(record)?)?;
    }
    out.push_str("}\nENUMS = {\n");
    for each in interface.enum_definitions() {
        entry(&mut out, 4, each.name(), &variants(each)?)?;
    }
    // Methods of records and enums: the value is the first argument.
    out.push_str("}\nMETHODS = {\n");
    for record in interface.record_definitions() {
        for method in record.methods() {
            entry(
                &mut out,
                4,
                &format!("{}.{}", record.name(), method.name()),
                &method_of_value(&record.as_type(), method)?,
            )?;
        }
    }
    for each in interface.enum_definitions() {
        for method in each.methods() {
            entry(
                &mut out,
                4,
                &format!("{}.{}", each.name(), method.name()),
                &method_of_value(&each.as_type(), method)?,
            )?;
        }
    }
    out.push_str("}\n");
    Ok(out)
}

fn entry(out: &mut String, indent: usize, name: &str, value: &str) -> Result<()> {
    Ok(writeln!(out, "{:indent$}{name:?}: {value},", "")?)
}

fn object_table(out: &mut String, object: &Object) -> Result<()> {
    writeln!(out, "    {:?}: {{", object.name())?;
    writeln!(out, "        \"\": ({:?}, {:?}),", object.ffi_object_clone().name(), object.ffi_object_free().name())?;
    for constructor in object.constructors() {
        let answer = format!("@{}", object.name());
        let arguments = types(&constructor.arguments(), None)?;
        let value = format!(
            "({:?}, {arguments}, {answer:?}, {}, True)",
            constructor.ffi_func().name(),
            python(constructor.throws())
        );
        entry(out, 8, constructor.name(), &value)?;
    }
    for method in object.methods() {
        let value = call(method)?;
        entry(out, 8, method.name(), &format!("{}, False)", value.trim_end_matches(')')))?;
    }
    out.push_str("    },\n");
    Ok(())
}

fn call(of: &impl CallableWithSymbol) -> Result<String> {
    if of.is_async() {
        bail!("{} is asynchronous: calls that take time go over the boundary", of.symbol());
    }
    signature(of, None)
}

fn method_of_value(value: &Type, method: &impl CallableWithSymbol) -> Result<String> {
    signature(method, Some(value))
}

fn signature(of: &impl CallableWithSymbol, this: Option<&Type>) -> Result<String> {
    let answer = match of.return_type() {
        Some(answer) => format!("{:?}", name_of(answer)?),
        None => "None".to_owned(),
    };
    let arguments = types(&of.arguments(), this)?;
    Ok(format!("({:?}, {arguments}, {answer}, {})", of.symbol(), python(of.throws_type().is_some())))
}

trait CallableWithSymbol: Callable {
    fn symbol(&self) -> &str;
}

impl CallableWithSymbol for uniffi_bindgen::interface::Function {
    fn symbol(&self) -> &str {
        self.ffi_func().name()
    }
}

impl CallableWithSymbol for uniffi_bindgen::interface::Method {
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

fn record_fields(record: &Record) -> Result<String> {
    fields(record.fields())
}

fn variants(each: &Enum) -> Result<String> {
    let mut out = String::from("(");
    for variant in each.variants() {
        write!(out, "({:?}, {}), ", variant.name(), fields(variant.fields())?)?;
    }
    out.push(')');
    Ok(out)
}

fn fields(of: &[uniffi_bindgen::interface::Field]) -> Result<String> {
    let mut out = String::from("(");
    for field in of {
        write!(out, "({:?}, {:?}), ", field.name(), name_of(&field.as_type())?)?;
    }
    out.push(')');
    Ok(out)
}

fn python(value: bool) -> &'static str {
    if value { "True" } else { "False" }
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
