//! A model server that costs next to nothing, and the shortest way to ask it.
//!
//! Both speak plain HTTP/1.1 with connections kept open, and the streaming format of OpenAI's Chat
//! Completions. What is answered stands in the question: see [`directive::AnswerDirective`].

pub mod directive;
mod wire;
pub mod server;
pub mod direct_client;

pub(crate) use wire::request;
