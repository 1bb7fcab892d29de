//! Commits as a model names them, and as git is asked for them.
//!
//! Invariant: git resolves each to a commit, never to a file by its digest: such a file may be one of credentials, and
//! nobody could tell. The content of one file is asked for by `COMMIT:PATH`, whose path is looked at.

use palyra_types::places::{folded_names, is_credential};

use crate::failure::CommandFailure;

const COMMIT: &str = "^{commit}";

/// Whether files may be named inside of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectKinds {
    /// Only commits.
    Commits,
    /// Files and folders of a commit, too.
    Files,
}

/// Returns a revision in the form in which git is asked for it.
pub(super) fn revision(word: &str, objects: ObjectKinds) -> Result<String, CommandFailure> {
    if word.is_empty() || word.starts_with('-') || word.contains(|c: char| c.is_control()) {
        return Err(refused(word, "is not a revision; write it like `HEAD~3`, `main..feature` or a digest"));
    }
    if let Some(colon) = outside_braces(word, ":").first() {
        return file(word, CommitFile { at: &word[..*colon], path: &word[colon + 1..] }, objects);
    }
    let dots = [("...", 3), ("..", 2)].map(|(dots, length)| (outside_braces(word, dots), length));
    let range = dots.into_iter().find_map(|(places, length)| Some((*places.first()?, length)));
    match range {
        Some((at, length)) => {
            let (from, to) = (&word[..at], &word[at + length..]);
            Ok(format!("{}{}{}", commit(from), &word[at..at + length], commit(to)))
        }
        None => Ok(commit(word)),
    }
}

/// A file of a commit, or of the index where no commit is named.
struct CommitFile<'w> {
    at: &'w str,
    path: &'w str,
}

/// Returns a file of a commit in the form in which git is asked for it.
fn file(
    word: &str,
    CommitFile { at, path }: CommitFile<'_>,
    objects: ObjectKinds,
) -> Result<String, CommandFailure> {
    if objects == ObjectKinds::Commits {
        return Err(refused(
            word,
            "names a file in a commit; put the commit into `revisions` and the file into `paths`",
        ));
    }
    if path.starts_with('/') || path.split('/').any(|name| name == "..") {
        return Err(refused(word, "leads out of the repository; write the path from its root"));
    }
    // The index has a number between two colons.
    let ends = path.match_indices(':').map(|(colon, _)| &path[colon + 1..]);
    if ends.chain([path]).any(|path| is_credential(&folded_names(path))) {
        return Err(refused(
            word,
            "may hold credentials, which are not shown; the person can read it with read_file",
        ));
    }
    if at.contains("..") || at.starts_with('^') {
        return Err(refused(word, "is not a file in a commit; write it like `HEAD~3:src/main.rs`"));
    }
    let at = if at.is_empty() { String::new() } else { commit(at) };
    Ok(format!("{at}:{path}"))
}

/// Asks for the commit, behind what says which one and before what says what of it.
fn commit(word: &str) -> String {
    if word.is_empty() {
        return String::new();
    }
    let tail = ["^!", "^@", "^-"].into_iter().find_map(|tail| {
        let at = word.rfind(tail)?;
        word[at + tail.len()..].bytes().all(|byte| byte.is_ascii_digit()).then_some(at)
    });
    let (head, tail) = word.split_at(tail.unwrap_or(word.len()));
    format!("{head}{COMMIT}{tail}")
}

/// Returns where a text is in a word, but for what stands in braces.
fn outside_braces(word: &str, text: &str) -> Vec<usize> {
    let is_outside = |at: usize| {
        let before = &word[..at];
        before.matches('{').count() == before.matches('}').count()
    };
    word.match_indices(text).map(|(at, _)| at).filter(|at| is_outside(*at)).collect()
}

fn refused(word: &str, why: &str) -> CommandFailure {
    let shown: String = word.chars().take(200).collect();
    CommandFailure::Arguments(format!("`{}` {why}", shown.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, objects: ObjectKinds, expect: &str) {
        let asked = revision(word, objects).unwrap_or_else(|failure| failure.code().slug().to_owned());
        assert_eq!(asked, expect, "{word:?}");
    }

    #[test]
    fn git_is_asked_for_commits() {
        for (word, expect) in [
            ("HEAD", "HEAD^{commit}"),
            ("HEAD~3", "HEAD~3^{commit}"),
            ("main..feature", "main^{commit}..feature^{commit}"),
            ("..feature", "..feature^{commit}"),
            ("a...b", "a^{commit}...b^{commit}"),
            ("^main", "^main^{commit}"),
            ("HEAD^!", "HEAD^{commit}^!"),
            ("HEAD^-1", "HEAD^{commit}^-1"),
            ("HEAD^", "HEAD^^{commit}"),
            ("HEAD^2", "HEAD^2^{commit}"),
            ("@{2 days ago}", "@{2 days ago}^{commit}"),
            ("HEAD^{/a: b..c}", "HEAD^{/a: b..c}^{commit}"),
            ("0123abcd", "0123abcd^{commit}"),
        ] {
            check(word, ObjectKinds::Commits, expect);
        }
        for word in ["", "-x", "--all", "a\nb", "HEAD:src/a.rs", ":a", ":/text"] {
            check(word, ObjectKinds::Commits, "tool_arguments_invalid");
        }
    }

    #[test]
    fn files_of_commits_are_looked_at() {
        check("HEAD:src/a.rs", ObjectKinds::Files, "HEAD^{commit}:src/a.rs");
        check("HEAD:", ObjectKinds::Files, "HEAD^{commit}:");
        check(":src/a.rs", ObjectKinds::Files, ":src/a.rs");
        check(":0:src/a.rs", ObjectKinds::Files, ":0:src/a.rs");
        for word in [
            "HEAD:.env",
            "HEAD:./.ENV",
            "HEAD:a/secrets/db",
            ":.env",
            ":0:.env",
            ":2:keys/server.key",
            "HEAD:../x",
            ":/text",
            "a..b:x",
            "HEAD:/etc/passwd",
        ] {
            check(word, ObjectKinds::Files, "tool_arguments_invalid");
        }
    }
}
