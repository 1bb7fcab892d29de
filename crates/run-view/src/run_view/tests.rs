//! What each kind of entry looks like, as text.

use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{FinishReason, RunState, ToolVerdict};

use super::*;
use crate::{PreviewDetail, question};

fn told(echo: EchoMode, events: Vec<Event>) -> (String, RunView) {
    told_as(echo, TextFlow::Live, events)
}

fn told_as(echo: EchoMode, flow: TextFlow, events: Vec<Event>) -> (String, RunView) {
    let mut view = RunView::new(echo, flow);
    let mut told = String::new();
    for event in events {
        let entry = v1::TapeEntry { event: Some(event), ..Default::default() };
        for shown in view.absorb(&entry) {
            told += &match shown {
                ShownLine::Text(text) => text,
                ShownLine::TextBegins => String::new(),
                ShownLine::LineEnd => "\n".to_owned(),
                ShownLine::Progress(_) => String::new(),
                ShownLine::Remark(remark) => format!("({remark})\n"),
                ShownLine::Note(mark, note) => format!("[{} {note}]\n", mark.sign()),
                ShownLine::Copied(line) => format!("[copied {line}]\n"),
                ShownLine::Change(lines) => {
                    lines.iter().map(|line| format!("[{:?} {}]\n", line.look, line.text)).collect()
                }
                ShownLine::Question { approval_id, prompt, risk } => {
                    let scope = OfferScope::default();
                    let lines = question(&approval_id, &prompt, &risk, PreviewDetail::Prompt, &scope);
                    let lines = lines.into_iter().map(|line| line.text);
                    format!("[? {}]\n", lines.collect::<Vec<_>>().join("]\n[  "))
                }
                ShownLine::Printed(line) => format!("[printed {line}]\n"),
                ShownLine::Error(code, message) => format!("[{code} {message}]\n"),
            };
        }
    }
    (told, view)
}

fn check(events: Vec<Event>, expect: &str) -> RunView {
    let (told, view) = told(EchoMode::No, events);
    assert_eq!(told, expect);
    view
}

fn text(text: &str) -> Event {
    Event::ModelText(v1::ModelText { attempt: 1, text: text.to_owned() })
}

fn message(finish: FinishReason) -> Event {
    Event::ModelMessage(v1::ModelMessage { finish: finish.into(), ..Default::default() })
}

fn proposed(effect_id: u32, tool: &str, arguments: &str) -> Event {
    let (tool, arguments) = (tool.to_owned(), arguments.to_owned());
    Event::ToolProposed(v1::ToolProposed { effect_id, attempt: 1, tool, arguments })
}

#[test]
fn a_change_that_no_person_was_asked_about_is_shown_as_a_question_would_show_it() {
    let started = |preview: String| {
        Event::ToolStarted(v1::ToolStarted {
            effect_id: 1,
            paths: vec!["a.txt".to_owned()],
            preview,
            ..Default::default()
        })
    };
    let added: String = (0..14).map(|n| format!("+line {n}\n")).collect();
    let preview = format!("--- a.txt\n+++ a.txt\n@@ -1 +1,14 @@\n-old\n{added}");
    let change = |echo, flow| {
        let events = vec![proposed(1, "write_file", r#"{"path":"a.txt"}"#), started(preview.clone())];
        told_as(echo, flow, events).0
    };
    let live = change(EchoMode::No, TextFlow::Live);
    assert!(live.contains("[Removed -old]\n[Added +line 0]\n") && !live.contains("+++ a.txt"), "{live}");
    assert!(live.contains("(6 more lines: `palyra runs tail") && !live.contains("+line 9"), "{live}");
    assert_eq!(change(EchoMode::No, TextFlow::Whole), "[\u{b7} write_file {\"path\":\"a.txt\"}]\n");
    let tape = change(EchoMode::Tape, TextFlow::Whole);
    assert!(tape.contains("[Added +line 13]\n") && !tape.contains("more line"), "{tape}");
    let asked = told(EchoMode::No, vec![started(String::new())]).0;
    assert_eq!(asked, "", "a question has shown it");
}

#[test]
fn a_failed_write_to_a_closed_folder_names_the_rule() {
    let decided = |explanation: &str| {
        Event::ToolDecided(v1::ToolDecided {
            effect_id: 1,
            verdict: ToolVerdict::Ask.into(),
            explanation: explanation.to_owned(),
            ..Default::default()
        })
    };
    let failed = |output: &str| {
        Event::ToolFinished(v1::ToolFinished {
            effect_id: 1,
            error_code: "PLY-4501".to_owned(),
            output: output.to_owned(),
            ..Default::default()
        })
    };
    let asks = "`run_command` needs an approval by `programs`";
    let closed = format!("{asks}; `src` is read-only for it by `no-writes`");
    let erofs = "exit code 1\n\ntouch: Read-only file system";
    for (explanation, output, expect) in
        [(closed.as_str(), erofs, true), (&closed, "exit code 1", false), (asks, erofs, false)]
    {
        let (told, _) = told(EchoMode::No, vec![decided(explanation), failed(output)]);
        let names = told.contains("[\u{b7} `src` is read-only for it by `no-writes`]");
        assert_eq!(names, expect, "{told}");
        // Where no rule closed a folder, the write was outside of what programs may change.
        assert_eq!(told.contains("`--workspace DIR`"), output == erofs && !expect, "{told}");
    }
}

fn denied(effect_id: u32, reason: &str) -> Event {
    Event::ToolDecided(v1::ToolDecided {
        effect_id,
        verdict: ToolVerdict::Deny.into(),
        reason: v1::DecisionReason::from_short_name(reason).unwrap().into(),
        explanation: "because".to_owned(),
        ..Default::default()
    })
}

fn succeeded(effect_id: u32, output_bytes_total: u64) -> Event {
    Event::ToolFinished(v1::ToolFinished {
        effect_id,
        succeeded: true,
        output_bytes_total,
        ..Default::default()
    })
}

fn finished(state: RunState, reason: &str, error_code: &str) -> Event {
    Event::RunFinished(v1::RunFinished {
        state: state.into(),
        reason: v1::RunEndReason::from_short_name(reason).unwrap().into(),
        error_code: error_code.to_owned(),
        ..Default::default()
    })
}

#[test]
fn a_run_with_a_tool_reads_well() {
    let view = check(
        vec![
            Event::RunStarted(v1::RunStarted { input: "what is this?".to_owned(), ..Default::default() }),
            Event::ModelRequested(v1::ModelRequested { attempt: 1, turn: 1, ..Default::default() }),
            text("I will "),
            text("read it."),
            message(FinishReason::ToolCalls),
            proposed(1, "read_file", "{\"path\":\n  \"README.md\"}"),
            Event::ToolDecided(v1::ToolDecided { verdict: ToolVerdict::Allow.into(), ..Default::default() }),
            Event::ToolStarted(v1::ToolStarted::default()),
            succeeded(1, 1_234),
            text("It is "),
            text("a gateway.\n"),
            message(FinishReason::Stop),
            finished(RunState::Done, "final_answer", ""),
        ],
        "I will read it.\n\
         [· read_file {\"path\": \"README.md\"}]\n\
         [✓ 1.2 KB of output]\n\
         It is a gateway.\n",
    );
    assert_eq!((view.denied_calls(), view.may_wait()), (0, false));
}

fn printed(effect_id: u32, text: &str) -> Event {
    let rest = v1::OutputRest::Follows.into();
    Event::ToolOutput(v1::ToolOutput { effect_id, text: text.to_owned(), rest, ..Default::default() })
}

#[test]
fn what_a_tool_prints_is_shown_while_it_runs_and_its_last_line_before_its_end() {
    check(
        vec![
            proposed(1, "run_command", "{}"),
            printed(1, "Compiling a\nCompi"),
            printed(1, "ling b\nno line end"),
            succeeded(1, 30),
        ],
        "[· run_command {}]\n[printed Compiling a]\n[printed Compiling b]\n[printed no line end]\n[✓ 30 B of output]\n",
    );
    check(
        vec![
            proposed(1, "git", "{}"),
            proposed(2, "run_command", "{}"),
            printed(2, "two\n"),
            succeeded(1, 1),
            printed(2, "alone"),
            Event::ToolOutcomeUnknown(v1::ToolOutcomeUnknown {
                effect_id: 2,
                cause: v1::UnknownOutcomeCause::Restart.into(),
            }),
        ],
        "[· git {}]\n[· run_command {}]\n[printed run_command: two]\n[✓ git: 1 B of output]\n[printed alone]\n\
         [! run_command: it is not known whether it took effect (restart)]\n\
         [· check whether it did, then settle it: `palyra runs effects resolve  2 happened|did-not-happen|retry`]\n",
    );
}

#[test]
fn of_several_calls_each_is_named_with_what_it_is_about() {
    let search =
        |effect, pattern: &str| proposed(effect, "search", &format!("{{\"pattern\":\"{pattern}\"}}"));
    let asked = || Event::ModelRequested(v1::ModelRequested { attempt: 1, turn: 2, ..Default::default() });
    let calls = vec![search(1, "a"), search(2, "b"), succeeded(2, 10), succeeded(1, 20)];
    let later = vec![asked(), search(3, "c"), succeeded(3, 30)];
    check(
        calls.into_iter().chain(later).collect(),
        "[· search {\"pattern\":\"a\"}]\n[· search {\"pattern\":\"b\"}]\n[✓ search \"b\": 10 B of output]\n\
         [✓ search \"a\": 20 B of output]\n[· search {\"pattern\":\"c\"}]\n[✓ 30 B of output]\n",
    );
}

#[test]
fn the_last_line_counts_failed_calls_where_the_whole_run_was_seen() {
    let failed =
        Event::ToolFinished(v1::ToolFinished { effect_id: 1, output: "no".to_owned(), ..Default::default() });
    let end = Event::RunFinished(v1::RunFinished { turns: 3, tool_calls: 2, ..Default::default() });
    let began = Event::RunStarted(v1::RunStarted::default());
    let events = vec![proposed(1, "a", "{}"), failed, proposed(2, "b", "{}"), succeeded(2, 1), end];
    let whole: Vec<Event> = std::iter::once(began).chain(events.clone()).collect();
    assert!(told(EchoMode::Tape, whole).0.contains("3 turns, 2 tool calls, 1 failed"));
    // The control: what came before is not known.
    let part = told(EchoMode::Tape, events).0;
    assert!(part.contains("3 turns, 2 tool calls") && !part.contains("1 failed"), "{part}");
}

#[test]
fn a_denied_call_is_told_and_counts() {
    let view = check(
        vec![
            proposed(1, "run_command", "{}"),
            denied(1, "no_rule_permits"),
            finished(RunState::Done, "final_answer", ""),
        ],
        "[· run_command {}]\n[✗ denied (PLY-4003 no_rule_permits): because]\n",
    );
    assert_eq!(view.denied_calls(), 1);
}

#[test]
fn a_denial_by_a_person_is_shown_once_and_counts() {
    let said_no = |effect_id| {
        Event::ApprovalResolved(v1::ApprovalResolved {
            effect_id,
            state: v1::ApprovalState::Denied.into(),
            by: "someone".to_owned(),
            note: "use washer".to_owned(),
            ..Default::default()
        })
    };
    let end = || finished(RunState::Done, "final_answer", "");
    let view = check(vec![said_no(1), denied(1, "approval_denied"), end()], "[✗ denied: use washer]\n");
    assert_eq!(view.denied_calls(), 1);
    // Another call, or a refusal of the rules after it, is shown.
    let shown = "[✗ denied: use washer]\n[✗ denied (PLY-4018 approval_denied): because]\n";
    check(vec![said_no(1), denied(2, "approval_denied"), end()], shown);
}

#[test]
fn a_denial_by_a_rule_after_a_yes_is_shown_once_with_its_code() {
    let by_rule = Event::ApprovalResolved(v1::ApprovalResolved {
        effect_id: 1,
        state: v1::ApprovalState::Denied.into(),
        note: "policy denies this call now: because".to_owned(),
        ..Default::default()
    });
    let end = finished(RunState::Done, "final_answer", "");
    let view =
        check(vec![by_rule, denied(1, "forbidden"), end], "[✗ denied (PLY-4003 forbidden): because]\n");
    assert_eq!(view.denied_calls(), 1);
}

#[test]
fn a_call_written_wrongly_does_not_count_as_withheld() {
    let view = check(
        vec![
            proposed(1, "read_file", "{"),
            denied(1, "invalid_arguments"),
            finished(RunState::Done, "final_answer", ""),
        ],
        "[· read_file {]\n[✗ denied (PLY-4002 invalid_arguments): because]\n",
    );
    assert_eq!(view.denied_calls(), 0);
}

#[test]
fn a_call_that_cannot_work_has_failed_and_was_not_denied() {
    let view = check(
        vec![
            proposed(1, "write_file", "{}"),
            denied(1, "not_possible"),
            finished(RunState::Done, "final_answer", ""),
        ],
        "[· write_file {}]\n[✗ not done: because]\n",
    );
    assert_eq!(view.denied_calls(), 0);
}

#[test]
fn the_line_that_a_refusal_asks_to_write_is_whole_and_on_a_line_of_its_own() {
    let line = format!("allow_private = [{}\"127.0.0.1:18765\"]", "\"build.internal:8080\", ".repeat(30));
    let why = format!(
        "`127.0.0.1` is this machine; write the line below in {}; nothing was sent",
        "/x".repeat(150)
    );
    let refused = Event::ToolDecided(v1::ToolDecided {
        effect_id: 1,
        verdict: ToolVerdict::Deny.into(),
        reason: v1::DecisionReason::NotPossible.into(),
        explanation: format!("{why}\n\n{line}"),
        ..Default::default()
    });
    let shown = format!("[· http_fetch {{}}]\n[✗ not done: {why}]\n[copied {line}]\n");
    check(vec![proposed(1, "http_fetch", "{}"), refused], &shown);
}

#[test]
fn a_call_that_no_person_was_asked_about_says_which_run_asks() {
    let refused = |explanation: &str| {
        Event::ToolDecided(v1::ToolDecided {
            effect_id: 1,
            verdict: ToolVerdict::Deny.into(),
            reason: v1::DecisionReason::NoApprovalChannel.into(),
            explanation: explanation.to_owned(),
            ..Default::default()
        })
    };
    for (why, more) in [
        ("no person can answer in this run", "; a run without `--approve never` asks you"),
        ("32 calls of this run wait for a person already", ""),
    ] {
        let shown = format!("[· write_file {{}}]\n[✗ denied (PLY-4017 no_approval_channel): {why}{more}]\n");
        check(vec![proposed(1, "write_file", "{}"), refused(why)], &shown);
    }
}

#[test]
fn a_failed_tool_says_why_on_one_line() {
    let failure = Event::ToolFinished(v1::ToolFinished {
        effect_id: 1,
        error_code: "PLY-4009".to_owned(),
        output: "\nno such file: a\nmore".to_owned(),
        ..Default::default()
    });
    check(vec![proposed(1, "read_file", "{}"), failure], "[· read_file {}]\n[✗ PLY-4009 no such file: a]\n");
}

/// A tape whose first answer breaks off twice, each time after some text.
fn broken_off_twice() -> Vec<Event> {
    let asked =
        |attempt| Event::ModelRequested(v1::ModelRequested { attempt, turn: 1, ..Default::default() });
    vec![
        asked(1),
        text("half an "),
        text("ans"),
        abandoned(1, 3, "restart"),
        asked(2),
        text("half"),
        abandoned(2, 6, "network"),
        asked(3),
        text("a whole "),
        text("answer"),
        message(FinishReason::Stop),
        finished(RunState::Done, "final_answer", ""),
    ]
}

fn abandoned(attempt: u32, text_from: u32, cause: &str) -> Event {
    Event::ModelAttemptAbandoned(v1::ModelAttemptAbandoned {
        attempt,
        text_from,
        text_to: text_from,
        cause: v1::AbandonCause::from_short_name(cause).unwrap().into(),
        ..Default::default()
    })
}

#[test]
fn a_watcher_sees_where_an_answer_broke_off_and_began_again() {
    check(
        broken_off_twice(),
        "half an ans\n(the answer broke off (restart); it begins again)\n\
         half\n(the answer broke off (network); it begins again)\n\
         a whole answer\n",
    );
    check(vec![abandoned(1, 0, "restart"), text("hi")], "hi");
}

#[test]
fn a_pipe_gets_only_messages_that_are_complete() {
    let (told, _) = told_as(EchoMode::No, TextFlow::Whole, broken_off_twice());
    assert_eq!(
        told,
        "[! the answer broke off (restart); it begins again]\n\
         [! the answer broke off (network); it begins again]\n\
         a whole answer\n"
    );
    let (told, _) =
        told_as(EchoMode::No, TextFlow::Whole, vec![text("not yet"), abandoned(1, 2, "cancelled")]);
    assert_eq!(told, "[· the unfinished answer is left out here; --json shows it]\n");
}

#[test]
fn a_pipe_loses_nothing_of_any_message_wherever_a_tape_is_cut() {
    let whole = |events: Vec<Event>| {
        let mut view = RunView::new(EchoMode::No, TextFlow::Whole);
        let mut texts = String::new();
        for event in events {
            let entry = v1::TapeEntry { event: Some(event), ..Default::default() };
            for shown in view.absorb(&entry) {
                if let ShownLine::Text(text) = shown {
                    texts += &text;
                }
            }
        }
        texts
    };
    let tape = broken_off_twice();
    let complete = tape.iter().position(|event| matches!(event, Event::ModelMessage(_))).unwrap();
    for end in 0..=tape.len() {
        let expect = if end > complete { "a whole answer" } else { "" };
        assert_eq!(whole(tape[..end].to_vec()), expect, "{end}");
    }
}

#[test]
fn a_terminal_is_told_that_something_happens_until_text_comes() {
    let thought =
        |text: &str| Event::ModelReasoning(v1::ModelReasoning { attempt: 1, text: text.to_owned() });
    let asked = v1::ModelRequested { model: "a/b".to_owned(), ..Default::default() };
    let mut view = RunView::new(EchoMode::No, TextFlow::Live);
    let mut progress = Vec::new();
    for event in [Event::ModelRequested(asked), thought("hm"), thought(" yes"), text("It"), thought("later")]
    {
        let entry = v1::TapeEntry { event: Some(event), ..Default::default() };
        progress.extend(view.absorb(&entry).into_iter().filter_map(|shown| match shown {
            ShownLine::Progress(told) => Some(told),
            _ => None,
        }));
    }
    assert_eq!(progress, ["asking a/b", "thinking, 2 characters so far", "thinking, 6 characters so far"]);
}

#[test]
fn what_is_done_instead_of_an_attempt_is_told() {
    let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    let abandoned = |text_from, next: &str, retry_at| v1::ModelAttemptAbandoned {
        text_from,
        cause: v1::AbandonCause::RateLimit.into(),
        next: v1::NextAttempt::from_short_name(next).unwrap().into(),
        retry_at,
        detail: "slow\ndown".to_owned(),
        ..Default::default()
    };
    for (abandoned, expect) in [
        (abandoned(0, "same_model", at(112)), Some("asking again in 12 s")),
        (abandoned(0, "same_model", None), Some("asking again")),
        (abandoned(3, "same_model", None), None),
        (abandoned(0, "next_model", None), Some("asking the next model")),
        (abandoned(0, "shorter_context", None), Some("asking again with older messages left out")),
        (abandoned(0, "none", None), None),
    ] {
        let expect =
            expect.map(|what| note(NoteKind::Doubt, format!("no answer (rate_limit: slow down); {what}")));
        assert_eq!(again(&abandoned, at(100)), expect);
    }
}

#[test]
fn a_run_says_which_models_were_passed_over_unless_their_windows_are_the_cause() {
    let requested = |cause: v1::PassOverCause| {
        let passed_over = vec![v1::PassedOverModel { model: "a/m".to_owned(), causes: vec![cause.into()] }];
        let model = "b/m".to_owned();
        Event::ModelRequested(v1::ModelRequested { turn: 1, model, passed_over, ..Default::default() })
    };
    let (shown, _) = told(EchoMode::No, vec![requested(v1::PassOverCause::OverBudget)]);
    assert!(shown.contains("passed over a/m: a budget has no room for it"), "{shown}");
    let (shown, _) = told(EchoMode::No, vec![requested(v1::PassOverCause::ContextTooSmall)]);
    assert!(!shown.contains("passed over"), "{shown}");
}

#[test]
fn a_switch_of_the_model_is_shown_once_and_an_older_tape_shows_it_with_the_request() {
    let requested = || {
        let model = "b/large".to_owned();
        Event::ModelRequested(v1::ModelRequested { turn: 1, model, ..Default::default() })
    };
    let switched = |passed_over| {
        let model = "b/large".to_owned();
        Event::ModelSwitched(v1::ModelSwitched { attempt: 2, model, passed_over })
    };
    let failed = || {
        let next = v1::NextAttempt::NextModel.into();
        Event::ModelAttemptAbandoned(v1::ModelAttemptAbandoned { next, ..Default::default() })
    };
    let after_failure = vec![failed(), switched(0), requested()];
    for events in [after_failure, vec![failed(), requested()]] {
        let (shown, _) = told(EchoMode::No, events);
        assert_eq!(shown.matches("asking b/large instead").count(), 1, "{shown}");
    }
    check(
        vec![switched(1), requested()],
        "[· asking b/large instead; the window of the model before it is too small]\n",
    );
    let (shown, _) = told(EchoMode::No, vec![switched(2)]);
    assert!(shown.contains("; the windows of 2 models before it are too small"), "{shown}");
}

#[test]
fn an_answer_that_broke_off_for_good_is_told() {
    check(
        vec![text("half"), abandoned(1, 2, "auth"), finished(RunState::Failed, "provider_error", "PLY-3001")],
        "half\n(the answer broke off (auth))\n[PLY-3001 the run ended: provider_error]\n",
    );
}

#[test]
fn what_may_wait_is_known_until_something_goes_on() {
    let looped =
        Event::LoopDetected(v1::LoopDetected { guard: v1::LoopGuard::SameResult.into(), repeats: 3 });
    let view = check(
        vec![text("again"), looped.clone()],
        "again\n[! the run repeats itself: the same call with the same result, 3 times]\n",
    );
    assert!(view.may_wait());
    let restarted =
        Event::LoopDetected(v1::LoopDetected { guard: v1::LoopGuard::Restarts.into(), repeats: 5 });
    check(
        vec![restarted],
        "[! the run repeats itself: the same model request after a restart of the daemon, 5 times]\n",
    );
    let (_, view) = told(EchoMode::No, vec![looped, Event::InputReceived(v1::InputReceived::default())]);
    assert!(!view.may_wait());
    let unknown = Event::ToolOutcomeUnknown(v1::ToolOutcomeUnknown {
        effect_id: 1,
        cause: v1::UnknownOutcomeCause::Restart.into(),
    });
    let view = check(
        vec![proposed(1, "send_mail", "{}"), unknown],
        "[· send_mail {}]\n[! send_mail: it is not known whether it took effect (restart)]\n\
         [· check whether it did, then settle it: `palyra runs effects resolve  1 happened|did-not-happen|retry`]\n",
    );
    assert!(view.may_wait());
}

#[test]
fn ends_are_told_with_their_code() {
    let view = check(
        vec![finished(RunState::Failed, "provider_error", "PLY-3001")],
        "[PLY-3001 the run ended: provider_error]\n",
    );
    assert_eq!((view.end_reason(), view.denied_calls()), ("provider_error", 0));
    let view = check(vec![finished(RunState::Cancelled, "time_limit", "PLY-5003")], "[PLY-5003 ]\n");
    assert_eq!(view.end_reason(), "time_limit");
    let view = check(vec![finished(RunState::Cancelled, "cancelled", "")], "[· cancelled]\n");
    assert_eq!(view.end_reason(), "cancelled");
}

#[test]
fn a_cancel_is_told_to_those_who_watch_from_elsewhere() {
    let cancel = || {
        Event::CancelRequested(v1::CancelRequested {
            actor: String::new(),
            reason: v1::CancelReason::User.into(),
        })
    };
    assert_eq!(told(EchoMode::Inputs, vec![text("half"), cancel()]).0, "half\n[· cancelling (user)]\n");
    assert_eq!(told(EchoMode::No, vec![text("half"), cancel()]).0, "half\n");
}

#[test]
fn a_cut_answer_is_told() {
    check(
        vec![text("and so"), message(FinishReason::Length)],
        "and so\n[! the answer was cut off: the model reached its cap on output]\n",
    );
}

#[test]
fn a_watched_run_shows_what_was_asked() {
    let events = vec![
        Event::RunStarted(v1::RunStarted { input: "first\nsecond".to_owned(), ..Default::default() }),
        Event::InputReceived(v1::InputReceived { input: "go on".to_owned(), ..Default::default() }),
    ];
    assert_eq!(told(EchoMode::Inputs, events).0, "[· asked: first second]\n[· answered: go on]\n");
}

#[test]
fn an_input_names_the_files_that_came_with_it() {
    let files = |count: usize| {
        let named = |number| v1::AttachmentInfo { name: format!("{number}.png"), ..Default::default() };
        (1..=count).map(named).collect()
    };
    for (count, expect) in [
        (0, "see"),
        (1, "see (with 1.png)"),
        (3, "see (with 1.png, 2.png, 3.png)"),
        (5, "see (with 1.png, 2.png, 3.png and 2 more)"),
    ] {
        let input = "see".to_owned();
        let started =
            Event::RunStarted(v1::RunStarted { input, attachments: files(count), ..Default::default() });
        assert_eq!(told(EchoMode::Inputs, vec![started]).0, format!("[· asked: {expect}]\n"));
    }
}

#[test]
fn names_and_arguments_cannot_steer_a_terminal() {
    let calls = || vec![proposed(1, "a\u{1b}[2J", "{\"x\":\"\u{202e}\"}"), succeeded(1, 2)];
    check(calls(), "[· a␛[2J {\"x\":\"<U+202E>\"}]\n[✓ 2 B of output]\n");
}

fn decided(effect_id: u32, verdict: ToolVerdict) -> Event {
    Event::ToolDecided(v1::ToolDecided { effect_id, verdict: verdict.into(), ..Default::default() })
}

#[test]
fn a_call_that_is_asked_about_is_shown_by_its_question_alone() {
    let asked = || {
        let prompt = v1::ApprovalPrompt {
            tool: "write_file".to_owned(),
            summary: "creates `a` (1 byte)".to_owned(),
            preview: "+x".to_owned(),
            ..Default::default()
        };
        Event::ApprovalRequested(v1::ApprovalRequested {
            approval_id: "A".to_owned(),
            effect_id: 1,
            risk: v1::RiskLevel::Medium.into(),
            prompt: Some(prompt),
            ..Default::default()
        })
    };
    let proposed = || proposed(1, "write_file", r#"{"path":"a"}"#);
    check(
        vec![proposed(), decided(1, ToolVerdict::Ask), asked()],
        "[? write_file creates `a` (1 byte)]\n[  +x]\n",
    );
    // The controls: what runs without a question is shown, and so is each step of a tape.
    check(vec![proposed(), decided(1, ToolVerdict::Allow)], "[· write_file {\"path\":\"a\"}]\n");
    let (tape, _) = told(EchoMode::Tape, vec![proposed(), decided(1, ToolVerdict::Ask), asked()]);
    assert!(tape.contains("write_file {\"path\":\"a\"}") && tape.contains("[? write_file creates"), "{tape}");
    assert!(tape.contains("the question about call 1, approval "), "its entry has a number: {tape}");
}

#[test]
fn a_run_that_asks_still_waits_after_it_was_steered() {
    let asked = || {
        Event::ApprovalRequested(v1::ApprovalRequested { approval_id: "A".to_owned(), ..Default::default() })
    };
    let steered = || {
        Event::InputReceived(v1::InputReceived {
            input: "use c.txt".to_owned(),
            delivery: v1::InputDelivery::Steer.into(),
            ..Default::default()
        })
    };
    assert!(told(EchoMode::No, vec![asked(), steered()]).1.may_wait());
    // The control: where nothing is asked, it is at work with the words.
    assert!(!told(EchoMode::No, vec![steered()]).1.may_wait());
}

#[test]
fn an_entry_of_a_newer_version_may_mean_waiting() {
    assert!(told(EchoMode::No, vec![Event::Unknown(v1::UnknownEvent { kind: 999 })]).1.may_wait());
}

#[test]
fn an_answer_without_a_word_is_told() {
    check(
        vec![Event::ModelRequested(v1::ModelRequested::default()), message(FinishReason::Stop)],
        "[! the model returned an empty answer]\n",
    );
}

#[test]
fn a_watched_run_ends_with_what_it_used_and_a_pipe_gets_the_answer_alone() {
    let finished = || {
        let usage = v1::TokenUsage { input_tokens: 12, output_tokens: 3, ..Default::default() };
        Event::RunFinished(v1::RunFinished {
            state: v1::RunState::Done.into(),
            turns: 1,
            usage: Some(usage),
            ..Default::default()
        })
    };
    let requested = v1::ModelRequested { model: "demo/demo".to_owned(), ..Default::default() };
    let told = told_as(EchoMode::No, TextFlow::Live, vec![Event::ModelRequested(requested), finished()]).0;
    assert!(
        told.contains("1 turn, 0 tool calls, 12 tokens in, 3 out") && told.contains(", model demo/demo"),
        "{told}"
    );
    assert!(!told_as(EchoMode::No, TextFlow::Whole, vec![finished()]).0.contains("tokens"));
    let tape = told_as(EchoMode::Tape, TextFlow::Whole, vec![finished()]).0;
    assert!(tape.contains("tokens in"), "{tape}");
}

#[test]
fn a_run_that_changed_a_file_names_the_command_that_takes_it_back() {
    let started = |paths: &[&str]| {
        Event::ToolStarted(v1::ToolStarted {
            effect_id: 1,
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            ..Default::default()
        })
    };
    let ended = || Event::RunFinished(v1::RunFinished { state: RunState::Done.into(), ..Default::default() });
    let hint = "takes its changes back";
    let events = || vec![started(&["a"]), succeeded(1, 2), ended()];
    assert!(told(EchoMode::No, events()).0.ends_with("` takes its changes back]\n"));
    // Not on a pipe, not for a watcher, and not for a run that only looked or failed.
    assert!(!told_as(EchoMode::No, TextFlow::Whole, events()).0.contains(hint));
    assert!(!told(EchoMode::Tape, events()).0.contains(hint));
    assert!(!told(EchoMode::Inputs, events()).0.contains(hint));
    // What a chat follows is of its person, also where it was typed before.
    let mut of_chat = RunView::new(EchoMode::Inputs, TextFlow::Live);
    of_chat.in_chat = true;
    let of_run = |event| v1::TapeEntry { run_id: "R".to_owned(), event: Some(event), ..Default::default() };
    let shown: Vec<ShownLine> =
        events().into_iter().flat_map(|event| of_chat.absorb(&of_run(event))).collect();
    // It names its run: another one may be the last by the time that it is typed.
    let is_named = |text: &str| text.starts_with("/undo R takes its changes back");
    assert!(matches!(shown.last(), Some(ShownLine::Note(_, text)) if is_named(text)), "{shown:?}");
    assert!(!told(EchoMode::No, vec![started(&[]), succeeded(1, 2), ended()]).0.contains(hint));
    let failed = Event::ToolFinished(v1::ToolFinished { effect_id: 1, ..Default::default() });
    assert!(!told(EchoMode::No, vec![started(&["a"]), failed, ended()]).0.contains(hint));
}

#[test]
fn a_decision_names_who_made_it_where_that_is_known() {
    let mut view = RunView::new(EchoMode::Tape, TextFlow::Whole);
    view.deciders.insert("P1".to_owned(), "you".to_owned());
    let mut told = |by: &str| {
        let resolved = v1::ApprovalResolved {
            state: v1::ApprovalState::Approved.into(),
            by: by.to_owned(),
            ..Default::default()
        };
        let event = Some(Event::ApprovalResolved(resolved));
        match view.absorb(&v1::TapeEntry { tape_seq: 7, event, ..Default::default() }).as_slice() {
            [ShownLine::Note(NoteKind::Good, told)] => told.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert!(told("P1").ends_with(" approved by you"));
    assert!(told("P2").ends_with(" approved") && told("").ends_with(" approved"));
}
