//! The systemd unit and the container file: what they start exists, and they do not give the server more than it needs.

use std::{fs, process::Command};

use kassa_server::settings::SETTINGS;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/");

fn text(name: &str) -> String {
    fs::read_to_string(format!("{FOLDER}{name}")).unwrap()
}

#[test]
fn unit_is_hardened_and_starts_the_program() {
    let unit = text("kassa-server.service");
    let lines: Vec<(&str, &str)> = unit.lines().filter_map(|line| line.split_once('=')).collect();
    let has = |key: &str, value: &str| lines.contains(&(key, value));
    assert!(has("ExecStart", "/usr/local/bin/kassa-server --config /etc/kassa-server/kassa.toml"));
    for (key, value) in [
        ("DynamicUser", "yes"),
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("CapabilityBoundingSet", ""),
        ("MemoryDenyWriteExecute", "yes"),
        ("Restart", "always"),
        ("StartLimitIntervalSec", "0"),
        ("UMask", "0077"),
    ] {
        assert!(has(key, value), "{key}={value}");
    }
    let stop: u64 = lines.iter().find(|(key, _)| *key == "TimeoutStopSec").unwrap().1.parse().unwrap();
    assert!(stop > 5, "it must be able to stop by itself");
}

/// By systemd's own words, where it is. The program is not installed here, which is the one thing that it may say.
#[test]
fn systemd_finds_nothing_in_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kassa-server.service");
    let unit = text("kassa-server.service").replace("/usr/local/bin/kassa-server", env!("CARGO_BIN_EXE_kassa-server"));
    fs::write(&path, unit).unwrap();
    let Ok(verified) = Command::new("systemd-analyze").arg("verify").arg(&path).output() else {
        eprintln!("systemd-analyze is not there: the unit is parsed by the other test alone");
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    let about_it: Vec<&str> = said.lines().filter(|line| line.contains("kassa-server.service")).collect();
    assert!(about_it.is_empty(), "{about_it:?}");
}

#[test]
fn container_runs_as_nobody_with_valid_settings() {
    let file = text("Containerfile");
    let last = file.rsplit("\nFROM ").next().unwrap();
    assert!(last.contains("\nUSER 65532:65532\n") && last.contains("\nSTOPSIGNAL SIGTERM\n"));
    assert!(last.contains("ENTRYPOINT [\"/usr/local/bin/kassa-server\"]"), "signals reach it, as no shell is between");
    for name in
        file.split(|c: char| !c.is_ascii_uppercase() && c != '_').filter(|word| word.starts_with("KASSA_SERVER_"))
    {
        assert!(SETTINGS.iter().any(|setting| setting.variable == name), "{name} is no setting's");
    }
    let copied: Vec<&str> = last
        .lines()
        .filter(|line| line.starts_with("COPY") || line.starts_with("ADD"))
        .filter_map(|line| line.split(' ').next_back())
        .collect();
    let wanted = ["/usr/local/bin/kassa-server", "/usr/share/doc/kassa-server", "/var/lib/kassa-server"];
    assert_eq!(copied, wanted, "the program, its licences and an empty folder, and none of its source");
}
