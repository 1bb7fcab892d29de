//! Files that come with an input: what is recorded of them, and where their bytes lie.
//!
//! A text lies in the entry itself, for models read it as text. Everything else is a blob beside the entry,
//! read only when somebody asks for it.

use std::sync::Arc;

use crate::data_delimiter::DataDelimiter;
use crate::{Redacted, RunId, TapeSeq};

/// Attachments of one input, at most.
pub const ATTACHMENTS_MAX: usize = 32;

/// Bytes of one attachment, at most.
pub const ATTACHMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of all attachments of one input, at most: they are recorded in one commit.
pub const INPUT_ATTACHMENTS_BYTES_MAX: usize = 20 * 1024 * 1024;

/// Bytes of a text that is kept in the entry itself, at most; a longer one is a blob.
pub const ATTACHMENT_TEXT_BYTES_MAX: usize = 256 * 1024;

/// Characters of an attachment's name, at most.
pub const ATTACHMENT_NAME_CHARS_MAX: usize = 255;

/// The bytes of an attachment.
pub type Blob = Redacted<Arc<[u8]>>;

/// A file that came with an input, as its entry records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// What the sender called it: one file name without folders.
    pub name: Redacted<String>,
    /// Its media type (RFC 6838) in lower case without parameters, such as `image/png`; checked against the
    /// bytes where they tell.
    pub media_type: Redacted<String>,
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes; content, for it tells whether somebody has a known file.
    pub sha256: Redacted<[u8; 32]>,
    /// Where its content is.
    pub body: AttachmentBody,
}

/// Where the content of an attachment is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachmentBody {
    /// Here: UTF-8 text of at most [`ATTACHMENT_TEXT_BYTES_MAX`].
    Text(Redacted<String>),
    /// Beside the entry.
    Blob {
        /// Its place among the blobs of the entry, from 0.
        index: u32,
    },
}

/// Where a blob lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobRef {
    /// The run whose tape introduced it.
    pub run: RunId,
    /// The entry that did.
    pub tape_seq: TapeSeq,
    /// Its place among the blobs of that entry.
    pub index: u32,
}

/// An attachment as a request shows it to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedAttachment {
    /// What is recorded of it.
    pub attachment: Arc<Attachment>,
    /// Where its bytes are; `None` for a text.
    pub place: Option<BlobRef>,
    /// Its bytes, once they are read: images for models that see, otherwise `None`.
    pub data: Option<Blob>,
    /// The tags around its text where a model reads it.
    pub delimiter: DataDelimiter,
}

impl Attachment {
    /// Returns whether it is an image of a kind that models take (PNG, JPEG, GIF, WebP).
    #[must_use]
    pub fn is_image(&self) -> bool {
        matches!(self.media_type.expose().as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp")
    }
}

impl RenderedAttachment {
    /// Returns a rough size in bytes of what a model will read of it.
    #[must_use]
    pub fn content_bytes(&self) -> usize {
        let named = self.attachment.name.expose().len() + 64;
        match &self.attachment.body {
            AttachmentBody::Text(text) => named + text.expose().len(),
            AttachmentBody::Blob { .. } if self.attachment.is_image() => named + IMAGE_BYTES_ESTIMATED,
            AttachmentBody::Blob { .. } => named,
        }
    }
}

/// What an image is taken for in a window, in bytes of text: about 1,600 tokens.
const IMAGE_BYTES_ESTIMATED: usize = 6_400;
