//! The lines that name a file of a patch, and what is done to it.

use super::file_patch::{Hunk, PatchKind};
use super::source::PatchLines;
use crate::failure::ToolFailure;

const NOWHERE: &str = "/dev/null";
const REGULAR: &str = "100644";
const EXECUTABLE: &str = "100755";

/// What stands before the hunks of one file.
#[derive(Debug, Default)]
pub(super) struct Headers<'p> {
    git: Option<&'p str>,
    old: Option<&'p str>,
    new: Option<&'p str>,
    rename_from: Option<&'p str>,
    rename_to: Option<&'p str>,
    made_with: Option<&'p str>,
    removed_with: Option<&'p str>,
}

impl<'p> Headers<'p> {
    /// Reads up to the first hunk of the next file; `None` at the end. Words before the first header are prose.
    pub(super) fn read(source: &mut PatchLines<'p>) -> Result<Option<Self>, ToolFailure> {
        let mut headers = Self::default();
        while let Some(line) = source.peek() {
            if line.starts_with("@@ ") || (headers.is_begun() && line.starts_with("diff --git ")) {
                break;
            }
            if line.starts_with("--- ") && headers.new.is_some() {
                break;
            }
            let _ = source.take();
            headers.take(line, source)?;
        }
        Ok(headers.is_begun().then_some(headers))
    }

    fn is_begun(&self) -> bool {
        self.git.is_some() || self.old.is_some()
    }

    fn take(&mut self, line: &'p str, source: &PatchLines<'_>) -> Result<(), ToolFailure> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let begins: [(&str, &mut Option<&'p str>); 7] = [
            ("diff --git ", &mut self.git),
            ("--- ", &mut self.old),
            ("+++ ", &mut self.new),
            ("rename from ", &mut self.rename_from),
            ("rename to ", &mut self.rename_to),
            ("new file mode ", &mut self.made_with),
            ("deleted file mode ", &mut self.removed_with),
        ];
        for (begin, place) in begins {
            if let Some(rest) = line.strip_prefix(begin) {
                if place.replace(rest).is_some() {
                    return Err(source.wrong("comes a second time for one file"));
                }
                return Ok(());
            }
        }
        let refused = [
            ("old mode ", "changes the mode of a file; only its text is changed"),
            ("new mode ", "changes the mode of a file; only its text is changed"),
            ("copy from ", "copies a file; write the new file instead"),
            ("copy to ", "copies a file; write the new file instead"),
            ("GIT binary patch", "begins a binary patch; only text is changed"),
            ("Binary files ", "speaks of binary files; only text is changed"),
        ];
        match refused.iter().find(|(begin, _)| line.starts_with(begin)) {
            Some((_, why)) => Err(source.wrong(why)),
            None => Ok(()),
        }
    }

    /// Returns what is done to the file.
    pub(super) fn kind(&self, source: &PatchLines<'_>, hunks: &[Hunk]) -> Result<PatchKind, ToolFailure> {
        if let Some(mode) =
            self.made_with.or(self.removed_with).filter(|mode| !matches!(*mode, REGULAR | EXECUTABLE))
        {
            let why = format!("belongs to a file of mode {mode}: only regular files are made and removed");
            return Err(source.wrong(&why));
        }
        let (old, new) = self.names(source, hunks)?;
        let is_executable = self.made_with == Some(EXECUTABLE);
        match (old, new, self.rename_from, self.rename_to) {
            (old, new, Some(from), Some(to)) => {
                let (from, to) = (plain(from, source)?, plain(to, source)?);
                if [(old, &from), (new, &to)]
                    .iter()
                    .any(|(name, same)| name.as_ref().is_some_and(|name| name != *same))
                {
                    return Err(source.wrong(
                        "ends a file that is renamed under other names; begin each with `diff --git`",
                    ));
                }
                Ok(PatchKind::Rename { from, to })
            }
            (_, _, Some(_), None) | (_, _, None, Some(_)) => {
                Err(source.wrong("ends a file that is renamed without both of its names"))
            }
            (None, Some(path), None, None) => Ok(PatchKind::Create { path, is_executable }),
            (Some(path), None, None, None) => Ok(PatchKind::Remove { path }),
            (Some(old), Some(new), None, None) if old == new => match (self.made_with, self.removed_with) {
                (Some(_), _) => Ok(PatchKind::Create { path: new, is_executable }),
                (None, Some(_)) => Ok(PatchKind::Remove { path: old }),
                (None, None) if !hunks.is_empty() => Ok(PatchKind::Change { path: old }),
                (None, None) => Err(source.wrong("ends a file to which nothing is done")),
            },
            (Some(from), Some(to), None, None) if !hunks.is_empty() => Ok(PatchKind::Rename { from, to }),
            (None, None, None, None) if hunks.is_empty() => Err(source
                .wrong("ends a file without `--- ` and `+++ ` lines; use write_file to make an empty file")),
            _ => Err(source.wrong("ends a file whose names do not say what is done to it")),
        }
    }

    /// Returns the old and the new name; `None` for one that is nowhere.
    fn names(
        &self,
        source: &PatchLines<'_>,
        hunks: &[Hunk],
    ) -> Result<(Option<String>, Option<String>), ToolFailure> {
        match (self.old, self.new) {
            (Some(old), Some(new)) => Ok((name(old, source)?, name(new, source)?)),
            (None, None) if hunks.is_empty() => Ok((None, None)),
            _ => Err(source.wrong("ends a file that lacks its `--- ` or `+++ ` line")),
        }
    }
}

/// Reads a name behind `--- ` or `+++ `; `None` for nowhere. What begins with `a/` or `b/` always loses it: whoever
/// judges a patch by its headers has to come to the same name.
fn name(text: &str, source: &PatchLines<'_>) -> Result<Option<String>, ToolFailure> {
    match without_time(text) {
        NOWHERE => Ok(None),
        name => {
            let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
            plain(bare, source).map(Some)
        }
    }
}

/// GNU diff puts the time behind the name.
fn without_time(name: &str) -> &str {
    name.split('\t').next().unwrap_or(name)
}

/// Refuses names of which two readers could make different ones.
fn plain(name: &str, source: &PatchLines<'_>) -> Result<String, ToolFailure> {
    if name.contains('"') || name.trim() != name || name.contains(char::is_control) {
        let why =
            "ends a file whose name is quoted or has spaces around it; use write_file or edit_file for it";
        return Err(source.wrong(why));
    }
    Ok(name.to_owned())
}
