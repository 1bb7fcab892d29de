//! What a chat does with its session: branching, resetting, interrupting, steering, sending files along.

use std::fs;

use crate::pty::Pty;
use crate::scene::Scene;

#[test]
fn reset_forgets_and_branch_goes_on_from_an_earlier_place() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    for (typed, answer) in [("one\r", "<one>"), ("two\r", "<one|two>")] {
        pty.type_in(typed);
        pty.expect(answer);
        pty.expect("> ");
    }
    pty.type_in("/branch here\r");
    pty.expect("going on in a branch");
    pty.expect("> ");
    pty.type_in("three\r");
    pty.expect("<one|two|three>");
    pty.expect("> ");
    pty.type_in("/reset\r");
    pty.expect("a fresh context begins");
    pty.expect("> ");
    pty.type_in("four\r");
    pty.expect("<four>");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
    let mut pty = scene.chat();
    pty.type_in("five\r");
    pty.expect("<one|two|five>");
    let sessions = scene.home.palyra(&["sessions", "list", "--json"]).expect(0).json();
    assert_eq!(sessions.len(), 2, "the folder's session is as it was");
}

#[test]
fn a_chat_that_is_opened_again_counts_the_runs_since_the_reset() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in("one\r");
    pty.expect("<one>");
    pty.expect("> ");
    pty.type_in("/reset\r");
    pty.expect("a fresh context begins");
    pty.expect("> ");
    assert_eq!(pty.ended_after("/quit\r"), 0);
    let mut pty = scene.chat();
    let greeting = pty.text();
    assert!(greeting.contains("a fresh context after 1 earlier run"), "{greeting}");
    assert!(!greeting.contains("you said"), "{greeting}");
    pty.type_in("two\r");
    pty.expect("<two>");
    pty.expect("> ");
    assert_eq!(pty.ended_after("/quit\r"), 0);
    let pty = scene.chat();
    assert!(pty.text().contains("going on after 1 run"), "{}", pty.text());
}

#[test]
fn an_interrupt_goes_first_and_nothing_typed_is_lost() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    scene.begin_slowly(&mut pty);
    pty.type_in("later\r");
    pty.expect("kept; it is sent to the model after this run");
    pty.type_in("!first\r");
    pty.expect("interrupting the run");
    pty.expect("asked: first");
    pty.expect("|first>");
    pty.expect("asked: later");
    pty.expect("later>");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
    assert_eq!(scene.runs().len(), 3);
}

#[test]
fn files_go_along_with_the_next_input() {
    let scene = Scene::new();
    scene.home.write("notes.md", "# The lantern is green\n");
    let mut pty = scene.chat();
    pty.type_in("/attach notes.md\r");
    pty.expect("goes along with the next input: notes.md (text/markdown, 23 B)");
    pty.expect("> ");
    pty.type_in("what colour?\r");
    pty.expect("The lantern is green");
    pty.expect("> ");
    pty.type_in("/attach nothing.png\r");
    pty.expect("PLY-1112");
    pty.expect("> ");
    // Words behind a file are not files; the file goes along.
    pty.type_in("/attach notes.md what colour\r");
    pty.expect("no file is at \"what\", \"colour\"; /attach takes files only");
    pty.expect("goes along with the next input: notes.md");
    pty.expect("> ");
    pty.type_in("/attach what colour\r");
    pty.expect("nothing was attached: no file is at \"what\", \"colour\"");
    pty.expect("> ");
    pty.type_in("/detach\r");
    pty.expect("1 file not sent along");
    pty.expect("> ");
    pty.type_in("/detach\r");
    pty.expect("no file waits to go along");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
    let entries = scene.home.palyra(&["runs", "tail", "last", "--json"]).expect(0).json();
    assert_eq!(entries[0]["run_started"]["attachments"][0]["name"], "notes.md");
}

#[test]
fn a_steer_reaches_the_active_run() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    scene.begin_slowly(&mut pty);
    pty.type_in("/steer be brief\r");
    pty.expect("the run takes it into account");
    scene.gate.open();
    pty.expect("be brief>");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
    assert_eq!(scene.runs().len(), 1);
}

#[test]
fn the_numbers_to_branch_from_are_shown() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in("one\r");
    pty.expect("<one>");
    pty.expect("> ");
    pty.type_in("/branch\r");
    pty.expect("   1  you said: one");
    pty.expect("the answer: ");
    pty.expect("/branch NUMBER");
    pty.expect("> ");
    let sessions = || scene.home.palyra(&["sessions", "list", "--json"]).expect(0).json().len();
    assert_eq!(sessions(), 1, "a list branches nothing");
    pty.type_in("/branch 1\r");
    pty.expect("going on in a branch");
    pty.expect("> ");
    assert_eq!(sessions(), 2, "the control");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
}

#[test]
fn a_word_that_names_no_session_is_searched_for() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in("lantern\r");
    pty.expect("<lantern>");
    pty.expect("> ");
    pty.type_in("/sessions lantern\r");
    pty.expect(" ago     1  lantern");
    pty.expect("/sessions ID goes on in one of them");
    pty.expect("> ");
    pty.type_in("/sessions harbour\r");
    pty.expect("no session is named `harbour`, or has it in its title");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
    assert!(!pty.text().contains("palyra sessions list"), "{}", pty.text());
}

#[test]
fn what_was_searched_for_and_is_not_the_last_of_its_session_is_gone_on_from() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in("lantern\r");
    pty.expect("<lantern>");
    pty.expect("> ");
    let run = scene.runs()[0]["run_id"].as_str().unwrap()[20..].to_owned();
    let session = scene.runs()[0]["session_id"].as_str().unwrap()[20..].to_owned();
    // The control: what was found is the last.
    pty.type_in("/sessions lantern\r");
    pty.expect("/sessions ID goes on in one of them");
    pty.expect("> ");
    pty.type_in(&format!("/sessions {session}\r"));
    pty.expect("going on after 1 run");
    pty.expect("> ");
    assert!(!pty.text().contains("the input that was found"), "{}", pty.text());
    pty.type_in("/new\r");
    pty.expect(&format!(
        "a fresh context begins; what was said before stays in the journal, and /branch {run} goes"
    ));
    pty.expect("> ");
    pty.type_in("harbour\r");
    pty.expect("<harbour>");
    pty.expect("> ");
    pty.type_in("/sessions lantern\r");
    pty.expect("/sessions ID goes on in one of them");
    pty.expect("> ");
    pty.type_in(&format!("/sessions {session}\r"));
    pty.expect("you said: harbour");
    pty.expect("the input that was found (\"lantern\", ");
    pty.expect(&format!("/branch {run} goes on from there"));
    pty.expect("> ");
    pty.type_in(&format!("/branch {run}\r"));
    pty.expect("going on in a branch");
    pty.expect("> ");
    pty.type_in("again\r");
    pty.expect("<lantern|again>");
    pty.expect("> ");
    assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
}

#[test]
fn a_chat_names_the_session_it_begins_or_goes_on_with() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    assert!(pty.text().contains("a new chat, in this folder's session "), "{}", pty.text());
    pty.type_in("one\r");
    pty.expect("<one>");
    pty.expect("> ");
    assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
    let session = scene.runs()[0]["session_id"].as_str().unwrap()[20..].to_owned();
    for (arguments, whose) in
        [(&["chat"][..], "this folder's session"), (&["chat", "--session", "notes"], "session")]
    {
        let mut pty = scene.chat_in(arguments);
        let greeting = format!(", in {whose} ");
        assert!(pty.text().contains(&greeting), "{}", pty.text());
        assert_eq!(pty.text().contains(&session), whose != "session", "{}", pty.text());
        assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
    }
}

#[test]
fn a_list_in_the_chat_says_what_is_erased() {
    let scene = Scene::new();
    scene.home.palyra(&["run", "lantern"]).expect(0);
    scene.home.palyra(&["journal", "erase", "last", "--yes"]).expect(0);
    let mut pty = scene.chat();
    pty.type_in("/sessions\r");
    pty.expect("  (erased)");
    assert!(!pty.text().contains("lantern"), "{}", pty.text());
    assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
    // What is left is shown behind the mark, also where the session is the folder's.
    for input in ["moon", "harbour"] {
        let mut pty = scene.chat();
        pty.type_in(&format!("{input}\r"));
        pty.expect(&format!("{input}>"));
        pty.expect("> ");
        assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
        if input == "moon" {
            scene.home.palyra(&["journal", "erase", "last", "--yes"]).expect(0);
        }
    }
    for arguments in [&["sessions", "list"][..], &["sessions", "list", "--search", "harb"]] {
        let listed = scene.home.palyra(arguments).expect(0).out;
        assert!(listed.contains("  (erased) harbour"), "{listed}");
    }
}

#[test]
fn a_branch_whose_origin_was_erased_says_so_at_its_beginning() {
    let scene = Scene::new();
    scene.home.palyra(&["run", "--session", "trunk", "one"]).expect(0);
    let branch = scene.home.palyra(&["sessions", "branch", "last@1"]).expect(0).out.trim().to_owned();
    scene.home.palyra(&["journal", "erase", "last", "--yes"]).expect(0);
    let mut pty = scene.chat_in(&["chat", "--session", &branch]);
    assert!(pty.text().contains("was erased: the branch begins without"), "{}", pty.text());
    assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
}

#[test]
fn a_branch_greets_as_what_it_goes_on_from_and_branches_again() {
    let scene = Scene::new();
    scene.home.palyra(&["run", "--session", "trunk", "one"]).expect(0);
    scene.home.palyra(&["run", "--session", "trunk", "and two"]).expect(0);
    let run = scene.runs()[0]["run_id"].as_str().unwrap().to_owned();
    let short = &run[20..];
    let made = scene.home.palyra(&["sessions", "branch", "last@1"]).expect(0);
    assert!(made.err.contains(&format!("a branch of run {short}, after entry 1")), "{}", made.err);
    let listed = scene.home.palyra(&["sessions", "list"]).expect(0).out;
    assert!(listed.contains(&format!("(branch of run {short})")), "{listed}");
    let branch = made.out.trim().to_owned();
    let mut pty = scene.chat_in(&["chat", "--session", &branch]);
    assert!(!pty.text().contains("a new chat"), "{}", pty.text());
    assert!(pty.text().contains(&format!("a branch of run {short}, after entry 1")), "{}", pty.text());
    assert!(pty.text().contains("you said: and two"), "{}", pty.text());
    pty.type_in("/branch\r");
    pty.expect("   1  you said: and two");
    pty.expect("/branch NUMBER");
    pty.expect("> ");
    assert!(!pty.text().contains("the answer: "), "it ends at its entry: {}", pty.text());
    pty.type_in("/branch here\r");
    pty.expect("going on in a branch; `palyra chat --session ");
    pty.expect("`/sessions ");
    pty.expect("> ");
    pty.type_in("three\r");
    pty.expect("<one|and two|three>");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
}

#[test]
fn what_is_listed_to_branch_from_says_that_earlier_runs_are_not_in_it() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in("/branch\r");
    pty.expect("nothing was said here yet, so there is nothing to branch from");
    pty.expect("> ");
    for (typed, answer) in [("one\r", "<one>"), ("two\r", "<one|two>")] {
        pty.type_in(typed);
        pty.expect(answer);
        pty.expect("> ");
    }
    pty.type_in("/branch\r");
    pty.expect("you said: two");
    pty.expect("that is the last of 2 runs; in another terminal `palyra runs list --session ");
    pty.expect("/branch RUN@NUMBER");
    pty.expect("> ");
    pty.type_in("/attach\r");
    pty.expect("write /attach FILE...");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
}

#[test]
fn an_erasure_that_is_not_agreed_to_says_that_nothing_was_erased() {
    let scene = Scene::new();
    scene.home.palyra(&["run", "one"]).expect(0);
    for (typed, exit) in [("\n", 130), ("perhaps\n", 130), ("y\n", 0)] {
        let mut pty = Pty::spawn(&scene.home.command(&["journal", "erase", "last"]), 80);
        pty.expect("? erase it for good? [y/N] ");
        assert_eq!(pty.ended_after(typed), exit, "{typed:?}");
        assert_eq!(pty.text().contains("nothing was erased"), exit == 130, "{typed:?}: {}", pty.text());
    }
}

#[test]
fn files_follow_into_another_conversation_by_name() {
    let scene = Scene::new();
    scene.home.palyra(&["run", "--session", "moon", "hello"]).expect(0);
    scene.home.write("notes.md", "# The lantern is green\n");
    let mut pty = scene.chat();
    pty.type_in("/attach notes.md\r");
    pty.expect("goes along with the next input: notes.md");
    pty.expect("> ");
    pty.type_in("/sessions moon\r");
    pty.expect("going on after 1 run");
    pty.expect("goes along with the next input: notes.md");
    pty.expect("> ");
    assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
}

/// The journal has a placeholder in the place of the secret, so the line itself is not what was recorded.
#[test]
fn an_erasure_takes_the_line_of_a_branch_out_of_the_history() {
    const CANARY: &str = "sk-test-abcdefghijklmnop7777";
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in("one\r");
    pty.expect("<one>");
    pty.expect("> ");
    pty.type_in("/branch here\r");
    pty.expect("going on in a branch");
    pty.expect("> ");
    pty.type_in(&format!("read it with X-Api-Key: {CANARY}\r"));
    pty.expect("<secret:");
    pty.expect("> ");
    assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
    let history = || fs::read_to_string(scene.home.state_dir().join("chat_history")).unwrap();
    assert!(history().contains(CANARY), "the control");
    let erased = scene.home.palyra(&["journal", "erase", "last", "--yes"]).expect(0).err;
    assert!(!history().contains(CANARY) && history().contains("one"), "{erased}");
    assert!(erased.contains("1 line of it taken out of "), "{erased}");
}
