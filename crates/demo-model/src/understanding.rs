//! Recognizes a clause that needs understanding of code or language, before any table is compared with it.
//!
//! Invariant: text in quotation marks never counts. The verb of a clause and its object decide, so a name or a
//! searched text that contains such a word is not declined.

use super::intent::MissingAbility;
use super::lexicon::holds;
use super::objects::path_of;
use super::words::WordToken;

/// Verbs that only understanding can do, with any object.
const VERBS: &[&str] = &[
    "refactor",
    "optimize",
    "optimise",
    "improve",
    "simplify",
    "rewrite",
    "translate",
    "modernize",
    "modernise",
    "suggest",
    "recommend",
    "compare",
    "critique",
    "evaluate",
    "proofread",
    "brainstorm",
    "justify",
    "debug",
    "diagnose",
    "troubleshoot",
    "investigate",
    "convert",
    "port",
    "migrate",
    "review",
    "audit",
    "implement",
    "deduplicate",
    "vectorize",
    "parallelize",
    "annotate",
    "document",
    "restructure",
    "redesign",
    "rephrase",
    "reword",
    "shorten",
    "polish",
    "harden",
    "generalize",
    "extend",
    "mock",
    "design",
    "estimate",
];
/// Verbs that write: what they write may need to be thought of.
const WRITING: &[&str] =
    &["add", "write", "create", "generate", "make", "put", "insert", "provide", "include", "introduce"];
/// Objects that an author has to think of.
const THOUGHT: &[&str] = &[
    "type hint",
    "type hints",
    "type annotation",
    "type annotations",
    "annotations",
    "docstring",
    "docstrings",
    "error handling",
    "exception handling",
    "logging",
    "validation",
    "input validation",
    "unit test",
    "unit tests",
    "a test",
    "tests for",
    "test for",
    "tests to",
    "test cases",
    "some tests",
    "more tests",
    "comments to",
    "comments in",
    "doc comments",
    "documentation",
    "support for",
    "caching",
    "retries",
    "authentication",
    "a function",
    "a method",
    "a class",
    "an endpoint",
    "a feature",
    "type checks",
    "a summary",
    "a description of",
    "release notes",
    "a changelog from",
    "a readme for",
    "a regex",
    "edge cases",
    "a dockerfile for",
    "ci for",
];
/// Words of a description of code, which nothing here summarizes.
const CODE: &[&str] = &[
    "code",
    "function",
    "functions",
    "method",
    "class",
    "module",
    "logic",
    "algorithm",
    "architecture",
    "design",
    "diff",
];
/// Adjectives and nouns of a judgement.
const JUDGED: &[&str] = &[
    "safe",
    "secure",
    "thread-safe",
    "good",
    "bad",
    "correct",
    "wrong",
    "better",
    "best",
    "idiomatic",
    "efficient",
    "readable",
    "necessary",
    "needed",
    "maintainable",
    "redundant",
    "slow",
    "fast",
    "sensible",
    "reasonable",
    "cover",
    "covered",
    "buggy",
    "bug",
    "bugs",
    "vulnerable",
    "deprecated",
    "obsolete",
    "consistent",
    "worth",
    "important",
];

/// Returns why a clause is declined before anything else is tried.
pub(super) fn needs_understanding(clause: &[WordToken]) -> Option<MissingAbility> {
    let words: Vec<String> = clause.iter().map(WordToken::lower).collect();
    let first = words.first()?.as_str();
    let said = format!(" {} ", words.join(" "));
    let says = |phrase: &str| said.contains(&format!(" {phrase} "));
    let is_quoted = clause.iter().any(WordToken::is_quoted);
    let names_code = clause.iter().filter_map(path_of).any(|path| !is_prose(&path));
    let rest = &words[1..];
    let declines = match first {
        // "Why not?" asks about what was just said.
        "why" => !(rest.is_empty() || rest.len() == 1 && holds(&["not", "so", "that", "then"], &rest[0])),
        "should" | "shall" => true,
        "explain" | "analyze" | "analyse" => names_code || rest.iter().any(|word| is_reason(word)),
        "summarize" | "summarise" | "describe" | "summary" => {
            names_code
                || rest
                    .iter()
                    .any(|word| holds(CODE, word) && word != "code" || word == "code" && rest.len() > 2)
        }
        "fix" | "repair" | "solve" | "mend" => !(says("to") || says("with") || says("typo") || says("by")),
        "clean" => says("up") && rest.len() > 1 && !says("make clean"),
        "how" => {
            matches!(rest.first().map(String::as_str), Some("can" | "should" | "would" | "could"))
                && !how_to_use(&said)
        }
        "is" | "are" | "does" | "do" | "would" | "could" => rest.iter().any(|word| holds(JUDGED, word)),
        "what" | "which" | "who" | "where" => judges(rest),
        "show" | "find" | "list" | "tell" | "check" | "look" => !is_quoted && finds_by_judging(rest),
        first if holds(WRITING, first) => !is_quoted && writes_thought(&said, &words),
        first => holds(VERBS, first) && !is_quoted,
    };
    let depends = says("unless") && !is_quoted;
    (declines || depends).then_some(MissingAbility::Understand)
}

fn is_prose(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    [".md", ".txt", ".rst", ".adoc"].iter().any(|ending| name.ends_with(ending)) || !name.contains('.')
}

fn is_reason(word: &str) -> bool {
    holds(&["why", "how", "when", "reason", "difference"], word) || holds(CODE, word)
}

/// Returns whether a question is how this program is used.
fn how_to_use(said: &str) -> bool {
    [
        " help ",
        " use this ",
        " use you ",
        " use palyra ",
        " ask you ",
        " start ",
        " run ",
        " build ",
        " install ",
        " launch ",
        " test ",
    ]
    .iter()
    .any(|words| said.contains(words))
}

fn judges(rest: &[String]) -> bool {
    let asks_for_advice =
        rest.iter().any(|word| holds(&["should", "recommend", "suggest", "advise", "prefer"], word));
    let wrong_with = rest.windows(2).any(|pair| matches!(pair, [a, b] if holds(&["wrong", "missing", "broken"], a) && holds(&["with", "in", "from"], b)));
    // "mention", "contain" and the like search for the word itself.
    let searches = rest.iter().any(|word| {
        ["mention", "contain", "use", "have", "has", "import", "call", "define", "match", "file"]
            .iter()
            .any(|verb| word.starts_with(verb))
    });
    asks_for_advice || wrong_with || (!searches && rest.iter().any(|word| holds(JUDGED, word)))
}

fn finds_by_judging(rest: &[String]) -> bool {
    let describes = |word: &String| {
        holds(
            &[
                "unused",
                "dead",
                "duplicate",
                "duplicated",
                "slow",
                "wrong",
                "broken",
                "redundant",
                "buggy",
                "unnecessary",
            ],
            word,
        )
    };
    let searches = rest.iter().any(|word| holds(&["for", "word", "text", "string"], word));
    rest.iter().any(describes) && !searches
}

fn writes_thought(said: &str, words: &[String]) -> bool {
    let files = ["file", "folder", "directory", "branch", "tag", "line", "containing", "saying"];
    let is_plain = words.iter().any(|word| holds(&files, word));
    !is_plain && THOUGHT.iter().any(|thought| said.contains(&format!(" {thought} ")))
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[test]
    fn what_needs_understanding_is_told_by_its_verb_and_its_object() {
        for input in [
            "explain core.py",
            "why is it slow",
            "refactor src",
            "add type hints to src",
            "add error handling to total",
            "write unit tests for Order",
            "is this thread-safe",
            "fix the bug",
            "summarise the code in src",
            "which library should I use",
            "what is wrong with core.py",
            "find unused functions",
            "clean up the imports",
            "delete a.txt unless it is needed",
            "document the class",
            "explain how total works",
        ] {
            assert_eq!(needs_understanding(&words(input)), Some(MissingAbility::Understand), "{input}");
        }
    }

    #[test]
    fn names_and_texts_with_such_words_do_not_count() {
        for input in [
            "rename explain.py to refactor.py",
            "search for refactor",
            "commit with message fix the bug",
            "read improve.md",
            "create a file with \"why\" in it",
            "add \"type hints\" to TODO",
            "which files mention bugs",
            "explain README.md",
            "create a folder called tests",
            "replace bad with good in a.md",
            "make clean",
            "what files use best",
            "is there a Makefile",
            "does any file contain bug",
            "find slow.py",
            "list the files in design",
        ] {
            let is_searched = input.contains("contain bug");
            assert_eq!(needs_understanding(&words(input)).is_some(), is_searched, "{input}");
        }
    }
}
