//! What was learned, as rows and lines.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::date;

const TEXT_CHARS_MAX: usize = 300;

/// Returns the head of the table.
pub fn learning_head() -> [&'static str; 5] {
    ["ID", "FOUND", "STATE", "SURE", "TEXT"]
}

/// Returns id, day, state, confidence and text.
pub fn learning_row(item: &v1::LearningCandidate) -> [String; 5] {
    let text = clean_line(&first_line(item), TEXT_CHARS_MAX);
    let text = format!("{}: {text}", kind_word(item.kind()));
    [short_id(&item.candidate_id), date(item.created), state_words(item), percent(item), text]
}

/// Returns one of them with its evidence and what it changes in the next request.
pub fn learning_lines(shown: &v1::GetLearningCandidateResponse) -> Vec<String> {
    let Some(item) = &shown.candidate else { return Vec::new() };
    let mut lines = vec![format!("{} {}", kind_word(item.kind()), short_id(&item.candidate_id))];
    lines.extend(item.text.lines().map(|line| format!("  {}", clean_line(line, TEXT_CHARS_MAX))));
    let finder = if item.by_model { "a model, whose citations were checked" } else { "a rule" };
    lines.push(format!("State: {}. Confidence: {}. Found by {finder}.", state_words(item), percent(item)));
    if !item.taints.is_empty() {
        lines.push(format!("The runs had read: {}.", item.taints.join(", ")));
    }
    lines.push("Evidence:".to_owned());
    lines.extend(shown.evidence.iter().map(|entry| {
        let text = match entry.text.as_str() {
            "" => "(erased)".to_owned(),
            text => clean_line(text, TEXT_CHARS_MAX),
        };
        format!("  run {}, entry {}, {}: {text}", short_id(&entry.run_id), entry.tape_seq, date(entry.time))
    }));
    if !shown.request_diff.is_empty() {
        lines.push("In the next request:".to_owned());
        lines.extend(shown.request_diff.iter().map(|line| format!("  {}", clean_line(line, TEXT_CHARS_MAX))));
    }
    lines
}

/// Returns what a review did, in one line.
pub fn review_done(item: &v1::LearningCandidate) -> String {
    let id = short_id(&item.candidate_id);
    let text = clean_line(&first_line(item), TEXT_CHARS_MAX);
    let what = match (item.state(), item.kind()) {
        (v1::LearningState::Accepted, v1::LearningKind::Procedure) => {
            "accepted; save the draft that `palyra memory learning show` prints as SKILL.md and install it with `palyra tools skills install FOLDER`"
        }
        (v1::LearningState::Accepted, _) => "accepted; runs that start from now on use it",
        (v1::LearningState::Edited, _) => "accepted in your words; runs that start from now on use it",
        (v1::LearningState::Rejected, _) => "rejected; it is not proposed again",
        (v1::LearningState::Undone, _) => "undone; runs that start from now on do not use it",
        _ => "unchanged",
    };
    format!("{what}, {id}: {text}")
}

/// Returns the first line of a text; of a draft its name.
fn first_line(item: &v1::LearningCandidate) -> String {
    let mut lines = item.text.lines();
    let at = if item.kind() == v1::LearningKind::Procedure { 1 } else { 0 };
    lines.nth(at).unwrap_or_default().trim_start_matches("name: ").to_owned()
}

fn kind_word(kind: v1::LearningKind) -> &'static str {
    match kind {
        v1::LearningKind::Fact => "fact",
        v1::LearningKind::Preference => "preference",
        v1::LearningKind::Procedure => "procedure",
        v1::LearningKind::Unspecified => "unknown",
    }
}

fn state_words(item: &v1::LearningCandidate) -> String {
    let state = match item.state() {
        v1::LearningState::Proposed => "proposed",
        v1::LearningState::PendingReview => "waits for you",
        v1::LearningState::Applied => "in use",
        v1::LearningState::Accepted => "accepted",
        v1::LearningState::Edited => "in your words",
        v1::LearningState::Rejected => "rejected",
        v1::LearningState::Superseded => "superseded",
        v1::LearningState::Undone => "undone",
        v1::LearningState::Unspecified => "unknown",
    };
    let why = match item.held_back() {
        v1::LearningHold::Unsure => "unsure",
        v1::LearningHold::Tainted => "read foreign text",
        v1::LearningHold::Sensitive => "may be a secret",
        v1::LearningHold::ByKind | v1::LearningHold::Unspecified => "",
    };
    let waits = matches!(item.state(), v1::LearningState::Proposed | v1::LearningState::PendingReview);
    if waits && !why.is_empty() { format!("{state}: {why}") } else { state.to_owned() }
}

fn percent(item: &v1::LearningCandidate) -> String {
    format!("{} %", item.confidence_bps / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_state_confidence_and_reason() {
        let item = v1::LearningCandidate {
            candidate_id: "C".to_owned(),
            kind: v1::LearningKind::Preference.into(),
            state: v1::LearningState::PendingReview.into(),
            held_back: v1::LearningHold::Tainted.into(),
            confidence_bps: 9_312,
            text: "keep answers short\u{1b}[2J".to_owned(),
            ..Default::default()
        };
        let [id, _, state, sure, text] = learning_row(&item);
        assert_eq!((id.as_str(), sure.as_str()), ("C", "93 %"));
        assert_eq!(state, "waits for you: read foreign text");
        assert!(text.starts_with("preference: keep answers short") && !text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn erased_evidence_says_so() {
        let shown = v1::GetLearningCandidateResponse {
            candidate: Some(v1::LearningCandidate::default()),
            evidence: vec![v1::LearningEvidence::default()],
            request_diff: vec!["+ line".to_owned()],
        };
        let lines = learning_lines(&shown).join("\n");
        assert!(lines.contains("(erased)") && lines.contains("  + line"), "{lines}");
    }
}
