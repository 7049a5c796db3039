//! Test names: whether a file has a test of a name, in any of the project's languages, and whether it is run.

/// Whether a test of that name is in a file of Rust, Python, Kotlin or Swift, and is run.
pub fn is_test(code: &str, name: &str) -> bool {
    let starts = [format!("fn {name}("), format!("def {name}("), format!("fun `{name}`("), format!("func {name}(")];
    let lines = without_comments(code);
    // A name that a file of Python gives to a skip.
    let named_skip = |line: &&str| line.split_once(" = pytest.mark.skip").map(|(name, _)| format!("@{name}"));
    let named_skips: Vec<_> = lines.iter().filter_map(named_skip).collect();
    let is_start = |line: &str| starts.iter().any(|start| line.contains(start));
    let is_run = |at: usize| {
        let marks = &lines[first_mark(&lines, at)..=at];
        let has = |words: &[&str]| marks.iter().any(|line| words.iter().any(|word| line.contains(word)));
        let has_named_skip = marks.iter().any(|mark| named_skips.iter().any(|skip| mark == skip));
        (name.starts_with("test_") || has(MARKS)) && !has(SKIPS) && !has_named_skip
    };
    !lines.iter().any(|line| SKIPS_OF_A_FILE.iter().any(|skip| line.contains(skip)))
        && (0..lines.len()).any(|at| is_start(lines[at]) && is_run(at))
}

/// What makes a function a test.
const MARKS: &[&str] = &["#[test]", "#[tokio::test", "@Test"];
/// What keeps a test from being run, always or somewhere.
const SKIPS: &[&str] =
    &["#[ignore", "#[cfg(", "@Disabled", "@Ignore", ".disabled", "mark.skip", "mark.xfail", "unittest.skip"];
const SKIPS_OF_A_FILE: &[&str] = &["pytestmark = pytest.mark.skip", "@file:Disabled", "@Suite(.disabled"];

/// The first of the lines above a function that belong to it: attributes, annotations and decorators.
fn first_mark(lines: &[&str], function: usize) -> usize {
    let is_mark = |line: &&str| line.is_empty() || line.starts_with(['#', '@']);
    function - lines[..function].iter().rev().take_while(|line| is_mark(line)).count()
}

/// The lines, trimmed; those that are comments are empty.
fn without_comments(code: &str) -> Vec<&str> {
    let mut in_block = false;
    let mut without_comment = |line| {
        let is_block = in_block || str::starts_with(line, "/*");
        in_block = is_block && !line.contains("*/");
        if is_block || line.starts_with("//") || line.starts_with("# ") { "" } else { line }
    };
    code.lines().map(|line| without_comment(line.trim())).collect()
}

#[test]
fn test_that_is_not_run_shows_nothing() {
    for run in [
        "/// It is.\n#[test]\n#[should_panic]\n// Why.\nfn it_holds() {}",
        "#[tokio::test(start_paused = true)]\nasync fn it_holds() {}",
        "@Test\nfun `it_holds`() {}",
        "@Test(arguments: [1]) func it_holds(number: Int) {}",
        "#[test]\n#[ignore]\nfn other() {}\n\n#[test]\nfn it_holds() {}",
        "// fn it_holds() was ignored.\n#[test]\nfn it_holds() {}",
    ] {
        assert!(is_test(run, "it_holds"), "{run}");
    }
    for not_run in [
        "fn it_holds() {}",
        "#[test]\n#[ignore = \"slow\"]\nfn it_holds() {}",
        "#[ignore]\n/// Why.\n#[test]\nfn it_holds() {}",
        "#[cfg(windows)]\n#[test]\nfn it_holds() {}",
        "// #[test]\n// fn it_holds() {}",
        "/*\n#[test]\nfn it_holds() {}\n*/",
        "@Disabled\n@Test\nfun `it_holds`() {}",
        "@Test(.disabled(\"slow\")) func it_holds() {}",
        "@Suite(.disabled())\nstruct Tests {\n@Test func it_holds() {}\n}",
    ] {
        assert!(!is_test(not_run, "it_holds"), "{not_run}");
    }
    assert!(is_test("def test_it():", "test_it"));
    assert!(is_test("@pytest.mark.parametrize('number', [1])\ndef test_it():", "test_it"));
    assert!(!is_test("@pytest.mark.skip\ndef test_it():", "test_it"));
    assert!(!is_test("posix = pytest.mark.skipif(True)\n@posix\ndef test_it():", "test_it"));
    assert!(!is_test("# def test_it():", "test_it"));
    assert!(!is_test("pytestmark = pytest.mark.skip\ndef test_it():", "test_it"));
}
