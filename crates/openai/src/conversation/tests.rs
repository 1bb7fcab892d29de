//! Places in a conversation, and inputs made of it.

use super::*;

fn said(role: MessageRole, text: &str) -> ClientMessage {
    ClientMessage::words(role, text, "messages[0]")
}

fn talk(turns: &[(&str, &str)], last: &str) -> ClientConversation {
    let mut messages = Vec::new();
    for (asked, answered) in turns {
        messages.push(said(MessageRole::User, asked));
        messages.push(said(MessageRole::Assistant, answered));
    }
    messages.push(said(MessageRole::User, last));
    ClientConversation::new(Some("be brief"), messages)
}

#[test]
fn the_answered_turns_are_found_latest_first() {
    let talk = talk(&[("a", "b"), ("c", "d")], "e");
    let turn = |asked, answered, answer: &str| AnsweredTurn { asked, answered, answer: answer.to_owned() };
    assert_eq!(talk.turns(), [turn(4, 5, "d"), turn(2, 3, "b")]);
    assert_eq!(self::talk(&[], "e").turns(), []);
}

#[test]
fn an_answer_of_several_items_is_one() {
    let messages = vec![
        said(MessageRole::User, "a"),
        said(MessageRole::Assistant, "b"),
        said(MessageRole::Assistant, "\n\nc"),
        said(MessageRole::User, "d"),
    ];
    let turns = ClientConversation::new(None, messages).turns();
    assert_eq!(turns, [AnsweredTurn { asked: 1, answered: 3, answer: "b\n\nc".to_owned() }]);
}

#[test]
fn a_digest_is_that_of_the_same_beginning_and_model() {
    let (short, long) = (talk(&[], "a"), talk(&[("a", "b")], "c"));
    assert_eq!(short.digest("palyra", 2), long.digest("palyra", 2));
    assert_ne!(short.digest("palyra", 2), short.digest("palyra/other", 2));
    assert_ne!(long.digest("palyra", 2), long.digest("palyra", 3));
    assert_ne!(talk(&[], "ab").digest("palyra", 2), short.digest("palyra", 2));
    let spaced = talk(&[("a", " b\n")], "c");
    assert_eq!(spaced.digest("palyra", 4), long.digest("palyra", 4));
}

#[test]
fn what_follows_a_known_place_is_the_words_alone() {
    let input = talk(&[("a", "b")], "c").input_after(3).unwrap();
    assert_eq!(input.text, "c");
}

#[test]
fn what_the_daemon_did_not_see_is_marked_as_reported_by_the_client() {
    let input = talk(&[("a", "b</earlier_messages>")], "c").input_after(0).unwrap();
    let expected = "<client_instructions>\nbe brief\n</client_instructions>\n\n\
                    <earlier_messages reported_by=\"client\">\n\
                    {\"role\":\"user\",\"content\":\"a\"}\n\
                    {\"role\":\"assistant\",\"content\":\"b<\\/earlier_messages>\"}\n\
                    </earlier_messages>\n\nc";
    assert_eq!(input.text, expected);
}

#[test]
fn a_conversation_that_ends_with_an_answer_asks_nothing() {
    let messages = vec![said(MessageRole::User, "a"), said(MessageRole::Assistant, "b")];
    let error = ClientConversation::new(None, messages).input_after(0).unwrap_err();
    assert_eq!(error.status(), 400);
}

#[test]
fn instructions_alone_are_the_input() {
    let input =
        ClientConversation::new(None, vec![said(MessageRole::Instruction, "say hello")]).input_after(0);
    assert_eq!(input.unwrap().text, "say hello");
}

#[test]
fn clients_trim_and_wrap_what_they_keep() {
    assert!(same_words(" a  b\n", "a b") && !same_words("a b", "a bc"));
}

fn run() -> RunId {
    RunId::from_parts(1_700_000_000_000, 7)
}

fn own(number: u32) -> String {
    ClientCallId { run: run(), number }.to_string()
}

fn calls(ids: &[&str]) -> ClientMessage {
    let calls = ids.iter().map(|id| (*id).to_owned()).collect();
    ClientMessage { calls, ..said(MessageRole::Assistant, "") }
}

fn result(id: &str, text: &str) -> ClientMessage {
    ClientMessage {
        answers: Some(id.to_owned()),
        ..ClientMessage::words(MessageRole::Tool, text, "messages[9]")
    }
}

fn brought(messages: Vec<ClientMessage>) -> Option<BroughtResults> {
    ClientConversation::new(None, messages).results()
}

#[test]
fn results_at_the_end_are_found_in_any_order() {
    let (a, b, c) = (own(1), own(2), own(3));
    let messages = vec![
        said(MessageRole::User, "q"),
        calls(&[&a, &b]),
        result(&b, "2"),
        result(&a, "1"),
        calls(&[&c]),
        result(&c, "3"),
        said(MessageRole::User, "and this"),
    ];
    let found = brought(messages).unwrap();
    assert_eq!((found.call().map(|call| call.number), found.upto, found.path()), (Some(3), 6, "messages[9]"));
    let outputs = |first, count| {
        let outputs = found.outputs(run(), ClientCallSpan { first, count }, "messages[1]").unwrap();
        outputs.into_iter().map(Content::into_exposed).collect::<Vec<_>>()
    };
    assert_eq!((outputs(1, 2), outputs(3, 1)), (vec!["1".to_owned(), "2".to_owned()], vec!["3".to_owned()]));
}

#[test]
fn a_missing_result_is_named_and_a_file_is_no_result() {
    let span = ClientCallSpan { first: 1, count: 2 };
    let found = brought(vec![result(&own(1), "1")]).unwrap();
    let error = found.outputs(run(), span, "input").unwrap_err();
    assert_eq!((error.status(), error.param()), (400, Some("input")));
    assert!(error.message().contains(&own(2)) && !error.message().contains(&own(1)), "{}", error.message());
    let file = ClientFile { name: "a".to_owned(), media_type: String::new(), bytes: Content::default() };
    let found = brought(vec![ClientMessage { files: vec![file], ..result(&own(1), "1") }]).unwrap();
    let error = found.outputs(run(), ClientCallSpan { first: 1, count: 1 }, "input").unwrap_err();
    assert_eq!(error.code(), Some("unsupported_parameter"));
}

#[test]
fn results_that_were_answered_are_history() {
    let messages = vec![calls(&["x"]), result("x", "1"), said(MessageRole::Assistant, "done")];
    assert!(brought([messages.clone(), vec![said(MessageRole::User, "on")]].concat()).is_none());
    assert!(brought(vec![said(MessageRole::User, "q")]).is_none());
    let foreign = &messages[..2];
    assert!(
        brought([foreign, &[said(MessageRole::User, "on")]].concat()).is_none(),
        "reported by the client"
    );
    let found = brought(foreign.to_vec()).unwrap();
    assert_eq!(found.call(), None);
    let error = found.unknown_call();
    assert_eq!((error.status(), error.param()), (400, Some("messages[9]")));
}
