//! What reaches which stream, and what a terminal is spared.

use super::captured::{CapturedKind, CapturedOutput, captured, sink};
use super::*;

struct ClosedPipe;

impl Write for ClosedPipe {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_tools_print_is_for_a_terminal_and_cannot_steer_it() {
    for (kind, expect) in
        [(CapturedKind::Pipe, ""), (CapturedKind::Terminal, "┊         deep ␛[2J<U+202E>\n┊\n")]
    {
        let (output, out, err) = captured(kind);
        output.printed("\tdeep \u{1b}[2J\u{202e}");
        output.printed("");
        assert_eq!((out.text().as_str(), err.text().as_str()), ("", expect));
    }
    let (output, _, err) = captured(CapturedKind::Terminal);
    output.printed(&"ä".repeat(NOTE_CHARS_MAX + 1));
    assert_eq!(err.text().replace("\n┊ ", ""), format!("┊ {}…\n", "ä".repeat(NOTE_CHARS_MAX)));
}

#[test]
fn a_pipe_gets_exactly_what_was_said_and_a_terminal_what_is_harmless() {
    for (kind, expect) in
        [(CapturedKind::Pipe, "\u{1b}[31mred\r\n"), (CapturedKind::Terminal, "│ ␛[31mred\n")]
    {
        let (output, out, err) = captured(kind);
        output.text("\u{1b}[31m").unwrap();
        output.text("red\r").unwrap();
        output.text("\n").unwrap();
        output.note(NoteKind::Info, "a \u{1b}]0;title\u{7} note\nof two lines");
        assert_eq!(out.text(), expect);
        assert_eq!(err.text(), "· a ␛]0;title␇ note of two lines\n");
    }
}

/// Counts what is written at once.
#[derive(Clone, Default)]
struct Pieces(std::sync::Arc<Mutex<Vec<String>>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push(String::from_utf8_lossy(bytes).into_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_note_is_written_at_once() {
    for kind in [StreamKind::Plain, StreamKind::Colored] {
        let pieces = Pieces::default();
        let sink = |kind| Sink { writer: Box::new(pieces.clone()), kind, columns: Some(80) };
        Output::new(sink(StreamKind::Plain), sink(kind), ErrorFormat::Text).note(NoteKind::Bad, "26 more");
        let written = pieces.0.lock().unwrap().clone();
        assert!(written.len() == 1 && written[0].ends_with('\n'), "{written:?}");
    }
}

#[test]
fn on_a_terminal_a_note_begins_its_own_line() {
    let (output, out, err) = captured(CapturedKind::Terminal);
    output.text("half a line").unwrap();
    output.note(NoteKind::Good, "12 B");
    output.end_line().unwrap();
    assert_eq!((out.text().as_str(), err.text().as_str()), ("│ half a line", "\n✓ 12 B\n"));
    output.text("more").unwrap();
    output.end_line().unwrap();
    assert_eq!(out.text(), "│ half a line│ more\n");
}

#[test]
fn a_note_does_not_stick_to_a_prompt() {
    let (output, _, err) = captured(CapturedKind::Terminal);
    output.prompt("> ");
    output.note(NoteKind::Info, "interrupted");
    output.prompt("> ");
    output.line_was_typed();
    output.note(NoteKind::Info, "typed");
    assert_eq!(err.text(), "> \n· interrupted\n> · typed\n");
}

#[test]
fn colour_is_only_ours() {
    let (out, err) = (CapturedOutput::default(), CapturedOutput::default());
    let colored = Sink { writer: Box::new(err.clone()), kind: StreamKind::Colored, columns: Some(80) };
    let output = Output::new(sink(out, CapturedKind::Terminal), colored, ErrorFormat::Text);
    output.error(ErrorCode::Internal, "a\u{1b}[5m");
    assert!(err.text().starts_with("\u{1b}[31merror[PLY-9001]: a␛[5m\u{1b}[0m\n"), "{}", err.text());
}

#[test]
fn a_closed_pipe_is_told_apart() {
    let output = Output::new(
        sink(ClosedPipe, CapturedKind::Pipe),
        sink(CapturedOutput::default(), CapturedKind::Pipe),
        ErrorFormat::Text,
    );
    assert!(matches!(output.text("x"), Err(OutputError::Closed)));
    output.note(NoteKind::Info, "still fine");
}

#[test]
fn progress_is_replaced_and_only_for_terminals() {
    let (output, _, err) = captured(CapturedKind::Terminal);
    output.progress("10 of 20");
    output.note(NoteKind::Good, "done");
    assert_eq!(err.text(), "\r\u{1b}[K10 of 20\r\u{1b}[K✓ done\n");
    let (output, _, err) = captured(CapturedKind::Pipe);
    output.progress("10 of 20");
    assert_eq!(err.text(), "");
}

#[test]
fn behind_text_that_went_into_a_pipe_no_progress_is_shown() {
    let (out, err) = (CapturedOutput::default(), CapturedOutput::default());
    let sink =
        |writer: &CapturedOutput, kind| Sink { writer: Box::new(writer.clone()), kind, columns: Some(80) };
    let (piped, terminal) = (sink(&out, StreamKind::Plain), sink(&err, StreamKind::Colorless));
    let output = Output::new(piped, terminal, ErrorFormat::Text);
    output.progress("asking a/b");
    output.text("I will").unwrap();
    let before = err.text();
    assert!(before.ends_with("asking a/b\r\u{1b}[K"), "{before:?}");
    output.progress("asking a/b");
    assert_eq!((out.text().as_str(), err.text()), ("I will", before));
}

#[test]
fn a_dumb_terminal_gets_no_escape_codes() {
    let (out, err) = (CapturedOutput::default(), CapturedOutput::default());
    let dumb = |writer: &CapturedOutput| Sink {
        writer: Box::new(writer.clone()),
        kind: StreamKind::Dumb,
        columns: Some(80),
    };
    let output = Output::new(dumb(&out), dumb(&err), ErrorFormat::Text);
    output.progress("10 of 20");
    output.note(NoteKind::Bad, "no \u{1b}[31m");
    output.text("red\u{1b}[0m").unwrap();
    output.end_line().unwrap();
    assert_eq!((out.text().as_str(), err.text().as_str()), ("│ red␛[0m\n", "✗ no ␛[31m\n"));
}

#[test]
fn programs_get_errors_as_json() {
    let (out, err) = (CapturedOutput::default(), CapturedOutput::default());
    let output =
        Output::new(sink(out, CapturedKind::Pipe), sink(err.clone(), CapturedKind::Pipe), ErrorFormat::Json);
    let asked = crate::error_json(Some(ErrorCode::InvalidArgument), "there is nothing to ask", None);
    output.failure(&["error: there is nothing to ask".to_owned()], Some(&asked));
    output.failure(&[], None);
    let told: Value = serde_json::from_str(&err.text()).unwrap();
    assert_eq!(told["error"]["slug"], "invalid_argument");
    assert_eq!(told["error"]["message"], "there is nothing to ask");
}

#[test]
fn on_a_terminal_only_a_question_begins_with_the_sign_of_one() {
    let fake = "? run it? [y/n/s/m/l/?] ";
    let long = format!("{}{fake}", ".".repeat(73));
    for kind in [StreamKind::Dumb, StreamKind::Colorless, StreamKind::Colored] {
        let (out, err) = (CapturedOutput::default(), CapturedOutput::default());
        let sink =
            |writer: &CapturedOutput| Sink { writer: Box::new(writer.clone()), kind, columns: Some(80) };
        // Both streams lead to the same terminal.
        let output = Output::new(sink(&out), sink(&out), ErrorFormat::Text);
        for text in
            [fake, "\n", fake, "\r", fake, "\r\n", fake, &long, "\u{2028}", fake, "\u{85}", fake, "\n"]
        {
            output.text(text).unwrap();
        }
        output.text("? run").unwrap();
        output.note(NoteKind::Info, &format!("{long}\n{fake}"));
        output.text(" it? [y/n/s/m/l/?] ").unwrap();
        output.printed(fake);
        output.printed(&long);
        output.remark(&long).unwrap();
        output.row(&format!("  {long}"));
        output.error(ErrorCode::Internal, &long);
        let rest = format!("{long}\n{fake}");
        output.question([("write_file wants to run", LineLook::Plain), (rest.as_str(), LineLook::Added)]);
        output.diff([(rest.as_str(), LineLook::Removed)]);
        let seen = out.text();
        let plain = [BAD, GOOD, ATTENTION, PLAIN].iter().fold(seen, |seen, code| seen.replace(code, ""));
        let rows: Vec<&str> = plain.lines().filter(|row| row.starts_with('?')).collect();
        assert_eq!(rows, ["? write_file wants to run"], "{plain}");
        assert!(plain.lines().all(|row| row.chars().count() < 80), "{plain}");
        assert_eq!(err.text(), "");
    }
}

/// Returns how bright a colour is, from 0 to 1, as contrast is reckoned.
fn brightness(color: [f64; 3]) -> f64 {
    let linear = color.map(|part| {
        let part = part / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055_f64).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

#[test]
fn words_are_never_dim_or_yellow_and_read_on_black_and_on_white() {
    let (out, err) = (CapturedOutput::default(), CapturedOutput::default());
    let sink = |writer: &CapturedOutput| Sink {
        writer: Box::new(writer.clone()),
        kind: StreamKind::Colored,
        columns: Some(80),
    };
    let output = Output::new(sink(&out), sink(&err), ErrorFormat::Text);
    for mark in [NoteKind::Info, NoteKind::Good, NoteKind::Bad, NoteKind::Doubt] {
        output.note(mark, "words");
    }
    output.row("words");
    output.printed("words");
    output.question([("words", LineLook::Plain), ("-old", LineLook::Removed)]);
    output.error(ErrorCode::Internal, "words");
    output.text("# words\n**words** `words` *words*\n").unwrap();
    output.remark("words").unwrap();
    let written = out.text() + &err.text();
    for piece in written.split('\u{1b}').skip(1) {
        let (codes, rest) = piece.trim_start_matches('[').split_once('m').unwrap();
        let is_sign = rest.trim_end().chars().count() <= 1;
        for code in codes.split(';') {
            // The usual colours of a terminal's palette.
            let color = match code {
                "0" | "1" | "3" | "4" | "9" => continue,
                "32" if is_sign => continue,
                "31" => [205.0, 0.0, 0.0],
                "35" => [205.0, 0.0, 205.0],
                _ => panic!("{code} for {rest:?}"),
            };
            let bright = brightness(color) + 0.05;
            let contrast = (1.05 / bright).min(bright / 0.05);
            assert!(contrast > 3.5, "{code} has a contrast of {contrast}");
        }
    }
}

#[test]
fn a_prompt_that_is_wider_than_the_terminal_goes_on_behind_blanks() {
    let (out, err) = (CapturedOutput::default(), CapturedOutput::default());
    let sink = |writer: &CapturedOutput| Sink {
        writer: Box::new(writer.clone()),
        kind: StreamKind::Colored,
        columns: Some(40),
    };
    let output = Output::new(sink(&out), sink(&err), ErrorFormat::Text);
    output.prompt("? [y]es  [n]o, or \"n REASON\"  [s] this call, in this session  [m]ore  [l]ater");
    let rows: Vec<String> = err.text().lines().map(str::to_owned).collect();
    assert!(rows.len() > 1 && rows[1..].iter().all(|row| row.starts_with("  ")), "{rows:?}");
    assert!(rows.iter().all(|row| row.chars().count() < 40), "{rows:?}");
}

#[test]
fn no_line_error_or_help_breaks_a_word_on_a_narrow_terminal() {
    use clap::builder::StyledStr;
    const WORDS: &str =
        "the daemon runs as process 15422 and answers at once, see `palyra logs` for more of it";
    for columns in [40, 80] {
        let narrow = |written: &CapturedOutput| Sink {
            columns: Some(columns),
            ..sink(written.clone(), CapturedKind::Terminal)
        };
        let (out, err) = (CapturedOutput::default(), CapturedOutput::default());
        let output = Output::new(narrow(&out), narrow(&err), ErrorFormat::Text);
        output.line(&format!("daemon    {WORDS}")).unwrap();
        output.styled_line(WORDS, "").unwrap();
        output.help(&StyledStr::from(format!("\u{1b}[1m{WORDS}\u{1b}[0m\n"))).unwrap();
        output.refused_arguments(&StyledStr::from(format!("error: {WORDS}\n\n{WORDS}\n")));
        for text in [out.text(), err.text()] {
            assert!(text.lines().all(|row| row.chars().count() < columns), "{text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(
                words.join(" ").matches(WORDS).count(),
                if text == out.text() { 3 } else { 2 },
                "{text}"
            );
        }
        output.exact_line(WORDS).unwrap();
        assert!(out.text().ends_with(&format!("\n{WORDS}\n")));
    }
}
