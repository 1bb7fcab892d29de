//! The content of a message: a text, or parts of text, images and files.
//!
//! Files come inside the request. An address to fetch is refused: what the daemon fetches, its agent decides.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use palyra_types::Content;
use serde_json::Value;

use crate::error_reply::ErrorReply;
use crate::request::client_message::ClientFile;
use crate::request::fields::FieldReader;

/// Parts of one message, at most.
const PARTS_MAX: usize = 1_024;

/// What a message says.
#[derive(Debug, Default)]
pub(crate) struct MessageContent {
    pub(crate) text: String,
    pub(crate) files: Vec<ClientFile>,
}

impl MessageContent {
    /// Reads the content at a path: a string, parts, or nothing.
    pub(crate) fn read(path: &str, content: Option<&Value>) -> Result<Self, ErrorReply> {
        let mut read = Self::default();
        match content {
            None => {}
            Some(Value::String(text)) => read.text.clone_from(text),
            Some(Value::Array(parts)) if parts.len() <= PARTS_MAX => {
                for (index, part) in parts.iter().enumerate() {
                    read.part(&FieldReader::at(format!("{path}[{index}]"), part)?)?;
                }
            }
            Some(_) => {
                let text = format!("`{path}` is a string or at most {PARTS_MAX} parts.");
                return Err(ErrorReply::invalid(path, text));
            }
        }
        Ok(read)
    }

    fn part(&mut self, part: &FieldReader<'_>) -> Result<(), ErrorReply> {
        let kind = part.text("type")?.ok_or_else(|| part.missing("type"))?;
        match kind {
            "text" | "input_text" | "output_text" => self.add_text(part.text("text")?.unwrap_or_default()),
            "refusal" => self.add_text(part.text("refusal")?.unwrap_or_default()),
            "image_url" => {
                let image = part.object("image_url")?.ok_or_else(|| part.missing("image_url"))?;
                self.image(&image, "url")?;
            }
            "input_image" => self.image(part, "image_url")?,
            "file" => {
                let file = part.object("file")?.ok_or_else(|| part.missing("file"))?;
                self.file(&file)?;
            }
            "input_file" => self.file(part)?,
            _ => {
                let text = format!("Parts of the type `{kind}` are not supported.");
                return Err(ErrorReply::unsupported(part.path("type"), text));
            }
        }
        Ok(())
    }

    fn add_text(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    fn image(&mut self, part: &FieldReader<'_>, member: &str) -> Result<(), ErrorReply> {
        let url = part.text(member)?.ok_or_else(|| part.missing(member))?;
        let (media_type, bytes) = data_url(url).ok_or_else(|| {
            let text =
                "Images come inside the request, as `data:image/png;base64,...`; an address is not fetched.";
            ErrorReply::invalid(part.path(member), text).with_code("invalid_image_url")
        })?;
        let extension = media_type.rsplit('/').next().unwrap_or("bin");
        let name = format!("image-{}.{extension}", self.files.len() + 1);
        self.files.push(ClientFile { name, media_type: media_type.to_owned(), bytes: Content::new(bytes) });
        Ok(())
    }

    fn file(&mut self, part: &FieldReader<'_>) -> Result<(), ErrorReply> {
        let data = part.text("file_data")?.ok_or_else(|| {
            let text = "Files come inside the request, in `file_data`; stored files and addresses are not supported.";
            ErrorReply::unsupported(part.path("file_data"), text)
        })?;
        let read = data_url(data).or_else(|| STANDARD.decode(data).ok().map(|bytes| ("", bytes)));
        let (media_type, bytes) = read.ok_or_else(|| part.wrong("file_data", "base64 or a data URL"))?;
        let unnamed = format!("file-{}", self.files.len() + 1);
        let name = part.text("filename")?.map_or(unnamed, str::to_owned);
        self.files.push(ClientFile { name, media_type: media_type.to_owned(), bytes: Content::new(bytes) });
        Ok(())
    }
}

fn data_url(url: &str) -> Option<(&str, Vec<u8>)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?.split(';').next()?;
    Some((media_type, STANDARD.decode(data).ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(content: &Value) -> Result<MessageContent, ErrorReply> {
        MessageContent::read("messages[0].content", Some(content))
    }

    #[test]
    fn content_is_a_string_null_or_parts() {
        assert_eq!(read(&json!("hello")).unwrap().text, "hello");
        assert_eq!(MessageContent::read("content", None).unwrap().text, "");
        let parts = json!([{ "type": "text", "text": "a" }, { "type": "output_text", "text": "b" }]);
        assert_eq!(read(&parts).unwrap().text, "a\nb");
        assert_eq!(read(&json!(7)).unwrap_err().param(), Some("messages[0].content"));
    }

    #[test]
    fn an_image_is_read_from_a_data_url_and_never_fetched() {
        let image = |url: &str| json!([{ "type": "image_url", "image_url": { "url": url } }]);
        let files = read(&image("data:image/png;base64,iVBORw==")).unwrap().files;
        assert_eq!((files[0].media_type.as_str(), files[0].name.as_str()), ("image/png", "image-1.png"));
        assert_eq!(files[0].bytes.expose(), &[0x89, b'P', b'N', b'G']);
        let error = read(&image("https://example.com/a.png")).err().unwrap();
        assert_eq!(error.param(), Some("messages[0].content[0].image_url.url"));
        let flat = json!([{ "type": "input_image", "image_url": "data:image/gif;base64,R0lG" }]);
        assert_eq!(read(&flat).unwrap().files[0].media_type, "image/gif");
    }

    #[test]
    fn a_file_is_read_from_the_request_and_audio_is_refused() {
        let file = json!([{ "type": "input_file", "filename": "a.txt", "file_data": "aGk=" }]);
        let files = read(&file).unwrap().files;
        assert_eq!((files[0].name.as_str(), files[0].bytes.expose().as_slice()), ("a.txt", b"hi".as_slice()));
        let stored = json!([{ "type": "input_file", "file_id": "file_1" }]);
        assert_eq!(read(&stored).err().unwrap().param(), Some("messages[0].content[0].file_data"));
        let audio = json!([{ "type": "input_audio", "input_audio": {} }]);
        assert_eq!(read(&audio).err().unwrap().code(), Some("unsupported_parameter"));
    }
}
