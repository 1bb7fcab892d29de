//! What a model may have meant by a path that does not exist.

use std::os::fd::OwnedFd;
use std::path::Path;

use super::entries::{NamedEntry, read_entries};
use super::kind::EntryKind;
use super::path::WorkspacePath;
use super::show::show_path;

const NAMES_SHOWN_MAX: usize = 8;
const NAMES_READ_MAX: usize = 5_000;
const ANCESTORS_TRIED_MAX: usize = 64;
/// Longer names are compared by their letters only, not by their distance.
const DISTANCE_CHARS_MAX: usize = 48;

/// Returns the end of a sentence that names what lies where `path` was looked for.
pub(super) fn names_near(path: &WorkspacePath, open: impl Fn(&WorkspacePath) -> Option<OwnedFd>) -> String {
    let mut missing = path.clone();
    for _ in 0..ANCESTORS_TRIED_MAX {
        let Some(folder_path) = missing.parent() else { break };
        if let Some(folder) = open(&folder_path) {
            let wanted = missing.as_path().file_name().unwrap_or_default().to_string_lossy().into_owned();
            return describe(&folder, &folder_path, &wanted);
        }
        missing = folder_path;
    }
    "; list_dir shows what is there".to_owned()
}

fn describe(folder: &OwnedFd, folder_path: &WorkspacePath, wanted: &str) -> String {
    let place = match folder_path.as_path().as_os_str().is_empty() {
        true => "the workspace root".to_owned(),
        false => format!("`{}`", folder_path.show()),
    };
    let Ok(entries) = read_entries(folder, NAMES_READ_MAX) else {
        return "; list_dir shows what is there".to_owned();
    };
    if entries.named.is_empty() {
        return format!("; {place} is empty");
    }
    let total = entries.named.len();
    let mut ranked: Vec<(usize, &NamedEntry)> = entries
        .named
        .iter()
        .map(|named| (strangeness(&named.name.to_string_lossy(), wanted), named))
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let shown: Vec<String> = ranked.iter().take(NAMES_SHOWN_MAX).map(|(_, named)| quoted(named)).collect();
    let rest = match total.saturating_sub(shown.len()) {
        0 => String::new(),
        hidden => format!(" and {hidden} more"),
    };
    format!("; {place} holds {}{rest}", shown.join(", "))
}

fn quoted(named: &NamedEntry) -> String {
    let slash = if named.kind == EntryKind::Folder { "/" } else { "" };
    format!("`{}{slash}`", show_path(Path::new(&named.name)))
}

/// Returns how unlike two names are; the smaller, the likelier the one was meant by the other.
fn strangeness(name: &str, wanted: &str) -> usize {
    let (name, wanted) = (letters(name), letters(wanted));
    if name == wanted {
        return 0;
    }
    if !wanted.is_empty() && (name.contains(&wanted) || wanted.contains(&name)) {
        return 1;
    }
    if name.chars().count().max(wanted.chars().count()) > DISTANCE_CHARS_MAX {
        return DISTANCE_CHARS_MAX;
    }
    1 + strsim::levenshtein(&name, &wanted)
}

/// Returns a name without case and separators.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelier_names_rank_first() {
        let mut names = ["Cargo.toml", "lib.rs", "main.rs", "read_me.md", "README.md"];
        names.sort_by_key(|name| strangeness(name, "readme.md"));
        assert_eq!(names[..2], ["read_me.md", "README.md"]);
        names.sort_by_key(|name| strangeness(name, "mian.rs"));
        assert_eq!(names[0], "main.rs");
    }
}
