//! Sentences about git: what it knows is asked without a question, what it changes is a command.

use super::super::intent::{ClauseIntent, MissingAbility, ToolGoal};
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "git status",
            "[show] [git] status [of] [repo|repository|git]",
            "what|which files changed|differ",
            "what|which files are changed|modified|staged|untracked",
            "what changed [since] [last] [commit] [in] [repo|git]",
            "what is changed",
            "what has|have changed|i [changed]",
            "what did i|we|you change",
            "show [all|uncommitted|current|unstaged|pending] changes",
            "any uncommitted|unstaged|pending|local|new changes",
            "is anything|something uncommitted|unstaged|modified|changed|staged",
            "did anything change",
            "are there [any] uncommitted|unstaged|pending changes",
            "is [working|git|repo|repository] tree|repo|directory|status clean",
            "list [all|uncommitted] changed|modified files|changes",
            "show git|repo|repository status",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::git("status", &[], &[]))),
    },
    PatternRow {
        says: &["switch|change|go|move|checkout|check [out] [over] to it|that"],
        means: |_| Some(ClauseIntent::SwitchToIt),
    },
    PatternRow {
        says: &["keep|leave [my|all|these] changes|edits|files|work [staged|unstaged|there|here|in] [place]"],
        means: |_| Some(ClauseIntent::KeepChanges),
    },
    PatternRow {
        says: &[
            "git log",
            "show|print|view|list log|history",
            "[show|print|view|give] git|commit log|history",
            "show|list|print|view|give [all|recent|latest] commits|history [of] [repo|project]",
            "what are [recent|latest|last] commits",
            "who wrote|made this|it|project|code",
            "who is|are author|authors|contributors|maintainer|maintainers [of] [project|code|repo]",
            "who works|worked on project|code|repo",
            "who contributed|contributes [to] [project|code|repo|repository]",
            "what happened lately|recently",
            "git history",
        ],
        means: |_| Some(log(&["-n", "20"])),
    },
    PatternRow { says: &["git log --oneline"], means: |_| Some(log(&["--oneline", "-n", "50"])) },
    PatternRow {
        says: &[
            "show|list|print|view|give last|latest|recent {n} commits",
            "what are|were last|latest {n} commits",
            "git log -n {n}",
        ],
        means: |found| Some(log(&["-n", &found.number(0).to_string()])),
    },
    PatternRow {
        says: &[
            "git show",
            "show|print|view|what [is|was|me|in] last|latest|most [recent] commit",
            "what did|does last|latest commit do|change",
            "what is|was last|latest commit about|message",
            "when is|was last|latest|most [recent] commit",
            "who made last|latest commit",
            "show|print diff|changes of|in|from last|latest commit",
            "what was|is in last|latest commit",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::git("show", &[], &[]))),
    },
    PatternRow {
        says: &["how many commits are|is [there]", "how many commits does|has {folder} [have]"],
        means: |_| Some(log(&["--oneline"])),
    },
    PatternRow {
        says: &[
            "git diff",
            "[show|print|view|give] [git|current] diff|difference|differences|changes",
            "show what changed|i [changed]",
            "what are|is difference|differences|diff|changes",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::git("diff", &[], &[]))),
    },
    PatternRow {
        says: &["git diff --stat"],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::git("diff", &["--stat"], &[]))),
    },
    PatternRow {
        says: &["git diff --cached|--staged", "show|what [is|are] staged [changes|files|diff]"],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::git("diff", &["--cached"], &[]))),
    },
    PatternRow {
        says: &[
            "git diff {path}",
            "what changed|changes in|of|to {path}",
            "what did|have i|we change|changed in {path}",
            "what has changed in {path}",
            "[show|view] [git] diff|changes|difference|differences in|of|to|for {path}",
        ],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::git("diff", &[], &found.paths(0)))),
    },
    PatternRow {
        says: &[
            "who changed|edited|modified|wrote|touched|created {path} [last]",
            "who last changed|edited|modified|touched {path}",
            "when was {path} [last] changed|edited|modified|created|touched",
            "when did {path} [last] change",
            "[show|view] [git] log|history of|for {path}",
            "git log [of|for] {path}",
        ],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::git("log", &["-n", "20"], &found.paths(0)))),
    },
    PatternRow {
        says: &["git blame {path}", "who wrote [each|every|which] line|lines of|in {path}"],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::git("blame", &[], &found.paths(0)))),
    },
    PatternRow {
        says: &[
            "git branch",
            "which|what branch am i on|in",
            "which|what branch is|are this|it|we|active|current [on]",
            "what is|what's [current|git|active] branch",
            "[list|show|what|which] [are|is] [all|git|current] branch|branches [are|exist] [there]",
            "on which branch am i",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::git("branch", &[], &[]))),
    },
    PatternRow {
        says: &[
            "git add {paths}",
            "stage {paths}",
            "add {paths}",
            "stage {paths} for commit",
            "add {paths} to git|index|staging|stage",
        ],
        means: |found| {
            let paths = found.paths(0);
            let is_file = |path: &String| path.contains(['.', '/']);
            let is_new = ["a", "an", "new", "empty"].iter().any(|word| found.says(word));
            let surely = !found.begins("add") || found.says("to") || (paths.iter().all(is_file) && !is_new);
            if !surely {
                return None;
            }
            let argv = ["git", "add", "--"].into_iter().map(str::to_owned).chain(paths);
            Some(ClauseIntent::Goal(ToolGoal::run(argv)))
        },
    },
    PatternRow {
        says: &["stage|add everything|all [changes|files] [to] [git]", "stage [all] changes|files"],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::run(["git", "add", "-A"]))),
    },
    PatternRow {
        says: &[
            "commit [it|this|that|changes|staged|work|them] [changes] with|using [commit] message {text}",
            "commit [it|this|that|changes|staged|work] [changes] as|saying {text}",
            "make|create [git] commit with [commit] message {text}",
            "make|create [git] commit called|named|saying {text}",
            "commit -m {text}",
        ],
        means: |found| commit(found, false),
    },
    PatternRow {
        says: &[
            "commit everything|all [of] [it|changes|files|them] with|using [commit] message {text}",
            "commit everything|all [changes|files] as|saying {text}",
            "stage|add everything|all [changes|files] and commit [it|them] with [commit] message {text}",
            "commit [all] changes|files with [commit] message {text}",
        ],
        means: |found| commit(found, true),
    },
    PatternRow {
        says: &["commit {paths} with|using [commit] message {text}"],
        means: |found| {
            let argv = ["git", "commit", "-m", &found.text(0), "--"].map(str::to_owned);
            Some(ClauseIntent::Goal(ToolGoal::run(argv.into_iter().chain(found.paths(0)))))
        },
    },
    PatternRow {
        says: &[
            "commit [it|this|that|them|everything|all] [my|all] [changes|work|files]",
            "make|create [git] commit",
            "git commit",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Message)),
    },
    PatternRow {
        says: &["make|create|add|start|new [new] [git] branch [called|named] {word}", "git branch {word}"],
        means: |found| {
            let name = found.word(0);
            let switches = !found.begins("git");
            let argv =
                if switches { vec!["git", "checkout", "-b", &name] } else { vec!["git", "branch", &name] };
            named(&name).then(|| ClauseIntent::Goal(ToolGoal::run(argv)))
        },
    },
    PatternRow {
        says: &[
            "create|make and switch|checkout|change to [new] branch [called|named] {word}",
            "checkout|check [out] new branch [called|named] {word}",
            "switch|change|checkout|check [out] to [new] branch [called|named] {word} and create it",
        ],
        means: |found| {
            named(&found.word(0))
                .then(|| ClauseIntent::Goal(ToolGoal::run(["git", "checkout", "-b", &found.word(0)])))
        },
    },
    PatternRow {
        says: &[
            "switch|change|go|move [back] to branch {word}",
            "switch|change|go|move [back] to {word} branch",
            "check out|checkout branch {word}",
            "checkout|check out {word} branch",
            "switch|go [back] to main|master {word}",
        ],
        means: |found| {
            named(&found.word(0))
                .then(|| ClauseIntent::Goal(ToolGoal::run(["git", "checkout", &found.word(0)])))
        },
    },
    PatternRow {
        says: &["delete|remove branch [called|named] {word}", "delete|remove {word} branch"],
        means: |found| {
            named(&found.word(0))
                .then(|| ClauseIntent::Goal(ToolGoal::run(["git", "branch", "-d", &found.word(0)])))
        },
    },
    PatternRow {
        says: &["merge [branch] {word}", "merge [branch] {word} into [main|master|this|current] [branch]"],
        means: |found| {
            named(&found.word(0)).then(|| ClauseIntent::Goal(ToolGoal::run(["git", "merge", &found.word(0)])))
        },
    },
    PatternRow {
        says: &[
            "discard|revert|undo|reset|restore|drop [all|local] changes in|of|to {path}",
            "discard|throw away [all] changes in|of|to {path}",
            "restore|revert {path}",
            "git restore {path}",
            "git checkout -- {path}",
        ],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::run(["git", "checkout", "--", &found.path(0)]))),
    },
    PatternRow {
        says: &["stash [my|all] changes|everything|it", "stash", "git stash"],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::run(["git", "stash"]))),
    },
    PatternRow {
        says: &[
            "make|create|add|initialize|initialise|init|start|set [up] [new] [empty] git repo|repository [here]",
            "initialize|initialise|init git [here]",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::run(["git", "init"]))),
    },
    PatternRow {
        says: &[
            "tag this|it|commit|release [as|with] {word}",
            "make|create|add [new] tag [called|named] {word}",
        ],
        means: |found| {
            named(&found.word(0)).then(|| ClauseIntent::Goal(ToolGoal::run(["git", "tag", &found.word(0)])))
        },
    },
    PatternRow {
        says: &[
            "push [it|this|that|my|all] [changes|commits|branch|everything|code|work] [to] [github|gitlab|origin|remote|server|main|master] [main|master]",
            "pull [latest|my] [changes|code|commits] [from] [github|origin|remote|main|master]",
            "create|make|open|submit [new] pull|merge request [on|to|for|with] [github]",
            "create|make|open|submit [new] pr|mr",
            "clone {url}",
            "clone {word}",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Network)),
    },
];

fn log(options: &[&str]) -> ClauseIntent {
    ClauseIntent::Goal(ToolGoal::git("log", options, &[]))
}

fn commit(found: &PatternMatch<'_>, everything: bool) -> Option<ClauseIntent> {
    let message = found.text(0);
    let words = found.text_words(0);
    let is_text = found.is_quoted(0) || !words.iter().any(super::super::words::WordToken::is_quoted);
    is_text.then_some(ClauseIntent::Goal(ToolGoal::Commit { message, everything }))
}

/// Returns whether a word can be the name of a branch or tag.
pub(super) fn named(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with('-')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
}
