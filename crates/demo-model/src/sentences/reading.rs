//! Sentences that want a file or a folder shown.

use serde_json::json;

use super::super::calls::{glob_call, list_call, read_call, read_lines_call};
use super::super::intent::{AnswerView, ClauseIntent, ToolAbility, ToolGoal};
use super::super::objects::is_file_name;
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "show|print|display|view|cat|open|read|see|check [up] {path} in|inside|from|under|of {folder}",
            "what is in|inside {path} in|inside|from|under {folder}",
            "what does {path} in|inside|from|under {folder} say|have|contain|do",
            "tell what {path} in|inside|from|under {folder} says|has|contains|does",
        ],
        means: |found| {
            let (path, folder) = (found.path(0), found.folder(0));
            let path = if folder == "." { path } else { format!("{folder}/{path}") };
            (!found.path(0).contains('/')).then(|| reading(&path, AnswerView::Whole))
        },
    },
    PatternRow {
        says: &[
            "what|which license|licence does|is|has project|it|this|repo|code [have|use|under|licensed]",
            "what|which is license|licence [of] [project|repo|code]",
            "under which|what license|licence is project|it|this|code [licensed|released]",
            "how is project|it|code licensed",
        ],
        means: |_| whole(read_call("LICENSE")),
    },
    PatternRow {
        says: &["what does make {word} do|run|execute", "what happens when i run make [test|build]"],
        means: |_| whole(read_call("Makefile")),
    },
    PatternRow {
        says: &[
            "open|bring|pull up {paths}",
            "show|print|display|view|cat|type|open|output|see [contents|content|text] [of] {paths}",
            "show|print|display|view|give contents|content|text|source|code of|in|from {paths}",
            "what is in|inside {path}",
            "what are contents of {path}",
            "show|tell what is in|inside {path}",
            "read {path} to|out [loud|aloud]",
            "less|more {paths}",
            "let me see {paths}",
            "take a look at {paths}",
            "have a look at {paths}",
            "look at|into {paths}",
        ],
        means: |found| read_all(&found.paths(0), AnswerView::Whole),
    },
    PatternRow {
        says: &[
            "read [contents|content|text] [of] {paths}",
            "check|describe|summarize|summarise|explain|analyze|analyse {paths}",
            "summary|overview of {paths}",
            "give summary|overview of {path}",
            "what does {path} say|contain|do|mean|have",
            "what is|are {path} [about|for]",
            "what is {path} [about|for]",
            "tell what {path} says|contains|does|is|has",
            "tell what {path} is about|for",
            "tell about {path}",
            "explain what {path} says|contains|does|is",
            "{path}",
        ],
        means: |found| {
            let paths = found.paths(0);
            // A word in quotation marks alone is not a sentence.
            let typed = found.typed();
            if found.is_alone() && typed.starts_with("./") {
                return None;
            }
            if found.is_alone() && typed.ends_with('/') {
                return listing(&found.path(0));
            }
            let is_sentence = !matches!(found.path_words(0), [only] if only.is_quoted()) || !found.is_alone();
            if is_sentence { read_all(&paths, AnswerView::Digest) } else { None }
        },
    },
    PatternRow {
        says: &[
            "[read|show|print|display|view|give] first|top {n} lines of|from|in {path}",
            "head {path}",
            "read|show|print|display beginning|start|top of {path}",
        ],
        means: |found| head(found),
    },
    PatternRow {
        says: &[
            "[read|show|print|display|view|give] first line of|from|in {path}",
            "what is first line of|in {path}",
        ],
        means: |found| whole(read_lines_call(&found.path(0), 1..=1)),
    },
    PatternRow {
        says: &[
            "read|show|print|display|view|give lines|line {n} to|-|until|through {n} of|from|in {path}",
            "read|show|print|display|view lines {n} and {n} of|from|in {path}",
            "read|show|print|display|view {path} lines|line {n} to|-|until|through {n}",
        ],
        means: |found| range(&found.path(0), found.number(0), found.number(1)),
    },
    PatternRow {
        says: &["read|show|print|display|view|give lines {word} of|from|in {path}"],
        means: |found| {
            let word = found.word(0);
            let (from, to) = word.split_once(['-', '–'])?;
            range(&found.path(0), from.parse().ok()?, to.parse().ok()?)
        },
    },
    PatternRow {
        says: &[
            "read|show|print|display|view|give line {n} of|from|in {path}",
            "what is on|in line {n} of {path}",
        ],
        means: |found| range(&found.path(0), found.number(0), found.number(0)),
    },
    PatternRow {
        says: &[
            "[read|show|print|display|view|give] last|bottom {n} lines of|from|in {path}",
            "tail -n {n} {path}",
        ],
        means: |found| Some(reading(&found.path(0), AnswerView::Last(found.number(0)))),
    },
    PatternRow {
        says: &[
            "[read|show|print|display|view|give] last line of|from|in {path}",
            "what is last line of|in {path}",
        ],
        means: |found| Some(reading(&found.path(0), AnswerView::Last(1))),
    },
    PatternRow {
        says: &["tail {path}", "read|show|print|display end|bottom of {path}"],
        means: |found| Some(reading(&found.path(0), AnswerView::Last(10))),
    },
    PatternRow {
        says: &["head|tail {word} {path}", "head -n {word} {path}"],
        means: |found| {
            let count: u64 = found.word(0).trim_start_matches('-').parse().ok().filter(|count| *count > 0)?;
            let tail = found.begins("tail");
            let path = found.path(0);
            if tail { Some(reading(&path, AnswerView::Last(count))) } else { range(&path, 1, count) }
        },
    },
    PatternRow {
        says: &[
            "how many lines|words|rows|characters are|is [there] in|inside {path}",
            "how many lines|words|rows does {path} have|contain",
            "how many lines|words|rows has {path} [got]",
            "how many lines|words of code are in {path}",
            "how long is {path}",
            "how many lines|words in {path}",
            "line|word count of|in {path}",
            "count lines|words|rows in|of {path}",
            "count [number|amount] of lines|words in|of {path}",
            "number of lines|words in|of {path}",
            "what is number of lines|words in|of {path}",
            "wc {path}",
            "wc -l|-w|-lw {path}",
        ],
        means: |found| Some(reading(&found.path(0), AnswerView::Counts)),
    },
    PatternRow {
        says: &[
            "how big|large is {path}",
            "what is size of {path}",
            "size of {path}",
            "how many bytes is|are|has|does {path} [have|in]",
            "how much space does {path} take|use [up]",
            "show|tell|give size of {path}",
        ],
        means: |found| Some(reading(&found.path(0), AnswerView::Size)),
    },
    PatternRow {
        says: &[
            "is there {path} [here]",
            "is there {path} anywhere|somewhere [here]",
            "do|does we|i|you|it have {path}",
            "is {path} [there|here|present]",
            "does {path} exist",
            "check if|whether {path} exists",
            "check if|whether there is {path}",
        ],
        means: |found| {
            let path = found.path(0);
            is_file_name(&path)
                .then(|| {
                    ClauseIntent::Goal(ToolGoal::Calls(
                        vec![glob_call(&format!("**/{path}"), ".")],
                        AnswerView::YesNo,
                    ))
                })
                .or_else(|| {
                    found.path_words(0).iter().any(|word| !word.is_quoted()).then(|| {
                        ClauseIntent::Goal(ToolGoal::Calls(vec![glob_call(&path, ".")], AnswerView::YesNo))
                    })
                })
        },
    },
    PatternRow {
        says: &[
            "read|show|print|display|cat|open|view all|every files|file in|of|from|inside|under {folder}",
            "read|print|cat everything in|inside|under {folder}",
        ],
        means: |found| {
            let folder = found.folder(0);
            // The names of the workspace's own files are what is wanted of it, not all that they hold.
            if folder == "." || found.begins("show") {
                listing(&folder)
            } else {
                Some(ClauseIntent::Goal(ToolGoal::ReadAll(folder)))
            }
        },
    },
    PatternRow {
        says: &[
            "ls|dir",
            "ls|dir -l|-a|-la|-al|-lah|-lh|-1",
            "list|show|print|display|see|view|give [all|what] files|folders|contents|everything|documents|directory|directories|folder|things",
            "list|show|print|display|see|view|give [all] files and|or folders|directories|subfolders",
            "list all",
            "what|which files|folders|documents are|is [there|available] [here]",
            "what|which files|folders|documents do|does you|i|we|it have|see|contain|exist",
            "what|which files exist [here]",
            "what is|are [all] [in] files|here|there",
            "what is here|there",
            "what do we have [here]",
            "show what is here|there",
            "files",
        ],
        means: |_| listing("."),
    },
    PatternRow {
        says: &[
            "ls|dir|list {folder}",
            "ls|dir -l|-a|-la|-al|-lah|-lh|-1 {folder}",
            "list|show|print|display|see|view|give [all|what] files|folders|contents|content|everything|documents|things in|inside|of|under|within|from|at {folder}",
            "list|show|print|display|see|view|give [all] files and|or folders|directories|subfolders in|inside|of|under {folder}",
            "show|print|display|view|open|look|look folder|directory {folder}",
            "look in|inside {folder}",
            "what|which files|folders|documents are|is [there] in|inside|under|of|within {folder}",
            "what|which files|folders|documents does {folder} have|contain|hold",
            "tell what|which files|folders|documents are in|inside|under {folder}",
            "show|tell what is|are in|inside {folder}",
            "show|tell what is in|inside {folder}",
            "what is|are [there] in|inside|under {folder}",
            "what is in|inside|under {folder}",
            "what are files in|of {folder}",
            "what does {folder} contain|hold",
            "is there anything in {folder}",
        ],
        means: |found| listing(&found.folder(0)),
    },
    PatternRow {
        says: &[
            "tree",
            "list|show|print everything|files|all [files] recursively",
            "ls -r|-lr|-R|--recursive",
            "recursively list [all] files|everything",
            "list|show|print|display|give [folder|directory|project|file|repo|whole] structure|tree|layout",
            "list|show|print|display|give structure|tree|layout of {folder}",
            "how is {folder} organized|organised|structured",
            "what is [project|folder|directory] structure|layout [of] [project|repo|folder]",
        ],
        means: |found| deep(&found.folder(0), AnswerView::Tree),
    },
    PatternRow {
        says: &["ls|dir|list {folder} and {folder}", "ls {folder} {folder}"],
        means: |found| {
            let calls = vec![list_call(&found.folder(0)), list_call(&found.folder(1))];
            Some(ClauseIntent::Goal(ToolGoal::Calls(calls, AnswerView::Digest)))
        },
    },
    PatternRow { says: &["tree {folder}"], means: |found| deep(&found.folder(0), AnswerView::Tree) },
    PatternRow {
        says: &[
            "how many files|folders|documents are|is [there] [here]",
            "how many files|folders are there in total",
            "how many files|folders does {folder} have|contain|hold",
            "how many files|folders|documents are|is [there] in|inside|under|of {folder}",
            "how many files|folders do|does we|i|it have",
            "how many files|folders in|inside|under {folder}",
            "how many files|folders",
            "count [all|number] [of] files|folders",
            "count [all|number] [of] files|folders in|inside|under|of {folder}",
            "number of files|folders in {folder}",
        ],
        means: |found| {
            let counts_files = found.says("files") || found.says("documents");
            deep(&found.folder(0), if counts_files { AnswerView::Files } else { AnswerView::Digest })
        },
    },
    PatternRow {
        says: &[
            "list|show|find|print|display [all] {kind} files|documents|sources|scripts",
            "what|which {kind} files|documents|sources|scripts are [there] [here]",
            "what|which {kind} files do|does we|i|you|it have",
            "how many {kind} files|documents|sources|scripts are [there] [here]",
            "how many {kind} files do|does we|i|you|it have",
            "are there [any] {kind} files|documents|sources|scripts",
            "do|does we|i|you|it have [any] {kind} files|documents|sources|scripts",
            "any {kind} files|documents|sources|scripts",
            "where are [all] {kind} files|documents|sources|scripts",
            "count [all|number] [of] {kind} files",
            "list|show|find [all] files ending in|with {kind}",
            "list|show|find [all] files that end in|with {kind}",
            "list|show|find [all] files with [extension] {kind} [extension]",
        ],
        means: |found| kinds(found.extension(0), "."),
    },
    PatternRow {
        says: &[
            "list|show|find|print|display [all] {kind} files|documents|sources|scripts in|inside|under|of {folder}",
            "what|which {kind} files|documents are [there] in|inside|under {folder}",
            "how many {kind} files|documents are [there] in|inside|under {folder}",
            "are there [any] {kind} files in|inside|under {folder}",
            "count [all|number] [of] {kind} files in|inside|under {folder}",
        ],
        means: |found| kinds(found.extension(0), &found.folder(0)),
    },
    PatternRow {
        says: &[
            "what|which is largest|biggest file [here]",
            "what is largest|biggest file [here]",
            "which file is largest|biggest",
            "find|show largest|biggest file",
            "what|which is largest|biggest file in {folder}",
        ],
        means: |found| {
            let call = list_call(&found.folder(0)).with("depth", json!(DEPTH));
            Some(ClauseIntent::Goal(ToolGoal::Calls(vec![call], AnswerView::Largest(1))))
        },
    },
    PatternRow {
        says: &["cat|type {word}"],
        means: |found| {
            let word = found.word(0);
            let is_name = word.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
            is_name.then(|| reading(&word, AnswerView::Whole))
        },
    },
    PatternRow {
        says: &["list|show|find [all] hidden|dot files|folders"],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::one(glob_call(".*", ".").with("hidden", json!(true))))),
    },
    PatternRow {
        says: &["read|cat|view|open [file]", "read files"],
        means: |_| Some(ClauseIntent::Incomplete(ToolAbility::Read)),
    },
    PatternRow {
        says: &["show|see|view|open|read {folder}"],
        means: |found| if found.folder(0) == "." { None } else { listing(&found.folder(0)) },
    },
];

/// How deep a listing of everything goes.
const DEPTH: u64 = 8;

fn read_all(paths: &[String], view: AnswerView) -> Option<ClauseIntent> {
    let calls: Vec<_> = paths.iter().map(|path| read_call(path)).collect();
    let folder = paths.len() == 1 && paths[0] == ".";
    match calls.is_empty() || folder {
        true => None,
        false => Some(ClauseIntent::Goal(ToolGoal::Calls(calls, view))),
    }
}

fn reading(path: &str, view: AnswerView) -> ClauseIntent {
    ClauseIntent::Goal(ToolGoal::Calls(vec![read_call(path)], view))
}

fn whole(call: super::super::intent::IntendedCall) -> Option<ClauseIntent> {
    Some(ClauseIntent::Goal(ToolGoal::Calls(vec![call], AnswerView::Whole)))
}

fn range(path: &str, from: u64, to: u64) -> Option<ClauseIntent> {
    (0 < from && from <= to).then(|| read_lines_call(path, from..=to)).and_then(whole)
}

fn head(found: &PatternMatch<'_>) -> Option<ClauseIntent> {
    const LINES: u64 = 10;
    let count = if found.has_number() { found.number(0) } else { LINES };
    range(&found.path(0), 1, count)
}

fn listing(folder: &str) -> Option<ClauseIntent> {
    Some(ClauseIntent::Goal(ToolGoal::one(list_call(folder))))
}

fn deep(folder: &str, view: AnswerView) -> Option<ClauseIntent> {
    Some(ClauseIntent::Goal(ToolGoal::Calls(vec![list_call(folder).with("depth", json!(DEPTH))], view)))
}

fn kinds(extension: &str, folder: &str) -> Option<ClauseIntent> {
    let endings = if extension == "yaml" { "{yaml,yml}" } else { extension };
    Some(ClauseIntent::Goal(ToolGoal::one(glob_call(&format!("**/*.{endings}"), folder))))
}
