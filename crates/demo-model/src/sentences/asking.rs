//! Questions about what files define, check and use.

use super::super::calls::{escaped, search_call};
use super::super::changes::DEFINING;
use super::super::intent::{AnswerView, ClauseIntent, ToolGoal};
use super::super::lexicon::{ARTICLES, holds};
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "where is|are|do|does|did [we|i|you] [word|function|method|class|variable|constant|struct|type|name] {text} defined|declared|implemented|define|declare [in]",
            "where is|are function|method|class|variable|constant|struct|type {text}",
            "in which|what file is [function|method|class|variable|constant] {text} defined|declared|implemented",
            "which|what file defines|declares|implements [function|method|class|variable|constant] {text}",
            "who|what defines|declares|implements [function|method|class] {text}",
            "find|show|locate|search [for] definition|declaration of [function|method|class|variable|constant] {text}",
            "find|show|go [to] where [function|method|class] {text} is|gets defined|declared|implemented",
            "find|locate function|method|class|struct|constant|variable [called|named] {text}",
            "go to [definition] [of] {text}",
            "is there [a] function|method|class|struct [called|named] {text}",
        ],
        means: |found| {
            let name = name_of(found)?;
            Some(ClauseIntent::Goal(ToolGoal::Define(name)))
        },
    },
    PatternRow {
        says: &[
            "who|what calls [function|method] {text}",
            "where is [function|method] {text} called [from]",
            "find|list|show [all] calls|callers of|to [function|method] {text}",
            "which|what files|functions|code calls|call [function|method] {text}",
        ],
        means: |found| {
            let name = name_of(found)?;
            let call = search_call(&format!(r"\b{}\s*\(", escaped(&name)), ".");
            Some(ClauseIntent::Goal(ToolGoal::Calls(vec![call], AnswerView::Uses)))
        },
    },
    PatternRow {
        says: &[
            "how many functions|function|methods|method|classes|class|definitions are|is [there] [defined] in {path}",
            "how many functions|function|methods|method|classes|class|definitions does|has {path} [have|define|contain|got]",
            "how many functions|function|methods|method|classes|class|definitions in {path}",
            "count [all] functions|function|methods|method|classes|class|definitions in|of {path}",
            "number of functions|function|methods|method|classes|class in {path}",
        ],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::Calls(vec![defining(found)], AnswerView::Matches))),
    },
    PatternRow {
        says: &[
            "what|which functions|function|methods|method|classes|class|definitions does {path} define|have|contain|export|offer|provide",
            "what|which functions|function|methods|method|classes|class has {path} [got]",
            "what|which functions|function|methods|method|classes|class|definitions are|is [there|defined] in|inside {path}",
            "list|show|find|name all|every functions|function|methods|method|classes|class [in] [project|repo|code|codebase]",
            "what is defined in {path}",
            "what does {path} define|export|provide",
            "list|show|name|give|print [all] functions|function|methods|method|classes|class|definitions in|of|from {path}",
            "tell what|which functions|function|methods|method|classes|class|definitions are [there|defined] in {path}",
            "tell what {path} defines|exports",
            "what|which functions|function|methods|method|classes|class in {path}",
        ],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::one(defining(found)))),
    },
    PatternRow {
        says: &[
            "what do|does|are {path} check|test|tests|cover|verify|assert",
            "what is|are tested|checked in|by {path}",
            "what|which tests are|is [there] in {path}",
            "list|show [all] tests|test [cases] in|of {path}",
            "how many tests are|is [there] in {path}",
            "how many tests does {path} have|contain",
            "tell what {path} checks|tests|covers|verifies|asserts",
        ],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::one(search_call(TESTING, &found.path(0))))),
    },
    PatternRow {
        says: &[
            "what do|does tests|test|suite [suite] check|test|cover|verify|do",
            "what is|are tested|checked [by] [tests]",
            "what|which tests are|is [there] [here]",
            "what|which tests do|does we|i|you|it have",
            "are|is there [any] tests",
            "do|does we|i|you|it have [any] tests",
            "list|name [all] tests|test [cases]",
            "how many tests are|is [there] [here]",
            "how many tests do|does we|i|it have",
            "read|check|inspect|look [at|into|through] tests",
            "tell what tests check|test|cover|verify|do",
            "take|have look at tests",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::one(search_call(TESTING, ".")))),
    },
    PatternRow {
        says: &[
            "does {path} have|contain|use|import|mention|say|include [any|word|text|string] {text}",
            "is [there] [any|word|text|string] {text} in|inside|used|mentioned [in] {path}",
            "are|is there [any] {text} [left|remaining] in|inside {path}",
            "any {text} [left|remaining] in|inside {path}",
            "which|what lines in|of {path} contain|mention|have|use [word|text] {text}",
            "how many times|often does|is [word|text] {text} occur|appear|used|mentioned in {path}",
        ],
        means: |found| {
            let words = found.text_words(0);
            let articles = words.iter().take_while(|word| holds(ARTICLES, &word.lower())).count();
            let words = &words[articles.min(words.len() - 1)..];
            let text = match words {
                [only] => only.text.clone(),
                _ => found.text(0),
            };
            let marker = ["todo", "todos", "fixme", "fixmes", "xxx", "hack", "hacks"];
            let is_marker = matches!(words, [only] if marker.contains(&only.lower().as_str()));
            if is_marker {
                let mark = text.to_uppercase();
                return Some(ClauseIntent::Goal(ToolGoal::one(search_call(
                    mark.trim_end_matches('S'),
                    &found.path(0),
                ))));
            }
            let introduced = ["word", "text", "string"].iter().any(|word| found.says(word));
            let is_name = matches!(words, [only] if only.text.contains(['_', '(']));
            (found.is_quoted(0) || (introduced && words.len() == 1) || is_name)
                .then(|| ClauseIntent::Goal(ToolGoal::one(search_call(&escaped(&text), &found.path(0)))))
        },
    },
];

/// How the definition of a test begins, in several languages.
const TESTING: &str = r"^\s*((async )?def test\w*|class \w*Tests?\w*|func Test\w*|(pub )?(async )?fn \w*test\w*|#\[(tokio::)?test|(it|test|describe)\()|^test\w*:";

fn defining(found: &PatternMatch<'_>) -> super::super::intent::IntendedCall {
    let says = |words: &[&str]| words.iter().any(|word| found.says(word));
    let kinds = match () {
        () if says(&["functions", "function", "methods", "method"]) => "(async )?(def|fn|func|function|sub)",
        () if says(&["classes", "class"]) => "(class|struct|enum|trait|interface)",
        () => DEFINING,
    };
    search_call(
        &format!(r"^\s*(pub(\(\w+\))? |export |default |async |static |const |unsafe )*{kinds}\s"),
        &found.path(0),
    )
}

/// Returns the one name that fits.
fn name_of(found: &PatternMatch<'_>) -> Option<String> {
    let text = found.text(0);
    let name = text.trim_end_matches(['?', '!']).trim_end_matches("()").trim_end_matches('(');
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_:.$".contains(c));
    let vague = ["it", "this", "that", "everything", "something", "anything", "here", "there", "them"];
    (plain && !vague.contains(&name.to_lowercase().as_str()))
        .then(|| name.rsplit("::").next().unwrap_or(name).to_owned())
}
