//! Search in memory items: by words, by meaning and by age.
//!
//! Begin at `tests/recall`: the labelled set that search is judged by.
