//! The handle of a secret, as a component holds it.

/// A secret that a component may use, and never sees.
#[allow(unreachable_pub, reason = "the bindings name it")]
pub struct OpenedSecret {
    pub(crate) name: String,
}
