//! Reads the vectors of `tests/conformance/checkout`.

use std::{fs, path::Path};

use serde_json::Value;

pub struct Vector {
    pub group: String,
    pub name: String,
    pub spec: Value,
}

/// Those with a text in their name or group.
pub fn load(filter: &str) -> Vec<Vector> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/checkout");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.iter().flat_map(|path| of_file(path)).filter(|vector| vector.is_meant(filter)).collect()
}

fn of_file(path: &Path) -> Vec<Vector> {
    let file: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let group = file["group"].as_str().unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    let of = |spec: &Value| Vector {
        group: group.to_owned(),
        name: spec["name"].as_str().unwrap().to_owned(),
        spec: spec.clone(),
    };
    vectors.iter().map(of).collect()
}

impl Vector {
    fn is_meant(&self, filter: &str) -> bool {
        self.name.contains(filter) || self.group.contains(filter)
    }
}
