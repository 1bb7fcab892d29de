//! Reading one header strictly.

use axum::http::HeaderMap;

/// Returns the value of a header that occurs once and is text.
pub(crate) fn only_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}
