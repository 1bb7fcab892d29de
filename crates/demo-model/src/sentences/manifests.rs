//! Sentences about a project as a whole: its files, headings, targets, scripts, dependencies and versions.

use serde_json::json;

use super::super::calls::{escaped, list_call, read_call, search_call};
use super::super::intent::{AnswerView, ClauseIntent, FileSection, ToolGoal, run_call};
use super::super::objects::is_file_name;
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

/// How deep a listing of everything goes.
const DEPTH: u64 = 8;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "list|show|print|display|see|view|give|find every|all file|files [and] [folders] [in|of|from|below] [project|repo|repository|codebase|workspace|tree] [recursively]",
            "what|which files are|is [there] in|inside|below project|repo|repository|codebase|workspace",
            "what|which files does|do project|repo|repository|codebase|workspace have|contain|hold|consist [of]",
            "list|show files in|of project|repo|repository|codebase",
            "list|show|print [all] files recursively",
            "list|show|print [all] files in|of all|every folder|folders|directory|directories",
        ],
        means: |_| Some(listed(".", AnswerView::Files)),
    },
    PatternRow {
        says: &[
            "list|show|print [all|every] files|file below|under|recursively {folder}",
            "list|show|print [all|every] files|file in|inside|of {folder} recursively",
            "list|show|print all|every files|file in|inside|below|under {folder} and [its] subfolders",
        ],
        means: |found| Some(listed(&found.folder(0), AnswerView::Files)),
    },
    PatternRow {
        says: &[
            "list|show|print|give|extract|get [all] headings|headlines|sections|outline|chapters|titles of|in|from {path}",
            "headings|headlines|sections|outline|chapters of|in {path}",
            "table of contents of|for {path}",
            "show|print|give table of contents of|for {path}",
            "what|which headings|headlines|sections|chapters does|do {path} have|contain",
            "what|which headings|headlines|sections|chapters are|is [there] in|of {path}",
            "what are headings|headlines|sections|chapters of|in {path}",
            "outline {path}",
        ],
        means: |found| section(found, FileSection::Headings),
    },
    PatternRow {
        says: &[
            "what|which [make|makefile] targets|target|rules|recipes does|do {path} have|define|contain|offer|provide",
            "what|which [make|makefile] targets|rules|recipes are|is [there|available|defined] in {path}",
            "list|show|print|give [all|available] [make|makefile] targets|rules|recipes of|in|from {path}",
            "what are targets|rules of|in {path}",
            "[all] [make] targets of|in {path}",
            "what can {path} do|build|make",
        ],
        means: |found| if is_makefile(&found.path(0)) { section(found, FileSection::Targets) } else { None },
    },
    PatternRow {
        says: &[
            "what|which make|makefile targets|rules|recipes are|is|do|can [there|available|defined|we|i] [have|run|use]",
            "list|show|print [all|available] make|makefile targets|rules|recipes",
            "what|which targets can i|we make|run|build|use",
            "make|makefile targets",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::Manifests(FileSection::Targets))),
    },
    PatternRow {
        says: &[
            "what|which [npm|yarn] scripts|commands does|do {path} have|define|contain|offer",
            "what|which [npm|yarn] scripts are|is [there|available|defined] in {path}",
            "list|show|print|give [all] [npm|yarn] scripts [section] of|in|from|defined {path}",
            "what are scripts of|in {path}",
            "scripts [section] of|in {path}",
        ],
        means: |found| if is_manifest(&found.path(0)) { section(found, FileSection::Scripts) } else { None },
    },
    PatternRow {
        says: &[
            "what|which npm|yarn|package|node scripts are|is|do|can [there|available|defined|we|i] [have|run|use]",
            "list|show|print [all|available] npm|yarn|package|node scripts",
            "npm scripts",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::Manifests(FileSection::Scripts))),
    },
    PatternRow {
        says: &[
            "what|which [python|npm|rust|node|runtime|dev|external] dependencies|packages|libraries|crates|modules|requirements does|do {path} have|list|need|use|declare|contain|require|name|want",
            "what|which [python|npm|rust|node|runtime|dev|external] dependencies|packages|libraries|crates|modules|requirements are|is [there|listed|declared|used|needed|named|required] in|by {path}",
            "list|show|print|give [all] [python|npm|rust|node] dependencies|packages|libraries|crates|requirements [section] of|in|from {path}",
            "what are dependencies|packages|requirements of|in {path}",
            "dependencies|packages|requirements|crates of|in|from {path}",
        ],
        means: |found| {
            if is_manifest(&found.path(0)) { section(found, FileSection::Dependencies) } else { None }
        },
    },
    PatternRow {
        says: &[
            "what|which [external|third-party|python|npm|rust] dependencies|packages|libraries|crates do|does we|i|it|project|repo|repository|code|app have|use|need|require|depend [on]",
            "what|which dependencies|libraries|packages|crates are [there|used|declared|needed|required] [here]",
            "what are dependencies [of] [project|repo|repository]",
            "list|show|print|give [all] [project|project's] dependencies|libraries|requirements|crates [of] [project|repo]",
            "what does|do project|repo|repository|it|we|code|app depend on|upon",
            "dependencies",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::Manifests(FileSection::Dependencies))),
    },
    PatternRow {
        says: &[
            "what|which version of {word} are|do|does|is we|i|it|project|you use|using|used|depend|need|have|require [on]",
            "what|which {word} version are|do|does|is we|i|it|project use|using|depend|need|require [on]",
            "what|which version of {word} is used|required|needed|pinned|declared|listed",
        ],
        means: |found| {
            let name = found.word(0);
            let programs = [
                "python", "python3", "node", "git", "make", "gcc", "npm", "cargo", "rustc", "ruby", "perl",
                "java", "go",
            ];
            let pattern = format!(r#"^\s*["']?{}["']?\s*(\[[^]]*\])?\s*(=|:|>|<|~|!|@|v\d)"#, escaped(&name));
            let is_program = programs.contains(&name.to_lowercase().as_str());
            (!is_program).then(|| ClauseIntent::Goal(ToolGoal::one(search_call(&pattern, "."))))
        },
    },
    PatternRow {
        says: &[
            "what|which version is|does|has project|it|package|app|repo|software|crate|program [at|on|have|in] [now]",
            "what|which version are we [at|on|in] [now]",
            "what is [current] version [number] [of] [project|it|package|app|repo|crate]",
            "what is project's|package's version [number]",
            "show|print|tell [current|project|package] version [number] [of] [project|package|app|crate]",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::Manifests(FileSection::Version))),
    },
    PatternRow {
        says: &[
            "what|which version is|does [in|stated] {path} [have|say|state|declare]",
            "what is version [number] in|of {path}",
            "show|print version [number] in|of|from {path}",
        ],
        means: |found| section(found, FileSection::Version),
    },
    PatternRow {
        says: &[
            "[what|which|show|find|list|print] [are|is] [top] {n} largest|biggest [of] files [in] [project|repo|here]",
            "[what|which|show|find|list|print] [are|is] largest|biggest {n} files [in] [project|repo|here]",
            "[show|find|list|print] top {n} files by size",
        ],
        means: |found| {
            let count = usize::try_from(found.number(0)).ok()?;
            Some(listed(".", AnswerView::Largest(count)))
        },
    },
    PatternRow {
        says: &[
            "which|what file|files was|were|is|has|did [been|i|we] [last|most] [recently] changed|modified|edited|touched|updated|change|modify|edit|touch [last|most] [recently]",
            "[show|find|list|what|which] [is|was] last|newest|latest|most [recent|recently] [changed|modified|edited|updated|created] file",
            "which|what file is newest|latest|most [recent]",
            "what did i edit|change|touch last",
        ],
        means: |found| {
            let says = |words: &[&str]| words.iter().any(|word| found.says(word));
            let argv = ["find", ".", "-type", "f", "-not", "-path", "*/.*", "-printf", "%T+ %p\\n"];
            says(&["last", "recently", "recent", "newest", "latest"])
                .then(|| ClauseIntent::Goal(ToolGoal::Calls(vec![run_call(argv)], AnswerView::Newest)))
        },
    },
    PatternRow {
        says: &[
            "how many lines [of] [code|source|text|python|rust] are|is|does|do [there] [in|inside|under] {folder} [have|contain]",
            "how many lines [of] [code|source|text] in|inside|under {folder}",
            "count [all|number|of] lines [of] [code|source|text] in|inside|under|of {folder}",
            "lines of code in|of {folder}",
            "[total] number of lines [of] [code] in|of {folder}",
        ],
        means: |found| {
            let folder = found.folder(0);
            let pattern = if folder == "." { "**/*".to_owned() } else { format!("{folder}/**/*") };
            (!is_file_name(&folder)).then_some(ClauseIntent::Goal(ToolGoal::CountLines(pattern)))
        },
    },
    PatternRow {
        says: &[
            "how many lines of {kind} [code|files] are|is|do|does [there] [we|i|it] [have]",
            "count [all] lines of {kind} [code|files]",
        ],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::CountLines(format!("**/*.{}", found.extension(0))))),
    },
    PatternRow {
        says: &[
            "how many lines of code are|is|do|does [there] [we|i|it|project|repo] [have]",
            "count [all] lines of code",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::CountLines("**/*".to_owned()))),
    },
    PatternRow {
        says: &[
            "show|find|list|print|search|grep|give|get [for] [all|any|every] {word} comments|comment|notes|markers|items|tags|lines in|inside|under|below|of {folder}",
            "are|is there [any] {word} [comments|comment|left] [left] in|inside|under|below {folder}",
            "what|which {word} are|is [there|left] [left] in|inside|under {folder}",
            "any {word} [left] in|under {folder}",
        ],
        means: |found| marked(found, &found.folder(0)),
    },
    PatternRow {
        says: &[
            "show|find|list|print|search|grep|give|get [for] [all|any|every] {word} comments|comment|markers|items|tags|lines",
            "are|is there [any] {word} comments|comment [left]",
            "any {word} [left]",
            "check|look [for] [any|all] {word}",
            "what|which {word} are|is|do [there|left|we|i] [have|left] [left]",
        ],
        means: |found| marked(found, "."),
    },
    PatternRow {
        says: &[
            "where is|are|do|does [we|i|you] {word} imported|import|required|included",
            "which|what files import|imports|require|include {word}",
        ],
        means: |found| {
            let pattern = format!(r"\b(import|use|from|require|include)\b.*\b{}\b", escaped(&found.word(0)));
            Some(ClauseIntent::Goal(ToolGoal::one(search_call(&pattern, "."))))
        },
    },
    PatternRow {
        says: &[
            "where do|did|is|are [we|you|i] set|define|assign|assigned|initialize|initialise|declare|configure {word}",
            "where do|does we|i get {word} from",
            "what is [current] value of {word}",
            "what is {word} set to",
        ],
        means: |found| {
            let name = found.word(0);
            let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            is_name.then(|| ClauseIntent::Goal(ToolGoal::Define(name)))
        },
    },
];

pub(super) fn listed(folder: &str, view: AnswerView) -> ClauseIntent {
    ClauseIntent::Goal(ToolGoal::Calls(vec![list_call(folder).with("depth", json!(DEPTH))], view))
}

fn section(found: &PatternMatch<'_>, section: FileSection) -> Option<ClauseIntent> {
    let path = found.path(0);
    (!path.is_empty())
        .then(|| ClauseIntent::Goal(ToolGoal::Calls(vec![read_call(&path)], AnswerView::Section(section))))
}

fn is_makefile(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "Makefile" | "makefile" | "GNUmakefile") || name.ends_with(".mk")
}

/// Returns whether a file can say what a project needs.
fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".json", ".toml", ".txt", ".mod", "Pipfile", "Gemfile"].iter().any(|ending| name.ends_with(ending))
}

fn marked(found: &PatternMatch<'_>, folder: &str) -> Option<ClauseIntent> {
    let mark = super::searching::marker(&found.word(0))?;
    Some(ClauseIntent::Goal(ToolGoal::one(search_call(mark, folder))))
}
