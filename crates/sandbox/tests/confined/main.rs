//! Real programs under both process tiers, on this host.

mod host;
mod honest_work;
mod attacks;
mod bombs;
mod endings;
mod survivors;
mod kernels;
mod own_user;
