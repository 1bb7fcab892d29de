//! Compares a clause with the pattern of a sentence.
//!
//! A pattern is words: `read|show` is one of them, `[all]` may be left out, `{path}` is a slot. A pattern fits when it
//! accounts for every word of the clause, apart from articles and courtesies: a sentence that is understood in part is
//! not understood.
//! Invariant: the work for one comparison is bounded.

use std::ops::Range;

use super::lexicon::{ARTICLES, FILE_KINDS, HERE, NO_NAMES, NUMBERS, TRAILERS, holds};
use super::objects::{has_extension, is_pattern, is_url, path_of, tidy_path};
use super::words::{WordToken, written};

/// How many elements are compared for one pattern, at most.
const STEPS_MAX: usize = 20_000;

/// Words before "file" that say which file, and are not its name.
const SORTS: &[&str] = &[
    "new",
    "empty",
    "text",
    "blank",
    "same",
    "other",
    "every",
    "largest",
    "biggest",
    "attached",
    "single",
    "any",
    "each",
    "all",
    "which",
    "what",
    "no",
    "one",
    "first",
    "last",
    "whole",
    "smallest",
    "shortest",
    "longest",
    "oldest",
    "newest",
    "latest",
    "recent",
    "current",
    "wrong",
    "right",
    "main",
    "second",
    "next",
    "previous",
    "another",
    "important",
    "modified",
    "changed",
    "hidden",
];

/// What a pattern found in a clause.
#[derive(Debug)]
pub(super) struct PatternMatch<'w> {
    words: &'w [WordToken],
    slots: Vec<(SlotKind, Range<usize>)>,
    it: Option<&'w str>,
    follows: bool,
}

/// What came before a clause.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MatchContext<'w> {
    /// The file that was named last.
    pub(super) it: Option<&'w str>,
    /// Whether something was looked for or run that the clause can speak of.
    pub(super) follows: bool,
    /// Whether a name without an ending can be a file.
    pub(super) loose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotKind {
    Path,
    Paths,
    Folder,
    Word,
    Text,
    Number,
    Kind,
    Glob,
    Url,
}

enum PatternElement<'p> {
    One(&'p str),
    Maybe(&'p str),
    Slot(SlotKind),
}

impl<'p> PatternElement<'p> {
    fn read(text: &'p str) -> Self {
        if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return Self::Maybe(inner);
        }
        match text {
            "{path}" => Self::Slot(SlotKind::Path),
            "{paths}" => Self::Slot(SlotKind::Paths),
            "{folder}" => Self::Slot(SlotKind::Folder),
            "{word}" => Self::Slot(SlotKind::Word),
            "{text}" => Self::Slot(SlotKind::Text),
            "{n}" => Self::Slot(SlotKind::Number),
            "{kind}" => Self::Slot(SlotKind::Kind),
            "{glob}" => Self::Slot(SlotKind::Glob),
            "{url}" => Self::Slot(SlotKind::Url),
            words => Self::One(words),
        }
    }
}

/// Compares `words` with `pattern`.
pub(super) fn find<'w>(
    pattern: &str,
    words: &'w [WordToken],
    context: MatchContext<'w>,
) -> Option<PatternMatch<'w>> {
    let MatchContext { it, follows, loose } = context;
    let elements: Vec<PatternElement<'_>> = pattern.split(' ').map(PatternElement::read).collect();
    let mut search = PatternSearch { words, it, loose, slots: Vec::new(), steps: 0 };
    search.fits(&elements, 0).then_some(PatternMatch { words, slots: search.slots, it, follows })
}

struct PatternSearch<'w> {
    words: &'w [WordToken],
    it: Option<&'w str>,
    loose: bool,
    slots: Vec<(SlotKind, Range<usize>)>,
    steps: usize,
}

impl PatternSearch<'_> {
    fn fits(&mut self, elements: &[PatternElement<'_>], at: usize) -> bool {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return false;
        }
        let Some((first, rest)) = elements.split_first() else { return self.ends(at) };
        match first {
            PatternElement::One(words) => self
                .starts(at)
                .into_iter()
                .any(|from| self.is_one_of(words, from) && self.fits(rest, from + 1)),
            PatternElement::Maybe(words) => {
                let present = self
                    .starts(at)
                    .into_iter()
                    .any(|from| self.is_one_of(words, from) && self.fits(rest, from + 1));
                present || self.fits(rest, at)
            }
            PatternElement::Slot(slot) => self.spans(*slot, at).into_iter().any(|span| {
                let end = span.end;
                self.slots.push((*slot, span));
                let fits = self.fits(rest, end);
                if !fits {
                    self.slots.pop();
                }
                fits
            }),
        }
    }

    fn lower(&self, at: usize) -> String {
        self.words.get(at).map(WordToken::lower).unwrap_or_default()
    }

    fn is_one_of(&self, words: &str, at: usize) -> bool {
        let lower = self.lower(at);
        !lower.is_empty() && words.split('|').any(|word| word == lower)
    }

    /// Returns where the next element may begin: here, or behind articles.
    fn starts(&self, at: usize) -> Vec<usize> {
        let skipped = (at..self.words.len()).take_while(|at| holds(ARTICLES, &self.lower(*at)));
        [at].into_iter().chain(skipped.map(|at| at + 1)).collect()
    }

    /// Returns whether nothing is left but courtesies.
    fn ends(&self, at: usize) -> bool {
        let Some(rest) = self.words.get(at..).filter(|rest| !rest.is_empty()) else { return true };
        TRAILERS.iter().any(|trailer| {
            let parts: Vec<&str> = trailer.split(' ').collect();
            parts.len() <= rest.len()
                && parts.iter().zip(rest).all(|(part, word)| *part == word.lower())
                && self.ends(at + parts.len())
        })
    }

    fn spans(&self, slot: SlotKind, at: usize) -> Vec<Range<usize>> {
        match slot {
            SlotKind::Text => (at + 1..=self.words.len()).map(|end| at..end).collect(),
            SlotKind::Word => self.single(at, |word| !word.text.is_empty()),
            SlotKind::Number => self.single(at, |word| number(word).is_some()),
            SlotKind::Glob => self.single(at, |word| is_pattern(&word.text)),
            SlotKind::Url => self.single(at, |word| is_url(&word.text)),
            SlotKind::Kind => self.single(at, |word| kind(word).is_some()),
            SlotKind::Path => self.path_spans(at),
            SlotKind::Paths => self.paths_spans(at),
            SlotKind::Folder => self.folder_spans(at),
        }
    }

    fn single(&self, at: usize, is_it: impl Fn(&WordToken) -> bool) -> Vec<Range<usize>> {
        let starts = self.starts(at).into_iter();
        starts.filter(|at| self.words.get(*at).is_some_and(&is_it)).map(|at| at..at + 1).collect()
    }

    /// Skips words such as "the file called", which say what comes.
    fn behind(&self, at: usize, introducing: &[&str]) -> usize {
        let introduces = |at: &usize| {
            let lower = self.lower(*at);
            holds(ARTICLES, &lower) || holds(introducing, &lower)
        };
        at + (at..self.words.len()).take_while(introduces).count()
    }

    fn path_spans(&self, at: usize) -> Vec<Range<usize>> {
        let introducing = ["file", "files", "named", "called", "document", "script"];
        let naming = ["file", "named", "called", "document", "script"];
        let points_back = self.it.is_some() && holds(&["it", "that", "this"], &self.lower(at));
        if points_back && self.words.get(at + 1).is_none_or(|word| path_of(word).is_none()) {
            let end = at + 1 + usize::from(self.lower(at + 1) == "file");
            return std::iter::once(at..end).collect();
        }
        let from = self.behind(at, &introducing);
        let named = from > at
            && holds(&naming, &self.lower(from - 1))
            && self.words.get(from).is_some_and(|word| is_bare(word) && self.lower(from) != "in");
        let is_path = self.words.get(from).is_some_and(|word| path_of(word).is_some()) || named;
        let named_before = self.words.get(from).is_some_and(|word| {
            let lower = word.lower();
            is_bare(word) && !word.is_quoted() && !holds(SORTS, &lower) && kind(word).is_none()
        });
        if !is_path && named_before && self.lower(from + 1) == "file" {
            return std::iter::once(at..from + 2).collect();
        }
        if !is_path && self.loose && named_before && self.names_a_place(from) {
            return std::iter::once(at..from + 1).collect();
        }
        if !is_path {
            return Vec::new();
        }
        let described = holds(&["file", "script", "document"], &self.lower(from + 1));
        let mut spans: Vec<Range<usize>> = if described {
            vec![at..from + 2, at..from + 1]
        } else {
            std::iter::once(at..from + 1).collect()
        };
        if let Some(end) = self.folder_behind(from) {
            spans.push(at..end);
        }
        spans
    }

    /// Returns whether a bare name ends the clause or its place: "in core", "the logo".
    fn names_a_place(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|at| self.lower(at)).unwrap_or_default();
        let leads = ["in", "of", "from", "the", "inside", "rm", "delete", "remove", "is"];
        let next = self.lower(at + 1);
        let ends = at + 1 >= self.words.len() || holds(&["to", "with", "from", "by", "into", "and"], &next);
        let code = ["code", "source", "project", "repo", "history", "production", "prod", "general", "total"];
        holds(&leads, &before) && ends && !holds(&code, &self.lower(at)) && !holds(HERE, &self.lower(at))
    }

    /// Returns the end of "helper.py in the folder tests", where a file is named with the folder that holds it.
    fn folder_behind(&self, at: usize) -> Option<usize> {
        let word = self.words.get(at)?;
        let is_in = holds(&["in", "inside", "under"], &self.lower(at + 1));
        if word.text.contains('/') || !has_extension(&word.text) || !is_in {
            return None;
        }
        let nouns = ["folder", "directory", "dir"];
        let name = self.behind(at + 2, &nouns);
        let folder = self.words.get(name)?;
        let fits = is_bare(folder) && !has_extension(&folder.text) && !holds(ARTICLES, &folder.lower());
        fits.then(|| name + 1 + usize::from(holds(&nouns, &self.lower(name + 1))))
    }

    /// Returns the longest list of paths first.
    fn paths_spans(&self, at: usize) -> Vec<Range<usize>> {
        let mut ends = Vec::new();
        let mut next = self.path_spans(at).first().map(|span| span.end);
        while let Some(end) = next {
            ends.push(end);
            let from = if holds(&["and", "&", "or"], &self.lower(end)) { end + 1 } else { end };
            next = self.path_spans(from).first().map(|span| span.end);
        }
        ends.into_iter().rev().map(|end| at..end).collect()
    }

    fn folder_spans(&self, at: usize) -> Vec<Range<usize>> {
        let nouns = ["folder", "directory", "dir", "subfolder", "subdirectory"];
        let sized = ["current", "whole", "entire", "root", "working", "same", "project's"];
        let from = self.behind(at, &sized);
        let mut spans = Vec::new();
        if holds(HERE, &self.lower(from)) {
            let more = usize::from(holds(&["folder", "directory", "root"], &self.lower(from + 1)));
            spans.push(at..from + 1 + more);
        }
        let from = self.behind(at, &["folder", "directory", "dir", "subfolder", "named", "called"]);
        let is_named = self.words.get(from).is_some_and(|word| path_of(word).is_some() || is_bare(word));
        if is_named {
            if holds(&nouns, &self.lower(from + 1)) {
                spans.push(at..from + 2);
            }
            spans.push(at..from + 1);
        }
        spans
    }
}

/// Reads "helper.py in the folder tests" as one path.
fn in_folder(words: &[WordToken]) -> Option<String> {
    let at = words.iter().position(|word| holds(&["in", "inside", "under"], &word.lower()))?;
    let nouns = ["folder", "directory", "dir"];
    let mut names = words[at + 1..].iter().filter(|word| {
        let lower = word.lower();
        !holds(ARTICLES, &lower) && !holds(&nouns, &lower)
    });
    let (file, folder) = (words[..at].iter().filter_map(path_of).next_back()?, names.next()?);
    Some(format!("{}/{file}", tidy_path(&folder.text)))
}

/// Returns whether a word could be a name without an extension: `src`, `my-branch`.
fn is_bare(word: &WordToken) -> bool {
    let lower = word.lower();
    word.is_quoted()
        || (!word.text.starts_with('-')
            && !holds(HERE, &lower)
            && !holds(ARTICLES, &lower)
            && !holds(NO_NAMES, &lower)
            && word.text.chars().all(|c| c.is_alphanumeric() || "-_.+/".contains(c)))
}

fn number(word: &WordToken) -> Option<u64> {
    let lower = word.lower();
    let named = NUMBERS.iter().find(|(name, _)| *name == lower).map(|(_, number)| *number);
    word.text.parse().ok().or(named).filter(|number| *number > 0)
}

fn kind(word: &WordToken) -> Option<&'static str> {
    let lower = word.lower();
    let bare = lower.strip_prefix('.').unwrap_or(&lower);
    FILE_KINDS
        .iter()
        .find(|(said, extension)| *said == bare || *extension == bare)
        .map(|(_, extension)| *extension)
}

/// Values are asked for by their kind: `number(1)` is the second number of the pattern.
impl PatternMatch<'_> {
    fn slot(&self, kinds: &[SlotKind], at: usize) -> &[WordToken] {
        let span = self.slots.iter().filter(|(kind, _)| kinds.contains(kind)).nth(at);
        span.and_then(|(_, span)| self.words.get(span.clone())).unwrap_or_default()
    }

    /// Returns whether the clause begins with a word.
    pub(super) fn begins(&self, word: &str) -> bool {
        self.words.first().is_some_and(|first| first.lower() == word)
    }

    /// Returns the clause as it was typed.
    pub(super) fn typed(&self) -> String {
        written(self.words)
    }

    /// Returns whether a word of the language is said.
    pub(super) fn says(&self, said: &str) -> bool {
        self.words.iter().any(|word| word.lower() == said)
    }

    /// Returns whether something was looked for or run before.
    pub(super) fn follows(&self) -> bool {
        self.follows
    }

    /// Returns the file that was named last.
    pub(super) fn it(&self) -> Option<&str> {
        self.it
    }

    /// Returns whether the clause is one word.
    pub(super) fn is_alone(&self) -> bool {
        self.words.len() == 1
    }

    /// Returns whether the pattern has a number.
    pub(super) fn has_number(&self) -> bool {
        self.slots.iter().any(|(kind, _)| *kind == SlotKind::Number)
    }

    /// Returns whether the pattern has so many folders.
    pub(super) fn has_folders(&self, count: usize) -> bool {
        self.slots.iter().filter(|(kind, _)| *kind == SlotKind::Folder).count() >= count
    }

    /// Returns whether the clause speaks of every place.
    pub(super) fn says_all(&self) -> bool {
        self.words.iter().any(|word| holds(&["everywhere", "all", "every", "each"], &word.lower()))
    }

    /// Returns a file; empty where the pattern has none.
    pub(super) fn path(&self, at: usize) -> String {
        self.paths(at).into_iter().next().unwrap_or_default()
    }

    /// Returns the words with which a file was named.
    pub(super) fn path_words(&self, at: usize) -> &[WordToken] {
        self.slot(&[SlotKind::Path, SlotKind::Paths], at)
    }

    /// Returns a list of files.
    pub(super) fn paths(&self, at: usize) -> Vec<String> {
        let words = self.path_words(at);
        if let Some(path) = in_folder(words) {
            return vec![path];
        }
        let named: Vec<String> = words.iter().filter_map(path_of).collect();
        if !named.is_empty() {
            return named;
        }
        match (words, self.it) {
            ([], _) => Vec::new(),
            ([only], _) if !holds(&["it", "that", "this"], &only.lower()) => vec![tidy_path(&only.text)],
            ([_, .., last], _) if last.lower() != "file" => vec![tidy_path(&last.text)],
            ([.., name, _], _) if !holds(ARTICLES, &name.lower()) && name.lower() != "it" => {
                vec![tidy_path(&name.text)]
            }
            (_, it) => it.map(str::to_owned).into_iter().collect(),
        }
    }

    /// Returns a folder; `.` is the workspace.
    pub(super) fn folder(&self, at: usize) -> String {
        let words = self.slot(&[SlotKind::Folder], at);
        let nouns = ["folder", "directory", "dir", "subfolder", "subdirectory", "named", "called"];
        let sized = ["current", "whole", "entire", "root", "working", "same", "project's"];
        let name = words.iter().find(|word| {
            let lower = word.lower();
            word.is_quoted() || !(holds(ARTICLES, &lower) || holds(&nouns, &lower) || holds(&sized, &lower))
        });
        match name {
            Some(name) if !holds(HERE, &name.lower()) => tidy_path(&name.text),
            Some(_) | None => ".".to_owned(),
        }
    }

    /// Returns a word.
    pub(super) fn word(&self, at: usize) -> String {
        self.slot(&[SlotKind::Word, SlotKind::Glob, SlotKind::Url], at)
            .last()
            .map(|word| word.text.clone())
            .unwrap_or_default()
    }

    /// Returns a text: the words in quotation marks, else the words as they were typed.
    pub(super) fn text(&self, at: usize) -> String {
        match self.text_words(at) {
            [only] if only.is_quoted() => only.text.clone(),
            words => {
                let text = written(words);
                let text = text.trim_end_matches(',');
                let ends = text.ends_with('.') && !text.ends_with("..") && !text.ends_with(" .");
                text.strip_suffix('.').filter(|_| ends).unwrap_or(text).to_owned()
            }
        }
    }

    /// Returns whether a text is in quotation marks, all of it.
    pub(super) fn is_quoted(&self, at: usize) -> bool {
        matches!(self.text_words(at), [only] if only.is_quoted())
    }

    /// Returns the words of a text.
    pub(super) fn text_words(&self, at: usize) -> &[WordToken] {
        self.slot(&[SlotKind::Text], at)
    }

    /// Returns a number.
    pub(super) fn number(&self, at: usize) -> u64 {
        self.slot(&[SlotKind::Number], at).iter().find_map(number).unwrap_or(1)
    }

    /// Returns the extension of a kind of files.
    pub(super) fn extension(&self, at: usize) -> &'static str {
        self.slot(&[SlotKind::Kind], at).iter().find_map(kind).unwrap_or("txt")
    }
}
