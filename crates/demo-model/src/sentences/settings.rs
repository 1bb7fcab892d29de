//! Sentences that want single lines changed: a setting, a version, a comment; and lines of files taken out.

use super::super::intent::{
    AnswerView, ClauseIntent, IntendedCall, LineChange, LineSelection, ToolAbility, ToolGoal,
};
use super::super::lexicon::holds;
use super::super::objects::is_file_name;
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "change|update|set|bump|raise|increase|lower|decrease|upgrade|switch|rename|replace [value|version|default] [of|number] {word} from {text} to|into {text} in|inside|of|within {path}",
            "in {path} change|update|set|bump|raise|increase|lower|upgrade|switch [value|version] [of] {word} from {text} to {text}",
        ],
        means: |found| swap(found, &found.path(0)),
    },
    PatternRow {
        says: &[
            "change|update|set|bump|raise|increase|lower|decrease|upgrade|switch [value|version|default] [of|number] {word} from {text} to {text}",
        ],
        means: |found| swap(found, ""),
    },
    PatternRow {
        says: &[
            "bump|change|set|update|increase|raise|upgrade [project|package|crate] version [number] in|of|inside {path} to|= {word}",
            "bump|change|set|update|increase|raise|upgrade [project|package|crate] version [number] to|= {word} in|of|inside {path}",
            "bump|upgrade {path} to [version] {word}",
            "in {path} bump|change|set|update version [number] to {word}",
        ],
        means: |found| assign("version", &found.word(0), &found.path(0)),
    },
    PatternRow {
        says: &["bump|change|set|update|increase|raise [project|package|crate] version [number] to {word}"],
        means: |found| assign("version", &found.word(0), ""),
    },
    PatternRow {
        says: &[
            "set [value|setting|option|key|variable|constant] [of] {word} to|=|: {text} in|inside|of|within {path}",
            "change|update [value|setting|option|key|variable|constant] of {word} to|= {text} in|inside|of|within {path}",
            "change|update value|setting|option|key|variable|constant {word} to|= {text} in|inside|of|within {path}",
            "in {path} set [value|setting|option|key|variable] [of] {word} to|= {text}",
        ],
        means: |found| assign(&found.word(0), &given(found, 0)?, &found.path(0)),
    },
    PatternRow {
        says: &[
            "change|update|switch|bump|raise|increase|lower {word} to {text} in|inside|of|within {path}",
            "change|update|switch|bump|raise|increase|lower {word} in|inside|of|within {path} to {text}",
            "in {path} change|update|switch|bump|raise|increase|lower {word} to {text}",
        ],
        means: |found| {
            let (key, value, path) = (found.word(0), given(found, 0)?, found.path(0));
            sets(found, &path, &value).then(|| assign(&key, &value, &path)).flatten()
        },
    },
    PatternRow {
        says: &["delete|remove|drop|uninstall [package|dependency|entry] {word} from {path}"],
        means: |found| {
            let name = path_name(&found.path(0)).to_owned();
            let is_list =
                name.ends_with("ignore") || (name.starts_with("requirements") && name.ends_with(".txt"));
            let lines = LineSelection::Holding(found.word(0));
            (is_list && !found.typed().contains(['"', '\'', '`']))
                .then(|| ClauseIntent::Goal(ToolGoal::Remove { path: found.path(0), lines }))
        },
    },
    PatternRow {
        says: &["create|make|touch {n} [new] [empty|blank] files|file [called|named] {paths}"],
        means: |found| {
            let paths = found.paths(0);
            let call = |path: &String| {
                IntendedCall::new(ToolAbility::Write, &[("path", path), ("content", "")])
                    .with("mode", serde_json::json!("create"))
            };
            let is_so = u64::try_from(paths.len()).is_ok_and(|count| count == found.number(0));
            is_so.then(|| {
                ClauseIntent::Goal(ToolGoal::Calls(paths.iter().map(call).collect(), AnswerView::Digest))
            })
        },
    },
    PatternRow {
        says: &["set {word} in|inside|of {path}", "in {path} set {word}"],
        means: |found| {
            let word = found.word(0);
            let (key, value) = word.split_once('=')?;
            assign(key, value.trim_matches(['"', '\'']), &found.path(0))
        },
    },
    PatternRow {
        says: &["set [value|setting|option|variable|constant] [of] {word} to|= {text}"],
        means: |found| assign(&found.word(0), &given(found, 0)?, ""),
    },
    PatternRow {
        says: &["{text} ->|=>|→ {text} in|inside {path}", "in|inside {path} {text} ->|=>|→ {text}"],
        means: |found| {
            let (old, new) = (found.text(0), found.text(1));
            let verbs = ["replace ", "change ", "rename ", "swap ", "move ", "all "];
            let is_bare = !verbs.iter().any(|verb| old.to_lowercase().starts_with(verb));
            let call = IntendedCall::new(
                ToolAbility::Edit,
                &[("path", &found.path(0)), ("old", &old), ("new", &new)],
            );
            (is_bare && !old.is_empty()).then(|| ClauseIntent::Goal(ToolGoal::one(call)))
        },
    },
    PatternRow {
        says: &[
            "replace|change|swap|substitute|rename [every|all|each] [word|text|string|name|function|variable|class] [of] {text} with|by|to|into|-> {text} in|inside|of [both] {path} and [in] {path}",
            "in [both] {path} and [in] {path} replace|change|swap|rename [every|all] [word|text|string] {text} with|by|to|into {text}",
        ],
        means: |found| among(found, [found.path(0), found.path(1)].into()),
    },
    PatternRow {
        says: &[
            "replace|change|swap|substitute|rename [every|all|each] [word|text|string|name|function|variable|class] [of] {text} with|by|to|into|-> {text} in|inside|of {paths}",
        ],
        means: |found| {
            let paths = found.paths(0);
            if paths.len() > 1 { among(found, paths) } else { None }
        },
    },
    PatternRow {
        says: &[
            "replace|change|swap|substitute|rename [every|all|each] [word|text|string] {text} with|by|to|into|-> {text} in|inside|of [both] {folder} and [in] {path}",
            "replace|change|swap|substitute|rename [every|all|each] [word|text|string] {text} with|by|to|into|-> {text} in|inside|of [both] {folder} and [in] {folder}",
        ],
        means: |found| {
            let last = if found.has_folders(2) { found.folder(1) } else { found.path(0) };
            let paths = vec![found.folder(0), last];
            if paths.iter().any(|path| path == ".") { None } else { among(found, paths) }
        },
    },
    PatternRow {
        says: &[
            "comment out line {n} of|in {path}",
            "comment line {n} of|in {path} out",
            "comment line {n} out of|in {path}",
        ],
        means: |found| Some(rewrite(found, LineChange::Comment(LineSelection::Numbered(found.number(0))))),
    },
    PatternRow {
        says: &["uncomment line {n} of|in|from {path}"],
        means: |found| Some(rewrite(found, LineChange::Uncomment(LineSelection::Numbered(found.number(0))))),
    },
    PatternRow {
        says: &[
            "comment out [line] [with|containing|saying|that|which] [says|contains|sets] {text} in|of|inside {path}",
            "in {path} comment out [line] [with|containing] {text}",
        ],
        means: |found| Some(rewrite(found, LineChange::Comment(LineSelection::Holding(plain(found, 0)?)))),
    },
    PatternRow {
        says: &[
            "uncomment [line] [with|containing|saying|that|which] [says|contains|sets] {text} in|of|inside|from {path}",
            "in {path} uncomment [line] [with|containing] {text}",
        ],
        means: |found| Some(rewrite(found, LineChange::Uncomment(LineSelection::Holding(plain(found, 0)?)))),
    },
    PatternRow {
        says: &[
            "delete|remove|erase|drop|cut lines|line {n} to|-|through|until|till {n} from|in|of {path}",
            "in|from {path} delete|remove lines {n} to|-|through|until {n}",
        ],
        means: |found| removal(found, found.number(0), found.number(1)),
    },
    PatternRow {
        says: &["delete|remove|erase|drop|cut lines {word} from|in|of {path}"],
        means: |found| {
            let word = found.word(0);
            let (from, to) = word.split_once(['-', '–'])?;
            removal(found, from.parse().ok()?, to.parse().ok()?)
        },
    },
    PatternRow {
        says: &["delete|remove|erase|drop|cut first|last {n} lines from|in|of {path}"],
        means: |found| if found.says("first") { removal(found, 1, found.number(0)) } else { None },
    },
    PatternRow {
        says: &[
            "delete|remove|erase|drop|cut all|every|each line|lines containing|with|having|mentioning [word|text|string] {text} from|in|of {path}",
            "delete|remove|erase|drop|cut all|every|each line|lines that|which contain|contains|have|has|mention|mentions|say|says [word|text|string] {text} from|in|of {path}",
            "delete|remove|drop lines containing|mentioning [word|text|string] {text} from|in|of {path}",
            "in|from {path} delete|remove all|every line|lines containing|with|mentioning [word|text] {text}",
        ],
        means: |found| {
            let text = plain(found, 0)?;
            Some(ClauseIntent::Goal(ToolGoal::Remove {
                path: found.path(0),
                lines: LineSelection::All(text),
            }))
        },
    },
    PatternRow {
        says: &[
            "append|add|put|write [lines|line|entries] {text} and {text} to|in|into|at [end|bottom] [of] {path}",
        ],
        means: |found| {
            let text = format!("{}\n{}", found.text(0), found.text(1));
            let is_given = found.is_quoted(0) && found.is_quoted(1);
            is_given.then(|| ClauseIntent::Goal(ToolGoal::Append { path: found.path(0), text }))
        },
    },
    PatternRow {
        says: &["append|add|put [lines|line|entries] {word} and {word} to|in|into {path}"],
        means: |found| {
            let path = found.path(0);
            let name = path_name(&path);
            let is_list = name.ends_with("ignore") || name == "requirements.txt";
            let text = format!("{}\n{}", found.word(0), found.word(1));
            is_list.then(|| ClauseIntent::Goal(ToolGoal::Append { path: path.clone(), text }))
        },
    },
    PatternRow {
        says: &[
            "replace|change|overwrite|set line {n} of|in {path} with|to|by {text}",
            "in {path} replace|change line {n} with|to|by {text}",
        ],
        means: |found| replaced_line(found, LineSelection::Numbered(found.number(0))),
    },
    PatternRow {
        says: &["replace|change|overwrite first line of|in {path} with|to|by {text}"],
        means: |found| replaced_line(found, LineSelection::Numbered(1)),
    },
    PatternRow {
        says: &["replace|change|overwrite last line of|in {path} with|to|by {text}"],
        means: |found| replaced_line(found, LineSelection::Last),
    },
    PatternRow {
        says: &[
            "create|make|add [new] folder|directory|dir [called|named] {folder} with|containing [new|empty|blank] {path} [in|inside] [it|there]",
            "create|make|add [new] {folder} folder|directory with|containing [new|empty|blank] {path} [in|inside] [it|there]",
        ],
        means: |found| empty_in(&found.folder(0), &found.path(0)),
    },
    PatternRow {
        says: &[
            "put|add|create|make|place [new] [empty|blank] file {path} in|into|inside it|there",
            "put|add|create|make|place [new] [empty|blank] {path} in|into|inside it|there",
        ],
        means: |found| empty_in(found.it().filter(|it| !is_file_name(it))?, &found.path(0)),
    },
    PatternRow {
        says: &["[file] {path} with|containing|saying [text|content] {text}"],
        means: |found| {
            let call = IntendedCall::new(
                ToolAbility::Write,
                &[("path", &found.path(0)), ("content", &found.text(0))],
            );
            let names = !found.path(0).is_empty() && found.it().is_some();
            (found.is_quoted(0) && names).then(|| ClauseIntent::Goal(ToolGoal::one(call)))
        },
    },
];

fn path_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns whether a change of a word gives a setting a value, and does not replace the word.
fn sets(found: &PatternMatch<'_>, path: &str, value: &str) -> bool {
    let ending = path_name(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_settings =
        ["toml", "json", "yaml", "yml", "ini", "cfg", "conf", "env", "properties"].contains(&ending);
    let is_prose = ["txt", "md", "rst", "adoc", ""].contains(&ending);
    let is_value = value.parse::<f64>().is_ok() || ["true", "false", "True", "False"].contains(&value);
    let key = found.word(0);
    let is_name =
        key.starts_with(|c: char| c.is_alphabetic() || c == '_') && !found.typed().contains([',', '(']);
    // A word in quotation marks is a text.
    let is_quoted = ['"', '\'', '`'].iter().any(|mark| found.typed().contains(&format!("{mark}{key}{mark}")));
    is_name && !is_quoted && (is_settings || (is_value && !is_prose))
}

fn rewrite(found: &PatternMatch<'_>, change: LineChange) -> ClauseIntent {
    ClauseIntent::Goal(ToolGoal::Rewrite { path: found.path(0), change })
}

/// Returns a text that is surely one.
fn plain(found: &PatternMatch<'_>, at: usize) -> Option<String> {
    let vague = ["it", "that", "this", "them", "something", "everything", "line", "all"];
    let words = found.text_words(at);
    let is_vague = matches!(words, [only] if !only.is_quoted() && holds(&vague, &only.lower()));
    let mixed = words.len() > 1 && words.iter().any(super::super::words::WordToken::is_quoted);
    (!is_vague && !mixed && !words.is_empty()).then(|| found.text(at))
}

/// Returns a value of one word, or in quotation marks.
fn given(found: &PatternMatch<'_>, at: usize) -> Option<String> {
    let is_single = found.is_quoted(at) || found.text_words(at).len() == 1;
    plain(found, at).filter(|_| is_single)
}

fn assign(key: &str, value: &str, path: &str) -> Option<ClauseIntent> {
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let change = LineChange::Set { key: key.to_owned(), value: value.to_owned() };
    (is_key && !value.is_empty())
        .then(|| ClauseIntent::Goal(ToolGoal::Rewrite { path: path.to_owned(), change }))
}

fn swap(found: &PatternMatch<'_>, path: &str) -> Option<ClauseIntent> {
    let (key, old, new) = (found.word(0), given(found, 0)?, given(found, 1)?);
    let is_change = old != new && !old.contains('\n') && !new.contains('\n');
    let change = LineChange::Swap { key, old, new };
    is_change.then(|| ClauseIntent::Goal(ToolGoal::Rewrite { path: path.to_owned(), change }))
}

fn among(found: &PatternMatch<'_>, paths: Vec<String>) -> Option<ClauseIntent> {
    let (old, new) = (given(found, 0)?, given(found, 1)?);
    let fits =
        old != new && !old.contains('\n') && !new.contains('\n') && paths.iter().all(|path| !path.is_empty());
    fits.then(|| ClauseIntent::Goal(ToolGoal::Among { old, new, paths }))
}

fn removal(found: &PatternMatch<'_>, from: u64, to: u64) -> Option<ClauseIntent> {
    let lines = LineSelection::Range(from, to);
    (0 < from && from <= to).then(|| ClauseIntent::Goal(ToolGoal::Remove { path: found.path(0), lines }))
}

/// A line is replaced by a text in quotation marks only.
fn replaced_line(found: &PatternMatch<'_>, lines: LineSelection) -> Option<ClauseIntent> {
    let text = found.text(0);
    let change = LineChange::Replace(lines, text.clone());
    (found.is_quoted(0) && !text.contains('\n')).then(|| rewrite(found, change))
}

fn empty_in(folder: &str, name: &str) -> Option<ClauseIntent> {
    let path = format!("{folder}/{name}");
    let call = IntendedCall::new(ToolAbility::Write, &[("path", &path), ("content", "")])
        .with("mode", serde_json::json!("create"));
    (folder != "." && !name.is_empty() && !name.contains('/'))
        .then(|| ClauseIntent::Goal(ToolGoal::one(call)))
}
