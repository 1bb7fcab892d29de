//! Which part of a commit is product, and what a file is with that part taken back.
//!
//! Pure. Tests lie in files of their own or behind `#[cfg(test)]` at the end of a file; both stay as the commit left
//! them, so that what fails is the product of before under the tests of after.

/// Crates that only tests and measurements use.
const TEST_CRATES: [&str; 7] = ["attack", "bench", "model-server", "sim", "testdaemon", "testkit", "xtask"];
/// What begins the tests at the end of a file.
const TESTS_BEGIN: &str = "\n#[cfg(test)]\nmod ";

/// Returns whether a changed path belongs to the product.
pub(super) fn is_product(path: &str) -> bool {
    let Some((folder, below)) = path.strip_prefix("crates/").and_then(|path| path.split_once('/')) else {
        return false;
    };
    let is_source = ["src/", "policies/", "proto/"].iter().any(|start| below.starts_with(start));
    let is_test = below.split('/').any(|part| {
        let name = part.trim_end_matches(".rs");
        name == "tests" || name == "attacks" || name.ends_with("_tests")
    });
    is_source && !is_test && !TEST_CRATES.contains(&folder)
}

/// Returns a file as it was before, with the tests it has now.
pub(super) fn taken_back(before: &str, now: &str) -> String {
    let (product, _) = split(before);
    let (_, tests) = split(now);
    format!("{product}{tests}")
}

fn split(file: &str) -> (&str, &str) {
    file.find(TESTS_BEGIN).map_or((file, ""), |at| file.split_at(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_is_what_ships() {
        for path in
            ["crates/cli/src/drive.rs", "crates/policy/policies/never.cedar", "crates/wire/proto/store.proto"]
        {
            assert!(is_product(path), "{path}");
        }
        for path in [
            "crates/cli/src/drive/tests.rs",
            "crates/commands/src/commands/door_tests.rs",
            "crates/tools/src/attacks/links.rs",
            "crates/palyra/tests/e2e/main.rs",
            "crates/testkit/src/lib.rs",
            "docs/cli.md",
            "Cargo.toml",
        ] {
            assert!(!is_product(path), "{path}");
        }
    }

    #[test]
    fn the_tests_of_now_stay_behind_the_product_of_before() {
        let now = "fn new() {}\n\n#[cfg(test)]\nmod tests;\n";
        assert_eq!(taken_back("fn old() {}\n", now), "fn old() {}\n\n#[cfg(test)]\nmod tests;\n");
        let before = "fn old() {}\n\n#[cfg(test)]\nmod tests {\n  // old\n}\n";
        assert_eq!(taken_back(before, "fn new() {}\n"), "fn old() {}\n");
    }
}
