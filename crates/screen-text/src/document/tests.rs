//! How documents look, in rows of several widths.

use super::*;
use crate::prose::StyleMode;
use crate::rows::AmbiguousWidth;

fn shown(markdown: &str, columns: usize) -> String {
    let width = RowWidth::new(columns, AmbiguousWidth::Narrow);
    document(markdown, RowFrame { mark: "", width, styles: StyleMode::AsWritten }, width)
}

#[test]
fn paragraphs_and_items_are_joined_and_wrapped_again() {
    let text = "# Title\nSome words, a\nsecond line.\n\n\n- one item that is\n  longer than a row\n- two\n\nEnd `a ==\nb`.\n";
    assert_eq!(
        shown(text, 24),
        "# Title\nSome words, a second\nline.\n\n- one item that is\n  longer than a row\n- two\n\nEnd `a == b`.\n"
    );
}

#[test]
fn program_text_keeps_its_lines_and_signs() {
    let text = "Run it:\n\n    palyra policy posture set *x* disabled\n    palyra policy  list\n\nor\n```sh\nmake [a](b)\n\n  deep\n```\nend\n";
    assert_eq!(
        shown(text, 80),
        "Run it:\n\n    palyra policy posture set *x* disabled\n    palyra policy  list\n\nor\n  make [a](b)\n\n    deep\nend\n"
    );
    // A row that is too long ends between words, deeper than the line.
    assert!(
        shown(text, 32).contains("    palyra policy posture set\n      *x* disabled\n"),
        "{}",
        shown(text, 32)
    );
}

#[test]
fn an_indented_line_below_an_item_belongs_to_it() {
    let text = "- item\n\n    more of it\n    and more\n\nwords\n\n    code\n    code\n";
    assert_eq!(shown(text, 80), "- item\n\n    more of it and more\n\nwords\n\n    code\n    code\n");
}

const TABLE: &str = "Before:\n\n| `unattended` | `execute` | the call |\n|---|---|---|\n| permitted | not evaluated | runs |\n\
    | not permitted | permitted | waits until a person approves it |\n| never |  | is denied |\n\nAfter.\n";

#[test]
fn a_table_has_its_columns_where_they_fit() {
    assert_eq!(
        shown(TABLE, 80),
        "Before:\n\n\
         `unattended`   `execute`      the call\n\
         -------------  -------------  --------------------------------\n\
         permitted      not evaluated  runs\n\
         not permitted  permitted      waits until a person approves it\n\
         never                         is denied\n\nAfter.\n"
    );
}

#[test]
fn a_table_that_does_not_fit_names_the_header_of_each_cell() {
    assert_eq!(
        shown(TABLE, 36),
        "Before:\n\n\
         `unattended`: permitted\n  `execute`: not evaluated\n  the call: runs\n\
         `unattended`: not permitted\n  `execute`: permitted\n  the call: waits until a person\n    approves it\n\
         `unattended`: never\n  the call: is denied\n\nAfter.\n"
    );
    assert_eq!(shown("| no table |\nwords\n", 36), "| no table |\nwords\n");
}

#[test]
fn a_document_has_no_row_that_is_too_long_and_loses_no_word() {
    let text = TABLE.repeat(30) + "- a `b c` **d**\n\n> quoted words\n> more\n\n    code\n";
    for columns in [10, 20, 40, 80] {
        let rows = shown(&text, columns);
        assert!(rows.lines().all(|row| row.chars().count() < columns), "{columns}: {rows}");
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
        assert!(letters(&rows) >= letters(&text), "{columns}: {rows}");
    }
}
