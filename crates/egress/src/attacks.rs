//! Attacks on the way out, each with a canary that must not be touched and a control run that touches it.

pub(crate) mod bench;
pub(crate) mod canary;
pub(crate) mod hostile_server;
pub(crate) mod scripted_resolver;

mod fetch_addresses;
mod fetch_limits;
mod fetch_redirects;
mod own_network;
