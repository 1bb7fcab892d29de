//! Sentences about commits, tags, branches and the index of git.

use serde_json::json;

use super::super::intent::{AnswerView, ClauseIntent, ToolGoal};
use super::super::objects::has_extension;
use super::history::named;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "who committed|commited last [here]",
            "who made|did|wrote|authored|created|pushed last|latest|newest|most [recent] commit [and] [when] [was|did] [it|they]",
            "when was|is last|latest|newest|most [recent] commit [made|done] [and] [by] [who|whom] [made] [it]",
            "when did|was someone|anyone|i|we last commit",
            "what is|was author|date|hash|message|id|sha of last|latest commit",
            "[show] author|date|hash|message of last|latest commit",
            "who is author of last|latest commit",
        ],
        means: |_| git("log", &["-n", "1"], &[]),
    },
    PatternRow {
        says: &[
            "what|which files changed|were|did|are [changed|touched|modified|in] [in|by|with] last|latest|previous commit [change|touch|modify]",
            "what|which files did last|latest|previous commit change|touch|modify",
            "[show|list] [changed] files of|in|from last|latest commit",
        ],
        means: |_| git("show", &["--name-status"], &[]),
    },
    PatternRow {
        says: &[
            "what changed|changes in|with|by last|latest|previous|most [recent] commit",
            "what has changed in last|latest commit",
            "show what changed in last|latest commit",
        ],
        means: |_| git("show", &[], &[]),
    },
    PatternRow {
        says: &[
            "[list|show|print|which|what|find] [all|are] commits by|from|of author|user {text}",
            "[list|show|print|which|what|find] [all|are] commits by|from {text}",
            "what did|has {text} commit|committed",
        ],
        means: |found| {
            let author = found.text(0);
            let times = ["today", "yesterday", "last", "this", "now", "monday"];
            let is_time = author.split(' ').any(|word| times.contains(&word.to_lowercase().as_str()));
            let is_person = !["i", "we", "you"].contains(&author.to_lowercase().as_str()) && !is_time;
            is_person.then(|| git("log", &["-n", "50", &format!("--author={author}")], &[])).flatten()
        },
    },
    PatternRow {
        says: &[
            "[list|show|print|which|what] [all|are|were|was] [commits|committed|happened|changed] [from|since|of|made|in|done] today|yesterday|week|month",
            "[list|show|print|which|what] [all|are|were|was] [commits|committed|happened|changed] [from|since|of|made|in|done] last|this week|month",
            "what did i|we do|commit today|yesterday",
        ],
        means: |found| {
            let since = match () {
                () if found.says("yesterday") => "yesterday.midnight",
                () if found.says("today") => "midnight",
                () if found.says("week") => "1 week ago",
                () => "1 month ago",
            };
            let is_asked = ["commits", "committed", "happened", "changed", "do", "commit"]
                .iter()
                .any(|word| found.says(word));
            is_asked.then(|| git("log", &["-n", "100", &format!("--since={since}")], &[])).flatten()
        },
    },
    PatternRow {
        says: &[
            "[find|list|show|which|what] [all] commits mentioning|containing|about|with [word|text] {text} [in] [message]",
            "[find|list|show|which|what] commits that|which mention|mentions|contain [word|text] {text}",
        ],
        means: |found| git("log", &["-n", "50", "-i", &format!("--grep={}", found.text(0))], &[]),
    },
    PatternRow {
        says: &[
            "how many commits are|is|do|does|have|has|were [there|we|i|it] [have|made|been]",
            "how many commits does|has project|repo|repository|branch [have]",
            "count [all] commits",
            "number of commits",
        ],
        means: |_| {
            let ClauseIntent::Goal(ToolGoal::Calls(calls, _)) = git("log", &["--oneline"], &[])? else {
                return None;
            };
            Some(ClauseIntent::Goal(ToolGoal::Calls(calls, AnswerView::Commits)))
        },
    },
    PatternRow {
        says: &[
            "[list|show|print|what|which] [are] [all|existing] [git] tags [are|exist|do] [there|we|i] [have]",
            "are|is there [any] [git] tags",
            "do|does we|i|it have [any] tags",
            "git tag -l|--list",
        ],
        means: |found| found.says("tags").then(|| git("rev-parse", &["--symbolic", "--tags"], &[])).flatten(),
    },
    PatternRow {
        says: &[
            "[list|show|print|what|which] [are] [all] untracked|unversioned files [are] [there]",
            "what|which files are untracked|unversioned",
            "what|which files are not tracked|in|under [by|in] [git|version] [control]",
            "are there [any] untracked files",
        ],
        means: |_| git("ls-files", &["--others", "--exclude-standard"], &[]),
    },
    PatternRow {
        says: &[
            "[list|show|print|what|which] [are] [all] tracked|versioned files",
            "what|which files are tracked|in|under [by|in] git|version [control]",
        ],
        means: |_| git("ls-files", &[], &[]),
    },
    PatternRow {
        says: &[
            "[show|print|give] [git] diff|difference|differences|changes between {word} and {word}",
            "[show|what] [is|are] [the] diff|difference|differences|different|changes between {word} and {word}",
            "diff {word} and|with|against|to {word}",
            "diff {word} {word}",
            "how does {word} differ from {word}",
        ],
        means: |found| between(&found.word(0), &found.word(1)),
    },
    PatternRow {
        says: &[
            "[show|print|give|what] [is|are] [git] diff|difference|differences|changes against|from|to|with {word} [branch]",
            "diff against|with {word}",
            "what is different from|on|in {word}",
        ],
        means: |found| {
            let word = found.word(0);
            (is_revision(&word) && named(&word)).then(|| git("diff", &[], &[&word])).flatten()
        },
    },
    PatternRow {
        says: &[
            "what is|has [new|changed|been] [done] since {word}",
            "what changed since {word}",
            "[show|list|which|what] [all] [are] commits|changes since {word}",
        ],
        means: |found| {
            let word = found.word(0);
            let range = format!("{word}..HEAD");
            (is_revision(&word) && named(&word))
                .then(|| git("log", &["--oneline", "-n", "50"], &[&range]))
                .flatten()
        },
    },
    PatternRow {
        says: &[
            "show|list|print commits|log|history on|of|in branch {word}",
            "show|list|print commits|log|history on|of|in {word} branch",
            "what is on branch {word}",
            "what is on {word} branch",
        ],
        means: |found| git("log", &["--oneline", "-n", "50"], &[&found.word(0)]),
    },
    PatternRow {
        says: &[
            "show|print|view|display commit {word}",
            "what is in commit {word}",
            "what changed in commit {word}",
        ],
        means: |found| {
            let word = found.word(0);
            let is_hash = word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            (is_hash || word.starts_with("HEAD")).then(|| git("show", &[], &[&word])).flatten()
        },
    },
    PatternRow {
        says: &[
            "unstage {paths}",
            "remove|take {paths} from|out [of] index|staging|stage [area]",
            "git restore --staged {paths}",
        ],
        means: |found| {
            let words = ["git", "restore", "--staged", "--"].into_iter().map(str::to_owned);
            Some(ClauseIntent::Goal(ToolGoal::run(words.chain(found.paths(0)))))
        },
    },
    PatternRow {
        says: &["unstage everything|all [files|changes]", "unstage changes|files"],
        means: |_| run(&["git", "restore", "--staged", "."]),
    },
    PatternRow {
        says: &["revert last|latest|previous|most [recent] commit", "revert head"],
        means: |_| run(&["git", "revert", "--no-edit", "HEAD"]),
    },
    PatternRow {
        says: &["undo|uncommit|unmake last|latest|previous commit [but] [keep] [changes|files]"],
        means: |_| run(&["git", "reset", "--soft", "HEAD~1"]),
    },
    PatternRow {
        says: &[
            "tag [current|this|last|latest|head|present] [commit|version|state|head|release] [as|with] {word}",
            "create|make|add [new|annotated|git] tag [called|named] {word} [on|at|for] [current|this|last|latest|head] [commit]",
        ],
        means: |found| run_named(&["git", "tag"], &found.word(0)),
    },
    PatternRow {
        says: &["delete|remove|drop [git] tag [called|named] {word}"],
        means: |found| run_named(&["git", "tag", "-d"], &found.word(0)),
    },
    PatternRow {
        says: &[
            "switch|go|change|check|checkout [back|over|out] [back] to [branch] {word}",
            "checkout|check [out] {word}",
        ],
        means: |found| {
            let word = found.word(0);
            let usual = ["main", "master", "develop", "dev", "trunk", "staging", "production"];
            let is_branch = usual.contains(&word.as_str())
                || found.says("branch")
                || (word.contains('/')
                    && !word.starts_with(['.', '/'])
                    && !word.ends_with('/')
                    && !has_extension(&word));
            is_branch.then(|| run_named(&["git", "checkout"], &word)).flatten()
        },
    },
    PatternRow {
        says: &["rebase [this] [branch] [onto|on] {word} [branch]"],
        means: |found| run_named(&["git", "rebase"], &found.word(0)).filter(|_| is_revision(&found.word(0))),
    },
    PatternRow {
        says: &["cherry-pick [commit] {word}"],
        means: |found| run_named(&["git", "cherry-pick"], &found.word(0)),
    },
    PatternRow {
        says: &["rename [current|this] branch to|as {word}"],
        means: |found| run_named(&["git", "branch", "-m"], &found.word(0)),
    },
    PatternRow {
        says: &["rename branch {word} to|as {word}"],
        means: |found| {
            let (from, to) = (found.word(0), found.word(1));
            (named(&from) && named(&to)).then(|| run(&["git", "branch", "-m", &from, &to])).flatten()
        },
    },
    PatternRow {
        says: &[
            "pop|apply|restore stash|stashed [changes]",
            "unstash [changes|everything|it]",
            "git stash pop",
        ],
        means: |_| run(&["git", "stash", "pop"]),
    },
    PatternRow {
        says: &["list|show [all] stashes", "what is|are in stash", "what is stashed", "git stash list"],
        means: |_| run(&["git", "stash", "list"]),
    },
    PatternRow {
        says: &[
            "amend [last|latest|previous] commit [message] to|with [message] {text}",
            "change|edit|reword message of last|latest commit to {text}",
            "change|edit|reword last|latest commit message to {text}",
        ],
        means: |found| {
            found.is_quoted(0).then(|| run(&["git", "commit", "--amend", "-m", &found.text(0)])).flatten()
        },
    },
];

fn git(subcommand: &str, options: &[&str], revisions: &[&str]) -> Option<ClauseIntent> {
    let ToolGoal::Calls(mut calls, view) = ToolGoal::git(subcommand, options, &[]) else { return None };
    if !revisions.is_empty() {
        calls = calls.into_iter().map(|call| call.with("revisions", json!(revisions))).collect();
    }
    Some(ClauseIntent::Goal(ToolGoal::Calls(calls, view)))
}

fn run(argv: &[&str]) -> Option<ClauseIntent> {
    Some(ClauseIntent::Goal(ToolGoal::run(argv.iter().copied())))
}

fn run_named(argv: &[&str], name: &str) -> Option<ClauseIntent> {
    named(name).then(|| run(&[argv, &[name]].concat())).flatten()
}

/// Returns whether a word is surely a branch, a tag or a commit.
fn is_revision(word: &str) -> bool {
    let usual = ["main", "master", "develop", "dev", "trunk", "HEAD"];
    let is_tag = word.contains(|c: char| c.is_ascii_digit()) && word.starts_with(|c: char| c.is_alphabetic());
    usual.contains(&word) || (!has_extension(word) && (is_tag || word.contains('/')))
}

/// Compares two files with a program, two revisions with git.
fn between(one: &str, other: &str) -> Option<ClauseIntent> {
    let vague = ["it", "them", "this", "that", "files", "versions", "both", "last", "now"];
    if [one, other].iter().any(|name| vague.contains(name) || !named(name)) {
        return None;
    }
    match (has_extension(one), has_extension(other)) {
        (true, true) => run(&["diff", "-u", one, other]),
        (false, false) => git("diff", &[], &[one, other]),
        _ => None,
    }
}
