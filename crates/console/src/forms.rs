//! Forms of pages: read strictly, and taken only with the token that the page was given.
//!
//! Invariant: a token is bound to a session and to the path of its form. It is derived from the session's cookie, which no
//! other page can read, so nothing is kept.

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::ORIGIN;
use palyra_api::ApiError;
use palyra_http::{query_pairs, read_body};
use palyra_types::ErrorCode;
use sha2::{Digest, Sha256};

/// Bytes of a form, at most.
pub(crate) const FORM_BYTES_MAX: usize = 256 * 1024;
const TOKEN_FIELD: &str = "token";

/// Returns the token of a form.
pub(crate) fn form_token(cookie: &str, path: &str) -> String {
    let digest = Sha256::new()
        .chain_update("palyra form\0")
        .chain_update(cookie)
        .chain_update("\0")
        .chain_update(path);
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The fields of a form.
#[derive(Clone, Default)]
pub(crate) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// Returns a field; empty where there is none. Line breaks are as people write them in files.
    pub(crate) fn text(&self, name: &str) -> String {
        let value = self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        value.unwrap_or_default().replace("\r\n", "\n")
    }

    pub(crate) fn parse(text: &str) -> Result<Self, ApiError> {
        let pairs = query_pairs(text).map_err(|fault| ApiError::invalid_argument(&fault.to_string()))?;
        Ok(Self(pairs))
    }

    /// Checks the token for the form at `path`.
    fn check(&self, cookie: &str, path: &str) -> Result<(), ApiError> {
        let given = self.text(TOKEN_FIELD);
        let expected = form_token(cookie, path);
        let same_length = given.len() == expected.len();
        let difference =
            given.bytes().zip(expected.bytes()).fold(0, |sum, (left, right)| sum | (left ^ right));
        if same_length && difference == 0 { Ok(()) } else { Err(foreign_form()) }
    }
}

/// Reads the form that was sent to `path` by a page of this session.
///
/// # Errors
/// [`ApiError`]: the form does not come from a page of ours, has another session's token, or cannot be read.
pub(crate) async fn read_form(
    headers: &HeaderMap,
    body: Body,
    cookie: &str,
    path: &str,
) -> Result<FormFields, ApiError> {
    check_sender(headers)?;
    let bytes = read_body(body).await?;
    let text =
        std::str::from_utf8(&bytes).map_err(|_| ApiError::invalid_argument("the form is not UTF-8"))?;
    let fields = FormFields::parse(text)?;
    fields.check(cookie, path)?;
    Ok(fields)
}

/// Checks that a page of ours sent a form. The gate refused every other page that a browser names, and a browser names the
/// page in at least one of the two headers.
pub(crate) fn check_sender(headers: &HeaderMap) -> Result<(), ApiError> {
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    match (site, headers.contains_key(ORIGIN)) {
        (Some("same-origin"), _) | (None, true) => Ok(()),
        (Some(_), _) | (None, false) => Err(foreign_form()),
    }
}

fn foreign_form() -> ApiError {
    let text = "the form does not belong to this session: load the page again and send it from there";
    ApiError::new(ErrorCode::CrossSiteRequest, text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_one_session_and_one_form() {
        let token = form_token("cookie", "/console/a");
        let form = FormFields::parse(&format!("note=a%0D%0Ab+c&token={token}")).unwrap();
        assert!(form.check("cookie", "/console/a").is_ok());
        for (cookie, path) in [("other", "/console/a"), ("cookie", "/console/b"), ("cookie/console/", "a")] {
            assert!(form.check(cookie, path).is_err(), "{cookie} {path}");
        }
        assert_eq!((form.text("note").as_str(), form.text("none").as_str()), ("a\nb c", ""));
        for bad in ["", "token=", "token=ab", &format!("token={token}0")] {
            assert!(FormFields::parse(bad).unwrap().check("cookie", "/console/a").is_err(), "{bad}");
        }
    }

    #[test]
    fn a_form_comes_from_a_page_of_ours() {
        let checked = |lines: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.insert(*name, value.parse().unwrap());
            }
            check_sender(&headers).is_ok()
        };
        assert!(
            checked(&[("sec-fetch-site", "same-origin")]) && checked(&[("origin", "http://localhost:1")])
        );
        assert!(!checked(&[]));
        for site in ["cross-site", "same-site", "none"] {
            assert!(!checked(&[("sec-fetch-site", site), ("origin", "http://localhost:1")]), "{site}");
        }
    }
}
