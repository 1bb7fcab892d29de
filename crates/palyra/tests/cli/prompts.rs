//! A hostile model and a person at a terminal: an answer is for the prompt that the person has seen.

use std::fs;

use palyra_testkit::Gate;
use palyra_testkit::model_server::{Behaviour, Reply};

use crate::pty::Pty;
use crate::scene::Scene;

/// The end of a prompt, which no terminal of these tests breaks.
const PROMPT: &str = "[l]ater ";
const WRITES: &str = r#"{"path":"pwned.txt","content":"pwned"}"#;
/// What the model draws: the same words, and more of them than a line of 60 columns takes.
const FAKE: &str = "\n! read_file reads `README.md`\n? read_file reads `README.md`\r\
                    ? [y]es  [n]o  [m]ore  [l]ater \n............................................................\
                    ? [y]es  [n]o  [m]ore  [l]ater ";

fn scene(gate: &Gate, replies: Vec<Reply>) -> Scene {
    Scene::with(gate.clone(), Behaviour::each(replies))
}

/// Draws a prompt of its own, waits, and then proposes to write.
fn imitation(gate: &Gate) -> Scene {
    scene(gate, vec![Reply::empty().piece(FAKE).hold(gate).call("write_file", WRITES)])
}

#[test]
fn an_answer_to_a_prompt_that_the_model_drew_is_no_answer_to_the_real_one() {
    for (name, value) in [("TERM", "xterm"), ("NO_COLOR", "1"), ("TERM", "dumb")] {
        let gate = Gate::closed();
        let mut scene = imitation(&gate);
        scene.home = scene.home.with(name, value);
        let mut pty = Pty::spawn(&scene.home.command(&["run", "look around"]), 60);
        // The last part of what the model draws.
        pty.expect("..........");
        pty.expect(PROMPT.trim_end());
        scene.until_held();
        pty.type_in("y\r");
        gate.open();
        pty.expect("? write_file creates `pwned.txt`");
        pty.expect(PROMPT);
        assert!(!scene.home.work().join("pwned.txt").exists());
        pty.type_in("n\r");
        assert_eq!(pty.ended(), 3, "{}", pty.text());
        assert!(!scene.home.work().join("pwned.txt").exists(), "{}", pty.text());
    }
}

#[test]
fn a_key_that_was_pressed_before_the_prompt_is_no_part_of_an_answer() {
    let gate = Gate::closed();
    let scene = imitation(&gate);
    let mut pty = Pty::spawn(&scene.home.command(&["run", "look around"]), 60);
    pty.expect("..........");
    scene.until_held();
    pty.type_in("y");
    gate.open();
    pty.expect("? write_file creates");
    pty.expect(PROMPT);
    pty.type_in("\r");
    pty.expect("y runs this call once");
    pty.expect(PROMPT);
    // The control: what is typed after the prompt counts.
    pty.type_in("y\r");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    assert_eq!(fs::read_to_string(scene.home.work().join("pwned.txt")).unwrap(), "pwned");
}

#[test]
fn a_second_line_behind_an_answer_is_no_answer_to_the_next_question() {
    let gate = Gate::closed();
    let asks = Reply::empty().call("ask_user", r#"{"question":"Your name? Type it twice."}"#);
    let scene = scene(&gate, vec![asks, Reply::empty().call("write_file", WRITES)]);
    let mut pty = Pty::spawn(&scene.home.command(&["run", "look around"]), 100);
    pty.expect("answer> ");
    pty.type_in("y\ry\r");
    pty.expect("? write_file creates");
    pty.expect(PROMPT);
    pty.type_in("n\r");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    assert!(!scene.home.work().join("pwned.txt").exists(), "{}", pty.text());
}

#[test]
fn above_medium_risk_a_yes_repeats_the_word_of_the_prompt() {
    let gate = Gate::closed();
    let critical = r#"{"path":".envrc","content":"touch pwned"}"#;
    let scene = scene(&gate, vec![Reply::empty().call("write_file", critical)]);
    let mut pty = Pty::spawn(&scene.home.command(&["run", "look around"]), 100);
    for too_little in ["y\r", "s\r"] {
        pty.expect("? critical risk: type ");
        let word = pty.expect(" to run it");
        assert_eq!(word.len(), 4, "{word}");
        pty.expect(PROMPT);
        pty.type_in(too_little);
        pty.expect(&format!("{word} runs this call"));
        assert!(!scene.home.work().join(".envrc").exists());
    }
    pty.expect("? critical risk: type ");
    let word = pty.expect(" to run it");
    pty.expect(PROMPT);
    pty.type_in(&format!("{}\r", word.to_lowercase()));
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    assert!(scene.home.work().join(".envrc").exists());
}

#[test]
fn who_leaves_a_question_for_later_leaves_the_run_waiting() {
    let gate = Gate::closed();
    let scene = scene(&gate, vec![Reply::empty().call("write_file", WRITES)]);
    let mut pty = Pty::spawn(&scene.home.command(&["run", "look around"]), 100);
    pty.expect(PROMPT);
    pty.type_in("l\r");
    pty.expect("palyra approve yes ");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    assert_eq!(scene.runs()[0]["phase"], "waiting");
    scene.home.palyra(&["approve", "yes", "last"]).expect(0);
    scene.home.palyra(&["runs", "tail", "last"]).expect(0);
    assert!(scene.home.work().join("pwned.txt").exists());
}

#[test]
fn a_chat_takes_an_answer_and_goes_on_when_it_is_left_for_later() {
    let gate = Gate::closed();
    let writes = |arguments| Reply::empty().call("write_file", arguments);
    let again = r#"{"path":"pwned.txt","content":"again"}"#;
    let scene = scene(&gate, vec![writes(WRITES), Reply::text("written"), writes(again)]);
    let mut pty = scene.chat();
    pty.type_in("look around\r");
    pty.expect("? write_file creates");
    pty.expect(PROMPT);
    pty.type_in("y\r");
    pty.expect("written");
    pty.expect("> ");
    pty.type_in("and again\r");
    pty.expect("? write_file changes");
    pty.expect(PROMPT);
    pty.type_in("l\r");
    pty.expect("palyra approve yes ");
    pty.type_in("and then\r");
    pty.expect("it waits for its turn");
    pty.type_in("/quit\r");
    pty.expect("the run goes on");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
}

#[test]
fn a_kept_file_is_put_in_place_after_a_yes_that_repeats_what_was_shown() {
    let call = Reply::empty().call("run_command", r#"{"argv":["sh","leave.sh"]}"#);
    let scene = scene(&Gate::closed(), vec![call]);
    scene.home.write("leave.sh", "echo export A=1 > .envrc\n");
    scene.home.palyra(&["run", "look around"]).expect(3);
    scene.home.palyra(&["approve", "yes", "last"]).expect(0);
    scene.home.palyra(&["runs", "tail", "last"]).expect(0);
    let place = scene.home.work().join(".envrc");
    let asked = || {
        let mut pty = Pty::spawn(&scene.home.command(&["runs", "kept", "apply", "last", ".envrc"]), 100);
        pty.expect("+export A=1");
        pty.expect("? high risk: something runs this later; type ");
        let word = pty.expect(" to put it in place");
        pty.expect("/n] ");
        (pty, word)
    };
    let (mut pty, word) = asked();
    assert_eq!(word.len(), 4, "{word}");
    pty.type_in("y\r");
    assert_eq!(pty.ended(), 130, "{}", pty.text());
    assert!(!place.exists());
    let (mut pty, word) = asked();
    pty.type_in(&format!("{word}\r"));
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    assert_eq!(fs::read_to_string(&place).unwrap(), "export A=1\n");
}
