//! Decimal digits of any script (Unicode's category Nd), as keyboards and the clipboard give them, read as 0 to 9.

/// The zero of each script that has digits of its own; one to nine stand behind it.
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

/// The digit that a character means, as one of `0` to `9`; nothing for any other character.
pub(crate) fn ascii_digit(c: char) -> Option<char> {
    let value = match c.to_digit(10) {
        Some(value) => Some(value),
        None => ZEROS.iter().map(|zero| u32::from(c).wrapping_sub(u32::from(*zero))).find(|distance| *distance < 10),
    };
    value.and_then(|value| char::from_digit(value, 10))
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
