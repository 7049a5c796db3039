//! The functions that read values from UniFFI's serialization and write them to it, as Python source.
//!
//! Each is flat: what is frequent stands in place, and only lists, maps, records and enums with fields are called. What belongs to
//! the package, `_codec.py` of the package provides by the names of types: `make` makes a value from its fields, `parts` gives the
//! fields of a value, `members` and `numbers` map an enum's members, and `core` gives the core's object of a value.

use std::{
    collections::BTreeSet,
    fmt::{Display, Write as _},
};

use anyhow::{Context as _, Result, bail};
use uniffi_bindgen::interface::{AsType as _, ComponentInterface, Field, Type, Variant};

use super::{
    name_of,
    reach::{Reach, calls, is_flat},
};

const HEAD: &str = "
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
digits = Decimal.__format__
make = parts = members = numbers = core = {}
";

/// The name of a number, its form in Python's `struct`, and its length. A time is seconds and nanoseconds; a call, its number and
/// its object.
const NUMBERS: [(&str, &str, usize); 10] = [
    ("u8", ">B", 1),
    ("i8", ">b", 1),
    ("u16", ">H", 2),
    ("i16", ">h", 2),
    ("u32", ">I", 4),
    ("i32", ">i", 4),
    ("u64", ">Q", 8),
    ("i64", ">q", 8),
    ("time", ">qI", 12),
    ("call", ">iQ", 12),
];

/// The functions for everything that is read, written or called.
pub fn functions(interface: &ComponentInterface) -> Result<String> {
    let reach = Reach::of(interface)?;
    let mut code = Code { interface, out: String::from(HEAD), lengths: BTreeSet::new() };
    for (name, form, _) in NUMBERS {
        code.line(0, format_args!("get_{name}, put_{name} = Struct({form:?}).unpack_from, Struct({form:?}).pack"))?;
    }
    for (at, call) in calls(interface)?.iter().enumerate() {
        code.call(at + 1, call)?;
    }
    for type_ in &reach.read {
        code.reader(type_)?;
    }
    for length in code.lengths.clone() {
        code.filler(length)?;
    }
    for type_ in &reach.written {
        code.writer(type_)?;
    }
    Ok(code.out)
}

/// A type's name in the names of its functions. The package makes the same.
fn suffix(type_: &Type) -> Result<String> {
    let name = name_of(type_)?;
    Ok(name.replace('?', "optional_").replace('[', "list_").replace('{', "map_").replace('@', "object_"))
}

/// The variables of so many fields, as in a call.
fn variables(length: usize) -> String {
    (0..length).map(|at| format!("v{at}")).collect::<Vec<_>>().join(", ")
}

struct Code<'a> {
    interface: &'a ComponentInterface,
    out: String,
    /// How many fields there are in what is read.
    lengths: BTreeSet<usize>,
}

impl Code<'_> {
    fn line(&mut self, depth: usize, text: impl Display) -> Result<()> {
        Ok(writeln!(self.out, "{:1$}{text}", "", depth * 4)?)
    }

    fn lines(&mut self, depth: usize, lines: &[&str]) -> Result<()> {
        lines.iter().try_for_each(|line| self.line(depth, line))
    }

    /// `call_NAME`: the message of a call. A share of its object is taken when all else is written, because the core has to get it: a value
    /// that cannot be written would leave it behind.
    fn call(&mut self, number: usize, call: &Variant) -> Result<()> {
        let Some((Type::Object { .. }, arguments)) =
            call.fields().split_first().map(|(target, others)| (target.as_type(), others))
        else {
            bail!("the call {} does not begin with its object", call.name());
        };
        let name = call.name();
        let given: String = (0..arguments.len()).map(|at| format!(", v{at}")).collect();
        self.line(0, format_args!("\n\ndef call_{name}(target{given}):"))?;
        self.line(1, "out = bytearray()")?;
        self.write_fields(1, arguments)?;
        self.line(1, format_args!("return put_call({number}, target.cloned()) + out"))
    }

    /// `read_NAME`: the value that begins at a place, and where it ends.
    fn reader(&mut self, type_: &Type) -> Result<()> {
        self.line(0, format_args!("\n\ndef read_{}(b, i):", suffix(type_)?))?;
        match type_ {
            Type::Record { name, .. } => self.read_fields(1, self.fields(name)?, name)?,
            Type::Enum { name, .. } if !self.is_flat(name)? => {
                self.lines(1, &["at = get_i32(b, i)[0]", "i += 4"])?;
                for (at, variant) in self.variants(name)?.iter().enumerate() {
                    self.line(1, format_args!("if at == {}:", at + 1))?;
                    self.read_fields(2, variant.fields(), &format!("{name}.{}", variant.name()))?;
                }
                self.line(1, "raise ValueError(at)")?;
            }
            Type::Sequence { inner_type } => {
                self.lines(1, &["items = []", "count = get_i32(b, i)[0]", "i += 4", "for _ in range(count):"])?;
                self.read(2, inner_type, "v")?;
                self.lines(2, &["items.append(v)"])?;
                self.line(1, "return tuple(items), i")?;
            }
            Type::Map { key_type, value_type } => {
                self.lines(1, &["items = {}", "count = get_i32(b, i)[0]", "i += 4", "for _ in range(count):"])?;
                self.read(2, key_type, "k")?;
                self.read(2, value_type, "items[k]")?;
                self.line(1, "return items, i")?;
            }
            _ => {
                self.read(1, type_, "v")?;
                self.line(1, "return v, i")?;
            }
        }
        Ok(())
    }

    fn read_fields(&mut self, depth: usize, fields: &[Field], maker: &str) -> Result<()> {
        for (at, field) in fields.iter().enumerate() {
            self.read(depth, &field.as_type(), &format!("v{at}"))?;
        }
        self.lengths.insert(fields.len());
        self.line(depth, format_args!("return make[{maker:?}]({}), i", variables(fields.len())))
    }

    /// `fill_LENGTH`: what makes a value of so many fields, of a blank one and what puts each field into it.
    fn filler(&mut self, length: usize) -> Result<()> {
        let puts: String = (0..length).map(|at| format!(", p{at}")).collect();
        self.line(0, format_args!("\n\ndef fill_{length}(blank{puts}):"))?;
        self.line(1, format_args!("def make({}):", variables(length)))?;
        self.line(2, "made = blank()")?;
        for at in 0..length {
            self.line(2, format_args!("p{at}(made, v{at})"))?;
        }
        self.lines(1, &["    return made", "return make"])
    }

    /// Reads the value at `b[i]`, and goes behind it.
    fn read(&mut self, depth: usize, type_: &Type, to: &str) -> Result<()> {
        let kind = name_of(type_)?;
        let value = match type_ {
            Type::Box { inner_type } => return self.read(depth, inner_type, to),
            Type::Optional { inner_type } => {
                self.lines(depth, &["i += 1", "if b[i - 1]:"])?;
                self.read(depth + 1, inner_type, to)?;
                self.line(depth, "else:")?;
                return self.line(depth + 1, format_args!("{to} = None"));
            }
            Type::String | Type::Custom { .. } | Type::Bytes => {
                let value = match type_ {
                    Type::String => "b[i + 4 : e].decode()",
                    Type::Bytes => "b[i + 4 : e]",
                    _ if kind == "Decimal" => "Decimal(b[i + 4 : e].decode())",
                    _ => bail!("{kind} is a type that the package does not know"),
                };
                self.line(depth, "e = i + 4 + get_i32(b, i)[0]")?;
                self.line(depth, format_args!("{to} = {value}"))?;
                return self.line(depth, "i = e");
            }
            Type::Timestamp | Type::Duration => {
                let epoch = if *type_ == Type::Timestamp { "EPOCH + " } else { "" };
                self.line(depth, "s, n = get_time(b, i)")?;
                let value = format!("{to} = {epoch}timedelta(0, s, n // 1000 if s >= 0 else -(n // 1000))");
                self.line(depth, value)?;
                return self.line(depth, "i += 12");
            }
            Type::Boolean => ("b[i] == 1".to_owned(), 1),
            Type::Object { .. } | Type::CallbackInterface { .. } => (format!("make[{kind:?}](get_u64(b, i)[0])"), 8),
            Type::Enum { name, .. } if self.is_flat(name)? => (format!("members[{name:?}][get_i32(b, i)[0]]"), 4),
            _ => match NUMBERS.iter().find(|(number, ..)| *number == kind) {
                Some((_, _, length)) => (format!("get_{kind}(b, i)[0]"), *length),
                None => return self.line(depth, format_args!("{to}, i = read_{}(b, i)", suffix(type_)?)),
            },
        };
        self.line(depth, format_args!("{to} = {}", value.0))?;
        self.line(depth, format_args!("i += {}", value.1))
    }

    /// `write_NAME`: appends a value.
    fn writer(&mut self, type_: &Type) -> Result<()> {
        self.line(0, format_args!("\n\ndef write_{}(x, out):", suffix(type_)?))?;
        match type_ {
            Type::Record { name, .. } => {
                let fields = self.fields(name)?;
                if !fields.is_empty() {
                    self.line(1, format_args!("{}, = parts[{name:?}](x)", variables(fields.len())))?;
                }
                self.write_record(fields)
            }
            Type::Enum { name, .. } if !self.is_flat(name)? => {
                self.line(1, format_args!("at, values = parts[{name:?}](x)"))?;
                self.line(1, "out += put_i32(at)")?;
                for (at, variant) in self.variants(name)?.iter().enumerate() {
                    let fields = variant.fields();
                    if !fields.is_empty() {
                        self.line(1, format_args!("if at == {}:", at + 1))?;
                        self.line(2, format_args!("{}, = values", variables(fields.len())))?;
                        self.write_fields(2, fields)?;
                    }
                }
                Ok(())
            }
            Type::Sequence { inner_type } => {
                self.lines(1, &["out += put_i32(len(x))", "for v in x:"])?;
                self.write(2, inner_type, "v")
            }
            Type::Map { .. } => bail!("a map is a type that the package does not write"),
            _ => self.write(1, type_, "x"),
        }
    }

    /// Objects are the first fields (`order`), and shares of them are taken when the others are written, as in a call.
    fn write_record(&mut self, fields: &[Field]) -> Result<()> {
        let objects = fields.iter().take_while(|field| matches!(field.as_type(), Type::Object { .. })).count();
        if objects == 0 {
            return self.write_fields(1, fields);
        }
        for (at, field) in fields[..objects].iter().enumerate() {
            self.line(1, format_args!("v{at} = core[{:?}](v{at})", name_of(&field.as_type())?))?;
        }
        self.line(1, "whole, out = out, bytearray()")?;
        for (at, field) in fields.iter().enumerate().skip(objects) {
            self.write(1, &field.as_type(), &format!("v{at}"))?;
        }
        for at in 0..objects {
            self.line(1, format_args!("whole += put_u64(v{at}.cloned())"))?;
        }
        self.line(1, "whole += out")
    }

    fn write_fields(&mut self, depth: usize, fields: &[Field]) -> Result<()> {
        let mut fields = fields.iter().enumerate();
        fields.try_for_each(|(at, field)| self.write(depth, &field.as_type(), &format!("v{at}")))
    }

    fn write(&mut self, depth: usize, type_: &Type, from: &str) -> Result<()> {
        let kind = name_of(type_)?;
        let value = match type_ {
            Type::Box { inner_type } => return self.write(depth, inner_type, from),
            Type::Optional { inner_type } => {
                self.line(depth, format_args!("if {from} is None:"))?;
                self.lines(depth, &["    out += b\"\\0\"", "else:", "    out += b\"\\1\""])?;
                return self.write(depth + 1, inner_type, from);
            }
            Type::String | Type::Custom { .. } | Type::Bytes => {
                let value = match type_ {
                    Type::String => format!("{from}.encode()"),
                    Type::Bytes => from.to_owned(),
                    // The method, not format(): that would silently take a float.
                    _ if kind == "Decimal" => format!("digits({from}, \"f\").encode()"),
                    _ => bail!("{kind} is a type that the package does not know"),
                };
                self.line(depth, format_args!("s = {value}"))?;
                return self.lines(depth, &["out += put_i32(len(s))", "out += s"]);
            }
            Type::Timestamp | Type::Duration => {
                let epoch = if *type_ == Type::Timestamp { " - EPOCH" } else { "" };
                self.line(depth, format_args!("d = {from}{epoch}"))?;
                "put_time(d.days * 86400 + d.seconds, d.microseconds * 1000)".to_owned()
            }
            Type::Boolean => format!("b\"\\1\" if {from} else b\"\\0\""),
            Type::Object { .. } | Type::CallbackInterface { .. } => format!("put_u64(core[{kind:?}]({from}).cloned())"),
            Type::Enum { name, .. } if self.is_flat(name)? => format!("put_i32(numbers[{name:?}][{from}])"),
            _ if NUMBERS.iter().any(|(number, ..)| *number == kind) => format!("put_{kind}({from})"),
            _ => return self.line(depth, format_args!("write_{}({from}, out)", suffix(type_)?)),
        };
        self.line(depth, format_args!("out += {value}"))
    }
}

impl<'a> Code<'a> {
    fn fields(&self, name: &str) -> Result<&'a [Field]> {
        let record = self.interface.get_record_definition(name);
        Ok(record.with_context(|| format!("there is no {name}"))?.fields())
    }

    fn variants(&self, name: &str) -> Result<&'a [Variant]> {
        let each = self.interface.get_enum_definition(name);
        Ok(each.with_context(|| format!("there is no {name}"))?.variants())
    }

    fn is_flat(&self, name: &str) -> Result<bool> {
        self.interface.get_enum_definition(name).map(is_flat).with_context(|| format!("there is no {name}"))
    }
}
