//! What a Markdown document consists of, for the checks: links, anchors and code.

use std::collections::HashMap;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Something in a document, and its line.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    pub line: usize,
    pub text: String,
}

/// One document.
pub struct Document<'a> {
    pub path: &'a str,
    /// Where links lead to.
    pub links: Vec<Found>,
    /// What a link's `#` can name: the headings, as GitHub names them.
    pub anchors: Vec<String>,
    /// Code within a sentence.
    pub inline: Vec<Found>,
    /// The lines of examples that are typed into a shell.
    pub typed: Vec<Found>,
}

/// The languages of code blocks whose lines are commands.
const SHELLS: [&str; 4] = ["sh", "bash", "shell", "console"];

impl<'a> Document<'a> {
    pub fn parse(path: &'a str, text: &str) -> Self {
        let mut document = Self { path, links: vec![], anchors: vec![], inline: vec![], typed: vec![] };
        let mut headings = Headings::default();
        let mut in_shell = false;
        for (event, place) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            let line = text[..place.start].matches('\n').count() + 1;
            headings.hear(&event);
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push(Found { line, text: dest_url.into_string() });
                }
                Event::Code(code) => document.inline.push(Found { line, text: code.into_string() }),
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    in_shell = SHELLS.contains(&&*language)
                }
                Event::End(TagEnd::CodeBlock) => in_shell = false,
                Event::Text(block) if in_shell => {
                    let lines = block.lines().enumerate();
                    document.typed.extend(lines.map(|(at, text)| Found { line: line + at, text: text.to_owned() }));
                }
                _ => {}
            }
        }
        document.anchors = headings.anchors;
        document
    }

    /// What is said of something in it.
    pub fn problem(&self, found: &Found, what: &str) -> String {
        format!("{}:{}: `{}`: {what}", self.path, found.line, found.text)
    }
}

/// Collects the headings' anchors.
#[derive(Default)]
struct Headings {
    current: Option<String>,
    seen: HashMap<String, usize>,
    anchors: Vec<String>,
}

impl Headings {
    fn hear(&mut self, event: &Event<'_>) {
        match (event, &mut self.current) {
            (Event::Start(Tag::Heading { .. }), _) => self.current = Some(String::new()),
            (Event::Text(text) | Event::Code(text), Some(heading)) => heading.push_str(text),
            (Event::End(TagEnd::Heading(_)), _) => {
                let heading = self.current.take().unwrap_or_default();
                self.add(slug(&heading));
            }
            _ => {}
        }
    }

    /// Of headings that are called alike, all but the first are numbered.
    fn add(&mut self, slug: String) {
        let count = self.seen.entry(slug.clone()).or_default();
        self.anchors.push(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
}

/// The name that GitHub gives a heading: small letters, no punctuation, hyphens for spaces.
fn slug(heading: &str) -> String {
    let anchor = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    anchor.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(found: &[Found]) -> Vec<(usize, &str)> {
        found.iter().map(|found| (found.line, found.text.as_str())).collect()
    }

    #[test]
    fn headings_are_named_as_github_names_them() {
        let document =
            Document::parse("a.md", "# The `GET`, with a body!\n\n## 2. It's so\n\n## Errors\n\n## Errors\n");
        assert_eq!(document.anchors, ["the-get-with-a-body", "2-its-so", "errors", "errors-1"]);
    }

    #[test]
    fn links_and_code_are_found_where_they_are() {
        let sentence = "See [a](b.md)\nand `c/d`.\n\n";
        let table = "| x |\n|---|\n| [e][f] `g` |\n\n[f]: h.md#i\n\n";
        let blocks = "```sh\nmake a\nmake b\n```\n\n```json\n\"make c\"\n```\n";
        let text = [sentence, table, blocks].concat();
        let document = Document::parse("a.md", &text);
        assert_eq!(texts(&document.links), [(1, "b.md"), (6, "h.md#i")]);
        assert_eq!(texts(&document.inline), [(2, "c/d"), (6, "g")]);
        assert_eq!(texts(&document.typed), [(11, "make a"), (12, "make b")]);
    }

    #[test]
    fn what_is_shown_as_code_is_no_link() {
        assert_eq!(Document::parse("a.md", "`[a](b.md)`\n\n    [c](d.md)\n").links, []);
    }
}
