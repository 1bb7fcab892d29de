//! Sentences of few words, in the manner of a shell or an editor.

use serde_json::json;

use super::super::calls::{escaped, read_call, read_lines_call, search_call, text_search_call};
use super::super::intent::{
    AnswerView, ClauseIntent, IntendedCall, LineChange, LineSelection, ToolAbility, ToolGoal,
};
use super::super::lexicon::{ARTICLES, holds};
use super::super::objects::has_extension;
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "head {word} of|from {path}",
            "head {path} {n} lines",
            "head [of] {path} first {n} lines",
            "top {n} of {path}",
        ],
        means: |found| {
            let count = if found.has_number() { found.number(0) } else { dashed(&found.word(0))? };
            Some(whole(read_lines_call(&found.path(0), 1..=count)))
        },
    },
    PatternRow {
        says: &["tail {word} of|from {path}", "tail {path} [last] {n} lines", "bottom {n} of {path}"],
        means: |found| {
            let count = if found.has_number() { found.number(0) } else { dashed(&found.word(0))? };
            Some(ClauseIntent::Goal(ToolGoal::Calls(
                vec![read_call(&found.path(0))],
                AnswerView::Last(count),
            )))
        },
    },
    PatternRow {
        says: &[
            "print|show|read|display|give everything|all|lines [lines] after|from line {n} of|in {path}",
            "print|show|read {path} from line {n} [on|onwards]",
        ],
        means: |found| {
            let first = found.number(0) + u64::from(found.says("after"));
            let call = read_call(&found.path(0)).with("from", json!(first));
            Some(whole(call))
        },
    },
    PatternRow {
        says: &[
            "grep|rg|ag -r|-rn|-n|-rni|-i|-l|-R|-nr|-w|-in {word} in|inside|under {folder}",
            "grep|rg|ag {word} in|inside|under {folder}",
            "grep|rg|ag -r|-rn|-n|-rni|-i|-l|-R|-nr|-w|-in {word}",
        ],
        means: |found| {
            Some(ClauseIntent::Goal(ToolGoal::one(text_search_call(&found.word(0), &found.folder(0)))))
        },
    },
    PatternRow {
        says: &["loc|lines|linecount of|in {path}", "loc {path}", "lines {path}"],
        means: |found| {
            Some(ClauseIntent::Goal(ToolGoal::Calls(vec![read_call(&found.path(0))], AnswerView::Counts)))
        },
    },
    PatternRow {
        says: &[
            "how big|large|heavy is {path}",
            "how big|large|heavy is the {word} file|image|picture|binary",
            "size of the {word} file|image|picture",
        ],
        means: |found| {
            let path = if found.path(0).is_empty() { found.word(0) } else { found.path(0) };
            Some(size(&path))
        },
    },
    PatternRow {
        says: &["how big|large|heavy is {word}", "what is size of {word}", "size of {word}"],
        means: |found| {
            let name = found.word(0);
            let general = [
                "it",
                "this",
                "that",
                "here",
                "project",
                "repo",
                "repository",
                "folder",
                "codebase",
                "directory",
                "everything",
                "workspace",
                "code",
            ];
            let is_name = !holds(ARTICLES, &name.to_lowercase())
                && !general.contains(&name.to_lowercase().as_str())
                && name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
            is_name.then(|| size(&name))
        },
    },
    PatternRow {
        says: &[
            "[list|show|find] [all] [any] todo|todos|fixme|fixmes or|and|& todo|todos|fixme|fixmes [comments|comment|notes] [left]",
            "[are|is] [there] [any] todo|todos|fixme|fixmes or|and todo|todos|fixme|fixmes [comments|comment] [left] [in] [code|project|repo|source]",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::one(search_call(r"\b(TODO|FIXME)", ".")))),
    },
    PatternRow {
        says: &[
            "[are|is] [there] any todo|todos [comments|comment] [left|remaining] in [source|sources|whole] [code|project|repo|files]",
        ],
        means: |_| {
            Some(ClauseIntent::Goal(ToolGoal::Calls(vec![search_call(r"TODO", ".")], AnswerView::YesNo)))
        },
    },
    PatternRow {
        says: &[
            "list|show|print|find [all] defs|fns|funcs|functions|methods in|of|from {path}",
            "defs|fns|funcs|functions in|of {path}",
        ],
        means: |found| {
            let pattern = r"^\s*(pub(\(\w+\))? |export |default |async |static |const |unsafe )*(async )?(def|fn|func|function|sub)\s";
            Some(ClauseIntent::Goal(ToolGoal::one(search_call(pattern, &found.path(0)))))
        },
    },
    PatternRow {
        says: &[
            "[what|which|show|find] [is|was] most recently touched|changed|modified|edited|updated file",
            "newest|latest file",
        ],
        means: |_| {
            let argv = ["find", ".", "-type", "f", "-not", "-path", "*/.*", "-printf", "%T+ %p\\n"];
            Some(ClauseIntent::Goal(ToolGoal::Calls(
                vec![super::super::intent::run_call(argv)],
                AnswerView::Newest,
            )))
        },
    },
    PatternRow {
        says: &[
            "what|which make|makefile targets have we|i|you [got]",
            "targets",
            "[list|show] [make] targets",
        ],
        means: |_| Some(ClauseIntent::Goal(ToolGoal::Manifests(super::super::intent::FileSection::Targets))),
    },
    PatternRow {
        says: &[
            "md5|md5sum|sha256|sha256sum|sha1|sha1sum [sum|hash|checksum] [of|for] {path}",
            "what is md5|sha256|sha1 [sum|hash|checksum] of {path}",
            "checksum of {path}",
        ],
        means: |found| {
            let program = match () {
                () if found.typed().to_lowercase().contains("md5") => "md5sum",
                () if found.typed().to_lowercase().contains("sha1") => "sha1sum",
                () => "sha256sum",
            };
            Some(ClauseIntent::Goal(ToolGoal::run([program, &found.path(0)])))
        },
    },
    PatternRow {
        says: &["what changed in {word}", "show {word}", "what is in {word}"],
        means: |found| {
            let word = found.word(0);
            let is_revision = word == "HEAD" || word.starts_with("HEAD~") || word.starts_with("HEAD^");
            let call = IntendedCall::new(ToolAbility::Git, &[("subcommand", "show")])
                .with("revisions", json!([word]));
            is_revision.then(|| whole(call))
        },
    },
    PatternRow { says: &["{word} in|on {path}", "{word} {path}"], means: substitution },
    PatternRow {
        says: &[
            "change|update|set|swap|switch|replace [value|default] [of] {word} in|inside|of {path} from {text} to|with|into {text}",
            "swap|change|replace [value] [of] {word} from {text} to|with|into {text} in|inside|of {path}",
        ],
        means: |found| {
            let (key, old, new) = (found.word(0), single(found, 0)?, single(found, 1)?);
            let change = if key == "version" {
                LineChange::Set { key, value: new.clone() }
            } else {
                LineChange::Swap { key, old: old.clone(), new: new.clone() }
            };
            let is_change = old != new && !old.contains('\n') && !new.contains('\n');
            is_change.then(|| ClauseIntent::Goal(ToolGoal::Rewrite { path: found.path(0), change }))
        },
    },
    PatternRow {
        says: &[
            "change|update|set|swap|switch|bump [project|package] version [number] in|of {path} from {word} to {word}",
            "bump [project|package] version [number] from {word} to {word} in|of {path}",
        ],
        means: |found| {
            let change = LineChange::Set { key: "version".to_owned(), value: found.word(1) };
            Some(ClauseIntent::Goal(ToolGoal::Rewrite { path: found.path(0), change }))
        },
    },
    PatternRow {
        says: &[
            "in {path} change|update|switch|replace port|number|value|version {word} to|with|by {word}",
            "change|update|switch port|number {word} to|with|by {word} in {path}",
        ],
        means: |found| {
            let (old, new) = (found.word(0), found.word(1));
            let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
            (old != new && is_number(&old) && is_number(&new))
                .then(|| ClauseIntent::Goal(ToolGoal::Everywhere { old, new, place: found.path(0) }))
        },
    },
    PatternRow {
        says: &[
            "find|show|list [every|all|each] [single] place|places|line|lines|spot|spots where {word} is|are|gets [used|mentioned|called|referenced|set|imported]",
            "find|show|list [every|all|each] mention|mentions|use|uses of {word}",
        ],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::one(search_call(&escaped(&found.word(0)), ".")))),
    },
    PatternRow {
        says: &[
            "delete|remove|drop line|lines that|which mention|mentions|mentioning it|that [from|in] {path}",
            "delete|remove|drop line mentioning it from|in {path}",
        ],
        means: |found| {
            let it = found.it()?;
            let name = it.rsplit('/').next().unwrap_or(it).to_owned();
            let is_other = found.path(0) != it;
            is_other.then(|| {
                ClauseIntent::Goal(ToolGoal::Remove {
                    path: found.path(0),
                    lines: LineSelection::Holding(name),
                })
            })
        },
    },
    PatternRow {
        says: &["delete|remove|drop line with|containing|for|of {word}"],
        means: |found| {
            let path = found.it()?.to_owned();
            let is_file = super::super::objects::is_file_name(&path);
            is_file.then(|| {
                ClauseIntent::Goal(ToolGoal::Remove { path, lines: LineSelection::Holding(found.word(0)) })
            })
        },
    },
    PatternRow {
        says: &["mkdir {word} {word}"],
        means: |found| {
            let (first, second) = (found.word(0), found.word(1));
            let is_name =
                |name: &str| !name.starts_with('-') && !holds(&["the", "my", "new", "folder"], name);
            (is_name(&first) && is_name(&second))
                .then(|| ClauseIntent::Goal(ToolGoal::run(["mkdir", "-p", &first, &second])))
        },
    },
    PatternRow {
        says: &["create|make [new] [empty|blank] {paths}"],
        means: |found| {
            let call = |path: &String| {
                IntendedCall::new(ToolAbility::Write, &[("path", path), ("content", "")])
                    .with("mode", json!("create"))
            };
            let paths = found.paths(0);
            let are_new = paths.len() > 1 && paths.iter().all(|path| has_extension(path));
            are_new.then(|| {
                ClauseIntent::Goal(ToolGoal::Calls(paths.iter().map(call).collect(), AnswerView::Digest))
            })
        },
    },
    PatternRow {
        says: &["rm|del {path}"],
        means: |found| Some(ClauseIntent::Goal(ToolGoal::Delete(found.path(0)))),
    },
];

fn whole(call: IntendedCall) -> ClauseIntent {
    ClauseIntent::Goal(ToolGoal::Calls(vec![call], AnswerView::Whole))
}

fn size(path: &str) -> ClauseIntent {
    ClauseIntent::Goal(ToolGoal::Calls(vec![read_call(path)], AnswerView::Size))
}

/// Reads `-5`.
fn dashed(word: &str) -> Option<u64> {
    word.strip_prefix('-')?.trim_start_matches('n').parse().ok().filter(|count| *count > 0)
}

/// Returns a value of one word, or in quotation marks.
fn single(found: &PatternMatch<'_>, at: usize) -> Option<String> {
    (found.is_quoted(at) || found.text_words(at).len() == 1).then(|| found.text(at))
}

/// Reads `s/old/new/g` and `:%s/old/new/g`; only plain texts are replaced, all of them or the one.
fn substitution(found: &PatternMatch<'_>) -> Option<ClauseIntent> {
    let word = found.word(0);
    let rest = word.trim_start_matches([':', '%']).strip_prefix("s/")?;
    let parts: Vec<&str> = rest.split('/').collect();
    let (old, new, flags) = match parts.as_slice() {
        [old, new] => (*old, *new, ""),
        [old, new, flags] => (*old, *new, *flags),
        _ => return None,
    };
    let is_plain =
        !old.is_empty() && !old.contains(['\\', '*', '[', '^', '$', '+', '(']) && !new.contains(['\\', '&']);
    let call = IntendedCall::new(ToolAbility::Edit, &[("path", &found.path(0)), ("old", old), ("new", new)]);
    let call = if flags.contains('g') { call.with("all", json!(true)) } else { call };
    (is_plain && matches!(flags, "" | "g")).then(|| ClauseIntent::Goal(ToolGoal::one(call)))
}
