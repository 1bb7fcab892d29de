//! What is kept and what goes when the window is small.

use palyra_types::Redacted;
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{CallId, RenderedCall, ToolResultStatus};
use palyra_types::tool::ToolName;
use proptest::prelude::*;

use super::*;
use crate::plan::DropRule;

const RULES: [SourceRule; 2] = [
    SourceRule { source: ContextSource::Rounds, drop: DropRule::OldestFirst { priority: 90 }, share: None },
    SourceRule { source: ContextSource::History, drop: DropRule::OldestFirst { priority: 30 }, share: None },
];

fn user(text: &str) -> ChatMessage {
    ChatMessage::user(Redacted::cleaned(text.to_owned()))
}

fn assistant(text: &str) -> ChatMessage {
    ChatMessage::Assistant { text: Redacted::cleaned(text.to_owned()), calls: Vec::new(), continuation: None }
}

fn past(seq: u64, bytes: usize) -> PastRun {
    let messages = [user(&"u".repeat(bytes / 2)), assistant(&"a".repeat(bytes / 2))];
    PastRun { first_seq: Seq(seq), ended: Seq(seq), messages: messages.into() }
}

fn inputs(
    fixed_bytes: usize,
    history: &[PastRun],
    current: Vec<ChatMessage>,
    window_tokens: u64,
) -> PromptInputs<'_> {
    let mut segments = vec![RequestSegment::outside(ContextSource::Instructions, fixed_bytes)];
    segments.extend(history.iter().map(RequestSegment::past));
    segments.extend(RequestSegment::current(current.into()));
    PromptInputs {
        segments,
        window_tokens,
        tokens_wished: None,
        rules: &RULES,
        instructions_digest: [0; 32],
        catalog_digest: [0; 32],
    }
}

fn check(
    history: &[PastRun],
    current: Vec<ChatMessage>,
    window_tokens: u64,
) -> Result<(u32, u32), ContextTooLarge> {
    let prompt = assemble(inputs(0, history, current, window_tokens))?;
    assert_eq!(prompt.plan.messages_kept as usize, prompt.messages.len());
    assert_eq!(prompt.plan.dropped_because.is_some(), prompt.plan.messages_dropped > 0);
    Ok((prompt.plan.messages_kept, prompt.plan.messages_dropped))
}

#[test]
fn a_wish_for_less_drops_what_may_go_and_never_fails() {
    let requested = |current: Vec<ChatMessage>, tokens| {
        let history = [past(0, 400), past(9, 400)];
        let inputs = inputs(0, &history, current, 10_000);
        let prompt = assemble(PromptInputs { tokens_wished: Some(tokens), ..inputs });
        prompt.expect("the window is large").plan
    };
    let now = vec![user("now")];
    assert_eq!(requested(now.clone(), 10_000).messages_kept, 5);
    assert_eq!(requested(now.clone(), 150).messages_kept, 3);
    assert_eq!(requested(now, 0).messages_kept, 1, "the input stays");
    let rounds = vec![user("now"), assistant(&"a".repeat(300)), assistant(&"b".repeat(300))];
    assert_eq!(requested(rounds.clone(), 100).messages_kept, 2);
    assert_eq!(requested(rounds, 0).tokens_estimated, 76, "the latest round stays");
}

#[test]
fn everything_is_kept_when_it_fits() {
    assert_eq!(check(&[past(0, 100), past(9, 100)], vec![user("now")], 1_000), Ok((5, 0)));
}

#[test]
fn the_oldest_runs_go_first_and_whole() {
    assert_eq!(check(&[past(0, 400), past(9, 400)], vec![user("now")], 140), Ok((3, 2)));
    // 104 tokens of 138 are for the request: 416 bytes.
    assert_eq!(check(&[past(0, 412)], vec![user("here")], 138), Ok((3, 0)));
    assert_eq!(check(&[past(0, 414)], vec![user("here")], 138), Ok((1, 2)));
}

#[test]
fn of_the_running_run_the_oldest_rounds_go_but_never_the_input() {
    let current = vec![user("now"), assistant(&"a".repeat(300)), assistant(&"b".repeat(300))];
    assert_eq!(check(&[], current, 110), Ok((2, 1)));
    assert_eq!(check(&[], vec![user(&"x".repeat(1_000))], 100), Err(ContextTooLarge));
}

#[test]
fn what_a_person_said_in_between_stays() {
    let current = vec![
        user("now"),
        assistant(&"a".repeat(300)),
        user("rather so"),
        assistant(&"b".repeat(300)),
        user("!"),
    ];
    assert_eq!(check(&[], current.clone(), 140), Ok((4, 1)));
    assert_eq!(check(&[], current, 90), Err(ContextTooLarge));
}

#[test]
fn a_round_goes_with_its_results() {
    let mut current = vec![user("now")];
    current.extend(round(1, 3, 40));
    current.extend(round(2, 1, 40));
    assert_eq!(check(&[], current, 90), Ok((3, 4)));
}

#[test]
fn instructions_and_catalogue_take_their_place_in_the_window() {
    let with_fixed = |catalog_bytes: usize| {
        let history = [past(3, 100)];
        let inputs = inputs(20 + catalog_bytes, &history, vec![user("now")], 100);
        assemble(PromptInputs { instructions_digest: [1; 32], catalog_digest: [2; 32], ..inputs })
    };
    let prompt = with_fixed(100).expect("it fits");
    assert_eq!((prompt.plan.messages_kept, prompt.plan.tokens_estimated), (3, 56));
    assert_eq!(prompt.plan.oldest_seq, Some(Seq(3)));
    assert_eq!((prompt.plan.instructions_digest, prompt.plan.catalog_digest), ([1; 32], [2; 32]));
    let prompt = with_fixed(250).expect("it fits without history");
    assert_eq!((prompt.plan.messages_kept, prompt.plan.oldest_seq), (1, None));
    assert_eq!(with_fixed(278), Err(ContextTooLarge));
}

/// An assistant message with calls, and a result of so many bytes for each.
fn round(number: usize, calls: usize, bytes: usize) -> Vec<ChatMessage> {
    let id = |call: usize| CallId(format!("{number}.{call}"));
    let tool = ToolName::new("t");
    let rendered =
        (0..calls).map(|call| RenderedCall { call: id(call), tool: tool.clone(), arguments: "{}".into() });
    let mut messages =
        vec![ChatMessage::Assistant { text: "a".into(), calls: rendered.collect(), continuation: None }];
    messages.extend((0..calls).map(|call| ChatMessage::ToolResult {
        call: id(call),
        tool: tool.clone(),
        text: Redacted::cleaned("r".repeat(bytes)),
        status: ToolResultStatus::Succeeded,
        delimiter: DataDelimiter::default(),
    }));
    messages
}

fn rounds() -> impl Strategy<Value = Vec<ChatMessage>> {
    proptest::collection::vec((0..4_usize, 0..200_usize), 0..8).prop_map(|rounds| {
        let mut messages = vec![user("the input")];
        for (number, (calls, bytes)) in rounds.into_iter().enumerate() {
            messages.extend(round(number, calls, bytes));
        }
        messages
    })
}

proptest! {
    #[test]
    fn what_is_sent_fits_is_paired_and_ends_with_the_latest(
        history in proptest::collection::vec(rounds(), 0..5),
        current in rounds(),
        window_tokens in 0..2_000_u64,
    ) {
        let history: Vec<PastRun> = (0..)
            .zip(history)
            .map(|(seq, messages)| PastRun { first_seq: Seq(seq), ended: Seq(seq), messages: messages.into() })
            .collect();
        let all = history.iter().map(|past| past.messages.len()).sum::<usize>() + current.len();
        let is_answer = |message: &ChatMessage| matches!(message, ChatMessage::Assistant { .. });
        let latest = current.iter().rposition(is_answer).unwrap_or(1);
        let outcome = assemble(inputs(18, &history, current.clone(), window_tokens));
        let Ok(prompt) = outcome else {
            let needed = bytes_of(&current[..1]) + bytes_of(&current[latest..]) + 18;
            prop_assert!(needed > request_tokens_max(window_tokens) * BYTES_PER_TOKEN_ESTIMATED);
            return Ok(());
        };
        let bytes = bytes_of(&prompt.messages) + 18;
        prop_assert!(bytes <= request_tokens_max(window_tokens) * BYTES_PER_TOKEN_ESTIMATED);
        prop_assert_eq!(prompt.plan.tokens_estimated, bytes.div_ceil(BYTES_PER_TOKEN_ESTIMATED));
        prop_assert_eq!(prompt.messages.len() + prompt.plan.messages_dropped as usize, all);
        prop_assert_eq!(prompt.messages.last(), current.last());
        prop_assert_eq!(&prompt.messages[0], &user("the input"), "a conversation begins with a person");
        let mut open = std::collections::VecDeque::new();
        for message in &prompt.messages {
            match message {
                ChatMessage::ToolResult { call, .. } => prop_assert_eq!(open.pop_front(), Some(call.clone())),
                ChatMessage::User { .. } => prop_assert!(open.is_empty()),
                ChatMessage::Assistant { calls, .. } => {
                    prop_assert!(open.is_empty());
                    open.extend(calls.iter().map(|call| call.call.clone()));
                }
            }
        }
        prop_assert!(open.is_empty());
    }
}
