//! `palyra memory learning`: what was learned from your conversations.

use clap::Subcommand;
use palyra_client::Client;
use palyra_run_view::{learning_lines, review_done};
use palyra_screen_text::clean_line;
use palyra_terminal::{NoteKind, Output};
use palyra_wire::json::to_json;
use palyra_wire::v1;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::pages::{ItemSelection, ListedItems, read_list};

/// Candidates that an id is looked up among, at most.
const CANDIDATES_MAX: u32 = 2_000;

/// See and review what was learned.
#[derive(Debug, Subcommand)]
pub(crate) enum LearningVerb {
    /// List what was learned, newest first
    #[command(after_help = "Example:\n  palyra memory learning list --pending")]
    List(ListArgs),
    /// The others
    #[command(flatten)]
    Review(ReviewVerb),
}

/// Looking at one and deciding about it.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewVerb {
    /// Show one with its evidence and what it changes in the next request
    #[command(after_help = "Example:\n  palyra memory learning show 7XQ2")]
    Show(NamedCandidate),
    /// Use one
    #[command(
        after_help = "Examples:\n  palyra memory learning accept 7XQ2\n  palyra memory learning accept 7XQ2 --text \"I prefer short answers\""
    )]
    Accept {
        #[command(flatten)]
        named: NamedCandidate,
        /// In these words
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
    },
    /// Refuse one; it is not proposed again
    #[command(after_help = "Example:\n  palyra memory learning reject 7XQ2")]
    Reject(NamedCandidate),
    /// Take one back that is in use
    #[command(after_help = "Example:\n  palyra memory learning undo 7XQ2")]
    Undo(NamedCandidate),
}

/// One candidate.
#[derive(Debug, clap::Args)]
pub(crate) struct NamedCandidate {
    /// Its id, or a part of it
    id: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Which candidates are listed, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only what waits for your review
    #[arg(long)]
    pending: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// One line of JSON each
    #[arg(long)]
    pub(super) json: bool,
}

/// Returns what is to be listed.
pub(super) async fn listed(
    client: &Client,
    args: &ListArgs,
) -> Result<ListedItems<v1::LearningCandidate>, Failure> {
    let wanted = if args.pending { v1::LearningState::PendingReview } else { v1::LearningState::Unspecified };
    let state = wanted.into();
    read_list(args.limit, ItemSelection::All, |page_size, page_token| {
        let request = v1::ListLearningCandidatesRequest { state, page_size, page_token };
        async move { client.call(request).await.map(|page| (page.candidates, page.next_page_token)) }
    })
    .await
}

/// Runs a verb other than the list.
pub(super) async fn run(output: &Output, client: &Client, verb: ReviewVerb) -> Result<Exit, Failure> {
    match verb {
        ReviewVerb::Show(named) => {
            let candidate_id = candidate_id(client, &named.id).await?;
            let shown = client.call(v1::GetLearningCandidateRequest { candidate_id }).await?;
            if named.json {
                output.json(&to_json(&shown))?;
            } else {
                learning_lines(&shown).iter().try_for_each(|line| output.line(line))?;
            }
            Ok(Exit::Done)
        }
        ReviewVerb::Accept { named, text } => {
            let act = if text.is_some() { v1::LearningReview::Edit } else { v1::LearningReview::Accept };
            review(output, client, named, act, text.unwrap_or_default()).await
        }
        ReviewVerb::Reject(named) => {
            review(output, client, named, v1::LearningReview::Reject, String::new()).await
        }
        ReviewVerb::Undo(named) => {
            review(output, client, named, v1::LearningReview::Undo, String::new()).await
        }
    }
}

async fn review(
    output: &Output,
    client: &Client,
    named: NamedCandidate,
    act: v1::LearningReview,
    text: String,
) -> Result<Exit, Failure> {
    let candidate_id = candidate_id(client, &named.id).await?;
    let request = v1::ReviewLearningCandidateRequest { candidate_id, review: act.into(), text };
    let candidate = client.call(request).await?.candidate.unwrap_or_default();
    if named.json {
        output.json(&to_json(&candidate))?;
    } else {
        output.note(NoteKind::Good, &review_done(&candidate));
    }
    Ok(Exit::Done)
}

/// Returns the id of a candidate that is named by it or by a part of it.
async fn candidate_id(client: &Client, named: &str) -> Result<String, Failure> {
    let wanted = named.to_ascii_uppercase();
    let fits = |item: &v1::LearningCandidate| {
        item.candidate_id.ends_with(&wanted) || item.candidate_id.starts_with(&wanted)
    };
    let found = read_list(CANDIDATES_MAX, ItemSelection::Fitting(&fits), |page_size, page_token| {
        let request = v1::ListLearningCandidatesRequest { page_size, page_token, state: 0 };
        async move { client.call(request).await.map(|page| (page.candidates, page.next_page_token)) }
    });
    let found = found.await?.items;
    match found.as_slice() {
        [one] if !wanted.is_empty() => Ok(one.candidate_id.clone()),
        all => {
            let count = if all.is_empty() { "nothing" } else { "more than one thing" };
            let shown = clean_line(named, 30);
            Err(Failure::Usage(format!(
                "{count} that was learned has `{shown}` in its id; `palyra memory learning list` shows the ids"
            )))
        }
    }
}
