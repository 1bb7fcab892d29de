//! What is said of an input that waits behind the active run of its session.

use palyra_screen_text::short_id;
use palyra_wire::v1;

/// Said where no call waits.
pub const NOTHING_TO_APPROVE: &str = "nothing waits for an approval";

/// Says that an input is kept, what it waits for, and how that is answered; `approval` is the open question of the run.
#[must_use]
pub fn queued_input(active: &v1::Run, approval: Option<&str>) -> String {
    let (when, how) = turn_words(active, approval);
    format!("kept; it is sent to the model {when}; {how}")
}

/// Says when a run begins that is queued behind the active run of its session, and how that is answered.
#[must_use]
pub fn queued_run(active: &v1::Run, approval: Option<&str>) -> String {
    let (when, how) = turn_words(active, approval);
    format!("it is queued, and begins {when}; {how}")
}

/// Says when it is the turn of what is queued behind a run, and which command brings it nearer.
fn turn_words(active: &v1::Run, approval: Option<&str>) -> (String, String) {
    let run = short_id(&active.run_id);
    match (active.waiting_for(), approval) {
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
    }
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

/// Says how an open run ends, and what takes its changes back then.
#[must_use]
pub fn mend_of_open(run: &v1::Run) -> String {
    format!("{}; then `palyra runs undo {}`", end_of_open(run), short_id(&run.run_id))
}

/// Says how an open run ends.
#[must_use]
pub fn end_of_open(run: &v1::Run) -> String {
    let id = short_id(&run.run_id);
    let goes_on = how_to_go_on(run).filter(|_| run.phase() == v1::RunPhase::Waiting);
    let goes_on = goes_on.map(|words| format!("{words}, or ")).unwrap_or_default();
    format!("{goes_on}`palyra runs cancel {id}` ends it")
}

/// Says where nothing waits for an approval or for words: which run waits for something else, newest first.
#[must_use]
pub fn otherwise_waiting(runs: &[v1::Run]) -> String {
    let led_on = |run: &v1::Run| {
        let waits = run.phase() == v1::RunPhase::Waiting && run.waiting_for() != v1::WaitReason::Approval;
        let words = how_to_go_on(run).filter(|_| waits)?;
        Some(format!("{NOTHING_TO_APPROVE}; run {} waits, and {words}", short_id(&run.run_id)))
    };
    runs.iter().find_map(led_on).unwrap_or_else(|| NOTHING_TO_APPROVE.to_owned())
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
        let run_behind = v1::Run {
            waiting_for: v1::WaitReason::Approval.into(),
            run_id: id.to_owned(),
            ..Default::default()
        };
        let queued = queued_run(&run_behind, Some("01J8ZQ4Y6N0000000000XYZ789"));
        assert!(queued.starts_with("it is queued, and begins when the open call of run"), "{queued}");
        assert!(queued.contains(&format!("`palyra approve yes {approval}`")), "{queued}");
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

    #[test]
    fn an_open_run_is_led_on_by_what_it_waits_for() {
        let run = |reason: v1::WaitReason, phase: v1::RunPhase| v1::Run {
            run_id: "01M84HKZ5N8HY3ARZ2DB96C5QJ".to_owned(),
            waiting_for: reason.into(),
            phase: phase.into(),
            ..Default::default()
        };
        let ends = "`palyra runs cancel 96C5QJ` ends it; then `palyra runs undo 96C5QJ`";
        for (reason, phase, wanted) in [
            (v1::WaitReason::Approval, v1::RunPhase::Waiting, "`palyra approve` answers it, or "),
            (
                v1::WaitReason::Question,
                v1::RunPhase::Waiting,
                "`palyra runs answer 96C5QJ TEXT` answers it, or ",
            ),
            (
                v1::WaitReason::Budget,
                v1::RunPhase::Waiting,
                "`palyra budget go-on 96C5QJ` lets it go on once, or ",
            ),
            (v1::WaitReason::UnknownKind, v1::RunPhase::Waiting, ""),
            (v1::WaitReason::Unspecified, v1::RunPhase::Running, ""),
        ] {
            assert_eq!(mend_of_open(&run(reason, phase)), format!("{wanted}{ends}"), "{reason:?}");
        }
    }

    #[test]
    fn a_run_that_waits_for_a_budget_is_named_where_nothing_waits_for_an_approval() {
        let run = |reason: v1::WaitReason| v1::Run {
            run_id: "01M84HKZ5N8HY3ARZ2DB96C5QJ".to_owned(),
            phase: v1::RunPhase::Waiting.into(),
            waiting_for: reason.into(),
            ..Default::default()
        };
        let said = otherwise_waiting(&[run(v1::WaitReason::ClientTool), run(v1::WaitReason::Budget)]);
        assert!(said.ends_with("`palyra budget go-on 96C5QJ` lets it go on once"), "{said}");
        assert_eq!(otherwise_waiting(&[run(v1::WaitReason::ClientTool)]), NOTHING_TO_APPROVE);
    }
}
