//! Files that came with inputs, as downloads.
//!
//! Invariant: a browser never opens a file that a client sent on our origin. It is saved, under a policy that lets it do
//! nothing; only an image whose bytes were found to be one is shown, and only where the client asks for that.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::Response;
use palyra_api::{ApiError, id};
use palyra_types::TapeSeq;
use palyra_types::media_type::media_type_of;

use crate::identity::HttpIdentity;
use crate::security_headers::POLICY_OF_FILES;
use crate::services::HttpServices;

/// The parameter of a client that shows images.
const INLINE: &str = "inline=true";
/// What is shown, once the bytes have proven it.
const RASTER_IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// What everything else is.
const OCTETS: &str = "application/octet-stream";

/// Which file.
pub(crate) struct FilePlace<'a> {
    pub(crate) run_id: &'a str,
    pub(crate) tape_seq: &'a str,
    pub(crate) index: &'a str,
}

/// Answers with the bytes of a file.
pub(crate) async fn respond(
    services: &HttpServices,
    identity: &HttpIdentity,
    place: FilePlace<'_>,
    query: &str,
) -> Result<Response, ApiError> {
    let number = |text: &str, what: &str| {
        text.parse().map_err(|_| ApiError::invalid_argument(&format!("`{what}` must be a number")))
    };
    let inline = match query {
        "" | "inline=false" => false,
        INLINE => true,
        _ => return Err(ApiError::invalid_argument("the only parameter is `inline`, true or false")),
    };
    let run = id("run_id", place.run_id)?;
    let tape_seq = TapeSeq(number(place.tape_seq, "tape_seq")?);
    let index = number(place.index, "index")?;
    let found = services.state.tapes.attachment(identity.caller(), run, tape_seq, index).await?;
    let (attachment, content) = found;
    Ok(file_response(attachment.name.expose(), content.into_exposed().to_vec(), inline))
}

fn file_response(name: &str, content: Vec<u8>, inline: bool) -> Response {
    let image = media_type_of("", "", &content).ok().filter(|found| RASTER_IMAGES.contains(&found.as_str()));
    let media_type = image.as_deref().unwrap_or(OCTETS);
    let shown = if inline && image.is_some() { "inline" } else { "attachment" };
    let media_type = HeaderValue::from_str(media_type).unwrap_or(HeaderValue::from_static(OCTETS));
    let disposition = HeaderValue::from_str(&format!("{shown}; {}", file_name(name)));
    let mut response = Response::new(Body::from(content));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media_type);
    headers.insert(CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment")));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY_OF_FILES));
    response
}

/// Returns the name of a file as parameters of `content-disposition` (RFC 6266): plain, and percent-encoded UTF-8.
fn file_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ') { c } else { '_' })
        .collect();
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n rest";

    fn told(name: &str, content: &[u8], inline: bool) -> (String, String) {
        let response = file_response(name, content.to_vec(), inline);
        let text = |name| response.headers()[name].to_str().expect("text").to_owned();
        assert_eq!(text(CONTENT_SECURITY_POLICY), POLICY_OF_FILES);
        (text(CONTENT_TYPE), text(CONTENT_DISPOSITION))
    }

    #[test]
    fn only_an_image_by_its_bytes_is_shown_and_only_when_asked() {
        let (media_type, shown) = told("a.png", PNG, true);
        assert_eq!((media_type.as_str(), shown.starts_with("inline; ")), ("image/png", true));
        assert!(told("a.png", PNG, false).1.starts_with("attachment; "));
        for (name, content) in [
            ("a.svg", b"<svg onload='alert(1)'/>".as_slice()),
            ("a.html", b"<script>alert(1)</script>"),
            ("a.png", b"<script>alert(1)</script>"),
            ("a.pdf", b"%PDF-1.7"),
        ] {
            let (media_type, shown) = told(name, content, true);
            assert_eq!((media_type.as_str(), shown.starts_with("attachment; ")), (OCTETS, true), "{name}");
        }
    }

    #[test]
    fn a_name_cannot_leave_its_parameter() {
        assert_eq!(file_name("a b.txt"), "filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt");
        let hostile = file_name("\"; filename=evil.exe\r\nx: é");
        assert_eq!(hostile.matches('"').count(), 2);
        assert!(hostile.is_ascii() && !hostile.contains(['\r', '\n']), "{hostile}");
    }
}
