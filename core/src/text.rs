//! Characters without meaning in typed, pasted or autofilled text: invisible characters and separators.

/// Invisible characters: direction marks (bidi), joiners, soft hyphens, a byte order mark, variation selectors.
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

/// Spaces of any width within a line.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() && !is_line_break(c)
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

// Decimal digits of any script (Unicode's category Nd), as keyboards and the clipboard give them, read as 0 to 9.

/// The zero of each script that has its own digits; one to nine follow it.
///
/// Source: the Unicode Character Database, general category Nd, version 14.
#[rustfmt::skip]
const ZEROS: [char; 65] = [
    '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}', '\u{c66}',
    '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}', '\u{1090}', '\u{17e0}',
    '\u{1810}', '\u{1946}', '\u{19d0}', '\u{1a80}', '\u{1a90}', '\u{1b50}', '\u{1bb0}', '\u{1c40}', '\u{1c50}',
    '\u{a620}', '\u{a8d0}', '\u{a900}', '\u{a9d0}', '\u{a9f0}', '\u{aa50}', '\u{abf0}', '\u{ff10}', '\u{104a0}',
    '\u{10d30}', '\u{11066}', '\u{110f0}', '\u{11136}', '\u{111d0}', '\u{112f0}', '\u{11450}', '\u{114d0}',
    '\u{11650}', '\u{116c0}', '\u{11730}', '\u{118e0}', '\u{11950}', '\u{11c50}', '\u{11d50}', '\u{11da0}',
    '\u{16a60}', '\u{16ac0}', '\u{16b50}', '\u{1d7ce}', '\u{1d7d8}', '\u{1d7e2}', '\u{1d7ec}', '\u{1d7f6}',
    '\u{1e140}', '\u{1e2f0}', '\u{1e950}', '\u{1fbf0}',
];

/// The digit that a character means, as one of `0` to `9`; `None` for any other character.
pub(crate) fn ascii_digit(c: char) -> Option<char> {
    let value = match c.to_digit(10) {
        Some(value) => Some(value),
        None => ZEROS.iter().map(|zero| u32::from(c).wrapping_sub(u32::from(*zero))).find(|distance| *distance < 10),
    };
    value.and_then(|value| char::from_digit(value, 10))
}

// The byte order mark (U+FEFF), which editors on Windows write before a text.

/// The text without a byte order mark before it: a JSON reader would reject the mark, and a PEM reader would read the first certificate
/// after it as a comment.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_any_script_are_read() {
        for text in ["0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "０１２３４５６７８９", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗"]
        {
            assert_eq!(text.chars().filter_map(ascii_digit).collect::<String>(), "0123456789", "{text}");
        }
    }

    #[test]
    fn what_is_only_like_a_digit_is_none() {
        assert_eq!("aO²½Ⅷ①л-/ \u{200b}".chars().find_map(ascii_digit), None);
    }
}
