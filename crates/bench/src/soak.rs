//! The soak: a real daemon under a mixed load for a long time, looked at whenever it is idle.
//!
//! Owns the load, the looks, and the limits that growth is held to. Knows the daemon as its users do: a program, a
//! socket, what the kernel says of the process. Invariant: two looks are compared only where both were taken with
//! no run open, no client connected but one, and no connection to a model. Begin at [`command::soak`].

pub mod command;
mod load;
mod mix;
mod failing_model;

mod sample;
mod judge;
mod trend;

mod report;
mod chart;
