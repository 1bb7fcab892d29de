//! What a running tool prints, while it prints it.
//!
//! For people who watch: what the model reads is the outcome, and nothing of that depends on who listens here.

use std::fmt;
use std::sync::Arc;

/// Takes what a tool prints.
pub trait HearOutput: Send + Sync {
    /// Takes the next bytes, wherever they may be cut, and does not wait for anything: what is more than is shown is
    /// forgotten.
    fn hear(&self, bytes: &[u8]);
}

/// Where a running tool says what it prints; clones lead to the same place. The default has nobody who listens.
#[derive(Clone, Default)]
pub struct OutputSink(Option<Arc<dyn HearOutput>>);

impl OutputSink {
    /// Makes one that somebody listens to.
    #[must_use]
    pub fn new(listener: Arc<dyn HearOutput>) -> Self {
        Self(Some(listener))
    }

    /// Says what was printed.
    pub fn print(&self, bytes: &[u8]) {
        if let Some(listener) = &self.0 {
            listener.hear(bytes);
        }
    }
}

impl fmt::Debug for OutputSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heard = if self.0.is_some() { "OutputSink(heard)" } else { "OutputSink(not heard)" };
        formatter.write_str(heard)
    }
}
