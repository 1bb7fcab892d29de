//! An approval as a person sees it: what would run, what it would change, why it is asked, and for how long.
//!
//! Pure. Invariant: nothing that will run is left out without saying so; what steers a terminal is made visible by
//! whoever prints the lines.

use std::time::{SystemTime, UNIX_EPOCH};

use palyra_wire::v1;
use prost_types::Timestamp;

use super::amounts::count;
use crate::terminal::Mark;
use crate::terminal::{clean_line, escape_json};

/// Lines of a preview that are shown before the rest is left to `show`.
const PREVIEW_LINES_MAX: usize = 40;
const ARGUMENTS_CHARS_MAX: usize = 400;
const CALL_CHARS_MAX: usize = 160;

/// How much of an approval is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What fits beside other things.
    Brief,
    /// All of it.
    Full,
}

/// Returns what a person has to know to answer, line by line: a heading, and what is shown behind blanks.
pub(crate) fn question(prompt: &v1::ApprovalPrompt, risk: &str, detail: Detail) -> Vec<String> {
    let mut lines = vec![format!("{} wants to run ({risk} risk): {}", prompt.tool, summary(prompt))];
    if !prompt.asked_again.is_empty() {
        lines.push(format!("asked again because {}", prompt.asked_again));
    }
    lines.extend(shown_arguments(prompt, detail));
    lines.extend(preview(&prompt.preview, detail));
    if !prompt.reason.is_empty() {
        lines.push(format!("why it is asked: {}", prompt.reason));
    }
    if !prompt.unbound.is_empty() {
        lines.push(format!("your answer does not cover: {}", prompt.unbound));
    }
    lines
}

/// Returns what the call does, in one line.
pub(crate) fn summary(prompt: &v1::ApprovalPrompt) -> String {
    if prompt.summary.is_empty() { escape_json(&prompt.arguments) } else { prompt.summary.clone() }
}

fn shown_arguments(prompt: &v1::ApprovalPrompt, detail: Detail) -> Option<String> {
    // Where there is a preview, the arguments only say it again.
    if prompt.summary.is_empty() || (detail == Detail::Brief && !prompt.preview.is_empty()) {
        return None;
    }
    let arguments = escape_json(&prompt.arguments);
    let chars = arguments.chars().count();
    if detail == Detail::Full || chars <= ARGUMENTS_CHARS_MAX {
        return Some(format!("arguments: {arguments}"));
    }
    let head: String = arguments.chars().take(ARGUMENTS_CHARS_MAX).collect();
    let left = count((chars - ARGUMENTS_CHARS_MAX) as u64, "more character");
    Some(format!("arguments: {head}… ({left})"))
}

fn preview(preview: &str, detail: Detail) -> Vec<String> {
    let all = preview.lines().count();
    let lines_max = match detail {
        Detail::Brief => PREVIEW_LINES_MAX,
        Detail::Full => usize::MAX,
    };
    let mut lines: Vec<String> = preview.lines().take(lines_max).map(str::to_owned).collect();
    if all > lines_max {
        lines.push(format!("({} not shown here)", count((all - lines_max) as u64, "more line")));
    }
    lines
}

/// Returns how long there is time, such as `23h left`; empty when there is no end.
pub(crate) fn time_left(expires: Option<Timestamp>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    expires.map(|expires| left(expires.seconds.saturating_sub_unsigned(now))).unwrap_or_default()
}

fn left(seconds: i64) -> String {
    match seconds {
        ..=0 => "over".to_owned(),
        1..60 => format!("{seconds}s left"),
        60..3_600 => format!("{}m left", seconds / 60),
        3_600..172_800 => format!("{}h left", seconds / 3_600),
        _ => format!("{}d left", seconds / 86_400),
    }
}

/// Returns where an approval stands, in a word.
pub(crate) fn approval_state_name(state: v1::ApprovalState) -> &'static str {
    match state {
        v1::ApprovalState::Pending => "waits",
        v1::ApprovalState::Approved => "approved",
        v1::ApprovalState::Denied => "denied",
        v1::ApprovalState::Expired => "expired",
        v1::ApprovalState::Withdrawn => "withdrawn",
        v1::ApprovalState::Unspecified => "unknown",
    }
}

/// Returns which call an approval is about, in one line; empty once its content is erased.
fn approved_call(approval: &v1::Approval) -> String {
    let Some(prompt) = approval.prompt.as_ref().filter(|prompt| !prompt.tool.is_empty()) else {
        return String::new();
    };
    clean_line(&format!("{} {}", prompt.tool, summary(prompt)), CALL_CHARS_MAX)
}

/// Returns what became of an answer, for a call in a folder where that is known.
pub(crate) fn outcome(answer: &v1::ResolveApprovalResponse, folder: &str) -> (Mark, String) {
    let approval = answer.approval.clone().unwrap_or_default();
    let state = approval_state_name(approval.state());
    let call = approved_call(&approval);
    let place = if folder.is_empty() { String::new() } else { format!(" in {folder}") };
    let what = if call.is_empty() { String::new() } else { format!(": {call}{place}") };
    if !answer.asked_again_as.is_empty() {
        let told = format!(
            "what would run has changed since it was asked, so nothing ran; `palyra approve show {}` shows the new question",
            answer.asked_again_as
        );
        return (Mark::Doubt, told);
    }
    if !answer.counted {
        let told = match (approval.decided_by.as_str(), approval.note.as_str()) {
            ("", "") => format!("it was decided before: {state}"),
            // No person did: the rules, or whatever the call was about.
            ("", note) => format!("nothing ran; {state}: {note}"),
            (by, _) => format!("it was decided before: {state} by {by}"),
        };
        return (Mark::Doubt, told);
    }
    if approval.state() == v1::ApprovalState::Pending {
        let told = format!(
            "your yes counts; {} of {} people said yes{what}",
            approval.voters.len(),
            approval.needed
        );
        return (Mark::Good, told);
    }
    let granted = if answer.grant_id.is_empty() {
        String::new()
    } else {
        format!("; equal calls run silently because of grant {}", answer.grant_id)
    };
    (
        Mark::Good,
        format!("{state}{what}; `palyra runs tail {}` shows how it goes on{granted}", approval.run_id),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_of_an_answer_is_told_as_it_is() {
        let with = |state: v1::ApprovalState, counted| v1::ResolveApprovalResponse {
            approval: Some(v1::Approval {
                run_id: "RUN".to_owned(),
                state: state.into(),
                needed: 2,
                voters: vec!["A".to_owned()],
                decided_by: "B".to_owned(),
                ..Default::default()
            }),
            counted,
            ..Default::default()
        };
        let told = |answer| outcome(&answer, "").1;
        assert_eq!(told(with(v1::ApprovalState::Denied, false)), "it was decided before: denied by B");
        let mut forbidden = with(v1::ApprovalState::Denied, false);
        forbidden.approval.as_mut().unwrap().decided_by.clear();
        assert_eq!(told(forbidden.clone()), "it was decided before: denied");
        forbidden.approval.as_mut().unwrap().note = "forbidden by now".to_owned();
        assert_eq!(told(forbidden), "nothing ran; denied: forbidden by now");
        assert_eq!(
            told(with(v1::ApprovalState::Approved, true)),
            "approved; `palyra runs tail RUN` shows how it goes on"
        );
        let mut named = with(v1::ApprovalState::Approved, true);
        named.approval.as_mut().unwrap().prompt = Some(prompt());
        assert_eq!(
            outcome(&named, "/home/a/proj").1,
            "approved: write_file create notes.txt (5 bytes) in /home/a/proj; `palyra runs tail RUN` shows how it goes on"
        );
        assert_eq!(told(with(v1::ApprovalState::Pending, true)), "your yes counts; 1 of 2 people said yes");
    }

    fn prompt() -> v1::ApprovalPrompt {
        v1::ApprovalPrompt {
            tool: "write_file".to_owned(),
            arguments: r#"{"content":"hello","path":"notes.txt"}"#.to_owned(),
            summary: "create notes.txt (5 bytes)".to_owned(),
            preview: "--- /dev/null\n+++ notes.txt\n+hello".to_owned(),
            reason: "rule writes-in-the-workspace asks".to_owned(),
            unbound: String::new(),
            asked_again: String::new(),
        }
    }

    #[test]
    fn what_runs_is_told_with_its_difference() {
        let lines = question(&prompt(), "medium", Detail::Brief);
        assert_eq!(
            lines,
            [
                "write_file wants to run (medium risk): create notes.txt (5 bytes)",
                "--- /dev/null",
                "+++ notes.txt",
                "+hello",
                "why it is asked: rule writes-in-the-workspace asks",
            ]
        );
        let all = question(&prompt(), "medium", Detail::Full);
        assert!(all.iter().any(|line| line.starts_with("arguments: {")), "{all:?}");
    }

    #[test]
    fn arguments_stay_the_same_json_and_steer_nothing() {
        let evil = v1::ApprovalPrompt { arguments: "{\"a\":\"\u{9b}\u{202e}\"}".to_owned(), ..prompt() };
        let lines = question(&evil, "medium", Detail::Full);
        assert_eq!(lines[1], r#"arguments: {"a":"\u009b\u202e"}"#);
        let bare = v1::ApprovalPrompt { summary: String::new(), ..evil };
        assert!(question(&bare, "medium", Detail::Brief)[0].ends_with(r#"{"a":"\u009b\u202e"}"#));
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let long = v1::ApprovalPrompt { preview: "+line\n".repeat(100), ..prompt() };
        let lines = question(&long, "medium", Detail::Brief);
        assert!(lines.contains(&"(60 more lines not shown here)".to_owned()), "{lines:?}");
        let bare = v1::ApprovalPrompt {
            preview: String::new(),
            arguments: "x".repeat(500),
            unbound: "what make runs".to_owned(),
            asked_again: "the file changed".to_owned(),
            ..prompt()
        };
        let lines = question(&bare, "high", Detail::Brief);
        assert_eq!(lines[1], "asked again because the file changed");
        assert!(lines[2].ends_with("… (100 more characters)"), "{lines:?}");
        assert_eq!(lines[4], "your answer does not cover: what make runs");
    }

    #[test]
    fn time_runs_out_in_coarse_steps() {
        for (seconds, expect) in [
            (-1, "over"),
            (0, "over"),
            (59, "59s left"),
            (61, "1m left"),
            (86_399, "23h left"),
            (259_200, "3d left"),
        ] {
            assert_eq!(left(seconds), expect);
        }
        assert_eq!(time_left(None), "");
    }
}
