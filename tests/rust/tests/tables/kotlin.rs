//! The tables in Kotlin.

use crate::{
    Table, WIDTH,
    data::{Outcome, Provider, TestData, ThreeDs},
    names::upper,
    prose::{lines, mark, with_parameters},
};

pub fn tables(data: &TestData) -> Vec<Table> {
    let table =
        |path, content: String| Table { path, content: mark("//") + "package dev.kassa.sandbox\n\n" + &content };
    vec![
        table("bindings/kotlin/kassa-sandbox/src/main/kotlin/dev/kassa/sandbox/TestCards.kt", cards(data)),
        table("bindings/kotlin/kassa-sandbox/src/main/kotlin/dev/kassa/sandbox/TestPhones.kt", phones(data)),
        table("bindings/kotlin/kassa-sandbox/src/main/kotlin/dev/kassa/sandbox/FaultName.kt", faults(data)),
        table("bindings/kotlin/kassa-sandbox/src/main/kotlin/dev/kassa/sandbox/DialectName.kt", dialects(data)),
    ]
}

fn cards(data: &TestData) -> String {
    let rows = data.cards.iter().map(|card| {
        let otp = card.asked_otp().map_or("null".to_owned(), |otp| format!("{otp:?}"));
        let (three_ds, outcome) = (three_ds(card.three_ds), outcome(card.outcome));
        let value = format!("TestCard({:?}, ThreeDs.{three_ds}, Outcome.{outcome}, {otp})", card.pan);
        field(&card.name, "TestCard", &value, &card.doc)
    });
    let names = data.cards.iter().map(|card| &*card.name).collect();
    let doc = "The test cards, by name. Those whose name says nothing else take part in 3DS 2.0.";
    object("TestCards", doc, rows.collect(), all("TestCard", names, "Every test card."))
}

fn phones(data: &TestData) -> String {
    let rows = data.phones.iter().map(|phone| {
        let (provider, outcome) = (provider(phone.provider), outcome(phone.outcome));
        let (number, otp) = (&phone.phone, &phone.otp);
        let value = format!("TestPhone({number:?}, Sandbox.Provider.{provider}, Outcome.{outcome}, {otp:?})");
        field(&phone.name, "TestPhone", &value, &phone.doc)
    });
    let names = data.phones.iter().map(|phone| &*phone.name).collect();
    object("TestPhones", "The test phones, by name.", rows.collect(), all("TestPhone", names, "Every test phone."))
}

fn faults(data: &TestData) -> String {
    let entries = data.faults.iter().map(|fault| {
        let doc = with_parameters(&fault.doc, "delay", "retryAfter");
        entry(&fault.word, &doc)
    });
    words("FaultName", "What the sandbox can do wrong on purpose.", &entries.collect::<Vec<_>>())
}

fn dialects(data: &TestData) -> String {
    let entries = data.dialects.iter().map(|dialect| entry(&dialect.word, &dialect.doc));
    words("DialectName", "Which gateway's responses the sandbox gives.", &entries.collect::<Vec<_>>())
}

fn object(name: &str, doc: &str, rows: String, all: String) -> String {
    format!("/** {doc} */\npublic object {name} {{\n{rows}{all}}}\n")
}

fn field(name: &str, class: &str, value: &str, doc: &str) -> String {
    let name = upper(name);
    let forms = [
        format!("    @JvmField public val {name}: {class} = {value}\n"),
        format!("    @JvmField\n    public val {name}: {class} = {value}\n"),
        format!("    @JvmField\n    public val {name}: {class} =\n        {value}\n"),
    ];
    let fits = |form: &&String| form.lines().all(|line| line.len() <= WIDTH);
    kdoc(doc) + forms.iter().find(fits).unwrap_or(&forms[2]) + "\n"
}

fn all(class: &str, names: Vec<&str>, doc: &str) -> String {
    let names: String = names.into_iter().map(|name| format!("        {},\n", upper(name))).collect();
    kdoc(doc) + &format!("    @JvmField\n    public val ALL: List<{class}> = listOf(\n{names}    )\n")
}

fn words(name: &str, doc: &str, entries: &[String]) -> String {
    let entries = entries.join("\n");
    format!(
        "/**\n * {doc}\n *\n * @property word how the sandbox spells it\n */\n\
         public enum class {name}(override val word: String) : Word {{\n{entries}}}\n"
    )
}

fn entry(word: &str, doc: &str) -> String {
    kdoc(doc) + &format!("    {}({word:?}),\n", upper(word))
}

fn kdoc(doc: &str) -> String {
    let one = format!("    /** {doc} */\n");
    if one.trim_end().chars().count() <= WIDTH { one } else { format!("    /**\n{}     */\n", lines(doc, "     * ")) }
}

fn three_ds(check: ThreeDs) -> &'static str {
    match check {
        ThreeDs::V2 => "V2",
        ThreeDs::V1 => "V1",
        ThreeDs::None => "NONE",
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "APPROVED",
        Outcome::Declined => "DECLINED",
        Outcome::InsufficientFunds => "INSUFFICIENT_FUNDS",
        Outcome::StuckPending => "STUCK_PENDING",
        Outcome::Error => "ERROR",
    }
}

fn provider(provider: Provider) -> &'static str {
    match provider {
        Provider::MBank => "M_BANK",
        Provider::MegaPay => "MEGA_PAY",
    }
}
