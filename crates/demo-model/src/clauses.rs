//! Splits what a person typed into clauses, each of which asks for one thing.
//!
//! Invariant: quoted text is never split, and no clause is empty.

use super::lexicon::{OPENERS, holds};
use super::objects::path_of;
use super::words::{StopKind, WordForm, WordToken, words};

/// How many clauses are looked at.
const CLAUSES_MAX: usize = 32;

/// Splits at "then", at list markers, at the end of a sentence, and at a comma or "and" behind which
/// a new request begins.
pub(super) fn clauses(input: &str) -> Vec<Vec<WordToken>> {
    let words = words(input);
    let mut out = Vec::new();
    let mut current: Vec<WordToken> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let opens = |from: usize| words.get(from).is_some_and(|next| holds(OPENERS, &next.lower()));
        let lower = word.lower();
        let marker = word.form == WordForm::Marker && (current.is_empty() || opens(at + 1));
        let joint = matches!(lower.as_str(), "and" | "plus" | "but" | "&")
            && opens(at + 1)
            && !lacks_object(&current)
            && !is_item(&words, at + 1);
        let after = lower == "after" && words.get(at + 1).is_some_and(|next| next.lower() == "that");
        let that = lower == "that"
            && at > 0
            && words[at - 1].lower() == "after"
            && current.is_empty()
            && !out.is_empty();
        let then = after || that || matches!(lower.as_str(), "then" | "afterwards" | "thereafter");
        if marker || joint || then {
            close(&mut current, &mut out);
            continue;
        }
        current.push(word.clone());
        let ends = match word.stop {
            StopKind::Hard => true,
            StopKind::Soft => opens(at + 1) && !only_names_a_place(&current),
            StopKind::None => false,
        };
        if ends {
            close(&mut current, &mut out);
        }
    }
    close(&mut current, &mut out);
    out.truncate(CLAUSES_MAX);
    out
}

/// Returns whether a clause so far is a verb whose object is still to come: "create and switch to ...".
fn lacks_object(clause: &[WordToken]) -> bool {
    let verbs =
        ["create", "make", "read", "open", "find", "add", "stage", "copy", "delete", "remove", "edit"];
    matches!(clause, [only] if holds(&verbs, &only.lower()))
}

/// Returns whether a verb is a name in a list of ignored files: "add dist and build to .gitignore".
fn is_item(words: &[WordToken], at: usize) -> bool {
    let ends = words.get(at).is_some_and(|word| word.stop != StopKind::None)
        || words.get(at + 1).is_none_or(|next| holds(&["to", "in", "into", "and"], &next.lower()));
    ends && words.iter().any(|word| word.text.ends_with("ignore"))
}

/// Returns whether a clause so far only says where: "in notes.txt, change ...".
fn only_names_a_place(clause: &[WordToken]) -> bool {
    const PLACE_WORDS_MAX: usize = 4;
    clause.len() <= PLACE_WORDS_MAX
        && clause.first().is_some_and(|word| word.lower() == "in")
        && clause.last().is_some_and(|word| path_of(word).is_some())
}

fn close(current: &mut Vec<WordToken>, out: &mut Vec<Vec<WordToken>>) {
    while current.last().is_some_and(|last| holds(&["and", "&", "but"], &last.lower())) {
        current.pop();
    }
    if !current.is_empty() {
        out.push(std::mem::take(current));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: &[&str]) {
        let shown: Vec<String> = clauses(input)
            .iter()
            .map(|clause| clause.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(shown, expect, "{input}");
    }

    #[test]
    fn clauses_end_where_a_new_request_begins() {
        check("read a.md then list src then grep x", &["read a.md", "list src", "grep x"]);
        check("read a.md, and then list src.", &["read a.md", "list src"]);
        check("Read a.md. Then list src", &["Read a.md", "list src"]);
        check("read a.md; list src", &["read a.md", "list src"]);
        check("1. read a.md 2. list src", &["read a.md", "list src"]);
        check("1) read a.md\n2) list src\n", &["read a.md", "list src"]);
        check("- read a.md\n- list src", &["read a.md", "list src"]);
        check("do this: read a.md", &["do this", "read a.md"]);
        check("read a.md\nlist src", &["read a.md", "list src"]);
        check("read the\nfile a.md", &["read the file a.md"]);
        check("Read README.md and tell me what it is", &["Read README.md", "tell me what it is"]);
        check("then then and", &[]);
    }

    #[test]
    fn what_belongs_together_stays_together() {
        check("search for \"a then b; c\" in src", &["search for a then b; c in src"]);
        check("read a.md and b.md", &["read a.md and b.md"]);
        check("in a.md, change x to y, then list src", &["in a.md change x to y", "list src"]);
        check("read lines 3 to 10.", &["read lines 3 to 10"]);
    }
}
