//! Finds the parts of `multipart/form-data`, and masks each by its name.

use super::pairs::MaskText;

/// The text with the content of each part masked. `None` if it has no parts.
pub(super) fn in_multipart(text: &str, mask: &mut dyn MaskText) -> Option<String> {
    let boundary = boundary(text)?;
    let mut masked = String::with_capacity(text.len());
    let mut name = String::new();
    // The text before the first part is masked on its own.
    let mut is_in_head = false;
    let mut content = String::new();
    for line in text.split_inclusive('\n') {
        let stripped = line.trim_end_matches(['\r', '\n']);
        if stripped.starts_with(boundary) {
            masked.push_str(&in_part(&name, &content, mask));
            content.clear();
            name.clear();
            is_in_head = true;
            masked.push_str(line);
        } else if is_in_head {
            is_in_head = !stripped.is_empty();
            if let Some(found) = name_in(stripped) {
                name = found;
            }
            masked.push_str(&mask.free(line));
        } else {
            content.push_str(line);
        }
    }
    masked.push_str(&in_part(&name, &content, mask));
    Some(masked)
}

/// The first line of a part, followed by a header.
fn boundary(text: &str) -> Option<&str> {
    let mut before = "";
    for line in text.lines() {
        if before.starts_with("--") && before.len() > 2 && line.to_ascii_lowercase().starts_with("content-") {
            return Some(before);
        }
        before = line;
    }
    None
}

fn in_part(name: &str, part: &str, mask: &mut dyn MaskText) -> String {
    let content = part.trim_end_matches(['\r', '\n']);
    format!("{}{}", mask.named(name, content), &part[content.len()..])
}

/// The parameter `name` of a header line, with or without quotes.
fn name_in(line: &str) -> Option<String> {
    line.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let name = name.trim().trim_end_matches('*');
        let value = value.trim().trim_matches('"');
        let value = value.rsplit("''").next().unwrap_or(value);
        name.eq_ignore_ascii_case("name").then(|| value.to_owned())
    })
}
