//! Where memory comes from in both programs, SQLite's included.
//!
//! Owns the choice and nothing else. Entries are made on one thread and let go on another, and the system's allocator
//! keeps what a load took: 28 MiB of 38 lay free and were not given back. How it is set up stands in
//! `.cargo/config.toml`; `cargo xtask soak` holds it to what it promises.

/// The allocator of every thread.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
