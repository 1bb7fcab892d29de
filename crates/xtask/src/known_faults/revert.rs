//! What a file is without one commit: a merge of three versions.
//!
//! The base is the file that the commit left, the one side is the file of now, the other side the product of before
//! under the tests of after. Where both sides changed the same lines, there is no answer.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::product;

/// Files of the product that a commit of one mend changes, at most.
const FILES_OF_ONE_MEND_MAX: usize = 120;

/// What came of taking a commit back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RevertOutcome {
    /// Every file merges.
    Clean {
        /// Their paths and texts; `None` where the file goes.
        files: Vec<(String, Option<String>)>,
    },
    /// A later commit changed the same lines of this file.
    Conflict {
        /// Which file.
        path: String,
    },
    /// The commit changes nothing of the product.
    NoProduct,
    /// The commit is the work of many steps: without it nearly everything is missing, not the one mend.
    ManySteps {
        /// Files of the product that it changes.
        files: usize,
    },
}

/// One file at three times; `None` where it was not there.
#[derive(Debug)]
pub(super) struct FileVersion {
    /// Before the commit.
    pub(super) before: Option<String>,
    /// After it.
    pub(super) after: Option<String>,
    /// In the state from which it is taken back.
    pub(super) now: Option<String>,
}

/// Returns which of the files that a commit changed are product, unless there is none, or too many for one mend.
pub(super) fn product_of_one_mend(changed: &str) -> std::result::Result<Vec<&str>, RevertOutcome> {
    let product: Vec<&str> = changed.lines().filter(|path| product::is_product(path)).collect();
    match product.len() {
        0 => Err(RevertOutcome::NoProduct),
        1..=FILES_OF_ONE_MEND_MAX => Ok(product),
        files => Err(RevertOutcome::ManySteps { files }),
    }
}

/// Returns the path that a file has now, from the output of `git diff --name-status --diff-filter=R`.
pub(super) fn path_now<'a>(path: &'a str, renamed: &'a str) -> &'a str {
    let new_name = |line: &'a str| {
        let (_, paths) = line.split_once('\t')?;
        let (old, new) = paths.split_once('\t')?;
        (old == path).then_some(new)
    };
    renamed.lines().find_map(new_name).unwrap_or(path)
}

/// Returns the text without the commit (`Some(None)`: no file), or `None` where later changes forbid it.
#[expect(clippy::option_option, reason = "no answer and no file are two things")]
pub(super) fn without(file: &FileVersion, scratch: &Path) -> Result<Option<Option<String>>> {
    let (before, after, now) = (file.before.as_deref(), file.after.as_deref(), file.now.as_deref());
    Ok(match (before, after, now) {
        // The commit added it, whatever became of it since.
        (None, _, _) => Some(None),
        // The commit removed it, and it is still gone.
        (Some(before), None, None) => Some(Some(before.to_owned())),
        (Some(_), None, Some(_)) | (Some(_), Some(_), None) => None,
        (Some(before), Some(after), Some(now)) => {
            merge([now, after, &product::taken_back(before, after)], scratch)?.map(Some)
        }
    })
}

/// Merges `[ours, base, theirs]`; `None` on a conflict.
fn merge(texts: [&str; 3], scratch: &Path) -> Result<Option<String>> {
    let [ours, base, theirs] = texts;
    if ours == base {
        return Ok(Some(theirs.to_owned()));
    }
    let files = ["ours", "base", "theirs"].map(|name| scratch.join(name));
    for (file, text) in files.iter().zip(texts) {
        std::fs::write(file, text).with_context(|| format!("could not write {}", file.display()))?;
    }
    let output = Command::new("git").args(["merge-file", "--stdout", "--quiet"]).args(&files).output();
    let output = output.context("could not start git")?;
    match output.status.code() {
        Some(0) => Ok(Some(String::from_utf8(output.stdout).context("a merged file is not text")?)),
        // The number of conflicts.
        Some(1..=127) => Ok(None),
        _ => bail!("`git merge-file` failed: {}", String::from_utf8_lossy(&output.stderr).trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("palyra-revert-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn version(before: &str, after: &str, now: &str) -> FileVersion {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        FileVersion { before: text(before), after: text(after), now: text(now) }
    }

    #[test]
    fn a_commit_is_taken_back_beside_later_changes_and_not_below_them() {
        let lines = |mend: &str, later: &str| format!("{mend}\n1\n2\n3\n4\n5\n{later}\n");
        let file = version(&lines("open", "a"), &lines("closed", "a"), &lines("closed", "b"));
        let without_it = without(&file, &scratch()).expect("git merges");
        assert_eq!(without_it, Some(Some(lines("open", "b"))));
        let file = version(&lines("open", "a"), &lines("closed", "a"), &lines("locked", "a"));
        assert_eq!(without(&file, &scratch()).expect("git merges"), None);
    }

    #[test]
    fn what_a_commit_added_is_removed_and_what_it_removed_is_there_again() {
        for (file, expected) in [
            (version("", "new", "newer"), Some(None)),
            (version("old", "", ""), Some(Some("old".to_owned()))),
            (version("old", "", "back"), None),
            (version("old", "new", ""), None),
        ] {
            assert_eq!(without(&file, &scratch()).expect("git merges"), expected, "{file:?}");
        }
    }

    #[test]
    fn a_commit_that_joins_many_steps_is_not_taken_back_for_one_mend() {
        let changed = |files: usize| {
            let product = (0..files).map(|n| format!("crates/cli/src/f{n}.rs\n"));
            product.collect::<String>() + "docs/cli.md\ncrates/cli/src/tests.rs\n"
        };
        let of = |files: usize| product_of_one_mend(&changed(files)).map(|product| product.len());
        assert_eq!(of(0), Err(RevertOutcome::NoProduct));
        assert_eq!(of(120), Ok(120));
        assert_eq!(of(121), Err(RevertOutcome::ManySteps { files: 121 }));
    }

    #[test]
    fn a_file_that_was_renamed_is_found_by_its_name_of_now() {
        let renamed = "R090\tcrates/a/src/old.rs\tcrates/a/src/new.rs\n";
        assert_eq!(path_now("crates/a/src/old.rs", renamed), "crates/a/src/new.rs");
        assert_eq!(path_now("crates/a/src/else.rs", renamed), "crates/a/src/else.rs");
    }
}
