//! Remarks about files that go along with an input.

use palyra_screen_text::{bytes, clean_line};
use palyra_types::attachment::{ATTACHMENT_NAME_CHARS_MAX, ATTACHMENT_TEXT_BYTES_MAX};
use palyra_types::media_type::is_text_type;
use palyra_wire::v1;

/// Returns a line about each file of which no model sees more than name, type and size.
#[must_use]
pub fn attachment_remarks(files: &[v1::Attachment]) -> Vec<String> {
    let limit = bytes(ATTACHMENT_TEXT_BYTES_MAX as u64);
    let unseen = files.iter().filter(|file| is_unseen(file));
    let line = |file: &v1::Attachment| {
        format!(
            "the model learns only name, type and size of {}: it is shown texts up to {limit}, and images",
            clean_line(&file.name, ATTACHMENT_NAME_CHARS_MAX)
        )
    };
    unseen.map(line).collect()
}

fn is_unseen(file: &v1::Attachment) -> bool {
    match file.media_type.as_str() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => false,
        text if is_text_type(text) => file.content.len() > ATTACHMENT_TEXT_BYTES_MAX,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_which_a_model_sees_the_name_alone_have_a_remark() {
        let long = ATTACHMENT_TEXT_BYTES_MAX + 1;
        for (media_type, size, remarks) in [
            ("application/json", long, 1),
            ("application/json", long - 1, 0),
            ("application/pdf", 8, 1),
            ("application/octet-stream", 1, 1),
            ("image/jpeg", 4, 0),
            ("text/plain", 0, 0),
        ] {
            let file = v1::Attachment {
                media_type: media_type.to_owned(),
                content: vec![b'x'; size],
                ..Default::default()
            };
            assert_eq!(attachment_remarks(&[file]).len(), remarks, "{media_type}, {size}");
        }
    }
}
