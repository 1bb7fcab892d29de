//! Stored forms of the files that come with an input.

use palyra_types::Redacted;
use palyra_types::attachment::{Attachment, AttachmentBody};
use palyra_wire::store;

use super::field::{ReadResult, UnreadableEvent, fixed_or_zero, unless_zero};

pub(super) fn to_stored(attachments: &[Attachment]) -> Vec<store::Attachment> {
    let stored = attachments.iter().map(|attachment| store::Attachment {
        name: attachment.name.expose().clone(),
        media_type: attachment.media_type.expose().clone(),
        bytes: attachment.bytes,
        sha256: unless_zero(attachment.sha256.expose()),
        body: Some(match &attachment.body {
            AttachmentBody::Text(text) => store::attachment::Body::Text(text.expose().clone()),
            AttachmentBody::Blob { index } => store::attachment::Body::Blob(*index),
        }),
    });
    stored.collect()
}

pub(super) fn from_stored(stored: Vec<store::Attachment>) -> ReadResult<Vec<Attachment>> {
    let attachments = stored.into_iter().map(|attachment| {
        Ok(Attachment {
            name: Redacted::from_stored(attachment.name),
            media_type: Redacted::from_stored(attachment.media_type),
            bytes: attachment.bytes,
            sha256: Redacted::from_stored(fixed_or_zero(&attachment.sha256)?),
            body: match attachment.body.ok_or(UnreadableEvent::Malformed)? {
                store::attachment::Body::Text(text) => AttachmentBody::Text(Redacted::from_stored(text)),
                store::attachment::Body::Blob(index) => AttachmentBody::Blob { index },
            },
        })
    });
    attachments.collect()
}
