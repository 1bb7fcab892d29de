//! Kept files on the wire.

use palyra_ports::{KeptChange, KeptFile, KeptKind};
use palyra_wire::v1;

use super::plain::{hex, timestamp};

/// Returns a kept file.
pub(crate) fn kept_file(file: &KeptFile) -> v1::KeptFile {
    v1::KeptFile {
        kept_id: file.id.to_string(),
        effect_id: file.owner.effect.0,
        place: file.place.to_string_lossy().into_owned(),
        change: match file.change {
            KeptChange::New => v1::KeptChange::New,
            KeptChange::Replaced => v1::KeptChange::Replaced,
            KeptChange::Displaced => v1::KeptChange::Displaced,
        }
        .into(),
        kind: match file.kind {
            KeptKind::File => v1::KeptKind::File,
            KeptKind::Link => v1::KeptKind::Link,
            KeptKind::Folder => v1::KeptKind::Folder,
            KeptKind::Other => v1::KeptKind::Other,
        }
        .into(),
        bytes: file.bytes,
        sha256: file.sha256.map(|digest| hex(&digest)).unwrap_or_default(),
        kept: timestamp(file.kept),
    }
}
