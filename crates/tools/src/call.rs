//! One call as a tool sees it.

use palyra_ports::CancelFlag;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};

use crate::failure::ToolFailure;
use crate::workspace::Workspace;

/// What a tool is given: arguments, a workspace, a limit, and a flag that ends it.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    /// The workspace, open.
    pub(crate) workspace: &'c Workspace,
    /// How much output is kept, in bytes.
    pub(crate) output_bytes_max: usize,
    /// Raised when the run no longer wants the result.
    pub(crate) cancel: &'c CancelFlag,
}

impl Call<'_> {
    /// Fails once the run was cancelled.
    pub(crate) fn check_cancel(&self) -> Result<(), ToolFailure> {
        if self.cancel.is_cancelled() { Err(ToolFailure::Cancelled) } else { Ok(()) }
    }
}

/// Reads arguments that already fitted the tool's schema.
pub(crate) fn parse<T: DeserializeOwned>(arguments: &str) -> Result<T, ToolFailure> {
    serde_json::from_str(arguments).map_err(|_| {
        ToolFailure::Arguments("the arguments do not match the tool's schema; send them again".to_owned())
    })
}

/// A whole number; JSON Schema takes `3.0` for one, and so does this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) u64);

impl<'de> Deserialize<'de> for Count {
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
        assert_eq!(parse::<Count>("3").unwrap(), Count(3));
        assert_eq!(parse::<Count>("3.0").unwrap(), Count(3));
        for text in ["-1", "3.5", "1e300", "\"3\"", "null"] {
            assert!(parse::<Count>(text).is_err(), "{text}");
        }
    }
}
