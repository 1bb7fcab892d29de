//! Decides what a run does, without a clock, a disk, a network or chance.
//!
//! Everything arrives as a value and leaves as a value; ordered maps only.
//!
//! Begin at [`grant`], the permission that only this crate can make.

pub mod grant;

pub use grant::Grant;
