//! Sentences that want files by name, or text in files.

use super::super::calls::{escaped, glob_call, search_call, text_search_call};
use super::super::intent::{ClauseIntent, ToolAbility, ToolGoal};
use super::super::lexicon::{UNSEARCHABLE, holds};
use super::super::objects::is_file_name;
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "find|glob|locate|list|show|ls|search [all|any|every] [for] [files] [matching|named|like|called] {glob}",
            "what|which files match {glob}",
            "find|list|show [all] files that match {glob}",
        ],
        means: |found| one(glob_call(&found.word(0), ".")),
    },
    PatternRow {
        says: &[
            "find|glob|locate|list|show|ls [all] [files] [matching] {glob} in|inside|under|below {folder}",
        ],
        means: |found| one(glob_call(&found.word(0), &found.folder(0))),
    },
    PatternRow {
        says: &["find|locate {path} in|inside|under|below {folder}"],
        means: |found| by_name(found, &found.folder(0)),
    },
    PatternRow {
        says: &[
            "find|locate|glob [for] {path}",
            "search|look for [file] [called|named] {path}",
            "where is|are {path}",
            "where is {path}",
            "where can i find {path}",
        ],
        means: |found| by_name(found, "."),
    },
    PatternRow {
        says: &[
            "find|list|show [all] files ending in|with {word}",
            "find|list|show [all] files that end in|with {word}",
        ],
        means: |found| {
            let ending = found.word(0);
            ending
                .starts_with('.')
                .then(|| ClauseIntent::Goal(ToolGoal::one(glob_call(&format!("**/*{ending}"), "."))))
        },
    },
    PatternRow {
        says: &[
            "find|list|show [all|any] {word}",
            "where are [all|any] {word}",
            "are there [any] {word} [left]",
            "is there [any] {word} [left]",
        ],
        means: |found| {
            // One `TODO` alone is rather the file of that name.
            let word = found.word(0);
            let is_file = word == "TODO" && found.begins("show") && !found.says("all");
            marker(&word).filter(|_| !is_file).and_then(|marker| sought(marker, "."))
        },
    },
    PatternRow {
        says: &[
            "find|list|show|search [for] [all|any] {word} in|inside|under|of|from|across {folder}",
            "how many {word} are|is [there|left] in|inside|under {folder}",
            "count [all] {word} in {folder}",
        ],
        means: |found| marker(&found.word(0)).and_then(|marker| sought(marker, &found.folder(0))),
    },
    PatternRow {
        says: &[
            "how many {word} are|is [there|left]",
            "how many {word} do|does we|i|it have",
            "count [all] {word}",
        ],
        means: |found| marker(&found.word(0)).and_then(|marker| sought(marker, ".")),
    },
    PatternRow {
        says: &["grep|rg|ag for {word} {folder}", "grep|rg|ag for {word} in|inside|under {folder}"],
        means: |found| one(text_search_call(&found.word(0), &found.folder(0))),
    },
    PatternRow {
        says: &["grep|rg|ag for {word}"],
        means: |found| one(text_search_call(&found.word(0), ".")),
    },
    PatternRow {
        says: &["grep|rg|ag {word} {folder}", "grep|rg|ag -r|-rn|-n|-rni|-i|-l|-R|-nr {word} {folder}"],
        means: |found| one(text_search_call(&found.word(0), &found.folder(0))),
    },
    PatternRow {
        says: &["grep|rg|ag {word}", "grep|rg|ag -r|-rn|-n|-i|-l|-nr {word}"],
        means: |found| one(text_search_call(&found.word(0), ".")),
    },
    PatternRow {
        says: &["search for [regex|regexp|pattern|expression] {text} in|inside|under|within {folder}"],
        means: |found| {
            let regex = found.text(0);
            let is_regex =
                ["\\", "[", "^", "("].iter().any(|sign| regex.contains(sign)) && found.is_quoted(0);
            is_regex.then(|| ClauseIntent::Goal(ToolGoal::one(search_call(&regex, &found.folder(0)))))
        },
    },
    PatternRow {
        says: &["search for regex|regexp|pattern|expression {text}", "find|grep regex|regexp {text}"],
        means: |found| one(search_call(&found.text(0), ".")),
    },
    PatternRow {
        says: &[
            "search|grep|look|find [for] [word|text|string|all|every] {text} in|inside|across [all|every] {kind} files|file|code",
            "which|what {kind} files contain|mention|use|have [word|text] {text}",
        ],
        means: |found| {
            let ClauseIntent::Goal(ToolGoal::Calls(mut calls, view)) = literal(found, ".")? else {
                return None;
            };
            let glob = serde_json::json!(format!("*.{}", found.extension(0)));
            calls = calls.into_iter().map(|call| call.with("glob", glob.clone())).collect();
            Some(ClauseIntent::Goal(ToolGoal::Calls(calls, view)))
        },
    },
    PatternRow {
        says: &[
            "search|grep|rg|ag|look|find|scan [for] [word|text|string|all|every|any] {text} in|inside|under|within|across [all] [files] [matching|like] {glob} [files]",
            "grep|rg|ag {word} {glob}",
            "which|what {glob} [files] contain|contains|mention|mentions|use|uses|have|has [word|text] {text}",
        ],
        means: |found| {
            let (searched, glob) = match found.text_words(0) {
                [] => (one(text_search_call(&found.word(0), "."))?, found.word(1)),
                _ => (literal(found, ".")?, found.word(0)),
            };
            let ClauseIntent::Goal(ToolGoal::Calls(calls, view)) = searched else { return None };
            let glob = serde_json::json!(glob);
            let calls = calls.into_iter().map(|call| call.with("glob", glob.clone())).collect();
            Some(ClauseIntent::Goal(ToolGoal::Calls(calls, view)))
        },
    },
    PatternRow {
        says: &[
            "search [for] [word|words|text|string|phrase|all|occurrences] [of] {text} in|inside|under|within|across {folder}",
            "look|grep|scan [for] [word|text|string|phrase] {text} in|inside|under|within|across {folder}",
            "find [word|text|string|phrase|all|every|any|where|occurrences] [occurrences|uses|mentions] [of] {text} in|inside|under|within|across {folder}",
            "find [all|every] files|places|lines in {folder} that contain|mention|use {text}",
            "search|grep|look {folder} for [word|text|string|phrase] {text}",
            "search in {folder} for [word|text|string|phrase] {text}",
            "where is|are {text} used|defined|declared|called|mentioned|set in {folder}",
            "which|what files in {folder} contain|mention|use|have [word|text] {text}",
            "how many times|often does {text} occur|appear in {folder}",
            "how many times|often is {text} used|mentioned in {folder}",
            "does {folder} contain|mention [word|text|string] {text}",
            "count [occurrences|uses] of {text} in {folder}",
        ],
        means: |found| literal(found, &found.folder(0)),
    },
    PatternRow {
        says: &[
            "search [for] [word|words|text|string|phrase|all|occurrences] [of] {text}",
            "look|grep|scan for [word|text|string|phrase] {text}",
            "grep {text}",
            "which|what files|file have|has|contain|contains [word|words|text|string] {text} in|inside them|it",
            "which|what files|file mention|mentions|contain|contains|use|uses|have|has|include|includes [word|text|string] {text}",
            "find [all|any|every] files|places|lines that|which contain|contains|mention|mentions|use|uses|have|include [word|text] {text}",
            "find [all|any|every] files|places|lines containing|mentioning|using|with [word|text] {text}",
            "find [all|every] places|place|file|files where {text} is|are used|mentioned|called|defined",
            "find [all|every] occurrences|uses|usages|mentions|references|instances of|to [word|text] {text}",
            "show|list [all|every] occurrences|uses|usages|mentions|references|instances of|to [word|text] {text}",
            "where is|are|do|does [word|text|function|class|method|variable|struct|type] {text} used|defined|declared|called|mentioned|come|set|implemented [from]",
            "show|see|list where {text} is|are used|mentioned|called",
            "find where {text} is|are used|defined|declared|called|mentioned|set",
            "where do we use|call|define|mention {text}",
            "in which|what file|files does|do|is|are [word|text] {text} appear|appears|occur|occurs|used|mentioned|called|contained|imported",
            "which|what file|files does|do|is|are [word|text] {text} appear|occur|used|mentioned in",
            "where does {text} occur|appear",
            "does any|anything|anyone file|files|code|line|one contain|contains|mention|use|uses [word|text|string] {text}",
            "does anything|anyone mention|use|call|contain {text}",
            "do any files contain|mention|use [word|text|string] {text}",
            "is {text} used|mentioned|defined anywhere",
            "how many times|often does [word|text] {text} occur|appear|show [up]",
            "how many times|often is [word|text] {text} used|mentioned|called",
            "how many files mention|contain|use [word|text] {text}",
            "count [all] occurrences|uses|mentions of [word|text] {text}",
            "who|what calls|uses|imports|includes|references {text}",
            "who is calls|using|importing {text}",
            "which|what files|file|code import|imports|reference|references {text}",
            "search|look|grep [for] [word|text|string] {text} everywhere|anywhere",
            "find [word|text|string] {text} everywhere|anywhere",
            "show|find|list everything about {text}",
        ],
        means: |found| literal(found, "."),
    },
    PatternRow {
        says: &["find [word|text|string|phrase] {text}", "where is|are|do|does {text}", "where is {text}"],
        means: |found| {
            let is_text = found.is_quoted(0)
                || matches!(found.text_words(0), [only] if only.text.contains(['_', '(', ':']) || marker(&only.text).is_some())
                || found.text_words(0).len() == 1;
            if is_text { literal(found, ".") } else { None }
        },
    },
    PatternRow {
        says: &["search|grep|find", "search [files|code|something]"],
        means: |_| Some(ClauseIntent::Incomplete(ToolAbility::Search)),
    },
];

fn one(call: super::super::intent::IntendedCall) -> Option<ClauseIntent> {
    Some(ClauseIntent::Goal(ToolGoal::one(call)))
}

fn sought(text: &str, place: &str) -> Option<ClauseIntent> {
    one(search_call(&escaped(text), place))
}

/// Returns the mark that a word names in the plural: `TODOs`, `fixmes`.
pub(super) fn marker(word: &str) -> Option<&'static str> {
    const MARKERS: [&str; 6] = ["TODO", "FIXME", "XXX", "HACK", "NOTE", "BUG"];
    let upper = word.to_uppercase();
    let upper = upper.strip_suffix("'S").or_else(|| upper.strip_suffix('S')).unwrap_or(&upper);
    // "bug" and "note" are words, `BUG` and `NOTE` are marks.
    let is_mark = |marker: &&&str| {
        **marker == upper && (word.starts_with(*marker) || !matches!(**marker, "NOTE" | "BUG" | "HACK"))
    };
    MARKERS.iter().find(is_mark).copied()
}

/// Searches for a text, unless it only describes what is looked for.
fn literal(found: &PatternMatch<'_>, place: &str) -> Option<ClauseIntent> {
    let words = found.text_words(0);
    let text = found.text(0);
    if !found.is_quoted(0) {
        let describes =
            words.iter().any(|word| holds(UNSEARCHABLE, &word.lower()) || word.text.starts_with('-'));
        let quoted = words.iter().filter(|word| word.is_quoted()).count();
        // "total in python files" says where, not what.
        let kinds = ["files", "file", "folders", "tests", "directories", "modules"];
        let last = words.last().map(super::super::words::WordToken::lower).unwrap_or_default();
        let says_where = words.iter().any(|word| holds(&["in", "inside", "across"], &word.lower()))
            && holds(&kinds, &last);
        // "Which files mention bugs" asks for the word, "find bugs" for what no search finds.
        let is_word =
            words.len() == 1 && ["mention", "mentions", "mentioning"].iter().any(|verb| found.says(verb));
        if (describes && !is_word) || says_where || quoted > 0 {
            return None;
        }
        if let Some(marker) = marker(&text) {
            return sought(marker, place);
        }
    }
    let text = text.trim_end_matches(['?', '!']);
    one(text_search_call(text, place))
}

fn by_name(found: &PatternMatch<'_>, folder: &str) -> Option<ClauseIntent> {
    let path = found.path(0);
    let quoted = found.path_words(0).iter().any(super::super::words::WordToken::is_quoted);
    let introduced = found.path_words(0).len() > 1;
    if !introduced
        && (quoted
            || !(is_file_name(&path) || path.contains('/'))
            || (found.begins("search") && !path.contains('.'))
            || path == "TODO")
    {
        return None;
    }
    let pattern = if path.contains('/') { path } else { format!("**/{path}") };
    one(glob_call(&pattern, folder))
}
