//! Reading the arguments of a call, which already fitted the tool's schema.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};

/// The arguments cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidArguments;

impl InvalidArguments {
    /// What the model reads.
    pub const MESSAGE: &'static str = "the arguments do not match the tool's schema; send them again";
}

/// Reads arguments.
///
/// # Errors
/// [`InvalidArguments`] when they are not what the tool's schema asks.
pub fn parse<T: DeserializeOwned>(arguments: &str) -> Result<T, InvalidArguments> {
    serde_json::from_str(arguments).map_err(|_| InvalidArguments)
}

/// A whole number; JSON Schema takes `3.0` for one, and so does this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeNumber(pub u64);

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
        let number = serde_json::Number::deserialize(reader)?;
        if let Some(whole) = number.as_u64() {
            return Ok(Self(whole));
        }
        match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
            Some(value) if value.fract() == 0.0 && (0.0..=WHOLE_MAX).contains(&value) => {
                Ok(Self(value as u64))
            }
            _ => Err(D::Error::custom("not a whole number")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_come_in_two_spellings() {
        assert_eq!(parse::<WholeNumber>("3").unwrap(), WholeNumber(3));
        assert_eq!(parse::<WholeNumber>("3.0").unwrap(), WholeNumber(3));
        for text in ["-1", "3.5", "1e300", "\"3\"", "null"] {
            assert!(parse::<WholeNumber>(text).is_err(), "{text}");
        }
    }
}
