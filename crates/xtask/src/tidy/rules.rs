//! The shape of `tidy.toml`.
//!
//! Owns reading the rules and applying their exceptions. Invariant: an exception that excuses
//! nothing is itself a finding, so the list only shrinks to what is needed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::finding::TidyFinding;

/// Everything `tidy` is told rather than knows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rules {
    /// Folder of a crate to its place in the house.
    pub(crate) crates: BTreeMap<String, CrateRule>,
    /// Crates from outside to the folders that may use them outside of tests.
    #[serde(default)]
    pub(crate) foreign_only_in: BTreeMap<String, BTreeSet<String>>,
    pub(crate) caps: SizeCaps,
    pub(crate) names: NameRules,
    pub(crate) gateway: Vec<Gateway>,
    /// Types that only some files may name.
    #[serde(default, rename = "restricted")]
    pub(crate) restricted: Vec<RestrictedType>,
    #[serde(default, rename = "exception")]
    pub(crate) exceptions: Vec<RuleException>,
}

/// What one crate may depend on.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CrateRule {
    pub(crate) floor: String,
    /// Workspace crates (by folder) that its code may name.
    pub(crate) uses: BTreeSet<String>,
    /// Further ones that only its tests may name.
    #[serde(default)]
    pub(crate) tests_use: BTreeSet<String>,
    /// Lines at which it fails, where that is fewer than for others.
    pub(crate) lines_max: Option<usize>,
}

/// Sizes at which `tidy` fails; the targets to aim for are lower.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SizeCaps {
    pub(crate) file_lines_max: usize,
    pub(crate) function_lines_max: usize,
    pub(crate) parameters_max: usize,
    pub(crate) crate_lines_max: usize,
    /// A file over this many lines counts as long.
    pub(crate) long_file_lines: usize,
    pub(crate) long_files_percent_max: usize,
    /// Crates below this size are not asked for their share of long files.
    pub(crate) long_files_from_crate_lines: usize,
    pub(crate) folders_below_src_max: usize,
    pub(crate) inline_test_lines_max: usize,
    pub(crate) architecture_lines_max: usize,
    /// Functions to which one struct with many fields may be passed.
    pub(crate) passed_to_functions_max: usize,
    /// Fields of a struct whose name says only that it carries arguments, when one place builds it.
    pub(crate) carrier_fields_max: usize,
}

/// Names that say nothing, and names that must be found.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NameRules {
    pub(crate) forbidden_modules: BTreeSet<String>,
    pub(crate) forbidden_type_endings: BTreeSet<String>,
    /// Type names of one word that the field itself uses.
    pub(crate) field_terms: BTreeSet<String>,
    /// Seed names, each with a row in the table of ARCHITECTURE.md.
    pub(crate) seeds: BTreeSet<String>,
}

/// The limits of the bunch of keys that transports are given.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gateway {
    pub(crate) type_name: String,
    pub(crate) fields_max: usize,
    pub(crate) forbidden_field_types: BTreeSet<String>,
    /// Files, or folders with a closing slash, that may name the type.
    pub(crate) may_name: Vec<String>,
}

/// A type that only some files may name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RestrictedType {
    /// A type.
    pub(crate) name: String,
    /// Files, or folders with a closing slash.
    pub(crate) may_name: Vec<String>,
    /// Why no other file may, or what to write in its place.
    pub(crate) instead: String,
    /// Whether modules of tests of other files may not name it either.
    #[serde(default)]
    pub(crate) tests_too: bool,
}

/// One rule waived at one place, for a reason.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleException {
    pub(crate) rule: String,
    pub(crate) path: String,
    pub(crate) item: Option<String>,
    pub(crate) reason: String,
}

impl Rules {
    /// Reads the rules.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).context("could not read crates/xtask/tidy.toml")
    }

    /// Returns what is left of `found` after the exceptions, and the exceptions that excused nothing.
    pub(crate) fn excuse(&self, found: &[TidyFinding]) -> Vec<TidyFinding> {
        let mut left: Vec<TidyFinding> =
            found.iter().filter(|f| !self.exceptions.iter().any(|e| e.covers(f))).cloned().collect();
        for exception in &self.exceptions {
            let what = if exception.reason.trim().len() < 10 {
                format!("the exception for {} gives no reason", exception.path)
            } else if !found.iter().any(|f| exception.covers(f)) {
                format!("the exception from `{}` for {} excuses nothing", exception.rule, exception.path)
            } else {
                continue;
            };
            left.push(TidyFinding {
                path: "crates/xtask/tidy.toml".to_owned(),
                line: 1,
                rule: "exceptions",
                item: exception.path.clone(),
                what,
                mend: "delete it, or say in a sentence why the rule does not serve there",
            });
        }
        left
    }
}

impl RuleException {
    fn covers(&self, finding: &TidyFinding) -> bool {
        self.rule == finding.rule
            && self.path == finding.path
            && self.item.as_ref().is_none_or(|item| *item == finding.item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding() -> TidyFinding {
        TidyFinding {
            path: "crates/a/src/b.rs".to_owned(),
            line: 3,
            rule: "file-lines",
            item: "b".to_owned(),
            what: "too long".to_owned(),
            mend: "split it",
        }
    }

    fn rules(exception: RuleException) -> Rules {
        Rules { exceptions: vec![exception], ..Rules::default() }
    }

    fn exception(path: &str, reason: &str) -> RuleException {
        RuleException {
            rule: "file-lines".to_owned(),
            path: path.to_owned(),
            item: None,
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn an_exception_excuses_its_own_finding_only() {
        let reason = "a table that reads better whole";
        assert!(rules(exception("crates/a/src/b.rs", reason)).excuse(&[finding()]).is_empty());
        assert_eq!(rules(exception("crates/a/src/c.rs", reason)).excuse(&[finding()]).len(), 2);
    }

    #[test]
    fn an_exception_without_a_reason_is_a_finding() {
        let left = rules(exception("crates/a/src/b.rs", " ")).excuse(&[finding()]);
        assert_eq!(left.iter().map(|f| f.rule).collect::<Vec<_>>(), ["exceptions"]);
    }

    #[test]
    fn an_unknown_key_is_refused() {
        assert!(Rules::parse("[cap]\nfile_lines = 1\n").is_err());
    }
}
