//! The names of targets.

use palyra_types::delivery::DeliveryTargetKind;

/// A target by its kind and its name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetName {
    /// What sort of thing it is.
    pub kind: DeliveryTargetKind,
    /// Its name.
    pub name: String,
}
