//! What was said in a run, from entries of its tape: lines to branch from, and the last answer.
//!
//! Pure: knows no terminal and no daemon.

use palyra_screen_text::clean_line;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

const LISTED_CHARS_MAX: usize = 60;

/// Returns a line for each input, each answer and each call.
pub fn listed_entries(entries: &[v1::TapeEntry]) -> Vec<String> {
    let mut listed = Vec::new();
    let mut coming = String::new();
    for entry in entries {
        let notice = match &entry.event {
            Some(Event::RunStarted(started)) => format!("you said: {}", started.input),
            Some(Event::InputReceived(received)) => format!("you said: {}", received.input),
            Some(Event::ToolProposed(proposed)) => format!("call: {} {}", proposed.tool, proposed.arguments),
            Some(Event::ModelRequested(_) | Event::ModelAttemptAbandoned(_)) => {
                coming.clear();
                continue;
            }
            Some(Event::ModelText(said)) => {
                coming.push_str(&said.text);
                continue;
            }
            Some(Event::ModelMessage(_)) if !coming.is_empty() => {
                format!("the answer: {}", std::mem::take(&mut coming))
            }
            _ => continue,
        };
        listed.push(format!("{:>4}  {}", entry.tape_seq, clean_line(&notice, LISTED_CHARS_MAX)));
    }
    listed
}

/// Returns the text of the last message that is complete.
pub fn last_answer(entries: &[v1::TapeEntry]) -> String {
    let mut answer = String::new();
    let mut coming = String::new();
    for entry in entries {
        match &entry.event {
            Some(Event::ModelRequested(_) | Event::ModelAttemptAbandoned(_)) => coming.clear(),
            Some(Event::ModelText(said)) => coming.push_str(&said.text),
            Some(Event::ModelMessage(_)) if !coming.is_empty() => answer = std::mem::take(&mut coming),
            _ => {}
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_is_the_last_message_that_is_complete() {
        let text = |text: &str| Event::ModelText(v1::ModelText { attempt: 1, text: text.to_owned() });
        let message = || Event::ModelMessage(v1::ModelMessage::default());
        let entries = |events: Vec<Event>| -> Vec<v1::TapeEntry> {
            let entry = |event| v1::TapeEntry { event: Some(event), ..Default::default() };
            events.into_iter().map(entry).collect()
        };
        let requested = || Event::ModelRequested(v1::ModelRequested::default());
        let abandoned = || Event::ModelAttemptAbandoned(v1::ModelAttemptAbandoned::default());
        for (events, expect) in [
            (vec![], ""),
            (vec![text("one "), text("two"), message(), requested(), message()], "one two"),
            (vec![text("half"), abandoned(), text("whole"), message()], "whole"),
            (vec![text("whole"), message(), text("half")], "whole"),
        ] {
            assert_eq!(last_answer(&entries(events)), expect);
        }
    }
}
