//! Ids as people type them.

use palyra_client::Client;
use palyra_types::{RunId, SessionId};
use palyra_wire::v1;

use crate::failure::Failure;

/// Reads a run's id; `last` stands for the caller's latest run.
pub(super) async fn run_id(client: &Client, text: &str) -> Result<RunId, Failure> {
    if text != "last" {
        return text.parse().map_err(|error| Failure::Usage(format!("{error}, or `last`")));
    }
    let request = v1::ListRunsRequest { page_size: 1, ..Default::default() };
    let page = client.list_runs(request).await?;
    let last = page.runs.first().and_then(|run| run.run_id.parse().ok());
    last.ok_or_else(|| Failure::Usage("there is no run yet".to_owned()))
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
    fn a_session_is_named_by_id_or_by_key() {
        let id = SessionId::from_parts(1, 1).to_string();
        let selector = session_selector(&id);
        assert_eq!((selector.session_id.as_str(), selector.require_existing), (id.as_str(), true));
        let selector = session_selector("notes");
        assert_eq!((selector.session_key.as_str(), selector.require_existing), ("notes", false));
    }
}
