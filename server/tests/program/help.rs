//! What the program says of itself, and what the operators' page says: both from the table of settings.

use std::fs;

use kassa_server::settings::{IfUnset, ProgramSettings, SETTINGS, Sources};

use crate::support::{PASSWORD, Place, ended};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/server.md");

#[test]
fn help_names_each_setting_with_its_variable() {
    let place = Place::new();
    for arguments in [["--help"].as_slice(), &["check", "--help"]] {
        let help = ended(&mut place.command(arguments)).out;
        for setting in SETTINGS.iter().filter(|setting| arguments.len() == 1 || !setting.is_secret()) {
            assert!(help.contains(setting.variable), "{} is not in {arguments:?}", setting.variable);
            if let Some(flag) = setting.flag {
                assert!(help.contains(&format!("--{flag} ")), "{flag} is not in {arguments:?}");
            }
        }
    }
    let version = ended(&mut place.command(&["--version"])).out;
    assert_eq!(version.trim(), concat!("kassa-server ", env!("CARGO_PKG_VERSION")));
}

/// But for the files that it names, which are the reader's own.
#[test]
fn page_s_settings_file_can_be_used() {
    let page = fs::read_to_string(PAGE).unwrap();
    let file = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    place.write("kassa.toml", file);
    place.write("dialect.json", r#"{"qr_numbers": "none"}"#);
    let dialect = place.path("dialect.json").display().to_string();
    let mut sources = Sources::of_environment();
    sources.file = Some(place.path("kassa.toml"));
    let given = [
        ("KASSA_SERVER_GATEWAY_DIALECT", dialect.as_str()),
        ("KASSA_SERVER_GATEWAY_PASSWORD", PASSWORD),
        ("KASSA_SERVER_EVENTS_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    ];
    sources.variables = given.map(|(name, value)| (name.into(), value.into())).into();
    let settings = ProgramSettings::read(&sources).unwrap();
    assert_eq!(settings.server.callback_base, "https://pay.shop.example.kg/callbacks");
}

#[test]
fn page_has_the_table_of_settings() {
    let mut table = String::from("| Setting | Takes | Not given | What it does |\n|---|---|---|---|\n");
    for setting in SETTINGS {
        let unset = match setting.if_unset {
            IfUnset::Value(text) => format!("`{text}`"),
            IfUnset::Nothing(meaning) => meaning.to_owned(),
            IfUnset::Needed => "**needed**".to_owned(),
        };
        let secret = if setting.is_secret() { " Secret: no flag." } else { "" };
        let takes = setting.value.replace('|', "\\|");
        table += &format!("| `{}` | {takes} | {unset} | {}.{secret} |\n", setting.name, setting.meaning);
    }
    let page = fs::read_to_string(PAGE).unwrap();
    assert!(page.contains(&table), "docs/server.md must have this table:\n\n{table}");
}
