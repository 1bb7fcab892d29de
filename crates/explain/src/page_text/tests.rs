//! Pages as terminals show them.

use palyra_screen_text::{AmbiguousWidth, StyleMode, headings};
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::library::CODES;

fn shown(page: &str, columns: usize) -> String {
    let width = RowWidth::new(columns, AmbiguousWidth::Narrow);
    page_text(page, RowFrame { mark: "", width, styles: StyleMode::AsWritten }, width)
}

fn pages() -> impl Iterator<Item = (String, &'static str)> {
    let codes = CODES.iter().map(|(number, page)| (number.to_string(), *page));
    codes.chain(DOCUMENTS.iter().map(|(name, text)| ((*name).to_owned(), *text)))
}

#[test]
fn a_page_is_wrapped_and_its_links_name_a_verb() {
    let page = "# PLY-1 a_name\n\nSome **strong** words, a\nsecond line, see [policy](../policy.md#folders).\n\n## Lists\n\
                - one item that is\n  longer than a line of this width\n- `b[0]`, [here](#lists)\n\n```sh\npalyra [run](x.md)\n```\n\n\
                | a | b |\n|---|---|\n| `x \\| y` | [PLY-2001](PLY-2001.md) |\n";
    assert_eq!(
        shown(page, 38),
        "# PLY-1 a_name\n\nSome **strong** words, a second line,\nsee policy (`palyra explain\ndocs/policy.md#folders`).\n\n\
         ## Lists\n- one item that is longer than a line\n  of this width\n- `b[0]`, here\n\n  palyra [run](x.md)\n\n\
         a        b\n-------  --------\n`x | y`  PLY-2001\n"
    );
}

#[test]
fn no_page_is_wider_than_a_terminal_and_code_keeps_its_lines() {
    for (name, page) in pages() {
        for columns in [40, 80] {
            for line in shown(page, columns).lines() {
                assert!(line.width() < columns || !line.trim().contains(' '), "{name}: {line}");
            }
        }
    }
    let policy = DOCUMENTS.iter().find(|(name, _)| *name == "policy").unwrap().1;
    let rows = shown(policy, 80);
    assert!(rows.contains("\n    palyra policy posture set read_file ask --session 01K...\n"), "{rows}");
    assert!(rows.contains("\nid: `questions`\n  effect: asking the person runs\n"), "{rows}");
}

#[test]
fn every_link_to_a_part_of_a_page_leads_to_a_heading() {
    let mut found = 0;
    for (name, page) in pages() {
        for part in with_commands(page, is_document).split("`palyra explain docs/").skip(1) {
            let command = part.split('`').next().unwrap_or_default();
            let Some((document, anchor)) = command.split_once(".md#") else { continue };
            let text = DOCUMENTS.iter().find(|(known, _)| *known == document).unwrap().1;
            assert!(headings(text).iter().any(|heading| heading.anchor == anchor), "{name}: {command}");
            found += 1;
        }
    }
    assert!(found > 3, "{found}");
}
