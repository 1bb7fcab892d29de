//! Sentences that want lines or names changed where they are: mechanical, and only if one place fits.

use super::super::intent::{ClauseIntent, LinePlace, LineSelection, ToolGoal};
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "rename|change|replace|swap|substitute [all|every] [function|method|class|variable|constant|name|word|text|symbol|struct|type|occurrences|uses] [of] [word|name] {text} to|with|by|into|as|-> {text} everywhere|anywhere [else]",
            "rename|change|replace|swap|substitute [all|every] [function|method|class|variable|constant|name|word|text|symbol|struct|type|occurrences|uses] [of] [word|name] {text} to|with|by|into|as|-> {text} in all|every|each [of] [my|the] files|file|places|place",
            "rename|change|replace|swap|substitute [all|every] [function|method|class|variable|constant|name|word|text|symbol|struct|type|occurrences|uses] [of] [word|name] {text} to|with|by|into|as|-> {text} across|throughout|in [whole|entire|all] project|repo|repository|codebase|code|files|workspace",
            "everywhere rename|change|replace [function|method|class|variable|word|name] {text} to|with|by|into {text}",
            "rename [function|method|class|variable] {text} everywhere to {text}",
        ],
        means: |found| everywhere(found, "."),
    },
    PatternRow {
        says: &[
            "rename [function|method|class|variable|constant|symbol|struct|name] {text} to|into|as {text} in|inside|of|within {path}",
        ],
        means: |found| {
            let named = ["function", "method", "class", "variable", "constant", "symbol", "struct"];
            named.iter().any(|kind| found.says(kind)).then(|| everywhere(found, &found.path(0))).flatten()
        },
    },
    PatternRow {
        says: &["rename function|method|class|variable|constant|symbol|struct {text} to|into|as {text}"],
        means: |found| everywhere(found, "."),
    },
    PatternRow {
        says: &[
            "replace|change|rename [word|text|every|all] {text} with|by|to|into {text} in|inside|below|under [folder|directory] {folder} folder|directory",
            "replace|change|rename [word|text] {text} with|by|to|into {text} in|inside|below|under all|every files|file in|of|below|under {folder}",
        ],
        means: |found| everywhere(found, &found.folder(0)),
    },
    PatternRow {
        says: &[
            "delete|remove|erase|drop|cut todo|fixme|xxx|hack [comment|line|note|marker] in|from|of|out [of] {path}",
            "delete|remove|erase|drop|cut comment|line with|containing|about|saying todo|fixme|xxx|hack in|from|of {path}",
            "in {path} delete|remove todo|fixme [comment|line]",
        ],
        means: |found| {
            let mark = ["todo", "fixme", "xxx", "hack"].into_iter().find(|mark| found.says(mark))?;
            Some(removal(found, LineSelection::Comment(mark.to_uppercase())))
        },
    },
    PatternRow {
        says: &[
            "delete|remove|erase|drop|cut comment [in|from|of] {path} that|which says|contains|mentions|reads|has|with {text}",
            "delete|remove|erase|drop|cut comment that|which says|contains|mentions|reads|has {text} in|from|of {path}",
            "delete|remove|erase|drop|cut comment [saying|containing|with|about] {text} in|from|of {path}",
        ],
        means: |found| text(found, 0).map(|text| removal(found, LineSelection::Comment(text))),
    },
    PatternRow {
        says: &[
            "delete|remove|erase|drop|cut line|lines|entry|item [in|from|of] {path} that|which says|contains|mentions|reads|has|is {text}",
            "delete|remove|erase|drop|cut line|lines|entry|item that|which says|contains|mentions|reads|has|is [text|word] {text} in|from|of|out {path}",
            "from {path} delete|remove [line|entry|item] {text}",
            "in {path} delete|remove line|entry|item [saying|containing|with|that] [says|contains] {text}",
        ],
        means: |found| text(found, 0).map(|text| removal(found, LineSelection::Holding(text))),
    },
    PatternRow {
        says: &[
            "add|insert|put|write [new] [line|text|comment|words] {text} before|above|over line {n} in|of|to|into {path}",
            "insert|add|put [new] [line|text] {text} at line {n} in|of|to|into {path}",
            "in {path} add|insert|put [new] [line|text|comment] {text} before|above|over line {n}",
        ],
        means: |found| insertion(found, LinePlace::Before(LineSelection::Numbered(found.number(0)))),
    },
    PatternRow {
        says: &[
            "add|insert|put|write [new] [line|text|comment|words] {text} after|behind|below|under line {n} in|of|to|into {path}",
            "in {path} add|insert|put [new] [line|text|comment] {text} after|behind|below|under line {n}",
        ],
        means: |found| insertion(found, LinePlace::Behind(LineSelection::Numbered(found.number(0)))),
    },
    PatternRow {
        says: &[
            "add|insert|put|write [new] [line|text|comment|words] {text} before|above|over [line|text] [that|which|with] [says|contains|reads] {text} in|of|to|into {path}",
            "in {path} add|insert|put [new] [line|text|comment] {text} before|above|over [line|text] [that|with] [says|contains] {text}",
        ],
        means: |found| {
            let anchor = text(found, 1)?;
            insertion(found, LinePlace::Before(LineSelection::Holding(anchor)))
        },
    },
    PatternRow {
        says: &[
            "add|insert|put|write [new] [line|text|comment|words] {text} after|behind|below|under [line|text|heading] [that|which|with] [says|contains|reads] {text} in|of|to|into {path}",
            "in {path} add|insert|put [new] [line|text|comment] {text} after|behind|below|under [line|text|heading] [that|with] [says|contains] {text}",
        ],
        means: |found| {
            let anchor = text(found, 1)?;
            insertion(found, LinePlace::Behind(LineSelection::Holding(anchor)))
        },
    },
];

/// Returns a text that is surely one: in quotation marks, or words of which none are.
fn text(found: &PatternMatch<'_>, at: usize) -> Option<String> {
    let words = found.text_words(at);
    let vague = ["it", "that", "this", "them", "something", "everything"];
    let is_vague = matches!(words, [only] if !only.is_quoted() && vague.contains(&only.lower().as_str()));
    let mixed = words.len() > 1 && words.iter().any(super::super::words::WordToken::is_quoted);
    (!is_vague && !mixed && !words.is_empty()).then(|| found.text(at))
}

fn removal(found: &PatternMatch<'_>, lines: LineSelection) -> ClauseIntent {
    ClauseIntent::Goal(ToolGoal::Remove { path: found.path(0), lines })
}

/// The inserted text is in quotation marks and is written as it is.
fn insertion(found: &PatternMatch<'_>, place: LinePlace) -> Option<ClauseIntent> {
    found
        .is_quoted(0)
        .then(|| ClauseIntent::Goal(ToolGoal::Insert { path: found.path(0), text: found.text(0), place }))
}

/// A name is replaced everywhere if it is one word, or in quotation marks.
fn everywhere(found: &PatternMatch<'_>, place: &str) -> Option<ClauseIntent> {
    let is_name = |at: usize| found.is_quoted(at) || found.text_words(at).len() == 1;
    let bare = |text: String| text.trim_end_matches("()").to_owned();
    let (old, new) = (bare(found.text(0)), bare(found.text(1)));
    let fits = is_name(0)
        && is_name(1)
        && old != new
        && !old.is_empty()
        && !old.contains('\n')
        && !new.contains('\n');
    fits.then(|| ClauseIntent::Goal(ToolGoal::Everywhere { old, new, place: place.to_owned() }))
}
