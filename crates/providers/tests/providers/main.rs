//! Every provider against one suite, and the adapters against real sockets.

mod conformance;
mod cuts;
mod detection;
mod embeddings;
mod faults;
mod attacks;
mod attacks_injected_texts;
mod hostile_tape;
mod guarded;
mod matrix;
mod messages;
mod responses;
mod openai_sdk;
mod openai_responses_sdk;
mod anthropic_sdk;
mod streaming;
mod support;
mod windows;
