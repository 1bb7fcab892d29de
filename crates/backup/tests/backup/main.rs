//! Backups of a real journal: made under a writer, checked, attacked, put back.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::print_stdout, reason = "figures are printed for people")]

mod attacks;
mod busy_writer;
mod house;
mod restored;
mod full_disk;
