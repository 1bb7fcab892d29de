//! What a protected entry is made of, as it is recorded beside a program that runs.
//!
//! Owns a flat form: the nodes of a tree in order, each with its depth, so that no reader needs more depth than a list.

use std::ffi::OsString;
use std::iter::Peekable;
use std::os::unix::ffi::OsStringExt;

use serde::{Deserialize, Serialize};

use super::path_text::{decode_bytes, encode_bytes};
use super::tree::SavedEntry;

/// Bytes of text of one program's saved entries, at most; what goes beyond is not put back after a crash.
pub(crate) const SAVED_TEXT_BYTES_MAX: usize = 4 << 20;

/// The nodes of one entry, a folder before what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedNodes(Vec<SavedNode>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SavedNode {
    depth: usize,
    name: String,
    kind: SavedKind,
    #[serde(default)]
    mode: u32,
    /// The bytes of a file, the target of a link.
    #[serde(default)]
    content: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SavedKind {
    File,
    Link,
    Folder,
}

impl SavedNodes {
    /// Returns the nodes of an entry, when there is room for them.
    pub(crate) fn of(entry: &SavedEntry, bytes_left: &mut usize) -> Option<Self> {
        let mut nodes = Vec::new();
        add(&mut nodes, String::new(), entry, 0);
        let bytes = nodes.iter().map(|node| node.name.len() + node.content.len()).sum();
        *bytes_left = bytes_left.checked_sub(bytes)?;
        Some(Self(nodes))
    }

    /// Returns the entry; `None` when these are not the nodes of one.
    pub(crate) fn into_entry(self) -> Option<SavedEntry> {
        let mut nodes = self.0.into_iter().peekable();
        let entry = build(&mut nodes, 0)?;
        nodes.next().is_none().then_some(entry.1)
    }
}

fn add(nodes: &mut Vec<SavedNode>, name: String, entry: &SavedEntry, depth: usize) {
    let node = |kind, mode, content| SavedNode { depth, name, kind, mode, content };
    match entry {
        SavedEntry::File { mode, bytes } => nodes.push(node(SavedKind::File, *mode, encode_bytes(bytes))),
        SavedEntry::Link { target } => {
            nodes.push(node(SavedKind::Link, 0, encode_bytes(target.as_encoded_bytes())));
        }
        SavedEntry::Folder { mode, entries } => {
            nodes.push(node(SavedKind::Folder, *mode, String::new()));
            for (name, inner) in entries {
                add(nodes, encode_bytes(name.as_encoded_bytes()), inner, depth + 1);
            }
        }
    }
}

fn build(
    nodes: &mut Peekable<impl Iterator<Item = SavedNode>>,
    depth: usize,
) -> Option<(OsString, SavedEntry)> {
    let SavedNode { depth: own, name, kind, mode, content } = nodes.next()?;
    if own != depth {
        return None;
    }
    let name = OsString::from_vec(decode_bytes(&name)?);
    let entry = match kind {
        SavedKind::File => SavedEntry::File { mode, bytes: decode_bytes(&content)? },
        SavedKind::Link => SavedEntry::Link { target: OsString::from_vec(decode_bytes(&content)?) },
        SavedKind::Folder => {
            let mut entries = Vec::new();
            while nodes.peek().is_some_and(|next| next.depth > depth) {
                entries.push(build(nodes, depth + 1)?);
            }
            SavedEntry::Folder { mode, entries }
        }
    };
    Some((name, entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_recorded_however_deep() {
        let file = |bytes: &[u8]| SavedEntry::File { mode: 0o755, bytes: bytes.to_vec() };
        let link = SavedEntry::Link { target: "../x".into() };
        let mut tree = SavedEntry::Folder { mode: 0o700, entries: vec![("l".into(), link)] };
        for depth in 0..40_u8 {
            let broken = OsString::from_vec(vec![b'a', 0xff, depth]);
            let entries =
                vec![(broken, file(&[0, depth, 0xfe])), ("sub".into(), tree), ("z".into(), file(b""))];
            tree = SavedEntry::Folder { mode: 0o755, entries };
        }
        for entry in [tree, file(b"\0text"), file("\u{fc}".as_bytes())] {
            let nodes = SavedNodes::of(&entry, &mut SAVED_TEXT_BYTES_MAX.clone()).expect("there is room");
            let text = serde_json::to_string(&nodes).expect("it is text");
            let read: SavedNodes = serde_json::from_str(&text).expect("it is read");
            assert_eq!(read.into_entry(), Some(entry));
        }
        assert_eq!(SavedNodes::of(&file(b"abc"), &mut 2), None);
    }
}
