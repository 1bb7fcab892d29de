//! References of an input: one event of each way in which a reference is resolved.

use palyra_types::context_reference::{
    ExpandedReference, ReferenceError, ReferenceKind, ReferenceLimits, ReferenceMeans, ReferencesExpanded,
};
use palyra_types::event::kind::KindPlace;
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::{EffectId, TapeSeq};

use super::super::{decode, encode};

pub(super) fn references_expanded() -> TapeEvent {
    let item = |kind, means| ExpandedReference { kind, means };
    TapeEvent::Run(RunEvent::ReferencesExpanded(ReferencesExpanded {
        input: TapeSeq(1),
        items: vec![
            item(ReferenceKind::File, ReferenceMeans::Call(EffectId(1))),
            item(ReferenceKind::File, ReferenceMeans::SameAs(0)),
            item(ReferenceKind::Url, ReferenceMeans::Refused(ReferenceError::InvalidTarget)),
        ],
        surplus: 2,
        limits: ReferenceLimits { item_tokens: 8192, total_tokens: 24_576 },
        written: vec!["@file:a.rs:3-9".into(), "@file:a.rs:3-9".into(), "@url:example".into()],
    }))
}

#[test]
fn each_kind_and_error_is_read_as_it_was_written() {
    for kind in ReferenceKind::ALL {
        for error in ReferenceError::ALL {
            let item = ExpandedReference { kind, means: ReferenceMeans::Refused(error) };
            let event =
                JournalEvent::Tape(TapeEvent::Run(RunEvent::ReferencesExpanded(ReferencesExpanded {
                    input: TapeSeq(4),
                    items: vec![item],
                    surplus: 0,
                    limits: ReferenceLimits::default(),
                    written: Vec::new(),
                })));
            let coded = encode(&event).unwrap();
            assert_eq!(decode(coded.kind, KindPlace::Tape, &coded.facts, &coded.payload), Ok(event));
        }
    }
}
