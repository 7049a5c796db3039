//! What must be written nowhere (invariant 9): looked for in the bytes of every file, and in what the shop is told.

use std::fs;

use kassa_sandbox::{Provider, TEST_CARDS, TEST_PHONES, TestPhone};

use crate::{
    fleet::{APART, FLEET, RESTLESS},
    program::{EVENTS_SECRET, PASSWORD},
    scene::Scene,
};

/// A wrong one-time password that occurs nowhere by chance.
pub const WRONG_OTP: &str = "otp-wrong-7x";

/// The code of every card. Of what is told and kept no other word is that; a log may count so many bytes.
pub const CVC: &str = "737";

/// The payers who pay by mobile bank.
pub fn payers() -> Vec<TestPhone> {
    TEST_PHONES.into_iter().filter(|phone| phone.provider == Provider::MBank).collect()
}

/// The payers who pay from a MegaPay wallet.
pub fn wallets() -> Vec<TestPhone> {
    TEST_PHONES.into_iter().filter(|phone| phone.provider == Provider::MegaPay).collect()
}

/// Those of every scene.
fn known() -> Vec<String> {
    let mut secrets = vec![WRONG_OTP.to_owned(), PASSWORD.to_owned()];
    secrets.push(EVENTS_SECRET["whsec_".len()..].to_owned());
    secrets.extend(payers().iter().map(|phone| phone.phone.to_owned()));
    for card in TEST_CARDS {
        secrets.push(card.pan.to_owned());
        let groups: Vec<_> = card.pan.as_bytes().chunks(4).map(String::from_utf8_lossy).collect();
        secrets.extend([groups.join(" "), groups.join("-")]);
    }
    secrets
}

/// In what PostgreSQL wrote, logs included.
pub fn found_on_disk() -> Vec<String> {
    let clusters = [&*FLEET, &RESTLESS.0].into_iter().chain(APART.as_ref().map(|apart| &apart.cluster));
    let found = clusters.flat_map(|cluster| cluster.files_with(&known()));
    found.map(|file| format!("invariant 9: a secret is in {file}")).collect()
}

/// What was found.
pub fn found(scene: &Scene) -> Vec<String> {
    let mut secrets = known();
    secrets.push(scene.key.splitn(3, '_').nth(2).expect("its secret part").to_owned());
    secrets.extend(scene.tokens().iter().map(|token| token["ct_".len()..].to_owned()));
    let mut found = Vec::new();
    for file in fs::read_dir(scene.folder()).expect("the folder").map_while(Result::ok) {
        let bytes = fs::read(file.path()).unwrap_or_default();
        for secret in &secrets {
            if bytes.windows(secret.len()).any(|part| part == secret.as_bytes()) {
                found.push(format!("invariant 9: {secret} is in {:?}", file.file_name()));
            }
        }
    }
    let log = scene.log();
    let in_log = ["cvc".to_owned(), format!("\"{CVC}\"")].into_iter().filter(|trace| log.contains(trace));
    found.extend(in_log.map(|trace| format!("invariant 9: {trace} is in the log")));
    let mut texts: Vec<_> = scene.shop.arrived().into_iter().map(|arrived| arrived.body).collect();
    texts.extend(scene.ledger().texts());
    for secret in &secrets {
        let holds = texts.iter().any(|text| text.contains(secret.as_str()));
        found.extend(holds.then(|| format!("invariant 9: {secret} is in a text")));
    }
    found.extend(texts.iter().filter(|text| holds(text, CVC)).map(|text| format!("invariant 9: {CVC} in {text}")));
    texts.push(log);
    found.extend(told_pages(scene, &texts));
    found.extend(told_wallets(&texts));
    for otp in payers().iter().chain(&wallets()).map(|phone| phone.otp) {
        found.extend(texts.iter().filter(|text| holds(text, otp)).map(|text| format!("invariant 9: {otp} in {text}")));
    }
    found
}

/// The address of a hosted page is told to its shop alone. It stands in its own row, and in no other text.
fn told_pages(scene: &Scene, texts: &[String]) -> Vec<String> {
    let pages = scene.ledger().pages();
    let is_told = |page: &&String| texts.iter().any(|text| text != *page && text.contains(page.as_str()));
    pages.iter().filter(is_told).map(|page| format!("invariant 9: the page {page} is told")).collect()
}

/// The phone of a wallet stands in its own column as long as a PIN may be sent, and in no other text.
fn told_wallets(texts: &[String]) -> Vec<String> {
    let wallets = wallets();
    let is_told = |phone: &&TestPhone| texts.iter().any(|text| text != phone.phone && text.contains(phone.phone));
    wallets.iter().filter(is_told).map(|phone| format!("invariant 9: the wallet {} is told", phone.phone)).collect()
}

/// As a word: six digits can be in any identifier.
fn holds(text: &str, secret: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(secret)
        .any(|(at, _)| !is_part(text[..at].chars().next_back()) && !is_part(text[at + secret.len()..].chars().next()))
}
