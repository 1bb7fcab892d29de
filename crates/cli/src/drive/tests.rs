//! The driver against runs that follow a script.

use std::collections::VecDeque;

use palyra_types::ErrorCode;
use palyra_wire::v1::tape_entry::Event;

use super::*;
use palyra_terminal::{CapturedKind, captured};

/// What a scripted run does next.
enum Step {
    Event(FollowEvent),
    Fails(ClientError),
    /// Nothing, until the run is asked to stop.
    UntilCancelled,
    /// Nothing, until an input comes.
    UntilInput,
    /// Nothing, until an approval is answered.
    UntilAnswer,
}

#[derive(Default)]
struct ScriptedRun {
    steps: VecDeque<Step>,
    waits_for: Option<String>,
    cancelled: bool,
    inputs: Vec<String>,
    went_on: bool,
    answers: Vec<v1::ResolveApprovalRequest>,
}

impl FollowedRun for ScriptedRun {
    async fn next(&mut self) -> Result<Option<FollowEvent>, ClientError> {
        let held = match self.steps.front() {
            Some(Step::UntilCancelled) => !self.cancelled,
            Some(Step::UntilInput) => self.inputs.is_empty() && !self.went_on,
            Some(Step::UntilAnswer) => self.answers.is_empty(),
            _ => false,
        };
        if held {
            return std::future::pending().await;
        }
        match self.steps.pop_front() {
            Some(Step::Event(event)) => Ok(Some(event)),
            Some(Step::Fails(error)) => Err(error),
            Some(Step::UntilCancelled | Step::UntilInput | Step::UntilAnswer) => {
                Ok(Some(FollowEvent::CaughtUp))
            }
            None => Ok(None),
        }
    }

    fn request_cancel(&mut self) {
        self.cancelled = true;
    }

    fn send_input(&mut self, text: String) -> Result<(), ClientError> {
        self.waits_for = None;
        self.inputs.push(text);
        Ok(())
    }

    async fn go_on_once(&mut self) -> Result<v1::GoOnOnceResponse, ClientError> {
        (self.went_on, self.waits_for) = (true, None);
        Ok(v1::GoOnOnceResponse::default())
    }

    fn run(&self) -> Option<RunId> {
        Some(RunId::from_parts(7, 7))
    }

    async fn answer_approval(
        &mut self,
        request: v1::ResolveApprovalRequest,
    ) -> Result<v1::ResolveApprovalResponse, ClientError> {
        self.waits_for = None;
        self.answers.push(request);
        Ok(v1::ResolveApprovalResponse { counted: true, ..Default::default() })
    }

    async fn waits_for(&self) -> Result<Option<String>, ClientError> {
        Ok(self.waits_for.clone())
    }
}

fn opened() -> Step {
    let opened = v1::Opened { notes: vec!["the folder is not used".to_owned()], ..Default::default() };
    Step::Event(FollowEvent::Opened(opened))
}

fn entry(tape_seq: u32, event: Event) -> Step {
    let entry = v1::TapeEntry { tape_seq, event: Some(event), ..Default::default() };
    Step::Event(FollowEvent::Entry(Box::new(entry)))
}

fn text(tape_seq: u32, text: &str) -> Step {
    entry(tape_seq, Event::ModelText(v1::ModelText { attempt: 1, text: text.to_owned() }))
}

fn looped(tape_seq: u32) -> Step {
    entry(
        tape_seq,
        Event::LoopDetected(v1::LoopDetected { guard: v1::LoopGuard::SameResult.into(), repeats: 3 }),
    )
}

fn finished(tape_seq: u32, state: v1::RunState, reason: &str) -> Step {
    let reason = v1::RunEndReason::from_short_name(reason).unwrap().into();
    let finished = v1::RunFinished { state: state.into(), reason, ..Default::default() };
    entry(tape_seq, Event::RunFinished(finished))
}

fn ended(tape_seq: u32, state: v1::RunState) -> Step {
    Step::Event(FollowEvent::Ended(v1::StreamEnd { state: state.into(), tape_seq, checkpoint: None }))
}

struct Driven {
    outcome: Result<Exit, Failure>,
    out: String,
    err: String,
    run: ScriptedRun,
}

async fn driven(
    run: ScriptedRun,
    format: OutputFormat,
    typed: Option<&'static str>,
    interrupts: &InterruptListener,
) -> Driven {
    driven_within(run, format, typed, interrupts, None).await
}

async fn driven_within(
    run: ScriptedRun,
    format: OutputFormat,
    typed: Option<&'static str>,
    interrupts: &InterruptListener,
    time_limit: Option<Duration>,
) -> Driven {
    let mut run = run;
    let (output, out, err) = captured(CapturedKind::Pipe);
    let lines: Vec<&str> = typed.unwrap_or_default().lines().collect();
    let mut reader = typed.map(|_| PromptReader::scripted(&output, &lines));
    let seat = TerminalSession {
        output: &output,
        interrupts,
        person: InteractionMode::at(reader.as_mut()),
        format,
        echo: EchoMode::No,
        in_chat: false,
        scope: OfferScope::default(),
        deciders: BTreeMap::new(),
        time_limit,
        at_interrupt: InterruptEffect::Cancels,
    };
    let outcome = drive(&mut run, seat, |_| {}).await;
    Driven { outcome, out: out.text(), err: err.text(), run }
}

fn run(steps: Vec<Step>) -> ScriptedRun {
    ScriptedRun { steps: steps.into(), ..Default::default() }
}

#[tokio::test]
async fn text_goes_out_and_notes_go_beside() {
    let steps = vec![
        opened(),
        text(1, "hello"),
        Step::Event(FollowEvent::Lost),
        Step::Event(FollowEvent::Reattached),
        entry(2, Event::ModelMessage(v1::ModelMessage { text_from: 1, text_to: 1, ..Default::default() })),
        finished(3, v1::RunState::Done, "final_answer"),
        ended(3, v1::RunState::Done),
    ];
    let driven = driven(run(steps), OutputFormat::Text, None, &InterruptListener::default()).await;
    assert_eq!(driven.outcome.unwrap(), Exit::Done);
    assert_eq!(driven.out, "hello\n");
    assert_eq!(
        driven.err,
        "· the folder is not used\n! the daemon is gone; looking for it\n· the daemon is back; going on\n"
    );
}

#[tokio::test]
async fn json_is_one_entry_a_line() {
    let steps = vec![opened(), text(1, "a\u{1b}b"), text(2, "c"), ended(2, v1::RunState::Done)];
    let driven = driven(run(steps), OutputFormat::Json, None, &InterruptListener::default()).await;
    let expect = "{\"tape_seq\":1,\"model_text\":{\"attempt\":1,\"text\":\"a\\u001bb\"}}\n\
                  {\"tape_seq\":2,\"model_text\":{\"attempt\":1,\"text\":\"c\"}}\n";
    assert_eq!(driven.out, expect);
}

#[tokio::test]
async fn each_end_has_its_exit() {
    for (state, reason, expect) in [
        (v1::RunState::Done, "final_answer", Exit::Done),
        (v1::RunState::Failed, "provider_error", Exit::Failed),
        (v1::RunState::Cancelled, "cancelled", Exit::Cancelled),
        (v1::RunState::Cancelled, "time_limit", Exit::TimeLimit),
    ] {
        let steps = vec![opened(), finished(1, state, reason), ended(1, state)];
        let driven = driven(run(steps), OutputFormat::Text, None, &InterruptListener::default()).await;
        assert_eq!(driven.outcome.unwrap(), expect);
    }
}

#[tokio::test]
async fn a_waiting_run_that_nobody_here_can_answer_ends_the_program() {
    let steps = vec![opened(), Step::Event(FollowEvent::CaughtUp), looped(1), Step::UntilInput];
    let waiting = ScriptedRun { waits_for: Some("loop_check".to_owned()), ..run(steps) };
    let driven = driven(waiting, OutputFormat::Text, None, &InterruptListener::default()).await;
    assert_eq!(driven.outcome.unwrap(), Exit::Withheld);
    let id = RunId::from_parts(7, 7).to_string();
    assert!(driven.err.contains(&format!("palyra runs answer {id} TEXT")), "{}", driven.err);
}

#[tokio::test]
async fn a_waiting_run_is_answered_by_the_next_line_that_says_something() {
    let steps = vec![
        opened(),
        looped(1),
        Step::Event(FollowEvent::CaughtUp),
        Step::UntilInput,
        entry(2, Event::InputReceived(v1::InputReceived { input: "go on".to_owned(), ..Default::default() })),
        ended(2, v1::RunState::Done),
    ];
    let waiting = ScriptedRun { waits_for: Some("loop_check".to_owned()), ..run(steps) };
    let driven = driven(waiting, OutputFormat::Text, Some("\ngo on\n"), &InterruptListener::default()).await;
    assert_eq!((driven.outcome.unwrap(), driven.run.inputs), (Exit::Done, vec!["go on".to_owned()]));
}

fn over_budget(tape_seq: u32) -> Step {
    entry(tape_seq, Event::BudgetReached(v1::BudgetReached::default()))
}

#[tokio::test]
async fn a_run_that_waits_for_a_budget_goes_on_by_its_key_and_takes_no_words() {
    let steps = vec![
        opened(),
        over_budget(1),
        Step::Event(FollowEvent::CaughtUp),
        Step::UntilInput,
        finished(2, v1::RunState::Done, "final_answer"),
        ended(2, v1::RunState::Done),
    ];
    let waiting = ScriptedRun { waits_for: Some("budget".to_owned()), ..run(steps) };
    let driven =
        driven(waiting, OutputFormat::Text, Some("go on please\ng\n"), &InterruptListener::default()).await;
    assert_eq!((driven.outcome.unwrap(), driven.run.went_on), (Exit::Done, true));
    assert!(driven.run.inputs.is_empty(), "{:?}", driven.run.inputs);
    assert!(driven.err.contains("\"go on please\" was not sent"), "{}", driven.err);
    assert!(driven.err.contains("palyra budget go-on "), "{}", driven.err);
}

#[tokio::test]
async fn a_run_that_waits_for_a_budget_can_be_left_or_cancelled() {
    let steps = || vec![opened(), over_budget(1), Step::Event(FollowEvent::CaughtUp), Step::UntilCancelled];
    let waiting = || ScriptedRun { waits_for: Some("budget".to_owned()), ..run(steps()) };
    let left = driven(waiting(), OutputFormat::Text, Some("l\n"), &InterruptListener::default()).await;
    assert_eq!(left.outcome.unwrap(), Exit::Withheld);
    assert!(!left.run.went_on && !left.run.cancelled && left.run.inputs.is_empty());
    assert!(left.err.contains("the run waits for a budget; `palyra budget go-on "), "{}", left.err);
    let cancelled = driven(waiting(), OutputFormat::Text, Some("c\n"), &InterruptListener::default()).await;
    assert!(cancelled.run.cancelled && !cancelled.run.went_on);
}

fn asked(tape_seq: u32, approval: &str) -> Step {
    let prompt = v1::ApprovalPrompt {
        tool: "write_file".to_owned(),
        summary: "create notes.txt (5 bytes)".to_owned(),
        arguments: r#"{"content":"hello","path":"notes.txt"}"#.to_owned(),
        preview: "--- /dev/null\n+++ notes.txt\n+hello".to_owned(),
        ..Default::default()
    };
    entry(
        tape_seq,
        Event::ApprovalRequested(v1::ApprovalRequested {
            approval_id: approval.to_owned(),
            effect_id: 1,
            risk: v1::RiskLevel::Medium.into(),
            prompt: Some(prompt),
            ..Default::default()
        }),
    )
}

fn resolved(tape_seq: u32, approval: &str, state: v1::ApprovalState) -> Step {
    let resolved = v1::ApprovalResolved {
        approval_id: approval.to_owned(),
        effect_id: 1,
        state: state.into(),
        ..Default::default()
    };
    entry(tape_seq, Event::ApprovalResolved(resolved))
}

#[tokio::test]
async fn a_call_that_asks_is_shown_and_run_after_a_clear_yes() {
    let steps = vec![
        opened(),
        Step::Event(FollowEvent::CaughtUp),
        asked(1, "A"),
        Step::UntilAnswer,
        resolved(2, "A", v1::ApprovalState::Approved),
        finished(3, v1::RunState::Done, "final_answer"),
        ended(3, v1::RunState::Done),
    ];
    let waiting = ScriptedRun { waits_for: Some("approval".to_owned()), ..run(steps) };
    let driven = driven(waiting, OutputFormat::Text, Some("yeah\ny\n"), &InterruptListener::default()).await;
    assert_eq!(driven.outcome.unwrap(), Exit::Done);
    let answer = &driven.run.answers[..];
    assert_eq!(answer.len(), 1, "{answer:?}");
    assert_eq!((answer[0].approval_id.as_str(), answer[0].decision()), ("A", v1::ApprovalDecision::Approve));
    assert!(driven.run.inputs.is_empty(), "an answer to an approval is no input");
    assert!(
        driven.err.contains("create notes.txt (5 bytes)") && driven.err.contains("+hello"),
        "{}",
        driven.err
    );
}

#[tokio::test]
async fn a_yes_is_for_the_question_that_is_open_and_not_for_one_decided_elsewhere() {
    let steps = vec![
        opened(),
        Step::Event(FollowEvent::CaughtUp),
        asked(1, "A"),
        resolved(2, "A", v1::ApprovalState::Denied),
        asked(3, "B"),
        Step::UntilAnswer,
        resolved(4, "B", v1::ApprovalState::Approved),
        ended(4, v1::RunState::Done),
    ];
    let waiting = ScriptedRun { waits_for: Some("approval".to_owned()), ..run(steps) };
    // Nobody answers A here; the line is for the prompt that is drawn next.
    let driven =
        driven(waiting, OutputFormat::Text, Some("<unanswered>\ny\n"), &InterruptListener::default()).await;
    let answered: Vec<&str> = driven.run.answers.iter().map(|answer| answer.approval_id.as_str()).collect();
    assert_eq!(answered, ["B"]);
}

#[tokio::test]
async fn a_loss_of_the_daemon_is_said_before_the_question_is_drawn_again() {
    let steps = vec![
        opened(),
        Step::Event(FollowEvent::CaughtUp),
        asked(1, "A"),
        Step::Event(FollowEvent::Lost),
        Step::Event(FollowEvent::Reattached),
        Step::Event(FollowEvent::CaughtUp),
        Step::UntilAnswer,
        resolved(2, "A", v1::ApprovalState::Approved),
        ended(2, v1::RunState::Done),
    ];
    let waiting = ScriptedRun { waits_for: Some("approval".to_owned()), ..run(steps) };
    let driven =
        driven(waiting, OutputFormat::Text, Some("<unanswered>\ny\n"), &InterruptListener::default()).await;
    let at = |text: &str| driven.err.rfind(text).unwrap_or_else(|| panic!("{text}: {}", driven.err));
    assert!(at("the daemon is gone") < at("the daemon is back"), "{}", driven.err);
    assert!(at("the daemon is back") < at("? write_file create notes.txt"), "{}", driven.err);
    assert!(at("the daemon is back") < at("approved"), "{}", driven.err);
    assert_eq!(driven.run.answers.len(), 1);
}

#[tokio::test]
async fn who_leaves_a_question_for_later_leaves_the_run() {
    let steps = vec![opened(), Step::Event(FollowEvent::CaughtUp), asked(1, "A"), Step::UntilAnswer];
    let waiting = ScriptedRun { waits_for: Some("approval".to_owned()), ..run(steps) };
    let driven = driven(waiting, OutputFormat::Text, Some("l\ny\n"), &InterruptListener::default()).await;
    assert_eq!(driven.outcome.unwrap(), Exit::Withheld);
    assert!(driven.run.answers.is_empty());
    assert!(driven.err.contains("palyra approve yes A"), "{}", driven.err);
}

#[tokio::test]
async fn a_denial_carries_its_reason_and_shows_in_the_exit() {
    let denied = v1::ToolDecided {
        effect_id: 1,
        verdict: v1::ToolVerdict::Deny.into(),
        reason: v1::DecisionReason::ApprovalDenied.into(),
        ..Default::default()
    };
    let steps = vec![
        opened(),
        Step::Event(FollowEvent::CaughtUp),
        asked(1, "A"),
        Step::UntilAnswer,
        resolved(2, "A", v1::ApprovalState::Denied),
        entry(3, Event::ToolDecided(denied)),
        finished(4, v1::RunState::Done, "final_answer"),
        ended(4, v1::RunState::Done),
    ];
    let waiting = ScriptedRun { waits_for: Some("approval".to_owned()), ..run(steps) };
    let driven =
        driven(waiting, OutputFormat::Text, Some("n not this file\n"), &InterruptListener::default()).await;
    assert_eq!(driven.outcome.unwrap(), Exit::Withheld);
    let answer = &driven.run.answers[0];
    assert_eq!((answer.decision(), answer.note.as_str()), (v1::ApprovalDecision::Deny, "not this file"));
}

#[tokio::test]
async fn a_call_that_asks_where_nobody_sits_says_how_it_is_answered() {
    let steps = vec![opened(), Step::Event(FollowEvent::CaughtUp), asked(1, "A"), Step::UntilAnswer];
    let waiting = ScriptedRun { waits_for: Some("approval".to_owned()), ..run(steps) };
    let driven = driven(waiting, OutputFormat::Text, None, &InterruptListener::default()).await;
    assert_eq!(driven.outcome.unwrap(), Exit::Withheld);
    assert!(driven.err.contains("palyra approve yes A"), "{}", driven.err);
}

#[tokio::test]
async fn whoever_stops_typing_leaves_the_run_waiting() {
    let steps = vec![opened(), looped(1), Step::Event(FollowEvent::CaughtUp), Step::UntilInput];
    let waiting = ScriptedRun { waits_for: Some("outcome_unknown".to_owned()), ..run(steps) };
    let driven = driven(waiting, OutputFormat::Text, Some(""), &InterruptListener::default()).await;
    assert_eq!(driven.outcome.unwrap(), Exit::Withheld);
}

#[tokio::test]
async fn what_waited_in_the_past_is_not_asked_again() {
    let steps = vec![
        opened(),
        looped(1),
        entry(2, Event::InputReceived(v1::InputReceived::default())),
        Step::Event(FollowEvent::CaughtUp),
        ended(2, v1::RunState::Done),
    ];
    let asked = ScriptedRun { waits_for: Some("loop_check".to_owned()), ..run(steps) };
    let driven = driven(asked, OutputFormat::Text, None, &InterruptListener::default()).await;
    assert_eq!(driven.outcome.unwrap(), Exit::Done);
}

#[tokio::test]
async fn the_first_interrupt_cancels_and_says_so() {
    let interrupts = InterruptListener::default();
    let steps = vec![
        opened(),
        Step::UntilCancelled,
        finished(1, v1::RunState::Cancelled, "cancelled"),
        ended(1, v1::RunState::Cancelled),
    ];
    let pressing = async {
        // The phase begins when the run does; a press before it would not count.
        tokio::task::yield_now().await;
        interrupts.press();
    };
    let (driven, ()) = tokio::join!(driven(run(steps), OutputFormat::Text, None, &interrupts), pressing);
    assert_eq!(driven.outcome.unwrap(), Exit::Cancelled);
    assert!(driven.run.cancelled);
    assert!(driven.err.contains("· cancelling the run; Ctrl-C again leaves"), "{}", driven.err);
}

#[tokio::test]
async fn a_failure_of_the_client_is_the_programs() {
    let gone = ClientError::NotRunning { state_dir: "/state".into() };
    let driven = driven(
        run(vec![opened(), Step::Fails(gone)]),
        OutputFormat::Text,
        None,
        &InterruptListener::default(),
    )
    .await;
    let failure = driven.outcome.unwrap_err();
    assert_eq!(failure.exit(), Exit::Unreachable);
    assert!(matches!(failure, Failure::Client(error) if error.code() == ErrorCode::DaemonUnreachable));
}

#[tokio::test(start_paused = true)]
async fn a_run_over_its_time_is_cancelled_and_says_so() {
    let limit = Some(Duration::from_secs(5));
    let steps = vec![
        opened(),
        Step::UntilCancelled,
        finished(1, v1::RunState::Cancelled, "cancelled"),
        ended(1, v1::RunState::Cancelled),
    ];
    let driven =
        driven_within(run(steps), OutputFormat::Text, None, &InterruptListener::default(), limit).await;
    assert_eq!(driven.outcome.unwrap(), Exit::TimeLimit);
    assert!(driven.err.contains("! the time limit of 5.0 s is reached"), "{}", driven.err);
    let deaf = vec![opened(), Step::UntilInput];
    let driven =
        driven_within(run(deaf), OutputFormat::Text, None, &InterruptListener::default(), limit).await;
    assert_eq!(driven.outcome.unwrap(), Exit::TimeLimit);
    assert!(driven.run.cancelled);
}

fn started(tape_seq: u32, folder: &str) -> Step {
    let started = v1::RunStarted { workspace_root: folder.to_owned(), ..Default::default() };
    entry(tape_seq, Event::RunStarted(started))
}

#[tokio::test]
async fn a_question_of_before_has_no_keys_and_one_that_is_open_is_shown_once_with_its_keys() {
    let keys = "[f]older: yes, and each further write_file";
    let over = vec![
        opened(),
        asked(1, "A"),
        resolved(2, "A", v1::ApprovalState::Approved),
        finished(3, v1::RunState::Done, "final_answer"),
        Step::Event(FollowEvent::CaughtUp),
        ended(3, v1::RunState::Done),
    ];
    let seen = driven(run(over), OutputFormat::Text, Some("y\n"), &InterruptListener::default()).await;
    assert_eq!(seen.outcome.unwrap(), Exit::Done);
    assert!(seen.err.contains("create notes.txt (5 bytes)") && !seen.err.contains(keys), "{}", seen.err);
    let open = vec![
        opened(),
        asked(1, "A"),
        resolved(2, "A", v1::ApprovalState::Approved),
        asked(3, "B"),
        Step::Event(FollowEvent::CaughtUp),
        Step::UntilAnswer,
        resolved(4, "B", v1::ApprovalState::Approved),
        ended(4, v1::RunState::Done),
    ];
    let waiting = ScriptedRun { waits_for: Some("approval".to_owned()), ..run(open) };
    let seen = driven(waiting, OutputFormat::Text, Some("y\n"), &InterruptListener::default()).await;
    assert_eq!(seen.err.matches("create notes.txt (5 bytes)").count(), 2, "{}", seen.err);
    assert_eq!(seen.err.matches(keys).count(), 1, "{}", seen.err);
    assert_eq!(seen.run.answers[0].approval_id, "B");
}

#[tokio::test]
async fn a_question_is_drawn_again_when_the_daemon_is_back() {
    let steps = vec![
        opened(),
        asked(1, "A"),
        Step::Event(FollowEvent::CaughtUp),
        Step::Event(FollowEvent::Lost),
        Step::Event(FollowEvent::Reattached),
        Step::UntilAnswer,
        resolved(2, "A", v1::ApprovalState::Approved),
        ended(2, v1::RunState::Done),
    ];
    let waiting = ScriptedRun { waits_for: Some("approval".to_owned()), ..run(steps) };
    let typed = Some("<unanswered>\ny\n");
    let seen = driven(waiting, OutputFormat::Text, typed, &InterruptListener::default()).await;
    assert_eq!(seen.err.matches("? write_file create notes.txt (5 bytes)\n").count(), 2, "{}", seen.err);
    assert_eq!(seen.run.answers.len(), 1, "{}", seen.err);
}

#[tokio::test]
async fn a_question_names_the_folder_of_its_run_in_every_line_about_it() {
    let steps = vec![
        opened(),
        started(1, "/srv/shop"),
        Step::Event(FollowEvent::CaughtUp),
        asked(2, "A"),
        Step::UntilAnswer,
        resolved(3, "A", v1::ApprovalState::Approved),
        ended(3, v1::RunState::Done),
    ];
    let waiting = ScriptedRun { waits_for: Some("approval".to_owned()), ..run(steps) };
    let seen = driven(waiting, OutputFormat::Text, Some("what?\ny\n"), &InterruptListener::default()).await;
    for line in [
        "In the folder /srv/shop\n",
        "[f]older: yes, and each further write_file below /srv/shop, in this session\n",
        "f runs it, and each further write_file below /srv/shop in this session;",
    ] {
        assert!(seen.err.contains(line), "{line}: {}", seen.err);
    }
    assert!(!seen.err.contains("this folder"), "{}", seen.err);
}
