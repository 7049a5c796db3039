//! Suggestions for misspelt names of settings, tables and environment variables.

use strsim::osa_distance;

use super::table::{SETTINGS, Setting, find};

/// The setting that the key of a file most probably means: written with other separators, in another table, or with a typing
/// error. `None` if several are equally probable.
pub(super) fn setting(key: &str) -> Option<&'static Setting> {
    if let Some(setting) = SETTINGS.into_iter().find(|setting| plain(setting.name) == plain(key)) {
        return Some(setting);
    }
    let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
    if has_table(table) {
        let siblings = SETTINGS.into_iter().filter(|setting| split(setting.name).0 == table);
        if let Some(setting) = closest(name, 3, siblings.map(|setting| (setting, split(setting.name).1))) {
            return Some(setting);
        }
    }
    // The line may be above the header of its table, or below that of another table.
    if let Some(setting) = only(SETTINGS.into_iter().filter(|setting| plain(split(setting.name).1) == plain(name))) {
        return Some(setting);
    }
    let key = if has_table(table) { name } else { key };
    closest(key, 4, SETTINGS.into_iter().map(|setting| (setting, setting.name)))
}

/// The table that a table's name in a file most probably means.
pub(super) fn table(name: &str) -> Option<&'static str> {
    let tables = SETTINGS.into_iter().map(|setting| split(setting.name).0).filter(|table| !table.is_empty());
    closest(name, 3, tables.map(|table| (table, table)))
}

/// The setting that an environment variable most probably means.
pub(super) fn variable(name: &str) -> Option<&'static Setting> {
    closest(name, 4, SETTINGS.into_iter().map(|setting| (setting, setting.variable)))
}

/// Whether there is a table of this name.
pub(super) fn has_table(name: &str) -> bool {
    !name.is_empty() && SETTINGS.iter().any(|setting| split(setting.name).0 == name)
}

/// The settings of a table.
pub(super) fn in_table(table: &str) -> impl Iterator<Item = &'static str> {
    SETTINGS.into_iter().map(|setting| setting.name).filter(move |name| split(name).0 == table)
}

/// The same setting in another table, by the key's own name.
pub(super) fn moved_to(key: &str, table: &str) -> Option<&'static Setting> {
    find(&format!("{table}.{key}"))
}

/// The table of a setting, empty for one above all tables, and its name in that table.
fn split(name: &'static str) -> (&'static str, &'static str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

/// Without the characters that people vary.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    found.next().filter(|_| found.next().is_none())
}

/// The candidate with the fewest typing errors; a name may have one error for every `letters` letters.
fn closest<T>(name: &str, letters: usize, candidates: impl Iterator<Item = (T, &'static str)>) -> Option<T> {
    let name = plain(name);
    let most = (plain_suffix(&name).len() / letters).max(1);
    let rated = candidates.map(|(candidate, text)| (osa_distance(&name, &plain(text)), candidate));
    let (errors, candidate) = rated.min_by_key(|(errors, _)| *errors)?;
    (errors <= most && errors < name.len()).then_some(candidate)
}

/// The name without the common prefix, which does not count for typing errors.
fn plain_suffix(name: &str) -> &str {
    name.strip_prefix("kassaserver").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_have_a_suggestion() {
        for (key, meant) in [
            ("lisen", "listen"),
            ("public-url", "public_url"),
            ("publicUrl", "public_url"),
            ("public_ulr", "public_url"),
            ("gateway_url", "gateway.url"),
            ("gateway.public_url", "public_url"),
            ("server.public_url", "public_url"),
            ("login", "gateway.login"),
            ("gateway.pasword", "gateway.password"),
            ("gateway.passwordfile", "gateway.password_file"),
            ("events.kind", "events.kinds"),
            ("limits.per_adress", "limits.per_address"),
            ("merchant.color", "merchant.colour"),
        ] {
            assert_eq!(setting(key).map(|setting| setting.name), Some(meant), "{key}");
        }
        for key in ["url", "x", "gateway.x", "colour_of_the_sky", "", "gateway.", "日本"] {
            assert_eq!(setting(key).map(|setting| setting.name), None, "{key}");
        }
    }

    #[test]
    fn misspelt_tables_and_variables_have_a_suggestion() {
        for (name, meant) in [("gatway", Some("gateway")), ("Event", Some("events")), ("server", None), ("", None)] {
            assert_eq!(table(name), meant, "{name}");
        }
        for (name, meant) in [
            ("KASSA_SERVER_PUBLIC_ULR", Some("public_url")),
            ("KASSA_SERVER_LISTN", Some("listen")),
            ("KASSA_SERVER_GATEWAYURL", Some("gateway.url")),
            ("KASSA_SERVER_X", None),
            ("KASSA_SERVER_COLOUR_OF_THE_SKY", None),
        ] {
            assert_eq!(variable(name).map(|setting| setting.name), meant, "{name}");
        }
    }
}
