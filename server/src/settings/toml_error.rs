//! Why a settings file is not TOML, in words for its author. No value is repeated: it may be a secret.

use super::table::SETTINGS;

const LINE: &str = "each line must be name = \"value\", a [table], or a # comment";
const COLON: &str = "a name and its value are separated by =, not by a colon: name = \"value\"";
const LIST: &str = "a list is quoted strings separated by commas, and ends with ]: [\"a\", \"b\"]";
const JSON: &str = "this looks like JSON; write each setting as name = \"value\" on a line of its own";
const AFTER_VALUE: &str = "only a # comment may follow a value on its line";
const BACKSLASH: &str =
    "in double quotes a backslash begins an escape: put the value in single quotes, or write each backslash twice";

/// Explains the first error, at this offset, with the parser's own message as the last resort.
pub(super) fn explain(text: &str, at: usize, message: &str) -> String {
    if text.trim_start().starts_with('{') {
        return JSON.to_owned();
    }
    let line = line_at(text, at);
    if message.starts_with("duplicate key") {
        return match line.starts_with('[') {
            true => "there is a table of this name above: put the settings of both under one".to_owned(),
            false => "this name is set above already: keep one of the two lines".to_owned(),
        };
    }
    if message.starts_with("unclosed array,") {
        return "a list must end with ]".to_owned();
    }
    if line.starts_with('[') {
        return header(line).unwrap_or(message).to_owned();
    }
    if is_in_list(text, at) {
        return LIST.to_owned();
    }
    if line.split_once(':').is_some_and(|(name, _)| is_bare_key(name.trim_end())) {
        return COLON.to_owned();
    }
    match line.split_once('=') {
        Some((name, value)) => value_rule(name.trim(), value.trim(), message),
        None if line.is_empty() => message.to_owned(),
        None => LINE.to_owned(),
    }
}

/// Whether it is a bare key, which needs no quotes.
fn is_bare_key(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

/// Whether the line of this offset is a further line of a list, which began with a `[` after a `=` and has no `]` yet.
fn is_in_list(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let before = before.rfind('\n').and_then(|end| before.get(..end)).unwrap_or_default();
    let begun = before.lines().rev().find_map(|line| match line.split_once('=') {
        Some((_, value)) => Some(value.trim_start().starts_with('[') && !value.contains(']')),
        None if line.contains(']') => Some(false),
        None => None,
    });
    begun == Some(true)
}

fn line_at(text: &str, at: usize) -> &str {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = after.find('\n').map_or(text.len(), |length| at + length);
    text.get(start..end).unwrap_or_default().trim()
}

fn header(line: &str) -> Option<&'static str> {
    match line.split_once(']') {
        None => Some("the name of a table must end with ], such as [gateway]"),
        Some((_, rest)) if !rest.trim_start_matches(']').trim_start().is_empty() => {
            Some("only a # comment may follow the name of a table on its line")
        }
        Some(_) => None,
    }
}

fn value_rule(name: &str, value: &str, message: &str) -> String {
    let begins_with = |marks: &str| value.starts_with(|c| marks.contains(c));
    let rule = if value.is_empty() || begins_with("#") {
        "a value must follow the ="
    } else if begins_with("“”„«»‘’‚") {
        "typographic quotes are not supported: use \" or '"
    } else if value.starts_with("\"\"\"") || value.starts_with("'''") || begins_with("{=") {
        message
    } else if begins_with("\"") {
        match closing_quote(value, '"') {
            _ if message.contains("escape") => BACKSLASH,
            None => "the value must end with a quote on the same line",
            Some(_) => AFTER_VALUE,
        }
    } else if begins_with("'") {
        match closing_quote(value, '\'') {
            None => "the value must end with a quote on the same line",
            Some(_) => "only a # comment may follow a value on its line; a value with ' in it belongs in double quotes",
        }
    } else if begins_with("[") {
        LIST
    } else if ["true", "false"].iter().any(|word| value.eq_ignore_ascii_case(word)) {
        "true and false are written in small letters"
    } else {
        // Only known names are shown: the line may be a secret in the wrong place.
        let is_known = SETTINGS.iter().any(|setting| setting.name.rsplit('.').next() == Some(name));
        let name = if is_known { name } else { "name" };
        return format!("a text value must be in quotes: {name} = \"...\"");
    };
    rule.to_owned()
}

/// The position of the closing quote of a value.
fn closing_quote(value: &str, quote: char) -> Option<usize> {
    value.char_indices().skip(1).find(|(_, c)| *c == quote).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use toml::de::DeTable;

    use super::*;

    #[test]
    fn each_error_is_explained() {
        for (text, why) in [
            ("listen = hunter2\n", "a text value must be in quotes: listen = \"...\""),
            ("hunter2 = hunter2\n", "a text value must be in quotes: name = \"...\""),
            ("[gateway]\nlogin = hunter2", "a text value must be in quotes: login = \"...\""),
            ("payment_wait = 60s\n", "a text value must be in quotes: payment_wait = \"...\""),
            ("database = /var/lib/hunter2.db\n", "a text value must be in quotes: database = \"...\""),
            ("listen: hunter2\n", COLON),
            ("public_url: \"https://hunter2/?a=b\"\n", COLON),
            ("hunter2\n", LINE),
            ("{\"listen\": \"hunter2\"}\n", JSON),
            ("listen =\n", "a value must follow the ="),
            ("listen = # hunter2\n", "a value must follow the ="),
            ("listen = “hunter2”\n", "typographic quotes are not supported: use \" or '"),
            ("listen = \"hunter2\nlog = 'info'\n", "the value must end with a quote on the same line"),
            ("listen = 'hunter2\nlog = 'info'\n", "the value must end with a quote on the same line"),
            ("database = \"C:\\kassa\\hunter2.db\"\n", BACKSLASH),
            ("listen = \"hunter2\" \"hunter2\"\n", AFTER_VALUE),
            ("[merchant]\nname = 'hunter's'\n", "a value with ' in it belongs in double quotes"),
            ("[page]\nenabled = True\n", "true and false are written in small letters"),
            ("[gateway\nlogin = 'hunter2'\n", "the name of a table must end with ], such as [gateway]"),
            ("[gateway] login = 'hunter2'\n", "only a # comment may follow the name of a table on its line"),
            ("[gateway]\n[gateway]\n", "there is a table of this name above"),
            ("listen = 'hunter2'\nlisten = 'hunter2'\n", "this name is set above already"),
            ("proxies = ['10.0.0.1', hunter2]\n", "a list is quoted strings"),
            ("proxies = ['10.0.0.1'\n", "a list "),
            ("proxies = [\n  '10.0.0.1',\n  hunter2:1\n]\n", LIST),
            ("\"http://hunter2\"\n", LINE),
            ("\"hunter2:1\" = hunter2\n", "a text value must be in quotes: name = \"...\""),
        ] {
            let problem = DeTable::parse(text).unwrap_err();
            let found = explain(text, problem.span().unwrap().start, problem.message());
            assert!(found.contains(why) && !found.contains("hunter2"), "{text}: {found}, of {problem}");
        }
    }

    #[test]
    fn any_offset_of_any_text_is_explained() {
        for text in ["", "\n", "é = 1", "a = \"", "=", "= =", "[", "]", "\u{feff}a = 'b"] {
            for at in 0..text.len() + 2 {
                assert!(!explain(text, at, "the message").is_empty());
            }
        }
    }
}
