//! What a watcher of a tape sees beside what a run shows: decisions, starts, what was used, and each entry's number
//! and time.
//!
//! Pure. Begin at [`place`] and [`beside`].

use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;
use prost_types::Timestamp;

use palyra_screen_text::{clean_line, count, span};

use crate::recall_words::recall_reason;

const WORDS_CHARS_MAX: usize = 200;

/// Returns an entry's number and time, the beginning of its line.
pub(super) fn place(entry: &v1::TapeEntry) -> String {
    format!("{:>4} {}", entry.tape_seq, clock(entry.time))
}

/// Returns the line of an entry of which a run itself shows nothing.
pub(super) fn beside(event: &Event) -> Option<String> {
    let told = match event {
        Event::RunStarted(started) => started.recall.as_ref().and_then(recall_reason)?,
        Event::ModelRequested(requested) => {
            let model = clean_line(&requested.model, WORDS_CHARS_MAX);
            let routed = routing_shown(requested).map(|why| format!("; {why}")).unwrap_or_default();
            format!("turn {}: asked {model}{}{routed}", requested.turn, context_shown(requested))
        }
        Event::ModelMessage(message) => {
            let calls = match message.proposals {
                0 => String::new(),
                calls => format!(", {}", count(calls.into(), "call")),
            };
            // The entries of the text itself have no lines.
            let text = match message.text_from {
                0 => String::new(),
                from => format!(" (text from entry {from})"),
            };
            format!("answered{text}, {}{calls}", used_tokens(message.usage.as_ref()))
        }
        Event::ToolDecided(decided) => {
            let verdict = match decided.verdict() {
                v1::ToolVerdict::Allow => "allowed",
                v1::ToolVerdict::Ask => "asks",
                v1::ToolVerdict::Deny | v1::ToolVerdict::Unspecified => return None,
            };
            let why = clean_line(&decided.explanation, WORDS_CHARS_MAX);
            format!("{verdict} by {} ({} risk): {why}", decided.decided_by_name(), decided.risk_name())
        }
        Event::ToolStarted(started) => format!("call {} started", started.effect_id),
        Event::ClientToolsOffered(offered) => {
            format!("the client offers {}", count(offered.tools.len() as u64, "function"))
        }
        Event::ClientToolsAnswered(answered) => {
            format!("the client brought {}", count(answered.results.len() as u64, "result"))
        }
        Event::ReferencesExpanded(expanded) => {
            format!("the input has {}", count(expanded.items.len() as u64, "reference"))
        }
        _ => return None,
    };
    Some(told)
}

/// Says what a request holds, source by source, and what was left out of it; nothing on tapes of older versions.
fn context_shown(requested: &v1::ModelRequested) -> String {
    if requested.sources.is_empty() {
        return String::new();
    }
    let name = |planned: &v1::ContextSourcePlan| planned.source().short_name().to_owned();
    let kept = requested.sources.iter().filter(|planned| planned.tokens_kept > 0);
    let kept: Vec<String> =
        kept.map(|planned| format!("{} {}", name(planned), planned.tokens_kept)).collect();
    let left_out = requested.sources.iter().filter(|planned| planned.dropped > 0).map(|planned| {
        let all = planned.kept.saturating_add(planned.dropped);
        let why = match planned.dropped_because() {
            v1::ContextDropReason::Window => "the window is too small",
            v1::ContextDropReason::Limit => "the limit of the source",
            v1::ContextDropReason::Unspecified => "no reason given",
        };
        format!("; left out {} of {all} of {}: {why}", planned.dropped, name(planned))
    });
    // Not what is used: the provider counts that in its own way, and says it with the answer.
    let total = count(requested.tokens_estimated, "token");
    format!(", a request of {total} by estimate ({}){}", kept.join(", "), left_out.collect::<String>())
}

/// Says what is unusual about the choice of the model: others were passed over, or this one is not as it should be.
pub(super) fn routing_shown(requested: &v1::ModelRequested) -> Option<String> {
    let unusual = requested.routing().filter_map(|reason| match reason {
        v1::RoutingReason::Degraded => Some("some requests to it failed before".to_owned()),
        v1::RoutingReason::Cheapest => Some("it is the cheapest".to_owned()),
        v1::RoutingReason::Fastest => Some("it is the fastest".to_owned()),
        v1::RoutingReason::LastResort => {
            Some("no model of the chain has what the request needs and answers at present".to_owned())
        }
        v1::RoutingReason::OnlyChoice
        | v1::RoutingReason::ConfiguredOrder
        | v1::RoutingReason::Unpriced
        | v1::RoutingReason::WithinBudgets
        | v1::RoutingReason::NoBudget
        | v1::RoutingReason::Unspecified => None,
    });
    let passed = requested.passed_over.iter().map(|passed| {
        let causes: Vec<_> = passed.causes().map(cause_shown).collect();
        format!("passed over {}: {}", clean_line(&passed.model, WORDS_CHARS_MAX), causes.join(", "))
    });
    let all: Vec<String> = passed.chain(unusual).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Says why a model was passed over.
fn cause_shown(cause: v1::PassOverCause) -> &'static str {
    match cause {
        v1::PassOverCause::NoImages => "it sees no images",
        v1::PassOverCause::NoTools => "it calls no tools",
        v1::PassOverCause::NoStructuredOutput => "it does not answer by a schema",
        v1::PassOverCause::NoReasoning => "it shows no reasoning",
        v1::PassOverCause::ContextTooSmall => "its window is too small",
        v1::PassOverCause::Unavailable => "its provider does not answer at present",
        v1::PassOverCause::NoPrice => "it has no price, and a budget limits money",
        v1::PassOverCause::OverBudget => "a budget has no room for it",
        v1::PassOverCause::Unspecified => "no reason given",
    }
}

/// Returns a line for each call of a function of the client.
pub(super) fn client_calls(called: &v1::ClientToolsCalled) -> impl Iterator<Item = String> {
    let told = |call: &v1::ClientToolCallInfo| {
        format!("{}: the client performs it, and the run waits", clean_line(&call.name, WORDS_CHARS_MAX))
    };
    called.calls.iter().map(told)
}

/// Says which model is asked from now on, and why where no failure said so before.
pub(super) fn switched(switched: &v1::ModelSwitched) -> String {
    let model = clean_line(&switched.model, WORDS_CHARS_MAX);
    let why = match switched.passed_over {
        0 => String::new(),
        1 => "; the window of the model before it is too small".to_owned(),
        passed => format!("; the windows of {passed} models before it are too small"),
    };
    format!("asking {model} instead{why}")
}

/// Returns what a run used, in one line.
pub(super) fn used(finished: &v1::RunFinished, failed_calls: Option<u32>) -> String {
    let time = finished.active_time.and_then(|time| std::time::Duration::try_from(time).ok());
    let parts = [
        count(finished.turns.into(), "turn"),
        count(finished.tool_calls.into(), "tool call"),
        failed_calls
            .filter(|failed| *failed > 0)
            .map_or_else(String::new, |failed| format!("{failed} failed")),
        used_tokens(finished.usage.as_ref()),
        time.map(span).unwrap_or_default(),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns what a run that is over used, with the model that it asked last; nothing while the entries do not end it.
pub fn used_by_run(entries: &[v1::TapeEntry]) -> Option<String> {
    let events = || entries.iter().rev().filter_map(|entry| entry.event.as_ref());
    let is_whole = events().any(|event| matches!(event, Event::RunStarted(_)));
    let failed = u32::try_from(events().filter(is_failed_call).count()).ok().filter(|_| is_whole);
    let used = events().find_map(|event| match event {
        Event::RunFinished(finished) => Some(used(finished, failed)),
        _ => None,
    })?;
    let model = events().find_map(|event| match event {
        Event::ModelRequested(requested) => Some(requested.model.as_str()),
        _ => None,
    });
    let is_fallback = events().any(|event| matches!(event, Event::ModelSwitched(_)));
    let model = with_model(&used, model.unwrap_or_default());
    Some(if is_fallback { format!("{model} (a fallback)") } else { model })
}

fn is_failed_call(event: &&Event) -> bool {
    matches!(event, Event::ToolFinished(finished) if !finished.succeeded)
}

/// Adds which model was used, where that is known.
pub(super) fn with_model(used: &str, model: &str) -> String {
    let model = clean_line(model, WORDS_CHARS_MAX);
    if model.is_empty() { used.to_owned() } else { format!("{used}, model {model}") }
}

/// Returns what a run used so far, in one line: what its tape does not end with yet is not counted.
pub fn used_so_far(run: &v1::Run) -> String {
    if run.turns == 0 {
        return "nothing".to_owned();
    }
    let turns = count(run.turns.into(), "turn");
    let calls = count(run.tool_calls.into(), "tool call");
    let used = format!("{turns}, {calls}, {}", used_tokens(run.usage.as_ref()));
    match run.phase() {
        v1::RunPhase::Finished => used,
        _ => format!("{used} in whole answers so far"),
    }
}

/// Returns the tokens used: as the provider counted them, and by an estimate where it did not. Every line about a run, and
/// every sum of usage, counts these.
fn used_tokens(usage: Option<&v1::TokenUsage>) -> String {
    let Some(usage) = usage else { return String::new() };
    let estimated = if usage.estimated { " (estimated)" } else { "" };
    let cached = match usage.cached_input_tokens {
        0 => String::new(),
        cached => format!(" ({cached} of them cached)"),
    };
    format!("{} tokens in{cached}, {} out{estimated}", usage.input_tokens, usage.output_tokens)
}

/// Returns the time of day, UTC.
fn clock(time: Option<Timestamp>) -> String {
    let time = time.and_then(|time| jiff::Timestamp::from_second(time.seconds).ok());
    time.map_or_else(|| "        ".to_owned(), |time| time.strftime("%H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_its_number_and_time() {
        let time = Some(Timestamp { seconds: 1_800_000_061, nanos: 0 });
        let entry = v1::TapeEntry { tape_seq: 12, time, ..v1::TapeEntry::default() };
        assert_eq!(place(&entry), "  12 08:01:01");
    }

    #[test]
    fn decisions_are_told_and_refusals_are_left_to_the_run() {
        let decided = |verdict: v1::ToolVerdict| {
            Event::ToolDecided(v1::ToolDecided {
                verdict: verdict.into(),
                decided_by: v1::DecisionSource::Policy.into(),
                risk: v1::RiskLevel::Low.into(),
                explanation: "`read_file` is permitted".to_owned(),
                ..v1::ToolDecided::default()
            })
        };
        let told = "allowed by policy (low risk): `read_file` is permitted";
        assert_eq!(beside(&decided(v1::ToolVerdict::Allow)), Some(told.to_owned()));
        assert_eq!(beside(&decided(v1::ToolVerdict::Deny)), None);
    }

    #[test]
    fn the_choice_of_a_model_is_told_where_it_is_unusual() {
        let mut asked = v1::ModelRequested { turn: 1, model: "b/m".to_owned(), ..Default::default() };
        asked.routing = vec![v1::RoutingReason::ConfiguredOrder.into(), v1::RoutingReason::NoBudget.into()];
        assert_eq!(routing_shown(&asked), None);
        assert_eq!(beside(&Event::ModelRequested(asked.clone())), Some("turn 1: asked b/m".to_owned()));
        let causes = vec![v1::PassOverCause::NoTools.into(), v1::PassOverCause::Unavailable.into()];
        asked.passed_over = vec![v1::PassedOverModel { model: "a/m".to_owned(), causes }];
        asked.routing.push(v1::RoutingReason::Degraded.into());
        assert_eq!(
            beside(&Event::ModelRequested(asked)).unwrap(),
            "turn 1: asked b/m; passed over a/m: it calls no tools, its provider does not answer at present; some requests \
             to it failed before"
        );
    }

    #[test]
    fn the_size_of_a_request_is_an_estimate_and_the_tokens_used_are_those_of_the_answer() {
        let source = v1::ContextSourcePlan {
            source: v1::ContextSource::Input.into(),
            tokens_kept: 13,
            kept: 1,
            ..Default::default()
        };
        let requested = v1::ModelRequested {
            turn: 1,
            model: "b/m".to_owned(),
            tokens_estimated: 5_835,
            sources: vec![source],
            ..Default::default()
        };
        assert_eq!(
            beside(&Event::ModelRequested(requested)).as_deref(),
            Some("turn 1: asked b/m, a request of 5835 tokens by estimate (input 13)")
        );
        let usage = v1::TokenUsage { input_tokens: 172, output_tokens: 12, ..Default::default() };
        let answered = v1::ModelMessage { usage: Some(usage), ..Default::default() };
        assert_eq!(
            beside(&Event::ModelMessage(answered)).as_deref(),
            Some("answered, 172 tokens in, 12 out")
        );
        let spoken = v1::ModelMessage { text_from: 3, usage: Some(usage), ..Default::default() };
        assert_eq!(
            beside(&Event::ModelMessage(spoken)).as_deref(),
            Some("answered (text from entry 3), 172 tokens in, 12 out")
        );
        let finished = v1::RunFinished { turns: 1, usage: Some(usage), ..Default::default() };
        assert_eq!(used(&finished, None), "1 turn, 0 tool calls, 172 tokens in, 12 out");
    }

    #[test]
    fn functions_of_the_client_are_named() {
        let call = |name: &str| v1::ClientToolCallInfo { name: name.to_owned(), ..Default::default() };
        let calls = vec![call("weather"), call("clock")];
        let called = v1::ClientToolsCalled { calls, ..Default::default() };
        let told: Vec<String> = client_calls(&called).collect();
        assert_eq!(told[1], "clock: the client performs it, and the run waits");
        let results = vec![v1::ClientToolResultInfo::default(); 2];
        let answered = Event::ClientToolsAnswered(v1::ClientToolsAnswered { results });
        assert_eq!(beside(&answered).as_deref(), Some("the client brought 2 results"));
    }

    #[test]
    fn what_a_run_used_is_one_line() {
        let usage =
            v1::TokenUsage { input_tokens: 12, output_tokens: 3, estimated: true, ..Default::default() };
        let finished = v1::RunFinished {
            turns: 2,
            tool_calls: 1,
            usage: Some(usage),
            active_time: Some(prost_types::Duration { seconds: 1, nanos: 200_000_000 }),
            ..Default::default()
        };
        assert_eq!(used(&finished, None), "2 turns, 1 tool call, 12 tokens in, 3 out (estimated), 1.2 s");
        assert_eq!(used(&v1::RunFinished::default(), None), "0 turns, 0 tool calls");
        let cached = v1::TokenUsage { cached_input_tokens: 8, estimated: false, ..usage };
        let finished = v1::RunFinished { usage: Some(cached), ..Default::default() };
        assert_eq!(used(&finished, None), "0 turns, 0 tool calls, 12 tokens in (8 of them cached), 3 out");
        let open = v1::Run {
            turns: 1,
            usage: Some(cached),
            phase: v1::RunPhase::Running.into(),
            ..Default::default()
        };
        assert_eq!(
            used_so_far(&open),
            "1 turn, 0 tool calls, 12 tokens in (8 of them cached), 3 out in whole answers so far"
        );
        assert_eq!(used_so_far(&v1::Run { turns: 0, ..open }), "nothing");
        let entry = |event| v1::TapeEntry { event: Some(event), ..Default::default() };
        let requested = v1::ModelRequested { model: "demo/demo".to_owned(), ..Default::default() };
        let mut entries = vec![entry(Event::ModelRequested(requested))];
        assert_eq!(used_by_run(&entries), None);
        entries.push(entry(Event::RunFinished(v1::RunFinished::default())));
        assert_eq!(used_by_run(&entries).as_deref(), Some("0 turns, 0 tool calls, model demo/demo"));
    }
}
