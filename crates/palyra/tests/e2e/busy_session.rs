//! An input for a session with an active run says what it waits for; input that is piped in and not read is named.

use crate::home::Home;

#[test]
fn a_run_behind_an_open_question_says_so_with_the_answer() {
    let home = Home::new();
    home.palyra(&["run", "--session", "notes", "create a.txt with \"one\""]).expect(3);
    let approvals = home.palyra(&["approve", "list", "--json"]).expect(0).json();
    let approval = approvals[0]["approval_id"].as_str().unwrap();
    let kept = home.palyra(&["run", "--session", "notes", "--timeout", "1", "hello"]).expect(124);
    assert!(kept.err.contains("kept; it is sent to the model when the open call of run"), "{}", kept.err);
    let end = &approval[approval.len() - 6..];
    assert!(kept.err.contains(&format!("`palyra approve yes {end}`")), "{}", kept.err);
    home.palyra(&["approve", "yes", "last"]).expect(0);
    let after = home.palyra(&["run", "--session", "notes", "hello"]).expect(0);
    assert!(!after.err.contains("kept;"), "{}", after.err);
}

#[test]
fn input_that_is_piped_in_beside_a_question_is_named_and_none_open_is_said() {
    let home = Home::new();
    let dropped = home.palyra_reading(&["run", "hello"], "a note\n").expect(0);
    assert!(dropped.err.contains("standard input has 7 bytes that are not read"), "{}", dropped.err);
    let read = home.palyra_reading(&["run", "say this:", "-"], "a note\n").expect(0);
    assert!(!read.err.contains("standard input"), "{}", read.err);
    let open = home.palyra(&["runs", "list", "--open"]).expect(0);
    assert!(open.err.contains("no run is open"), "{}", open.err);
}

#[test]
fn a_missing_key_of_the_default_model_names_the_way_out() {
    let home = Home::new();
    home.configure(
        "model.default = \"box/m\"\n[providers.box]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = \"env:BOX_KEY\"\n",
    );
    let refused = home.palyra(&["runs", "list"]);
    assert!(
        refused.err.contains("BOX_KEY") && refused.err.contains("`palyra model use demo`"),
        "{}",
        refused.err
    );
    home.palyra(&["model", "use", "demo"]).expect(0);
    home.palyra(&["runs", "list"]).expect(0);
}
