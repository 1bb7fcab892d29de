//! Sentences that want something run or fetched.

use super::super::intent::{
    AnswerView, ClauseIntent, IntendedCall, MissingAbility, ProjectChore, ToolAbility, ToolGoal,
};
use super::super::objects::is_url;
use super::super::programs::{interpreted, run_file_call};
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "test|tests",
            "run|execute|start|launch|perform [all|my|unit|test|full|whole|complete|project's|project] test|tests|testsuite [suite] [of|for|in] [project|repo|code]",
            "run|execute|start test|unit|integration suite|tests|test",
            "test it|this|project|code|everything|repo|app",
            "do|does|are|will [all] tests|test|suite [still] pass|passing|work|green|run|ok",
            "do [all] tests still pass",
            "check if|whether|that [all] tests pass|work",
            "are tests green|passing|ok",
            "see if|whether [all] tests pass",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::Project(ProjectChore::Test))),
    },
    PatternRow {
        says: &[
            "build",
            "build|compile|rebuild it|this|project|code|everything|all|program|app|repo|whole [project|thing]",
            "run|start|do build",
            "does it|this|project|code build|compile",
            "check if|whether|that it|project|this|code builds|compiles",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::Project(ProjectChore::Build))),
    },
    PatternRow {
        says: &["run|start|launch|execute project|program|app|application|code|main [program]"],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::Project(ProjectChore::Start))),
    },
    PatternRow {
        says: &[
            "run|execute|start|launch [program|script|file|python|code|node|bash|shell] [in] {path}",
            "run|execute script|program|file|code [called|named|in] {path}",
        ],
        means: |found| run_file(&found.path(0)),
    },
    PatternRow {
        says: &["make {path} executable"],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::run(["chmod", "+x", &found.path(0)]))),
    },
    PatternRow {
        says: &["compile|build {path}"],
        means: |found| {
            let path = found.path(0);
            let (stem, extension) = path.rsplit_once('.')?;
            let compiler = match extension {
                "c" => "cc",
                "cpp" | "cc" | "cxx" => "c++",
                "rs" => "rustc",
                _ => return None,
            };
            Some(ClauseIntent::Goal(ToolGoal::run([compiler, "-o", stem, &path])))
        },
    },
    PatternRow {
        says: &[
            "how big|large is {folder}",
            "what is size of {folder}",
            "size of {folder}",
            "how much space does {folder} take|use|need [up]",
            "disk usage [of] {folder}",
            "show|tell|give size of {folder}",
        ],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::run(["du", "-sh", &found.folder(0)]))),
    },
    PatternRow {
        says: &[
            "what time is it",
            "what is [current] time|date",
            "what day|date is it [today]",
            "what is today's date",
            "what is date today",
            "show|tell [current] time|date",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::run(["date"]))),
    },
    PatternRow {
        says: &[
            "where am i",
            "what|which folder|directory am i in|are [we|you] [in]",
            "what is [current|working] folder|directory",
            "show|print [current] [working] directory|folder|path",
            "in which folder|directory am i|are [we|you]",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::run(["pwd"]))),
    },
    PatternRow {
        says: &["who am i", "which|what user am i"],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::run(["whoami"]))),
    },
    PatternRow {
        says: &[
            "what|which version of {word} is|do|are [there|installed|i|we|you|have|available] [have]",
            "what|which {word} version is|do [installed|this|i|we|you] [have]",
            "is {word} installed",
            "do|does i|we|you have {word} [installed]",
        ],
        means: |found| {
            let known = [
                "python", "python3", "node", "git", "make", "gcc", "npm", "cargo", "rustc", "ruby", "perl",
                "java", "go",
            ];
            let word = found.word(0).to_lowercase();
            let program = if word == "python" { "python3" } else { &word };
            known.contains(&program).then(|| {
                ClauseIntent::Goal(ToolGoal::run([
                    program,
                    if program == "go" { "version" } else { "--version" },
                ]))
            })
        },
    },
    PatternRow {
        says: &[
            "fetch|get|download|open|visit|browse|load|read|show [page|site|website|url|contents|content] [of|at|from] {url} with|using [my|vault] secret|credential|key|token [called|named] {word}",
            "fetch|get|download|open|visit|browse|load|read|show [page|site|website|url|contents|content] [of|at|from] {url} with|using [my] {word} secret|credential|key|token",
            "use [my|vault] secret|credential|key|token [called|named] {word} to fetch|get|download|open|read {url}",
        ],
        means: |found| {
            let first = found.word(0);
            let second = found.word(1);
            let (url, secret) = if is_url(&first) { (first, second) } else { (second, first) };
            let call = IntendedCall::new(
                ToolAbility::Fetch,
                &[("url", &url), ("credential", secret_name(&secret)?)],
            );
            Some(ClauseIntent::Goal(ToolGoal::Calls(vec![call], AnswerView::Whole)))
        },
    },
    PatternRow {
        says: &[
            "fetch|get|download|open|visit|browse|load|curl|wget|read|show|scrape [page|site|website|url|contents|content] [of|at|from] {url}",
            "go to {url}",
            "what is on|at {url}",
            "what does {url} say",
            "summarize|summarise {url}",
            "{url}",
            "curl -s|-L|-sL|-sS {url}",
        ],
        means: |found| {
            let call = IntendedCall::new(ToolAbility::Fetch, &[("url", &found.word(0))]);
            Some(ClauseIntent::Goal(ToolGoal::Calls(vec![call], AnswerView::Whole)))
        },
    },
    PatternRow {
        says: &["fetch|download|get|visit|browse|curl|wget [page|site|website|url|file]"],
        means: |_| Some(ClauseIntent::Incomplete(ToolAbility::Fetch)),
    },
    PatternRow {
        says: &[
            "search|google|look|browse [up] [in] web|internet|online|google [for] {text}",
            "google {text}",
            "search for {text} on|in web|internet|google|online",
            "search {text} online",
            "install [package|dependencies|all|project|library|module] [dependencies] [called|named] {text}",
            "install [project|all] dependencies|packages|requirements",
            "update|upgrade dependencies|packages",
            "download latest|newest {text}",
            "deploy|publish|upload|release [it|this|that|app|project|site|website|code] [to] [production|server|npm|web|cloud]",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Network)),
    },
    PatternRow {
        says: &["run|execute|start|launch [command|program|script|shell|something|file|it]"],
        means: |_| Some(ClauseIntent::Incomplete(ToolAbility::Run)),
    },
];

/// Returns a word that can be the name of a secret of the vault, and is not a word for one.
fn secret_name(word: &str) -> Option<&str> {
    let is_name = word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || ['_', '.', '-'].contains(&c));
    (is_name && !["secret", "credential", "key", "token"].contains(&word)).then_some(word)
}

/// Runs a file with the program that its name asks for.
fn run_file(path: &str) -> Option<ClauseIntent> {
    if path.contains(' ') && interpreted(path).is_none() {
        return None;
    }
    if !path.contains('/') {
        return Some(ClauseIntent::Goal(ToolGoal::RunFile(path.to_owned())));
    }
    Some(ClauseIntent::Goal(ToolGoal::Calls(vec![run_file_call(path)], AnswerView::Whole)))
}
