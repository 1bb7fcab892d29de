//! A real language model on this machine, and the product driven against it.
//!
//! Owns installing the model and its server below target/tools/real-model, starting them on a free port
//! of 127.0.0.1, and a list of cases that each end in pass, fail or not supported. Uses only the
//! built programs and what they print: it knows nothing of the other crates. Begin at [`verb`].

mod verb;
mod cases;
mod judge;
mod tape;
mod palyra;
mod relay;
mod model_server;
mod http;
mod packages;
mod report;
mod evidence;

pub(crate) use verb::{ModelOptions, verb};
