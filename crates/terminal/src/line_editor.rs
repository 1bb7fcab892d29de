//! Lines typed at a terminal with editing, history and completion.
//!
//! Owns the file that keeps the history: only the person may read it, and it holds a bounded number of
//! lines. Knows no verb; what completes is handed in. A pasted text is one line here, however many
//! lines it has; Alt-Enter and a backslash at the end go on in a new one.
//!
//! Lines that arrive together are read at once; those behind the first are kept for the next call of
//! [`LineEditor::read`]. Invariant: none of them is ever returned by [`LineEditor::read_answer`].

use std::borrow::Cow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{FileHistory, History};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Cmd, Config, Context, Editor, Helper, KeyCode, KeyEvent, Modifiers};

use unicode_width::UnicodeWidthStr;

use super::output::Output;
use crate::output_error::OutputError;

/// Lines that the history keeps.
pub(super) const HISTORY_LINES_MAX: usize = 1_000;
/// A longer line, such as a pasted file, is not kept.
const HISTORY_LINE_BYTES_MAX: usize = 16 * 1024;

/// Returns what may take the place of the last word of a line, given the line up to the cursor.
pub type CompletionSource = Arc<dyn Fn(&str) -> WordSuggestions + Send + Sync>;

/// What may take the place of the last word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordSuggestions {
    /// One of these words.
    Words(Vec<String>),
    /// A file.
    Files,
}

/// What came of reading a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineOutcome {
    /// A line, or several.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D on an empty line.
    End,
}

/// An editor on standard input and output, which both are a terminal.
pub struct LineEditor {
    /// Keeps what was read behind the last line.
    editor: Option<WordEditor>,
    history: Option<PathBuf>,
    completions: CompletionSource,
}

type WordEditor = Editor<WordCompleter, FileHistory>;

impl LineEditor {
    /// Opens an editor; its history comes from a file, where that can be read.
    pub fn open(history: Option<PathBuf>, completions: CompletionSource) -> Result<Self, OutputError> {
        let mut editor = new_editor(&completions)?;
        if let Some(file) = &history {
            make_private(file);
            // The first chat has none, and a broken one is not worth a word.
            let _ = editor.load_history(file);
        }
        Ok(Self { editor: Some(editor), history, completions })
    }

    /// Reads the next line: one that arrived together with an earlier one, or else what is typed now. The history keeps it
    /// unless `is_answer` says that it answers a question. Must not be dropped before it returns: keys would be lost.
    pub async fn read(
        &mut self,
        prompt: &str,
        is_answer: impl Fn(&str) -> bool,
        output: &Output,
    ) -> Result<LineOutcome, OutputError> {
        let Some(editor) = self.editor.take() else { return Ok(LineOutcome::End) };
        let (editor, typed) = read_line(editor, prompt, output).await?;
        self.editor = Some(editor);
        self.take_typed(prompt, typed, is_answer, output)
    }

    /// Reads a line from the terminal alone, which may answer the question on the screen: lines that arrived before it stay
    /// for [`read`](Self::read). Must not be dropped before it returns either.
    pub async fn read_answer(
        &mut self,
        prompt: &str,
        is_answer: impl Fn(&str) -> bool,
        output: &Output,
    ) -> Result<LineOutcome, OutputError> {
        let mut editor = new_editor(&self.completions)?;
        for line in self.editor.iter().flat_map(|kept| kept.history().iter()) {
            let _ = editor.add_history_entry(line);
        }
        let (_, typed) = read_line(editor, prompt, output).await?;
        self.take_typed(prompt, typed, is_answer, output)
    }

    fn take_typed(
        &mut self,
        prompt: &str,
        typed: rustyline::Result<String>,
        is_answer: impl Fn(&str) -> bool,
        output: &Output,
    ) -> Result<LineOutcome, OutputError> {
        match typed {
            Ok(line) => {
                if let Some(editor) = self.editor.as_mut().filter(|_| !is_answer(&line)) {
                    keep(editor, &line, self.history.as_deref());
                }
                if output.columns().is_some_and(|columns| fills_its_row(prompt, &line, columns)) {
                    output.go_up();
                }
                Ok(LineOutcome::Text(joined(&line)))
            }
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Ok(LineOutcome::Interrupted),
            Err(ReadlineError::Eof) => Ok(LineOutcome::End),
            Err(error) => Err(unusable(&error)),
        }
    }
}

fn new_editor(completions: &CompletionSource) -> Result<WordEditor, OutputError> {
    let config = Config::builder()
        .max_history_size(HISTORY_LINES_MAX)
        .and_then(|config| config.history_ignore_dups(true))
        .map_err(|error| unusable(&error))?
        .history_ignore_space(true)
        .build();
    let mut editor = Editor::with_config(config).map_err(|error| unusable(&error))?;
    editor.set_helper(Some(WordCompleter {
        completions: Arc::clone(completions),
        files: FilenameCompleter::new(),
    }));
    editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
    Ok(editor)
}

async fn read_line(
    mut editor: WordEditor,
    prompt: &str,
    output: &Output,
) -> Result<(WordEditor, rustyline::Result<String>), OutputError> {
    output.close_line();
    let shown = prompt.to_owned();
    let read = tokio::task::spawn_blocking(move || {
        let typed = editor.readline(shown.as_str());
        (editor, typed)
    });
    read.await.map_err(|error| unusable(&ReadlineError::Io(error.into())))
}

/// Returns whether a line ends where its terminal does: then the editor went on to the next row by itself.
fn fills_its_row(prompt: &str, line: &str, columns: usize) -> bool {
    let (before, last) = line.rsplit_once('\n').map_or((prompt, line), |(_, last)| ("", last));
    let width = before.width() + last.width();
    width > 0 && columns > 0 && width.is_multiple_of(columns)
}

fn unusable(error: &ReadlineError) -> OutputError {
    OutputError::Failed(std::io::Error::other(format!("the terminal cannot be used: {error}")))
}

/// What people typed is private, also when another program made the file.
fn make_private(file: &Path) {
    if let Some(folder) = file.parent() {
        use std::os::unix::fs::DirBuilderExt;
        let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    }
    if file.exists() {
        let _ = std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600));
    }
}

fn keep(editor: &mut WordEditor, line: &str, history: Option<&Path>) {
    if line.trim().is_empty() || line.len() > HISTORY_LINE_BYTES_MAX {
        return;
    }
    let added = editor.add_history_entry(line).unwrap_or(false);
    if let (true, Some(file)) = (added, history) {
        // The line counts, not its memory.
        let _ = editor.history_mut().append(file);
    }
}

/// Takes out the backslashes that only said that more follows.
pub fn joined(line: &str) -> String {
    line.replace("\\\n", "\n")
}

/// Returns whether a line says that more follows.
pub fn goes_on(line: &str) -> bool {
    line.ends_with('\\') && !line.ends_with("\\\\")
}

struct WordCompleter {
    completions: CompletionSource,
    files: FilenameCompleter,
}

impl Helper for WordCompleter {}

impl Hinter for WordCompleter {
    type Hint = String;
}

impl Highlighter for WordCompleter {
    fn highlight_candidate<'c>(&self, candidate: &'c str, _: rustyline::CompletionType) -> Cow<'c, str> {
        Cow::Borrowed(candidate)
    }
}

impl Validator for WordCompleter {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let more = goes_on(context.input());
        Ok(if more { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for WordCompleter {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..at).unwrap_or(line);
        let begin = before.rfind(char::is_whitespace).map_or(0, |blank| blank + 1);
        match (self.completions)(before) {
            WordSuggestions::Files => self.files.complete_path(line, at),
            WordSuggestions::Words(words) => {
                let fitting = words.into_iter().filter(|word| word.starts_with(&before[begin..]));
                let pairs =
                    fitting.map(|word| Pair { display: word.clone(), replacement: format!("{word} ") });
                Ok((begin, pairs.collect()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(completions: impl Fn(&str) -> WordSuggestions + Send + Sync + 'static) -> WordCompleter {
        WordCompleter { completions: Arc::new(completions), files: FilenameCompleter::new() }
    }

    #[test]
    fn the_last_word_is_completed() {
        let words = words(|_| WordSuggestions::Words(vec!["/reset".into(), "/run".into(), "/quit".into()]));
        let history = FileHistory::with_config(&Config::default());
        let (begin, found) = words.complete("say /r", 6, &Context::new(&history)).unwrap();
        let found: Vec<_> = found.into_iter().map(|pair| pair.replacement).collect();
        assert_eq!((begin, found), (4, vec!["/reset ".to_owned(), "/run ".to_owned()]));
    }

    #[test]
    fn a_line_that_ends_where_the_terminal_does_is_known() {
        for (line, expect) in [
            ("", false),
            ("12345678", true),
            ("1234567", false),
            ("123456789", false),
            ("123456789012345678", true),
            ("灯りの箱", true),
            ("one\n12345678", false),
            ("one\n1234567890", true),
        ] {
            assert_eq!(fills_its_row("> ", line, 10), expect, "{line}");
        }
    }

    #[test]
    fn a_backslash_at_the_end_goes_on() {
        assert!(goes_on("one \\") && !goes_on("one \\\\") && !goes_on("one"));
        assert_eq!(joined("one \\\ntwo\nthree"), "one \ntwo\nthree");
    }

    #[test]
    fn the_history_is_private_bounded_and_leaves_long_texts_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/history");
        let open = || LineEditor::open(Some(file.clone()), Arc::new(|_| WordSuggestions::Files)).unwrap();
        let mut first = open();
        let editor = first.editor.as_mut().unwrap();
        keep(editor, &"x".repeat(HISTORY_LINE_BYTES_MAX + 1), Some(&file));
        keep(editor, " secret", Some(&file));
        for number in 0..HISTORY_LINES_MAX + 5 {
            keep(editor, &format!("line {number}\nof two"), Some(&file));
        }
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let again = open();
        let history = again.editor.as_ref().unwrap().history();
        assert_eq!(
            (history.len(), &history[history.len() - 1]),
            (HISTORY_LINES_MAX, &"line 1004\nof two".to_owned())
        );
        assert!(!std::fs::read_to_string(&file).unwrap().contains("secret"));
    }

    #[test]
    fn the_history_is_private_whatever_was_there_before() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("wide"), "#V2\n").unwrap();
        std::fs::set_permissions(at("wide"), std::fs::Permissions::from_mode(0o666)).unwrap();
        symlink(at("wide"), at("link")).unwrap();
        symlink(at("not yet"), at("dangling")).unwrap();
        for (history, kept) in [
            ("new/er/history", "new/er/history"),
            ("wide", "wide"),
            ("link", "wide"),
            ("dangling", "not yet"),
        ] {
            let mut editor =
                LineEditor::open(Some(at(history)), Arc::new(|_| WordSuggestions::Files)).unwrap();
            keep(editor.editor.as_mut().unwrap(), "CANARY", Some(&at(history)));
            assert!(std::fs::read_to_string(at(kept)).unwrap().contains("CANARY"), "{history}");
            assert_eq!(std::fs::metadata(at(kept)).unwrap().permissions().mode() & 0o777, 0o600, "{history}");
        }
        assert_eq!(std::fs::metadata(at("new")).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
