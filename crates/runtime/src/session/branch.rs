//! Opening a session that goes on from a place in a run.
//!
//! Only the place is recorded; what came before it is read from the source's tapes. Those never change, so
//! neither does what the branch sees of them.

use palyra_admin::Caller;
use palyra_journal_core::families::resets;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::AppendError;
use palyra_types::TapeSeq;
use palyra_types::run::RunRecord;
use palyra_types::session::{BranchPoint, SessionRef};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::session::directory::Directory;
use crate::session::request::{BranchRequest, ExistingSession, ResolvedSession, SessionSelector};
use crate::session::resolve::{self, FoundSession};

/// Races for a new key are settled by the journal; the loser looks again, at most so often.
const RACES_MAX: u32 = 3;

pub(super) async fn branch(
    engine: &Engine,
    directory: &Directory,
    caller: Caller,
    selector: SessionSelector,
    agent: Option<String>,
    requested: BranchRequest,
) -> Result<ResolvedSession, RequestError> {
    if selector.existing == ExistingSession::Required {
        let what = "a branch is a new session, so it cannot be required to exist".to_owned();
        return Err(RequestError::InvalidArgument { what });
    }
    let record = engine.ports.run_of(caller.actor.principal, requested.run).await?;
    let point = branch_point(engine, &record, requested).await?;
    for _ in 0..RACES_MAX {
        match resolve::find(engine, caller, &selector, agent.as_deref()).await? {
            FoundSession::Existing(existing) if existing.branched_from == Some(point) => {
                return Ok(ResolvedSession { record: existing, created: false, reset_applied: false });
            }
            FoundSession::Existing(_) => {
                let what = "a branch is a new session, and the id or key names one that exists".to_owned();
                return Err(RequestError::InvalidArgument { what });
            }
            FoundSession::New(mut opening) => {
                opening.branched_from = Some(point);
                if agent.is_none() {
                    opening.agent = record.agent;
                }
                if let Some(resolved) = resolve::open(engine, directory, opening).await? {
                    return Ok(resolved);
                }
            }
        }
    }
    Err(AppendError::GuardFailed { index: 0 }.into())
}

async fn branch_point(
    engine: &Engine,
    record: &RunRecord,
    requested: BranchRequest,
) -> Result<BranchPoint, RequestError> {
    let tape_seq = place_in_tape(record.last_tape_seq, requested.tape_seq)?;
    let source = SessionRef { principal: record.principal, id: record.session };
    // The run that is cut sees what it saw, whatever was reset while it was under way.
    let (session, run, run_first_seq) = (record.session, record.run, record.first_seq);
    let families = &engine.ports.families;
    let since = families.query(move |rows, _| resets::latest_before(rows, source, run_first_seq)).await?;
    Ok(BranchPoint { session, run, run_first_seq, tape_seq, since })
}

/// Returns the last entry before a place in a tape, which is its end where no entry is named.
pub(crate) fn place_in_tape(last: TapeSeq, wanted: Option<TapeSeq>) -> Result<TapeSeq, RequestError> {
    let tape_seq = wanted.unwrap_or(last);
    if tape_seq > last || tape_seq.0 == 0 {
        return Err(RequestError::BranchOutOfRange { last: last.0 });
    }
    Ok(tape_seq)
}
