//! A hostile model and a person at a terminal: an answer is for the prompt that the person has seen.

use std::fs;

use palyra_model_server::{Behaviour, Reply};
use palyra_testkit::Gate;

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
fn a_line_that_was_typed_before_a_question_is_said_to_be_dropped() {
    const DROPPED: &str = "what was typed before this question is dropped";
    for early in ["and then\r", "and th", ""] {
        let gate = Gate::closed();
        let scene = imitation(&gate);
        let mut pty = Pty::spawn(&scene.home.command(&["run", "look around"]), 100);
        pty.expect("..........");
        scene.until_held();
        pty.type_in(early);
        gate.open();
        pty.expect("? write_file creates");
        pty.expect(PROMPT);
        // The control: nothing is said where nothing was typed.
        assert_eq!(pty.text().contains(DROPPED), !early.is_empty(), "{early:?}: {}", pty.text());
        pty.type_in("n\r");
        assert_eq!(pty.ended(), 3, "{}", pty.text());
    }
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
    for (too_little, told) in
        [("y\r", "\"y\" does not run a critical risk call; type "), ("s\r", "\"s\" is none of the answers")]
    {
        pty.expect("? critical risk: type ");
        let word = pty.expect(" to run it");
        assert_eq!(word.len(), 4, "{word}");
        pty.expect(PROMPT);
        pty.type_in(too_little);
        pty.expect(told);
        // The keys are explained once.
        let explained = if too_little == "y\r" {
            format!("{word} runs this call")
        } else {
            "; ? explains the keys".to_owned()
        };
        pty.expect(&explained);
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
    let id = pty.expect("` approves;");
    assert_eq!(id.len(), 6, "the short id, as lists show it: {id}");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    scene.home.palyra(&["approve", "show", &id]).expect(0);
    assert_eq!(scene.runs()[0]["phase"], "waiting");
    scene.home.palyra(&["approve", "yes", "last"]).expect(0);
    scene.home.palyra(&["runs", "tail", "last"]).expect(0);
    assert!(scene.home.work().join("pwned.txt").exists());
}

#[test]
fn a_second_chat_of_a_session_asks_what_the_first_one_waits_for() {
    let gate = Gate::closed();
    let scene = scene(&gate, vec![Reply::empty().call("write_file", WRITES), Reply::text("written")]);
    let (mut first, mut second) = (scene.chat(), scene.chat());
    first.type_in("look around\r");
    first.expect(PROMPT);
    second.type_in("and then\r");
    second.expect("of this chat is still open; following it");
    second.expect("? write_file creates");
    second.expect(PROMPT);
    second.type_in("y\r");
    second.expect("written");
    first.expect("written");
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
    pty.expect("left open: /approve asks it again here");
    pty.expect("shows it, and");
    // A prompt shows that lines are taken.
    pty.expect(">");
    pty.type_in("and then\r");
    pty.expect("kept; it is sent to the model when the open call is answered");
    pty.type_in("/quit\r");
    pty.expect("the run waits for your answer; `palyra approve` asks for it again");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
}

#[test]
fn lines_that_arrive_together_are_all_sent_in_order() {
    let replies = ["first", "second", "third"].map(|said| Reply::text(&format!("the {said} answer")));
    let scene = scene(&Gate::closed(), replies.to_vec());
    let mut pty = scene.chat();
    pty.type_in("one\rtwo\rthree\rno");
    for said in ["first", "second", "third"] {
        pty.expect(&format!("the {said} answer"));
    }
    // A part of a line stays in the input line.
    pty.expect("> no");
    pty.type_in("thing\u{15}/quit\r");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    let mut runs = scene.runs();
    runs.reverse();
    let inputs: Vec<_> = runs.iter().map(|run| run["input_preview"].as_str().unwrap_or_default()).collect();
    assert_eq!(inputs, ["one", "two", "three"]);
}

#[test]
fn a_line_that_arrived_with_an_earlier_one_is_no_answer_and_is_sent_after_the_run() {
    let replies =
        vec![Reply::empty().call("write_file", WRITES), Reply::text("denied"), Reply::text("heard")];
    let scene = scene(&Gate::closed(), replies);
    let mut pty = scene.chat();
    pty.type_in("look around\ry\r");
    pty.expect("? write_file creates");
    pty.expect(PROMPT);
    pty.type_in("what?\r");
    pty.expect("\"what?\" is none of the answers");
    pty.expect(PROMPT);
    assert!(!scene.home.work().join("pwned.txt").exists(), "{}", pty.text());
    pty.type_in("n\r");
    pty.expect("denied");
    pty.expect("> y");
    pty.expect("heard");
    pty.expect("> ");
    assert!(!scene.home.work().join("pwned.txt").exists(), "{}", pty.text());
    assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
}

#[test]
fn undo_in_the_chat_takes_the_changes_of_its_last_run_back() {
    let writes = Reply::empty().call("write_file", WRITES);
    let talks = Reply::text("nothing");
    let replies = vec![talks, writes, Reply::text("written"), Reply::text("I cannot")];
    let scene = scene(&Gate::closed(), replies);
    let mut pty = scene.chat();
    pty.type_in("/undo\r");
    pty.expect("no run was made here yet");
    pty.expect("> ");
    // A run without changes has nothing to take back, and no run of another session is named; the chat goes on.
    let other = scene.home.palyra(&[
        "run",
        "--session",
        "other",
        "--model",
        "demo/demo",
        "--approve",
        "inbox",
        "create other.txt with tea",
    ]);
    assert_eq!(other.code, 3, "{}", other.err);
    scene.home.palyra(&["approve", "yes", "last", "--wait"]).expect(0);
    pty.type_in("hello\r");
    pty.expect("nothing");
    pty.expect("> ");
    pty.type_in("/undo\r");
    pty.expect("PLY-4108");
    pty.expect("no run of this chat has changes that could be taken back");
    pty.expect("> ");
    pty.type_in("look around\r");
    pty.expect(PROMPT);
    pty.type_in("y\r");
    pty.expect("written");
    pty.expect(" takes its changes back;");
    pty.expect("> ");
    assert!(scene.home.work().join("pwned.txt").exists());
    pty.type_in("palyra runs undo last\r");
    pty.expect("in this chat, /undo does this");
    pty.expect("> ");
    // A run that only answered has nothing to take back: the one before it is meant, and named.
    pty.type_in("undo that\r");
    pty.expect("I cannot");
    pty.expect("> ");
    pty.type_in("/undo\r");
    pty.expect("the last run called no tool; this is about run ");
    pty.expect("pwned.txt: removed");
    pty.expect("> ");
    assert!(!scene.home.work().join("pwned.txt").exists());
    // By the name of a run it does the same, and of a run elsewhere nothing.
    let runs = scene.home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let changing = runs.iter().find(|run| run["input_preview"] == "look around").unwrap();
    let changing = changing["run_id"].as_str().unwrap()[20..].to_owned();
    pty.type_in(&format!("/undo {changing}\r"));
    pty.expect("is removed already; it did not exist before the run");
    pty.expect("> ");
    pty.type_in("/branch 999\r");
    pty.expect("/branch lists the places of the last run");
    pty.expect("> ");
    pty.type_in("/quit\r");
    pty.expect("`palyra chat` goes on here");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
}

#[test]
fn an_answer_after_a_question_was_left_is_not_said_to_the_model() {
    let gate = Gate::closed();
    let scene = scene(
        &gate,
        vec![Reply::empty().call("write_file", WRITES), Reply::text("written"), Reply::text("heard")],
    );
    let mut pty = scene.chat();
    pty.type_in("look around\r");
    for late in ["y\r", "n not here\r"] {
        pty.expect(PROMPT);
        pty.type_in("l\r");
        pty.expect("/approve asks it again here");
        pty.type_in(late);
        pty.expect("was not sent to the model");
        pty.expect("? write_file creates");
    }
    pty.expect(PROMPT);
    assert!(!scene.home.work().join("pwned.txt").exists(), "a line without a prompt decides nothing");
    pty.type_in("l\r");
    pty.expect("/approve asks it again here");
    // The control: a space before a line has it said as it is.
    pty.type_in(" y\r");
    pty.expect("kept; it is sent to the model when the open call is answered");
    pty.type_in("/approve\r");
    pty.expect("? write_file creates");
    pty.expect(PROMPT);
    pty.type_in("y\r");
    pty.expect("written");
    pty.expect("asked: y");
    pty.expect("heard");
    pty.expect("> ");
    pty.type_in("/approve\r");
    pty.expect("nothing waits for your answer in this chat");
    pty.expect("> ");
    assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
    assert!(scene.home.work().join("pwned.txt").exists());
}

#[test]
fn a_question_of_the_model_is_shown_as_one_and_can_be_left() {
    let asks = Reply::empty().call("ask_user", r#"{"question":"Which colour?"}"#);
    let scene = scene(&Gate::closed(), vec![asks, Reply::text("thanks")]);
    let mut pty = Pty::spawn(&scene.home.command(&["run", "paint it"]), 100);
    pty.expect("? the model asks: Which colour?");
    pty.expect("Ctrl-D leaves it for later");
    pty.expect("answer> ");
    assert!(!pty.text().contains("ask_user"), "{}", pty.text());
    // A request for help is no answer.
    pty.type_in("?\r");
    pty.expect("? the model asks: Which colour?");
    pty.expect("the next line you type is the answer");
    pty.expect("answer> ");
    pty.type_in("\u{4}");
    pty.expect("palyra runs answer ");
    assert_eq!(pty.ended(), 3, "{}", pty.text());

    let mut inbox = Pty::spawn(&scene.home.command(&["approve"]), 200);
    assert_eq!(inbox.ended(), 0);
    let inbox = inbox.text();
    assert!(inbox.contains("1 run waits for an answer: `palyra runs answer "), "{inbox}");
    assert!(inbox.contains("(Which colour?)"), "{inbox}");
    let list = scene.home.palyra(&["approve", "list"]).expect(0).err;
    assert!(list.contains("1 run waits for an answer"), "{list}");
    let status = scene.home.palyra(&["status"]).expect(0).out;
    assert!(status.contains(" asks: Which colour?\n"), "{status}");
    let shown = scene.home.palyra(&["runs", "show", "last"]).expect(0).out;
    assert!(shown.contains("asks     Which colour?\n"), "{shown}");
    let answer = scene.home.palyra(&["runs", "answer", "last", "blue"]).expect(0).err;
    assert!(answer.contains("? the model asks: Which colour?\n"), "{answer}");
    scene.home.palyra(&["runs", "tail", "last"]).expect(0);
    // The control: nothing waits for anything.
    let list = scene.home.palyra(&["approve", "list"]).expect(0).err;
    assert_eq!(list, "· nothing waits for an approval\n");
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

#[test]
fn an_edit_of_a_risky_call_is_shown_before_the_word_is_asked_for() {
    let gate = Gate::closed();
    let critical = r#"{"path":".envrc","content":"touch pwned"}"#;
    let scene = scene(&gate, vec![Reply::empty().call("write_file", critical)]);
    let mut pty = Pty::spawn(&scene.home.command(&["run", "look around"]), 100);
    pty.expect(PROMPT);
    pty.type_in("l\r");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    let edit = ["approve", "yes", "last", "--set", "content=echo walnut"];
    let mut pty = Pty::spawn(&scene.home.command(&edit), 100);
    pty.expect("it runs with other arguments: ");
    pty.expect("echo walnut");
    pty.expect(" to run it");
    // Another word decides nothing and is asked again, and the way on is a line to type.
    pty.expect(PROMPT);
    pty.type_in("y\r");
    pty.expect("\"y\" does not run a critical risk call; type ");
    pty.expect(PROMPT);
    pty.type_in("l\r");
    pty.expect("the call still waits: `palyra approve yes ");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    assert!(!scene.home.work().join(".envrc").exists());
    let mut pty = Pty::spawn(&scene.home.command(&edit), 100);
    pty.expect(PROMPT);
    pty.type_in("n not here\r");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    let approvals = scene.home.palyra(&["approve", "list", "--all", "--json"]).expect(0).json();
    let denied = (&approvals[0]["state"], &approvals[0]["note"]);
    assert_eq!(denied, (&"APPROVAL_STATE_DENIED".into(), &"not here".into()));
}

#[test]
fn a_chat_goes_on_when_the_question_of_a_budget_is_left_for_later() {
    let scene = scene(&Gate::closed(), vec![Reply::text("first answer"), Reply::text("second answer")]);
    scene.home.palyra(&["budget", "set", "calls", "--limit", "requests=1", "--window", "endless"]).expect(0);
    let mut pty = scene.chat();
    pty.type_in("one\r");
    pty.expect("first answer");
    pty.expect("> ");
    pty.type_in("two\r");
    pty.expect("[c]ancel ");
    pty.type_in("l\r");
    pty.expect("left waiting for the budget: /approve asks again here");
    pty.expect(">");
    pty.type_in("three\r");
    pty.expect("kept; it is sent to the model after this run");
    pty.type_in("g\r");
    pty.expect("reads as an answer to the open question");
    pty.expect("[c]ancel ");
    pty.type_in("l\r");
    pty.expect("left waiting for the budget");
    pty.expect(">");
    pty.type_in("/approve\r");
    pty.expect("[c]ancel ");
    pty.type_in("g\r");
    pty.expect("second answer");
    pty.expect("[c]ancel ");
    pty.type_in("c\r");
    pty.expect("> ");
    assert_eq!(pty.ended_after("/quit\r"), 0, "{}", pty.text());
}
