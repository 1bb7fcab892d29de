//! Sentences that want something run or fetched.

use super::super::intent::{Ability, Call, Chore, Goal, Intent, Lack, View};
use super::super::programs::{interpreted, run_file_call};
use super::row::Row;

pub(super) const ROWS: &[Row] = &[
    Row {
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
        means: |_| Some(Intent::Goal(Goal::Project(Chore::Test))),
    },
    Row {
        says: &[
            "build",
            "build|compile|rebuild it|this|project|code|everything|all|program|app|repo|whole [project|thing]",
            "run|start|do build",
            "does it|this|project|code build|compile",
            "check if|whether|that it|project|this|code builds|compiles",
        ],
        means: |_| Some(Intent::Goal(Goal::Project(Chore::Build))),
    },
    Row {
        says: &["run|start|launch|execute project|program|app|application|code|main [program]"],
        means: |_| Some(Intent::Goal(Goal::Project(Chore::Start))),
    },
    Row {
        says: &[
            "run|execute|start|launch [program|script|file|python|code|node|bash|shell] [in] {path}",
            "run|execute script|program|file|code [called|named|in] {path}",
        ],
        means: |found| run_file(&found.path(0)),
    },
    Row {
        says: &["make {path} executable"],
        means: |found| Some(Intent::Goal(Goal::run(["chmod", "+x", &found.path(0)]))),
    },
    Row {
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
            Some(Intent::Goal(Goal::run([compiler, "-o", stem, &path])))
        },
    },
    Row {
        says: &[
            "how big|large is {folder}",
            "what is size of {folder}",
            "size of {folder}",
            "how much space does {folder} take|use|need [up]",
            "disk usage [of] {folder}",
            "show|tell|give size of {folder}",
        ],
        means: |found| Some(Intent::Goal(Goal::run(["du", "-sh", &found.folder(0)]))),
    },
    Row {
        says: &[
            "what time is it",
            "what is [current] time|date",
            "what day|date is it [today]",
            "what is today's date",
            "what is date today",
            "show|tell [current] time|date",
        ],
        means: |_| Some(Intent::Goal(Goal::run(["date"]))),
    },
    Row {
        says: &[
            "where am i",
            "what|which folder|directory am i in|are [we|you] [in]",
            "what is [current|working] folder|directory",
            "show|print [current] [working] directory|folder|path",
            "in which folder|directory am i|are [we|you]",
        ],
        means: |_| Some(Intent::Goal(Goal::run(["pwd"]))),
    },
    Row { says: &["who am i", "which|what user am i"], means: |_| Some(Intent::Goal(Goal::run(["whoami"]))) },
    Row {
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
                Intent::Goal(Goal::run([program, if program == "go" { "version" } else { "--version" }]))
            })
        },
    },
    Row {
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
            let call = Call::new(Ability::Fetch, &[("url", &found.word(0))]);
            Some(Intent::Goal(Goal::Calls(vec![call], View::Whole)))
        },
    },
    Row {
        says: &["fetch|download|get|visit|browse|curl|wget [page|site|website|url|file]"],
        means: |_| Some(Intent::Incomplete(Ability::Fetch)),
    },
    Row {
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
        means: |_| Some(Intent::Cannot(Lack::Network)),
    },
    Row {
        says: &["run|execute|start|launch [command|program|script|shell|something|file|it]"],
        means: |_| Some(Intent::Incomplete(Ability::Run)),
    },
];

/// Runs a file with the program that its name asks for.
fn run_file(path: &str) -> Option<Intent> {
    if path.contains(' ') && interpreted(path).is_none() {
        return None;
    }
    if !path.contains('/') {
        return Some(Intent::Goal(Goal::RunFile(path.to_owned())));
    }
    Some(Intent::Goal(Goal::Calls(vec![run_file_call(path)], View::Whole)))
}
