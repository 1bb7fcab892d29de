//! An approval as a row of a table, and who decides it.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::{ERASED_MARK, age, approval_state_name, decider, summary, time_left};

const SUMMARY_CHARS_MAX: usize = 72;
/// Characters of who decided, in a table.
const DECIDER_CHARS_MAX: usize = 20;
const APPROVERS_CHARS_MAX: usize = 200;

/// Returns id, state, risk, age and call of an approval.
pub fn approval_row(approval: &v1::Approval) -> [String; 5] {
    let state = match approval.state() {
        v1::ApprovalState::Pending => match time_left(approval.expires).as_str() {
            "" => "waits".to_owned(),
            left => format!("waits, {left}"),
        },
        state if approval.decided_by_name.is_empty() => approval_state_name(state).to_owned(),
        state => {
            let by = clean_line(&decider(approval), DECIDER_CHARS_MAX);
            format!("{} by {by}", approval_state_name(state))
        }
    };
    let call = match &approval.prompt {
        Some(prompt) if !prompt.tool.is_empty() => format!("{}: {}", prompt.tool, summary(prompt)),
        _ => ERASED_MARK.to_owned(),
    };
    let call = clean_line(&call, SUMMARY_CHARS_MAX);
    [short_id(&approval.approval_id), state, approval.risk_name().into_owned(), age(approval.created), call]
}

/// Returns who decides, where a rule says so.
pub fn who_decides(approval: &v1::Approval) -> String {
    let another = match approval.separation() {
        v1::ApprovalSeparation::AnotherPerson => "another person than the user of the run",
        v1::ApprovalSeparation::AnyPerson | v1::ApprovalSeparation::Unspecified => "",
    };
    let named = clean_line(&approval.approvers.join(", "), APPROVERS_CHARS_MAX);
    match (named.is_empty(), another) {
        (true, another) => another.to_owned(),
        (false, "") => named,
        (false, another) => format!("{another}, of {named}"),
    }
}

/// Returns how long an answer is waited for; empty once none is.
pub fn time_to_answer(approval: &v1::Approval) -> String {
    if approval.state() == v1::ApprovalState::Pending { time_left(approval.expires) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_who_decided_and_what_the_call_does() {
        let prompt = v1::ApprovalPrompt {
            tool: "write_file".to_owned(),
            summary: "creates `a.txt`".to_owned(),
            ..Default::default()
        };
        let mut approval = v1::Approval { prompt: Some(prompt), ..Default::default() };
        approval.set_state(v1::ApprovalState::Denied);
        approval.decided_by_name = "Alice".to_owned();
        let [_, state, .., call] = approval_row(&approval);
        assert_eq!((state.as_str(), call.as_str()), ("denied by Alice", "write_file: creates `a.txt`"));
        approval.prompt = None;
        assert_eq!(approval_row(&approval)[4], ERASED_MARK);
        assert_eq!((who_decides(&approval), time_to_answer(&approval)), (String::new(), String::new()));
    }
}
