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
