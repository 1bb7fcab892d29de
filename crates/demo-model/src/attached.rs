//! Tells what is attached: names, kinds and sizes, and how a text begins.

use palyra_types::attachment::{AttachmentBody, RenderedAttachment};
use palyra_types::model::{ChatMessage, ModelRequest};

use super::conversation::begin;
use super::extract::{clip, fenced};

/// Lines of a text that are shown.
const LINES_MAX: usize = 20;
const NAME_CHARS_MAX: usize = 100;

/// Returns what is attached to the input that is being worked on.
pub(super) fn attached(request: &ModelRequest) -> &[RenderedAttachment] {
    match begin(&request.messages).and_then(|at| request.messages.get(at)) {
        Some(ChatMessage::User { attachments, .. }) => attachments,
        Some(ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. }) | None => &[],
    }
}

/// Returns an input in which words such as "these files" name what is attached.
pub(super) fn naming_attached(input: &str) -> String {
    const POINTING: [&str; 4] = ["these ", "those ", "this ", "that "];
    const NAMED: [&str; 6] = ["files", "file", "documents", "document", "pictures", "images"];
    // A file may be the one of the folder; a picture is the one that was sent.
    const PICTURES: [(&str, &str); 4] =
        [("picture", "picture"), ("image", "image"), ("photo", "picture"), ("screenshot", "picture")];
    let pictures =
        PICTURES.iter().flat_map(|picture| ["the ", "this ", "that "].map(|pointing| (pointing, picture)));
    let input = pictures.fold(input.to_owned(), |input, (pointing, (word, said))| {
        input.replace(&format!("{pointing}{word}"), &format!("the attached {said}"))
    });
    let pointed = POINTING.iter().flat_map(|pointing| NAMED.iter().map(move |named| (pointing, named)));
    pointed.fold(input, |input, (pointing, named)| {
        input.replace(&format!("{pointing}{named}"), &format!("the attached {named}"))
    })
}

/// Returns the name of the file that was attached last to an earlier input.
pub(super) fn attached_before(request: &ModelRequest) -> Option<String> {
    let end = begin(&request.messages)?;
    request.messages[..end]
        .iter()
        .rev()
        .find_map(|message| match message {
            ChatMessage::User { attachments, .. } => attachments.last(),
            ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. } => None,
        })
        .map(|file| clip(file.attachment.name.expose(), NAME_CHARS_MAX))
}

/// Describes an attachment.
pub(super) fn described(file: &RenderedAttachment) -> String {
    let attachment = &file.attachment;
    let name = clip(attachment.name.expose(), NAME_CHARS_MAX);
    let kind = clip(attachment.media_type.expose(), NAME_CHARS_MAX);
    let unit = if attachment.bytes == 1 { "byte" } else { "bytes" };
    let head = format!("Attached: {name} ({kind}, {} {unit}).", attachment.bytes);
    match &attachment.body {
        AttachmentBody::Text(text) => {
            let lines: Vec<&str> = text.expose().lines().collect();
            let shown = fenced(&lines[..lines.len().min(LINES_MAX)].join("\n"));
            let more = match lines.len().saturating_sub(LINES_MAX) {
                0 => String::new(),
                more => format!("\n\n{more} more lines are not shown."),
            };
            format!("{head} It {}:\n\n{shown}{more}", if more.is_empty() { "says" } else { "begins" })
        }
        AttachmentBody::Blob { .. } if attachment.is_image() => {
            format!("{head}\nI cannot see images: only its name, kind and size reach me.")
        }
        AttachmentBody::Blob { .. } => format!("{head}\nI cannot read it: it is not a text, or too long."),
    }
}
