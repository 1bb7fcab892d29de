//! A question that a model asks a person, as it is shown.

use palyra_screen_text::clean_line;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

/// The tool that asks.
const ASK_USER: &str = "ask_user";
const QUESTION_CHARS_MAX: usize = 400;
const CHOICES_CHARS_MAX: usize = 160;

/// Returns the question of a call that asks the person, with the answers it offers; `None` for every other call.
pub fn model_question(tool: &str, arguments: &str) -> Option<String> {
    if tool != ASK_USER {
        return None;
    }
    let arguments: serde_json::Value = serde_json::from_str(arguments).ok()?;
    let question = clean_line(arguments.get("question")?.as_str()?, QUESTION_CHARS_MAX);
    let choices = arguments.get("choices").and_then(|choices| choices.as_array()).into_iter().flatten();
    let choices: Vec<&str> = choices.filter_map(|choice| choice.as_str()).collect();
    if choices.is_empty() {
        return Some(question);
    }
    Some(format!("{question} ({}, or something else)", clean_line(&choices.join(", "), CHOICES_CHARS_MAX)))
}

/// Returns the question of the last call of a tape that asks one and has begun.
pub fn open_question_of(entries: &[v1::TapeEntry]) -> Option<String> {
    let started = entries.iter().rev().find_map(|entry| match &entry.event {
        Some(Event::ToolStarted(started)) if started.contract() == v1::EffectContract::Local => {
            Some(started.effect_id)
        }
        _ => None,
    })?;
    entries.iter().find_map(|entry| match &entry.event {
        Some(Event::ToolProposed(proposed)) if proposed.effect_id == started => {
            model_question(&proposed.tool, &proposed.arguments)
        }
        _ => None,
    })
}

/// Returns whether a run waits for words of a person, and for no approval and no outcome.
pub fn waits_for_words(run: &v1::Run) -> bool {
    run.phase() == v1::RunPhase::Waiting
        && !matches!(
            run.waiting_for(),
            v1::WaitReason::Approval
                | v1::WaitReason::OutcomeUnknown
                | v1::WaitReason::ClientTool
                | v1::WaitReason::Budget
                | v1::WaitReason::UnknownKind
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_shown_with_the_answers_it_offers() {
        for (tool, arguments, expect) in [
            ("ask_user", r#"{"question":"Which\ncolour?"}"#, Some("Which colour?")),
            (
                "ask_user",
                r#"{"question":"Which?","choices":["red","blue"]}"#,
                Some("Which? (red, blue, or something else)"),
            ),
            ("ask_user", r#"{"text":"Which?"}"#, None),
            ("read_file", r#"{"question":"Which?"}"#, None),
        ] {
            assert_eq!(model_question(tool, arguments).as_deref(), expect, "{arguments}");
        }
    }

    #[test]
    fn the_question_is_that_of_the_call_that_waits() {
        let entry = |event| v1::TapeEntry { event: Some(event), ..Default::default() };
        let proposed = |effect_id, question: &str| {
            entry(Event::ToolProposed(v1::ToolProposed {
                effect_id,
                tool: "ask_user".to_owned(),
                arguments: serde_json::json!({ "question": question }).to_string(),
                ..Default::default()
            }))
        };
        let started = |effect_id| {
            let contract = v1::EffectContract::Local.into();
            entry(Event::ToolStarted(v1::ToolStarted { effect_id, contract, ..Default::default() }))
        };
        let entries = [proposed(1, "first?"), started(1), proposed(2, "which\nfolder?"), started(2)];
        assert_eq!(open_question_of(&entries).as_deref(), Some("which folder?"));
        assert_eq!(open_question_of(&entries[..2]).as_deref(), Some("first?"));
        assert_eq!(open_question_of(&entries[..1]), None);
    }
}
