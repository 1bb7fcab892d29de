//! All help pages in one file, so that each change of their words shows in a review.
//!
//! After a wanted change: `cargo xtask help-pages`, then read the difference.

use std::collections::VecDeque;
use std::path::Path;

use crate::home::Home;

const FILE: &str = "docs/reference/help.txt";
const HEADER: &str =
    "Every help page, as `palyra help VERB` prints it. Written by `cargo xtask help-pages`.\n";

/// Returns the names that a help page lists below "Commands:", or the first page in groups.
fn verbs_in(page: &str) -> Vec<String> {
    let rows =
        page.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let below = rows.filter_map(|row| row.strip_prefix("  ").filter(|row| !row.starts_with(' ')));
    let below: Vec<_> = below.filter_map(|row| row.split_whitespace().next()).collect();
    let grouped = page.lines().filter_map(in_a_group);
    let names = if page.contains("\nCommands:") { below } else { grouped.collect() };
    names.into_iter().map(str::to_owned).collect()
}

/// Returns the verb of a row of the first page: its group, or blanks, the verb, two blanks, what it does.
fn in_a_group(row: &str) -> Option<&str> {
    let (group, rest) = row.split_at_checked("Set up  ".len())?;
    let (name, _) = rest.split_once("  ")?;
    let is_group = group.trim().is_empty() || group.starts_with(char::is_uppercase);
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase());
    (is_group && is_name).then_some(name)
}

/// Returns every page, the one of all verbs first, each followed by those of its verbs.
fn pages(home: &Home) -> String {
    let mut text = HEADER.to_owned();
    let mut count = 0;
    let mut open: VecDeque<Vec<String>> = [Vec::new()].into();
    while let Some(verb) = open.pop_front() {
        let arguments: Vec<&str> = ["help"].into_iter().chain(verb.iter().map(String::as_str)).collect();
        let page = home.palyra(&arguments).expect(0).out;
        text += &format!("\n======== palyra {}\n{}", arguments.join(" "), page.trim_end());
        text.push('\n');
        count += 1;
        for name in verbs_in(&page).into_iter().rev() {
            open.push_front([verb.as_slice(), &[name]].concat());
        }
    }
    for words in ["exit-codes", "environment"] {
        let page = home.palyra(&["help", words]).expect(0).out;
        text += &format!("\n======== palyra help {words}\n{}\n", page.trim_end());
    }
    assert!(count > 60, "only {count} verbs were found");
    text
}

#[test]
fn the_help_pages_are_the_reviewed_ones() {
    let now = pages(&Home::new());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE);
    if std::env::var_os("PALYRA_WRITE_HELP_PAGES").is_some() {
        std::fs::write(&file, &now).unwrap();
    }
    let reviewed = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = now.lines().zip(reviewed.lines()).find(|(now, reviewed)| now != reviewed);
    assert!(now == reviewed, "run `cargo xtask help-pages` and read what changed in {FILE}: {differs:?}");
}

#[test]
fn each_verb_below_admin_is_found_without_it() {
    let home = Home::new();
    let names = verbs_in(&home.palyra(&["help", "admin"]).expect(0).out);
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let said = home.palyra(&[&name]).expect(2).err;
        assert!(said.contains(&format!("`palyra admin {name}")), "{name}: {said}");
    }
}

#[test]
fn verbs_are_found_in_a_page() {
    let page =
        "About\n\nCommands:\n  list   All\n           of them\n  show   One\n\nOptions:\n  --json  All\n";
    assert_eq!(verbs_in(page), ["list", "show"]);
}
