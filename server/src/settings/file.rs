//! The settings file: TOML, read key by key, so that each problem has its line, and all are told at once.

use std::path::{Path, PathBuf};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    given::{Given, Said},
    problem::{SettingProblem, Source},
    setting::Setting,
    table::find,
};
use crate::values::{hidden::Hidden, text_file};

/// Reads a file.
pub(super) fn read(path: &Path, problems: &mut Vec<SettingProblem>) -> Said {
    match text_file::read_text(path) {
        Ok(text) => parse(path, &text, problems),
        Err(problem) => {
            problems.push(SettingProblem::at(path.display(), format!("cannot be read: {problem}")));
            Said::new()
        }
    }
}

fn parse(path: &Path, text: &str, problems: &mut Vec<SettingProblem>) -> Said {
    let mut reading = Reading { path, text, said: Said::new(), problems };
    match DeTable::parse(text) {
        Ok(table) => reading.table("", table.get_ref()),
        Err(problem) => {
            let line = problem.span().map_or(1, |span| reading.line(span.start));
            // Not the line itself: a secret may stand in it.
            reading.problems.push(SettingProblem::at(reading.place(line), "is not TOML"));
        }
    }
    reading.said
}

struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
    said: Said,
    problems: &'a mut Vec<SettingProblem>,
}

impl Reading<'_> {
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            let line = self.line(key.span().start);
            match (value.get_ref(), find(&name)) {
                (DeValue::Table(inner), None) if prefix.is_empty() => self.table(&format!("{name}."), inner),
                (_, None) => {
                    let place = format!("{} ({})", shown(&name), self.place(line));
                    self.problems
                        .push(SettingProblem::at(place, "is no setting; `kassa-server --help` names them all"));
                }
                (_, Some(setting)) => self.value(setting, line, value),
            }
        }
    }

    fn value(&mut self, setting: &'static Setting, line: usize, value: &Spanned<DeValue<'_>>) {
        let source = Source::File { path: PathBuf::from(self.path), line };
        match scalar(value.get_ref()) {
            Some(text) => {
                self.said.insert(setting.name, Given { text: Hidden::new(text), source });
            }
            None => {
                let rule = "must be a text in quotes, a whole number, true or false, or a list of texts";
                self.problems.push(SettingProblem::of(setting, &source, rule));
            }
        }
    }

    fn line(&self, at: usize) -> usize {
        self.text.get(..at).map_or(1, |before| before.matches('\n').count() + 1)
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }
}

/// A value as a variable or a flag would have it.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Boolean(is_so) => Some(is_so.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Array(values) => {
            let texts = values.iter().map(|value| value.get_ref().as_str());
            texts.collect::<Option<Vec<_>>>().map(|texts| texts.join(","))
        }
        _ => None,
    }
}

/// A key that nobody knows, shortened: it may be anything.
fn shown(name: &str) -> String {
    name.chars().take(60).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Said, Vec<String>) {
        let mut problems = Vec::new();
        let said = parse(Path::new("k.toml"), text, &mut problems);
        (said, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_it_says_has_its_line() {
        let text = "listen = '[::1]:80'\nfollowers = 7\nproxies = ['10.0.0.1', '10.1.0.0/16']\n\n[gateway]\nlogin = \
             \"shop\"\n";
        let (said, problems) = read_text(text);
        assert_eq!(problems, [""; 0]);
        let found = said.iter().map(|(name, given)| (*name, given.text.expose(), given.source.to_string()));
        let expected = [
            ("followers", "7", "k.toml:2"),
            ("gateway.login", "shop", "k.toml:6"),
            ("listen", "[::1]:80", "k.toml:1"),
            ("proxies", "10.0.0.1,10.1.0.0/16", "k.toml:3"),
        ];
        assert!(found.eq(expected.map(|(name, text, place)| (name, text, place.to_owned()))), "{said:?}");
    }

    #[test]
    fn all_mistakes_are_told_and_no_value() {
        let (_, problems) = read_text(
            "lisen = 'hunter2'\nlog = 1.5\n[gateway]\nurl = {hunter2 = 1}\nx.y = 1\n[[limits]]\nper_token = 1\n",
        );
        let expected = [
            "gateway.url (k.toml:4) must be",
            "gateway.x (k.toml:5) is no setting",
            "limits (k.toml:6) is no setting",
            "lisen (k.toml:1) is no setting",
            "log (k.toml:2) must be",
        ];
        assert!(problems.iter().zip(expected).all(|(problem, start)| problem.starts_with(start)), "{problems:?}");
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        let (_, problems) = read_text("listen = 'x'\n[gateway]\npassword = \"hunter2\n");
        assert_eq!(problems, ["k.toml:3 is not TOML"]);
    }
}
