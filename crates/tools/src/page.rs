//! The text a tool gives back, kept within the bytes it was granted.
//!
//! Owns the cut: a page takes whole lines until it is full and counts the rest. Invariant: never longer than the grant,
//! always valid UTF-8.

use palyra_tool_kit::ToolResult;

/// Kept free for the notes that say how to go on, in bytes.
const NOTES_BYTES: usize = 512;

/// Lines, as many as fit.
#[derive(Debug)]
pub(crate) struct LinePage {
    text: String,
    bytes_max: usize,
    bytes_total: u64,
    is_full: bool,
}

impl LinePage {
    /// Makes an empty page for a grant of `output_bytes_max`.
    pub(crate) fn new(output_bytes_max: usize) -> Self {
        let bytes_max = output_bytes_max.saturating_sub(NOTES_BYTES);
        Self { text: String::new(), bytes_max, bytes_total: 0, is_full: false }
    }

    /// Adds text, which carries its own line end, or counts it when the page is full.
    pub(crate) fn push(&mut self, text: &str) {
        self.bytes_total += text.len() as u64;
        if self.is_full || text.len() > self.room() {
            self.is_full = true;
        } else {
            self.text.push_str(text);
        }
    }

    /// Adds as much of `text` as fits, however little, and is full.
    pub(crate) fn push_part(&mut self, text: &str) {
        self.bytes_total += text.len() as u64;
        self.text.push_str(&text[..text.floor_char_boundary(self.room())]);
        self.is_full = true;
    }

    /// Takes nothing more.
    pub(crate) fn close(&mut self) {
        self.is_full = true;
    }

    /// Returns how long the longest text is that an empty page takes.
    pub(crate) fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Returns whether anything was left out.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns whether nothing was taken yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the page between a first line, if any, and notes; both stand in brackets, the tool's own voice.
    pub(crate) fn finish(self, head: &str, notes: &[String]) -> ToolResult {
        let mut text = String::with_capacity(head.len() + self.text.len() + NOTES_BYTES);
        if !head.is_empty() {
            text.push_str(&format!("[{head}]\n"));
        }
        text.push_str(&self.text);
        if !notes.is_empty() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&format!("[{}]", notes.join("; ")));
        }
        ToolResult { text, bytes_total: self.bytes_total, ..ToolResult::default() }
    }

    fn room(&self) -> usize {
        self.bytes_max.saturating_sub(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_page_counts_what_it_leaves_out() {
        let mut page = LinePage::new(NOTES_BYTES + 8);
        for line in ["one\n", "two\n", "three\n", "x\n"] {
            page.push(line);
        }
        assert!(page.is_full());
        let output = page.finish("head", &["note".to_owned(), "more".to_owned()]);
        assert_eq!(output.text, "[head]\none\ntwo\n[note; more]");
        assert_eq!(output.bytes_total, 16);
    }
}
