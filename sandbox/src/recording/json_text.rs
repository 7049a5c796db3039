//! Rewrites names and values in a JSON text without changing other characters: digits, order, white space, repeated names. Also
//! works on truncated and malformed texts, and on the formats that JavaScript and Python print: names without quotes, single quotes.

use std::fmt;

use crate::encoding::json_literal::{literal_length, read, read_lossy};

/// The nesting limit. Deeper values are replaced as a whole.
const MAX_DEPTH: usize = 100;
/// Replaces values that are nested too deeply, and unreadable text.
const HIDDEN: &str = "\"***\"";

/// A step from a container to a value in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Name(String),
    Index(usize),
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(&name.replace('~', "~0").replace('/', "~1")),
            Self::Index(index) => write!(formatter, "{index}"),
        }
    }
}

/// The JSON pointer of a path below another pointer.
pub(crate) fn pointer(base: &str, path: &[Step]) -> String {
    path.iter().fold(base.to_owned(), |pointer, step| format!("{pointer}/{step}"))
}

/// The last name of a path; for an element, its array's name.
pub(crate) fn name(path: &[Step]) -> &str {
    let names = path.iter().rev().find_map(|step| match step {
        Step::Name(name) => Some(name.as_str()),
        Step::Index(_) => None,
    });
    names.unwrap_or_default()
}

/// A token of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// The name of a member, as a JSON string.
    Name(&'a str),
    /// A value that is not a container, as written.
    Scalar(&'a str),
    /// An object or an array, and the text after it.
    Container(&'a str),
}

/// Whether a text starts like JSON with members or strings.
pub(crate) fn is_json(text: &str) -> bool {
    text.trim_start_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
        .starts_with(['{', '[', '"'])
}

/// The text with the tokens replaced for which `change` returns a value.
pub(crate) fn rewrite(text: &str, change: &mut dyn FnMut(&[Step], Token<'_>) -> Option<String>) -> String {
    let mut writer = Rewriter { text, at: 0, written: String::with_capacity(text.len()), path: Vec::new() };
    let mut containers: Vec<Container> = Vec::new();
    while let Some(byte) = text.as_bytes().get(writer.at) {
        match byte {
            b'{' | b'[' => {
                let replacement = if containers.len() < MAX_DEPTH {
                    change(&writer.path, Token::Container(&text[writer.at..]))
                } else {
                    Some(HIDDEN.to_owned())
                };
                if let Some(replacement) = replacement {
                    let end = writer.at + value_length(&text[writer.at..]);
                    writer.replace(end, &replacement);
                    continue;
                }
                let is_object = *byte == b'{';
                writer.path.push(if is_object { Step::Name(String::new()) } else { Step::Index(0) });
                containers.push(Container { is_object, is_at_name: is_object });
                writer.copy(writer.at + 1);
            }
            b'}' | b']' => {
                if containers.pop().is_some() {
                    writer.path.pop();
                }
                writer.copy(writer.at + 1);
            }
            b',' => {
                if let (Some(container), Some(step)) = (containers.last_mut(), writer.path.last_mut()) {
                    container.is_at_name = container.is_object;
                    if let Step::Index(index) = step {
                        *index += 1;
                    }
                }
                writer.copy(writer.at + 1);
            }
            b'"' | b'\'' => {
                let end = writer.at + literal_length(&text[writer.at..]);
                let literal = &text[writer.at..end];
                writer.value(end, literal, containers.last_mut(), change);
            }
            b':' => writer.copy(writer.at + 1),
            _ if text[writer.at..].starts_with(char::is_whitespace) => {
                writer.copy(text.len() - text[writer.at..].trim_start().len());
            }
            _ => {
                let rest = &text[writer.at..];
                // Not zero, because it starts with none of these.
                let length = rest
                    .find(|character: char| character.is_whitespace() || "{}[],:\"".contains(character))
                    .unwrap_or(rest.len());
                let end = writer.at + length;
                writer.value(end, &rest[..length], containers.last_mut(), change);
            }
        }
    }
    writer.written
}

/// The values of a JSON text that are not containers, with their paths.
pub(crate) fn scalars(text: &str) -> Vec<(Vec<Step>, String)> {
    let mut found = Vec::new();
    rewrite(text, &mut |path, token| {
        if let Token::Scalar(raw) = token {
            found.push((path.to_vec(), raw.to_owned()));
        }
        None
    });
    found
}

struct Container {
    is_object: bool,
    /// Whether a string that follows is a name.
    is_at_name: bool,
}

struct Rewriter<'a> {
    text: &'a str,
    at: usize,
    written: String,
    path: Vec<Step>,
}

impl Rewriter<'_> {
    /// A string or a bare word: the name of a member, or a value.
    fn value(
        &mut self,
        end: usize,
        raw: &str,
        container: Option<&mut Container>,
        change: &mut dyn FnMut(&[Step], Token<'_>) -> Option<String>,
    ) {
        let token = match (container.filter(|container| container.is_at_name), self.path.last_mut()) {
            (Some(container), Some(step)) => {
                *step = Step::Name(read_lossy(raw));
                container.is_at_name = false;
                Token::Name(raw)
            }
            _ => Token::Scalar(raw),
        };
        match change(&self.path, token) {
            Some(replacement) => self.replace(end, &replacement),
            None => self.copy(end),
        }
    }

    fn copy(&mut self, end: usize) {
        self.written.push_str(&self.text[self.at..end]);
        self.at = end;
    }

    fn replace(&mut self, end: usize, replacement: &str) {
        self.written.push_str(replacement);
        self.at = end;
    }
}

/// The text of a value: the content of a string, or the written text of anything else.
pub(crate) fn value_text(raw: &str) -> Option<String> {
    match raw.as_bytes().first() {
        Some(b'"') => read(raw),
        Some(b'\'') => Some(read_lossy(raw)),
        _ => Some(raw.to_owned()),
    }
}

/// The end of the first value in a JSON text. JSON lines and log lines have more text after it.
pub(crate) fn first_length(text: &str) -> usize {
    let blank = |character: char| character.is_whitespace() || character == '\u{feff}';
    let start = text.len() - text.trim_start_matches(blank).len();
    let value = &text[start..];
    start + if value.starts_with('"') { literal_length(value) } else { value_length(value) }
}

/// The values of a container that are not containers, with their steps, and the steps of its containers.
pub(crate) fn members(container: &str) -> Vec<(Step, Option<String>)> {
    let mut found = Vec::new();
    rewrite(&container[..value_length(container)], &mut |path, token| {
        let value = match token {
            Token::Name(_) => return None,
            Token::Scalar(raw) => value_text(raw),
            Token::Container(_) => None,
        };
        if let [step] = path {
            found.push((step.clone(), value));
        }
        // Values that are nested more deeply are ignored.
        (matches!(token, Token::Container(_)) && !path.is_empty()).then(String::new)
    });
    found
}

/// The length of the container at the beginning of a text.
fn value_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => at += literal_length(&text[at..]) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_changes_is_the_same() {
        for text in [
            "",
            " { \"a\" : [ 1 , 2.50, {\"b\":null} ] , \"a\":\"\\u0041\" }\n",
            "{\"a\":",
            "{\"a\":\"b",
            "}]:,\"",
            "[\u{b}1,\u{a0}a\u{2028}b\u{3000}]",
            "\u{feff}[]",
            "сом",
        ] {
            assert_eq!(rewrite(text, &mut |_, _| None), text);
        }
    }

    #[test]
    fn every_value_has_its_path() {
        let found = scalars(r#"{"a":[1,{"b/c":"x"},[true]],"d":{"a":{}},"e":2.50}"#);
        let shown: Vec<_> = found.iter().map(|(path, raw)| format!("{} {raw}", pointer("", path))).collect();
        assert_eq!(shown, ["/a/0 1", "/a/1/b~1c \"x\"", "/a/2/0 true", "/e 2.50"]);
    }

    #[test]
    fn loose_json_has_names_and_values() {
        for text in ["{cvc: '12 3', b: x}", "{'cvc': '12 3', 'b': x}", r#"{"cv\q\u0063":'12 3',"b":x"#] {
            let found = scalars(text);
            let shown: Vec<_> = found.iter().map(|(path, raw)| format!("{} {raw}", pointer("", path))).collect();
            assert_eq!(shown[1], "/b x");
            assert!(matches!(shown[0].as_str(), "/cvc '12 3'" | "/cvqc '12 3'"), "{shown:?}");
        }
    }

    #[test]
    fn members_are_those_of_one_container() {
        let found = members(r#"{"a":"1","b":{"c":2},"d":3} {"e":4}"#);
        let shown: Vec<_> =
            found.iter().map(|(step, value)| format!("{step} {}", value.as_deref().unwrap_or("-"))).collect();
        assert_eq!(shown, ["a 1", "b -", "d 3"]);
        assert_eq!(first_length(" {\"a\":\"}\"} x"), 10);
    }

    #[test]
    fn deep_nesting_is_replaced_as_a_whole() {
        let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
        let written = rewrite(&deep, &mut |_, _| None);
        assert!(written.contains("\"***\"") && written.len() < 300, "{}", written.len());
    }
}
