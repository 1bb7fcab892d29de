//! Which commits the repository has, as git says it.
//!
//! Owns the questions to git. Sources without git, a clone that has a part of the history only, and a repository with a
//! history of its own, which has none of the commits, cannot say that a commit is missing: there none is.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Returns those of the names that do not begin a commit in the history of what is checked out at `root`.
pub(super) fn missing(root: &Path, names: &[&str]) -> BTreeSet<String> {
    match ask(root, &["rev-parse", "--is-shallow-repository"]).as_deref() {
        Some("false\n") => {}
        _ => return BTreeSet::new(),
    }
    let Some(history) = ask(root, &["rev-list", "HEAD"]) else { return BTreeSet::new() };
    let commits: BTreeSet<&str> = history.lines().collect();
    let is_there = |name: &str| commits.range(name..).next().is_some_and(|commit| commit.starts_with(name));
    if !names.iter().any(|name| is_there(name)) {
        return BTreeSet::new();
    }
    names.iter().filter(|name| !is_there(name)).map(|name| (*name).to_owned()).collect()
}

fn ask(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let author = ["-c", "user.name=a", "-c", "user.email=a@a.example", "-c", "commit.gpgsign=false"];
        let output = Command::new("git").args(author).args(arguments).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn a_whole_clone_says_which_commits_are_missing_and_a_shallow_one_does_not() {
        let folder = std::env::temp_dir().join(format!("xtask-commits-{}", std::process::id()));
        let (whole, shallow) = (folder.join("whole"), folder.join("shallow"));
        std::fs::create_dir_all(&whole).unwrap();
        assert_eq!(missing(&whole, &["0123456789ab"]), BTreeSet::new(), "no repository");
        git(&whole, &["init", "--quiet"]);
        for message in ["first", "second"] {
            git(&whole, &["commit", "--quiet", "--allow-empty", "--message", message]);
        }
        let first = git(&whole, &["rev-parse", "HEAD^"]);
        let beside = git(&whole, &["commit-tree", "HEAD^{tree}", "-m", "of no branch"]);
        let found = missing(&whole, &[&first[..12], &beside[..12], "zzzzzzzzzzzz"]);
        assert_eq!(found, BTreeSet::from([beside[..12].to_owned(), "zzzzzzzzzzzz".to_owned()]));
        assert_eq!(missing(&whole, &["zzzzzzzzzzzz"]), BTreeSet::new(), "another history");
        let from = format!("file://{}", whole.display());
        git(&folder, &["clone", "--quiet", "--depth", "1", &from, "shallow"]);
        assert_eq!(missing(&shallow, &[&first[..12]]), BTreeSet::new());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
