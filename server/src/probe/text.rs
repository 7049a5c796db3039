//! Text of the gateway, escaped for a terminal and for Markdown.

use std::fmt::Write;

/// The most characters of a value or a response on the terminal.
const SHOWN: usize = 400;

/// The text in one line, with escapes for characters that move a terminal's cursor or change the text direction.
pub(super) fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for sign in text.chars() {
        if is_unseen(sign) {
            line.extend(sign.escape_default());
        } else {
            line.push(sign);
        }
    }
    line
}

/// The text in one line, cut to the length for a terminal.
pub(super) fn shown(text: &str) -> String {
    visible(&cut(text, SHOWN))
}

/// The text as prose in a Markdown list or table: it cannot begin a line, cell, code, link or tag.
pub(super) fn prose(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in visible(text).chars() {
        match sign {
            '\\' | '`' | '|' | '[' | ']' => escaped.extend(['\\', sign]),
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            _ => escaped.push(sign),
        }
    }
    escaped
}

/// The text as code inside a line of Markdown, between more backticks than its longest run.
pub(super) fn code(text: &str) -> String {
    let text = visible(text);
    let mut fence = "`".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A block of code with a fence that the text does not contain. Of invisible characters only line feeds stay.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| visible(line.trim_end_matches('\r'))).collect();
    let text = lines.join("\n");
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    let mut block = String::with_capacity(text.len());
    let _ = writeln!(block, "{fence}{language}\n{text}\n{fence}");
    block
}

/// The first characters of a text, with an ellipsis if there are more.
pub(super) fn cut(text: &str, longest: usize) -> String {
    let mut cut: String = text.chars().take(longest).collect();
    if text.chars().nth(longest).is_some() {
        cut.push('…');
    }
    cut
}

fn is_unseen(sign: char) -> bool {
    sign.is_control()
        || matches!(sign, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gateway_text_is_escaped() {
        assert_eq!(visible("a\u{1b}[2J\nb\u{202e}"), "a\\u{1b}[2J\\nb\\u{202e}");
        assert_eq!(prose("a|b `c`\n# d <i>"), "a\\|b \\`c\\`\\\\n# d &lt;i>");
        assert_eq!(code("/a`b"), "``/a`b``");
        assert_eq!(fenced("", "``` x\r\ny\u{7}"), "````\n``` x\ny\\u{7}\n````\n");
    }
}
