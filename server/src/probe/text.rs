//! Text of the gateway, made harmless where it is shown: on a terminal, and in Markdown.

use std::fmt::Write;

/// The most characters of a value or a response on the terminal.
const SHOWN: usize = 400;

/// The text in one line, with an escape for what would move a terminal's cursor or turn the writing round.
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

/// The same, cut to what a terminal shows of a value.
pub(super) fn shown(text: &str) -> String {
    visible(&cut(text, SHOWN))
}

/// The text as prose in a Markdown list or table: it begins no line, cell, code, link or tag of its own.
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

/// The text as code inside a line of Markdown, between more backticks than it has in a row.
pub(super) fn code(text: &str) -> String {
    let text = visible(text);
    let mut fence = "`".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A block of code with a fence that the text does not have. Only line feeds stay of what is not seen.
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

/// The first characters of a text, and a sign where there are more.
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
