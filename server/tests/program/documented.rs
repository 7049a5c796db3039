//! What the documentation shows of settings files and commands is taken by the program.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use kassa_server::settings::{ProgramSettings, Sources};

use crate::support::{Place, settings_for};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Each document of the site, by its name.
fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root.join("docs"), root.join("server"), root.join("examples/shops")];
    let mut found = vec![];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() && entry.starts_with(root.join("docs")) {
                folders.push(entry);
            } else if entry.extension().is_some_and(|ending| ending == "md") {
                found.push((entry.display().to_string(), fs::read_to_string(entry).unwrap()));
            }
        }
    }
    found
}

/// The code blocks of a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let begun = text.split(&fence).skip(1);
    begun.filter_map(|block| Some(block.split_once("```")?.0.to_owned())).collect()
}

#[test]
fn each_settings_file_that_is_shown_is_read() {
    let pages =
        ["server.md", "reverse-proxy.md"].map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name));
    let shown: Vec<_> = pages.iter().flat_map(|page| blocks(&fs::read_to_string(page).unwrap(), "toml")).collect();
    assert_eq!(shown.len(), 5, "a new one is looked at here, too");
    for block in shown {
        let place = Place::new();
        for (name, secret) in
            [("gateway-password", "sesame"), ("events-secret", SECRET), ("database-password", "sesame")]
        {
            place.write(name, secret);
        }
        place.write("dialect.json", r#"{"qr_numbers": "none"}"#);
        let block = block.replace("/etc/kassa-server", &place.path("").display().to_string());
        let whole = match block.contains("[gateway]") {
            true => block,
            false if block.starts_with('[') => settings_for("http://127.0.0.1:9") + &block,
            false => with_settings(&block),
        };
        place.write("kassa.toml", &whole);
        let mut sources = Sources::of_environment();
        sources.file = Some(place.path("kassa.toml"));
        (sources.variables, sources.flags) = (vec![].into_iter().collect(), BTreeMap::new());
        let problems = ProgramSettings::read(&sources)
            .err()
            .map(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
        assert_eq!(problems, None, "{whole}");
    }
}

/// A block of settings above all tables, with the others that the program needs.
fn with_settings(block: &str) -> String {
    let names: Vec<_> = block.lines().filter_map(|line| Some(line.split_once(" =")?.0)).collect();
    let settings = settings_for("http://127.0.0.1:9");
    let is_other = |line: &&str| !names.iter().any(|name| line.starts_with(&format!("{name} =")));
    format!("{block}\n{}\n", settings.lines().filter(is_other).collect::<Vec<_>>().join("\n"))
}

/// By `--help` behind the words, which is heard after all others were understood.
#[test]
fn each_command_that_is_shown_is_known() {
    let mut seen = 0;
    for (document, text) in documents() {
        let lines = blocks(&text, "sh").join("\n");
        for line in lines.lines() {
            let Some((_, words)) = line.split_once("kassa-server ").filter(|(before, _)| is_run(before)) else {
                continue;
            };
            let words = words.split([')', '>', '&']).next().unwrap().split(" #").next().unwrap();
            let command = format!("\"$PROGRAM\" {} --help", words.trim());
            let output = Command::new("sh")
                .args(["-c", &command])
                .env("PROGRAM", env!("CARGO_BIN_EXE_kassa-server"))
                .output()
                .unwrap();
            assert!(output.status.success(), "{document}: {line}: {output:?}");
            seen += 1;
        }
    }
    assert!(seen > 8, "only {seen} were found");
}

/// Whether what stands before the program's name runs it.
fn is_run(before: &str) -> bool {
    before.is_empty() || before.ends_with("$(") || before.starts_with("podman exec")
}
