//! The pure crates' own clippy.toml: no clock, no task, no disk, no unordered map.
//!
//! Owns the text of those files. A crate's own file replaces the root one, so it repeats that first.
//! `cargo xtask tidy --write` writes them.

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;

/// Crates that decide and never act.
const PURE_CRATES: [&str; 3] = ["run-core", "policy", "ledger"];
const ROOT: &str = "clippy.toml";

const BANS: &str = r#"
disallowed-methods = [
    { path = "std::time::Instant::now", reason = "the caller hands the time in" },
    { path = "std::time::SystemTime::now", reason = "the caller hands the time in" },
    { path = "std::thread::sleep", reason = "waiting is the runtime's work" },
    { path = "std::thread::spawn", reason = "a pure crate starts nothing" },
    { path = "tokio::spawn", reason = "a pure crate starts nothing", allow-invalid = true },
    { path = "std::env::var", reason = "configuration arrives as a value" },
    { path = "std::fs::read", reason = "a pure crate knows no disk" },
    { path = "std::fs::write", reason = "a pure crate knows no disk" },
    { path = "std::fs::File::open", reason = "a pure crate knows no disk" },
    { path = "std::collections::HashMap::iter", reason = "its order differs from run to run" },
    { path = "std::collections::HashMap::iter_mut", reason = "its order differs from run to run" },
    { path = "std::collections::HashMap::keys", reason = "its order differs from run to run" },
    { path = "std::collections::HashMap::values", reason = "its order differs from run to run" },
    { path = "std::collections::HashMap::drain", reason = "its order differs from run to run" },
    { path = "std::collections::HashSet::iter", reason = "its order differs from run to run" },
]
disallowed-types = [
    { path = "std::collections::HashMap", reason = "use BTreeMap: a replay must meet the same order" },
    { path = "std::collections::HashSet", reason = "use BTreeSet: a replay must meet the same order" },
]
"#;

/// Returns path and text of every generated file.
pub(super) fn expected(house: &RepositoryView) -> Vec<(String, String)> {
    let header = "# Written by `cargo xtask tidy --write`: the root file's settings, then what a pure crate must not do.\n";
    let root = house.text(ROOT).trim_end();
    let present = PURE_CRATES.iter().filter(|folder| house.crates.iter().any(|c| c.folder == **folder));
    present.map(|folder| (format!("crates/{folder}/{ROOT}"), format!("{header}{root}\n{BANS}"))).collect()
}

/// Returns generated files that are missing or differ from what would be written.
pub(super) fn check(house: &RepositoryView) -> Vec<TidyFinding> {
    let stale = expected(house).into_iter().filter(|(path, text)| house.text(path) != text);
    let findings = stale.map(|(path, _)| TidyFinding {
        item: path.clone(),
        path,
        line: 1,
        rule: "clippy-config",
        what: "the file is not what would be generated".to_owned(),
        mend: "run `cargo xtask tidy --write`",
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    #[test]
    fn a_generated_file_passes_and_a_changed_root_makes_it_stale() {
        let bare = house(&[("clippy.toml", "a = 1\n"), ("crates/policy/Cargo.toml", "")]);
        assert_eq!(check(&bare).len(), 1, "the file is missing");
        let (path, text) = expected(&bare).remove(0);
        let with = |root| house(&[("clippy.toml", root), ("crates/policy/Cargo.toml", ""), (&path, &text)]);
        assert!(check(&with("a = 1\n")).is_empty());
        assert_eq!(check(&with("a = 2\n")).len(), 1);
    }

    #[test]
    fn it_is_valid_toml_that_keeps_the_root_settings() {
        let root = "too-many-lines-threshold = 70\n";
        let house = house(&[("clippy.toml", root), ("crates/ledger/Cargo.toml", "")]);
        let (_, text) = expected(&house).remove(0);
        let table: toml::Table = text.parse().expect("valid");
        assert!(table.contains_key("too-many-lines-threshold") && table.contains_key("disallowed-methods"));
    }
}
