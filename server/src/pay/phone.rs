//! A phone number as people type it, in the form that the interface's test numbers have: `docs/interface.md`.

/// Nine digits, with a zero or the country's code before them, as `996XXXXXXXXX`. Whatever else it is, stays: the rules of phone
/// numbers tell what is wrong with it.
pub(super) fn normal(typed: &str) -> String {
    let is_plain = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '\u{a0}' | '-' | '(' | ')' | '+');
    let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
    match digits.len() {
        _ if !typed.chars().all(is_plain) => typed.to_owned(),
        9 => format!("996{digits}"),
        10 if digits.starts_with('0') => format!("996{}", &digits[1..]),
        _ => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_becomes_one_form() {
        for typed in ["996555123456", "+996 (555) 12-34-56", "0555 123 456", "555\u{a0}123456"] {
            assert_eq!(normal(typed), "996555123456", "{typed}");
        }
        for (typed, same) in [("", ""), ("12", "12"), ("0555x123456", "0555x123456"), ("٠٥٥٥", "٠٥٥٥")] {
            assert_eq!(normal(typed), same);
        }
    }
}
