//! The embedding table: pieces of words, each with a vector and a weight.
//!
//! Owns the format of `embedding/table.bin`, which `embedding/derive.py` writes. Knows no search. Invariant: a table that was
//! read is consistent, so no lookup can fail. Begin at [`EmbeddingTable::built_in`].

use std::sync::{Arc, LazyLock};

use crate::limits::DIMENSIONS;

const MAGIC: &[u8; 8] = b"PALYRAEM";
const VERSION: u16 = 1;
const BUILT_IN: &[u8] = include_bytes!("../embedding/table.bin");

/// Why bytes are not an embedding table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadTableError {
    /// The header is another's.
    #[error("the embedding table has an unknown header; derive it again with embedding/derive.py")]
    UnknownHeader,
    /// The bytes end early, or go on after the end.
    #[error("the embedding table has the wrong length; derive it again with embedding/derive.py")]
    WrongLength,
    /// The vocabulary is not sorted text.
    #[error("the vocabulary of the embedding table is damaged; derive it again with embedding/derive.py")]
    DamagedVocabulary,
}

/// A piece of a word that the table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PieceId(u16);

impl PieceId {
    /// Returns the row of the table.
    #[must_use]
    pub fn row(self) -> usize {
        usize::from(self.0)
    }

    fn of_row(row: usize) -> Option<Self> {
        u16::try_from(row).ok().map(Self)
    }
}

/// Where in a word a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PiecePosition {
    /// At its start.
    Start,
    /// After its start.
    Continuation,
}

/// Vectors and weights of pieces of words.
#[derive(Debug)]
pub struct EmbeddingTable {
    starts: Box<[&'static str]>,
    continuations: Box<[&'static str]>,
    piece_bytes_max: usize,
    weights: &'static [u8],
    scales: Box<[f32]>,
    codes: &'static [[u8; DIMENSIONS]],
}

impl EmbeddingTable {
    /// Reads the table that is part of the program.
    ///
    /// # Errors
    /// [`ReadTableError`] if the file was damaged when the program was built; a test reads it.
    pub fn built_in() -> Result<Self, ReadTableError> {
        Self::read(BUILT_IN)
    }

    /// Returns the table that is part of the program; it is read once.
    ///
    /// # Errors
    /// As [`built_in`](Self::built_in).
    pub fn shared() -> Result<Arc<Self>, ReadTableError> {
        static SHARED: LazyLock<Result<Arc<EmbeddingTable>, ReadTableError>> =
            LazyLock::new(|| EmbeddingTable::built_in().map(Arc::new));
        SHARED.clone()
    }

    /// Reads a table.
    ///
    /// # Errors
    /// [`ReadTableError`], for each way in which bytes are not a table.
    pub fn read(bytes: &'static [u8]) -> Result<Self, ReadTableError> {
        let mut reader = TableReader { rest: bytes };
        if reader.take(MAGIC.len())? != MAGIC || reader.u16()? != VERSION {
            return Err(ReadTableError::UnknownHeader);
        }
        if usize::from(reader.u16()?) != DIMENSIONS {
            return Err(ReadTableError::UnknownHeader);
        }
        let starts_count = reader.u32()?;
        let continuations_count = reader.u32()?;
        let count = starts_count.saturating_add(continuations_count);
        if count > usize::from(u16::MAX) {
            return Err(ReadTableError::UnknownHeader);
        }
        let starts = reader.vocabulary(starts_count)?;
        let continuations = reader.vocabulary(continuations_count)?;
        let weights = reader.take(count)?;
        let scales = reader.take_rows(count, size_of::<f32>())?;
        let codes = reader.take_rows(count, DIMENSIONS)?.as_chunks().0;
        if !reader.rest.is_empty() {
            return Err(ReadTableError::WrongLength);
        }
        let scales = scales.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let piece_bytes_max = starts.iter().chain(&continuations).map(|piece| piece.len()).max().unwrap_or(0);
        Ok(Self { starts, continuations, piece_bytes_max, weights, scales, codes })
    }

    /// Returns how many pieces the table has.
    #[must_use]
    pub fn pieces_count(&self) -> usize {
        self.starts.len() + self.continuations.len()
    }

    /// Returns the text of a piece, without a mark of its position.
    #[must_use]
    pub fn text(&self, piece: PieceId) -> Option<&'static str> {
        let all = self.starts.iter().chain(&self.continuations);
        all.copied().nth(piece.row())
    }

    pub(crate) fn piece_bytes_max(&self) -> usize {
        self.piece_bytes_max
    }

    pub(crate) fn find(&self, piece: &str, position: PiecePosition) -> Option<PieceId> {
        match position {
            PiecePosition::Start => PieceId::of_row(self.starts.binary_search(&piece).ok()?),
            PiecePosition::Continuation => {
                PieceId::of_row(self.starts.len() + self.continuations.binary_search(&piece).ok()?)
            }
        }
    }

    /// Returns how rare a piece is, from 0 for the most common one to 1.
    pub(crate) fn rarity(&self, piece: PieceId) -> f32 {
        self.weights.get(piece.row()).map_or(0.0, |weight| f32::from(*weight) / f32::from(u8::MAX))
    }

    /// Returns the factor of a piece's codes.
    pub(crate) fn scale(&self, piece: PieceId) -> f32 {
        self.scales.get(piece.row()).copied().unwrap_or(0.0)
    }

    /// Returns the components of a piece's vector, without its weight.
    pub(crate) fn codes(&self, piece: PieceId) -> Option<&'static [u8; DIMENSIONS]> {
        self.codes.get(piece.row())
    }
}

struct TableReader {
    rest: &'static [u8],
}

impl TableReader {
    fn take(&mut self, count: usize) -> Result<&'static [u8], ReadTableError> {
        let taken = self.rest.get(..count).ok_or(ReadTableError::WrongLength)?;
        self.rest = &self.rest[count..];
        Ok(taken)
    }

    fn take_rows(&mut self, count: usize, row_bytes: usize) -> Result<&'static [u8], ReadTableError> {
        self.take(count.checked_mul(row_bytes).ok_or(ReadTableError::WrongLength)?)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadTableError> {
        self.take(N)?.try_into().map_err(|_| ReadTableError::WrongLength)
    }

    fn u16(&mut self) -> Result<u16, ReadTableError> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<usize, ReadTableError> {
        let value = u32::from_le_bytes(self.array()?);
        usize::try_from(value).map_err(|_| ReadTableError::WrongLength)
    }

    /// Reads `count` texts, each after its length in one byte.
    fn vocabulary(&mut self, count: usize) -> Result<Box<[&'static str]>, ReadTableError> {
        let mut pieces: Vec<&'static str> = Vec::new();
        for _ in 0..count {
            let [length] = self.array()?;
            let piece = std::str::from_utf8(self.take(usize::from(length))?);
            let piece = piece.map_err(|_| ReadTableError::DamagedVocabulary)?;
            if piece.is_empty() || pieces.last().is_some_and(|last| *last >= piece) {
                return Err(ReadTableError::DamagedVocabulary);
            }
            pieces.push(piece);
        }
        Ok(pieces.into_boxed_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_readable() {
        let table = EmbeddingTable::built_in().unwrap();
        assert!(table.pieces_count() > 20_000);
        assert!(table.find("database", PiecePosition::Start).is_some());
        assert!(table.find("ing", PiecePosition::Continuation).is_some());
        assert!(table.find("##ing", PiecePosition::Continuation).is_none());
    }

    #[test]
    fn a_table_that_is_cut_off_is_refused() {
        for length in (0..BUILT_IN.len()).step_by(BUILT_IN.len() / 50) {
            assert!(EmbeddingTable::read(&BUILT_IN[..length]).is_err(), "{length}");
        }
        assert_eq!(
            EmbeddingTable::read(&BUILT_IN[..BUILT_IN.len() - 1]).unwrap_err(),
            ReadTableError::WrongLength
        );
    }

    #[test]
    fn a_table_of_another_format_is_refused() {
        assert_eq!(
            EmbeddingTable::read(b"PALYRAEM\x02\x00\x80\x00").unwrap_err(),
            ReadTableError::UnknownHeader
        );
        assert_eq!(
            EmbeddingTable::read(b"somethin\x01\x00\x80\x00").unwrap_err(),
            ReadTableError::UnknownHeader
        );
    }
}
