//! The tables in Swift.

use crate::{
    Table,
    data::{Outcome, Provider, TestData, ThreeDs},
    names::lower_camel,
    prose::{lines, mark, with_parameters},
};

pub fn tables(data: &TestData) -> Vec<Table> {
    let table = |path, content: String| Table { path, content: mark("//") + "\n" + &content };
    vec![
        table("bindings/swift/Sources/KassaSandbox/TestCards.swift", cards(data)),
        table("bindings/swift/Sources/KassaSandbox/TestPhones.swift", phones(data)),
        table("bindings/swift/Sources/KassaSandbox/FaultName.swift", faults(data)),
        table("bindings/swift/Sources/KassaSandbox/Dialects.swift", dialects(data)),
    ]
}

fn cards(data: &TestData) -> String {
    let rows = data.cards.iter().map(|card| {
        let otp = card.asked_otp().map_or("nil".to_owned(), |otp| format!("{otp:?}"));
        let (three_ds, outcome) = (three_ds(card.three_ds), outcome(card.outcome));
        constant(&card.name, &format!("{:?}, .{three_ds}, .{outcome}, otp: {otp}", card.pan), &card.doc)
    });
    let names: Vec<&str> = data.cards.iter().map(|card| &*card.name).collect();
    extension("Sandbox.TestCard", &(rows.collect::<String>() + &all(&names, "Every test card.")))
}

fn phones(data: &TestData) -> String {
    let rows = data.phones.iter().map(|phone| {
        let (provider, outcome) = (provider(phone.provider), outcome(phone.outcome));
        constant(&phone.name, &format!("{:?}, .{provider}, .{outcome}, otp: {:?}", phone.phone, phone.otp), &phone.doc)
    });
    let names: Vec<&str> = data.phones.iter().map(|phone| &*phone.name).collect();
    extension("Sandbox.TestPhone", &(rows.collect::<String>() + &all(&names, "Every test phone.")))
}

fn faults(data: &TestData) -> String {
    let cases = data.faults.iter().map(|fault| case(&fault.word, &with_parameters(&fault.doc, "delay", "retryAfter")));
    let body = format!(
        "    /// What the sandbox can do wrong on purpose.\n\
         \x20   public enum FaultName: String, Hashable, Sendable, CaseIterable, Codable {{\n{}    }}\n",
        cases.collect::<String>()
    );
    extension("Sandbox", &body)
}

fn dialects(data: &TestData) -> String {
    let cases: String = data.dialects.iter().map(|dialect| case(&dialect.word, &dialect.doc)).collect();
    let name = |word: &str| lower_camel(word) + "JSON";
    let arms = data.dialects.iter().map(|dialect| {
        let word = &dialect.word;
        format!("            case .{}: {}\n", lower_camel(word), name(word))
    });
    let texts = data.dialects.iter().map(|dialect| text(&name(&dialect.word), &dialect.json()));
    let body = format!(
        "    /// Which gateway's responses the sandbox gives.\n\
         \x20   public enum DialectName: String, Hashable, Sendable, CaseIterable, Codable {{\n{cases}\n\
         {}        public var json: String {{\n            switch self {{\n{}            }}\n        }}\n    }}\n",
        JSON_DOC.map(|line| lines(line, "        /// ")).concat(),
        arms.collect::<String>()
    );
    extension("Sandbox", &body) + &texts.collect::<String>()
}

const JSON_DOC: [&str; 2] = [
    "What a client has to know about the sandbox's responses, in JSON.",
    "`try Dialect.fromJSON(Sandbox.DialectName.interface.json)` reads it.",
];

fn extension(of: &str, body: &str) -> String {
    format!("extension {of} {{\n{body}}}\n")
}

fn constant(name: &str, arguments: &str, doc: &str) -> String {
    lines(doc, "    /// ") + &format!("    public static let {} = Self({arguments})\n", lower_camel(name))
}

fn all(names: &[&str], doc: &str) -> String {
    let names: String = names.iter().map(|name| format!("        .{},\n", lower_camel(name))).collect();
    format!("\n    /// {doc}\n    public static let all: [Self] = [\n{names}    ]\n")
}

fn case(word: &str, doc: &str) -> String {
    let name = lower_camel(word);
    let value = if name == word { String::new() } else { format!(" = {word:?}") };
    lines(doc, "        /// ") + &format!("        case {name}{value}\n")
}

/// A private constant of several lines.
fn text(name: &str, text: &str) -> String {
    assert!(!text.contains('\\') && !text.contains("\"\"\""), "{name} would need escapes");
    format!("\nprivate let {name} = \"\"\"\n{}\n\"\"\"\n", text.trim_end())
}

fn three_ds(check: ThreeDs) -> &'static str {
    match check {
        ThreeDs::V2 => "version2",
        ThreeDs::V1 => "version1",
        ThreeDs::None => "none",
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "approved",
        Outcome::Declined => "declined",
        Outcome::InsufficientFunds => "insufficientFunds",
        Outcome::StuckPending => "stuckPending",
        Outcome::Error => "error",
    }
}

fn provider(provider: Provider) -> &'static str {
    match provider {
        Provider::MBank => "mbank",
        Provider::MegaPay => "megaPay",
    }
}
