//! For how long a grant of a session holds, in words.
//!
//! Invariant: `this run` is for a session that `palyra run` made for one run, also in the inbox.

use palyra_client::Client;
use palyra_wire::v1;

use crate::failure::Failure;
use palyra_run_view::GrantSpan;

/// Returns the span of a session's grants.
pub(super) async fn span_of_session(client: &Client, session_id: &str) -> Result<GrantSpan, Failure> {
    let session = v1::SessionSelector {
        session_id: session_id.to_owned(),
        require_existing: true,
        ..Default::default()
    };
    let request = v1::ResolveSessionRequest { session: Some(session), ..Default::default() };
    Ok(span_of(&client.call(request).await?.session.unwrap_or_default()))
}

/// A session without a key of its own, of one run, is one that `palyra run` made for it.
fn span_of(session: &v1::Session) -> GrantSpan {
    let is_made_for_it =
        session.session_key.is_empty() && session.branched_from.is_none() && session.runs <= 1;
    if is_made_for_it { GrantSpan::Run } else { GrantSpan::Session }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_session_that_was_made_for_one_run_ends_with_it() {
        let made = || v1::Session { runs: 1, ..Default::default() };
        assert_eq!(span_of(&made()), GrantSpan::Run);
        let others = [
            v1::Session { session_key: "chat".to_owned(), ..made() },
            v1::Session { runs: 2, ..made() },
            v1::Session { branched_from: Some(v1::BranchPoint::default()), ..made() },
        ];
        assert!(others.iter().all(|session| span_of(session) == GrantSpan::Session));
    }
}
