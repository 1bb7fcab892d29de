//! `palyra admin complete`: what there is now, for a shell that completes a command line.
//!
//! Owns what the candidates of each kind are. Invariant: completing
//! starts no daemon, and says nothing where there is none.

use clap::Command;
use clap_complete::Shell;
use palyra_client::{AskProviders, Client};
use palyra_types::ErrorCode;
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::api::callable;
use palyra_explain::{CandidateKind, bash_lines, completed_words, fish_lines, topic_names, zsh_script};
use palyra_run_view::{session_title, summary};
use palyra_screen_text::clean_line;
use palyra_screen_text::short_id;

/// Candidates of one kind, at most: the newest.
const CANDIDATES_MAX: u32 = 100;
const ABOUT_CHARS_MAX: usize = 60;

/// Print what there is of one kind: a name, a tab, what it is about
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra admin complete runs")]
pub(crate) struct CompleteArgs {
    /// What to print
    kind: CandidateKind,
}

/// Runs the verb.
pub(super) async fn run(context: &Context, args: &CompleteArgs) -> Result<Exit, Failure> {
    if let Some(mut known) = known_without_daemon(args.kind) {
        return Ok(known
            .try_for_each(|(name, about)| context.output.exact_line(&format!("{name}\t{about}")))
            .map(|()| Exit::Done)?);
    }
    // A shell that completes has no place for errors.
    let Ok(client) = context.connect_running().await else { return Ok(Exit::Done) };
    for (name, about) in candidates(&client, args.kind).await.unwrap_or_default() {
        let about = clean_line(&about, ABOUT_CHARS_MAX);
        context.output.exact_line(&format!("{name}\t{about}"))?;
    }
    Ok(Exit::Done)
}

async fn candidates(client: &Client, kind: CandidateKind) -> Result<Vec<(String, String)>, Failure> {
    let page_size = CANDIDATES_MAX;
    Ok(match kind {
        CandidateKind::Runs => {
            let request = v1::ListRunsRequest { page_size, ..Default::default() };
            let runs = client.call(request).await?.runs;
            runs.into_iter().map(|run| (short_id(&run.run_id), run.input_preview)).collect()
        }
        CandidateKind::Sessions => {
            let request = v1::ListSessionsRequest { page_size, ..Default::default() };
            let sessions = client.call(request).await?.sessions;
            sessions.iter().map(|one| (short_id(&one.session_id), session_title(one))).collect()
        }
        CandidateKind::Approvals => {
            let request = v1::ListApprovalsRequest { page_size, ..Default::default() };
            let approvals = client.call(request).await?.approvals;
            let about = |approval: &v1::Approval| approval.prompt.as_ref().map(summary).unwrap_or_default();
            approvals.iter().map(|one| (short_id(&one.approval_id), about(one))).collect()
        }
        CandidateKind::Models => {
            let models = client.list_models(AskProviders::No).await?.models;
            let named = |name: String| if name.contains('/') { name } else { format!("{name}/") };
            models.into_iter().map(|model| (named(model.model), String::new())).collect()
        }
        CandidateKind::Topics | CandidateKind::Operations => Vec::new(),
    })
}

/// Returns what this program knows itself; no daemon is asked for that.
fn known_without_daemon(kind: CandidateKind) -> Option<Box<dyn Iterator<Item = (String, String)>>> {
    match kind {
        CandidateKind::Topics => Some(Box::new(topics())),
        CandidateKind::Operations => Some(Box::new(
            callable().map(|operation| (operation.name.to_owned(), operation.summary.to_owned())),
        )),
        CandidateKind::Runs | CandidateKind::Sessions | CandidateKind::Approvals | CandidateKind::Models => {
            None
        }
    }
}

/// Returns what can be explained.
fn topics() -> impl Iterator<Item = (String, String)> {
    let codes = ErrorCode::ALL.iter().map(|code| (code.to_string(), code.slug().to_owned()));
    topic_names().chain(codes)
}

/// Returns a shell's completions with ids and models completed from the daemon.
pub(super) fn with_known(shell: Shell, definition: &Command, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{}", bash_lines(&completed_words(definition, ""))),
        Shell::Fish => format!("{script}{}", fish_lines(&completed_words(definition, ""))),
        Shell::Zsh => zsh_script(script),
        _ => script.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use palyra_explain::CompletedWord;

    use super::*;

    #[test]
    fn every_argument_that_names_a_run_a_session_an_approval_or_a_model_is_completed() {
        let all = completed_words(&crate::command_line::definition(), "");
        for (verb, option, by) in [
            ("runs show", None, CandidateKind::Runs),
            ("runs effects resolve", None, CandidateKind::Runs),
            ("sessions branch", None, CandidateKind::Runs),
            ("journal export", Some("--run"), CandidateKind::Runs),
            ("sessions rename", None, CandidateKind::Sessions),
            ("run", Some("--session"), CandidateKind::Sessions),
            ("approve yes", None, CandidateKind::Approvals),
            ("run", Some("--model"), CandidateKind::Models),
            ("runs wait", None, CandidateKind::Runs),
            ("explain", None, CandidateKind::Topics),
            ("api", None, CandidateKind::Operations),
        ] {
            let wanted = CompletedWord { verb: verb.to_owned(), option: option.map(str::to_owned), by };
            assert!(all.contains(&wanted), "{wanted:?}: {all:#?}");
        }
    }
}
