//! The inbox: what waits, shown and answered one by one.

use palyra_client::Client;
use palyra_wire::v1;

use super::answer::folder;
use crate::answer::{Answer, AnswerForm, GrantSpan};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{Detail, count, outcome, question, time_left};
use crate::verbs::grant_spans::span_of_session;
use palyra_terminal::{Mark, OutputError, PromptReader, Reading};

/// Shown and answered in one sitting, at most; what comes later is for the next.
const SITTING_MAX: u32 = 500;

/// Shows what waits, oldest first, and takes an answer for each.
pub(super) async fn answer_all(context: &Context, client: &Client) -> Result<Exit, Failure> {
    let request = v1::ListApprovalsRequest { page_size: SITTING_MAX, ..Default::default() };
    let mut waiting = client.list_approvals(request).await?.approvals;
    waiting.reverse();
    if waiting.is_empty() {
        context.output.note(Mark::Good, "nothing waits for an approval");
        return Ok(Exit::Done);
    }
    let Some(mut reader) = PromptReader::of_process(&context.output, &context.interrupts) else {
        return Ok(Exit::Withheld);
    };
    context.interrupts.begin("");
    let (all, mut skipped) = (waiting.len(), 0_u64);
    for (at, approval) in waiting.iter().enumerate() {
        let left = time_left(approval.expires);
        let left = if left.is_empty() { left } else { format!(", {left}") };
        context.output.note(Mark::Doubt, &format!("{} of {all}{left}, run {}", at + 1, approval.run_id));
        let span = span_of_session(client, &approval.session_id).await?;
        show(context, approval, Detail::at_prompt(span));
        match answer_one(context, client, &mut reader, (approval, span)).await? {
            Answered::Yes => {}
            Answered::Skipped => skipped += 1,
            Answered::Left => return Ok(Exit::Withheld),
        }
    }
    if skipped > 0 {
        context.output.note(Mark::Info, &format!("{} left unanswered", count(skipped, "approval")));
        return Ok(Exit::Withheld);
    }
    Ok(Exit::Done)
}

/// What became of one.
enum Answered {
    Yes,
    Skipped,
    Left,
}

async fn answer_one(
    context: &Context,
    client: &Client,
    reader: &mut PromptReader,
    (approval, span): (&v1::Approval, GrantSpan),
) -> Result<Answered, Failure> {
    let form =
        AnswerForm::of(&approval.approval_id, &approval.risk, &approval.prompt.clone().unwrap_or_default());
    let form = form.spanning(span);
    loop {
        let typed = reader.ask(&form.prompt(), Reading::Shown).await.map_err(OutputError::Failed)?;
        let Some(typed) = typed else { return Ok(Answered::Left) };
        match form.read(&typed) {
            Answer::More => show(context, approval, Detail::Full),
            Answer::Skip => return Ok(Answered::Skipped),
            Answer::WordMissing => context.output.note(Mark::Doubt, &form.help()),
            Answer::Unclear => {
                form.unclear(&typed).iter().for_each(|line| context.output.note(Mark::Info, line));
            }
            Answer::Decide { decision, note, remember } => {
                let request = v1::ResolveApprovalRequest {
                    approval_id: approval.approval_id.clone(),
                    decision: decision.into(),
                    note,
                    remember,
                    run_id: approval.run_id.clone(),
                    ..Default::default()
                };
                let answer = client.resolve_approval(request).await?;
                let (mark, told) = outcome(&answer, &folder(client, &approval.run_id).await);
                context.output.note(mark, &told);
                return Ok(Answered::Yes);
            }
        }
    }
}

fn show(context: &Context, approval: &v1::Approval, detail: Detail) {
    let prompt = approval.prompt.clone().unwrap_or_default();
    let lines = question(&prompt, &approval.risk, detail);
    context.output.question(lines.iter().map(|line| (line.text.as_str(), line.look.color())));
}
