//! Every provider against one suite, and the adapters against real sockets.

mod conformance;
mod detection;
mod faults;
mod guarded;
mod openai_sdk;
mod anthropic_sdk;
mod streaming;
mod support;
