//! The name under which the output of a call is asked for.

use std::fmt;
use std::str::FromStr;

use palyra_types::{EffectId, RunId};

use crate::failure::CommandFailure;

/// Names the output of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputHandle {
    pub(crate) run: RunId,
    pub(crate) effect: EffectId,
}

impl fmt::Display for OutputHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.run, self.effect)
    }
}

impl FromStr for OutputHandle {
    type Err = CommandFailure;

    fn from_str(text: &str) -> Result<Self, CommandFailure> {
        let parts = text.rsplit_once('-');
        let read = parts.and_then(|(run, effect)| {
            Some(Self { run: run.parse().ok()?, effect: EffectId(effect.parse().ok()?) })
        });
        read.ok_or_else(|| {
            CommandFailure::Arguments(format!(
                "`{}` names no call; take it from the result that left bytes out",
                text.escape_debug()
            ))
        })
    }
}
