//! A question at a terminal: shown as signs, answered with a letter.

use std::fs;

use crate::home::Home;
use crate::pty::Pty;

fn home() -> Home {
    Home::new().with("TERM", "xterm")
}

#[test]
fn a_yes_that_is_typed_lets_the_call_run() {
    let home = home();
    let mut pty = Pty::spawn(&home.command(&["run", "create notes.txt with hello world"]), 100);
    pty.expect("? write_file creates `notes.txt` (11 bytes)");
    pty.expect("+hello world");
    pty.expect("[l]ater ");
    pty.type_in("perhaps\r");
    pty.expect("y runs this call once");
    pty.expect("[l]ater ");
    assert!(!home.work().join("notes.txt").exists(), "nothing but a clear yes is a yes");
    pty.type_in("y\r");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    assert_eq!(fs::read_to_string(home.work().join("notes.txt")).unwrap(), "hello world");
}

#[test]
fn a_question_about_a_command_says_at_once_what_it_may_change_and_reach() {
    let home = home();
    home.write("list.txt", "one\n");
    let mut pty = Pty::spawn(&home.command(&["run", "run wc -l list.txt"]), 100);
    pty.expect("? run_command runs `wc -l list.txt`");
    pty.expect("may change the workspace; network none");
    pty.expect("more lines: m)");
    pty.expect("[l]ater ");
    pty.type_in("m\r");
    pty.expect("bound file  ");
    pty.expect("list.txt (SHA-256 ");
    pty.expect("[l]ater ");
    pty.type_in("n\r");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
}

#[test]
fn a_no_that_is_typed_tells_the_model_why() {
    let home = home();
    let mut pty = Pty::spawn(&home.command(&["run", "create notes.txt with hello world"]), 100);
    pty.expect("[l]ater ");
    pty.type_in("n not here\r");
    pty.expect("not here");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    assert!(!home.work().join("notes.txt").exists());
}

#[test]
fn the_inbox_shows_and_answers_one_by_one() {
    let home = home();
    for name in ["a", "b"] {
        home.palyra(&["run", &format!("create {name}.txt with hello")]).expect(3);
    }
    let mut pty = Pty::spawn(&home.command(&["approve"]), 100);
    pty.expect("1 of 2");
    pty.expect("a.txt");
    pty.expect("[l]ater ");
    pty.type_in("y\r");
    pty.expect("2 of 2");
    pty.expect("b.txt");
    pty.expect("[l]ater ");
    pty.type_in("l\r");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    home.palyra(&["runs", "tail", "last"]).expect(3);
    assert!(!home.work().join("b.txt").exists());
}

#[test]
fn a_second_line_is_no_answer_to_what_the_inbox_shows_next() {
    let home = home();
    for name in ["a", "b"] {
        home.palyra(&["run", &format!("create {name}.txt with hello")]).expect(3);
    }
    let mut pty = Pty::spawn(&home.command(&["approve"]), 100);
    pty.expect("1 of 2");
    pty.expect("[l]ater ");
    pty.type_in("y\ry\r");
    pty.expect("2 of 2");
    pty.expect("[l]ater ");
    pty.type_in("n\r");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    home.palyra(&["runs", "tail", "last"]).expect(3);
    assert!(!home.work().join("b.txt").exists(), "{}", pty.text());
}

#[test]
fn what_a_call_says_cannot_steer_the_terminal() {
    let home = home();
    let evil = "create notes.txt with \"CANARY\u{1b}]52;c;cm0=\u{7}\u{1b}[2J\u{202e}\u{200b}end\"";
    let mut pty = Pty::spawn(&home.command(&["run", evil]), 100);
    pty.expect("[l]ater ");
    let raw = pty.raw();
    assert!(raw.contains("CANARY") && raw.contains("52;c;cm0="), "{raw:?}");
    for steering in ["\u{1b}]", "\u{7}", "\u{1b}[2J", "\u{202e}", "\u{200b}"] {
        assert!(!raw.contains(steering), "{steering:?} in {raw:?}");
    }
    pty.type_in("m\r");
    pty.expect("[l]ater ");
    pty.type_in("n\r");
    assert_eq!(pty.ended(), 3);
    let raw = pty.raw();
    assert!(!raw.contains("\u{1b}]52") && !raw.contains('\u{202e}'), "{raw:?}");
}

#[test]
fn an_approval_answered_from_another_folder_names_the_folder_of_the_run() {
    let home = home();
    home.palyra(&["run", "create notes.txt with hello"]).expect(3);
    let elsewhere = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.current_dir(home.state_dir());
        command
    };
    let folder = home.work().canonicalize().unwrap();
    let folder = folder.display().to_string();
    let listed = elsewhere(&["approve", "no", "--all"]).output().unwrap();
    let told = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(told.contains("`palyra approve` asks about the 1 call of other folders"), "{told}");
    let mut inbox = Pty::spawn(&elsewhere(&["approve"]), 200);
    inbox.expect("[l]ater ");
    let text = inbox.text();
    let place = text.split("In the folder ").nth(1).expect(&text).lines().next().unwrap().trim().to_owned();
    assert!(folder.ends_with(place.trim_start_matches('~')), "{place} of {folder}");
    assert!(text.contains(&format!("each further write_file below {place}, in this session")), "{text}");
    inbox.type_in("what?\r");
    inbox.expect(&format!("f runs it, and each further write_file below {place} in this run's session, "));
    inbox.expect("[l]ater ");
    inbox.type_in("n\r");
    inbox.ended();
}

#[test]
fn a_run_in_another_folder_than_this_terminal_names_it_in_the_question_and_the_keys() {
    let home = home();
    let folder = home.work().canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    let mut command = home.command(&["run", "--workspace", folder, "create notes.txt with hello"]);
    fs::create_dir(home.work().join("other")).unwrap();
    command.current_dir(home.work().join("other"));
    let mut run = Pty::spawn(&command, 250);
    run.expect("In the folder ");
    run.expect("[l]ater ");
    let text = run.text();
    let place = text.split("In the folder ").nth(1).expect(&text).lines().next().unwrap().trim().to_owned();
    assert!(folder.ends_with(place.trim_start_matches('~')), "{place} of {folder}");
    assert!(text.contains(&format!("each further write_file below {place}, in this session")), "{text}");
    run.type_in("what?\r");
    run.expect(&format!("f runs it, and each further write_file below {place} in this run's session, "));
    run.expect("[l]ater ");
    run.type_in("f\r");
    run.expect(&format!(
        "from now on every write_file below {place} runs without asking in this run's session, "
    ));
    assert_eq!(run.ended(), 0, "{}", run.text());
    assert!(!run.text().contains("this folder"), "{}", run.text());
}

#[test]
fn the_tape_of_a_run_that_is_over_says_who_decided_and_has_no_keys() {
    let home = home();
    let mut run = Pty::spawn(&home.command(&["run", "create notes.txt with hello"]), 200);
    run.expect("[l]ater ");
    run.type_in("y\r");
    assert_eq!(run.ended(), 0, "{}", run.text());
    let mut tail = Pty::spawn(&home.command(&["runs", "tail", "last"]), 200);
    assert_eq!(tail.ended(), 0);
    let text = tail.text();
    assert!(text.contains("? write_file creates `notes.txt`") && text.contains(" approved by you"), "{text}");
    assert!(!text.contains("[f]older") && !text.contains("[l]ater"), "{text}");
    // The control: one that waits is asked once, with its keys.
    home.palyra(&["run", "create more.txt with hello"]).expect(3);
    let mut tail = Pty::spawn(&home.command(&["runs", "tail", "last"]), 200);
    tail.expect("[l]ater ");
    let text = tail.text();
    assert_eq!(text.matches("write_file creates `more.txt`").count(), 1, "{text}");
    assert!(
        text.contains("[f]older: yes, and each further write_file below this folder, in this session"),
        "{text}"
    );
    tail.type_in("n\r");
    assert_eq!(tail.ended(), 3);
}

#[test]
fn a_reason_for_a_no_is_not_kept_among_the_lines_of_chats() {
    let home = home();
    let mut pty = Pty::spawn(&home.command(&["chat"]), 100);
    pty.expect("> ");
    pty.type_in("create zebra.txt with stripes\r");
    pty.expect("[l]ater ");
    pty.type_in("n the CANARY reason\r");
    pty.expect("CANARY reason");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    let history = fs::read_to_string(home.state_dir().join("chat_history")).unwrap();
    assert!(history.contains("create zebra.txt") && !history.contains("CANARY"), "{history}");
}

/// Returns the rows of a screen from the question on, with the prompt.
fn question_rows(text: &str) -> Vec<String> {
    let from = text.rfind("? write_file").or_else(|| text.rfind("? edit_file")).unwrap();
    text[from..].lines().map(|row| row.trim_end().to_owned()).collect()
}

#[test]
fn a_question_about_a_change_has_five_rows_and_colours_that_can_be_read() {
    let home = home();
    let mut pty = Pty::spawn(&home.command(&["run", "create notes.txt with hello world"]), 80);
    pty.expect("[l]ater ");
    assert_eq!(
        question_rows(&pty.text()),
        [
            "? write_file creates `notes.txt` (11 bytes)",
            "  +hello world",
            "  \\ No newline at end of file",
            "  Why: it changes files (rule `changes-of-files`)",
            "  [f]older: yes, and each further write_file below this folder, in this session",
            "? [y]es  [n]o, or \"n REASON\"  [f]older  [m]ore  [l]ater",
        ]
    );
    let raw = pty.raw();
    let question = &raw[raw.find("write_file creates").unwrap()..];
    assert!(question.contains("\u{1b}[32m  +hello world"), "{question:?}");
    assert!(!question.contains("\u{1b}[2m") && !question.contains("\u{1b}[33m"), "{question:?}");
    // The call stands in the question alone, and its arguments behind one key.
    assert!(!pty.text().contains("\"content\""), "{}", pty.text());
    pty.type_in("m\r");
    pty.expect("Arguments: {\"content\":\"hello world\",\"path\":\"notes.txt\"}");
    pty.expect("+++ notes.txt");
    pty.expect("[l]ater ");
    pty.type_in("n\r");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
}

#[test]
fn a_rule_that_asks_each_time_has_no_keys_for_grants_and_says_so() {
    let home = home();
    let folder = home.config_file().with_file_name("policies");
    fs::create_dir_all(&folder).unwrap();
    let rule = "@id(\"mine\")\n@reason(\"owners look at changes\")\n@approvers(\"role:owner\")\npermit (principal, action == \
                Action::\"execute\", resource in Capability::\"write_files\");\n";
    fs::write(folder.join("mine.cedar"), rule).unwrap();
    let mut pty = Pty::spawn(&home.command(&["run", "create notes.txt with hello world"]), 100);
    pty.expect("rule `mine` asks each time");
    pty.expect("? [y]es  [n]o, or \"n REASON\"  [m]ore  [l]ater ");
    pty.type_in("n\r");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    assert!(!pty.text().contains("[f]older"), "{}", pty.text());
}

#[test]
fn at_forty_columns_and_without_colours_the_same_is_said() {
    let home = home().with("NO_COLOR", "1");
    let mut pty = Pty::spawn(&home.command(&["run", "create notes.txt with hello world"]), 40);
    pty.expect("[l]ater ");
    pty.expect("? ");
    let mut rows = question_rows(&pty.text());
    // The answer has a row of its own below keys that need several.
    assert_eq!(rows.pop().as_deref(), Some("?"), "{rows:#?}");
    let keys = rows.iter().rposition(|row| row.starts_with("? ")).unwrap();
    assert!(rows[1..keys].iter().chain(&rows[keys + 1..]).all(|row| row.starts_with("  ")), "{rows:#?}");
    assert!(rows.iter().all(|row| row.chars().count() < 40), "{rows:#?}");
    assert!(rows.contains(&"  +hello world".to_owned()), "{rows:#?}");
    assert!(!pty.raw().contains("\u{1b}[3"), "{:?}", pty.raw());
    pty.type_in("n\r");
    assert_eq!(pty.ended(), 3);
}

#[test]
fn further_writes_below_a_folder_are_allowed_at_the_prompt_for_the_session() {
    let home = home();
    fs::create_dir(home.work().join("drafts")).unwrap();
    let run = |text: &str| ["run", "--session", "notes", text].map(str::to_owned);
    let spawn = |text: &str| Pty::spawn(&home.command(&run(text).each_ref().map(String::as_str)), 100);
    let mut pty = spawn("create drafts/one.txt with x");
    pty.expect("[f]older: yes, and each further write_file below drafts/, in this session");
    pty.expect("[l]ater ");
    // The same call again is nothing that anybody has a use for.
    pty.type_in("s\r");
    pty.expect("f runs it, and each further write_file below drafts/ in this session");
    pty.expect("[l]ater ");
    pty.type_in("f\r");
    pty.expect("from now on every write_file below drafts/ runs without asking in this session (grant ");
    let grant = pty.expect(";");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    let mut pty = spawn("create drafts/two.txt with y");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    assert!(home.work().join("drafts/two.txt").exists() && !pty.text().contains("[l]ater"), "{}", pty.text());
    // The controls: another folder, another session, and after the grant was revoked.
    for (session, path) in [("notes", "three.txt"), ("others", "drafts/three.txt")] {
        home.palyra(&["run", "--session", session, &format!("create {path} with x")]).expect(3);
        assert!(!home.work().join(path).exists(), "{path}");
        // So that the next input of the session does not queue behind it.
        home.palyra(&["approve", "no", "last", "--note", "a control"]).expect(0);
        home.palyra(&["runs", "tail", "last"]).expect(3);
    }
    home.palyra(&["approve", "revoke", &grant]).expect(0);
    home.palyra(&["run", "--session", "notes", "create drafts/four.txt with x"]).expect(3);
    assert!(!home.work().join("drafts/four.txt").exists());
}

#[test]
fn a_grant_at_the_prompt_of_a_run_holds_for_its_session_and_says_so() {
    let home = home();
    let mut pty = Pty::spawn(&home.command(&["run", "create one.txt with x"]), 200);
    pty.expect("[f]older: yes, and each further write_file below this folder, in this session");
    pty.expect("[l]ater ");
    pty.type_in("f\r");
    pty.expect(
        "from now on every write_file below this folder runs without asking in this run's session, not in another \
         `palyra run` (grant ",
    );
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    assert!(pty.text().contains("takes its changes back"), "{}", pty.text());
    let grants = home.palyra(&["approve", "grants"]).expect(0).out;
    assert!(grants.contains("the session ends") && !grants.contains("no end"), "{grants}");
    // A later run of the same session does not ask, as it was said.
    home.palyra(&["run", "--session", "last", "create three.txt with x"]).expect(0);
    assert!(home.work().join("three.txt").exists());
    // The next run without a name of a session has another one, and asks.
    home.palyra(&["run", "create two.txt with x"]).expect(3);
}

#[test]
fn the_keys_are_the_same_in_run_chat_and_approve() {
    let home = home();
    let keys = "? [y]es  [n]o, or \"n REASON\"  [f]older  [m]ore  [l]ater ";
    let help = "y runs this call once; f runs it, and each further write_file below this folder";
    let mut run = Pty::spawn(&home.command(&["run", "create a.txt with x"]), 200);
    run.expect(keys);
    run.type_in("what?\r");
    run.expect(help);
    run.expect(keys);
    run.type_in("l\r");
    assert_eq!(run.ended(), 3);
    let mut inbox = Pty::spawn(&home.command(&["approve"]), 200);
    inbox.expect(keys);
    inbox.type_in("what?\r");
    inbox.expect(help);
    inbox.expect(keys);
    inbox.type_in("n\r");
    assert_eq!(inbox.ended(), 0);
    let mut chat = Pty::spawn(&home.command(&["chat"]), 200);
    chat.expect("> ");
    chat.type_in("create a.txt with x\r");
    chat.expect(keys);
    chat.type_in("what?\r");
    chat.expect(help);
    chat.expect(keys);
    chat.type_in("n\r");
    chat.expect("> ");
    chat.type_in("/quit\r");
    assert_eq!(chat.ended(), 0, "{}", chat.text());
    assert!(!home.work().join("a.txt").exists());
}

#[test]
fn a_run_that_waits_for_an_approval_takes_no_answer_and_says_what_answers_it() {
    let home = home();
    home.palyra(&["run", "--session", "s", "--approve", "later", "create a.txt with x"]).expect(3);
    let refused = home.palyra(&["runs", "answer", "last", "yes"]).expect(5).err;
    assert!(refused.contains("the run waits for something else: `palyra approve` answers it"), "{refused}");
    assert!(!refused.contains("--new"), "{refused}");
    // A run behind it says whose turn it is, wherever it is looked at.
    home.palyra(&["runs", "answer", "last", "--new", "hello"]).expect(0);
    let turn = "it is queued, and begins when the open call of run ";
    for verb in ["show", "tail", "wait"] {
        let mut pty = Pty::spawn(&home.command(&["runs", verb, "last"]), 200);
        pty.expect(turn);
        pty.expect("`palyra approve yes ");
    }
    let steered = home.palyra(&["runs", "answer", "last", "more"]).expect(5).err;
    assert!(steered.contains(turn), "{steered}");
}

#[test]
fn a_run_that_is_steered_while_it_asks_is_asked_about_again() {
    let home = home();
    home.palyra(&["run", "--approve", "later", "create a.txt with x"]).expect(3);
    home.palyra(&["runs", "steer", "last", "and be brief"]).expect(0);
    let mut pty = Pty::spawn(&home.command(&["runs", "tail", "last"]), 100);
    pty.expect("steered: and be brief");
    pty.expect("[l]ater ");
    // Who leaves the view leaves the run as it is.
    pty.type_in("\u{3}");
    pty.expect("left; the run continues: `palyra runs cancel ");
    assert_eq!(pty.ended(), 130, "{}", pty.text());
    let run = home.palyra(&["runs", "show", "last", "--json"]).expect(0).json();
    assert_eq!(run[0]["phase"], "waiting");
}

#[test]
fn a_question_that_was_answered_elsewhere_says_so_when_it_is_answered_again() {
    let home = home();
    home.palyra(&["run", "--approve", "later", "create a.txt with x"]).expect(3);
    let mut inbox = Pty::spawn(&home.command(&["approve"]), 200);
    inbox.expect("[l]ater ");
    home.palyra(&["approve", "yes", "last", "--wait"]).expect(0);
    inbox.type_in("y\r");
    inbox.expect("it was already approved by you");
    assert_eq!(inbox.ended(), 0, "{}", inbox.text());
}
