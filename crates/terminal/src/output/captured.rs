//! An output whose streams are read by a test.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use super::{ErrorFormat, Output, Sink, StreamKind};

/// What both streams are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapturedKind {
    /// A terminal of 80 columns without colors.
    Terminal,
    /// A pipe.
    Pipe,
}

/// What was written to one stream.
#[derive(Clone, Default)]
pub struct CapturedOutput(Arc<Mutex<Vec<u8>>>);

impl CapturedOutput {
    /// Returns what was written so far.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for CapturedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn sink(writer: impl Write + Send + 'static, kind: CapturedKind) -> Sink {
    let kind = match kind {
        CapturedKind::Terminal => StreamKind::Colorless,
        CapturedKind::Pipe => StreamKind::Plain,
    };
    Sink { writer: Box::new(writer), kind, columns: Some(80) }
}

/// Returns an output and what is written to its two streams.
#[must_use]
pub fn captured(kind: CapturedKind) -> (Output, CapturedOutput, CapturedOutput) {
    let (out, err) = (CapturedOutput::default(), CapturedOutput::default());
    let output = Output::new(sink(out.clone(), kind), sink(err.clone(), kind), ErrorFormat::Text);
    (output, out, err)
}
