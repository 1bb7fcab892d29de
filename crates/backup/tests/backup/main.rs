//! Backups of a real journal: made under a writer, checked, attacked, put back.

mod attacks;
mod busy_writer;
mod house;
mod restored;
mod full_disk;
