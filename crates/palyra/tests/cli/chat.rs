//! A person at a terminal: editing, pasting, recalling, and typing while an answer streams.

use crate::pty::Pty;
use palyra_model_server::{Behaviour, Reply};
use palyra_testkit::Gate;

use crate::scene::Scene;

/// What a terminal sends for a paste.
fn paste(text: &str) -> String {
    format!("\u{1b}[200~{}\u{1b}[201~", text.replace('\n', "\r"))
}

#[test]
fn a_paste_of_several_lines_is_one_input_and_so_are_lines_that_go_on() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in(&paste("one\ntwo\nthree"));
    pty.type_in("\r");
    pty.expect("<one/two/three>");
    pty.expect("> ");
    pty.type_in("/reset\r");
    pty.expect("a fresh context begins");
    pty.expect("> ");
    pty.type_in("four \\\rfive\u{1b}\rsix\r");
    pty.expect("<four /five/six>");
    pty.expect("> ");
    pty.type_in("\u{4}");
    assert_eq!(pty.ended(), 0);
    assert_eq!(scene.runs().len(), 2);
}

#[test]
fn lines_are_recalled_edited_and_kept_for_the_next_chat() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in("hellp\u{7f}o\r");
    pty.expect("<hello>");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
    let mut pty = Pty::spawn(&scene.home.command(&["chat"]), 100);
    pty.expect("going on after 1 run");
    pty.expect("you said: hello\n");
    pty.expect("the answer: <hello>\n");
    pty.expect("> ");
    pty.type_in("\u{1b}[A\u{1b}[A again\r");
    pty.expect("<hello|hello again>");
    pty.expect("> ");
    pty.type_in("\u{4}");
    assert_eq!(pty.ended(), 0);
    let history = scene.home.state_dir().join("chat_history");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(history).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_chat_whose_daemon_ended_starts_another_for_the_next_line() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in("one\r");
    pty.expect("<one>");
    pty.expect("> ");
    scene.home.palyra(&["admin", "stop"]).expect(0);
    // What asks nothing of a daemon starts none.
    pty.type_in("/help\r");
    pty.expect("/branch [NUMBER]");
    pty.expect("> ");
    scene.home.palyra(&["--no-start", "runs", "list"]).expect(4);
    pty.type_in("/sessions\r");
    pty.expect("starting the daemon");
    pty.expect("the daemon was gone and is back");
    pty.expect("/sessions ID goes on in one of them");
    pty.expect("> ");
    scene.home.palyra(&["admin", "stop"]).expect(0);
    pty.type_in("two\r");
    pty.expect("<one|two>");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
    assert_eq!(scene.runs().len(), 2);
}

#[test]
fn a_chat_stays_where_no_daemon_starts_and_its_line_is_brought_back() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in("one\r");
    pty.expect("<one>");
    pty.expect("> ");
    scene.home.palyra(&["admin", "stop"]).expect(0);
    let file = scene.home.config_file();
    scene.home.configure("nonsense = 1\n");
    pty.type_in("two\r");
    pty.expect("the daemon did not start: ");
    pty.expect("Up brings it back");
    pty.expect("> ");
    std::fs::write(&file, "").unwrap();
    pty.type_in("\u{1b}[A\r");
    pty.expect("<one|two>");
    pty.expect("> ");
    pty.type_in("\u{4}");
    pty.expect("`palyra chat` goes on here");
    assert_eq!(pty.ended(), 0);
}

#[test]
fn a_line_as_wide_as_the_terminal_leaves_no_empty_row() {
    let scene = Scene::new();
    for (length, expect) in [(58, 1), (57, 0)] {
        let mut pty = Pty::spawn(&scene.home.command(&["chat"]), 60);
        pty.expect("> ");
        pty.type_in(&format!("{}\r", "x".repeat(length)));
        pty.expect("tokens in");
        let ups = pty.raw().matches("\u{1b}[A").count();
        assert_eq!(ups, expect, "{length} characters: {:?}", pty.raw());
        assert_eq!(pty.ended_after("\u{4}"), 0);
    }
}

#[test]
fn markdown_of_a_model_is_shown_with_styles_wrapped_and_plain_in_a_pipe() {
    let said = "## Tea\n\n1. **Boil** the water, as `kettle --boil` does it, and wait for a while\n\n```sh\n  make tea\n```\n";
    let behaviour = Behaviour::by(move |_| Reply::text(said));
    let scene = Scene::with(Gate::closed(), behaviour);
    let command = scene.home.command(&["run", "tea?"]);
    let mut pty = Pty::spawn(&command, 40);
    assert_eq!(pty.ended(), 0);
    let rows = "│ Tea\n│\n│ 1. Boil the water, as kettle --boil\n│    does it, and wait for a while\n│\n│ ```sh\n│   make tea\n│ ```\n";
    assert!(pty.text().replace('\r', "").contains(rows), "{}", pty.text());
    assert!(pty.raw().contains("\u{1b}[1mTea\u{1b}[0m"), "{:?}", pty.raw());
    assert_eq!(scene.home.palyra(&["run", "tea?"]).expect(0).out, said);
}

#[test]
fn a_line_typed_while_an_answer_streams_is_answered_after_it() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    scene.begin_slowly(&mut pty);
    pty.type_in("and then\r");
    pty.expect("kept; it is sent to the model after this run");
    scene.gate.open();
    pty.expect("<go slowly>");
    pty.expect("asked: and then");
    pty.expect("<go slowly|and then>");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
}

#[test]
fn cancel_and_ctrl_c_stop_the_active_run_and_the_chat_goes_on() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    scene.begin_slowly(&mut pty);
    pty.type_in("/cancel\r");
    pty.expect("cancelling the run");
    pty.expect("cancelled\n");
    pty.expect("> ");
    pty.type_in("go slowly again\r");
    pty.expect("well, ");
    pty.type_in("\u{3}");
    pty.expect("cancelling the run");
    pty.expect("cancelled\n");
    pty.expect("> ");
    pty.type_in("\u{3}");
    pty.expect("Ctrl-C again leaves");
    pty.expect("> ");
    pty.type_in("\u{3}");
    assert_eq!(pty.ended(), 0);
    let states: Vec<_> = scene.runs().iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["RUN_STATE_CANCELLED", "RUN_STATE_CANCELLED"]);
}

#[test]
fn a_command_that_does_not_exist_is_not_sent() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    pty.type_in("/rest\r");
    pty.expect("there is no /rest");
    pty.expect("> ");
    pty.type_in("/memory\r");
    pty.expect("there is no /memory; in a shell, type `palyra memory`");
    pty.expect("type a space before it");
    pty.expect("> ");
    pty.type_in("/rename lanterns\r");
    pty.expect("there is no /rename; in a shell, type `palyra sessions rename ");
    pty.expect(" TITLE`");
    pty.expect("> ");
    // The line editor completes the only command that begins so.
    pty.type_in("/stat\t\r");
    pty.expect("model openai/test-model");
    pty.expect("> ");
    pty.type_in("/help\r");
    pty.expect("/branch [NUMBER]");
    pty.expect("> ");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);
    assert!(scene.runs().is_empty());
}

#[test]
fn leaving_gives_the_terminal_back_and_leaves_the_run_alone() {
    let scene = Scene::new();
    let mut pty = scene.chat();
    scene.begin_slowly(&mut pty);
    pty.type_in("/quit\r");
    pty.expect("the run goes on");
    assert_eq!(pty.ended(), 0);
    assert!(pty.raw().trim_end().ends_with("\u{1b}[?2004l"), "{:?}", pty.raw());
    assert!(pty.echoes(), "the terminal shows what is typed again");
    scene.gate.open();
    let tail = scene.home.palyra(&["runs", "tail", "last"]).expect(0);
    assert!(tail.out.contains("\nwell, <go slowly>\n"), "{}", tail.out);
}

#[test]
fn a_chat_that_is_ended_from_elsewhere_gives_the_terminal_back() {
    for busy in [true, false] {
        let scene = Scene::new();
        let mut pty = scene.chat();
        if busy {
            scene.begin_slowly(&mut pty);
        }
        assert!(!pty.echoes());
        pty.terminate();
        assert_eq!(pty.ended(), 143);
        assert!(pty.echoes(), "busy: {busy}");
    }
}
