//! Where a chat is: its session, and what the daemon knows of it.

use palyra_client::{AskProviders, Client, ClientError};
use palyra_types::{ErrorCode, RunId};
use palyra_wire::v1;

use super::super::ids::{RunPlace, require_branched};
use crate::failure::Failure;
use palyra_run_view::{SearchMatch, chosen_model, last_answer, listed_entries};
use palyra_screen_text::clean_line;

/// As much of a tape's end as is looked through for the last answer.
const ENTRIES_READ_MAX: u32 = 400;
/// Runs of a session among which the one that was searched for is looked for.
const RUNS_SEARCHED_MAX: u32 = 500;
const SAID_CHARS_MAX: usize = 400;
const ENTRIES_LISTED_MAX: usize = 12;
/// The place after all that was said.
const HERE: &str = "here";

/// What is said where a branch has nothing to begin from.
const NOTHING_SAID: &str = "nothing was said here yet, so there is nothing to branch from";

/// The end of a session: its last run, or the place in a run of another session where it branched off.
struct LastPlace {
    run: RunId,
    /// The last entry that belongs to the session; `None` for all there are.
    end: Option<u32>,
}

impl LastPlace {
    fn of(session: &v1::Session) -> Option<Self> {
        if let Ok(run) = session.last_run_id.parse() {
            return Some(Self { run, end: None });
        }
        let point = session.branched_from.as_ref()?;
        let end = Some(point.tape_seq).filter(|end| *end > 0);
        Some(Self { run: point.run_id.parse().ok()?, end })
    }

    /// Returns the place after an entry of the run, in the words of a command line.
    fn after(&self, number: Option<u32>) -> Result<String, Failure> {
        let run = self.run;
        match (number.or(self.end), self.end) {
            (Some(number), Some(end)) if number > end => Err(Failure::Usage(format!(
                "this branch ends at entry {end} of its run; /branch lists the entries before it"
            ))),
            (Some(number), _) => Ok(format!("{run}@{number}")),
            (None, _) => Ok(run.to_string()),
        }
    }
}

/// The session a chat goes on in.
pub(super) struct ChatSession {
    pub(super) client: Client,
    pub(super) agent: String,
    pub(super) selector: v1::SessionSelector,
}

impl ChatSession {
    /// Finds the session, or opens it.
    pub(super) async fn session(&self) -> Result<v1::Session, Failure> {
        self.resolve(self.selector.clone(), None).await
    }

    /// Begins a fresh context in it.
    pub(super) async fn reset(&self) -> Result<v1::Session, Failure> {
        self.resolve(v1::SessionSelector { reset: true, ..self.selector.clone() }, None).await
    }

    /// Goes on in a new session that branches off; `place` is a number of an entry of the last run, a run
    /// with or without such a number, or `here`.
    pub(super) async fn branch(&mut self, place: &str) -> Result<v1::Session, Failure> {
        let last = LastPlace::of(&self.session().await?);
        let last = || last.as_ref().ok_or_else(|| Failure::Usage(NOTHING_SAID.to_owned()));
        // As in RUN@NUMBER, with the run left out.
        let place = place.strip_prefix('@').unwrap_or(place);
        let place = match (place, place.parse()) {
            (HERE, _) => last()?.after(None)?,
            (_, Ok(number)) => last()?.after(Some(number))?,
            (place, Err(_)) => place.to_owned(),
        };
        let place: RunPlace = place.parse().map_err(Failure::Usage)?;
        let point = place.branch_point(&self.client).await?;
        let session = self.resolve(v1::SessionSelector::default(), Some(point)).await?;
        require_branched(&session)?;
        self.go_to(&session);
        Ok(session)
    }

    /// Goes on in this session from now on.
    pub(super) fn go_to(&mut self, session: &v1::Session) {
        self.selector = v1::SessionSelector {
            session_id: session.session_id.clone(),
            require_existing: true,
            ..Default::default()
        };
    }

    async fn resolve(
        &self,
        session: v1::SessionSelector,
        branch_from: Option<v1::BranchPoint>,
    ) -> Result<v1::Session, Failure> {
        let request =
            v1::ResolveSessionRequest { session: Some(session), agent: self.agent.clone(), branch_from };
        let missing = ClientError::Protocol { what: "a session was not described" };
        Ok(self.client.call(request).await?.session.ok_or(missing)?)
    }

    /// Returns the runs of the session that are not over, oldest first.
    pub(super) async fn open_runs(&self, session: &v1::Session) -> Result<Vec<RunId>, Failure> {
        let request = v1::ListRunsRequest {
            session_id: session.session_id.clone(),
            only: v1::RunFilter::Open.into(),
            ..Default::default()
        };
        let runs = self.client.call(request).await?.runs;
        Ok(runs.iter().rev().filter_map(|run| run.run_id.parse().ok()).collect())
    }

    /// Returns the newest run of the session that began with an input that was found.
    pub(super) async fn run_of_match(
        &self,
        session: &v1::Session,
        found: &SearchMatch,
    ) -> Result<Option<v1::Run>, Failure> {
        let request = v1::ListRunsRequest {
            session_id: session.session_id.clone(),
            page_size: RUNS_SEARCHED_MAX,
            ..Default::default()
        };
        let runs = self.client.call(request).await?.runs;
        Ok(runs.into_iter().find(|run| found.is_input_of(run)))
    }

    /// Returns what was said last and what the answer was, each in a line.
    pub(super) async fn last_exchange(&self, session: &v1::Session) -> Result<Option<[String; 2]>, Failure> {
        let Some(place) = LastPlace::of(session) else { return Ok(None) };
        let (known, entries) = self.end_of(&place).await?;
        let answer = clean_line(&last_answer(&entries), SAID_CHARS_MAX);
        Ok(Some([clean_line(&known.input_preview, SAID_CHARS_MAX), answer]))
    }

    /// Returns the run of a place, and the last entries before it.
    async fn end_of(&self, place: &LastPlace) -> Result<(v1::Run, Vec<v1::TapeEntry>), Failure> {
        let known = self.client.get_run(place.run).await?;
        let end = place.end.unwrap_or(known.last_tape_seq);
        let from = end.saturating_sub(ENTRIES_READ_MAX);
        let mut entries = self.client.read_tape(place.run, from, ENTRIES_READ_MAX).await?.entries;
        entries.retain(|entry| entry.tape_seq <= end);
        Ok((known, entries))
    }

    /// Returns the last entries of the last run that a person knows, each with its number.
    pub(super) async fn last_entries(&self, session: &v1::Session) -> Result<Vec<String>, Failure> {
        let Some(place) = LastPlace::of(session) else {
            return Err(Failure::Usage(NOTHING_SAID.to_owned()));
        };
        let mut listed = listed_entries(&self.end_of(&place).await?.1);
        let left_out = listed.len().saturating_sub(ENTRIES_LISTED_MAX);
        Ok(listed.split_off(left_out))
    }

    /// Returns the models the daemon can ask, the default one first; with [`AskProviders::Yes`] also those that servers name.
    pub(super) async fn models(&self, ask: AskProviders) -> Result<Vec<String>, Failure> {
        listed_models(&self.client, ask).await
    }
}

/// Returns the models that a daemon can ask, the default one first.
async fn listed_models(client: &Client, ask: AskProviders) -> Result<Vec<String>, Failure> {
    let models = client.list_models(ask).await?;
    // A provider whose models are not known yet is offered as one, and not as a model.
    let named = |name: String| if name.contains('/') { name } else { format!("{name}/*") };
    let others = models.models.into_iter().map(|model| named(model.model));
    let default = models.default_model;
    let mut names = vec![default.clone()];
    names.extend(others.filter(|model| *model != default));
    Ok(names)
}

/// Returns the whole name of a model that a chat begins with, so that a name which no daemon could ask is refused at once.
pub(super) async fn check_model(client: &Client, name: &str) -> Result<String, Failure> {
    let ask = if name.contains('/') { AskProviders::No } else { AskProviders::Yes };
    let models = listed_models(client, ask).await?;
    chosen_model(name, &models).map_err(|why| Failure::local(ErrorCode::ModelNotConfigured, why))
}
