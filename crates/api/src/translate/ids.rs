//! Ids and small values out of requests, with errors that name the field and echo nothing.

use std::str::FromStr;
use std::time::Duration;

use palyra_types::model::ModelRef;

/// A field is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is not a ULID: 26 characters of upper-case Crockford base32 are expected")]
pub struct InvalidId {
    field: &'static str,
}

/// A field has a value that is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` must be {wanted}")]
pub struct InvalidValue {
    pub(super) field: &'static str,
    pub(super) wanted: &'static str,
}

impl InvalidValue {
    /// Names a field and what it must be.
    pub(crate) fn new(field: &'static str, wanted: &'static str) -> Self {
        Self { field, wanted }
    }
}

/// A token's life when the request names none.
const TOKEN_DAYS_DEFAULT: u32 = 30;
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Reads an id.
pub fn id<T: FromStr>(field: &'static str, text: &str) -> Result<T, InvalidId> {
    text.parse().map_err(|_| InvalidId { field })
}

/// Reads an optional `provider/model`.
pub(crate) fn model(text: &str) -> Result<Option<ModelRef>, InvalidValue> {
    if text.is_empty() {
        return Ok(None);
    }
    let wanted = "written as provider/model, such as demo/demo; `palyra model list --ask` shows them";
    ModelRef::parse(text).map(Some).ok_or(InvalidValue { field: "model", wanted })
}

/// Reads an optional agent's name.
pub(crate) fn agent_name(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// Reads a token's life; zero takes the default.
pub(crate) fn token_days(days: u32) -> Duration {
    DAY.saturating_mul(if days == 0 { TOKEN_DAYS_DEFAULT } else { days })
}
