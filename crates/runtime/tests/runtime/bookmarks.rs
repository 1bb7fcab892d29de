//! Bookmarks of places in tapes, as callers see them.

use palyra_ports::ReadTape;
use palyra_runtime::RequestError;
use palyra_types::TapeSeq;
use palyra_types::event::Bookmark;

use crate::rig::{Rig, SECRET, entries_of};

#[tokio::test]
async fn a_place_gets_a_name_that_its_principal_lists_and_removes() {
    let rig = Rig::start().await;
    let run = rig.submit("k", "go").await.run;
    let last = rig.finished(run).await.last_tape_seq;
    let runs = &rig.gateway.runs;
    runs.place_bookmark(rig.me(), run, TapeSeq(2), "draft".into()).await.unwrap();
    runs.place_bookmark(rig.me(), run, TapeSeq(0), format!("end {SECRET}").into()).await.unwrap();
    let listed = runs.bookmarks(rig.me()).await.unwrap();
    let (first, draft) = listed[0].clone();
    assert_eq!(draft, Bookmark { run, tape_seq: TapeSeq(2), name: "draft".into() });
    assert_eq!(listed[1].1.tape_seq, last);
    assert!(!listed[1].1.name.expose().contains(SECRET), "the name is redacted");
    assert_eq!(runs.bookmarks(rig.stranger()).await.unwrap(), []);

    let theirs = runs.remove_bookmark(rig.stranger(), &first.to_string()).await;
    assert!(matches!(theirs, Err(RequestError::InvalidArgument { .. })), "{theirs:?}");
    runs.remove_bookmark(rig.me(), "draft").await.unwrap();
    let again = runs.remove_bookmark(rig.me(), "draft").await;
    assert!(matches!(again, Err(RequestError::InvalidArgument { .. })), "{again:?}");
    assert_eq!(runs.bookmarks(rig.me()).await.unwrap().len(), 1);
    assert_eq!(rig.memory.tape(run, TapeSeq(0), 100).await.unwrap().entries.len(), last.0 as usize);
}

#[tokio::test]
async fn what_cannot_be_a_bookmark_is_a_typed_error_and_records_nothing() {
    let rig = Rig::start().await;
    let run = rig.submit("k", "go").await.run;
    let last = rig.finished(run).await.last_tape_seq;
    let runs = &rig.gateway.runs;
    runs.place_bookmark(rig.me(), run, TapeSeq(1), "taken".into()).await.unwrap();
    let before = entries_of(&rig.memory).await.len();
    for name in ["", "a\nb", "taken", &"x".repeat(81)] {
        let refused = runs.place_bookmark(rig.me(), run, TapeSeq(1), name.into()).await;
        assert!(matches!(refused, Err(RequestError::InvalidArgument { .. })), "{name:?}: {refused:?}");
    }
    let beyond = runs.place_bookmark(rig.me(), run, TapeSeq(last.0 + 1), "a".into()).await;
    assert!(matches!(beyond, Err(RequestError::BranchOutOfRange { .. })), "{beyond:?}");
    let theirs = runs.place_bookmark(rig.stranger(), run, TapeSeq(1), "a".into()).await;
    assert!(matches!(theirs, Err(RequestError::RunNotFound)), "{theirs:?}");
    let none = runs.remove_bookmark(rig.me(), "nothing").await;
    assert!(matches!(none, Err(RequestError::InvalidArgument { .. })), "{none:?}");
    assert_eq!(entries_of(&rig.memory).await.len(), before);
    for n in 1..500 {
        runs.place_bookmark(rig.me(), run, TapeSeq(1), format!("name {n}").into()).await.unwrap();
    }
    let too_many = runs.place_bookmark(rig.me(), run, TapeSeq(1), "one more".into()).await;
    assert!(matches!(too_many, Err(RequestError::InvalidArgument { .. })), "{too_many:?}");
}
