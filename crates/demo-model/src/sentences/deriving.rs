//! Sentences that want something written that another file holds, or that was found before.

use super::super::intent::{ClauseIntent, TextPart, ToolGoal};
use super::super::objects::tidy_path;
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "create|make|write|add|save|generate [new] {path} with|containing|from|holding [only|its|their|same|whole|entire|full|all] [of] first|last {n} lines of|from|in|as {path}",
            "create|make|write|add|save|generate [new] {path} with|containing|from|holding|that|which [has|contains] [only|its|their|same|whole|entire|full|all|first|last] [first|last] line|heading|headings|headlines|title|content|contents|text of|from|in|as {path}",
        ],
        means: |found| extract(&found.path(1), found, &found.path(0)),
    },
    PatternRow {
        says: &[
            "copy|write|save|put|store|extract|take [only|its|their|whole|entire|full|all] [of] first|last {n} lines of|from|in {path} to|into|in|as|and [put|write|save] [it|them] [new|to|into|in] {path}",
            "copy|write|save|put|store|extract|take [only|its|their|whole|entire|full|all|first|last] [first|last] line|heading|headings|headlines|title|content|contents|text of|from|in {path} to|into|in|as [new] {path}",
        ],
        means: |found| extract(&found.path(0), found, &found.path(1)),
    },
    PatternRow {
        says: &[
            "create|make|write|add|save|generate [new] {path} with|containing|from|holding [only|its|their|same] first|last {n} lines [of|from] [it]",
            "create|make|write|add|save|generate [new] {path} with|containing|from|holding its|their|same|first|last [first|last|whole|full|same] line|heading|headings|headlines|title|content|contents|text [of|from|in] [it]",
            "create|make|write|add|save|generate [new] {path} with|containing|from|holding line|heading|headings|headlines|title|content|contents of|from|in it",
            "copy|write|save|put|store|extract its|their|first|last [first|last|whole|full] line|heading|headings|headlines|title|content|contents|text [of|from|in] [it] to|into|in|as [new] {path}",
            "copy|write|save|put|store|extract line|heading|headings|headlines|title|content|contents of|from|in it to|into|in|as [new] {path}",
        ],
        means: |found| {
            let from = found.it()?.to_owned();
            extract(&from, found, &found.path(0))
        },
    },
    PatternRow {
        says: &[
            "write|save|put|store|copy|dump|collect [all] [of] them|it|result|results|output|matches|list|log|everything|lines|names|found [found] to|into|in|as [new|text] {path}",
            "write|save|put|store|copy|dump|redirect its|their|the output|result|results|matches to|into|in|as [new|text] {path}",
            "write|save|put|store|copy|dump that|this|these|those to|into|in|as [new|text] {path}",
            "create|make|write|save [new] {path} with|containing|from|holding it|them|result|results|output|matches|list [in] [it]",
        ],
        means: |found| {
            found
                .follows()
                .then(|| ClauseIntent::Goal(ToolGoal::Keep { part: TextPart::Whole, to: found.path(0) }))
        },
    },
];

fn extract(from: &str, found: &PatternMatch<'_>, to: &str) -> Option<ClauseIntent> {
    let is_usable = !from.is_empty() && !to.is_empty() && from != to && tidy_path(from) != ".";
    let count = usize::try_from(if found.has_number() { found.number(0) } else { 1 }).ok()?;
    let part = match () {
        () if found.says("last") => TextPart::Last(count),
        () if found.says("line") || found.has_number() => TextPart::First(count),
        () if found.says("title") || found.says("heading") => TextPart::Title,
        () if found.says("headings") || found.says("headlines") => TextPart::Headings,
        () => TextPart::Whole,
    };
    is_usable
        .then(|| ClauseIntent::Goal(ToolGoal::Extract { from: from.to_owned(), part, to: to.to_owned() }))
}
