//! What a skill's folder may hold, and the text whose digest pins it.
//!
//! Invariant: two folders have the same text only if they have the same files, names, bytes and modes; and no two names
//! of one folder can be taken for each other.

use std::collections::BTreeMap;

/// The file that makes a folder a skill.
pub const SKILL_FILE_NAME: &str = "SKILL.md";
/// Bytes of a path below the folder, at most.
pub const SKILL_PATH_BYTES_MAX: usize = 240;
/// Folders above a file, and the file, at most.
pub const SKILL_PATH_DEPTH_MAX: usize = 8;
const FORM: &str = "palyra skill folder 1";

/// Whether a file may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileMode {
    /// It may not.
    Plain,
    /// It may.
    Executable,
}

/// A file, as far as it is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillFolderFile<'f> {
    /// Its path below the folder, with `/`.
    pub path: &'f str,
    /// Its mode.
    pub mode: FileMode,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: [u8; 32],
}

/// Why a folder is no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillFolderFault {
    /// The file that makes it one is not there.
    #[error("it holds no `{SKILL_FILE_NAME}`{}", .instead.as_ref().map(|other| format!("; `{other}` has to be called so")).unwrap_or_default())]
    NoSkillFile {
        /// What could have been meant.
        instead: Option<String>,
    },
    /// A name is not allowed.
    #[error("`{}` {why}", .path.escape_debug())]
    Name {
        /// The path.
        path: String,
        /// What is wrong with it, and what to do.
        why: &'static str,
    },
    /// Two names can be taken for each other.
    #[error("`{one}` and `{other}` differ only in case; rename one of them")]
    Twins {
        /// One.
        one: String,
        /// The other.
        other: String,
    },
}

/// Checks the paths of a folder.
///
/// # Errors
/// [`SkillFolderFault`] names the first that is not allowed.
pub fn check_folder<'p>(paths: impl IntoIterator<Item = &'p str>) -> Result<(), SkillFolderFault> {
    let mut folded = BTreeMap::new();
    for path in paths {
        if let Some(why) = mistake_in(path) {
            return Err(SkillFolderFault::Name { path: path.to_owned(), why });
        }
        // Folders count, too: `A/x` and `a/y` would be one folder elsewhere.
        for end in path.match_indices('/').map(|(at, _)| at).chain([path.len()]) {
            let part = &path[..end];
            let twin = folded.insert(part.to_ascii_lowercase(), part).filter(|twin| *twin != part);
            if let Some(twin) = twin {
                return Err(SkillFolderFault::Twins { one: twin.to_owned(), other: part.to_owned() });
            }
        }
    }
    match folded.get(&SKILL_FILE_NAME.to_ascii_lowercase()) {
        Some(found) if *found == SKILL_FILE_NAME => Ok(()),
        found => Err(SkillFolderFault::NoSkillFile { instead: found.map(|found| (*found).to_owned()) }),
    }
}

fn mistake_in(path: &str) -> Option<&'static str> {
    let outside = |c: char| !(c.is_ascii_graphic() || c == ' ') || r#"\:*?"<>|"#.contains(c);
    if path.len() > SKILL_PATH_BYTES_MAX {
        return Some("has a path of more than 240 bytes; shorten it");
    }
    if path.split('/').count() > SKILL_PATH_DEPTH_MAX {
        return Some("is more than 8 levels deep; move it up");
    }
    if path.contains(outside) {
        return Some(
            r#"has a character in its name that other systems read differently; use ASCII without \:*?"<>|"#,
        );
    }
    let is_odd = |part: &str| part.is_empty() || part == "." || part == ".." || part.ends_with(['.', ' ']);
    if path.split('/').any(|part| is_odd(part) || part.starts_with(' ')) {
        return Some("has a part that is not a plain name; rename it");
    }
    None
}

/// Returns the text whose SHA-256 pins a folder: a line for each file, in order of path.
#[must_use]
pub fn folder_text(files: &[SkillFolderFile<'_>]) -> String {
    let mut files: Vec<_> = files.iter().collect();
    files.sort_by_key(|file| file.path);
    let mut text = format!("{FORM}\n");
    for file in files {
        let mode = match file.mode {
            FileMode::Plain => "plain",
            FileMode::Executable => "executable",
        };
        let digest: String = file.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        text.push_str(&format!("{mode} {} {digest} {:?}\n", file.bytes, file.path));
    }
    text
}
