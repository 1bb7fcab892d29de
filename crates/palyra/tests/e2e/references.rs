//! References of an input, from the command line to the request of a model.

use palyra_model_server::{Behaviour, ModelServer, Reply};
use serde_json::Value;

use crate::asked::{of, tape};
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};

/// Runs once; returns the last two messages that the model was sent: the references and the words.
fn shown(home: &Home, server: &ModelServer, words: &str) -> [String; 2] {
    home.palyra(&["run", words]).expect(0);
    let request = server.asked().pop().unwrap();
    let messages: &Vec<Value> = request.body["messages"].as_array().unwrap();
    [2, 1].map(|back| messages[messages.len() - back]["content"].as_str().unwrap().to_owned())
}

#[test]
fn a_file_that_is_named_without_a_kind_has_a_note_with_the_form_of_the_place() {
    let home = Home::new();
    home.write("notes.txt", "The lamp is lit.\n");
    home.write("logo.png", "no picture");
    let words = "what is in @notes.txt and @logo.png?";
    let asked = home.palyra(&["run", words]);
    assert!(
        asked.err.contains("! `@notes.txt` is sent as plain text: `@file:notes.txt` puts"),
        "{}",
        asked.err
    );
    assert!(asked.err.contains("sent along with `--attach logo.png`"), "{}", asked.err);
    let talked = home.palyra_reading(&["chat"], &format!("{words}\n"));
    assert!(talked.err.contains("`/attach logo.png` sends the picture"), "{}", talked.err);
    // The control: a word that is no file.
    let other = home.palyra(&["run", "who is @media"]);
    assert!(!other.err.contains("plain text"), "{}", other.err);
}

#[test]
fn a_file_is_previewed_and_then_shown_as_data_before_the_words() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("Aye.")));
    let home = home_with(&server);
    home.write("notes.txt", "The lamp is lit.\n");
    let words = "sum up @file:notes.txt, not @file:gone.txt";
    let asked = server.asked().len();
    let preview = home.palyra(&["run", "--preview-references", words]).expect(0).out;
    assert!(preview.contains("@file:notes.txt") && preview.contains("read_file"), "{preview}");
    assert!(preview.contains("none: nothing has this name"), "{preview}");
    assert_eq!(server.asked().len(), asked, "no model is asked");

    let [references, said] = shown(&home, &server, words);
    assert!(references.starts_with("<context_references>\n1. @file:notes.txt (about "), "{references}");
    let (_, tagged) = references.split_once("<data-").expect("a data part begins");
    let (nonce, tagged) = tagged.split_once(" from=\"file\">\n").expect("it names its kind");
    let (inside, after) = tagged.split_once(&format!("\n</data-{nonce}>")).expect("it ends");
    assert!(inside.contains("The lamp is lit."), "{references}");
    assert!(after.contains("2. @file:gone.txt: not_found: "), "{references}");
    assert!(said.ends_with(words), "{said}");
    assert_eq!(of(&tape(&home, "last"), "references_expanded").len(), 1);
}
