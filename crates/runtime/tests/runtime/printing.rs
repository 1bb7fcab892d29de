//! What a tool prints is seen while it runs, costs no commit where there is nothing to see, and changes nothing of
//! what comes of the call.

use std::time::Duration;

use palyra_ports::AppendError;
use palyra_ports::redactor::REGISTERED_PLACEHOLDER;
use palyra_testkit::scripted_tools::{ACT, COUNT, LOOK};
use palyra_testkit::{Gate, Script, ToolScript};
use palyra_types::effect::OutputRest;
use palyra_types::event::{TapeEvent, ToolEvent};
use palyra_types::model::ChatMessage;
use palyra_types::run::{RunLifecycleState, RunPhase, WaitReason};
use palyra_types::tool::EffectContract;
use palyra_types::{EffectId, RunId};

use crate::faults::Refusal;
use crate::rig::{Parts, Rig, SECRET, follow_to_end, looking, settle, soon};
use crate::shapes::{check, shape};

/// How long the first words of a tool are held.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// What a tool prints, and the gates before each piece.
struct Pieces(Vec<(Gate, Vec<u8>)>);

impl Pieces {
    fn new(pieces: &[&str]) -> Self {
        Self(pieces.iter().map(|piece| (Gate::closed(), piece.as_bytes().to_vec())).collect())
    }

    fn script(&self, then: ToolScript) -> ToolScript {
        ToolScript::Print(self.0.clone(), Box::new(then))
    }

    /// Lets the next pieces be printed.
    async fn let_print(&self, rig: &Rig, which: std::ops::Range<usize>) {
        for (gate, _) in &self.0[which] {
            soon("the tool gets there", gate.reached()).await;
            gate.open();
        }
        settle().await;
        rig.clock.advance(FIRST_PAUSE);
        settle().await;
    }
}

/// Begins a run whose model calls one tool, which plays this.
async fn running(rig: &Rig, tool: &str, script: ToolScript) -> RunId {
    rig.model.push(Script::new().call(tool, "{}"));
    rig.tools.push(tool, script);
    let run = rig.submit("k", "go").await.run;
    soon("the tool runs", rig.tools.wait_until(|counts| counts.begun == 1)).await;
    settle().await;
    run
}

fn say(output: &str) -> Box<ToolScript> {
    Box::new(ToolScript::Say(output.to_owned()))
}

/// Returns what is shown of the first call, in entries.
async fn shown(rig: &Rig, run: RunId) -> Vec<(String, OutputRest)> {
    let of = |event: TapeEvent| match event {
        TapeEvent::Tool(ToolEvent::Output(output)) => {
            assert_eq!(output.effect, EffectId(1));
            Some((output.text.into_exposed(), output.rest))
        }
        _ => None,
    };
    rig.tape(run).await.into_iter().filter_map(|entry| of(entry.event)).collect()
}

#[tokio::test]
async fn a_tool_is_watched_while_it_runs_and_its_last_words_come_with_its_outcome() {
    let rig = Rig::start().await;
    let pieces = Pieces::new(&["one\n", "two\n", "three\n", "four\n"]);
    let run = running(&rig, LOOK, pieces.script(ToolScript::Say("all four".to_owned()))).await;
    let following = tokio::spawn(follow_to_end(rig.follow(run, 0).await));
    pieces.let_print(&rig, 0..2).await;
    let commits = rig.memory_commits();
    assert_eq!(shape(&rig.tape(run).await)[6..], ["prints 1 one\ntwo\n"], "it still runs");
    pieces.let_print(&rig, 2..3).await;
    assert_eq!(rig.memory_commits(), commits + 1);
    pieces.0[3].0.open();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let tape = rig.tape(run).await;
    check(&tape);
    let printed = ["prints 1 one\ntwo\n", "prints 1 three\n", "prints 1 four\n", "outcome 1", "asked 2"];
    assert_eq!(shape(&tape)[6..11], printed);
    assert_eq!(tape[8].time, tape[9].time, "one step");
    // Since then: the third piece, the last one with the outcome, and the answer.
    assert_eq!(rig.memory_commits(), commits + 3);
    let seen = soon("the follower's end", following).await.unwrap();
    assert_eq!(seen.into_iter().map(|entry| (*entry).clone()).collect::<Vec<_>>(), tape);
}

#[tokio::test]
async fn what_a_quick_call_prints_is_an_entry_with_its_outcome_and_costs_no_commit() {
    let mut commits = Vec::new();
    for printed in [None, Some("quick\n")] {
        let rig = Rig::start().await;
        let gate = Gate::closed();
        gate.open();
        let pieces = printed.map(|text| (gate, text.as_bytes().to_vec())).into_iter().collect();
        let run = running(&rig, LOOK, ToolScript::Print(pieces, say("quick\n"))).await;
        rig.finished(run).await;
        let expected: Vec<_> =
            printed.map(|text| (text.to_owned(), OutputRest::Follows)).into_iter().collect();
        assert_eq!(shown(&rig, run).await, expected);
        commits.push(rig.memory_commits());
    }
    assert_eq!(commits[0], commits[1]);
}

#[tokio::test]
async fn a_slow_journal_holds_no_tool_up_and_gets_fewer_entries() {
    let rig = Rig::start().await;
    let words: Vec<String> = (0..40).map(|number| format!("line {number}\n")).collect();
    let pieces = Pieces::new(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let end = Gate::closed();
    let run = running(&rig, LOOK, pieces.script(ToolScript::Hold(end.clone(), "done".to_owned()))).await;
    rig.memory.hold();
    pieces.let_print(&rig, 0..40).await;
    soon("the tool prints on", end.reached()).await;
    rig.clock.advance(Duration::from_secs(60));
    settle().await;
    assert_eq!(rig.memory.held(), 1, "one commit at a time");
    rig.memory.release();
    settle().await;
    assert_eq!(shown(&rig, run).await, [(words.concat(), OutputRest::Follows)]);
    end.open();
    rig.finished(run).await;
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn pieces_gather_while_a_commit_is_under_way() {
    let rig = Rig::start().await;
    let pieces = Pieces::new(&["a", "b", "c", "d"]);
    let run = running(&rig, LOOK, pieces.script(ToolScript::Hang)).await;
    pieces.let_print(&rig, 0..1).await;
    rig.memory.hold();
    for which in 1..4 {
        pieces.let_print(&rig, which..which + 1).await;
    }
    rig.memory.release();
    settle().await;
    rig.clock.advance(FIRST_PAUSE);
    settle().await;
    let texts: Vec<String> = shown(&rig, run).await.into_iter().map(|(text, _)| text).collect();
    assert_eq!(texts, ["a", "b", "cd"]);
    rig.cancel(run).await.unwrap();
}

#[tokio::test]
async fn a_secret_that_is_cut_between_pieces_is_taken_out() {
    let rig = Rig::start().await;
    let (head, tail) = SECRET.split_at(7);
    let pieces = Pieces::new(&["key: ", head, tail, " and so on"]);
    let run = running(&rig, LOOK, pieces.script(ToolScript::Hang)).await;
    for which in 0..4 {
        pieces.let_print(&rig, which..which + 1).await;
    }
    let texts: String = shown(&rig, run).await.into_iter().map(|(text, _)| text).collect();
    assert_eq!(texts, format!("key: {REGISTERED_PLACEHOLDER} and so on"));
    rig.cancel(run).await.unwrap();
}

#[tokio::test]
async fn much_output_is_shown_up_to_its_limit_and_the_outcome_has_it_all() {
    let rig = Rig::start().await;
    let much = "0123456789abcde\n".repeat(32 * 1024);
    let pieces = Pieces::new(&[&much, "late"]);
    let end = Gate::closed();
    let run = running(&rig, LOOK, pieces.script(ToolScript::Hold(end.clone(), much.clone()))).await;
    pieces.let_print(&rig, 0..1).await;
    let before = rig.memory_commits();
    pieces.let_print(&rig, 1..2).await;
    assert_eq!(rig.memory_commits(), before, "what is not shown is not recorded");
    end.open();
    rig.finished(run).await;
    let shown = shown(&rig, run).await;
    let texts: String = shown.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, much[..256 * 1024]);
    let (last, earlier) = shown.split_last().unwrap();
    assert_eq!(last.1, OutputRest::InOutcome);
    assert!(earlier.iter().all(|(_, rest)| *rest == OutputRest::Follows));
    let outcome = rig.tape(run).await.into_iter().find_map(|entry| match entry.event {
        TapeEvent::Tool(ToolEvent::Finished(finished)) => Some(finished.output.into_exposed()),
        _ => None,
    });
    assert!(outcome == Some(much));
}

#[tokio::test]
async fn the_model_reads_the_outcome_and_nothing_else() {
    let rig = Rig::start().await;
    let pieces = Pieces::new(&["for people"]);
    let end = Gate::closed();
    let run =
        running(&rig, LOOK, pieces.script(ToolScript::Hold(end.clone(), "for the model".to_owned()))).await;
    pieces.let_print(&rig, 0..1).await;
    end.open();
    rig.finished(run).await;
    assert_eq!(shown(&rig, run).await.len(), 1);
    let again = rig.submit("k", "and now").await.run;
    rig.finished(again).await;
    for request in &rig.model.requests()[1..] {
        let results = request.messages.iter().filter_map(|message| match message {
            ChatMessage::ToolResult { text, .. } => Some(text.expose().as_str()),
            _ => None,
        });
        assert_eq!(results.collect::<Vec<_>>(), ["for the model"]);
    }
}

#[tokio::test]
async fn a_cancel_in_the_middle_keeps_what_was_shown_and_what_it_says_while_it_stops() {
    let rig = Rig::start().await;
    let pieces = Pieces::new(&["before ", "while it stops"]);
    let run = running(&rig, LOOK, pieces.script(ToolScript::UntilCancelled)).await;
    pieces.let_print(&rig, 0..1).await;
    let receipt = rig.cancel(run).await.unwrap();
    assert!(!receipt.already_finished);
    pieces.0[1].0.open();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    let tape = rig.tape(run).await;
    check(&tape);
    let expected = ["prints 1 before ", "cancel User", "prints 1 while it stops", "outcome 1 ToolCancelled"];
    assert_eq!(shape(&tape)[6..10], expected);
}

#[tokio::test]
async fn a_tool_that_is_lost_leaves_its_words() {
    for script in [ToolScript::Lose, ToolScript::Panic] {
        let (rig, run) = acting(&["the last ", "words"], script).await;
        rig.until(run, "a doubt", |event| matches!(event, TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. })))
            .await;
        settle().await;
        let tape = shape(&rig.tape(run).await);
        assert_eq!(tape[6..], ["prints 1 the last words", "unknown 1 ExecutorLost"]);
    }
}

#[tokio::test]
async fn a_stop_of_the_daemon_in_the_middle_leaves_the_words_and_the_doubt() {
    let (rig, run) = acting(&["half ", "of it"], ToolScript::Hang).await;
    settle().await;
    rig.clock.advance(FIRST_PAUSE);
    settle().await;
    assert_eq!(shown(&rig, run).await, [("half of it".to_owned(), OutputRest::Follows)]);
    let rig = rig.restarted().await;
    rig.until(run, "a doubt", |event| matches!(event, TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. })))
        .await;
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::OutcomeUnknown));
    assert_eq!(shape(&rig.tape(run).await)[6..], ["prints 1 half of it", "unknown 1 Restart"]);
    assert!(rig.tools.executions().is_empty(), "it is not repeated");
}

/// A run whose opaque call prints these pieces at once, then goes on as scripted.
async fn acting(printed: &[&str], then: ToolScript) -> (Rig, RunId) {
    let rule = r#"@id("acts") @reason("a test") permit (principal, action == Action::"execute_unattended", resource);"#;
    let rig = Parts { rules: looking().with_file("acting.cedar", rule), ..Parts::new() }.start().await;
    let pieces = Pieces::new(printed);
    pieces.0.iter().for_each(|(gate, _)| gate.open());
    let run = running(&rig, ACT, pieces.script(then)).await;
    let contract = |event: &TapeEvent| match event {
        TapeEvent::Tool(ToolEvent::Started(started)) => started.contract == EffectContract::Opaque,
        _ => false,
    };
    rig.until(run, "an opaque call", contract).await;
    (rig, run)
}

#[tokio::test]
async fn a_full_disk_ends_the_showing_and_never_an_outcome() {
    let rig = Rig::start().await;
    let pieces = Pieces::new(&["shown ", "not shown ", "neither"]);
    let end = Gate::closed();
    let run = running(&rig, COUNT, pieces.script(ToolScript::Hold(end.clone(), "all".to_owned()))).await;
    pieces.let_print(&rig, 0..1).await;
    rig.faults.refuse(Refusal::NewWork(AppendError::DiskFull));
    pieces.let_print(&rig, 1..2).await;
    soon("it is refused", rig.faults.wait_refused(1)).await;
    rig.faults.mend();
    rig.clock.advance(Duration::from_millis(250));
    settle().await;
    pieces.let_print(&rig, 2..3).await;
    let expected = [("shown ".to_owned(), OutputRest::Follows), (String::new(), OutputRest::InOutcome)];
    assert_eq!(shown(&rig, run).await, expected);
    end.open();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn parallel_calls_are_shown_each_under_its_number() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().call(LOOK, r#"{"a":1}"#).call(LOOK, r#"{"a":2}"#));
    let calls = [Pieces::new(&["of the first"]), Pieces::new(&["of the second"])];
    calls.iter().for_each(|pieces| rig.tools.push(LOOK, pieces.script(ToolScript::Hang)));
    let run = rig.submit("k", "go").await.run;
    soon("the tools run", rig.tools.wait_until(|counts| counts.begun == 2)).await;
    for pieces in &calls {
        pieces.let_print(&rig, 0..1).await;
    }
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape[tape.len() - 2..], ["prints 1 of the first", "prints 2 of the second"]);
    rig.cancel(run).await.unwrap();
}
