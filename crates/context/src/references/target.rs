//! The target of a reference: where it ends in a text, and what it names.
//!
//! Invariant: a target in quotes is everything between them; one without quotes ends at a space, and punctuation at its
//! end belongs to the sentence around it.

use palyra_types::context_reference::{ReferenceError, ReferenceKind};

use super::{ContextReference, LineRange, TARGET_BYTES_MAX};

/// The longest name of a run: `last~N` and ids are shorter.
const RUN_CHARS_MAX: usize = 32;

/// A target as the text has it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrittenTarget {
    /// What is named, without quotes and lines.
    value: String,
    /// The lines, where some are written.
    lines: Option<Result<LineRange, ReferenceError>>,
    /// Its length in the text, quotes and lines included.
    pub(super) bytes: usize,
}

impl WrittenTarget {
    /// Reads the target at the beginning of a text, the one behind the colon; `None` when there is none.
    pub(super) fn read(text: &str, kind: ReferenceKind) -> Option<Self> {
        if text.starts_with('"') { Self::read_quoted(text, kind) } else { Self::read_plain(text, kind) }
    }

    fn read_quoted(text: &str, kind: ReferenceKind) -> Option<Self> {
        let mut value = String::new();
        let mut chars = text.char_indices().skip(1).peekable();
        loop {
            match chars.next()? {
                (end, '"') => {
                    let behind = &text[end + 1..];
                    let lines = if has_lines(kind) { lines_at_start(behind) } else { None };
                    let (lines, length) = lines.unzip();
                    return Some(Self { value, lines, bytes: end + 1 + length.unwrap_or_default() });
                }
                (_, '\n' | '\r') => return None,
                (_, '\\') => match chars.next_if(|(_, c)| matches!(*c, '"' | '\\')) {
                    Some((_, escaped)) => value.push(escaped),
                    None => value.push('\\'),
                },
                (_, c) => value.push(c),
            }
        }
    }

    fn read_plain(text: &str, kind: ReferenceKind) -> Option<Self> {
        let mut end = text.find(ends_plain_target).unwrap_or(text.len());
        // In a list without spaces the next reference begins behind the comma.
        let next = [",@", ";@"].iter().filter_map(|between| text[..end].find(between)).min();
        end = next.unwrap_or(end);
        let written = without_punctuation(&text[..end]);
        if written.is_empty() {
            return None;
        }
        let split = if has_lines(kind) { split_lines(written) } else { None };
        let (value, lines) = split.map_or((written, None), |(path, lines)| (path, Some(lines)));
        Some(Self { value: value.to_owned(), lines, bytes: written.len() })
    }

    /// Returns the reference that it makes.
    pub(super) fn reference(self, kind: ReferenceKind) -> Result<ContextReference, ReferenceError> {
        let Self { value, lines, .. } = self;
        if value.trim().is_empty() || value.len() > TARGET_BYTES_MAX || value.contains('\0') {
            return Err(ReferenceError::InvalidTarget);
        }
        match kind {
            ReferenceKind::File => Ok(ContextReference::File { path: value, lines: lines.transpose()? }),
            ReferenceKind::Folder => Ok(ContextReference::Folder { path: value }),
            ReferenceKind::Diff => Ok(ContextReference::Diff { path: Some(value) }),
            ReferenceKind::Staged => Ok(ContextReference::Staged { path: Some(value) }),
            ReferenceKind::Url if is_web_address(&value) => Ok(ContextReference::Url { url: value }),
            ReferenceKind::Memory => Ok(ContextReference::Memory { query: value.trim().to_owned() }),
            ReferenceKind::Run => run_reference(&value, lines.transpose()?),
            ReferenceKind::Url => Err(ReferenceError::InvalidTarget),
        }
    }
}

/// Returns whether a character ends a target without quotes, wherever it is.
fn ends_plain_target(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '`' | '<' | '>' | '|') || is_wide_punctuation(c)
}

/// Returns whether a character is punctuation of a script that has no spaces.
pub(super) fn is_wide_punctuation(c: char) -> bool {
    matches!(
        c,
        '\u{3001}' | '\u{3002}' | '\u{3008}'
            ..='\u{3011}'
                | '\u{ff01}'
                | '\u{ff08}'
                | '\u{ff09}'
                | '\u{ff0c}'
                | '\u{ff1a}'
                | '\u{ff1b}'
                | '\u{ff1f}'
                | '\u{201c}'
                | '\u{201d}'
    )
}

/// Leaves out what at the end of a target belongs to the sentence; a bracket does unless it closes one of the target.
fn without_punctuation(raw: &str) -> &str {
    const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];
    let count = |wanted: char| raw.chars().filter(|c| *c == wanted).count();
    let opened = BRACKETS.map(|(open, _)| count(open));
    let mut closed = BRACKETS.map(|(_, close)| count(close));
    let mut rest = raw;
    while let Some(last) = rest.chars().next_back() {
        let bracket = BRACKETS.iter().position(|(_, close)| *close == last);
        let goes = match bracket {
            Some(at) if closed[at] > opened[at] => {
                closed[at] -= 1;
                true
            }
            Some(_) => false,
            None => matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '\u{2019}' | '\u{2026}'),
        };
        if !goes {
            return rest;
        }
        rest = &rest[..rest.len() - last.len_utf8()];
    }
    // `.` and `..` are folders, and nothing else is left of them.
    let dots = raw.len() - raw.trim_start_matches('.').len();
    if dots <= 2 { &raw[..dots] } else { "" }
}

/// Splits the lines off a path, where it ends in some.
fn split_lines(written: &str) -> Option<(&str, Result<LineRange, ReferenceError>)> {
    let (path, _) = written.rsplit_once(':').filter(|(path, _)| !path.is_empty())?;
    let (lines, length) = lines_at_start(&written[path.len()..])?;
    (path.len() + length == written.len()).then_some((path, lines))
}

/// Reads `:FROM`, `:FROM-` or `:FROM-TO` at the beginning of a text, and how long that is.
fn lines_at_start(text: &str) -> Option<(Result<LineRange, ReferenceError>, usize)> {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let behind_colon = text.strip_prefix(':')?;
    let (from, rest) = behind_colon.split_at(digits(behind_colon));
    if from.is_empty() {
        return None;
    }
    let Some(behind_dash) = rest.strip_prefix('-') else {
        return Some((line_range(from, Some(from)), 1 + from.len()));
    };
    let to = &behind_dash[..digits(behind_dash)];
    let range = line_range(from, (!to.is_empty()).then_some(to));
    Some((range, 1 + from.len() + 1 + to.len()))
}

fn line_range(from: &str, to: Option<&str>) -> Result<LineRange, ReferenceError> {
    let number = |digits: &str| digits.parse::<u64>().map_err(|_| ReferenceError::InvalidLines);
    let from = number(from)?;
    let to = to.map(number).transpose()?;
    let fits = from > 0 && to.is_none_or(|to| to >= from);
    if fits { Ok(LineRange { from, to }) } else { Err(ReferenceError::InvalidLines) }
}

fn is_web_address(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        let begins = text.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
        begins && text.len() > scheme.len() && !text.contains(char::is_whitespace)
    })
}

/// Returns whether lines may follow a target: of a file, or the entries of a run.
fn has_lines(kind: ReferenceKind) -> bool {
    matches!(kind, ReferenceKind::File | ReferenceKind::Run)
}

/// Makes the reference to a run. `RUN@SEQ` names all up to that entry, as on the command line.
fn run_reference(value: &str, lines: Option<LineRange>) -> Result<ContextReference, ReferenceError> {
    let (run, upto) = match value.split_once('@') {
        None => (value, None),
        Some((run, seq)) => {
            let upto = seq.parse::<u64>().map_err(|_| ReferenceError::InvalidTarget)?;
            if upto == 0 || lines.is_some() {
                return Err(ReferenceError::InvalidLines);
            }
            (run, Some(LineRange { from: 1, to: Some(upto) }))
        }
    };
    if !is_run_name(run) {
        return Err(ReferenceError::InvalidTarget);
    }
    Ok(ContextReference::Run { run: run.to_owned(), entries: upto.or(lines) })
}

fn is_run_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= RUN_CHARS_MAX
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '~')
}
