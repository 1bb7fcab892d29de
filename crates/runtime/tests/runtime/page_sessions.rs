//! A session of a web page begins once it is on record, and a refused one leaves nothing but a used link.

use palyra_admin::AdminError;
use palyra_admin::access::{PAGE_LINK_SPAN, PageEntry};
use palyra_ports::AppendError;
use palyra_types::event::{AccessEvent, JournalEvent};

use crate::rig::Rig;

async fn recorded(rig: &Rig) -> usize {
    let is_begin =
        |event: &JournalEvent| matches!(event, JournalEvent::Access(AccessEvent::PageSessionBegun { .. }));
    rig.memory_entries().await.iter().filter(|entry| is_begin(&entry.event)).count()
}

/// The control is the next link, with a queue that has room.
#[tokio::test]
async fn a_link_that_meets_a_full_queue_is_used_up_and_begins_no_session() {
    let rig = Rig::start().await;
    let access = &rig.gateway.admin.access;
    let link =
        || access.create_page_link(PageEntry::of(rig.me().actor.principal), PAGE_LINK_SPAN).into_exposed();
    let code = link();
    rig.memory.fail_next(AppendError::Busy);
    let refused = access.redeem_page_link(&code).await.unwrap_err();
    assert!(matches!(refused, AdminError::Append(AppendError::Busy)), "{refused:?}");
    assert!(!access.has_page_sessions(), "neither a session nor the link is left");
    assert!(access.redeem_page_link(&code).await.unwrap().is_none(), "the link is used up");
    assert_eq!(recorded(&rig).await, 0);

    let cookie = access.redeem_page_link(&link()).await.unwrap().unwrap().into_exposed();
    assert!(access.authenticate_page(&cookie).is_some(), "the control");
    assert_eq!((recorded(&rig).await, access.end_page_sessions()), (1, 1));
}

/// The screens that say what is wrong with a journal are needed most while it is read-only.
#[tokio::test]
async fn a_link_begins_a_session_without_an_entry_while_the_journal_is_read_only() {
    let rig = Rig::start().await;
    let access = &rig.gateway.admin.access;
    let code = access.create_page_link(PageEntry::of(rig.me().actor.principal), PAGE_LINK_SPAN);
    rig.memory.fail_next(AppendError::Quarantined);
    let cookie = access.redeem_page_link(code.expose()).await.unwrap().unwrap();
    assert!(access.authenticate_page(cookie.expose()).is_some());
    assert_eq!(recorded(&rig).await, 0);
}
