//! `kassa-sandbox learn` and Kassa's core: the core reads each learned dialect, and judges by it as by one that a person who knew the
//! gateway would have written. `KASSA_SEED=17` invents the gateways of that seed.

mod evidence;
mod gateway;
mod judging;
mod merchant;
mod sandbox;
mod style;

use std::{env, path::Path, thread};

use gateway::Invented;
use judging::judge;
use kassa::Dialect;
use kassa_sandbox::{LearnOptions, Learned, learn};
use merchant::{exchanges, pay, record};
use serde_json::Value;
use style::{Ambiguity, Random, Style, Words};

const GATEWAYS: usize = 12;
/// How many of them have to be learned whole.
const WHOLE: usize = 10;
const SEEDS: u64 = 4;

/// Twelve gateways of a seed. Two of them do something that one recording cannot settle.
fn gateways(seed: u64) -> Vec<Style> {
    let mut random = Random::new(seed);
    let first = random.below(GATEWAYS);
    let second = (first + 1 + random.below(GATEWAYS - 1)) % GATEWAYS;
    let ambiguity = |index| match index {
        _ if index == first => Ambiguity::TwinAmounts,
        _ if index == second => Ambiguity::TwoCodes,
        _ => Ambiguity::None,
    };
    (0..GATEWAYS).map(|index| Style::random(random.next(), ambiguity(index))).collect()
}

struct Result {
    learned: Learned,
    truth: String,
    /// Where the learned dialect judges other payments otherwise than the truth.
    differences: Vec<String>,
    /// What it says was charged, and was not.
    wrong_charges: Vec<String>,
    ambiguity: Ambiguity,
}

/// Records one round of payments, learns from it, and judges another round.
fn play(style: &Style, folder: &Path) -> Result {
    let gateway = Invented::start(style);
    let (first, second) = (folder.join("first.jsonl"), folder.join("second.jsonl"));
    let orders = record(&gateway.url, &first, |client| pay(client, &gateway, style, "first"));
    record(&gateway.url, &second, |client| pay(client, &gateway, style, "second"));
    let mut options = LearnOptions {
        files: vec![first.clone()],
        approved: orders.approved,
        declined: orders.declined,
        ..LearnOptions::default()
    };
    // The lists of orders show which words to look at, and give none a meaning.
    let asked = learn(&options).expect("a recording");
    assert_eq!(words_in(asked.dialect.as_deref().expect("a dialect"), "charged_words"), [""; 0], "{}", asked.report);
    for flag in true_words(style) {
        // With two codes, a place of a code could also be a bare word's.
        let is_asked = asked.report.contains(&format!("--confirm {flag}"));
        if !is_asked && style.ambiguity == Ambiguity::TwoCodes {
            continue;
        }
        assert!(is_asked, "{flag}\n{}", asked.report);
        options.confirmations.push(flag.parse().expect("an answer"));
    }
    let learned = learn(&options).expect("a recording");
    let truth = style.dialect().to_string();
    let by_truth = Dialect::from_json(&truth).expect("the truth is a dialect");
    let text = learned.dialect.as_deref().expect("no word of the interface is used otherwise");
    let by_learned = Dialect::from_json(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (mut differences, mut wrong_charges) = (Vec::new(), Vec::new());
    for path in [&first, &second] {
        let all = exchanges(path);
        let (expected, found) = (judge(&all, &by_truth), judge(&all, &by_learned));
        assert!(expected.iter().filter(|one| one.is_charged()).count() > 6, "the truth is no truth: {truth}");
        assert!(expected.iter().filter(|one| one.is_rejected()).count() > 2, "the truth is no truth: {truth}");
        assert_eq!(expected.len(), found.len());
        for (expected, found) in expected.iter().zip(&found) {
            if expected.outcome != found.outcome {
                let line = format!(
                    "{} {}: {:?}\n  and not {:?}",
                    found.exchange, found.endpoint, found.outcome, expected.outcome
                );
                if found.is_charged() && !expected.is_charged() {
                    wrong_charges.push(line.clone());
                }
                differences.push(line);
            }
        }
    }
    wrong_charges.extend(wrong_words(text, style));
    Result { learned, truth, differences, wrong_charges, ambiguity: style.ambiguity }
}

/// What a person who knows the gateway answers about its words.
fn true_words(style: &Style) -> Vec<String> {
    let queries: [(&Words, &[&str]); 2] =
        [(&style.words, &["provider_status", "payment_status"]), (&style.qr_words, &["qr_status"])];
    let of_query = |words: &Words, endpoint: &str| {
        [format!("{endpoint}:{}=charged", words.paid), format!("{endpoint}:{}=rejected", words.declined)]
    };
    queries
        .iter()
        .flat_map(|(words, endpoints)| endpoints.iter().flat_map(|endpoint| of_query(words, endpoint)))
        .collect()
}

/// The words in all lists of a dialect, without the interface's own.
fn words_in(dialect: &str, list: &str) -> Vec<String> {
    let dialect: Value = serde_json::from_str(dialect).expect("JSON");
    let endpoints = dialect["endpoints"].as_object().into_iter().flatten().map(|(_, keys)| keys);
    let lists = endpoints.chain([&dialect]).filter_map(|keys| keys[list].as_array());
    let words = lists.flatten().filter_map(Value::as_str).filter(|word| !["CHARGE", "Reject"].contains(word));
    words.map(str::to_owned).collect()
}

/// The words that a dialect takes for paid and that are not this gateway's.
fn wrong_words(dialect: &str, style: &Style) -> Vec<String> {
    let own = [&style.words, &style.qr_words];
    let is_right = |word: &String| own.iter().any(|words| words.paid.eq_ignore_ascii_case(word) || words.paid == *word);
    let words = words_in(dialect, "charged_words").into_iter();
    words.filter(|word| !is_right(word)).map(|word| format!("{word:?} is no word for paid")).collect()
}

fn seeds() -> Vec<u64> {
    let own = env::var("KASSA_SEED").ok().map(|seed| seed.parse().expect("KASSA_SEED is a number"));
    own.map_or_else(|| (0..SEEDS).collect(), |seed| vec![seed])
}

#[test]
fn ten_of_twelve_gateways_are_learned_whole() {
    for seed in seeds() {
        let folder = tempfile::tempdir().expect("a folder");
        let results: Vec<Result> = thread::scope(|scope| {
            let play = |(index, style): (usize, Style)| {
                let folder = folder.path().join(index.to_string());
                scope.spawn(move || {
                    std::fs::create_dir(&folder).expect("a folder");
                    play(&style, &folder)
                })
            };
            let threads: Vec<_> = gateways(seed).into_iter().enumerate().map(play).collect();
            threads.into_iter().map(|thread| thread.join().expect("it plays")).collect()
        });
        let mut whole = 0;
        let mut problems = Vec::new();
        for (index, result) in results.iter().enumerate() {
            let again = format!("again: KASSA_SEED={seed} cargo test -p kassa-conformance --test learn");
            let shown = format!("gateway {index}, {again}\n{}\n{}", result.truth, result.learned.report);
            assert_eq!(result.wrong_charges, [""; 0], "{shown}");
            assert!(
                !result.learned.is_whole || result.differences.is_empty(),
                "{}\n{shown}",
                result.differences.join("\n")
            );
            whole += usize::from(result.learned.is_whole);
            if result.ambiguity == Ambiguity::None && !result.learned.is_whole {
                problems.push(shown);
            } else if result.ambiguity != Ambiguity::None {
                assert!(result.learned.report.contains("--place"), "{shown}");
            }
        }
        assert!(whole >= WHOLE, "only {whole} of {GATEWAYS} are whole\n{}", problems.join("\n\n"));
    }
}

#[test]
fn without_orders_no_word_is_charged() {
    let folder = tempfile::tempdir().expect("a folder");
    let style = Style::random(7, Ambiguity::None);
    let gateway = Invented::start(&style);
    let path = folder.path().join("gateway.jsonl");
    record(&gateway.url, &path, |client| pay(client, &gateway, &style, "first"));
    let mut options = LearnOptions { files: vec![path.clone()], ..LearnOptions::default() };
    let learned = learn(&options).expect("a recording");
    let dialect = Dialect::from_json(learned.dialect.as_deref().expect("a dialect")).expect("the core reads it");
    let all = exchanges(&path);
    assert_eq!(judge(&all, &dialect).iter().filter(|one| one.is_charged()).count(), 0);
    assert!(!learned.is_whole);
    let flag = format!("--confirm provider_status:{}=charged", style.words.paid);
    assert!(learned.report.contains(&flag), "{}", learned.report);
    // With a person's yes for each word, it is whole.
    options.confirmations.extend(true_words(&style).iter().map(|flag| flag.parse().expect("an answer")));
    let learned = learn(&options).expect("a recording");
    assert!(learned.is_whole, "{}", learned.report);
    let dialect = Dialect::from_json(learned.dialect.as_deref().expect("a dialect")).expect("the core reads it");
    assert!(judge(&all, &dialect).iter().filter(|one| one.is_charged()).count() > 6);
}
