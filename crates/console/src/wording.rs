//! Words, signs and times of what pages show; every state is a sign, a word and a colour.

use maud::{Markup, html};
use palyra_screen_text::{clean_line, coarse_span, short_id};
use palyra_wire::v1;

/// Characters of a line, at most.
const LINE_CHARS_MAX: usize = 300;

/// A state as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StateMark {
    pub(crate) sign: &'static str,
    pub(crate) word: String,
    /// The class of its colour.
    pub(crate) colour: &'static str,
}

impl StateMark {
    pub(crate) fn new(sign: &'static str, word: impl Into<String>, colour: &'static str) -> Self {
        Self { sign, word: word.into(), colour }
    }

    pub(crate) fn markup(&self) -> Markup {
        html! { span class=(self.colour) { span aria-hidden="true" { (self.sign) } "\u{a0}" (self.word) } }
    }
}

/// Returns the state of a run.
pub(crate) fn run_mark(run: &v1::Run) -> StateMark {
    match (run.phase(), run.state()) {
        (v1::RunPhase::Queued, _) => StateMark::new("◌", "queued", "muted"),
        (v1::RunPhase::Running, _) => StateMark::new("▶", "running", "info"),
        (v1::RunPhase::Waiting, _) => {
            let reason = spaced(run.waiting_for().short_name());
            StateMark::new("○", format!("waits: {reason}"), "caution")
        }
        (_, v1::RunState::Done) => StateMark::new("✓", "done", "positive"),
        (_, v1::RunState::Cancelled) => StateMark::new("■", "cancelled", "muted"),
        (_, v1::RunState::Failed) => StateMark::new("✕", "failed", "danger"),
        (_, v1::RunState::Pending | v1::RunState::InProgress | v1::RunState::Unspecified) => {
            StateMark::new("?", "not known", "muted")
        }
    }
}

/// Returns how much harm a call can do.
pub(crate) fn risk_mark(risk: v1::RiskLevel) -> StateMark {
    match risk {
        v1::RiskLevel::Low => StateMark::new("○", "low risk", "muted"),
        v1::RiskLevel::Medium => StateMark::new("◐", "medium risk", "caution"),
        v1::RiskLevel::High => StateMark::new("●", "high risk", "danger"),
        v1::RiskLevel::Critical => StateMark::new("▲", "critical risk", "danger"),
        v1::RiskLevel::Unspecified => StateMark::new("?", "risk not known", "muted"),
    }
}

/// Returns the state of an approval.
pub(crate) fn approval_mark(state: v1::ApprovalState) -> StateMark {
    match state {
        v1::ApprovalState::Pending => StateMark::new("○", "waits for a decision", "caution"),
        v1::ApprovalState::Approved => StateMark::new("✓", "approved", "positive"),
        v1::ApprovalState::Denied => StateMark::new("✕", "denied", "danger"),
        v1::ApprovalState::Expired => StateMark::new("■", "expired", "muted"),
        v1::ApprovalState::Withdrawn => StateMark::new("■", "withdrawn", "muted"),
        v1::ApprovalState::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

/// Returns what may be done when the outcome of a call is not known.
pub(crate) fn contract_words(contract: v1::EffectContract) -> &'static str {
    match contract {
        v1::EffectContract::Pure => "changes nothing, so it can run again",
        v1::EffectContract::Keyed => "acts once, also if it runs again with its key",
        v1::EffectContract::Probe => "what it changes shows whether it acted",
        v1::EffectContract::Local => "changes only the journal",
        v1::EffectContract::Opaque => "a person has to look",
        v1::EffectContract::Unspecified => "not known",
    }
}

/// Returns how serious a check of the daemon is.
pub(crate) fn check_mark(level: v1::CheckLevel) -> StateMark {
    match level {
        v1::CheckLevel::Ok => StateMark::new("✓", "ok", "positive"),
        v1::CheckLevel::Warning => StateMark::new("!", "warning", "caution"),
        v1::CheckLevel::Error => StateMark::new("✕", "error", "danger"),
        v1::CheckLevel::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

/// Returns the command that does something in a terminal, with what it does.
pub(crate) fn command(purpose: &str, command: &str) -> Markup {
    html! { p { span.muted { (purpose) ": " } code { (line(command)) } } }
}

/// Returns an id as its end, with the whole of it beside.
pub(crate) fn id_tag(id: &str) -> Markup {
    html! { code title=(id) { (short_id(id)) } }
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a short name of an enumeration as words.
pub(crate) fn spaced(name: &str) -> String {
    if name.is_empty() { "not known".to_owned() } else { name.replace('_', " ") }
}

/// Returns where something came from, as words.
pub(crate) fn surface_word(surface: v1::Surface) -> String {
    spaced(&surface.as_str_name().trim_start_matches("SURFACE_").to_lowercase())
}

/// Returns foreign text on one line.
pub(crate) fn line(text: &str) -> String {
    clean_line(text, LINE_CHARS_MAX)
}

/// Returns the same, with words for an empty one.
pub(crate) fn line_or(text: &str, empty: &str) -> String {
    if text.trim().is_empty() { empty.to_owned() } else { line(text) }
}

/// Returns the key of one thing that waits.
pub(crate) fn item_key(item: &v1::AttentionItem) -> String {
    let subject =
        [&item.run_id, &item.schedule_id, &item.incident_id, &item.candidate_id].map(String::as_str).concat();
    format!("{}.{subject}.{}.{}", item.kind, item.approval_id, item.effect_id)
}

/// Returns the time now, in seconds since 1970.
pub(crate) fn now_seconds() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// Returns a time as it is.
pub(crate) fn exact_time(time: Option<&prost_types::Timestamp>) -> Markup {
    let exact = time.and_then(|time| jiff::Timestamp::from_second(time.seconds).ok());
    html! { @if let Some(exact) = exact { time datetime=(exact) { (exact) } } @else { span.muted { "not known" } } }
}

/// Returns a time as its distance from now, with the exact one beside it.
pub(crate) fn time_tag(time: Option<&prost_types::Timestamp>, now: i64) -> Markup {
    let exact = time.and_then(|time| jiff::Timestamp::from_second(time.seconds).ok());
    let Some(exact) = exact else { return html! { span.muted { "not known" } } };
    let distance = exact.as_second().abs_diff(now);
    let span = coarse_span(distance);
    let text = if exact.as_second() > now { format!("in {span}") } else { format!("{span} ago") };
    let exact = exact.to_string();
    html! { time datetime=(exact) title=(exact) { (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_distances_with_the_exact_time_beside() {
        let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let shown = |seconds| time_tag(at(seconds).as_ref(), 1_000_000).into_string();
        assert!(shown(999_940).contains(">1m ago<") && shown(1_000_090).contains(">in 1m<"));
        assert!(shown(999_940).contains("datetime=\"1970-01-12T13:45:40Z\""), "{}", shown(999_940));
        assert!(time_tag(None, 0).into_string().contains("not known"));
    }

    #[test]
    fn a_state_is_a_sign_a_word_and_a_colour() {
        let mut run = v1::Run { phase: v1::RunPhase::Waiting.into(), ..Default::default() };
        run.waiting_for = v1::WaitReason::Approval.into();
        assert_eq!(run_mark(&run), StateMark::new("○", "waits: approval", "caution"));
        run.phase = v1::RunPhase::Finished.into();
        run.state = v1::RunState::Failed.into();
        assert_eq!(run_mark(&run).word, "failed");
        for risk in [v1::RiskLevel::Low, v1::RiskLevel::Critical] {
            assert!(risk_mark(risk).word.ends_with("risk"));
        }
    }
}
