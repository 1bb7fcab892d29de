//! Taking secrets out of text before it is decided on, hashed or stored.

use palyra_types::Redacted;

/// Cleans text at the two doors through which content enters: a run's mailbox and a session's input.
pub trait Redactor: Send + Sync {
    /// Returns the number of the rule set in force, recorded with each entry; 0 for none.
    fn ruleset(&self) -> u32;

    /// Returns the text with every recognised secret replaced by a placeholder.
    fn redact(&self, text: Redacted<String>) -> Redacted<String>;
}

/// Leaves every text as it is: rule set 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct PassThrough;

impl Redactor for PassThrough {
    fn ruleset(&self) -> u32 {
        0
    }

    fn redact(&self, text: Redacted<String>) -> Redacted<String> {
        text
    }
}
