//! The list of classes.

use std::path::Path;

use super::expect::Case;
use super::view::View;
use super::{bundles, calls, content, cuts, pages, proofs, rows, thief};
use crate::writer::{Chance, Log};

/// A class of damage.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    /// What has to be said, in words.
    pub(crate) answer: &'static str,
    pub(crate) kind: Kind,
}

/// What a class works on; `None` comes back where it does not apply.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A file, whoever wrote it.
    File(fn(&View, &mut Chance, &Path) -> Option<Case>),
    /// A file, verified without the keys of what is sealed in it.
    Unkeyed(fn(&View, &mut Chance, &Path) -> Option<Case>),
    /// A log with its keys, to be saved broken.
    Log(fn(&Log, &mut Chance, &Path) -> Option<Case>),
    /// A log, to be saved as a broken bundle.
    Bundle(fn(&Log, &mut Chance, &Path) -> Option<Case>),
}

impl Class {
    pub(crate) fn is_of_bundles(&self) -> bool {
        matches!(self.kind, Kind::Bundle(_))
    }

    /// Whether the class works on files, whoever wrote them.
    pub(crate) fn is_of_files(&self) -> bool {
        matches!(self.kind, Kind::File(_) | Kind::Unkeyed(_))
    }

    /// Whether the keys of what is sealed stay away.
    pub(crate) fn is_unkeyed(&self) -> bool {
        matches!(self.kind, Kind::Unkeyed(_))
    }
}

const fn file(
    name: &'static str,
    answer: &'static str,
    work: fn(&View, &mut Chance, &Path) -> Option<Case>,
) -> Class {
    Class { name, answer, kind: Kind::File(work) }
}

const fn log(
    name: &'static str,
    answer: &'static str,
    work: fn(&Log, &mut Chance, &Path) -> Option<Case>,
) -> Class {
    Class { name, answer, kind: Kind::Log(work) }
}

/// All classes.
pub(crate) const CLASSES: [Class; 32] = [
    file("a bit of an envelope", "10 at it", rows::envelope_bit),
    file("a bit of facts", "10 at it", rows::facts_bit),
    file("a column of an entry", "10 at it", rows::column),
    file("an entry deleted from the middle", "10 at it", rows::deleted),
    file("two entries swapped", "10 at the first", rows::swapped),
    file("a bit of a payload", "10 at it", content::payload_bit),
    file("a bit of a chunk or file", "10 at it", content::chunk_bit),
    file("a part moved, added or taken out", "10 or 15 at it", content::parts),
    file("a payload dropped", "15 at it", content::payload_dropped),
    file("a payload where none may be", "10 at it", content::payload_added),
    file("a payload marked as sealed", "10 at it", content::marked_as_sealed),
    Class {
        name: "... the same, verified without keys",
        answer: "10 at it, 18 where the epoch does not say that it seals nothing",
        kind: Kind::Unkeyed(content::marked_as_sealed_unkeyed),
    },
    file("an erasure forged", "10 at it", content::erasure_forged),
    file("a bit of a static text", "10", rows::static_bit),
    file("the end cut off", "11 at the end, or 15", cuts::truncated),
    file(
        "the end cut off, frontier and tiles made to fit",
        "11 at the end, or 14, 15",
        cuts::truncated_to_fit,
    ),
    file("a tile changed, deleted or added", "10 at the leaf, or 11", proofs::tile),
    file("the frontier changed", "10, 11 or 16", proofs::frontier),
    file("a bit of a checkpoint", "14 or 16 at its size", proofs::checkpoint_bit),
    file("all checkpoints deleted", "14 at the first run", proofs::checkpoints_deleted),
    log("a handover deleted", "14 at the next head", thief::handover_deleted),
    log("history rewritten, heads signed by a foreign key", "14 at the first head", thief::foreign_key_signs),
    log(
        "... by the stolen current key, before the last handover",
        "13 or 14",
        thief::stolen_key_before_handover,
    ),
    log(
        "... by the stolen current key, after it, with --since",
        "13 at the kept head",
        thief::stolen_key_after_handover,
    ),
    log("... the same without --since: nobody can see it", "0", thief::stolen_key_unwitnessed),
    log("rolled back to an older signed head, with --since", "12 at the end", thief::rolled_back),
    log(
        "rolled back and reopened by a thief, with --key",
        "14 at the newest head",
        thief::reopened_by_a_thief,
    ),
    log("halves of two logs joined", "10, 13, 14 or 16 there", thief::joined),
    log("a call whose record contradicts itself", "17 at it", calls::contradiction),
    log("a foreign --key", "14 at the newest head", thief::foreign_key_given),
    file("bytes of the file", "10 to 16 where a row changed", pages::bytes),
    file("derived tables edited", "0", rows::projection),
];

/// Damage to bundles.
pub(crate) const BUNDLES: Class = Class {
    name: "a bundle's entry, payload, proof or signature",
    answer: "10, 14 or 15 at it",
    kind: Kind::Bundle(bundles::bundle),
};
