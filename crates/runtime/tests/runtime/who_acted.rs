//! What people do is recorded with who they are, with what credential, and where; what follows from it is not.

use palyra_runtime::approvals::ApprovalReply;
use palyra_testkit::scripted_tools::ACT;
use palyra_types::approval::ApprovalDecision;
use palyra_types::event::{ApprovalEvent, RunEvent, TapeEvent};

use crate::approval_calls::{answer, ask, asking_rig};

#[tokio::test]
async fn each_act_on_a_tape_names_who_acted() {
    let rig = asking_rig().await;
    let (me, other) = (rig.me().actor, rig.other_owner());
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    answer(&rig, other, approval, ApprovalReply::plain(ApprovalDecision::Approve)).await.unwrap();
    rig.finished(run).await;
    let mut acts = 0;
    for entry in rig.tape(run).await {
        let expected = match &entry.event {
            TapeEvent::Run(RunEvent::Started(_)) => Some(me),
            TapeEvent::Approval(ApprovalEvent::Resolved(_)) => Some(other.actor),
            _ => None,
        };
        assert_eq!(entry.actor, expected, "{:?}", entry.event);
        acts += usize::from(expected.is_some());
    }
    assert_eq!(acts, 2);
    assert!(other.actor.credential.is_some() && me.credential.is_none());
}

#[tokio::test]
async fn a_cancel_names_who_cancelled_and_what_it_withdraws_names_nobody() {
    let rig = asking_rig().await;
    let me = rig.me().actor;
    let (run, _) = ask(&rig, "k", ACT, "{}").await;
    rig.cancel(run).await.unwrap();
    rig.finished(run).await;
    let mut cancelled = 0;
    for entry in rig.tape(run).await {
        match &entry.event {
            TapeEvent::Run(RunEvent::CancelRequested { .. }) => {
                cancelled += 1;
                assert_eq!(entry.actor, Some(me));
            }
            // The question was withdrawn because of it, and by nobody.
            TapeEvent::Approval(ApprovalEvent::Resolved(_)) => assert_eq!(entry.actor, None),
            TapeEvent::Run(RunEvent::Started(_)) => assert_eq!(entry.actor, Some(me)),
            other => assert_eq!(entry.actor, None, "{other:?}"),
        }
    }
    assert_eq!(cancelled, 1);
}
