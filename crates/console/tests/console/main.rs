//! Pages of the console over a real socket, beside a journal in memory and a scripted model.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod daemon;
mod browser;

mod reviews;
