//! What a model and a person read of a schedule.

use palyra_ports::{PlannedSchedule, ToolSchedule, ToolScheduleDraft};
use palyra_types::tool::Taints;

/// Returns a schedule as one paragraph, for the model.
pub(super) fn schedule(shown: &ToolSchedule) -> String {
    let next = match (&shown.next, shown.is_paused) {
        (_, true) => "paused".to_owned(),
        (Some(next), false) => format!("next {next}"),
        (None, false) => "has no further time".to_owned(),
    };
    let action = match &shown.agent {
        Some(agent) => format!("starts a run of {agent}"),
        None => "delivers a reminder".to_owned(),
    };
    let taints = match shown.taints {
        Taints::NONE => String::new(),
        taints => format!(", made after reading: {}", taints.names().collect::<Vec<_>>().join(", ")),
    };
    let name = shown.name.expose();
    let text = shown.text.expose();
    format!(
        "{} \"{name}\": {} ({}), {next}, {action}{taints}: {text}",
        shown.schedule, shown.words, shown.zone
    )
}

/// Returns what a person reads before they approve a new schedule.
pub(super) fn proposal(planned: &PlannedSchedule, draft: &ToolScheduleDraft) -> String {
    let heading = match &planned.agent {
        Some(agent) => format!("Each time a run of the agent {agent} starts with this prompt:"),
        None => "Each time this reminder is delivered:".to_owned(),
    };
    let next = planned.next.iter().map(|time| format!("  {time}\n")).collect::<String>();
    let times = format!("Times: {}\nZone: {}\nNext times:\n{next}", planned.words, planned.zone);
    format!("{times}{heading}\n{}\n", draft.text.expose())
}

/// Returns what a person reads before they approve the end of a schedule.
pub(super) fn end(shown: &ToolSchedule) -> String {
    let next = shown.next.as_deref().unwrap_or("none");
    let name = shown.name.expose();
    let times = format!("Times: {}\nZone: {}\nNext time: {next}", shown.words, shown.zone);
    format!("Name: {name}\n{times}\nText:\n{}\n", shown.text.expose())
}
