//! Programs that the documentation site shows: each is a file that tests run, or stands in a document whose blocks a test takes out. A new
//! one has to be given to a test, and then to the tables here.
//!
//! What is taken out is run, but for the screens: those in Kotlin's README are compiled, and the view in SwiftUI in Swift's is
//! type-checked against stand-ins of Apple's modules. Of command lines most are only parsed.

use crate::repository::Repository;

/// The documents that the site shows beside docs/: see scripts/docs/gather.
const READMES: [&str; 6] = [
    "bindings/kotlin/README.md",
    "bindings/python-sandbox/README.md",
    "bindings/python-server/README.md",
    "bindings/python/README.md",
    "bindings/swift/README.md",
    "sandbox/README.md",
];

/// What a block shows of a file (a comment `<!-- code: FILE -->` before it) is in one of these folders, which the test runs, or compiles as
/// told above. `scripts/docs/write-code --check` looks whether the block is current.
const FILES: [(&str, &str); 41] = [
    ("bindings/kotlin/kassa-sandbox/README.md", "bindings/kotlin/kassa/src/test/kotlin/dev/kassa/readme/ReadmeTest.kt"),
    ("bindings/kotlin/README.md", "bindings/kotlin/kassa/src/test/kotlin/dev/kassa/readme/ReadmeTest.kt"),
    (
        "bindings/kotlin/kassa/src/test/kotlin/dev/kassa/TelemetryTest.kt",
        "bindings/kotlin/kassa/src/test/kotlin/dev/kassa/TelemetryTest.kt",
    ),
    ("bindings/python-sandbox/README.md", "bindings/python-sandbox/tests/test_docs.py"),
    ("bindings/python/README.md", "bindings/python/tests/test_docs.py"),
    ("bindings/python/tests/test_telemetry.py", "bindings/python/tests/test_telemetry.py"),
    ("bindings/swift/README.md", "bindings/swift/Tests/KassaTests/ReadmeTests.swift"),
    ("bindings/swift/Tests/KassaTests/TelemetryTests.swift", "bindings/swift/Tests/KassaTests/TelemetryTests.swift"),
    ("core/tests/telemetry.rs", "core/tests/telemetry.rs"),
    ("docs/checkout.md", "tests/rust/tests/documents/programs/mod.rs"),
    ("docs/journal.md", "tests/rust/tests/documents/programs/mod.rs"),
    ("examples/axum/src/", "examples/axum/tests/shops/main.rs"),
    ("examples/axum/tests/shops/direct.rs", "examples/axum/tests/shops/direct.rs"),
    ("examples/axum/tests/shops/shop.rs", "examples/axum/tests/shops/shop.rs"),
    (
        "examples/kotlin/checkout/src/main/",
        "examples/kotlin/checkout/src/test/kotlin/dev/kassa/checkout/CheckoutTest.kt",
    ),
    ("examples/python/frameworks/celery_shop/", "examples/python/frameworks/tests/test_celery.py"),
    ("examples/python/frameworks/direct_worker.py", "examples/python/frameworks/tests/test_direct_shops.py"),
    ("examples/python/frameworks/django_shop/", "examples/python/frameworks/tests/test_django.py"),
    ("examples/python/frameworks/fastapi_shop/", "examples/python/frameworks/tests/test_fastapi.py"),
    ("examples/python/frameworks/flask_shop/", "examples/python/frameworks/tests/test_flask.py"),
    ("examples/python/frameworks/gunicorn_shop/", "examples/python/frameworks/tests/test_gunicorn.py"),
    ("examples/python/frameworks/orders.py", "examples/python/frameworks/tests/test_flask.py"),
    ("examples/python/frameworks/tests/test_fastapi.py", "examples/python/frameworks/tests/test_fastapi.py"),
    ("examples/python/frameworks/tests/test_flask.py", "examples/python/frameworks/tests/test_flask.py"),
    ("examples/python/frameworks/worker.py", "examples/python/frameworks/tests/test_server_shops.py"),
    ("examples/kotlin/coroutines/src/", "examples/kotlin/coroutines/src/test/kotlin/dev/kassa/honey/ShopTest.kt"),
    ("examples/kotlin/spring-boot/src/", "examples/kotlin/spring-boot/src/test/java/dev/kassa/honey/ShopTest.java"),
    ("examples/python/scripts/", "examples/python/tests/test_scripts.py"),
    ("examples/rust/src/bin/first_program.rs", "examples/rust/tests/first_program.rs"),
    ("examples/rust/src/bin/flows/", "examples/rust/tests/flows.rs"),
    ("examples/shops/curl/", "examples/shops/tests/test_curl.py"),
    ("examples/shops/python/certify.toml", "examples/shops/tests/certify/test_certify.py"),
    ("examples/shops/", "examples/shops/tests/test_shops.py"),
    ("examples/swift/checkout/Sources/checkout/", "examples/swift/checkout/Tests/CheckoutTests/CheckoutTests.swift"),
    ("examples/swift/server-shop/Sources/", "examples/swift/server-shop/Tests/ServerShopTests/ShopTests.swift"),
    ("sandbox/README.md", "sandbox/src/lib.rs"),
    ("server/packaging/Caddyfile", "server/tests/program/proxies.rs"),
    ("server/packaging/compose.demo.yaml", "server/openapi-tests/tests/test_compose_demo.py"),
    ("server/packaging/compose.sandbox.yaml", "server/tests/program/compose.rs"),
    ("server/packaging/compose.yaml", "server/tests/program/compose.rs"),
    ("server/packaging/nginx", "server/tests/program/proxies.rs"),
];

/// What stands in a document itself: how many blocks of a language, and what takes them out, or why nothing can.
const BLOCKS: [(&str, &str, usize, &str); 60] = [
    ("bindings/kotlin/README.md", "java", 3, "bindings/kotlin/kassa/src/test/kotlin/dev/kassa/readme/ReadmeTest.kt"),
    ("bindings/kotlin/README.md", "kotlin", 11, "bindings/kotlin/kassa/src/test/kotlin/dev/kassa/readme/ReadmeTest.kt"),
    ("bindings/kotlin/README.md", "sh", 1, "scripts/kotlin/build-apk"),
    ("bindings/kotlin/README.md", "xml", 3, "scripts/release/check-versions"),
    ("bindings/kotlin/README.md", "xml", 1, "scripts/kotlin/try-quick-start"),
    ("bindings/python-sandbox/README.md", "python", 2, "bindings/python-sandbox/tests/test_docs.py"),
    ("bindings/python-sandbox/README.md", "sh", 1, "scripts/python/build-sandbox-wheel"),
    ("bindings/python-server/README.md", "python", 2, "bindings/python-server/tests/test_plugin.py"),
    ("bindings/python-server/README.md", "sh", 1, "scripts/python/build-server-wheel"),
    ("bindings/python/README.md", "python", 1, "bindings/python/tests/test_checkout.py"),
    ("bindings/python/README.md", "python", 4, "bindings/python/tests/test_docs.py"),
    ("bindings/python/README.md", "python", 1, "bindings/python/tests/test_server_client.py"),
    ("bindings/python/README.md", "sh", 1, "bindings/python/tests/test_docs.py"),
    ("bindings/swift/README.md", "swift", 3, "bindings/swift/Tests/KassaCheckoutTests/ReadmeTests.swift"),
    ("bindings/swift/README.md", "swift", 1, "bindings/swift/Tests/KassaSandboxTests/ReadmeTests.swift"),
    ("bindings/swift/README.md", "swift", 6, "bindings/swift/Tests/KassaTests/ReadmeTests.swift"),
    ("bindings/swift/README.md", "swift", 1, "needs a shop of the reader's own"),
    ("docs/certify.md", "sh", 1, "scripts/shops/certify"),
    ("docs/certify.md", "yaml", 1, "needs a runner of GitHub's"),
    ("docs/checkout.md", "rust", 1, "tests/rust/tests/documents/programs/mod.rs"),
    ("docs/compose.md", "sh", 3, "needs Docker and an image"),
    ("docs/dialect.md", "json", 2, "core/src/config/dialect/tests.rs"),
    ("docs/dialect.md", "python", 1, "bindings/python/tests/test_docs.py"),
    ("docs/elqr.md", "python", 1, "bindings/python/tests/test_docs.py"),
    ("docs/events.md", "json", 25, "server/src/http/examples.rs"),
    ("docs/finipay.md", "json", 2, "core/src/config/dialect/tests.rs"),
    ("docs/finipay.md", "sh", 1, "needs an account at the gateway"),
    ("docs/frameworks/axum.md", "sh", 2, "needs a server, or an account at the gateway"),
    ("docs/frameworks/celery.md", "sh", 1, "examples/python/frameworks/tests/test_docs.py"),
    ("docs/frameworks/django.md", "sh", 2, "examples/python/frameworks/tests/test_docs.py"),
    ("docs/frameworks/fastapi.md", "sh", 2, "examples/python/frameworks/tests/test_docs.py"),
    ("docs/frameworks/flask.md", "sh", 1, "examples/python/frameworks/tests/test_docs.py"),
    ("docs/frameworks/index.md", "sh", 1, "needs the wheels, and a server that runs"),
    ("docs/frameworks/gunicorn.md", "sh", 1, "examples/python/frameworks/tests/test_docs.py"),
    ("docs/journal.md", "python", 2, "bindings/python/tests/test_delivery.py"),
    ("docs/frameworks/spring-boot.md", "xml", 1, "scripts/release/check-versions"),
    ("docs/journal.md", "rust", 1, "tests/rust/tests/documents/programs/mod.rs"),
    ("docs/programs.md", "sh", 4, "needs a release, or the whole repository"),
    ("docs/quick-start.ky.md", "sh", 7, "needs the whole repository, and a person"),
    ("docs/quick-start.ky.md", "toml", 1, "a path of the repository"),
    ("docs/quick-start.md", "sh", 7, "needs the whole repository, and a person"),
    ("docs/quick-start.md", "toml", 1, "a path of the repository"),
    ("docs/quick-start.ru.md", "sh", 7, "needs the whole repository, and a person"),
    ("docs/quick-start.ru.md", "toml", 1, "a path of the repository"),
    ("docs/rejudge.md", "sh", 1, "server/tests/program/rejudge.rs"),
    ("docs/recordings.md", "json", 1, "sandbox/tests/sandbox/replay.rs"),
    ("docs/recordings.md", "sh", 4, "sandbox/tests/sandbox/readme.rs"),
    ("docs/reverse-proxy.md", "caddyfile", 2, "server/tests/program/proxies.rs"),
    ("docs/reverse-proxy.md", "nginx", 2, "server/tests/program/proxies.rs"),
    ("docs/reverse-proxy.md", "sh", 1, "server/tests/program/documented.rs"),
    ("docs/reverse-proxy.md", "toml", 1, "server/tests/program/documented.rs"),
    ("docs/server.md", "ini", 1, "settings of PostgreSQL"),
    ("docs/server.md", "sh", 8, "server/tests/program/documented.rs"),
    ("docs/server.md", "sql", 1, "an administrator of PostgreSQL's"),
    ("docs/server.md", "toml", 4, "server/tests/program/documented.rs"),
    ("docs/test-environment.md", "sh", 1, "needs an account at the gateway"),
    ("docs/testing.md", "sh", 1, "needs the whole repository, and a person"),
    ("sandbox/README.md", "json", 1, "sandbox/tests/sandbox/readme.rs"),
    ("sandbox/README.md", "rust", 3, "sandbox/src/lib.rs"),
    ("sandbox/README.md", "sh", 7, "sandbox/tests/sandbox/readme.rs"),
];

/// Whether the site shows it.
pub fn is_shown(path: &str) -> bool {
    READMES.contains(&path) || path.starts_with("docs/") && path.ends_with(".md")
}

pub fn problems(path: &str, text: &str) -> Vec<String> {
    let mut problems = vec![];
    let mut counted: Vec<(String, usize)> = vec![];
    for block in blocks(text) {
        if let Some(file) = block.source {
            if !FILES.iter().any(|(folder, _)| file.starts_with(folder)) {
                problems.push(format!("{path}: no test runs {file}"));
            }
        } else if !block.language.is_empty() && block.language != "text" {
            match counted.iter_mut().find(|(language, _)| *language == block.language) {
                Some((_, count)) => *count += 1,
                None => counted.push((block.language.to_owned(), 1)),
            }
        }
    }
    for (language, count) in counted {
        let known = BLOCKS.iter().filter(|(document, known, ..)| *document == path && *known == language);
        let known: usize = known.map(|(_, _, count, _)| count).sum();
        if known != count {
            problems.push(format!(
                "{path}: of {count} blocks of {language} {known} are known: which test runs the others?"
            ));
        }
    }
    problems
}

/// The tests of the tables that are not there. What has a blank is no file, but the reason why nothing runs it.
pub fn gone(repository: &Repository) -> Vec<String> {
    let runners = FILES.iter().map(|(_, test)| *test).chain(BLOCKS.iter().map(|(.., test)| *test));
    let gone = runners.filter(|test| !test.contains(' ') && !repository.has(test));
    gone.map(|test| format!("{test} is gone, which runs what is shown")).collect()
}

/// A fenced block of code.
struct Block<'a> {
    language: &'a str,
    /// The file that it shows. Otherwise the code stands in the document alone.
    source: Option<&'a str>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = vec![];
    let mut is_in = false;
    let mut source = None;
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("```") {
            Some(_) if is_in => is_in = false,
            Some(language) => {
                is_in = true;
                blocks.push(Block { language: language.split(',').next().unwrap_or_default(), source });
            }
            None => {}
        }
        source = source_named(line);
    }
    blocks
}

/// The file of a comment `<!-- code: FILE:SECTION -->`.
fn source_named(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- code: ")?.strip_suffix(" -->")?.split(':').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_that_a_test_runs_is_no_problem() {
        let block = "<!-- code: examples/rust/src/bin/flows/qr.rs -->\n```rust\nfn main() {}\n```\n";
        assert_eq!(problems("docs/flows/qr.md", block), [""; 0]);
    }

    #[test]
    fn what_no_test_runs_is_found() {
        let file = "<!-- code: core/src/lib.rs:part -->\n```rust\nfn part() {}\n```\n";
        assert_eq!(problems("docs/a.md", file), ["docs/a.md: no test runs core/src/lib.rs"]);
        let block = "  ```python\n  import kassa\n  ```\n";
        let wanted = "docs/a.md: of 1 blocks of python 0 are known: which test runs the others?";
        assert_eq!(problems("docs/a.md", block), [wanted]);
    }
}
