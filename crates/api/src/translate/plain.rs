//! Times, counts, digests and enums whose wire form is an enum too.

use std::fmt::Write;
use std::time::Duration;

use palyra_types::access::ActorIdentity;
use palyra_types::model::{FinishReason, TokenUsage, UsageSource};
use palyra_types::run::{RunLifecycleState, Surface};
use palyra_types::tool::ToolVerdict;
use palyra_types::{ErrorCode, Timestamp};
use palyra_wire::v1;

use super::ids::InvalidValue;

const MICROS_PER_SECOND: i64 = 1_000_000;

pub(crate) fn timestamp(time: Timestamp) -> Option<prost_types::Timestamp> {
    let micros = i32::try_from(time.0.rem_euclid(MICROS_PER_SECOND)).expect("less than a million");
    let seconds = time.0.div_euclid(MICROS_PER_SECOND);
    Some(prost_types::Timestamp { seconds, nanos: micros * 1_000 })
}

/// Reads a time.
pub(crate) fn time(field: &'static str, time: prost_types::Timestamp) -> Result<Timestamp, InvalidValue> {
    let micros = time.seconds.checked_mul(MICROS_PER_SECOND);
    let micros = micros.and_then(|micros| micros.checked_add(i64::from(time.nanos) / 1_000));
    micros.map(Timestamp).ok_or_else(|| InvalidValue::new(field, "a time of this era"))
}

pub(super) fn duration(span: Duration) -> Option<prost_types::Duration> {
    let seconds = i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
    let nanos = i32::try_from(span.subsec_nanos()).expect("less than a billion");
    Some(prost_types::Duration { seconds, nanos })
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Reads 64 lower-case hex digits, as digests are shown.
pub(crate) fn digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    (hex(&digest) == text).then_some(digest)
}

/// Hex of a digest that is all zero when there is none.
pub(crate) fn hex_or_empty(digest: &[u8; 32]) -> String {
    if *digest == [0; 32] { String::new() } else { hex(digest) }
}

pub(super) fn error_code(code: Option<ErrorCode>) -> String {
    code.map(|code| code.to_string()).unwrap_or_default()
}

/// Returns a run's state as the number of its value on the wire.
#[must_use]
pub fn run_state(state: RunLifecycleState) -> i32 {
    let state = match state {
        RunLifecycleState::Pending => v1::RunState::Pending,
        RunLifecycleState::InProgress => v1::RunState::InProgress,
        RunLifecycleState::Done => v1::RunState::Done,
        RunLifecycleState::Cancelled => v1::RunState::Cancelled,
        RunLifecycleState::Failed => v1::RunState::Failed,
    };
    state.into()
}

pub(crate) fn surface(surface: Surface) -> i32 {
    let surface = match surface {
        Surface::LocalSocket => v1::Surface::LocalSocket,
        Surface::Tcp => v1::Surface::Tcp,
        Surface::Http => v1::Surface::Http,
        Surface::Console => v1::Surface::Console,
        Surface::Openai => v1::Surface::Openai,
        Surface::Schedule => v1::Surface::Schedule,
        Surface::Background => v1::Surface::Background,
        Surface::Channel => v1::Surface::Channel,
        Surface::Quic => v1::Surface::Quic,
    };
    surface.into()
}

/// Reads of which surface a list is.
pub(crate) fn surface_filter(number: i32) -> Result<Option<Surface>, InvalidValue> {
    if number == i32::from(v1::Surface::Unspecified) {
        return Ok(None);
    }
    let found = Surface::ALL.into_iter().find(|one| surface(*one) == number);
    found
        .map(Some)
        .ok_or(InvalidValue { field: "surface", wanted: "a surface, such as openai or local_socket" })
}

/// Returns who acted; the name is for those who may know it.
pub(super) fn acted_by(actor: ActorIdentity) -> v1::ActedBy {
    v1::ActedBy {
        principal_id: actor.principal.to_string(),
        principal: String::new(),
        token_id: actor.credential.map(|token| token.to_string()).unwrap_or_default(),
        surface: surface(actor.surface),
    }
}

pub(super) fn finish_reason(finish: FinishReason) -> i32 {
    let finish = match finish {
        FinishReason::Stop => v1::FinishReason::Stop,
        FinishReason::Length => v1::FinishReason::Length,
        FinishReason::ToolCalls => v1::FinishReason::ToolCalls,
        FinishReason::ContentFilter => v1::FinishReason::ContentFilter,
        FinishReason::Other => v1::FinishReason::Other,
    };
    finish.into()
}

pub(super) fn tool_verdict(verdict: ToolVerdict) -> i32 {
    let verdict = match verdict {
        ToolVerdict::Allow => v1::ToolVerdict::Allow,
        ToolVerdict::Ask => v1::ToolVerdict::Ask,
        ToolVerdict::Deny => v1::ToolVerdict::Deny,
    };
    verdict.into()
}

pub(crate) fn token_usage(usage: TokenUsage) -> v1::TokenUsage {
    v1::TokenUsage {
        input_tokens: usage.input_tokens,
        cached_input_tokens: usage.cached_input_tokens,
        output_tokens: usage.output_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        estimated: usage.source == UsageSource::Estimated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_the_epoch_round_down() {
        let at = |micros| timestamp(Timestamp(micros)).map(|time| (time.seconds, time.nanos));
        assert_eq!(at(1_500_001), Some((1, 500_001_000)));
        assert_eq!(at(0), Some((0, 0)));
        assert_eq!(at(-1), Some((-1, 999_999_000)));
    }

    #[test]
    fn digests_are_lower_case_hex_and_absent_ones_are_empty() {
        assert_eq!(hex(&[0, 0xab, 0x7f]), "00ab7f");
        assert_eq!(hex_or_empty(&[0; 32]), "");
        assert_eq!(hex_or_empty(&[1; 32]), "01".repeat(32));
    }
}
