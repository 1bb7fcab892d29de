//! `WordPiece`: each word as the longest pieces that the table has.
//!
//! Owns the cut of words into pieces. A word that cannot be cut completely has no pieces, as in the tokenizer that the table
//! was derived with. Invariant: a text has at most as many pieces as characters.

use crate::embedding_table::{EmbeddingTable, PieceId, PiecePosition};
use crate::limits::WORD_CHARS_MAX;
use crate::normalise::words;

impl EmbeddingTable {
    /// Returns the pieces of all words of `text`, in their order. Unknown words have none.
    #[must_use]
    pub fn pieces(&self, text: &str) -> Vec<PieceId> {
        words(text).iter().flat_map(|word| self.word_pieces(word)).collect()
    }

    /// Returns the pieces of one normalised word.
    pub(crate) fn word_pieces(&self, word: &str) -> Vec<PieceId> {
        if word.chars().count() > WORD_CHARS_MAX {
            return Vec::new();
        }
        let mut pieces = Vec::new();
        let mut rest = word;
        let mut position = PiecePosition::Start;
        while !rest.is_empty() {
            let Some(longest) = self.longest(rest, position) else { return Vec::new() };
            pieces.push(longest.piece);
            rest = &rest[longest.bytes..];
            position = PiecePosition::Continuation;
        }
        pieces
    }

    fn longest(&self, text: &str, position: PiecePosition) -> Option<LongestPiece> {
        let longest = text.floor_char_boundary(self.piece_bytes_max());
        let mut lengths = (1..=longest).rev().filter(|bytes| text.is_char_boundary(*bytes));
        lengths.find_map(|bytes| Some(LongestPiece { piece: self.find(&text[..bytes], position)?, bytes }))
    }
}

struct LongestPiece {
    piece: PieceId,
    bytes: usize,
}
