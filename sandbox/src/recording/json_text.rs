//! Rewrites names and values in a JSON text and leaves every other character as it is: digits, order, white space, repeated names.
//! Works on truncated and malformed texts, too.

use std::fmt;

use crate::encoding::json_literal::{literal_length, read};

/// The nesting limit. What is nested deeper is replaced as a whole.
const MAX_DEPTH: usize = 100;
/// Replaces what is nested too deeply, and text that cannot be read.
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

/// The name that a path ends with; of an element, its array's.
pub(crate) fn name(path: &[Step]) -> &str {
    let names = path.iter().rev().find_map(|step| match step {
        Step::Name(name) => Some(name.as_str()),
        Step::Index(_) => None,
    });
    names.unwrap_or_default()
}

/// What stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// The name of a member, as a JSON string.
    Name(&'a str),
    /// A value that is no container, as it is written.
    Scalar(&'a str),
    /// The beginning of an object or an array.
    Container,
}

/// Whether a text begins as JSON that has members or strings.
pub(crate) fn is_json(text: &str) -> bool {
    text.trim_start_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
        .starts_with(['{', '[', '"'])
}

/// The text with each token replaced for which `change` returns something.
pub(crate) fn rewrite(text: &str, change: &mut dyn FnMut(&[Step], Token<'_>) -> Option<String>) -> String {
    let mut writer = Rewriter { text, at: 0, written: String::with_capacity(text.len()), path: Vec::new() };
    let mut containers: Vec<Container> = Vec::new();
    while let Some(byte) = text.as_bytes().get(writer.at) {
        match byte {
            b'{' | b'[' => {
                let replacement = if containers.len() < MAX_DEPTH {
                    change(&writer.path, Token::Container)
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
            b'"' => {
                let end = writer.at + literal_length(&text[writer.at..]);
                let literal = &text[writer.at..end];
                let is_name = containers.last().is_some_and(|container| container.is_at_name);
                let token = if is_name { Token::Name(literal) } else { Token::Scalar(literal) };
                if let (true, Some(container), Some(step)) = (is_name, containers.last_mut(), writer.path.last_mut()) {
                    *step = Step::Name(read(literal).unwrap_or_default());
                    container.is_at_name = false;
                }
                match change(&writer.path, token) {
                    Some(replacement) => writer.replace(end, &replacement),
                    None => writer.copy(end),
                }
            }
            b':' => writer.copy(writer.at + 1),
            byte if byte.is_ascii_whitespace() => writer.copy(writer.at + 1),
            _ => {
                let rest = &text[writer.at..];
                let length = rest
                    .find(|character: char| character.is_whitespace() || "{}[],:\"".contains(character))
                    .unwrap_or(rest.len());
                let end = writer.at + length;
                match change(&writer.path, Token::Scalar(&rest[..length])) {
                    Some(replacement) => writer.replace(end, &replacement),
                    None => writer.copy(end),
                }
            }
        }
    }
    writer.written
}

/// The values of a JSON text that are no containers, with their paths.
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
    /// Whether a string that comes next is a name.
    is_at_name: bool,
}

struct Rewriter<'a> {
    text: &'a str,
    at: usize,
    written: String,
    path: Vec<Step>,
}

impl Rewriter<'_> {
    fn copy(&mut self, end: usize) {
        self.written.push_str(&self.text[self.at..end]);
        self.at = end;
    }

    fn replace(&mut self, end: usize, replacement: &str) {
        self.written.push_str(replacement);
        self.at = end;
    }
}

/// The text of a value: the content of a string, and anything else as it is written.
pub(crate) fn value_text(raw: &str) -> Option<String> {
    if raw.starts_with('"') { read(raw) } else { Some(raw.to_owned()) }
}

/// How long the container is that a text begins with.
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
    fn deep_nesting_is_replaced_as_a_whole() {
        let deep = format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000));
        let written = rewrite(&deep, &mut |_, _| None);
        assert!(written.contains("\"***\"") && written.len() < 300, "{}", written.len());
    }
}
