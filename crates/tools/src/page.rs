//! The text a tool gives back, kept within the bytes it was granted.
//!
//! Owns the cut: a page takes whole lines until it is full and counts the rest; what still is too
//! long in the end loses its middle. Invariant: never longer than the grant, always valid UTF-8.

/// Kept free for the notes that say how to go on, in bytes.
const NOTES_BYTES: usize = 512;
/// Below this many bytes a cut text keeps no tail.
const TAIL_FROM_BYTES: usize = 1024;

/// What a tool made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolOutput {
    /// What the model will read.
    pub(crate) text: String,
    /// Bytes there were before anything was left out.
    pub(crate) bytes_total: u64,
}

/// Lines, as many as fit.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    bytes_max: usize,
    bytes_total: u64,
    is_full: bool,
}

impl Page {
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
    pub(crate) fn finish(self, head: &str, notes: &[String]) -> ToolOutput {
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
        ToolOutput { text, bytes_total: self.bytes_total }
    }

    fn room(&self) -> usize {
        self.bytes_max.saturating_sub(self.text.len())
    }
}

/// Returns `text` in at most `bytes_max` bytes: its head, what was left out, its tail.
pub(crate) fn bounded(text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let note = format!("\n[{} bytes in all, the middle left out; ask for a smaller part]\n", text.len());
    if bytes_max < TAIL_FROM_BYTES {
        return text[..text.floor_char_boundary(bytes_max)].to_owned();
    }
    let room = bytes_max - note.len();
    let head = &text[..text.floor_char_boundary(room / 4 * 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - (room - room / 4 * 3))..];
    format!("{head}{note}{tail}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_full_page_counts_what_it_leaves_out() {
        let mut page = Page::new(NOTES_BYTES + 8);
        for line in ["one\n", "two\n", "three\n", "x\n"] {
            page.push(line);
        }
        assert!(page.is_full());
        let output = page.finish("head", &["note".to_owned(), "more".to_owned()]);
        assert_eq!(output.text, "[head]\none\ntwo\n[note; more]");
        assert_eq!(output.bytes_total, 16);
    }

    proptest! {
        #[test]
        fn a_bounded_text_fits_and_keeps_its_ends(text in "[a\u{e9}\u{1f600}\n]{0,2000}", bytes_max in 0usize..4000) {
            let cut = bounded(text.clone(), bytes_max);
            prop_assert!(cut.len() <= bytes_max);
            if text.len() <= bytes_max {
                prop_assert_eq!(cut, text);
            } else if bytes_max >= TAIL_FROM_BYTES {
                prop_assert_eq!(cut.chars().next_back(), text.chars().next_back());
                prop_assert_eq!(cut.chars().next(), text.chars().next());
            }
        }
    }
}
