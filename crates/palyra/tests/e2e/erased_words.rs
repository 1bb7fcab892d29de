//! What is said of an erasure before and after it, and the lines typed in chats, which hold the same words.

use std::fs;
use std::path::PathBuf;

use crate::home::Home;

/// As the chat's editor keeps them.
const HISTORY: &str = "#V2\nwhat is amber?\n/steer what is amber?\nwhat is amber worth?\n";

fn with_history(home: &Home) -> PathBuf {
    let file = home.state_dir().join("chat_history");
    fs::write(&file, HISTORY).unwrap();
    file
}

#[test]
fn an_erasure_names_the_run_its_input_and_the_same_number_before_and_after() {
    let home = Home::new();
    home.palyra(&["run", "what is amber?"]).expect(0);
    let run = home.palyra(&["runs", "list", "--json"]).expect(0).json()[0]["run_id"].clone();
    let run = run.as_str().unwrap().to_owned();
    let planned = home.palyra(&["journal", "erase", "last", "--dry-run"]).expect(0).out;
    let lines: Vec<&str> = planned.lines().collect();
    let (id, rest) = lines[0].strip_prefix("run ").unwrap().split_once(", ").unwrap();
    assert!(run.ends_with(id) && rest.ends_with(" old: what is amber?"), "{planned}");
    let number = lines[1].strip_suffix(" would lose their content").unwrap();
    assert!(lines[2].starts_with("every entry stays in the journal"), "{planned}");
    let erased = home.palyra(&["journal", "erase", "last", "--yes"]).expect(0).out;
    assert!(erased.starts_with(&format!("erased the content of {number}, ")), "{number}: {erased}");
}

#[test]
fn the_lines_of_a_chat_that_said_it_go_with_it() {
    let home = Home::new();
    home.palyra_reading(&["chat"], "what is amber?\n").expect(0);
    let file = with_history(&home);
    home.palyra(&["journal", "erase", "last", "--dry-run"]).expect(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), HISTORY, "a dry run takes nothing out");
    let erased = home.palyra(&["journal", "erase", "last", "--yes"]).expect(0);
    assert!(erased.err.contains(&format!("2 lines of it taken out of {}", file.display())), "{}", erased.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), "#V2\nwhat is amber worth?\n");
}

#[test]
fn a_history_without_the_words_is_not_mentioned_and_one_that_may_have_them_is_named_with_the_way() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let file = with_history(&home);
    let erased = home.palyra(&["journal", "erase", "last", "--yes"]).expect(0);
    assert!(!erased.err.contains("chat_history"), "{}", erased.err);
    // A chat from which the words are gone in another form, and a whole session.
    home.palyra_reading(&["chat"], "what is jade?\n").expect(0);
    let way = format!("`rm {}`", file.display());
    let erased = home.palyra(&["journal", "erase", "last", "--yes"]).expect(0);
    assert!(erased.err.contains(&way), "{}", erased.err);
    home.palyra(&["run", "--session", "notes", "what is amber?"]).expect(0);
    let erased = home.palyra(&["journal", "erase", "--session", "notes", "--yes"]).expect(0);
    assert!(erased.err.contains(&way), "{}", erased.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), HISTORY);
}

#[test]
fn lists_mark_what_was_erased_and_the_hint_about_it_can_be_followed() {
    let home = Home::new();
    home.palyra(&["run", "what is amber?"]).expect(0);
    home.palyra(&["run", "what is jade?"]).expect(0);
    let run = home.palyra(&["runs", "list", "--json"]).expect(0).json()[0]["run_id"].clone();
    home.palyra(&["journal", "erase", "last", "--yes"]).expect(0);
    for list in ["runs", "sessions"] {
        let rows = home.palyra(&[list, "list"]).expect(0).out;
        assert_eq!(rows.matches("(erased)").count(), 1, "{rows}");
        assert!(rows.contains("what is amber?") && !rows.contains("jade"), "{rows}");
    }
    let tail = home.palyra(&["runs", "tail", run.as_str().unwrap()]).expect(0);
    let (_, hint) = tail.out.split_once("`palyra ").expect(&tail.out);
    let words: Vec<&str> = hint.split('`').next().unwrap().split(' ').collect();
    let shown = home.palyra(&words).expect(0).out;
    assert!(shown.contains(run.as_str().unwrap()) && shown.contains("was erased on"), "{shown}");
}
