//! Taking known values out of bytes that somebody gets who may not have them.
//!
//! Unlike the redactor it leaves everything else as it is: the bytes are for a program, and not for a text.

/// Masks every value that is known to be secret.
pub trait MaskValues: Send + Sync {
    /// Begins a run of bytes.
    fn begin(&self) -> Box<dyn MaskStream>;
}

/// Bytes that come in pieces, wherever they may be cut. A bounded number of them is held back, while they may be part
/// of a value.
pub trait MaskStream: Send {
    /// Takes a piece; returns what may be handed on by now, possibly nothing.
    fn push(&mut self, piece: &[u8]) -> Vec<u8>;

    /// Ends it; returns what was held back. What comes after it begins anew.
    fn finish(&mut self) -> Vec<u8>;
}
