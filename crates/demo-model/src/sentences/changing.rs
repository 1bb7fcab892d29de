//! Sentences that want a file written or what is in it changed.

use serde_json::json;

use super::super::content::{given, greeting, is_given, prints};
use super::super::intent::{
    ClauseIntent, IntendedCall, LineSelection, MissingAbility, ToolAbility, ToolGoal,
};
use super::super::lexicon::{ANSWERS, holds};
use super::super::objects::is_file_name;
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "create|write|make|add|new|generate [new] [python|shell|bash|javascript|node|ruby|c|rust|small|simple|little] [file|script|program] {path} that|which prints|outputs|echoes|says|print|displays|logs {text}",
            "create|write|make|add|generate [new] [python|shell|bash|javascript|node|ruby|c|rust|small|simple|little] file|script|program that|which prints|outputs|echoes|says|print|displays|logs {text} in|into|as|called|named|to {path}",
            "create|write|make|add|generate [new] {path} to|and print|output|echo|say {text}",
        ],
        means: |found| {
            // A text file that says something holds the words themselves.
            let says = found.says("says") && prints(&found.path(0), "x").is_none();
            if says { content(found) } else { Some(program(&found.path(0), &found.text(0))) }
        },
    },
    PatternRow {
        says: &[
            "create|write|make|add|generate [small|simple|little|basic] hello world program|script|app|example in|into|as|called|named {path}",
            "create|make|generate [small|simple|little|basic] hello world [file] in|as|called|named {path}",
            "create|write|make|add|generate {path} with|containing [small|simple|basic] hello world program|script|example|code",
        ],
        means: |found| {
            // A text file holds the words themselves.
            if prints(&found.path(0), "x").is_none() {
                return Some(write(&found.path(0), "hello world", None));
            }
            Some(program(&found.path(0), "Hello, world!"))
        },
    },
    PatternRow {
        says: &[
            "create|write|make|add|generate|show [me] [small|simple|little|basic] hello world [program|script|file|app|example] in|using|with {kind}",
            "create|write|make|add|generate [small|simple|little|basic] {kind} hello world [program|script|file|app|example]",
            "create|write|make|add|generate [small|simple] hello world {kind} program|script|file|app",
        ],
        means: |found| {
            let extension = found.extension(0);
            prints(&format!("hello.{extension}"), "x")?;
            Some(program(&format!("hello.{extension}"), "Hello, world!"))
        },
    },
    PatternRow {
        says: &[
            "create|make|write|add|touch|save|generate|new [new] [empty|blank] [text] {path}",
            "touch|create|make [new] [empty|blank] file|files {paths}",
            "create|make|add [new] [empty|blank] [python|markdown|text|c|rust|json] file|script {path}",
            "touch {paths}",
        ],
        means: |found| empty(found),
    },
    PatternRow {
        says: &[
            "create|make|write|add|save|generate [new] [text|python|markdown|shell|json] {path} with|containing|saying|holding|that|which [says|contains|saying|holds|has] [content|contents|text|words|word|line] {text}",
            "create|make|write|add|save [new] {path} and|then put|write|add [text|words|word] {text} in|into|to it",
        ],
        means: |found| content(found),
    },
    PatternRow {
        says: &[
            "write|save|store|echo [text|words|word|line] {text} to|into|in|as [new|file] {path}",
            "create|make|write [new] file with|containing [content|text|words] {text} called|named|as|in {path}",
        ],
        means: |found| content(found),
    },
    PatternRow {
        says: &[
            "overwrite|fill {path} with [text|content] {text}",
            "replace|change|set [contents|content|everything] [of|in] {path} with|to|by [text] {text}",
        ],
        means: |found| {
            let is_whole = ["overwrite", "fill"].iter().any(|verb| found.begins(verb))
                || ["content", "contents", "everything"].iter().any(|word| found.says(word));
            (is_whole && found.is_quoted(0)).then(|| write(&found.path(0), &found.text(0), None))
        },
    },
    PatternRow {
        says: &[
            "empty|clear|truncate|blank [contents|content|out] [of] {path}",
            "make {path} empty",
            "delete|remove|erase contents|content|everything of|in|from {path}",
        ],
        means: |found| Some(write(&found.path(0), "", None)),
    },
    PatternRow {
        says: &[
            "replace|change|swap|substitute|rename|correct|fix [word|words|text|string|typo|every|all|each|name] [of] {text} by|with|to|into|for|-> {text} in|inside|of|within {path} [everywhere]",
            "replace|change|swap|substitute|correct|fix [word|words|text|string|typo|every|all|each] {text} in|inside|of|within {path} by|with|to|into|for {text}",
            "in|inside {path} replace|change|swap|substitute|correct|fix|rename [word|words|text|string|every|all|each] {text} by|with|to|into {text}",
            "edit|update|modify|change {path} and|to replace|change|swap [word|words|text|string|every|all|each] {text} by|with|to|into {text}",
            "edit|update|modify|change {path} so that {text} becomes|is {text}",
        ],
        means: edit,
    },
    PatternRow {
        says: &[
            "replace|change|swap|substitute [word|text|string|every|all] {text} by|with|to|into {text} in|inside|of {folder}",
        ],
        means: |found| {
            let folder = found.folder(0);
            if folder == "." { None } else { replacing(found, &folder) }
        },
    },
    PatternRow {
        says: &[
            "append|add|put|write|insert [new] [line|text|words|word|string|item|entry] [saying] {text} to|in|into|at|on [end|bottom] [of] {path}",
            "append|add|put|write|insert [new] [line|text|words|word] {text} as last line to|in|into|of {path}",
            "append|add to {path} [line|text|words|word] {text}",
            "append|add [line|text|words|word] {text} to end|bottom of {path}",
        ],
        means: |found| added(found, |path, text| ToolGoal::Append { path, text }),
    },
    PatternRow {
        says: &[
            "prepend|add|put|write|insert [new] [line|text|words|word] {text} at|to|on [very] beginning|top|start|front of {path}",
            "prepend {text} to {path}",
            "add|put|insert [line|text] {text} as first line to|in|into|of {path}",
        ],
        means: |found| added(found, |path, text| ToolGoal::Prepend { path, text }),
    },
    PatternRow {
        says: &[
            "delete|remove|erase|drop|cut line|lines {n} from|in|of {path}",
            "delete|remove|erase {n} line from|in|of {path}",
        ],
        means: |found| remove(found, LineSelection::Numbered(found.number(0))),
    },
    PatternRow {
        says: &["delete|remove|erase|drop|cut first line from|in|of {path}"],
        means: |found| remove(found, LineSelection::Numbered(1)),
    },
    PatternRow {
        says: &["delete|remove|erase|drop|cut last line from|in|of {path}"],
        means: |found| remove(found, LineSelection::Last),
    },
    PatternRow {
        says: &[
            "delete|remove|erase|drop|cut line|lines|text|word|words|entry|item [containing|with|saying|that] [says|contains] {text} from|in|of|out {path}",
        ],
        means: |found| {
            let text = found.text(0);
            let is_number = text.trim().split(' ').all(|word| word.parse::<u64>().is_ok());
            (!is_number).then(|| remove(found, LineSelection::Holding(text))).flatten()
        },
    },
    PatternRow {
        says: &["delete|remove|erase|drop {text} from {path}"],
        means: |found| {
            if found.is_quoted(0) { remove(found, LineSelection::Exactly(found.text(0))) } else { None }
        },
    },
    PatternRow {
        says: &["create|make|write|add file|files|something", "create|make|write|touch [new] [file]"],
        means: |found| {
            (!(found.is_alone() && found.begins("make")))
                .then_some(ClauseIntent::Incomplete(ToolAbility::Write))
        },
    },
    PatternRow {
        says: &[
            "edit|change|modify|update {path}",
            "edit|change|modify|update|replace [file|text|something|it]",
            "replace|change {text} by|with|to {text}",
            "add|append {text}",
            "append|add [to] {path}",
        ],
        means: |found| {
            let is_change = !found.begins("add") || found.is_quoted(0) || !found.path(0).is_empty();
            is_change.then_some(ClauseIntent::Incomplete(ToolAbility::Edit))
        },
    },
    PatternRow {
        says: &["delete|remove|erase line|lines [from|in] {path}"],
        means: |_| Some(ClauseIntent::Incomplete(ToolAbility::Patch)),
    },
];

/// Writes a whole file; a new one unless its content is what changes.
fn write(path: &str, content: &str, mode: Option<&str>) -> ClauseIntent {
    let call = IntendedCall::new(ToolAbility::Write, &[("path", path), ("content", content)]);
    ClauseIntent::Goal(ToolGoal::one(match mode {
        Some(mode) => call.with("mode", json!(mode)),
        None => call,
    }))
}

fn empty(found: &PatternMatch<'_>) -> Option<ClauseIntent> {
    let calls: Vec<IntendedCall> = found
        .paths(0)
        .iter()
        .map(|path| {
            IntendedCall::new(ToolAbility::Write, &[("path", path), ("content", "")])
                .with("mode", json!("create"))
        })
        .collect();
    // "write a README" asks for a text that somebody has to think of.
    let composes = found.begins("write") || found.begins("generate") || found.begins("save");
    let is_known = found.path_words(0).iter().any(|word| !word.is_quoted() && !word.text.contains('.'));
    let is_empty = ["touch", "empty", "blank", "file"].iter().any(|word| found.says(word));
    if composes || (is_known && !is_empty) {
        return Some(ClauseIntent::Cannot(MissingAbility::Compose));
    }
    (!calls.is_empty())
        .then(|| ClauseIntent::Goal(ToolGoal::Calls(calls, super::super::intent::AnswerView::Digest)))
}

fn program(path: &str, text: &str) -> ClauseIntent {
    match prints(path, greeting(text)) {
        Some(code) => write(path, &code, None),
        None => ClauseIntent::Cannot(MissingAbility::Compose),
    }
}

fn content(found: &PatternMatch<'_>) -> Option<ClauseIntent> {
    let (path, text) = (found.path(0), found.text(0));
    if path.is_empty() {
        return None;
    }
    if holds(ANSWERS, &text.to_lowercase()) {
        return Some(write(&path, &text, None));
    }
    Some(match given(&path, found.text_words(0), &text) {
        Ok(text) => write(&path, &text, None),
        Err(lack) => ClauseIntent::Cannot(lack),
    })
}

/// Words that only point at something else.
const VAGUE: &[&str] = &[
    "it",
    "that",
    "this",
    "them",
    "something",
    "everything",
    "anything",
    "contents",
    "content",
    "all",
    "tabs",
    "spaces",
    "quotes",
];

/// Replaces a text by another; what is said without quotation marks has to be a text, and not a description of one.
fn edit(found: &PatternMatch<'_>) -> Option<ClauseIntent> {
    replacing(found, &found.path(0))
}

fn replacing(found: &PatternMatch<'_>, path: &str) -> Option<ClauseIntent> {
    let (old, new) = (found.text(0), found.text(1));
    let everywhere = found.says_all();
    for at in [0, 1] {
        let is_word = matches!(found.text_words(at), [only] if !holds(VAGUE, &only.lower()));
        // "x with y and a with b" is two changes, or a long text.
        let joins = ["and", "&", "with", "to", "into", "plus"];
        if !is_word && found.text_words(at).iter().any(|word| holds(&joins, &word.lower())) {
            return Some(ClauseIntent::Cannot(MissingAbility::Quotes));
        }
        if !found.is_quoted(at)
            && !is_word
            && is_given("x.txt", found.text_words(at), &found.text(at)).is_err()
        {
            return Some(ClauseIntent::Cannot(MissingAbility::Quotes));
        }
    }
    if path.is_empty() || old == new {
        return None;
    }
    // "The word" means each place of the word.
    let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if (found.says("word") || found.says("words")) && is_word(&old) && !new.contains('\n') {
        return Some(ClauseIntent::Goal(ToolGoal::Everywhere { old, new, place: path.to_owned() }));
    }
    let call = IntendedCall::new(ToolAbility::Edit, &[("path", path), ("old", &old), ("new", &new)]);
    Some(ClauseIntent::Goal(ToolGoal::one(if everywhere { call.with("all", json!(true)) } else { call })))
}

fn added(found: &PatternMatch<'_>, goal: fn(String, String) -> ToolGoal) -> Option<ClauseIntent> {
    let (path, text) = (found.path(0), found.text(0));
    if path.is_empty() || text.is_empty() {
        return None;
    }
    let names_file = matches!(found.text_words(0), [only] if !only.is_quoted() && is_file_name(&only.text) && !only.text.starts_with('.'));
    if names_file && !path.ends_with("ignore") {
        return Some(ClauseIntent::Cannot(MissingAbility::Quotes));
    }
    Some(match given(&path, found.text_words(0), &text) {
        Ok(text) => ClauseIntent::Goal(goal(path, text.trim_end_matches('\n').to_owned())),
        Err(lack) => ClauseIntent::Cannot(lack),
    })
}

fn remove(found: &PatternMatch<'_>, lines: LineSelection) -> Option<ClauseIntent> {
    Some(ClauseIntent::Goal(ToolGoal::Remove { path: found.path(0), lines }))
}
