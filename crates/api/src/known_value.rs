//! Values of enumerations that a client sends.

use palyra_wire::short_names::must_be;

use crate::api_error::ApiError;

/// Returns the value of an enumeration, unless a newer client sent one that this version does not have.
pub(crate) fn known<E: TryFrom<i32>>(number: i32, field: &str, names: &[&str]) -> Result<E, ApiError> {
    E::try_from(number).map_err(|_| ApiError::invalid_argument(&must_be(field, names)))
}
