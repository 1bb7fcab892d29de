//! Limits of the index, each with its unit last.

use std::time::Duration;

/// Components of a vector.
pub const DIMENSIONS: usize = 128;
/// Items in the index of one principal.
pub const ITEMS_MAX: usize = 200_000;
/// Bytes of an item's text.
pub const ITEM_TEXT_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a scope's name.
pub const SCOPE_NAME_BYTES_MAX: usize = 512;
/// Bytes of a query that are read; the rest is ignored.
pub const QUERY_TEXT_BYTES_MAX: usize = 4 * 1024;
/// Words of a query that its meaning is made of; the rest is ignored.
pub const QUERY_MEANING_WORDS_MAX: usize = 512;
/// Different words of a query that are looked up; the rarest are.
pub const QUERY_WORDS_MAX: usize = 24;
/// Different pieces of an item's words that a query's words are compared with one by one.
pub const ITEM_PIECES_MAX: usize = 256;
/// Scopes of one query.
pub const QUERY_SCOPES_MAX: usize = 1_024;
/// Hits of one query.
pub const HITS_MAX: usize = 50;
/// Items that each of the two lists, by words and by meaning, proposes.
pub const CANDIDATES_MAX: usize = 100;
/// Characters of a word that is cut into pieces; longer words have no meaning, but are found as words.
pub const WORD_CHARS_MAX: usize = 100;
/// Principals whose indexes are in memory at once; the one that was used longest ago goes first.
pub const PRINCIPALS_MAX: usize = 64;
/// Items that all indexes in memory have together; beyond it the index that was used longest ago goes first.
pub const CACHED_ITEMS_MAX: usize = 20_000;
/// Age at which an item counts as half as recent as a new one.
pub const RECENCY_HALF_LIFE: Duration = Duration::from_hours(24 * 60);
/// Requests that the embedded model works on at once; each keeps one thread busy.
pub const EMBEDDING_REQUESTS_MAX: usize = 2;
/// Requests that wait for the embedded model; further ones are refused.
pub const EMBEDDING_REQUESTS_WAITING_MAX: usize = 62;
