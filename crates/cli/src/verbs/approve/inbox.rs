//! The inbox: what waits, shown and answered one by one.

use palyra_client::Client;
use palyra_wire::v1;

use super::answer::{folder, scope_of, send};
use super::no;
use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::open_questions::nothing_to_approve;
use palyra_run_view::{AnswerForm, OfferScope, TypedAnswer};
use palyra_run_view::{PreviewDetail, outcome, question, repeated, time_left};
use palyra_screen_text::{clean_line, count, short_id};
use palyra_terminal::{NoteKind, OutputError, PromptReader, ReadingMode};

/// Characters of edited arguments that are shown, at most.
const EDITED_CHARS_MAX: usize = 20_000;
/// Shown and answered in one sitting, at most; what comes later is for the next.
const SITTING_MAX: u32 = 500;

/// Shows what waits, oldest first, and takes an answer for each.
pub(super) async fn answer_all(context: &Context, client: &Client) -> Result<Exit, Failure> {
    let request = v1::ListApprovalsRequest { page_size: SITTING_MAX, ..Default::default() };
    let mut waiting = client.call(request).await?.approvals;
    waiting.reverse();
    if waiting.is_empty() {
        context.output.note(NoteKind::Info, &nothing_to_approve(client).await?);
        return Ok(Exit::Done);
    }
    let Some(mut reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
        return Ok(Exit::Withheld);
    };
    context.interrupts.begin("");
    let all = waiting.len();
    let mut skipped = 0_u64;
    for (at, approval) in waiting.iter().enumerate() {
        let left = time_left(approval.expires);
        let left = if left.is_empty() { left } else { format!(", {left}") };
        let run = short_id(&approval.run_id);
        context.output.note(NoteKind::Doubt, &format!("{} of {all}{left}, run {run}", at + 1));
        let scope = scope_of(client, &approval.run_id).await;
        show(context, approval, PreviewDetail::Prompt, &scope);
        match answer_one(context, client, &mut reader, approval, &scope).await? {
            InboxAnswer::Yes => {}
            InboxAnswer::Skipped => skipped += 1,
            InboxAnswer::Quit => return Ok(Exit::Withheld),
        }
    }
    if skipped > 0 {
        context.output.note(NoteKind::Info, &format!("{} left unanswered", count(skipped, "approval")));
        return Ok(Exit::Withheld);
    }
    Ok(Exit::Done)
}

/// Shows a call of high risk at a terminal and asks for the word of its prompt; where no person is asked, or the risk is
/// not high, the command itself is the yes. The arguments are those of an edit, empty without one. Returns how the command
/// ends where the answer is not a yes.
pub(super) async fn end_of_risky(
    context: &Context,
    client: &Client,
    approval: &v1::Approval,
    edited_arguments: &str,
    format: OutputFormat,
) -> Result<Option<Exit>, Failure> {
    let prompt = approval.prompt.clone().unwrap_or_default();
    let form = AnswerForm::of(&approval.approval_id, &approval.risk_name(), &prompt, &OfferScope::default());
    let mut form = form.without_offer();
    let is_open = approval.state() == v1::ApprovalState::Pending;
    let Some(word) = form.word().filter(|_| is_open).map(str::to_owned) else { return Ok(None) };
    let Some(mut reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
        return Ok(None);
    };
    context.interrupts.begin("");
    let scope = scope_of(client, &approval.run_id).await;
    show(context, approval, PreviewDetail::Full, &scope);
    if !edited_arguments.is_empty() {
        let edited = clean_line(edited_arguments, EDITED_CHARS_MAX);
        context.output.note(NoteKind::Doubt, &format!("it runs with other arguments: {edited}"));
    }
    let typed = asked(context, &mut reader, &mut form, approval, &scope).await?;
    if let Some(TypedAnswer::Decide { decision, note, .. }) = typed {
        return match decision {
            v1::ApprovalDecision::Approve => Ok(None),
            v1::ApprovalDecision::Deny | v1::ApprovalDecision::Unspecified => {
                send(context, client, no(approval.approval_id.clone(), note), format).await.map(Some)
            }
        };
    }
    let id = context.output.id(&approval.approval_id);
    let notice = format!(
        "not approved; the call still waits: `palyra approve yes {id}` asks for {word} again, `palyra approve no {id}` denies it"
    );
    context.output.note(NoteKind::Info, &notice);
    Ok(Some(Exit::Withheld))
}

/// Asks until a line decides or leaves the question for later; returns nothing where the input ends.
async fn asked(
    context: &Context,
    reader: &mut PromptReader,
    form: &mut AnswerForm,
    approval: &v1::Approval,
    scope: &OfferScope,
) -> Result<Option<TypedAnswer>, Failure> {
    loop {
        let typed = reader.ask(&form.prompt(), ReadingMode::Shown).await.map_err(OutputError::Failed)?;
        let Some(typed) = typed else { return Ok(None) };
        match form.read(&typed) {
            TypedAnswer::More => show(context, approval, PreviewDetail::More, scope),
            TypedAnswer::WordMissing => {
                form.word_missing(&typed).iter().for_each(|line| context.output.note(NoteKind::Doubt, line));
            }
            TypedAnswer::Unclear => {
                form.unclear(&typed).iter().for_each(|line| context.output.note(NoteKind::Info, line));
            }
            answer @ (TypedAnswer::Skip | TypedAnswer::Decide { .. }) => return Ok(Some(answer)),
        }
    }
}

/// How one ended.
enum InboxAnswer {
    Yes,
    Skipped,
    Quit,
}

async fn answer_one(
    context: &Context,
    client: &Client,
    reader: &mut PromptReader,
    approval: &v1::Approval,
    scope: &OfferScope,
) -> Result<InboxAnswer, Failure> {
    let prompt = approval.prompt.clone().unwrap_or_default();
    let mut form = AnswerForm::of(&approval.approval_id, &approval.risk_name(), &prompt, scope);
    let typed = asked(context, reader, &mut form, approval, scope).await?;
    let Some(typed) = typed else { return Ok(InboxAnswer::Quit) };
    let TypedAnswer::Decide { decision, note, remember } = typed else { return Ok(InboxAnswer::Skipped) };
    let request = v1::ResolveApprovalRequest {
        approval_id: approval.approval_id.clone(),
        decision: decision.into(),
        note,
        remember,
        run_id: approval.run_id.clone(),
        ..Default::default()
    };
    // It may have been answered elsewhere while this question was open.
    let before = match approval.approval_id.parse() {
        Ok(id) => client.get_approval(id).await?,
        Err(_) => approval.clone(),
    };
    let answer = client.call(request).await?;
    let (mark, message) = match repeated(&before, &answer) {
        Some(message) => (NoteKind::Info, message),
        None => outcome(&answer, &folder(client, &approval.run_id).await, |id| context.output.id(id)),
    };
    context.output.note(mark, &message);
    Ok(InboxAnswer::Yes)
}

fn show(context: &Context, approval: &v1::Approval, detail: PreviewDetail, scope: &OfferScope) {
    let prompt = approval.prompt.clone().unwrap_or_default();
    let lines = question(&approval.approval_id, &prompt, &approval.risk_name(), detail, scope);
    context.output.question(lines.iter().map(|line| (line.text.as_str(), line.look)));
}
