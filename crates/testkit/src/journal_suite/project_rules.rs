//! What people accepted of what projects say.

use palyra_journal_core::families::project_rules::of_principal;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::event::PolicyEvent;
use palyra_types::project_file::{AcceptedProjectFile, AcceptedProjectFileRecord};
use palyra_types::{PrincipalId, Redacted, Seq, Timestamp};

use super::JournalFactory;
use super::samples::{self, append};

/// Makes a file that was accepted.
pub fn accepted(path: &str) -> AcceptedProjectFile {
    AcceptedProjectFile {
        root: Redacted::cleaned("/work".into()),
        path: Redacted::cleaned(path.to_owned()),
        sha256: Redacted::cleaned([5; 32]),
    }
}

/// An acceptance is its principal's until that one withdraws it; an erased one names no file.
pub async fn accepted_files_stay_until_their_principal_withdraws_them(factory: &impl JournalFactory) {
    let journal = factory.make();
    let me = samples::principal(0);
    let other = samples::principal(1);
    let tell = async |principal: PrincipalId, event: PolicyEvent| {
        let entry = NewEntry { time: Timestamp(5), principal, session: None, run: None, event: event.into() };
        journal.append(append(vec![entry])).await.unwrap().first_seq
    };
    assert_eq!(accepted_by(&journal, me).await, []);
    let first = tell(me, PolicyEvent::ProjectRulesAccepted(accepted("AGENTS.md"))).await;
    let second = tell(me, PolicyEvent::ProjectRulesAccepted(accepted("a/AGENTS.md"))).await;
    let theirs = tell(other, PolicyEvent::ProjectRulesAccepted(accepted("AGENTS.md"))).await;
    assert_eq!(
        accepted_by(&journal, me).await,
        [record(first, accepted("AGENTS.md")), record(second, accepted("a/AGENTS.md"))]
    );
    for nothing in [theirs, Seq(first.0 + 90)] {
        tell(me, PolicyEvent::ProjectRulesWithdrawn(nothing)).await;
    }
    assert_eq!(
        accepted_by(&journal, other).await,
        [record(theirs, accepted("AGENTS.md"))],
        "only its own principal withdraws it"
    );
    tell(me, PolicyEvent::ProjectRulesWithdrawn(first)).await;
    tell(me, PolicyEvent::ProjectRulesWithdrawn(first)).await;
    assert_eq!(accepted_by(&journal, me).await, [record(second, accepted("a/AGENTS.md"))]);
    factory.erase(&journal, second);
    let [erased] = &accepted_by(&journal, me).await[..] else { panic!("one is left") };
    let AcceptedProjectFile { root, path, sha256 } = &erased.file;
    assert!(root.expose().as_os_str().is_empty() && path.expose().is_empty());
    assert_eq!(sha256.expose(), &[0; 32]);
}

async fn accepted_by(journal: &impl ReadFamilies, principal: PrincipalId) -> Vec<AcceptedProjectFileRecord> {
    journal.query(move |rows, log| of_principal(rows, log, principal)).await.unwrap()
}

fn record(seq: Seq, file: AcceptedProjectFile) -> AcceptedProjectFileRecord {
    AcceptedProjectFileRecord { seq, accepted: Timestamp(5), file }
}
