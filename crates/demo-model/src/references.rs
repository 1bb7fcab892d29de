//! The references of an input, such as `@file:src/a.rs:3-9`: the gateway has read them and shows the material before the
//! person's words.
//!
//! Invariant: material that is shown is answered from, and no tool is called for it again.

use palyra_types::model::ChatMessage;
use palyra_types::tool::ToolName;

use super::conversation::begin;
use super::extract::{ToolFinding, clip, fenced};
use super::intent::{IntendedCall, ToolAbility};

/// Begins the message that shows the material.
const SHOWN_BEGIN: &str = "<context_references>";
const DATA_BEGIN: &str = "<data-";
/// Kinds whose target is a path of the workspace.
const PATH_KINDS: [&str; 2] = ["@file:", "@folder:"];
/// Lines of an item that are quoted, where the words around it were not understood.
const LINES_MAX: usize = 20;
const WRITTEN_CHARS_MAX: usize = 100;

/// Returns whether a message shows material of references and is none of the person's words.
pub(super) fn is_shown_material(text: &str) -> bool {
    text.starts_with(SHOWN_BEGIN)
}

/// One reference with its material.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ShownItem {
    /// It as it is written.
    written: String,
    /// Its material; of one that failed what the gateway says.
    text: String,
    is_failed: bool,
}

/// The references of an input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ShownReferences {
    items: Vec<ShownItem>,
}

/// Returns the references of the input that is being worked on.
pub(super) fn shown_references(messages: &[ChatMessage]) -> ShownReferences {
    let before = begin(messages).and_then(|at| messages[..at].last());
    match before {
        Some(ChatMessage::User { text, .. }) => ShownReferences::read(text.expose()),
        Some(ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. }) | None => {
            ShownReferences::default()
        }
    }
}

impl ShownReferences {
    /// Reads the message that shows them.
    fn read(shown: &str) -> Self {
        let mut items: Vec<ShownItem> = Vec::new();
        let Some(mut rest) = shown.strip_prefix(SHOWN_BEGIN) else { return Self::default() };
        while let Some((line, behind)) = rest.trim_start_matches('\n').split_once('\n') {
            rest = behind;
            let Some((written, note)) = heading_of(line, items.len() + 1) else { continue };
            let data = data_of(rest);
            if let Some((_, behind)) = data {
                rest = behind;
            }
            let same = note.strip_prefix(": the same as reference ").and_then(|number| number.parse().ok());
            let earlier = same.and_then(|number: usize| items.get(number.checked_sub(1)?).cloned());
            let item = ShownItem { written: written.to_owned(), text: String::new(), is_failed: true };
            items.push(match (earlier, data) {
                (Some(earlier), _) => ShownItem { written: written.to_owned(), ..earlier },
                (None, Some((text, _))) => {
                    ShownItem { text: text.to_owned(), is_failed: note.starts_with(':'), ..item }
                }
                (None, None) => ShownItem { text: note.trim_start_matches(": ").to_owned(), ..item },
            });
        }
        Self { items }
    }

    /// Returns whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Writes the paths of an input's references in quotation marks in their place, so that sentences about files read
    /// them.
    pub(super) fn with_paths(&self, input: &str) -> String {
        let mut out = String::new();
        let mut rest = input;
        for item in &self.items {
            let Some(at) = rest.find(&item.written) else { continue };
            let mark = ['"', '`', '\''].into_iter().find(|mark| !path_of(&item.written).contains(*mark));
            let Some(mark) = mark.filter(|_| is_path(&item.written)) else { continue };
            out.push_str(&rest[..at]);
            out.push_str(&format!("{mark}{}{mark}", path_of(&item.written)));
            rest = &rest[at + item.written.len()..];
        }
        out + rest
    }

    /// Returns what a call would find that only reads what is shown.
    pub(super) fn finding(&self, call: &IntendedCall) -> Option<ToolFinding> {
        let path = call.arguments.get("path").filter(|_| call.arguments.len() == 1)?.as_str()?;
        let reads = matches!(call.ability, ToolAbility::Read | ToolAbility::List);
        let of_path = |item: &&ShownItem| is_path(&item.written) && path_of(&item.written) == path;
        let item = self.items.iter().filter(|_| reads).find(of_path)?;
        Some(ToolFinding {
            tool: ToolName::new(call.ability.tool()),
            arguments: serde_json::Value::Object(call.arguments.clone()),
            text: item.text.clone(),
            failed: item.is_failed,
        })
    }

    /// Quotes each of them.
    pub(super) fn described(&self) -> Vec<String> {
        self.items.iter().map(ShownItem::described).collect()
    }
}

impl ShownItem {
    fn described(&self) -> String {
        let written = clip(&self.written, WRITTEN_CHARS_MAX);
        if self.is_failed {
            return format!("{written} could not be shown: {}", clip(&self.text, WRITTEN_CHARS_MAX));
        }
        let lines: Vec<&str> = self.text.lines().collect();
        let shown = fenced(&lines[..lines.len().min(LINES_MAX)].join("\n"));
        match lines.len().saturating_sub(LINES_MAX) {
            0 => format!("{written}:\n\n{shown}"),
            more => format!("{written} begins:\n\n{shown}\n\n{more} more lines are not shown."),
        }
    }
}

/// Returns a reference and what the line of its number says of it.
fn heading_of(line: &str, number: usize) -> Option<(&str, &str)> {
    let written = line.strip_prefix(&format!("{number}. "))?;
    let note = written.rfind(" (about ").or_else(|| written.rfind(": the same as reference "));
    let note = note.or_else(|| written.find(": "))?;
    Some(written.split_at(note))
}

/// Returns the text between the tags that a message begins with, and what follows them.
fn data_of(shown: &str) -> Option<(&str, &str)> {
    let (tag, behind) = shown.strip_prefix(DATA_BEGIN)?.split_once(" from=")?;
    let (_, data) = behind.split_once(">\n")?;
    data.split_once(&format!("\n</data-{tag}>"))
}

fn is_path(written: &str) -> bool {
    PATH_KINDS.iter().any(|kind| written.starts_with(kind))
}

/// Returns the path of a reference, and its lines where it names some.
fn path_of(written: &str) -> String {
    let target = PATH_KINDS.iter().find_map(|kind| written.strip_prefix(kind)).unwrap_or(written);
    match target.strip_prefix('"').and_then(|target| target.rsplit_once('"')) {
        Some((path, lines)) => format!("{}{lines}", path.replace("\\\"", "\"").replace("\\\\", "\\")),
        None => super::objects::tidy_path(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "<context_references>\n1. @file:a.js:2-3 (about 3 tokens)\n<data-00ff from=\"file\">\n2. @x\nb\n\
                         </data-00ff>\n[cut: the first 7 of 9 bytes are shown]\n2. @file:none.txt: not_found: there is none\n\
                         <data-01ff from=\"file\">\nthere is no such file\n</data-01ff>\n3. @file:a.js:2-3: the same as \
                         reference 1\n4. @diff: unavailable\n</context_references>";

    #[test]
    fn each_item_is_read_with_its_material_or_its_failure() {
        let read = ShownReferences::read(SHOWN);
        let items: Vec<(&str, &str, bool)> = read
            .items
            .iter()
            .map(|item| (item.written.as_str(), item.text.as_str(), item.is_failed))
            .collect();
        assert_eq!(
            items,
            [
                ("@file:a.js:2-3", "2. @x\nb", false),
                ("@file:none.txt", "there is no such file", true),
                ("@file:a.js:2-3", "2. @x\nb", false),
                ("@diff", "unavailable", true),
            ]
        );
        assert!(ShownReferences::read("read a.md").is_empty());
    }

    #[test]
    fn paths_stand_in_the_place_of_references() {
        let read = ShownReferences::read(SHOWN);
        let input = "what does @file:a.js:2-3 say, and @file:none.txt, not @file:a.js:2-3 or @diff?";
        let expected = "what does \"a.js:2-3\" say, and \"none.txt\", not \"a.js:2-3\" or @diff?";
        assert_eq!(read.with_paths(input), expected);
        assert_eq!(path_of("@file:\"my \\\"notes\\\".txt\":3"), "my \"notes\".txt:3");
    }
}
