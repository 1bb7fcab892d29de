//! Ids as people type them.

use std::str::FromStr;

use palyra_client::Client;
use palyra_types::{ApprovalId, ErrorCode, RunId, SessionId};
use palyra_wire::v1;

use crate::failure::Failure;
use crate::render::approved_call;

/// Approvals that are listed where `last` is not clear.
const APPROVALS_LISTED_MAX: u32 = 10;

/// A run as a person names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunName {
    /// The caller's latest.
    Last,
    /// The one with this id.
    Id(RunId),
}

impl FromStr for RunName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "last" => Ok(Self::Last),
            text => text.parse().map(Self::Id).map_err(|error| format!("{error}, or `last`")),
        }
    }
}

impl RunName {
    /// Returns the run's id, which for the latest the daemon knows.
    pub(super) async fn resolve(self, client: &Client) -> Result<RunId, Failure> {
        match self {
            Self::Id(id) => Ok(id),
            Self::Last => {
                let request = v1::ListRunsRequest { page_size: 1, ..Default::default() };
                let page = client.list_runs(request).await?;
                let last = page.runs.first().and_then(|run| run.run_id.parse().ok());
                last.ok_or_else(|| Failure::local(ErrorCode::RunNotFound, "there is no run yet"))
            }
        }
    }
}

/// An approval as a person names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApprovalName {
    /// The only one that waits.
    Last,
    /// The one with this id.
    Id(ApprovalId),
}

impl FromStr for ApprovalName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "last" => Ok(Self::Last),
            text => text.parse().map(Self::Id).map_err(|error| format!("{error}, or `last`")),
        }
    }
}

impl ApprovalName {
    /// Returns the approval's id. `last` names one only where no other waits: what waits can change between a look and
    /// an answer.
    pub(super) async fn resolve(self, client: &Client) -> Result<ApprovalId, Failure> {
        match self {
            Self::Id(id) => Ok(id),
            Self::Last => {
                let request =
                    v1::ListApprovalsRequest { page_size: APPROVALS_LISTED_MAX, ..Default::default() };
                let page = client.list_approvals(request).await?;
                only_one(&page)
            }
        }
    }
}

fn only_one(page: &v1::ListApprovalsResponse) -> Result<ApprovalId, Failure> {
    match page.approvals.as_slice() {
        [] => Err(Failure::local(ErrorCode::ApprovalNotFound, "nothing waits for an approval")),
        [only] if page.next_page_token.is_empty() => only
            .approval_id
            .parse()
            .map_err(|_| Failure::local(ErrorCode::ApprovalNotFound, "the daemon named no approval")),
        several => {
            let rows = several.iter().map(|approval| {
                format!("\n{}  {}  {}", approval.approval_id, approval.risk, approved_call(approval))
            });
            let more = if page.next_page_token.is_empty() {
                ""
            } else {
                "\nand more; `palyra approve list` shows all"
            };
            let rows: String = rows.collect();
            Err(Failure::Usage(format!(
                "`last` is not clear, since several approvals wait; name one by its id, newest first:{rows}{more}"
            )))
        }
    }
}

/// A place in a run: the run, and the last entry that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunPlace {
    run: RunName,
    /// 0 for all there is.
    tape_seq: u32,
}

impl FromStr for RunPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (run, tape_seq) = match text.split_once('@') {
            None => (text, 0),
            Some((run, number)) => {
                let number = number.parse().ok().filter(|number| *number > 0);
                (run, number.ok_or("after @ comes the number of an entry, from 1")?)
            }
        };
        Ok(Self { run: run.parse()?, tape_seq })
    }
}

impl RunPlace {
    /// Returns it as the daemon wants it.
    pub(super) async fn branch_point(self, client: &Client) -> Result<v1::BranchPoint, Failure> {
        let run_id = self.run.resolve(client).await?.to_string();
        Ok(v1::BranchPoint { run_id, tape_seq: self.tape_seq, ..Default::default() })
    }
}

/// Refuses a session that should have been a branch: daemons that do not know branches open an empty one.
pub(super) fn require_branched(session: &v1::Session) -> Result<(), Failure> {
    if session.branched_from.is_some() {
        return Ok(());
    }
    let told = "this daemon does not branch sessions; a newer one does";
    Err(Failure::local(ErrorCode::BranchOutOfRange, told))
}

/// Reads what names a session: its id, which must exist, or a key of one's own, which is made when unknown.
pub(super) fn session_selector(text: &str) -> v1::SessionSelector {
    match text.parse::<SessionId>() {
        Ok(id) => {
            v1::SessionSelector { session_id: id.to_string(), require_existing: true, ..Default::default() }
        }
        Err(_) => v1::SessionSelector { session_key: text.to_owned(), ..Default::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_by_id_or_as_the_last() {
        let id = RunId::from_parts(1, 1);
        assert_eq!("last".parse(), Ok(RunName::Last));
        assert_eq!(id.to_string().parse(), Ok(RunName::Id(id)));
        assert!("nonsense".parse::<RunName>().is_err());
    }

    #[test]
    fn the_last_approval_is_the_only_one_that_waits() {
        let approval = |number| {
            let prompt = v1::ApprovalPrompt {
                tool: "write_file".to_owned(),
                summary: "creates `a\nb`".to_owned(),
                ..Default::default()
            };
            v1::Approval {
                approval_id: ApprovalId::from_parts(number, 1).to_string(),
                risk: "medium".to_owned(),
                prompt: Some(prompt),
                ..Default::default()
            }
        };
        let page = |approvals: &[v1::Approval], token: &str| v1::ListApprovalsResponse {
            approvals: approvals.to_vec(),
            next_page_token: token.to_owned(),
        };
        let (first, second) = (approval(1), approval(2));
        assert_eq!(only_one(&page(std::slice::from_ref(&first), "")).unwrap().to_string(), first.approval_id);
        assert_eq!(only_one(&page(&[], "")).unwrap_err().exit().number(), 1);
        for several in
            [page(&[second.clone(), first.clone()], ""), page(std::slice::from_ref(&first), "more")]
        {
            let refused = only_one(&several).unwrap_err();
            assert_eq!(refused.exit().number(), 2);
            let told = refused.to_string();
            assert!(told.contains(&first.approval_id) && told.contains("write_file creates `a b`"), "{told}");
        }
    }

    #[test]
    fn a_place_is_a_run_and_perhaps_an_entry() {
        let id = RunId::from_parts(1, 1);
        let place = |text: &str| text.parse::<RunPlace>().map(|place| (place.run, place.tape_seq));
        assert_eq!(place("last"), Ok((RunName::Last, 0)));
        assert_eq!(place(&format!("{id}@12")), Ok((RunName::Id(id), 12)));
        for bad in ["last@", "last@0", "last@x", "@3", "last@4294967296"] {
            assert!(place(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_session_is_named_by_id_or_by_key() {
        let id = SessionId::from_parts(1, 1).to_string();
        let selector = session_selector(&id);
        assert_eq!((selector.session_id.as_str(), selector.require_existing), (id.as_str(), true));
        let selector = session_selector("notes");
        assert_eq!((selector.session_key.as_str(), selector.require_existing), ("notes", false));
    }
}
