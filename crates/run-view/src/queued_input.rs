//! What is said of an input that waits behind the active run of its session.

use palyra_screen_text::short_id;
use palyra_wire::v1;

/// Says that an input is kept, what it waits for, and how that is answered; `approval` is the open question of the run.
#[must_use]
pub fn queued_input(active: &v1::Run, approval: Option<&str>) -> String {
    let run = short_id(&active.run_id);
    let (when, how) = match (active.waiting_for(), approval) {
        (v1::WaitReason::Approval, Some(approval)) => {
            let approval = short_id(approval);
            (
                format!("when the open call of run {run} is answered (approval {approval})"),
                format!("`palyra approve yes {approval}`, or `no`, answers it"),
            )
        }
        (v1::WaitReason::Approval, None) => {
            (format!("when the open call of run {run} is answered"), "`palyra approve` asks it".to_owned())
        }
        (v1::WaitReason::Question | v1::WaitReason::LoopCheck, _) => (
            format!("when the question of run {run} is answered"),
            format!("`palyra runs answer {run} TEXT` answers it"),
        ),
        (v1::WaitReason::OutcomeUnknown, _) => (
            format!("when the outcome of a call of run {run} is known"),
            format!("`palyra runs show {run}` says how it is settled"),
        ),
        (v1::WaitReason::Budget, _) => (
            format!("after run {run}, which waits for a budget"),
            format!("`palyra budget go-on {run}` lets it go on once, `palyra runs cancel {run}` ends it"),
        ),
        (v1::WaitReason::ClientTool, _) => (
            format!("after run {run}, which waits for the program that started it"),
            format!("`palyra runs cancel {run}` ends it"),
        ),
        (v1::WaitReason::UnknownKind, _) => (
            format!("after run {run}, which waits for a newer version"),
            format!("`palyra runs cancel {run}` ends it"),
        ),
        (v1::WaitReason::Unspecified, _) => (
            format!("after run {run}, which is at work"),
            format!("`palyra runs tail {run}` shows it, `palyra runs cancel {run}` stops it"),
        ),
    };
    format!("kept; it is sent to the model {when}; {how}")
}

/// Says which command lets a run go on that waits; `None` where no command does.
#[must_use]
pub fn how_to_go_on(run: &v1::Run) -> Option<String> {
    let id = short_id(&run.run_id);
    match run.waiting_for() {
        v1::WaitReason::Approval => Some("`palyra approve` answers it".to_owned()),
        v1::WaitReason::Question | v1::WaitReason::LoopCheck => {
            Some(format!("`palyra runs answer {id} TEXT` answers it"))
        }
        v1::WaitReason::OutcomeUnknown => Some(format!("`palyra runs show {id}` says how it is settled")),
        v1::WaitReason::Budget => Some(format!("`palyra budget go-on {id}` lets it go on once")),
        v1::WaitReason::ClientTool | v1::WaitReason::UnknownKind | v1::WaitReason::Unspecified => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_waits_names_what_it_waits_for_and_the_answer() {
        let id = "01J8ZQ4Y6N0000000000ABC123";
        let said = |reason: v1::WaitReason, approval| {
            let run = v1::Run { run_id: id.to_owned(), waiting_for: reason.into(), ..Default::default() };
            queued_input(&run, approval)
        };
        let run = short_id(id);
        let approval = short_id("01J8ZQ4Y6N0000000000XYZ789");
        let asked = said(v1::WaitReason::Approval, Some("01J8ZQ4Y6N0000000000XYZ789"));
        assert!(asked.starts_with("kept; it is sent to the model when the open call of run"), "{asked}");
        assert!(
            asked.contains(&run) && asked.contains(&format!("`palyra approve yes {approval}`")),
            "{asked}"
        );
        let question = said(v1::WaitReason::Question, None);
        assert!(question.contains(&format!("`palyra runs answer {run} TEXT`")), "{question}");
        let budget = said(v1::WaitReason::Budget, None);
        assert!(
            budget.contains(&format!("`palyra budget go-on {run}`")) && !budget.contains("tail"),
            "{budget}"
        );
        let active = said(v1::WaitReason::Unspecified, None);
        assert!(active.contains(&format!("after run {run}, which is at work")), "{active}");
    }
    #[test]
    fn a_run_that_waits_is_led_on_by_the_command_for_its_reason() {
        let id = "01J8ZQ4Y6N0000000000ABC123";
        for (reason, wanted) in [
            (v1::WaitReason::Approval, Some("`palyra approve`")),
            (v1::WaitReason::Question, Some("`palyra runs answer ABC123 TEXT`")),
            (v1::WaitReason::LoopCheck, Some("`palyra runs answer ABC123 TEXT`")),
            (v1::WaitReason::Budget, Some("`palyra budget go-on ABC123`")),
            (v1::WaitReason::OutcomeUnknown, Some("`palyra runs show ABC123`")),
            (v1::WaitReason::UnknownKind, None),
            (v1::WaitReason::ClientTool, None),
        ] {
            let run = v1::Run { run_id: id.to_owned(), waiting_for: reason.into(), ..Default::default() };
            let said = how_to_go_on(&run);
            assert_eq!(said.is_some(), wanted.is_some(), "{reason:?}");
            assert!(said.unwrap_or_default().contains(wanted.unwrap_or_default()), "{reason:?}");
        }
    }
}
