//! A model server for tests: real HTTP on 127.0.0.1, three wire formats, and every fault on demand.
//!
//! Speaks OpenAI Chat Completions (also as OpenRouter, vLLM, llama.cpp and Ollama speak it), OpenAI Responses and Anthropic
//! Messages, by path and headers. Owns the socket and a record of what was asked and which
//! connections were given up by the client. What is answered is a [`Reply`], chosen by a [`Behaviour`];
//! how it goes wrong is a [`Fault`]. Checks requests as strictly as the vendors do: one that breaks their
//! rules is refused and counted in [`ServerCounts::invalid`]. The vendors' own Python clients check this
//! server in the tests of the providers. Begin at [`ModelServer::start`].

mod server;
mod shared_server;
mod seen_request;
mod behaviour;
mod reply;
mod fault;
mod answer;
mod act;
mod exchange;
mod routes;
mod assistant;
mod request_words;
mod perform;
mod refusal;
mod image;
mod chat;
mod messages;
mod responses;
mod schema;
mod signature;
mod connection;
mod http;

pub use act::Cut;
pub use answer::{Stop, Tear, Tokens};
pub use behaviour::Behaviour;
pub use exchange::{Dialect, Vendor};
pub use fault::{Fault, RetryAfter};
pub use reply::Reply;
pub use request_words::without_tags;
pub use seen_request::{SeenRequest, ServerCounts};
pub use server::ModelServer;
