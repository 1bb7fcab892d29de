//! What putting files in place would change, for a person who decides about it.
//!
//! Invariant: a difference is shown whole or not at all, so that nothing is put in place unseen.

use palyra_ports::ComparedFile;
use palyra_types::Content;
use palyra_types::effect::{FileBefore, PREVIEW_BYTES_MAX, RestoreImage};

use super::preview::difference;
use crate::failure::ToolFailure;
use crate::lines::is_binary;
use crate::workspace::{FILE_BYTES_MAX, SlotContent, Workspace};

/// Returns what each file is now, beside what it would be.
pub(crate) fn compare(workspace: &Workspace, files: &[RestoreImage]) -> Vec<ComparedFile> {
    files.iter().map(|file| compare_one(workspace, file)).collect()
}

fn compare_one(workspace: &Workspace, file: &RestoreImage) -> ComparedFile {
    let refused = ComparedFile::refused;
    let (shown_path, found) = match look(workspace, file.path.expose()) {
        Ok(looked) => looked,
        Err(failure) => return refused(failure.to_string()),
    };
    let goal: (&[u8], u32) = match &file.before {
        FileBefore::File { bytes, mode } => (bytes.expose(), *mode),
        FileBefore::Absent => (b"", 0),
        FileBefore::Withheld { .. } => return refused("its content was not kept".to_owned()),
    };
    let (bytes, mode) = goal;
    if is_binary(bytes) || std::str::from_utf8(bytes).is_err() || bytes.len() as u64 > FILE_BYTES_MAX {
        return refused("it is not text and cannot be shown".to_owned());
    }
    let (now, now_mode): (&[u8], u32) = match &found {
        SlotContent::Absent => (b"", 0),
        SlotContent::File(file) => (&file.bytes, file.access.bits()),
    };
    if bytes.len() + now.len() > PREVIEW_BYTES_MAX / 2 {
        return refused(format!("it is too long to be shown whole: {} bytes", bytes.len()));
    }
    let from = if found == SlotContent::Absent { "/dev/null" } else { &shown_path };
    let is_removed = matches!(file.before, FileBefore::Absent);
    let to = if is_removed { "/dev/null" } else { &shown_path };
    let shown = difference(now, bytes, from, to);
    if shown.len() >= PREVIEW_BYTES_MAX {
        return refused("its difference is too long to be shown whole".to_owned());
    }
    let modes = match &found {
        SlotContent::File(_) if is_removed || now_mode == mode => String::new(),
        SlotContent::File(_) => format!("mode {now_mode:04o} becomes {mode:04o}\n"),
        SlotContent::Absent => {
            format!("mode {mode:04o}{}\n", if mode & 0o111 == 0 { "" } else { ", can be run" })
        }
    };
    ComparedFile {
        now: match found {
            SlotContent::Absent => FileBefore::Absent,
            SlotContent::File(file) => {
                FileBefore::File { mode: file.access.bits(), bytes: Content::new(file.bytes) }
            }
        },
        difference: Content::new(format!("{modes}{shown}")),
        refusal: None,
    }
}

fn look(workspace: &Workspace, path: &str) -> Result<(String, SlotContent), ToolFailure> {
    let path = workspace.path(Some(path))?;
    let shown = path.show();
    let found = workspace.slot(&path)?.map_or(Ok(SlotContent::Absent), |slot| slot.look(&shown))?;
    Ok((shown, found))
}
