//! Private words: identifiers and phrases that Kassa once used for things that the field has a name for. They were
//! replaced. A word that comes back gives nothing to a reader who searches for the field's term.
//!
//! The list is short on purpose: only words that nobody writes by accident, each with the one to use.

use super::repository::Repository;

/// What was replaced, and what to write.
const REPLACED: [(&str, &str); 45] = [
    ("Settled", "Recovered (settlement is the transfer of money to the merchant)"),
    ("Settling", "Recovery (settlement is the transfer of money to the merchant)"),
    ("SettlePolicy", "RecoveryPolicy"),
    ("gateway.settle", "gateway.recover"),
    ("Verdict::Open", "Verdict::Pending"),
    ("Verdict.Open", "Verdict.Pending"),
    ("JournalState::Open", "JournalState::Pending"),
    ("Contradicted", "Mismatch"),
    ("AskStatus", "CheckStatus"),
    ("ask_status", "check_status"),
    ("StayOpen", "StayPending"),
    ("AnswerLost", "ResponseLost"),
    ("FakeNotice", "FakeNotification"),
    ("can_be_asked_about", "can_be_checked"),
    ("canBeAskedAbout", "can_be_checked"),
    ("payment.contradicted", "payment.mismatch"),
    ("follow_up", "status (checks, watches, recovery, callbacks)"),
    ("written_down", "journaling"),
    ("CameBack", "AttemptResult"),
    ("NotHeld", "BeginError"),
    ("is_a_no", "is_definitive"),
    ("has_undecided_code", "has_indeterminate_code"),
    ("IS_ABOUT_ITS_FORM", "REJECTED_BEFORE_PROCESSING"),
    ("questions_per_second", "poll_rate"),
    ("sends_at_once", "max_concurrent_sends"),
    ("questions_at_once", "max_concurrent_polls"),
    ("most_connections", "max_connections"),
    ("traces.one_in", "tracing.sample_ratio"),
    ("kassa_gateway_questions_total", "kassa_gateway_status_queries_total"),
    ("KassaQuestionsLate", "KassaStatusQueriesLate"),
    ("Surroundings", "Runtime"),
    ("refund_noted", "refund_recorded"),
    ("asked_at", "queried_at"),
    ("KassaGatewayTrouble", "KassaStatusQueriesFail"),
    ("ServerTrouble", "an error that is named by what failed"),
    ("ErasedOperation", "one path for every operation (pipeline/execute.rs)"),
    ("storage/book", "storage/aggregate"),
    ("core/src/values", "a room by what it is: money, card, payment_ref, error"),
    ("CheckoutHappened", "Trigger"),
    ("How they were seen to fail", "Mutation checks"),
    ("Whose kilobytes", "Binary size breakdown"),
    ("Whoever panicked", "The panic was already logged"),
    ("The world comes over TLS", "Whether the public URL is https"),
    ("sleeps for luck", "no fixed sleeps"),
    ("however a payment is asked about", "every status check"),
];

/// What is not written by the project, or is no text.
const NOT_OURS: [&str; 9] = [".png", ".webp", ".ico", ".jar", ".gz", ".woff2", ".lock", "LICENSE", "private_words.rs"];

/// Each place where one of them stands.
pub fn problems(repository: &Repository) -> Vec<String> {
    let is_ours = |path: &&str| {
        let is_foreign = path.starts_with("licenses/") || path.starts_with("fuzz/");
        !is_foreign && !NOT_OURS.iter().any(|end| path.ends_with(end))
    };
    let mut problems = Vec::new();
    for path in repository.files().filter(is_ours) {
        for (at, line) in repository.text(path).lines().enumerate() {
            let found = REPLACED.iter().filter(|(word, _)| has_word(line, word));
            problems.extend(found.map(|(word, better)| format!("{path}:{}: not {word}, but {better}", at + 1)));
        }
    }
    problems
}

/// Whether it stands there as a whole, not as a part of another identifier.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, behind) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(is_part) && !behind.starts_with(is_part)
    })
}

#[test]
fn private_word_is_found_with_the_one_to_use() {
    let repository = Repository::of([
        ("core/src/lib.rs", "gateway.recover();\nmatch Verdict::Open {}\n"),
        ("docs/flows/index.md", "The settlement of the day's money is the bank's; asked `questions_per_second_of`."),
        ("docs/server.md", "`questions_per_second = 5`"),
    ]);
    assert_eq!(
        problems(&repository),
        [
            "core/src/lib.rs:2: not Verdict::Open, but Verdict::Pending",
            "docs/server.md:1: not questions_per_second, but poll_rate",
        ]
    );
}
