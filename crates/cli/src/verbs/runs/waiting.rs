//! What a run that waits asks.

use palyra_client::Client;
use palyra_wire::v1;

use crate::context::Context;
use crate::failure::Failure;
use crate::verbs::approve::scope_of;
use crate::verbs::open_questions::open_question;
use palyra_run_view::{PreviewDetail, question};
use palyra_screen_text::clean_text;
use palyra_terminal::Output;

/// Approvals of one run that are shown; the rest is listed by `palyra approve list --run`.
const APPROVALS_SHOWN_MAX: u32 = 3;

/// Shows what a waiting run asks: its open approvals, or the question that its model asked.
pub(super) async fn show_question(context: &Context, client: &Client, run: &v1::Run) -> Result<(), Failure> {
    match run.waiting_for() {
        v1::WaitReason::Approval => show_approvals(context, client, run).await,
        v1::WaitReason::Question => {
            if let Some(asked) = open_question(client, run).await? {
                context.output.line(&format!("asks     {asked}"))?;
            }
            show_command(
                &context.output,
                "answer",
                &format!("runs answer {} \"...\"", context.output.id(&run.run_id)),
            )
        }
        v1::WaitReason::LoopCheck => {
            let told = "for words of yours, since it repeats itself";
            context.output.line(&format!("waits    {told}"))?;
            show_command(
                &context.output,
                "go on",
                &format!("runs answer {} \"...\"", context.output.id(&run.run_id)),
            )
        }
        v1::WaitReason::UnknownKind => {
            let told = "for a newer version, which knows every entry of its tape";
            context.output.line(&format!("waits    {told}"))?;
            show_command(&context.output, "end", &format!("runs cancel {}", context.output.id(&run.run_id)))
        }
        v1::WaitReason::ClientTool => {
            let told =
                "for the program that started it, which performs a function of its own; no person is asked";
            context.output.line(&format!("waits    {told}"))?;
            Ok(())
        }
        v1::WaitReason::Budget => {
            let told = context.output.completed("for a budget; `palyra budget` shows limits and spending");
            context.output.line(&format!("waits    {told}"))?;
            show_command(
                &context.output,
                "go on",
                &format!("budget go-on {}", context.output.id(&run.run_id)),
            )
        }
        // The effects below name the command.
        v1::WaitReason::OutcomeUnknown | v1::WaitReason::Unspecified => Ok(()),
    }
}

async fn show_approvals(context: &Context, client: &Client, run: &v1::Run) -> Result<(), Failure> {
    let request = v1::ListApprovalsRequest {
        run_id: run.run_id.clone(),
        page_size: APPROVALS_SHOWN_MAX,
        ..Default::default()
    };
    let scope = scope_of(client, &run.run_id).await;
    for approval in client.call(request).await?.approvals {
        let prompt = approval.prompt.clone().unwrap_or_default();
        let (id, risk) = (&approval.approval_id, approval.risk_name());
        let lines = question(id, &prompt, &risk, PreviewDetail::Unattended, &scope);
        for (at, line) in lines.iter().flat_map(|line| line.text.split('\n')).enumerate() {
            let begin = if at == 0 { "asks     " } else { "         " };
            context.output.line(format!("{begin}{}", clean_text(line)).trim_end())?;
        }
        show_command(
            &context.output,
            "answer",
            &format!("approve yes {}", context.output.id(&approval.approval_id)),
        )?;
    }
    Ok(())
}

/// Shows a command to type, with the options that lead it to the same daemon.
fn show_command(output: &Output, name: &str, words: &str) -> Result<(), Failure> {
    Ok(output.line(&format!("{name:<9}{}", output.command(words)))?)
}
