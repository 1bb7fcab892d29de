//! A run that repeats itself waits for a person.

use palyra_model_server::{Behaviour, Reply};

use crate::openai_server::{home_with, runtime, serve};

/// Asks for the same file until a person says something.
fn stubborn() -> Behaviour {
    Behaviour::by(|body| {
        let messages = body["messages"].as_array().unwrap();
        let told = messages
            .iter()
            .any(|message| message["content"].as_str().is_some_and(|text| text.contains("enough")));
        if told { Reply::text("Very well.") } else { Reply::empty().call("read_file", "{\"path\":\"a.md\"}") }
    })
}

#[test]
fn where_nobody_sits_the_program_says_how_to_answer_and_the_run_waits() {
    let runtime = runtime();
    let server = serve(&runtime, stubborn());
    let home = home_with(&server);
    home.write("a.md", "# Same\n");
    let waits = home.palyra(&["run", "read it"]).expect(3);
    assert!(
        waits.err.contains("! the run repeats itself: the same call with the same result, 3 times"),
        "{}",
        waits.err
    );
    let run = &home.palyra(&["runs", "show", "last", "--json"]).expect(0).json()[0];
    assert_eq!((&run["phase"], &run["waiting_for"]), (&"waiting".into(), &"loop_check".into()));
    let id = run["run_id"].as_str().unwrap();
    assert!(waits.err.contains(&format!("palyra runs answer {id} TEXT")), "{}", waits.err);

    home.palyra(&["runs", "answer", id, "that", "is", "enough"]).expect(0);
    let tail = home.palyra(&["runs", "tail", id]).expect(0);
    assert!(tail.out.contains("\nVery well.\n"), "{}", tail.out);
    assert!(tail.out.contains(" answered: that is enough\n"), "{}", tail.out);
    let late = home.palyra(&["runs", "answer", id, "more"]).expect(5);
    assert!(
        late.err.contains("error[PLY-1104]")
            && late.err.contains(&format!("`palyra runs answer {id} --new TEXT`")),
        "{}",
        late.err
    );
    assert_eq!(home.palyra(&["runs", "list", "--json"]).expect(0).json().len(), 1);
    let json = home.palyra(&["runs", "answer", id, "--new", "--json", "more"]).expect(0).json();
    assert_eq!(json[0]["queued"], true);
}

#[test]
fn a_waiting_run_can_be_cancelled() {
    let runtime = runtime();
    let server = serve(&runtime, stubborn());
    let home = home_with(&server);
    home.write("a.md", "# Same\n");
    home.palyra(&["run", "read it"]).expect(3);
    home.palyra(&["runs", "cancel", "last"]).expect(0);
    let tail = home.palyra(&["runs", "tail", "last"]).expect(1);
    assert!(tail.err.contains("PLY-5004"), "{}", tail.err);
}
