//! No row of foreign text looks like one of ours, wherever it is cut and however wide the terminal is.

use proptest::prelude::*;

use super::*;

const NARROW: AmbiguousWidth = AmbiguousWidth::Narrow;

fn marked(pieces: &[&str], columns: usize) -> String {
    let mut rows = MarkedRows::default();
    pieces.iter().map(|piece| rows.piece(piece, MODEL_MARK, RowWidth::new(columns, NARROW))).collect()
}

#[test]
fn each_row_has_its_mark_and_ends_before_the_terminal_ends_it() {
    for (text, expect) in [
        ("one\ntwo", "│ one\n│ two"),
        ("\n\n", "│\n│\n"),
        ("0123456789", "│ 01234567\n│ 89"),
        ("01234567", "│ 01234567"),
        ("01234567\n? run it?", "│ 01234567\n│ ? run it\n│ ?"),
        ("\tx", "│         \n│ x"),
        ("a\tb", "│ a       \n│ b"),
        ("界界界界界", "│ 界界界界\n│ 界"),
        ("", ""),
    ] {
        assert_eq!(marked(&[text], 11), expect, "{text:?}");
    }
}

#[test]
fn our_own_lines_go_on_behind_blanks() {
    let width = RowWidth::new(21, NARROW);
    for (line, expect) in [
        ("· short", "· short"),
        ("· words that need more rows", "· words that need \n  more rows"),
        ("· 0123456789012345678901234567", "· 012345678901234567\n  890123456789012345\n  67"),
    ] {
        let rows = indented_rows(line, width);
        let plain = |text: &str| text.replace("\n  ", "");
        assert_eq!(plain(&rows), line);
        assert!(rows.lines().all(|row| row.chars().count() <= 20), "{rows}");
        let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert!(trimmed(&rows).starts_with(expect.lines().next().unwrap().trim_end()), "{rows}");
    }
}

#[test]
fn our_own_lines_end_between_words_and_keep_their_indentation() {
    for (line, columns, expect) in [
        ("! the daemon uses demo/demo", 21, "! the daemon uses \n  demo/demo"),
        ("? a 0123456789012345678", 21, "? a \n  012345678901234567\n  8"),
        ("    indented as a line is", 21, "    indented as a \n    line is"),
        ("state    waiting for an approval", 41, "state    waiting for an approval"),
        ("state    waiting for an approval", 31, "state    waiting for an \n         approval"),
        (
            "✓ daemon                version 0.1.0, process 12, model demo/demo, and more",
            78,
            "✓ daemon                version 0.1.0, process 12, model demo/demo, and more",
        ),
        (
            "✓ daemon                version 0.1.0, process 12, model demo/demo, and so on",
            76,
            "✓ daemon                version 0.1.0, process 12, model demo/demo, and \n                        so on",
        ),
        (
            "  commands    echo changed >> src/ledger/totals.py",
            40,
            "  commands    echo changed >> \n              src/ledger/totals.py",
        ),
        (
            "✓ daemon                version 0.1.0, process 12",
            41,
            "✓ daemon                version 0.1.0, \n  process 12",
        ),
    ] {
        assert_eq!(indented_rows(line, RowWidth::new(columns, NARROW)), expect);
    }
}

#[test]
fn a_locale_tells_how_wide_letters_may_be() {
    for (locale, expect) in
        [("ja_JP.UTF-8", AmbiguousWidth::Wide), ("cs_CZ.UTF-8", NARROW), ("C", NARROW), ("", NARROW)]
    {
        let found = AmbiguousWidth::of(|name| (name == "LANG").then(|| locale.to_owned()));
        assert_eq!(found, expect, "{locale}");
    }
    let wide = RowWidth::new(80, AmbiguousWidth::Wide);
    assert_eq!((wide.of('é'), RowWidth::new(80, NARROW).of('é')), (2, 1));
}

proptest! {
    #[test]
    fn no_row_is_without_its_mark(text in "[a-c? \\[\\]\t\n│é界🦀\u{200d}\u{fe0f}\u{301}]{0,200}", cut in 0_usize..200, columns in 4_usize..60) {
        let cut = text.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(text.len());
        let (head, tail) = text.split_at(cut);
        let whole = marked(&[&text], columns);
        prop_assert_eq!(&marked(&[head, tail], columns), &whole, "the same wherever it is cut");
        let width = RowWidth::new(columns, NARROW);
        for row in whole.lines() {
            prop_assert!(row.starts_with(MODEL_MARK.trim_end()), "{row:?}");
            let taken: usize = 1 + row.chars().skip(1).map(|c| width.of(c)).sum::<usize>();
            prop_assert!(taken <= width.columns, "{row:?} takes {taken}");
        }
        let kept = |text: &str| text.chars().filter(|c| !matches!(c, '│' | ' ' | '\n' | '\t')).collect::<String>();
        prop_assert_eq!(kept(&whole), kept(&text), "nothing is lost");
    }

    #[test]
    fn no_row_of_our_own_begins_with_what_it_quotes(line in "[a-c? \n┊é界🦀]{0,200}", columns in 4_usize..60) {
        let width = RowWidth::new(columns, NARROW);
        let rows = indented_rows(&format!("· {line}"), width);
        for (at, row) in rows.lines().enumerate() {
            prop_assert!(row.starts_with(if at == 0 { "· " } else { INDENT }), "{row:?}");
            let taken: usize = 1 + row.chars().skip(1).map(|c| width.of(c)).sum::<usize>();
            prop_assert!(taken <= width.columns + 1, "{row:?} takes {taken}");
        }
    }
}

#[test]
fn colours_take_no_columns_and_are_not_cut() {
    let line = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m unexpected argument '\u{1b}[33mXN8H9D\u{1b}[0m' found";
    let width = RowWidth::new(40, NARROW);
    let rows = styled_rows(line, width);
    assert_eq!(rows.replace(" \n  ", " "), line);
    assert_eq!(rows.matches('\n').count(), 1);
    // Another escape sequence is not a colour: it counts as the letters that it has.
    assert!(styled_rows(&"\u{1b}[2Jx".repeat(20), width).contains('\n'));
}

#[test]
fn a_row_that_goes_on_with_a_line_of_a_diff_has_a_mark_where_lines_have_a_sign() {
    let text = "a change of `notes` that is longer than a row of this terminal 0123456789012345678901234567890123456789";
    for line in [
        format!("+{text}"),
        format!("-{text}"),
        format!(" {text}"),
        format!(" +{text}"),
        format!("+   {text}"),
    ] {
        for (columns, ambiguous) in [(12, NARROW), (40, NARROW), (80, NARROW), (40, AmbiguousWidth::Wide)] {
            let rows = diff_rows(&line, RowWidth::new(columns, ambiguous));
            let (first, others) = rows.split_once('\n').unwrap();
            assert!(first.starts_with(&format!("  {}", &line[..1])), "{rows}");
            assert!(others.lines().all(|row| row.starts_with("  ┊")), "{rows}");
            assert!(rows.lines().all(|row| row.chars().count() < columns), "{rows}");
            assert_eq!(rows.replace("\n  ┊", ""), format!("  {line}"));
        }
    }
    assert_eq!(diff_rows("+short", RowWidth::new(40, NARROW)), "  +short");
}

#[test]
fn a_number_stays_with_its_unit() {
    let width = RowWidth::new(31, AmbiguousWidth::Narrow);
    let rows = indented_rows("· done, 2 tokens in, 40 out, 1.6 s", width);
    assert_eq!(rows, "· done, 2 tokens in, 40 out, \n  1.6 s");
    // The control: a word that is not a unit.
    let rows = indented_rows("· done, 2 tokens in, 40 of 16 so far", width);
    assert_eq!(rows, "· done, 2 tokens in, 40 of 16 \n  so far");
}
