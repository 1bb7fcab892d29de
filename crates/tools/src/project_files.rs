//! The files in which a project says how to work on it (`AGENTS.md`), read below the root of a workspace.
//!
//! Knows nothing of acceptances. A file is opened as tools open files: beneath the descriptor of the root, through no link.

use std::io::Read;
use std::path::{Component, Path};

use palyra_ports::{FoundProjectFile, FoundProjectFiles, ProjectFileExtent, ProjectFiles, WorkspaceRoot};
use palyra_types::Content;
use palyra_types::project_file::{PROJECT_FILE_BYTES_MAX, PROJECT_FILE_NAME, PROJECT_FILES_MAX};

use crate::workspace::{OpenRefusal, Sha256, open_file};

/// Folders that are looked into, at most.
const FOLDERS_MAX: usize = 64;

/// Reads them from the file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkspaceProjectFiles;

impl ProjectFiles for WorkspaceProjectFiles {
    fn read(&self, root: &Path, folder: Option<&Path>) -> FoundProjectFiles {
        let mut found = FoundProjectFiles::default();
        let opened = match WorkspaceRoot::open(root) {
            Ok(opened) => opened,
            Err(refusal) => {
                found.refused.push(format!("`{PROJECT_FILE_NAME}` is not read: {refusal}"));
                return found;
            }
        };
        for path in nearest_first(root, folder) {
            match read_file(&opened, &path) {
                Ok(file) => found.files.extend(file),
                Err(reason) => found.refused.push(format!("`{path}` is not read: {reason}")),
            }
            if found.files.len() == PROJECT_FILES_MAX {
                break;
            }
        }
        found.files.reverse();
        found.refused.reverse();
        found
    }
}

/// Returns where such files can be, that of the folder first and that of the root last.
fn nearest_first(root: &Path, folder: Option<&Path>) -> Vec<String> {
    let is_plain = |below: &&Path| below.components().all(|part| matches!(part, Component::Normal(_)));
    let below = folder.and_then(|folder| folder.strip_prefix(root).ok()).filter(is_plain);
    let below = below.and_then(Path::to_str).unwrap_or_default();
    let mut folders: Vec<&Path> = Path::new(below).ancestors().take(FOLDERS_MAX).collect();
    if folders.last() != Some(&Path::new("")) {
        folders.push(Path::new(""));
    }
    folders.into_iter().map(|folder| folder.join(PROJECT_FILE_NAME).to_string_lossy().into_owned()).collect()
}

/// Reads one file; `None` where there is none, or nothing is in it.
fn read_file(root: &WorkspaceRoot, path: &str) -> Result<Option<FoundProjectFile>, String> {
    let opened = match open_file(root, Path::new(path)) {
        Ok(opened) => opened,
        Err(OpenRefusal::NotFound | OpenRefusal::NotAFolder) => return Ok(None),
        Err(refusal) => return Err(reason(refusal)),
    };
    let mut bytes = Vec::new();
    // One more than is shown tells whether there is more; the length of an open file can change.
    let most = PROJECT_FILE_BYTES_MAX as u64 + 1;
    opened.file.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let extent = cut(&mut bytes);
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or("it is not UTF-8 text")?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let sha256 = Sha256::of(text.as_bytes()).0;
    Ok(Some(FoundProjectFile { path: path.into(), text: Content::new(text), sha256, extent }))
}

/// Cuts what is too long behind its last whole line, or inside of a line that is too long itself.
fn cut(bytes: &mut Vec<u8>) -> ProjectFileExtent {
    if bytes.len() <= PROJECT_FILE_BYTES_MAX {
        return ProjectFileExtent::Whole;
    }
    bytes.truncate(PROJECT_FILE_BYTES_MAX);
    let line_end = bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    let character_end = || match std::str::from_utf8(bytes) {
        // The cut went through a character.
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    let end = line_end.unwrap_or_else(character_end);
    bytes.truncate(end);
    ProjectFileExtent::Beginning
}

fn reason(refusal: OpenRefusal) -> String {
    match refusal {
        OpenRefusal::Link => "it is a symbolic link or below one, and links are not followed".to_owned(),
        OpenRefusal::Kind(kind) => format!("it is {}, not a regular file", kind.with_article()),
        OpenRefusal::NoPermission => "the user that Palyra runs as may not read it".to_owned(),
        OpenRefusal::NotFound
        | OpenRefusal::NotAFolder
        | OpenRefusal::LeadsOut
        | OpenRefusal::Malformed
        | OpenRefusal::MechanismMissing
        | OpenRefusal::Other(_) => refusal.explain(PROJECT_FILE_NAME).to_string(),
    }
}

#[cfg(test)]
mod tests;
