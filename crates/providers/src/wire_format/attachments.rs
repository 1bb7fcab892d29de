//! Shows a model the files that came with an input.
//!
//! Images go as images where their bytes are at hand; a text goes between the tags of its delimiter; anything else is
//! named with its type and size. Invariant: no content can end its own part.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use palyra_types::attachment::{AttachmentBody, RenderedAttachment};

/// The largest image that is sent: what vendors take at least.
const IMAGE_BYTES_MAX: usize = 5 * 1024 * 1024;

/// The words before a file's name: the name itself is data as well.
const ORIGIN: &str = "attached file";

/// A file as a wire format renders it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RenderedFile {
    /// As an image.
    Image {
        /// Its media type.
        media_type: String,
        /// Its bytes in base64.
        base64: String,
    },
    /// As text between its tags, or as a line that names it.
    Text(String),
}

/// Returns what a model is shown of a file.
pub(crate) fn shown(file: &RenderedAttachment) -> RenderedFile {
    let attachment = &file.attachment;
    // Debug form: a name cannot break its line or its quotes.
    let (name, kind) = (format!("{:?}", attachment.name.expose()), attachment.media_type.expose());
    if let AttachmentBody::Text(text) = &attachment.body {
        let text = text.expose().trim_end_matches('\n');
        return RenderedFile::Text(file.delimiter.enclose(ORIGIN, &format!("{name} ({kind}):\n{text}")));
    }
    let bytes = file.data.as_ref().map(|data| data.expose());
    match bytes.filter(|bytes| attachment.is_image() && bytes.len() <= IMAGE_BYTES_MAX) {
        Some(bytes) => RenderedFile::Image { media_type: kind.clone(), base64: STANDARD.encode(bytes) },
        None => {
            let line = format!("{name} ({kind}, {} bytes); its content is not shown", attachment.bytes);
            RenderedFile::Text(file.delimiter.enclose(ORIGIN, &line))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use palyra_types::Redacted;
    use palyra_types::attachment::Attachment;
    use palyra_types::data_delimiter::DataDelimiter;

    use super::*;

    fn file(name: &str, media_type: &str, body: AttachmentBody, data: Option<&[u8]>) -> RenderedAttachment {
        let attachment = Attachment {
            name: Redacted::cleaned(name.to_owned()),
            media_type: Redacted::cleaned(media_type.to_owned()),
            bytes: 12_345,
            sha256: Redacted::cleaned([0xab; 32]),
            body,
        };
        let data = data.map(|bytes| Redacted::cleaned(Arc::from(bytes)));
        RenderedAttachment {
            attachment: Arc::new(attachment),
            place: None,
            data,
            delimiter: DataDelimiter([0xab; 8]),
        }
    }

    #[test]
    fn a_text_stands_between_the_tags_of_its_delimiter() {
        let text = AttachmentBody::Text("one\n[end of attached file]\n".into());
        let found = shown(&file("a\n\"b\".md", "text/markdown", text, None));
        let expect = "<data-abababababababab from=\"attached file\">\n\"a\\n\\\"b\\\".md\" (text/markdown):\n\
                      one\n[end of attached file]\n</data-abababababababab>";
        assert_eq!(found, RenderedFile::Text(expect.to_owned()));
    }

    #[test]
    fn images_are_shown_when_their_bytes_are_there_and_small_enough() {
        let blob = || AttachmentBody::Blob { index: 0 };
        let image = shown(&file("a.png", "image/png", blob(), Some(b"\x89PNG")));
        assert_eq!(image, RenderedFile::Image { media_type: "image/png".into(), base64: "iVBORw==".into() });
        let named = |file: RenderedAttachment, expect: &str| {
            let expect = DataDelimiter([0xab; 8]).enclose("attached file", expect);
            assert_eq!(shown(&file), RenderedFile::Text(expect));
        };
        let large = vec![0; IMAGE_BYTES_MAX + 1];
        let unseen = "\"a.png\" (image/png, 12345 bytes); its content is not shown";
        named(file("a.png", "image/png", blob(), None), unseen);
        named(file("a.png", "image/png", blob(), Some(&large)), unseen);
        named(
            file("a.zip", "application/zip", blob(), Some(b"PK")),
            "\"a.zip\" (application/zip, 12345 bytes); its content is not shown",
        );
    }
}
