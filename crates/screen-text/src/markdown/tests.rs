//! What a terminal shows of Markdown, wherever the text is cut, pauses or ends, and however wide the terminal is.

use proptest::prelude::*;

use super::*;
use crate::palette::{PLAIN, TextStyle};
use crate::rows::{AmbiguousWidth, MODEL_MARK, RowWidth};

fn frame(columns: usize, styles: StyleMode) -> RowFrame<'static> {
    RowFrame { mark: MODEL_MARK, width: RowWidth::new(columns, AmbiguousWidth::Narrow), styles }
}

fn shown_in(pieces: &[&str], frame: RowFrame<'_>) -> String {
    let mut markdown = Markdown::default();
    let mut shown: String = pieces.iter().map(|piece| markdown.piece(piece, frame)).collect();
    shown.push_str(&markdown.flush(frame));
    shown
}

/// Returns rows in which styles are named.
fn named(rows: &str) -> String {
    let styles = [
        (PLAIN.to_owned(), "</>"),
        (TextStyle { bold: true, ..Default::default() }.begin(), "<b>"),
        (TextStyle { bold: true, underlined: true, ..Default::default() }.begin(), "<bu>"),
        (TextStyle { italic: true, ..Default::default() }.begin(), "<i>"),
        (TextStyle { underlined: true, ..Default::default() }.begin(), "<u>"),
        (TextStyle::CODE.begin(), "<c>"),
    ];
    styles.iter().fold(rows.to_owned(), |rows, (code, name)| rows.replace(code, name))
}

fn without_styles(rows: &str) -> String {
    let mut plain = String::new();
    let mut rest = rows;
    while let Some((before, escape)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = escape.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

const DOCUMENT: &str = "# The lantern\n\
    A **box** that keeps the *wind* in, see [the notes](https://example.org/a_b) or `make test`.\n\
    \n\
    1. first item that is longer than a narrow row\n\
    \x20  - nested **item that is bold over a row's end** here\n\
    10. tenth\n\
    > quoted words that go on for a while\n\
    ```python\n\
    def tea(cups):\n\
    \x20   return \"**not bold**\" + `x` * cups\n\
    ```\n\
    | name | count |\n\
    |:-----|------:|\n\
    | tea  | 12 |\n\
    | 灯り | 3 |\n\
    and an **open end with `code\n\
    the last *line";

#[test]
fn each_construct_has_its_look() {
    let expect = "│ <bu>The lantern</>\n\
        │ A <b>box</> that keeps the <i>wind</> in, see <u>the notes</>\n\
        │ (https://example.org/a_b) or <c>make test</>.\n\
        │\n\
        │ 1. first item that is longer than a narrow\n\
        │    row\n\
        │    - nested <b>item that is bold over a row's</>\n\
        │      <b>end</> here\n\
        │ 10. tenth\n\
        │ > quoted words that go on for a while\n\
        │ <c>```python</>\n\
        │ <c>def tea(cups):</>\n\
        │ <c>    return \"**not bold**\" + `x` * cups</>\n\
        │ <c>```</>\n\
        │ <b>name</>  <b>count</>\n\
        │ ----  -----\n\
        │ tea      12\n\
        │ 灯り      3\n\
        │ and an **open end with `code\n\
        │ the last *line";
    assert_eq!(named(&shown_in(&[DOCUMENT], frame(48, StyleMode::Shown))), expect);
}

#[test]
fn without_styles_the_signs_stay() {
    let expect = "│ # The lantern\n\
        │ A **box** that keeps the *wind* in, see [the notes](https://example.org/a_b)\n\
        │ or `make test`.\n";
    let shown = shown_in(&[DOCUMENT], frame(80, StyleMode::AsWritten));
    assert!(shown.starts_with(expect), "{shown}");
    assert!(shown.contains("│ name  count\n│ ----  -----\n│ tea      12\n"), "{shown}");
    assert!(!shown.contains('\u{1b}'));
}

#[test]
fn a_text_looks_the_same_wherever_it_is_cut() {
    for columns in [20, 40, 80, 120] {
        for styles in [StyleMode::Shown, StyleMode::AsWritten] {
            let frame = frame(columns, styles);
            let whole = without_styles(&shown_in(&[DOCUMENT], frame));
            for at in (0..=DOCUMENT.len()).filter(|at| DOCUMENT.is_char_boundary(*at)) {
                let (head, tail) = DOCUMENT.split_at(at);
                assert_eq!(
                    without_styles(&shown_in(&[head, tail], frame)),
                    whole,
                    "{columns} columns, cut at {at}"
                );
            }
            let letters: Vec<String> = DOCUMENT.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(without_styles(&shown_in(&letters, frame)), whole);
        }
    }
}

#[test]
fn a_pause_anywhere_loses_no_word_and_ends_no_program_text() {
    let words = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    for styles in [StyleMode::Shown, StyleMode::AsWritten] {
        let frame = frame(40, styles);
        for at in (0..=DOCUMENT.len()).filter(|at| DOCUMENT.is_char_boundary(*at)) {
            let mut markdown = Markdown::default();
            let mut shown = markdown.piece(&DOCUMENT[..at], frame) + &markdown.flush(frame);
            shown += &(markdown.piece(&DOCUMENT[at..], frame) + &markdown.flush(frame));
            assert_eq!(words(&without_styles(&shown)), words(DOCUMENT), "a pause at {at}: {shown}");
            assert!(markdown.fence.is_none(), "a pause at {at}");
            let signs: String = without_styles(&shown).chars().filter(|c| !" \n│".contains(*c)).collect();
            assert!(signs.contains("\"**notbold**\"+`x`*cups"), "a pause at {at}: {shown}");
        }
    }
}

#[test]
fn rows_end_between_words_and_keep_their_indentation() {
    for (text, columns, expect) in [
        (
            "offline, deterministic, and no language model",
            20,
            "│ offline,\n│ deterministic,\n│ and no language\n│ model",
        ),
        ("  two blanks before words", 20, "│   two blanks\n│   before words"),
        ("a  b", 20, "│ a  b"),
        (
            "word https://example.org/a/long/address end",
            20,
            "│ word\n│ https://example.o\n│ rg/a/long/address\n│ end",
        ),
        ("12345678901234567", 20, "│ 12345678901234567"),
        ("a 123456789012345", 20, "│ a 123456789012345"),
        ("a 1234567890123456", 20, "│ a\n│ 1234567890123456"),
        ("tabs\tand\tmore", 20, "│ tabs    and\n│ more"),
        ("灯りの箱は風を中に保つ。", 20, "│ 灯りの箱は風を中\n│ に保つ。"),
        ("cafe\u{301}s are combining", 20, "│ cafe\u{301}s are\n│ combining"),
        ("- one two three four five", 20, "│ - one two three\n│   four five"),
        ("\n\n", 20, "│\n│\n"),
    ] {
        assert_eq!(shown_in(&[text], frame(columns, StyleMode::AsWritten)), expect, "{text:?}");
    }
}

#[test]
fn what_is_between_pieces_of_a_line_takes_nothing_from_it() {
    let frame = frame(40, StyleMode::AsWritten);
    for (before, after, expect) in [
        ("```\n    print(", "\"tea\")\n```", "│     \"tea\")\n│ ```"),
        ("```\n    ", "print(\"tea\")\n```", "│     print(\"tea\")\n│ ```"),
        ("    ", "print(\"tea\")", "│     print(\"tea\")"),
        ("- an item ", "goes on", "│   goes on"),
    ] {
        let mut markdown = Markdown::default();
        markdown.piece(before, frame);
        markdown.flush(frame);
        markdown.end_row();
        assert_eq!(markdown.piece(after, frame) + &markdown.flush(frame), expect, "{before:?} {after:?}");
    }
}

#[test]
fn a_table_that_does_not_fit_stays_as_it_is() {
    let table = "| name | what it does |\n|---|---|\n| tea | keeps people awake for long |\n";
    let shown = shown_in(&[table], frame(24, StyleMode::AsWritten));
    assert_eq!(
        shown,
        "│ | name | what it does\n│ |\n│ |---|---|\n│ | tea | keeps people\n│ awake for long |\n"
    );
    let no_table = "| only a line with bars |\nand words\n";
    assert_eq!(
        shown_in(&[no_table], frame(80, StyleMode::AsWritten)),
        "│ | only a line with bars |\n│ and words\n"
    );
}

#[test]
fn the_next_text_begins_with_nothing_open() {
    let frame = frame(80, StyleMode::Shown);
    let mut markdown = Markdown::default();
    markdown.piece("```\nopen\n", frame);
    markdown.end(frame);
    assert_eq!(named(&(markdown.piece("**b** ", frame) + &markdown.flush(frame))), "│ <b>b</> ");
}

#[test]
fn no_more_is_kept_than_a_line() {
    let frame = frame(80, StyleMode::Shown);
    for begin in ["**", "`", "[", "| ", "```x ", "  ", "- "] {
        let mut markdown = Markdown::default();
        markdown.piece(begin, frame);
        for _ in 0..2_000 {
            markdown.piece("word ", frame);
        }
        assert!(markdown.pending.len() <= LINE_PENDING_BYTES_MAX + 1, "{begin}");
    }
    let mut markdown = Markdown::default();
    markdown.piece(&format!("| a |\n|---|\n{}", "| b |\n".repeat(500)), frame);
    assert!(format!("{:?}", markdown.table).len() < 1_000);
}

proptest! {
    #[test]
    fn no_row_is_without_its_mark_or_too_long_and_no_word_is_lost(
        text in "[ab12? \\-#>|.*_`~\\[\\]()!\t\n│é界🦀\u{200d}\u{fe0f}\u{301}\u{2014}]{0,200}",
        cut in 0_usize..200,
        columns in 4_usize..60,
        is_styled in any::<bool>(),
    ) {
        let frame = frame(columns, if is_styled { StyleMode::Shown } else { StyleMode::AsWritten });
        let cut = text.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(text.len());
        let (head, tail) = text.split_at(cut);
        let whole = without_styles(&shown_in(&[&text], frame));
        prop_assert_eq!(&without_styles(&shown_in(&[head, tail], frame)), &whole, "the same wherever it is cut");
        for row in whole.lines() {
            prop_assert!(row.starts_with(MODEL_MARK.trim_end()), "{row:?}");
            let taken: usize = 1 + row.chars().skip(1).map(|c| frame.width.of(c)).sum::<usize>();
            prop_assert!(taken <= frame.width.columns(), "{row:?} takes {taken}");
        }
        let kept = |text: &str| text.chars().filter(|c| c.is_alphanumeric() || *c == '🦀').collect::<String>();
        prop_assert_eq!(kept(&whole), kept(&text), "nothing is lost");
    }
}

#[test]
fn names_of_program_text_keep_their_underscores() {
    let text = "src/__init__.py:1: if __name__ == \"__main__\":\n\n__pycache__/ is _not_ a **word**\n";
    let rows = named(&shown_in(&[text], frame(80, StyleMode::Shown)));
    assert!(rows.contains("src/__init__.py:1: if __name__ == \"__main__\":"), "{rows}");
    // The control: an emphasis is still one.
    assert!(rows.contains("__pycache__/ is <i>not</> a <b>word</>"), "{rows}");
}

#[test]
fn program_text_is_broken_between_words_and_keeps_its_indentation() {
    let text =
        "```\n    return the_first_name + the_second_name\n  0123456789012345678901234567890123456789\n```\n";
    let expect = "│ ```\n\
        │     return the_first_name +\n\
        │     the_second_name\n\
        │   0123456789012345678901234\n\
        │   567890123456789\n\
        │ ```\n";
    for pieces in [vec![text], text.split_inclusive(' ').collect()] {
        assert_eq!(shown_in(&pieces, frame(30, StyleMode::AsWritten)), expect, "{pieces:?}");
    }
}
