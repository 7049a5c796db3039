//! Names, each as its language writes it.

/// `UPPER_SNAKE`, of words between underscores or hyphens.
pub fn upper(name: &str) -> String {
    name.replace('-', "_").to_uppercase()
}

/// `lower_snake`.
pub fn lower_snake(name: &str) -> String {
    name.replace('-', "_")
}

/// `UpperCamel`, as Rust has it: an acronym is a word like any other.
pub fn upper_camel(name: &str) -> String {
    name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// `lowerCamel`, as Swift has it: acronyms stay whole.
pub fn lower_camel(name: &str) -> String {
    let mut words = name.split(['_', '-']);
    let first = match words.next().unwrap_or_default() {
        "megapay" => "megaPay",
        first => first,
    };
    first.to_owned() + &words.map(capitalized).collect::<String>()
}

fn capitalized(word: &str) -> String {
    match word {
        "ds" | "3ds" | "json" => word.to_uppercase(),
        _ => word[..1].to_uppercase() + &word[1..],
    }
}
