//! JSON parsing, lenient about the shape of a response and strict about its text: numbers keep their digits, and a
//! document with duplicate names is not read at all.
//!
//! serde_json validates the text, once. An index then records the place of each value, so that a search for a field
//! does not parse again: a status query searches about twenty times.

mod validity;

use std::{borrow::Cow, collections::HashSet, ops::Range};

/// A document and its index.
pub(crate) struct Document<'a> {
    text: &'a str,
    /// Each value before those inside it, in the order of the text.
    nodes: Vec<Node>,
}

/// The place of a value, in 32 bits; longer texts are rejected.
struct Node {
    /// The name of a member, with its quotes if it has an escape; empty for other values.
    name: Range<u32>,
    value: Range<u32>,
    /// The number of the first node that is not inside this one.
    end: u32,
}

/// A JSON value inside a document.
#[derive(Clone, Copy)]
pub(crate) struct Json<'a> {
    document: &'a Document<'a>,
    number: usize,
}

/// Up to this number, members are compared with each other; beyond it, a set is cheaper.
const FEW_MEMBERS: usize = 16;

impl<'a> Document<'a> {
    /// The document of a text, or why it has none.
    pub(crate) fn parse(text: &'a str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        validity::check(text)?;
        u32::try_from(text.len()).map_err(|_| "the text is too long".to_owned())?;
        let document = Self { text, nodes: Index::of(text) };
        if document.is_ambiguous() { Err("an object has the same name twice".to_owned()) } else { Ok(document) }
    }

    /// The root value.
    pub(crate) fn root(&'a self) -> Json<'a> {
        Json { document: self, number: 0 }
    }

    /// Whether an object has the same name twice: the choice of one value could decide whether a payment is charged.
    fn is_ambiguous(&self) -> bool {
        (0..self.nodes.len()).any(|number| self.starts_with(number, b'{') && self.has_duplicates(number))
    }

    fn has_duplicates(&self, object: usize) -> bool {
        let mut names: Vec<_> = self.children(object).map(|child| self.name(child)).collect();
        if names.len() > FEW_MEMBERS {
            let mut seen = HashSet::new();
            return names.into_iter().any(|name| !seen.insert(name));
        }
        while let Some(name) = names.pop() {
            if names.contains(&name) {
                return true;
            }
        }
        false
    }

    fn children(&self, parent: usize) -> impl Iterator<Item = usize> + Clone {
        let end = self.nodes[parent].end as usize;
        let first = Some(parent + 1).filter(|first| *first < end);
        std::iter::successors(first, move |child| Some(self.nodes[*child].end as usize).filter(|next| *next < end))
    }

    fn name(&self, number: usize) -> Cow<'_, str> {
        let name = self.slice(&self.nodes[number].name);
        if name.starts_with('"') { unquoted(name).unwrap_or_default() } else { name.into() }
    }

    /// Compares bytes, without unquoting a name that has no escape: a status query compares about a hundred.
    fn is_named(&self, number: usize, name: &[u8]) -> bool {
        match self.slice(&self.nodes[number].name).as_bytes() {
            [b'"', ..] => self.name(number).as_bytes() == name,
            plain => plain == name,
        }
    }

    fn source(&self, number: usize) -> &str {
        self.slice(&self.nodes[number].value)
    }

    fn starts_with(&self, number: usize, byte: u8) -> bool {
        self.source(number).as_bytes().first() == Some(&byte)
    }

    fn slice(&self, range: &Range<u32>) -> &str {
        &self.text[range.start as usize..range.end as usize]
    }
}

impl<'a> Json<'a> {
    pub(crate) fn is_object(self) -> bool {
        self.document.starts_with(self.number, b'{')
    }

    pub(crate) fn is_null(self) -> bool {
        self.source() == "null"
    }

    /// Whether it is a blank string.
    pub(crate) fn is_blank(self) -> bool {
        self.text().is_some_and(|text| text.trim().is_empty())
    }

    /// Its place in the document, which is the same for every pointer to it.
    pub(crate) fn place(self) -> usize {
        self.number
    }

    /// The value's own text.
    pub(crate) fn source(self) -> &'a str {
        self.document.source(self.number)
    }

    /// The value at a JSON pointer (RFC 6901).
    pub(crate) fn at(self, pointer: &str) -> Option<Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        let tokens = pointer.strip_prefix('/')?.as_bytes();
        tokens.split(|byte| *byte == b'/').try_fold(self, |value, token| value.child(token))
    }

    /// A string's text, or a number's digits unchanged.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let source = self.source();
        match source.as_bytes().first()? {
            b'"' => unquoted(source),
            b'-' | b'0'..=b'9' => Some(source.into()),
            _ => None,
        }
    }

    pub(crate) fn items(self) -> Option<impl Iterator<Item = Self>> {
        self.document.starts_with(self.number, b'[').then(|| self.children())
    }

    /// The members of an object, with their names; empty for other values.
    pub(crate) fn members(self) -> impl Iterator<Item = (Cow<'a, str>, Self)> {
        let named = move |child: Self| (child.document.name(child.number), child);
        self.is_object().then(|| self.children().map(named)).into_iter().flatten()
    }

    fn children(self) -> impl Iterator<Item = Self> {
        self.document.children(self.number).map(move |number| Self { number, ..self })
    }

    fn child(self, token: &[u8]) -> Option<Self> {
        if token.contains(&b'~') {
            let name = str::from_utf8(token).ok()?.replace("~1", "/").replace("~0", "~");
            return self.named(name.as_bytes());
        }
        self.named(token)
    }

    fn named(self, name: &[u8]) -> Option<Self> {
        if self.is_object() {
            self.children().find(|child| self.document.is_named(child.number, name))
        } else {
            self.items()?.nth(str::from_utf8(name).ok()?.parse().ok()?)
        }
    }
}

/// The text of a JSON string. Most have no escapes, and need no copy.
fn unquoted(quoted: &str) -> Option<Cow<'_, str>> {
    let inside = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if inside.contains('\\') { serde_json::from_str(quoted).ok().map(Cow::Owned) } else { Some(inside.into()) }
}

/// No node has this number, because a text has more bytes than nodes.
const OUTSIDE: u32 = u32::MAX;

/// Builds the index of a text that is known to be JSON.
struct Index<'a> {
    text: &'a [u8],
    nodes: Vec<Node>,
    /// The object or array around the place. While a node is open, its end is the number of the one around it.
    open: u32,
    /// The name of the member whose value comes next.
    name: Option<Range<u32>>,
}

impl<'a> Index<'a> {
    fn of(text: &'a str) -> Vec<Node> {
        let mut index = Self { text: text.as_bytes(), nodes: Vec::with_capacity(16), open: OUTSIDE, name: None };
        let mut at = 0;
        while let Some(byte) = index.text.get(at) {
            at = match byte {
                b'{' | b'[' => index.begin(at),
                b'}' | b']' => index.end(at),
                b'"' => index.string(at),
                b'-' | b'0'..=b'9' | b'a'..=b'z' => index.value(at..index.end_of_plain(at)),
                _ => at + 1,
            };
        }
        index.nodes
    }

    fn begin(&mut self, at: usize) -> usize {
        let around = std::mem::replace(&mut self.open, self.nodes.len() as u32);
        let next = self.value(at..at + 1);
        self.nodes[self.open as usize].end = around;
        next
    }

    fn end(&mut self, at: usize) -> usize {
        let end = self.nodes.len() as u32;
        if let Some(node) = self.nodes.get_mut(self.open as usize) {
            node.value.end = at as u32 + 1;
            self.open = std::mem::replace(&mut node.end, end);
        }
        at + 1
    }

    /// A string before a colon is the name of the value that comes next.
    fn string(&mut self, at: usize) -> usize {
        let end = self.end_of_string(at);
        let follows = self.text[end..].iter().find(|byte| !byte.is_ascii_whitespace());
        if follows == Some(&b':') {
            let quotes = if self.text[at..end].contains(&b'\\') { 0 } else { 1 };
            self.name = Some(at as u32 + quotes..end as u32 - quotes);
            return end;
        }
        self.value(at..end)
    }

    fn value(&mut self, place: Range<usize>) -> usize {
        let name = self.name.take().unwrap_or_default();
        let end = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { name, value: place.start as u32..place.end as u32, end });
        place.end
    }

    fn end_of_string(&self, start: usize) -> usize {
        let mut at = start + 1;
        loop {
            match self.text.get(at) {
                Some(b'"') => return at + 1,
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
                None => return self.text.len(),
            }
        }
    }

    /// The end of a number, `true`, `false` or `null`.
    fn end_of_plain(&self, start: usize) -> usize {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        self.text[start..].iter().position(|byte| !is_part(byte)).map_or(self.text.len(), |length| start + length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{
        collection::{btree_map, vec},
        prelude::*,
    };
    use serde_json::Value;

    use super::*;

    #[test]
    fn pointers_find_what_they_name() {
        let text = r#"{"a":{"b/c":[10,{"d~e":"x"}]},"n":100.10,"s":"\u0041"}"#;
        let document = Document::parse(text).unwrap();
        let json = document.root();
        let found = |pointer| json.at(pointer).and_then(Json::text);
        assert_eq!(found("/a/b~1c/0").as_deref(), Some("10"));
        assert_eq!(found("/a/b~1c/1/d~0e").as_deref(), Some("x"));
        assert_eq!(found("/n").as_deref(), Some("100.10"));
        assert_eq!(found("/s").as_deref(), Some("A"));
        assert_eq!(found("/a"), None);
        assert!(json.at("/a/b~1c/2").is_none() && json.at("/x").is_none() && json.at("n").is_none());
        assert!(json.at("").unwrap().is_object());
    }

    #[test]
    fn ambiguous_or_invalid_json_is_rejected() {
        for text in
            ["", "{", "{} {}", r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#, "nope", "1e", "01e999", "1e999x"]
        {
            assert!(Document::parse(text).is_err(), "{text}");
        }
        assert!(Document::parse(&"[".repeat(100_000)).is_err());
        assert!(Document::parse("\u{feff}{}").is_ok());
        for text in [r#"{"\ud800":1}"#, r#"{"a":"\ud800"}"#, "{\"a\n\":1}"] {
            assert!(Document::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn number_that_is_out_of_range_hides_nothing() {
        let long = format!("-{}.5", "9".repeat(400));
        for number in ["1e999999999", "-1E+99999999999999999999", "1.5e400", long.as_str()] {
            let text = format!(r#"{{"a\"1e999":"\\1e999 к","amount":[{number}],"status":"CHARGE"}}"#);
            let document = Document::parse(&text).unwrap_or_else(|problem| panic!("{number}: {problem}"));
            let found = |pointer| document.root().at(pointer).and_then(Json::text);
            assert_eq!(found("/status").as_deref(), Some("CHARGE"));
            assert_eq!(found("/amount/0").as_deref(), Some(number));
            assert_eq!(found("/a\"1e999").as_deref(), Some("\\1e999 к"));
            for broken in
                [format!("{{{number}}}"), format!("[{number}"), format!("[{number},\"\n\"]"), format!("{number}.")]
            {
                assert!(Document::parse(&broken).is_err(), "{broken}");
            }
        }
        assert!(Document::parse("1e999").is_ok());
    }

    #[test]
    fn many_members_are_compared_too() {
        let members: Vec<_> = (0..100).map(|number| format!(r#""{number}":0"#)).collect();
        assert!(Document::parse(&format!("{{{}}}", members.join(","))).is_ok());
        assert!(Document::parse(&format!(r#"{{{},"\u0037":1}}"#, members.join(","))).is_err());
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let text = "[ -~\\n\u{0}-\u{1f}к😀]{0,6}";
        let number = prop_oneof![any::<i64>().prop_map(Value::from), any::<f64>().prop_map(Value::from)];
        let leaf =
            prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number, text.prop_map(Value::from)];
        leaf.prop_recursive(4, 64, 20, move |inner| {
            prop_oneof![
                vec(inner.clone(), 0..5).prop_map(Value::from),
                btree_map(text, inner, 0..20).prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    /// As the index has it.
    fn read(json: Json<'_>) -> Value {
        if let Some(items) = json.items() {
            return items.map(read).collect();
        }
        if json.is_object() {
            let name = |child: &Json<'_>| json.document.name(child.number).into_owned();
            return json.children().map(|child| (name(&child), read(child))).collect();
        }
        serde_json::from_str(json.source()).unwrap()
    }

    proptest! {
        #[test]
        fn index_holds_what_serde_json_reads(value in any_value(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let document = Document::parse(&text).unwrap();
            // Written and read once, so that floating-point numbers are what serde_json makes of their digits.
            prop_assert_eq!(read(document.root()), serde_json::from_str::<Value>(&text).unwrap());
        }

        /// Whatever serde_json takes for a document has an index that ends with it.
        #[test]
        fn any_text_is_indexed_as_a_whole_or_not_read(text in r#"([{}\[\]:, ]|"[a\\"]{0,3}"|[-+0-9.eE]{1,4}|true|null)*"#) {
            if let Ok(document) = Document::parse(&text) {
                prop_assert_eq!(document.nodes[0].end as usize, document.nodes.len());
                prop_assert_eq!(document.root().source(), text.trim());
            }
        }
    }
}
