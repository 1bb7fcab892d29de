//! The meaning of a text as a vector: the weighted sum of its pieces' vectors.
//!
//! Owns the sum, its quantisation and the comparison of two vectors. Knows no index. Total on any text; a text without a known
//! word has the vector zero, which resembles nothing.

use crate::embedding_table::{EmbeddingTable, PieceId};
use crate::limits::DIMENSIONS;

/// The meaning of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextVector {
    codes: [i8; DIMENSIONS],
    /// Euclidean length of `codes`; zero if no word was known.
    length: f32,
}

impl TextVector {
    fn of_codes(codes: [i8; DIMENSIONS]) -> Self {
        let squares = codes.iter().map(|code| f32::from(*code) * f32::from(*code));
        Self { codes, length: squares.sum::<f32>().sqrt() }
    }

    /// Returns the cosine of the angle to `other`, from -1 to 1; zero if one of the two is zero.
    #[must_use]
    pub fn similarity(&self, other: &Self) -> f32 {
        let lengths = self.length * other.length;
        if lengths == 0.0 {
            return 0.0;
        }
        let products = self.codes.iter().zip(&other.codes).map(|(a, b)| i32::from(*a) * i32::from(*b));
        let sum: i32 = products.sum();
        #[expect(
            clippy::cast_precision_loss,
            reason = "at most 128 * 127 * 127, which f32 represents exactly"
        )]
        let product = sum as f32;
        (product / lengths).clamp(-1.0, 1.0)
    }

    /// Returns the components, scaled so that the largest is 127.
    #[must_use]
    pub fn codes(&self) -> &[i8; DIMENSIONS] {
        &self.codes
    }

    /// Returns whether no word of the text was known.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.length == 0.0
    }
}

/// The meaning of a text as a direction, for callers outside of the index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitVector {
    /// The components; their squares sum up to 1, or are all zero.
    pub components: [f32; DIMENSIONS],
    /// Pieces of words that it was made of.
    pub pieces_count: usize,
}

impl EmbeddingTable {
    /// Returns the meaning of `text`.
    #[must_use]
    pub fn embed(&self, text: &str) -> TextVector {
        let mut sum = VectorSum::default();
        for piece in self.pieces(text) {
            sum.add(self, piece, 1.0);
        }
        sum.vector()
    }

    /// Returns the meaning of `text` as a vector of length 1, not rounded; zero if no word is known.
    #[must_use]
    pub fn unit_vector(&self, text: &str) -> UnitVector {
        let mut sum = VectorSum::default();
        let pieces = self.pieces(text);
        for piece in &pieces {
            sum.add(self, *piece, 1.0);
        }
        UnitVector { components: sum.normalised(), pieces_count: pieces.len() }
    }

    /// Returns the meaning of a piece alone.
    pub(crate) fn piece_vector(&self, piece: PieceId) -> TextVector {
        let codes = self.codes(piece).map_or([0; DIMENSIONS], |codes| codes.map(u8::cast_signed));
        TextVector::of_codes(codes)
    }
}

/// Adds vectors of pieces.
#[derive(Debug)]
pub(crate) struct VectorSum([f32; DIMENSIONS]);

impl Default for VectorSum {
    fn default() -> Self {
        Self([0.0; DIMENSIONS])
    }
}

impl VectorSum {
    pub(crate) fn add(&mut self, table: &EmbeddingTable, piece: PieceId, weight: f32) {
        let factor = table.scale(piece) * weight;
        let Some(codes) = table.codes(piece) else { return };
        for (sum, code) in self.0.iter_mut().zip(codes) {
            *sum += factor * f32::from(code.cast_signed());
        }
    }

    /// Returns the sum with length 1; zero if it is zero.
    fn normalised(&self) -> [f32; DIMENSIONS] {
        let length = self.0.iter().map(|component| component * component).sum::<f32>().sqrt();
        if length == 0.0 || !length.is_finite() {
            return [0.0; DIMENSIONS];
        }
        self.0.map(|component| component / length)
    }

    /// Returns the sum with its largest component scaled to 127; zero if it is zero.
    pub(crate) fn vector(&self) -> TextVector {
        let largest = self.0.iter().fold(0.0_f32, |largest, sum| largest.max(sum.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return TextVector::of_codes([0; DIMENSIONS]);
        }
        let factor = f32::from(i8::MAX) / largest;
        #[expect(clippy::cast_possible_truncation, reason = "rounded values from -127 to 127")]
        let codes = self.0.map(|sum| (sum * factor).round() as i8);
        TextVector::of_codes(codes)
    }
}
