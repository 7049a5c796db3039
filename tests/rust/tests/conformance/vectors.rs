//! Reads the vector files: constants are put in, defaults filled up.

use std::{collections::HashSet, fs, path::PathBuf};

use serde_json::{Map, Value};

/// One vector, with everything that it says spelled out.
pub struct Vector {
    pub group: String,
    pub name: String,
    pub spec: Value,
}

pub fn directory() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance"))
}

/// All vectors, and what is wrong with their files.
pub fn load() -> (Vec<Vector>, Vec<String>) {
    let common = read("common.json");
    let mut files: Vec<String> = fs::read_dir(directory())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json") && name != "common.json")
        .collect();
    files.sort();
    let vectors: Vec<Vector> = files.iter().flat_map(|file| expand(&common, &read(file))).collect();
    let mut names = HashSet::new();
    let doubled = vectors.iter().filter(|vector| !names.insert(vector.name.as_str()));
    let problems = doubled.map(|vector| format!("two vectors are named {:?}", vector.name)).collect();
    (vectors, problems)
}

fn read(file: &str) -> Value {
    let text = fs::read_to_string(directory().join(file)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|problem| panic!("{file}: {problem}"))
}

fn expand(common: &Value, file: &Value) -> Vec<Vector> {
    let mut constants = object(&common["constants"]);
    constants.extend(object(&file["constants"]));
    let defaults = merged(&common["defaults"], &file["defaults"]);
    let list = file["vectors"].as_array().expect("vectors");
    list.iter()
        .map(|vector| Vector {
            group: text(&file["group"]),
            name: text(&vector["name"]),
            spec: resolved(&merged(&defaults, vector), &constants),
        })
        .collect()
}

/// A key that the vector lacks comes from the defaults; `config` is filled up key by key.
fn merged(defaults: &Value, vector: &Value) -> Value {
    let mut whole = object(defaults);
    let mut config = object(&whole.remove("config").unwrap_or_default());
    whole.extend(object(vector));
    config.extend(object(&vector["config"]));
    whole.insert("config".to_owned(), Value::Object(config));
    Value::Object(whole)
}

/// `$use` with `$with`, `$repeat` with `times`, and `$concat` are spelled out.
fn resolved(value: &Value, constants: &Map<String, Value>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| resolved(item, constants)).collect(),
        Value::Object(map) if map.contains_key("$use") => used(map, constants),
        Value::Object(map) if map.contains_key("$repeat") => {
            let times = map["times"].as_u64().expect("times");
            text(&map["$repeat"]).repeat(usize::try_from(times).unwrap()).into()
        }
        Value::Object(map) if map.contains_key("$concat") => {
            let parts = resolved(&map["$concat"], constants);
            parts.as_array().unwrap().iter().map(text).collect::<String>().into()
        }
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), resolved(value, constants))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn used(map: &Map<String, Value>, constants: &Map<String, Value>) -> Value {
    let name = text(&map["$use"]);
    let constant = constants.get(&name).unwrap_or_else(|| panic!("no constant is named {name:?}"));
    let constant = resolved(constant, constants);
    match map.get("$with") {
        None => constant,
        Some(changes) => {
            let mut changed = object(&constant);
            changed.extend(object(&resolved(changes, constants)));
            Value::Object(changed)
        }
    }
}

pub fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}
