//! What a page may use up, and how it is told that something was left out.

use std::time::Duration;

/// What a page may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// How much of its source is read; the rest is left out.
    pub source_bytes_max: usize,
    /// How many elements, texts and comments its tree may have; the source behind them is left out.
    pub nodes_max: usize,
    /// How deep its tree may be; what lies deeper is left out.
    pub depth_max: usize,
    /// How long the Markdown may be; the rest is left out.
    pub markdown_bytes_max: usize,
    /// How long parsing may take. Finding the article comes on top: it is tried only while half of this is left.
    pub time_max: Duration,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self {
            source_bytes_max: 2 << 20,
            nodes_max: 60_000,
            depth_max: 192,
            markdown_bytes_max: 1 << 20,
            time_max: Duration::from_secs(2),
        }
    }
}

/// Whether a page was read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageExtent {
    /// All of it.
    Whole,
    /// A limit left something out.
    Cut,
}

/// Why a page is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// Its tree took too long to build.
    #[error("the page took too long to read")]
    TimedOut,
}
