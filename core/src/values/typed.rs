//! What comes along with a text that was typed, pasted or filled in, and means nothing: marks that are not seen, and
//! separators.

/// Marks that are not seen: of direction (bidi), joiners, soft hyphens, a byte order mark, variation selectors.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

/// Hyphens, dashes and the minus sign.
pub(crate) fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2043}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}')
}

/// Full stops and middle dots.
pub(crate) fn is_dot(c: char) -> bool {
    matches!(c, '.' | '\u{b7}' | '\u{2022}' | '\u{2024}' | '\u{2027}' | '\u{2219}' | '\u{22c5}' | '\u{ff0e}')
}

/// Spaces of any width that stand within a line.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() && !is_line_break(c)
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
