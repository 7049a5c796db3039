//! The page that shows the interface to people: all that the description says is on it.

use std::{collections::BTreeMap, env, fs, path::Path};

use serde_json::{Value, json};

use crate::common::{open, start};

/// The members of a schema by their paths, each with its meaning.
fn members(described: &Value, schema: &Value, prefix: &str, found: &mut BTreeMap<String, Vec<String>>) {
    if let Some(name) = schema["$ref"].as_str() {
        let pointer = name.trim_start_matches('#');
        return members(described, described.pointer(pointer).expect("a schema"), prefix, found);
    }
    for form in schema["anyOf"].as_array().into_iter().flatten() {
        members(described, form, prefix, found);
    }
    if schema["type"] == "array" {
        members(described, &schema["items"], &format!("{prefix}[]"), found);
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let mut texts: Vec<String> = member["description"].as_str().map(str::to_owned).into_iter().collect();
        let words = member["enum"].as_array().into_iter().flatten();
        texts.extend(words.filter_map(Value::as_str).map(str::to_owned));
        found.entry(path.clone()).or_default().extend(texts);
        members(described, member, &path, found);
    }
}

/// What stands between the tags; the page escapes what the description does not.
fn text_of(html: &str) -> String {
    html.replace("&#39;", "'").replace("&#38;", "&")
}

fn assert_shown(described: &Value, message: &Value, html: &str, what: &str) {
    let mut found = BTreeMap::new();
    members(described, &message["content"]["application/json"]["schema"], "", &mut found);
    for (path, texts) in found {
        assert!(html.contains(&format!("<code>{path}</code>")), "{what}: {path}");
        let is_explained = !texts.is_empty() || path == "data";
        assert!(is_explained, "{what}: nobody learns what {path} means");
        for text in texts {
            assert!(html.contains(&text.replace('`', "")), "{what}: {path}: {text}");
        }
    }
}

#[test]
fn api_page_describes_each_response_field() {
    let sandbox = start();
    let described = open(&format!("{}/openapi.json", sandbox.url())).json();
    let page = text_of(&open(&format!("{}/api", sandbox.url())).body);
    let mut count = 0;
    for (path, item) in described["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("methods") {
            let id = operation["operationId"].as_str().expect("an id");
            let article = page.split(&format!("aria-labelledby=\"{id}\"")).nth(1).expect("an article");
            let article = article.split("</article>").next().unwrap_or_default();
            for (status, answer) in operation["responses"].as_object().expect("answers") {
                let what = format!("{method} {path} {status}");
                assert!(article.contains(&format!(">{status}</span>")), "{what}");
                assert_shown(&described, answer, article, &what);
                count += 1;
            }
        }
    }
    assert!(count > 9 + 16, "{count}");
}

#[test]
fn callback_is_on_the_page() {
    let sandbox = start();
    let described = open(&format!("{}/openapi.json", sandbox.url())).json();
    let page = text_of(&open(&format!("{}/api", sandbox.url())).body);
    let section = page.split("aria-labelledby=\"callback\"").nth(1).expect("a section");
    let section = section.split("</section>").next().unwrap_or_default();
    let body = &described["webhooks"]["paymentStatusChanged"]["post"]["requestBody"];
    for name in ["orderNumber", "amount", "currency", "status", "dateCreated", "requisite", "provider"] {
        assert!(section.contains(&format!("<code>{name}</code>")), "{name}");
    }
    assert_shown(&described, body, section, "the callback");
}

/// Which months a card may be good until depends on the day on which it is described.
fn without_today(described: &mut Value) {
    if described["description"] == "The last day of the card's month is later than today." {
        described.as_object_mut().expect("a schema").remove("anyOf");
    }
    match described {
        Value::Object(members) => members.values_mut().for_each(without_today),
        Value::Array(values) => values.iter_mut().for_each(without_today),
        _ => {}
    }
}

/// A change of the interface shows in the difference of this file, and the site shows it to people.
#[test]
fn served_openapi_is_the_one_in_the_repository() {
    let sandbox = start();
    let mut described = open(&format!("{}/openapi.json", sandbox.url())).json();
    described["servers"] = json!([{ "url": "http://127.0.0.1:8400" }]);
    without_today(&mut described);
    let text = serde_json::to_string_pretty(&described).expect("JSON") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/interfaces/sandbox.json");
    if env::var_os("KASSA_WRITE_INTERFACES").is_some() {
        fs::write(&path, &text).expect("written");
    }
    let is_the_same = fs::read_to_string(&path).expect("the file") == text;
    assert!(is_the_same, "the interface has changed: KASSA_WRITE_INTERFACES=1 writes {} anew", path.display());
}
