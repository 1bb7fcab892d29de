//! What a call wants of one file, as far as its arguments tell.
//!
//! Pure: what becomes of some bytes. Whether they are there is for [`super::change`] to see.

use palyra_ports::redactor::PLACEHOLDER_BEGINS;

use crate::failure::ToolFailure;
use crate::lines::is_binary;
use crate::patch::{Hunk, apply};
use crate::workspace::{FILE_BYTES_MAX, WorkspacePath};

/// What a call wants of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// The file whose bytes the new ones are made of; another one only where a file gets a new name.
    pub(crate) source: WorkspacePath,
    /// What has to be there before.
    pub(crate) presence: FilePresence,
    /// Permission bits of a new file, less the process's mask.
    pub(crate) new_bits: u32,
    /// What becomes of the bytes.
    pub(crate) rule: Rule,
}

/// Permission bits of a new file.
pub(crate) const PLAIN_BITS: u32 = 0o666;
/// Permission bits of a new file that can be run.
pub(crate) const EXECUTABLE_BITS: u32 = 0o777;

/// What has to be there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilePresence {
    /// Nothing.
    Absent,
    /// A file.
    Present,
    /// Either.
    Any,
}

/// What becomes of a file's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    /// They become these.
    Content(Vec<u8>),
    /// A text in them is replaced.
    Replace(TextReplacement),
    /// A patch is applied to them.
    Hunks(Vec<Hunk>),
    /// A patch is applied to them that leaves nothing, and the file goes.
    Remove(Vec<Hunk>),
}

/// A text that replaces another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextReplacement {
    /// What is replaced; never empty.
    pub(crate) old: String,
    /// By what.
    pub(crate) new: String,
    /// How often it may be there.
    pub(crate) times: MatchCount,
}

/// How often a text may be there to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchCount {
    /// Once.
    Once,
    /// At least once; all are replaced.
    All,
}

impl Task {
    /// Makes a task for a file that keeps its name.
    pub(crate) fn new(path: WorkspacePath, presence: FilePresence, rule: Rule) -> Self {
        Self { source: path.clone(), path, presence, new_bits: PLAIN_BITS, rule }
    }

    /// Returns what the file will be, made of `bytes`; `None` when it will be gone.
    pub(crate) fn outcome(&self, bytes: &[u8]) -> Result<Option<Vec<u8>>, ToolFailure> {
        let shown = self.source.show();
        let made = match &self.rule {
            Rule::Content(content) => Some(content.clone()),
            Rule::Replace(replacement) => Some(replacement.replaced(bytes, &shown)?),
            Rule::Hunks(hunks) => Some(apply(bytes, hunks, &shown)?),
            Rule::Remove(hunks) => {
                let rest = if hunks.is_empty() { Vec::new() } else { apply(bytes, hunks, &shown)? };
                if !rest.is_empty() {
                    let why =
                        format!("the patch removes `{shown}` but not all of its lines; read the file again");
                    return Err(ToolFailure::Patch(why));
                }
                None
            }
        };
        match &made {
            Some(made) if made.len() as u64 > FILE_BYTES_MAX => {
                Err(too_long(&self.path.show(), made.len() as u64))
            }
            Some(made) if is_binary(made) => {
                Err(ToolFailure::Arguments("a NUL is not written into a file: only text is".to_owned()))
            }
            _ => Ok(made),
        }
    }
}

impl TextReplacement {
    fn replaced(&self, bytes: &[u8], shown: &str) -> Result<Vec<u8>, ToolFailure> {
        let (old, new) = (self.old.as_bytes(), self.new.as_bytes());
        let places: Vec<usize> = places_of(bytes, old);
        match (places.len(), self.times) {
            (0, _) => return Err(self.not_there(bytes, shown)),
            (1, _) | (_, MatchCount::All) => {}
            (number, MatchCount::Once) => {
                return Err(ToolFailure::NotUnique(format!(
                    "the text to replace is {number} times in `{shown}`; give more of the text around the one you \
                     mean, or set `all`"
                )));
            }
        }
        let kept = bytes.len() - places.len() * old.len();
        let length = kept.saturating_add(places.len().saturating_mul(new.len()));
        if length as u64 > FILE_BYTES_MAX {
            return Err(too_long(shown, length as u64));
        }
        let mut made = Vec::with_capacity(length);
        let mut from = 0;
        for at in places {
            made.extend_from_slice(&bytes[from..at]);
            made.extend_from_slice(new);
            from = at + old.len();
        }
        made.extend_from_slice(&bytes[from..]);
        Ok(made)
    }

    fn not_there(&self, bytes: &[u8], shown: &str) -> ToolFailure {
        let as_lines_end = self.old.replace("\r\n", "\n").replace('\n', "\r\n");
        let hint = if as_lines_end != self.old && !places_of(bytes, as_lines_end.as_bytes()).is_empty() {
            "; its lines end in \\r\\n, so write them that way"
        } else {
            "; read the file again and copy the text exactly, spaces and line ends included"
        };
        ToolFailure::NotUnique(format!("the text to replace is not in `{shown}`{hint}"))
    }
}

fn too_long(shown: &str, bytes: u64) -> ToolFailure {
    ToolFailure::Unsuitable(format!(
        "`{shown}` would have {bytes} bytes; at most {FILE_BYTES_MAX} are written"
    ))
}

/// Returns where `sought` stands, without overlaps, in linear time.
fn places_of(bytes: &[u8], sought: &[u8]) -> Vec<usize> {
    memchr::memmem::find_iter(bytes, sought).collect()
}

/// Refuses contents that hold what stands for a secret: the secret itself is not known here, and its place holder is
/// not what the file should hold.
pub(crate) fn refuse_placeholders<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<(), ToolFailure> {
    if texts.into_iter().any(|text| text.contains(PLACEHOLDER_BEGINS)) {
        return Err(ToolFailure::Placeholder(format!(
            "the text holds `{PLACEHOLDER_BEGINS}...>`, the placeholder of a secret that was removed; it is not \
             written into a file. Change another part of the file, or ask the user to write the secret"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn replaced(bytes: &str, old: &str, new: &str, times: MatchCount) -> String {
        let replacement = TextReplacement { old: old.to_owned(), new: new.to_owned(), times };
        match replacement.replaced(bytes.as_bytes(), "a") {
            Ok(made) => String::from_utf8(made).unwrap(),
            Err(failure) => format!("{}: {failure}", failure.code().slug()),
        }
    }

    #[test]
    fn a_text_is_replaced_where_it_is_exactly_once_or_everywhere() {
        assert_eq!(replaced("one two", "two", "three", MatchCount::Once), "one three");
        assert_eq!(replaced("aXbX", "X", "", MatchCount::All), "ab");
        assert_eq!(replaced("aaaa", "aa", "b", MatchCount::All), "bb");
        assert_eq!(replaced("a.c abc", "a.c", "$1\\0", MatchCount::Once), "$1\\0 abc");
        assert_eq!(replaced("x\u{e9}y", "\u{e9}", "e", MatchCount::Once), "xey");
        assert!(
            replaced("aXbX", "X", "", MatchCount::Once)
                .starts_with("edit_not_unique: the text to replace is 2 times")
        );
        assert!(
            replaced("abc", "B", "", MatchCount::All)
                .starts_with("edit_not_unique: the text to replace is not in `a`")
        );
        assert!(replaced("one\r\ntwo\r\n", "one\ntwo", "", MatchCount::Once).contains("lines end in \\r\\n"));
    }

    #[test]
    fn a_replacement_that_would_explode_is_refused_before_it_is_made() {
        let bytes = "a".repeat(1 << 20);
        let failure = replaced(&bytes, "a", &"b".repeat(1 << 20), MatchCount::All);
        assert!(failure.starts_with("file_unsuitable: `a` would have 1099511627776 bytes"), "{failure}");
    }

    #[test]
    fn what_stands_for_a_secret_is_not_written() {
        assert!(refuse_placeholders(["plain", "<secret>"]).is_ok());
        let failure = refuse_placeholders(["plain", "key = <secret:aws-key>"]).unwrap_err();
        assert_eq!(failure.code().slug(), "placeholder_in_arguments");
    }

    #[test]
    fn a_nul_is_not_written() {
        let path = WorkspacePath::parse("a", Path::new("/r")).unwrap();
        let task = Task::new(path, FilePresence::Any, Rule::Content(b"a\0b".to_vec()));
        assert_eq!(task.outcome(b"").unwrap_err().code().slug(), "tool_arguments_invalid");
    }
}
