//! Reads the images of a request right before it is asked.
//!
//! Owns how many of them a request holds. Tapes and transcripts know only the places of images, without their bytes. The
//! model reads a sentence in place of an image that is left out.

use std::sync::Arc;

use palyra_ports::ReadTape;
use palyra_types::Redacted;
use palyra_types::attachment::RenderedAttachment;
use palyra_types::model::{ChatMessage, ModelRequest};

/// Images of one request, at most; the newest are kept.
const REQUEST_IMAGES_MAX: usize = 20;
/// Bytes of all images of one request, at most.
const REQUEST_IMAGES_BYTES_MAX: u64 = 20 * 1024 * 1024;

/// What a request may still hold.
struct ImageAllowance {
    images: usize,
    bytes: u64,
}

impl ImageAllowance {
    fn take(&mut self, bytes: u64) -> bool {
        let fits = self.images > 0 && bytes <= self.bytes;
        if fits {
            self.images -= 1;
            self.bytes -= bytes;
        }
        fits
    }
}

/// Returns the request with the bytes of its images, newest first as far as there is room.
pub async fn with_images(tapes: &dyn ReadTape, request: Arc<ModelRequest>) -> Arc<ModelRequest> {
    if !request.messages.iter().any(has_images) {
        return request;
    }
    let mut request = Arc::unwrap_or_clone(request);
    let mut room = ImageAllowance { images: REQUEST_IMAGES_MAX, bytes: REQUEST_IMAGES_BYTES_MAX };
    for message in request.messages.iter_mut().rev() {
        if let ChatMessage::User { text, attachments, .. } = message {
            let mut notes = Vec::new();
            for attachment in attachments.iter_mut().rev().filter(|file| file.attachment.is_image()) {
                notes.extend(load(tapes, attachment, &mut room).await);
            }
            if !notes.is_empty() {
                notes.reverse();
                let notes = notes.into_iter().reduce(|notes: Redacted<String>, note| {
                    notes.zip(note).map(|(notes, note)| [notes, note].join("\n"))
                });
                let whole = std::mem::take(text).zip(notes.unwrap_or_default());
                *text = whole.map(|(text, notes)| [text, notes].join("\n\n"));
            }
        }
    }
    Arc::new(request)
}

fn has_images(message: &ChatMessage) -> bool {
    match message {
        ChatMessage::User { attachments, .. } => attachments.iter().any(|file| file.attachment.is_image()),
        ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. } => false,
    }
}

/// Reads one image; returns a sentence for the model where it does not get it.
async fn load(
    tapes: &dyn ReadTape,
    file: &mut RenderedAttachment,
    room: &mut ImageAllowance,
) -> Option<Redacted<String>> {
    let place = file.place?;
    let name = file.attachment.name.clone();
    if !room.take(file.attachment.bytes) {
        return Some(name.map(|name| {
            format!("(The image {name} is not shown: newer images take all the room there is.)")
        }));
    }
    match tapes.blob(place).await {
        Ok(Some(bytes)) => {
            file.data = Some(bytes);
            None
        }
        Ok(None) => Some(name.map(|name| format!("(The image {name} was erased.)"))),
        Err(error) => {
            tracing::warn!(run = %place.run, %error, "an attached image could not be read");
            Some(name.map(|name| format!("(The image {name} could not be read.)")))
        }
    }
}
