//! One thing that was learned: its words, where they come from, what they change, and the forms that decide.

use maud::{Markup, html};
use palyra_screen_text::clean_text;
use palyra_wire::v1;

use crate::paths::LEARNING_PATH;
use crate::screen_call::ScreenCall;
use crate::wording::{StateMark, id_tag, line, line_or, surface_word, time_tag};

/// Bytes of an edit, at most, as of an item of memory.
const TEXT_MAX: usize = 2_000;

/// Something that was learned, with the token of its form.
#[derive(Default)]
pub(super) struct ShownCandidate {
    details: v1::GetLearningCandidateResponse,
    token: String,
}

impl ShownCandidate {
    /// Returns one with its evidence.
    pub(super) fn read(call: &ScreenCall, details: v1::GetLearningCandidateResponse) -> Self {
        let mut shown = Self { details, token: String::new() };
        shown.token = call.form_token(&review_path(shown.id()));
        shown
    }

    /// Returns one of a list, without its evidence.
    pub(super) fn listed(call: &ScreenCall, candidate: v1::LearningCandidate) -> Self {
        Self::read(
            call,
            v1::GetLearningCandidateResponse { candidate: Some(candidate), ..Default::default() },
        )
    }

    #[cfg(test)]
    pub(super) fn example(text: &str, state: v1::LearningState) -> Self {
        let number = i32::from(state);
        let candidate = v1::LearningCandidate {
            candidate_id: format!("01ARZ3NDEKTSV4RRFFQ69G5FA{number}"),
            kind: v1::LearningKind::Preference.into(),
            state: state.into(),
            text: text.to_owned(),
            confidence_bps: 9_050,
            held_back: v1::LearningHold::Tainted.into(),
            taints: vec![text.to_owned()],
            evidence_count: 1,
            ..Default::default()
        };
        let entry = v1::LearningEvidence {
            run_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
            tape_seq: 3,
            text: text.to_owned(),
            ..Default::default()
        };
        let details = v1::GetLearningCandidateResponse {
            candidate: Some(candidate),
            evidence: vec![entry],
            request_diff: vec![format!("+ {text}")],
        };
        Self { details, token: "token".to_owned() }
    }

    fn candidate(&self) -> v1::LearningCandidate {
        self.details.candidate.clone().unwrap_or_default()
    }

    pub(super) fn id(&self) -> &str {
        self.details.candidate.as_ref().map(|candidate| candidate.candidate_id.as_str()).unwrap_or_default()
    }

    /// Returns when it changed last, in seconds since 1970.
    pub(super) fn updated(&self) -> i64 {
        let updated = self.details.candidate.as_ref().and_then(|candidate| candidate.updated);
        updated.map_or(0, |updated| updated.seconds)
    }
}

fn review_path(candidate_id: &str) -> String {
    format!("{LEARNING_PATH}/{candidate_id}/review")
}

/// Returns a candidate with its evidence, what it changes, and its buttons.
pub(super) fn full_card(shown: &ShownCandidate, now: i64) -> Markup {
    let candidate = shown.candidate();
    html! {
        section.card {
            h3 { (kind_word(candidate.kind())) ", " (percent(&candidate)) " sure" }
            (words(&candidate))
            p { (state_mark(candidate.state()).markup()) @if let Some(why) = hold_words(&candidate) { ": " (why) } }
            (evidence(&shown.details.evidence, now))
            @if !shown.details.request_diff.is_empty() {
                h4 { "In the next request" }
                (request_difference(&shown.details.request_diff))
            }
            @if !candidate.taints.is_empty() { p.caution { "! The run had read: " (line(&candidate.taints.join(", "))) } }
            p.muted {
                "Found by " @if candidate.by_model { "a model, whose citations were checked" } @else { "a rule" }
                ", " (surface_word(candidate.surface())) ", " (time_tag(candidate.created.as_ref(), now)) ". " (id_tag(&candidate.candidate_id))
            }
            (forms(shown, &candidate))
        }
    }
}

/// Returns a candidate that is in use, in short.
pub(super) fn used_row(shown: &ShownCandidate, now: i64) -> Markup {
    let candidate = shown.candidate();
    html! {
        (words(&candidate))
        div.muted {
            (kind_word(candidate.kind())) ", " (state_mark(candidate.state()).markup()) ", "
            (time_tag(candidate.updated.as_ref(), now)) ", from "
            a href={ (LEARNING_PATH) "?show=" (candidate.candidate_id) } { "what it was concluded from" }
        }
        (review_form(shown, &html! { div.actions { (button("undo")) } }))
    }
}

/// Says what became of a candidate, with the way back.
pub(super) fn done_notice(shown: &ShownCandidate) -> Markup {
    let candidate = shown.candidate();
    let what = match (candidate.state(), candidate.kind()) {
        (v1::LearningState::Accepted, v1::LearningKind::Procedure) => {
            "Accepted. Save its draft as SKILL.md, and install it with `palyra tools skills install FOLDER`."
        }
        (v1::LearningState::Accepted, _) => "Accepted. Runs that start from now on use it.",
        (v1::LearningState::Edited, _) => "Accepted in your words. Runs that start from now on use it.",
        (v1::LearningState::Rejected, _) => "Rejected. It is not proposed again.",
        (v1::LearningState::Undone, _) => "Undone. Runs that start from now on do not use it.",
        (_, _) => return html! {},
    };
    html! {
        div.notice role="status" {
            p { strong { (what) } }
            p {
                "It says: " (line_or(candidate.text.lines().next().unwrap_or_default(), "its words were erased")) ". "
                a href={ (LEARNING_PATH) "?show=" (candidate.candidate_id) } { "Show it, or decide otherwise" }
            }
        }
    }
}

fn words(candidate: &v1::LearningCandidate) -> Markup {
    html! {
        @if candidate.text.is_empty() { p.muted { "Its words were erased." } }
        @else if candidate.kind() == v1::LearningKind::Procedure { pre { (clean_text(&candidate.text)) } }
        @else { p { strong { (clean_text(&candidate.text)) } } }
    }
}

fn evidence(entries: &[v1::LearningEvidence], now: i64) -> Markup {
    html! {
        h4 { "Evidence" }
        @if entries.is_empty() { p.muted { "Its entries cannot be read any more." } }
        ul {
            @for entry in entries {
                li {
                    q { (line_or(&entry.text, "erased")) } ", "
                    a href={ "/console/runs/" (entry.run_id) "?at=" (entry.tape_seq) "#seq-" (entry.tape_seq) } { "entry " (entry.tape_seq) " of a run" }
                    ", " (time_tag(entry.time.as_ref(), now))
                }
            }
        }
    }
}

/// Returns the lines that the next request has more or less.
fn request_difference(lines: &[String]) -> Markup {
    let look = |line: &str| if line.starts_with('-') { "removed" } else { "added" };
    html! { pre.diff { @for text in lines { span class=(look(text)) { (clean_text(text)) } "\n" } } }
}

/// Returns the forms for what can be decided in the state of a candidate.
fn forms(shown: &ShownCandidate, candidate: &v1::LearningCandidate) -> Markup {
    let verbs: &[&str] = match candidate.state() {
        v1::LearningState::Proposed | v1::LearningState::PendingReview => &["accept", "reject"],
        v1::LearningState::Applied | v1::LearningState::Accepted | v1::LearningState::Edited => &["undo"],
        v1::LearningState::Rejected | v1::LearningState::Undone => &["accept"],
        v1::LearningState::Superseded | v1::LearningState::Unspecified => &[],
    };
    let can_be_edited = verbs.contains(&"accept") && candidate.kind() != v1::LearningKind::Procedure;
    html! {
        @if !verbs.is_empty() {
            (review_form(shown, &html! { div.actions { @for verb in verbs { (button(verb)) } } }))
        }
        @if can_be_edited { (edit_form(shown, candidate)) }
    }
}

fn edit_form(shown: &ShownCandidate, candidate: &v1::LearningCandidate) -> Markup {
    let field = format!("text-{}", candidate.candidate_id);
    let fields = html! {
        label for=(field) { "In your words" }
        input id=(field) name="text" type="text" maxlength=(TEXT_MAX) required autocomplete="off" value=(clean_text(&candidate.text));
        div.actions { (button("edit")) }
    };
    html! {
        details { summary { "Accept it in other words" } (review_form(shown, &fields)) }
    }
}

fn review_form(shown: &ShownCandidate, fields: &Markup) -> Markup {
    html! {
        form method="post" action=(review_path(shown.id())) {
            input type="hidden" name="token" value=(shown.token);
            (fields)
        }
    }
}

fn button(verb: &str) -> Markup {
    let (text, class) = match verb {
        "accept" => ("Accept", Some("primary")),
        "reject" => ("Reject", Some("danger")),
        "edit" => ("Accept these words", Some("primary")),
        _ => ("Undo", None),
    };
    html! { button type="submit" name="review" value=(verb) class=[class] { (text) } }
}

fn kind_word(kind: v1::LearningKind) -> &'static str {
    match kind {
        v1::LearningKind::Fact => "Fact",
        v1::LearningKind::Preference => "Preference",
        v1::LearningKind::Procedure => "Procedure",
        v1::LearningKind::Unspecified => "Not known",
    }
}

fn state_mark(state: v1::LearningState) -> StateMark {
    match state {
        v1::LearningState::Proposed => StateMark::new("◌", "found", "muted"),
        v1::LearningState::PendingReview => StateMark::new("○", "waits for you", "caution"),
        v1::LearningState::Applied => StateMark::new("✓", "in use, because it was sure enough", "positive"),
        v1::LearningState::Accepted => StateMark::new("✓", "in use, because you accepted it", "positive"),
        v1::LearningState::Edited => StateMark::new("✓", "in use, in your words", "positive"),
        v1::LearningState::Rejected => StateMark::new("✕", "rejected", "muted"),
        v1::LearningState::Superseded => StateMark::new("■", "superseded by another one", "muted"),
        v1::LearningState::Undone => StateMark::new("↶", "undone", "muted"),
        v1::LearningState::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

/// Returns why a candidate waits, where it does.
fn hold_words(candidate: &v1::LearningCandidate) -> Option<&'static str> {
    let waits = matches!(candidate.state(), v1::LearningState::Proposed | v1::LearningState::PendingReview);
    let why = match candidate.held_back() {
        v1::LearningHold::Unsure => "it is not sure enough to be used by itself",
        v1::LearningHold::Tainted => "the run had read what others wrote",
        v1::LearningHold::Sensitive => "it may be a secret",
        v1::LearningHold::ByKind => "a procedure is never used without you",
        v1::LearningHold::Unspecified => return None,
    };
    waits.then_some(why)
}

fn percent(candidate: &v1::LearningCandidate) -> String {
    format!("{} %", candidate.confidence_bps / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_shows_its_evidence_and_what_it_changes() {
        let shown = full_card(&ShownCandidate::example("short answers", v1::LearningState::PendingReview), 0);
        let shown = shown.into_string();
        for part in [
            "Preference, 90 % sure",
            "the run had read what others wrote",
            "/console/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV?at=3#seq-3",
            "class=\"added\">+ short answers",
            "The run had read: short answers",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn each_state_has_the_buttons_that_the_operation_takes() {
        let buttons = |state| {
            let shown = full_card(&ShownCandidate::example("a", state), 0).into_string();
            ["accept", "reject", "edit", "undo"].map(|verb| shown.contains(&format!("value=\"{verb}\"")))
        };
        for state in [v1::LearningState::Proposed, v1::LearningState::PendingReview] {
            assert_eq!(buttons(state), [true, true, true, false], "{state:?}");
        }
        for state in [v1::LearningState::Applied, v1::LearningState::Accepted, v1::LearningState::Edited] {
            assert_eq!(buttons(state), [false, false, false, true], "{state:?}");
        }
        for state in [v1::LearningState::Rejected, v1::LearningState::Undone] {
            assert_eq!(buttons(state), [true, false, true, false], "{state:?}");
        }
        assert_eq!(buttons(v1::LearningState::Superseded), [false; 4]);
    }

    #[test]
    fn a_draft_of_a_skill_is_shown_as_it_is_and_is_not_edited_here() {
        let mut shown = ShownCandidate::example("---\nname: upload", v1::LearningState::PendingReview);
        let candidate = shown.details.candidate.as_mut().unwrap();
        candidate.kind = v1::LearningKind::Procedure.into();
        let html = full_card(&shown, 0).into_string();
        assert!(html.contains("<pre>---\nname: upload</pre>") && !html.contains("value=\"edit\""), "{html}");
    }

    #[test]
    fn a_decision_is_named_only_where_one_was_made() {
        let said = |state| done_notice(&ShownCandidate::example("a", state)).into_string();
        assert!(said(v1::LearningState::Rejected).contains("not proposed again"));
        assert!(said(v1::LearningState::Undone).contains("do not use it"));
        assert!(said(v1::LearningState::PendingReview).is_empty());
    }
}
