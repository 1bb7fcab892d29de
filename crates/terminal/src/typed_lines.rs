//! Lines of a pipe or a file on standard input, without blocking anything else.
//!
//! They are read ahead, so none of them may answer a question: that is what the prompt reader is for.

use std::io::{BufRead, Read};

use tokio::sync::mpsc;

/// Longer lines are cut into several.
const LINE_BYTES_MAX: u64 = 1024 * 1024;

/// Lines in the order they were typed.
pub struct TypedLines {
    lines: mpsc::Receiver<String>,
}

impl TypedLines {
    /// Reads standard input from now on, one line ahead.
    pub fn of_process() -> Self {
        Self::of(|| Box::new(std::io::stdin().lock()))
    }

    /// Reads any source. A thread, since a terminal cannot be waited for in another way everywhere.
    pub fn of(open: impl FnOnce() -> Box<dyn BufRead> + Send + 'static) -> Self {
        let (sender, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            let mut source = open();
            while let Some(line) = read_line(source.as_mut()) {
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Self { lines }
    }

    /// Returns the next line without its end; `None` at the end of input.
    pub async fn next(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}

fn read_line(source: &mut dyn BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    let count = source.take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes).ok()?;
    if count == 0 {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_in_order_and_end() {
        let mut lines = TypedLines::of(|| Box::new(&b"one\r\n\ntwo\xff\nlast"[..]));
        let mut typed = Vec::new();
        while let Some(line) = lines.next().await {
            typed.push(line);
        }
        assert_eq!(typed, ["one", "", "two\u{fffd}", "last"]);
    }
}
