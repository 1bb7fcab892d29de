//! Search in the memory items of one principal: by words, by meaning and by age.
//!
//! Owns an index in memory, which can be built again from the journal at any time, and the embedding table. Knows neither where
//! items are stored nor what runs and models are. Invariants: an index has the items of one principal; no text is an error; a
//! query to which no item is relevant has no hits; nothing is written to a disk. Begin at [`MemoryIndexes`], which is the
//! adapter of the port, and at [`MemoryIndex`]; [`EmbeddedModel`] offers the table to others as a model of its own.

mod memory_indexes;
mod principal_index;

mod memory_index;
mod item;
mod query;
mod error;
pub mod limits;

mod ranking;
mod query_words;
mod scope_numbers;
mod slot_table;
mod word_index;

mod embedded_model;
mod text_vector;
mod word_piece;
mod embedding_table;
mod stem_counts;
mod stem;
mod normalise;

pub use embedded_model::EmbeddedModel;
pub use embedding_table::{EmbeddingTable, PieceId, ReadTableError};
pub use error::MemoryIndexError;
pub use item::{MemoryItem, MemoryScope, ScopeName};
pub use memory_index::MemoryIndex;
pub use memory_indexes::MemoryIndexes;
pub use query::{HitReason, MemoryHit, MemoryQuery};
pub use ranking::{ASKED_RELEVANCE_MIN, UNASKED_RELEVANCE_MIN};
pub use text_vector::{TextVector, UnitVector};
