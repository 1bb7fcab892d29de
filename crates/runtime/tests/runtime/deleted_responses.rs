//! Responses that clients deleted, as the endpoints for them ask.

use palyra_ports::ReadTape;
use palyra_runtime::RequestError;
use palyra_types::TapeSeq;

use crate::rig::{Rig, entries_of};

#[tokio::test]
async fn a_response_is_deleted_once_by_its_own_principal_and_its_run_stays() {
    let rig = Rig::start().await;
    let run = rig.submit("k", "go").await.run;
    let last = rig.finished(run).await.last_tape_seq;
    let runs = &rig.gateway.runs;
    assert_eq!(runs.get_response(rig.me(), run).await.unwrap().run, run);
    let theirs = runs.delete_response(rig.stranger(), run).await;
    assert!(matches!(theirs, Err(RequestError::RunNotFound)), "{theirs:?}");
    assert!(runs.get_response(rig.me(), run).await.is_ok());

    runs.delete_response(rig.me(), run).await.unwrap();
    let before = entries_of(&rig.memory).await.len();
    let again = runs.delete_response(rig.me(), run).await;
    assert!(matches!(again, Err(RequestError::RunNotFound)), "{again:?}");
    assert_eq!(entries_of(&rig.memory).await.len(), before, "what was refused records nothing");

    for rig in [&rig, &rig.restarted().await] {
        let found = rig.gateway.runs.get_response(rig.me(), run).await;
        assert!(matches!(found, Err(RequestError::RunNotFound)), "{found:?}");
        assert_eq!(rig.gateway.runs.get(rig.me(), run).await.unwrap().run, run);
        assert_eq!(rig.memory.tape(run, TapeSeq(0), 100).await.unwrap().entries.len(), last.0 as usize);
    }
}
