//! Masks named values in XML and HTML: contents and attributes, by the names of their elements and attributes.

use super::{
    encodings::Encoding,
    names::{self, Kind, of_field},
    pairs::MaskText,
};

/// HTML elements without an end tag.
const VOID: [&str; 8] = ["input", "br", "hr", "img", "meta", "link", "base", "wbr"];
/// The nesting limit: in deeper elements, the container's name applies.
const MAX_OPEN: usize = 100;
const DATA_BEGIN: &str = "<![CDATA[";
const DATA_END: &str = "]]>";

/// An open element.
struct Element {
    tag: String,
    /// The name that an attribute gives to the element's value.
    label: Option<String>,
}

/// Whether a text has tags.
pub(super) fn is_markup(text: &str) -> bool {
    next_tag(text).is_some()
}

/// The text with contents and attributes masked.
pub(super) fn in_markup(text: &str, mask: &mut dyn MaskText) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut open: Vec<Element> = Vec::new();
    let mut rest = text;
    loop {
        let (content, markup) = rest.split_at(next_tag(rest).unwrap_or(rest.len()));
        masked.push_str(&in_content(content, &open, mask));
        if markup.is_empty() {
            return masked;
        }
        if let Some(data) = markup.strip_prefix(DATA_BEGIN) {
            let end = data.find(DATA_END).unwrap_or(data.len());
            masked.push_str(DATA_BEGIN);
            masked.push_str(&match &data[..end] {
                blank if blank.trim().is_empty() => blank.to_owned(),
                // CDATA has no entities.
                content => mask.named(name_of_content(&open), content),
            });
            rest = &data[end..];
            if let Some(behind) = rest.strip_prefix(DATA_END) {
                masked.push_str(DATA_END);
                rest = behind;
            }
            continue;
        }
        let (tag, behind) = markup.split_at(tag_length(markup));
        rest = behind;
        if let Some(comment) = tag.strip_prefix("<!--") {
            masked.push_str("<!--");
            masked.push_str(&mask.named("", comment));
        } else if let Some(name) = tag.strip_prefix("</") {
            let name = name.trim_end_matches('>').trim();
            if let Some(begun) = open.iter().rposition(|element| element.tag == name) {
                open.truncate(begun);
            }
            masked.push_str(&mask.free(tag));
        } else {
            let element = in_tag(tag, &mut masked, mask);
            let has_content = !tag.ends_with("/>") && !tag.starts_with("<!") && !tag.starts_with("<?");
            if has_content && !VOID.contains(&element.tag.to_ascii_lowercase().as_str()) && open.len() < MAX_OPEN {
                open.push(element);
            }
        }
    }
}

/// The start of the next tag.
fn next_tag(text: &str) -> Option<usize> {
    let is_begin = |(at, _): &(usize, &str)| {
        text[at + 1..].starts_with(|character: char| character.is_alphabetic() || "/!?_".contains(character))
    };
    text.match_indices('<').find(is_begin).map(|(at, _)| at)
}

fn tag_length(markup: &str) -> usize {
    if markup.starts_with("<!--") {
        return markup.find("-->").map_or(markup.len(), |end| end + 3);
    }
    let mut quote = None;
    for (at, byte) in markup.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if byte == open => quote = None,
            _ => {}
        }
    }
    // A quote that is not closed: the tag ends as it would without quotes.
    markup.find('>').map_or(markup.len(), |end| end + 1)
}

fn in_content(content: &str, open: &[Element], mask: &mut dyn MaskText) -> String {
    if content.trim().is_empty() {
        return content.to_owned();
    }
    named(name_of_content(open), content, mask)
}

/// The name for a value in the open elements.
fn name_of_content(open: &[Element]) -> &str {
    let is_secret = |element: &&Element| of_field(local(&element.tag)) == Kind::Secret;
    match (open.iter().find(is_secret), open) {
        (Some(element), _) => local(&element.tag),
        (None, [.., container, element]) => {
            element.label.as_deref().unwrap_or(names::effective(local(&container.tag), local(&element.tag)))
        }
        (None, [element]) => element.label.as_deref().unwrap_or(local(&element.tag)),
        (None, []) => "",
    }
}

/// A value as written in markup.
fn named(name: &str, value: &str, mask: &mut dyn MaskText) -> String {
    let Some(plain) = Encoding::Entities.decode(value) else { return mask.named(name, value) };
    let masked = mask.named(name, &plain);
    if masked == plain { value.to_owned() } else { Encoding::Entities.encode(&masked) }
}

/// A tag with its attributes, and the element that it opens.
fn in_tag(tag: &str, masked: &mut String, mask: &mut dyn MaskText) -> Element {
    let name_end = tag.find(|character: char| character.is_whitespace() || character == '>').unwrap_or(tag.len());
    let name = tag[1..name_end].trim_end_matches('/');
    let attributes = attributes(tag, 1 + name.len());
    let label = attributes.iter().find(|attribute| names::is_label(local(attribute.name)));
    let label = label.map(|attribute| attribute.value(tag)).filter(|label| of_field(label) != Kind::Other);
    let mut at = 0;
    for attribute in &attributes {
        masked.push_str(&mask.free(&tag[at..attribute.start]));
        let value = attribute.value(tag);
        let own = local(attribute.name);
        let name = match label {
            Some(label) if names::is_generic(own) => label,
            // A name is not a value.
            _ if names::is_label(own) => "",
            _ => names::effective(local(name), own),
        };
        masked.push_str(&named(name, value, mask));
        at = attribute.end;
    }
    masked.push_str(&mask.free(&tag[at..]));
    Element { tag: name.to_owned(), label: label.map(str::to_owned) }
}

/// An attribute, and the position of its value in the tag.
struct Attribute<'a> {
    name: &'a str,
    start: usize,
    end: usize,
}

impl Attribute<'_> {
    fn value<'a>(&self, tag: &'a str) -> &'a str {
        &tag[self.start..self.end]
    }
}

fn attributes(tag: &str, behind_name: usize) -> Vec<Attribute<'_>> {
    let mut attributes = Vec::new();
    let mut at = behind_name;
    while let Some(equals) = tag[at..].find('=').map(|equals| at + equals) {
        let name = tag[at..equals].trim_end();
        let name = name.rsplit(|character: char| character.is_whitespace() || character == '/').next().unwrap_or(name);
        let value = equals + 1 + (tag[equals + 1..].len() - tag[equals + 1..].trim_start().len());
        let quote = tag[value..].chars().next().filter(|first| matches!(first, '"' | '\''));
        let start = value + quote.map_or(0, char::len_utf8);
        let ends = |character: char| match quote {
            Some(quote) => character == quote,
            None => character.is_whitespace() || character == '>',
        };
        let end = tag[start..].find(ends).map_or(tag.len(), |end| start + end);
        attributes.push(Attribute { name, start, end });
        at = (end + quote.map_or(0, char::len_utf8)).min(tag.len());
    }
    attributes
}

/// A name without the prefix of its namespace.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}
