//! What is kept and what goes when the window is small.

use super::*;

fn user(text: &str) -> ChatMessage {
    ChatMessage::User { text: text.into() }
}

fn assistant(text: &str) -> ChatMessage {
    ChatMessage::Assistant { text: text.into(), calls: Vec::new() }
}

fn past(seq: u64, bytes: usize) -> PastRun {
    let messages = [user(&"u".repeat(bytes / 2)), assistant(&"a".repeat(bytes / 2))];
    PastRun { first_seq: Seq(seq), messages: messages.into() }
}

fn check(
    history: &[PastRun],
    current: Vec<ChatMessage>,
    window_tokens: u64,
) -> Result<(u32, u32), ContextTooLarge> {
    let prompt = assemble(PromptInputs {
        instructions: "",
        history,
        current,
        catalog_bytes: 0,
        window_tokens,
        instructions_digest: [0; 32],
        catalog_digest: [0; 32],
    })?;
    assert_eq!(prompt.plan.messages_kept as usize, prompt.messages.len());
    assert_eq!(prompt.plan.dropped_because.is_some(), prompt.plan.messages_dropped > 0);
    Ok((prompt.plan.messages_kept, prompt.plan.messages_dropped))
}

#[test]
fn everything_is_kept_when_it_fits() {
    assert_eq!(check(&[past(0, 100), past(9, 100)], vec![user("now")], 1_000), Ok((5, 0)));
}

#[test]
fn the_oldest_runs_go_first_and_whole() {
    assert_eq!(check(&[past(0, 400), past(9, 400)], vec![user("now")], 140), Ok((3, 2)));
}

#[test]
fn of_the_running_run_the_oldest_rounds_go_but_never_the_input() {
    let current = vec![user("now"), assistant(&"a".repeat(300)), assistant(&"b".repeat(300))];
    assert_eq!(check(&[], current, 110), Ok((2, 1)));
    assert_eq!(check(&[], vec![user(&"x".repeat(1_000))], 100), Err(ContextTooLarge));
}
