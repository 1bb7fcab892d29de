//! One approval: exactly what would run, who asks and why, and the two answers.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{clean_text, short_id};
use palyra_types::access::AccessScope;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;
use serde_json::Value;

use super::ScreenSpec;
use crate::answer_delay::{SHOWN_FIELD, shown_at};
use crate::markdown::web_host;
use crate::screen_call::ScreenCall;
use crate::tape_row::difference;
use crate::wording::{approval_mark, line, line_or, now_seconds, risk_mark, spaced, surface_word, time_tag};

/// Characters of a note, as the operation takes them.
const NOTE_CHARS_MAX: usize = 2_000;

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/approvals/{approval_id}",
    title: "Approval",
    navigation: None,
    operation: "GetApproval",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: None,
};

/// The facts of a card beside the approval.
#[derive(Default)]
struct CardContext {
    /// The start of the run, where the person may see it.
    started: Option<v1::RunStarted>,
    may_decide: bool,
    form: AnswerForm,
    /// Whether a yes came before the card could be read.
    is_early: bool,
    now: i64,
}

/// Where the two answers are sent, and with what.
#[derive(Default)]
struct AnswerForm {
    path: String,
    token: String,
    /// When the page is sent.
    shown: String,
    /// The page to show after an answer, when it is not this screen.
    back: String,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let approval_id = call.param("approval_id");
    let found = call.call(v1::GetApprovalRequest { approval_id: approval_id.clone() }).await?;
    let approval = found.approval.unwrap_or_default();
    let context = context_of(&call, &approval, String::new()).await;
    Ok(view(&approval, &context))
}

/// Returns the card of an approval below the run that asks for it.
pub(super) async fn card_in_conversation(call: &ScreenCall, approval: &v1::Approval) -> Markup {
    let back = format!("/console/sessions/{}", call.param("session_id"));
    let context = context_of(call, approval, back).await;
    card(approval, &context)
}

async fn context_of(call: &ScreenCall, approval: &v1::Approval, back: String) -> CardContext {
    let first = v1::ReadTapeRequest { run_id: approval.run_id.clone(), after_tape_seq: 0, limit: 1 };
    // An approver who is not the run's person sees the approval, and not the run.
    let first = call.call(first).await.ok().and_then(|page| page.entries.into_iter().next());
    let started = first.and_then(|entry| match entry.event {
        Some(Event::RunStarted(started)) => Some(started),
        _ => None,
    });
    let path = format!("/console/approvals/{}/decide", approval.approval_id);
    let form =
        AnswerForm { token: call.form_token(&path), shown: shown_at(call.services.clock.boot()), path, back };
    CardContext {
        started,
        may_decide: call.has_scope(AccessScope::Approve),
        form,
        is_early: !call.query("early").is_empty(),
        now: now_seconds(),
    }
}

fn view(approval: &v1::Approval, context: &CardContext) -> Markup {
    let is_pending = approval.state() == v1::ApprovalState::Pending;
    html! {
        @if !is_pending { (decided(approval, context.now)) }
        (card(approval, context))
        p { a href={ "/console/runs/" (approval.run_id) } { "See the run" } " - " a href="/console" { "What else waits" } }
    }
}

fn card(approval: &v1::Approval, context: &CardContext) -> Markup {
    let prompt = approval.prompt.clone().unwrap_or_default();
    let is_pending = approval.state() == v1::ApprovalState::Pending;
    let heading = format!("what-{}", approval.approval_id);
    html! {
        section.card.asks aria-labelledby=(heading) data-approval=[is_pending.then_some(&approval.approval_id)] {
            h2 id=(heading) tabindex="-1" { (line_or(&prompt.summary, "A call of a tool")) }
            p { (risk_mark(approval.risk()).markup()) " - " (approval_mark(approval.state()).markup()) }
            @if !prompt.asked_again.is_empty() { p.notice { "Asked again: " (clean_text(&prompt.asked_again)) } }
            (facts(approval, &prompt, context))
            (exactly(&prompt))
            @if is_pending {
                @if context.may_decide { (answers(approval, context)) }
                @else { p.notice { "Your role cannot decide approvals. A person with the role approver or owner can." } }
            }
        }
    }
}

/// Returns who decided, and when: the card of an approval that needs no answer any more.
fn decided(approval: &v1::Approval, now: i64) -> Markup {
    html! {
        div.notice role="status" {
            p {
                (approval_mark(approval.state()).markup())
                @if !approval.decided_by_name.is_empty() { " by " strong { (line(&approval.decided_by_name)) } }
                @if approval.decided.is_some() { ", " (time_tag(approval.decided.as_ref(), now)) }
                "."
            }
            @if !approval.note.is_empty() { p { (clean_text(&approval.note)) } }
        }
    }
}

fn facts(approval: &v1::Approval, prompt: &v1::ApprovalPrompt, context: &CardContext) -> Markup {
    let started = context.started.as_ref();
    let folder = started.map(|started| started.workspace_root.as_str()).unwrap_or_default();
    let hosts = hosts_in(&prompt.arguments);
    html! {
        dl.facts {
            dt { "Tool" } dd { code { (line(&prompt.tool)) } }
            @if !hosts.is_empty() { dt { "Host" } dd { code { (line(&hosts.join(", "))) } } }
            dt { "Folder" } dd { code { (line_or(folder, "not visible to you")) } }
            dt { "Who asks" } dd {
                "run " code { (short_id(&approval.run_id)) }
                @if let Some(started) = started { " of " (surface_word(started.surface())) }
            }
            @if let Some(started) = started { dt { "It was asked" } dd { (line_or(&started.input, "erased")) } }
            dt { "Why you are asked" } dd { (line_or(&prompt.reason, "no reason given")) }
            @if !prompt.unbound.is_empty() { dt { "Not bound" } dd { (line(&prompt.unbound)) } }
            @if approval.needed > 1 {
                dt { "People needed" } dd { (approval.voters.len()) " of " (approval.needed) " said yes" }
            }
            @if approval.separation() == v1::ApprovalSeparation::AnotherPerson {
                dt { "Who may decide" } dd { (spaced(approval.separation().short_name())) }
            }
            dt { "Asked" } dd { (time_tag(approval.created.as_ref(), context.now)) }
            @if approval.state() == v1::ApprovalState::Pending {
                dt { "Time left" } dd {
                    @if approval.expires.is_some() { "ends " (time_tag(approval.expires.as_ref(), context.now)) }
                    @else { "it stays until someone decides" }
                }
            }
        }
    }
}

/// Returns exactly what would run: the program with its arguments, the difference, and the arguments as recorded.
fn exactly(prompt: &v1::ApprovalPrompt) -> Markup {
    let arguments: Value = serde_json::from_str(&prompt.arguments).unwrap_or_default();
    let words = arguments["argv"].as_array().map(|words| words.iter().map(word).collect::<Vec<_>>());
    html! {
        @if let Some(words) = words {
            h3 { "Program and arguments" }
            pre { @for (at, word) in words.iter().enumerate() { (at) ": " (word) "\n" } }
        }
        @if !prompt.preview.is_empty() { h3 { "What it would change" } (difference(&prompt.preview)) }
        h3 { "Arguments, exactly" }
        pre { (clean_text(&prompt.arguments)) }
    }
}

/// Returns one word of a command: quoted, so that blanks and line breaks at its ends are seen.
fn word(word: &Value) -> String {
    palyra_screen_text::escape_json(&word.to_string())
}

/// Returns the hosts of addresses that the arguments name.
fn hosts_in(arguments: &str) -> Vec<String> {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let members = arguments.as_object().into_iter().flatten();
    members.filter_map(|(_, value)| web_host(value.as_str()?).map(str::to_owned)).collect()
}

fn answers(approval: &v1::Approval, context: &CardContext) -> Markup {
    let note = format!("note-{}", approval.approval_id);
    let no = format!("no-{}", approval.approval_id);
    html! {
        @if context.is_early {
            p.notice role="alert" { "Nothing was decided: the answer came before the card could be read. Read it, and answer again." }
        }
        form method="post" action=(context.form.path) {
            input type="hidden" name="token" value=(context.form.token);
            input type="hidden" name="run_id" value=(approval.run_id);
            input type="hidden" name=(SHOWN_FIELD) value=(context.form.shown);
            @if !context.form.back.is_empty() { input type="hidden" name="back" value=(context.form.back); }
            label for=(note) { "Note" }
            textarea id=(note) name="note" rows="2" maxlength=(NOTE_CHARS_MAX) aria-describedby=(no) {}
            p.muted id=(no) { "Deny: the call does not run, and the model reads your note. The run goes on." }
            div.actions {
                button.primary type="submit" name="decision" value="approve" data-after-seen { "Approve this call" }
                button.danger type="submit" name="decision" value="deny" { "Deny" }
            }
        }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let over = v1::Approval { state: v1::ApprovalState::Denied.into(), ..pending_with(text) };
    html! { (pending_fixture(text)) (view(&over, &CardContext::default())) }
}

/// Returns a card with one text in every place where foreign text is.
#[cfg(test)]
pub(super) fn pending_fixture(text: &str) -> Markup {
    let started =
        v1::RunStarted { input: text.to_owned(), workspace_root: text.to_owned(), ..Default::default() };
    view(&pending_with(text), &CardContext { started: Some(started), may_decide: true, ..Default::default() })
}

#[cfg(test)]
fn pending_with(text: &str) -> v1::Approval {
    let arguments = serde_json::json!({ "argv": [text, "x"], "url": format!("https://{text}") }).to_string();
    let prompt = v1::ApprovalPrompt {
        asks_each_time: false,
        tool: text.to_owned(),
        arguments,
        summary: text.to_owned(),
        preview: text.to_owned(),
        reason: text.to_owned(),
        unbound: text.to_owned(),
        asked_again: text.to_owned(),
    };
    v1::Approval {
        state: v1::ApprovalState::Pending.into(),
        prompt: Some(prompt),
        note: text.to_owned(),
        decided_by_name: text.to_owned(),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(arguments: &str) -> v1::Approval {
        let prompt = v1::ApprovalPrompt { arguments: arguments.to_owned(), ..Default::default() };
        v1::Approval { state: v1::ApprovalState::Pending.into(), prompt: Some(prompt), ..Default::default() }
    }

    #[test]
    fn a_card_shows_each_word_of_a_program_and_the_host_of_an_address() {
        let shown = view(
            &pending(r#"{"argv":["sh","-c","rm  x "],"url":"https://a.example/x"}"#),
            &CardContext::default(),
        );
        let shown = shown.into_string();
        for part in ["0: &quot;sh&quot;", "2: &quot;rm  x &quot;", "<code>a.example</code>"] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }

    #[test]
    fn a_card_says_when_it_was_sent_and_that_an_early_yes_did_not_count() {
        let context = CardContext {
            may_decide: true,
            form: AnswerForm { shown: "17".to_owned(), ..Default::default() },
            ..Default::default()
        };
        let first = view(&pending("{}"), &context).into_string();
        assert!(
            first.contains("name=\"shown\" value=\"17\"") && !first.contains("Nothing was decided"),
            "{first}"
        );
        let again = view(&pending("{}"), &CardContext { is_early: true, ..context }).into_string();
        assert!(again.contains("Nothing was decided"), "{again}");
    }

    #[test]
    fn only_who_may_decide_gets_the_answers_and_only_while_it_waits() {
        let may = |may_decide| CardContext { may_decide, ..Default::default() };
        let approval = pending("{}");
        assert!(view(&approval, &may(true)).into_string().contains("value=\"approve\""));
        let other = view(&approval, &may(false)).into_string();
        assert!(!other.contains("<form") && other.contains("the role approver or owner"), "{other}");
        let over = v1::Approval {
            state: v1::ApprovalState::Denied.into(),
            decided_by_name: "user:alice".to_owned(),
            ..approval
        };
        let over = view(&over, &may(true)).into_string();
        assert!(!over.contains("<form") && over.contains("by <strong>user:alice</strong>"), "{over}");
    }
}
