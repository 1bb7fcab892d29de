//! Questions of which the answer is a number, a yes or a no, or a fact that files state.

use serde_json::json;

use super::super::calls::{escaped, list_call, read_call, search_call};
use super::super::changes::word_call;
use super::super::intent::{AnswerView, ClauseIntent, ToolGoal};
use super::super::objects::is_file_name;
use super::super::pattern::PatternMatch;
use super::manifests::listed;
use super::row::PatternRow;

/// How one test begins, in several languages.
const TEST: &str = r"^\s*((async )?def test\w*|func Test\w*|#\[(\w+::)?test|(it|test)\()";
/// How a function begins, in several languages.
const FUNCTION: &str = r"^\s*(pub(\(\w+\))? |export |default |async |static |const |unsafe )*(async )?(def|fn|func|function|sub)\s";
/// How a class begins, in several languages.
const CLASS: &str =
    r"^\s*(pub(\(\w+\))? |export |default |abstract |public )*(class|struct|enum|trait|interface)\s";

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "how many [unit] test|tests [functions|function|cases|methods] are|is|do|does [there|we|i|you|it|project|repo] [have|got] in|inside|under {folder}",
            "how many [unit] test|tests [functions|function|cases|methods] in|inside|under {folder}",
            "how many [unit] test|tests [functions|function|cases|methods] does|do|has|have {folder} [have|contain|got]",
            "count|number [all|of] [unit] test|tests [functions|function|cases|methods] in|inside|under|of {folder}",
        ],
        means: |found| counted("test", TEST, &found.folder(0)),
    },
    PatternRow {
        says: &[
            "how many [unit] test|tests [functions|function|cases|methods] are|is|do|does|have [there|we|i|you|it|project|repo] [have|got|here]",
            "how many [unit] test|tests [functions|function|cases|methods]",
            "count [all] [unit] test|tests [functions|function|cases|methods]",
            "number of [unit] test|tests [functions|function|cases|methods]",
        ],
        means: |_| counted("test", TEST, "."),
    },
    PatternRow {
        says: &[
            "how many functions|methods|function are|is|do|does [there|we|i|you|it|project] [have|got|defined] in|inside|under {folder}",
            "count [all] functions|methods in|inside|under|of {folder}",
            "how many functions|methods does|has {folder} [have|contain|define|got]",
            "number of functions|methods in {folder}",
        ],
        means: |found| counted("function", FUNCTION, &found.folder(0)),
    },
    PatternRow {
        says: &[
            "how many functions|methods are|is|do|does [there|we|i|you|it|project|repo] [have|got|here]",
            "count [all] functions|methods",
        ],
        means: |_| counted("function", FUNCTION, "."),
    },
    PatternRow {
        says: &[
            "how many classes|structs are|is|do|does [there|we|i|you|it|project] [have|got|defined] in|inside|under {folder}",
            "how many classes|structs does|has {folder} [have|contain|define|got]",
        ],
        means: |found| counted("class", CLASS, &found.folder(0)),
    },
    PatternRow {
        says: &["how many classes|structs are|is|do|does [there|we|i|you|it|project|repo] [have|got|here]"],
        means: |_| counted("class", CLASS, "."),
    },
    PatternRow {
        says: &[
            "how many todo|todos [comments|comment|notes|markers] are|is|do|does|have [there|left|we|i|remaining] [have|left] [in|inside|under] {folder}",
            "count [all] todo|todos [comments|comment|notes] in|inside|under {folder}",
            "number of todo|todos [comments] in {folder}",
        ],
        means: |found| counted("match", "TODO", &found.folder(0)),
    },
    PatternRow {
        says: &[
            "how many todo|todos [comments|comment|notes|markers] are|is|do|does|have [there|left|we|i|remaining] [have|left|got]",
            "count [all] todo|todos [comments|comment|notes]",
        ],
        means: |_| counted("match", "TODO", "."),
    },
    PatternRow {
        says: &[
            "does|do anything|anyone|something|we|any [file|files|code|one] [else] [still|actually|ever] use|uses|using|need|call|reference [function|method|class|variable|constant|name] {word} [still|anymore|anywhere]",
            "is [function|method|class|variable|constant] {word} [still|actually|ever|even] used|referenced|called|needed [anywhere|somewhere|still|at] [all|anymore]",
            "is anything|anyone [still] using|calling {word}",
            "are there [any|still] [more] uses|usages|references|callers of|to [function|method|class|variable] {word} [left]",
        ],
        means: |found| {
            let name = found.word(0).trim_end_matches("()").to_owned();
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c));
            let vague = ["it", "this", "that", "anything", "everything", "python", "git"];
            (is_name && !vague.contains(&name.to_lowercase().as_str()))
                .then(|| ClauseIntent::Goal(ToolGoal::Calls(vec![word_call(&name, ".")], AnswerView::IsUsed)))
        },
    },
    PatternRow {
        says: &[
            "does|do [word|text|string|name|term|phrase] {text} appear|occur|exist|show [up] anywhere|somewhere",
            "does [word|text|string] {text} appear|occur|exist [up] in {folder}",
            "is [word|text|string] {text} mentioned|found anywhere|somewhere",
        ],
        means: |found| yes_no(found, &found.folder(0)),
    },
    PatternRow {
        says: &["check if|whether {path} contains|mentions|has|uses [word|text|string] {text}"],
        means: |found| if found.is_quoted(0) { yes_no(found, &found.path(0)) } else { None },
    },
    PatternRow {
        says: &[
            "is there [a] function|method|class|struct [called|named] {word} in {path}",
            "does|do {path} have|define|contain [a] function|method|class|struct [called|named] {word}",
        ],
        means: |found| {
            let name = found.word(0).trim_end_matches("()").to_owned();
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            let pattern = format!(r"^\s*([a-z]+(\(\w+\))? )*(def|fn|func|function|class|struct)\s+{name}\b");
            let call = search_call(&pattern, &found.path(0));
            is_name.then(|| ClauseIntent::Goal(ToolGoal::Calls(vec![call], AnswerView::YesNo)))
        },
    },
    PatternRow {
        says: &[
            "is [package|dependency|library|module] {word} in|listed|pinned|mentioned|declared [in] {path}",
            "does|do {path} have|contain|define|mention|list|include [setting|key|option|variable|entry|line|dependency|package|target|script|word|text] [called|named] {word}",
            "is there setting|key|option|variable|entry|line|dependency|target|script [called|named] {word} in {path}",
        ],
        means: |found| {
            let (word, path) = (found.word(0), found.path(0));
            let named = [
                "setting",
                "key",
                "option",
                "variable",
                "entry",
                "dependency",
                "package",
                "target",
                "script",
            ];
            let is_named = named.iter().any(|kind| found.says(kind))
                || found.begins("is")
                || word.chars().any(|c| "_-.=/".contains(c) || c.is_uppercase() || c.is_numeric());
            let vague =
                ["a", "an", "the", "any", "it", "todo", "todos", "tests", "functions", "bugs", "errors"];
            (is_named && is_file_name(&path) && !vague.contains(&word.to_lowercase().as_str())).then(|| {
                ClauseIntent::Goal(ToolGoal::Calls(vec![word_call(&word, &path)], AnswerView::YesNo))
            })
        },
    },
    PatternRow {
        says: &[
            "what|which version of {word} do|does|is|are|did|have [we|i|it|you|project] [have|use|need|pin|pinned|required|listed|used] in {path}",
            "what|which {word} version is|do|does [we|i|it] [have|use|pin|pinned|required|listed|used] in {path}",
            "what is version of {word} in {path}",
        ],
        means: |found| {
            let call = search_call(&escaped(&found.word(0)), &found.path(0));
            Some(ClauseIntent::Goal(ToolGoal::one(call)))
        },
    },
    PatternRow {
        says: &[
            "what|which [environment|env|config] variables|settings|keys|options|values|entries are [listed|defined|set|there] in {path}",
            "what|which [environment|env|config] variables|settings|keys|options|values|entries does|do {path} have|contain|define|list|set",
            "list|show [all] [environment|env|config] variables|settings|keys|options|entries in|of|from {path}",
        ],
        means: |found| {
            Some(ClauseIntent::Goal(ToolGoal::Calls(vec![read_call(&found.path(0))], AnswerView::Whole)))
        },
    },
    PatternRow {
        says: &[
            "what|which port|ports does|do {path} expose|use|open|publish|listen|map|set [on]",
            "what|which port|ports is|are exposed|used|set|open|published in|by {path}",
        ],
        means: |found| {
            Some(ClauseIntent::Goal(ToolGoal::one(search_call(
                "(?i)expose|port|[0-9]{2,5}:[0-9]{2,5}",
                &found.path(0),
            ))))
        },
    },
    PatternRow {
        says: &[
            "what are|is column|columns [names|headers] in|of {path}",
            "what|which columns are|does [there] [in] {path} [have]",
            "list|show column|columns [names|headers] of|in {path}",
            "column names of|in {path}",
            "show|what [is] header [row|line] of {path}",
        ],
        means: |found| {
            let path = found.path(0);
            (path.ends_with(".csv") || path.ends_with(".tsv"))
                .then(|| ClauseIntent::Goal(ToolGoal::Calls(vec![read_call(&path)], AnswerView::FirstLine)))
        },
    },
    PatternRow {
        says: &[
            "what|which language|languages is|are it|this|project|code|repo [written] [in]",
            "what|which programming language|languages is|are|does [it|this|project|code|repo] [written|use] [in]",
            "in what|which language is it|this|project|code written",
            "what|which language|languages does project|code|repo|it use",
            "what is it|this|project|code written in",
            "what kind|kinds|types of files are [there|in] [here]",
            "how many files of each kind|type [are] [there]",
        ],
        means: |_| Some(listed(".", AnswerView::Kinds)),
    },
    PatternRow {
        says: &[
            "what is entry point [of] [project|program|app|code]",
            "where is entry point [of] [project|program|app|code]",
            "where does program|app|code|execution start|begin",
            "which file is entry point|main",
            "where is main function|method|entry",
        ],
        means: |_| {
            let pattern = r#"^\s*((pub )?(async )?(def|fn|func|int|void) main\b|if __name__ ==|"(main|bin|start)":|\[\[bin\]\]|\[project\.scripts\]|.*console_scripts)"#;
            Some(ClauseIntent::Goal(ToolGoal::one(search_call(pattern, "."))))
        },
    },
    PatternRow {
        says: &[
            "what|which python|node|rust version is|does|do [it|this|project|we] required|need|needed|require|supported|support",
            "what|which version of python|node|rust is|does|do [it|this|project|we] required|need|needed|require|support|supported",
        ],
        means: |_| {
            let pattern = r#"requires-python|python_requires|python-version|rust-version|"node":|^FROM (python|node|rust)"#;
            Some(ClauseIntent::Goal(ToolGoal::one(search_call(pattern, "."))))
        },
    },
    PatternRow {
        says: &[
            "what|which license|licence is|does|do [it|this|project|repo|code|we] [under|in|have|use]",
            "is it|this|project|code mit|gpl|apache|bsd licensed|license",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::Calls(vec![read_call("LICENSE")], AnswerView::Whole))),
    },
    PatternRow {
        says: &[
            "what|which is smallest file [here]",
            "which file is smallest",
            "find|show smallest file",
            "smallest file",
        ],
        means: |_| Some(listed(".", AnswerView::Smallest)),
    },
    PatternRow {
        says: &["biggest|largest file", "biggest|largest {n} files"],
        means: |found| {
            let count = if found.has_number() { usize::try_from(found.number(0)).ok()? } else { 1 };
            Some(listed(".", AnswerView::Largest(count)))
        },
    },
    PatternRow {
        says: &[
            "what|which|find|list|show [all|me] files [in] [project|repo|here] [that] [are|is] larger|bigger than {n} {word}",
            "what|which|find|list|show [all|me] files [in] [project|repo|here] [that] [are|is] over|above {n} {word}",
            "are there [any] files larger|bigger than {n} {word}",
        ],
        means: |found| {
            let unit = match found.word(0).to_lowercase().as_str() {
                "b" | "byte" | "bytes" => 1,
                "k" | "kb" | "kib" | "kilobyte" | "kilobytes" => 1000,
                "m" | "mb" | "mib" | "megabyte" | "megabytes" => 1_000_000,
                _ => return None,
            };
            Some(listed(".", AnswerView::LargerThan(found.number(0).checked_mul(unit)?)))
        },
    },
    PatternRow {
        says: &[
            "what|which|find|list|show [all|me] files [in] [project|repo|here] [that] [are|is] larger|bigger|over than {word}",
        ],
        means: |found| {
            let word = found.word(0).to_lowercase();
            let at = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
            let (number, unit) = word.split_at(at);
            let unit = match unit {
                "" | "b" => 1,
                "k" | "kb" => 1000,
                "m" | "mb" => 1_000_000,
                _ => return None,
            };
            Some(listed(".", AnswerView::LargerThan(number.parse::<u64>().ok()?.checked_mul(unit)?)))
        },
    },
    PatternRow {
        says: &[
            "how many folders|directories are|is|do [there|here|we] [have|here]",
            "count [all] folders|directories",
        ],
        means: |_| {
            let call = list_call(".").with("depth", json!(8));
            Some(ClauseIntent::Goal(ToolGoal::Calls(vec![call], AnswerView::Digest)))
        },
    },
];

fn counted(noun: &'static str, pattern: &str, folder: &str) -> Option<ClauseIntent> {
    let is_place = !["we", "i", "you", "it", "they", "there"].contains(&folder.to_lowercase().as_str());
    let call = search_call(pattern, folder);
    is_place.then(|| ClauseIntent::Goal(ToolGoal::Calls(vec![call], AnswerView::CountOf(noun))))
}

fn yes_no(found: &PatternMatch<'_>, folder: &str) -> Option<ClauseIntent> {
    let is_one = found.is_quoted(0) || found.text_words(0).len() == 1;
    let call = search_call(&escaped(&found.text(0)), folder);
    is_one.then(|| ClauseIntent::Goal(ToolGoal::Calls(vec![call], AnswerView::YesNo)))
}
