//! Documentation: filled into lines, and with the names that a language's parameters have.

use crate::{MARK, WIDTH};

/// A text in lines that have `before` in front of them.
pub fn lines(text: &str, before: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one from the beginning");
        if line.is_empty() {
            *line = format!("{before}{word}");
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            *line += &format!(" {word}");
        } else {
            lines.push(format!("{before}{word}"));
        }
    }
    lines.join("\n") + "\n"
}

/// The mark of a generated file.
pub fn mark(comment: &str) -> String {
    MARK.map(|line| format!("{comment} {line}\n")).concat()
}

/// What is in the place of `{delay}`, `{retry_after}`, `{status}` and `{code}`.
pub fn with_parameters(doc: &str, delay: &str, retry_after: &str) -> String {
    let parameters = [("{delay}", delay), ("{retry_after}", retry_after), ("{status}", "status"), ("{code}", "code")];
    parameters.iter().fold(doc.to_owned(), |doc, (place, name)| doc.replace(place, name))
}
