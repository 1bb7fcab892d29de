//! Attacks on the way out: spellings, addresses, names, redirects, proxies, answers; carried out in a network of its own.

pub(crate) mod network;

mod listeners;
mod world;
mod careless;

pub(crate) mod addresses;
pub(crate) mod redirects;
pub(crate) mod proxies;
pub(crate) mod answers;
pub(crate) mod headers;
