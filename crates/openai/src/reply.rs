//! Answers to clients, from the tape of a run.
//!
//! Begin at [`answer_reader`]: it decides what is seen; the other files give that its shape.

pub mod answer_reader;
pub mod failure;
mod usage;
pub mod server_event;

pub mod chat_stream;
pub mod response_object;
pub mod response_stream;

pub mod embedding_list;
