//! Building, checking and testing everything, in phases that are printed with their time.
//!
//! Owns the order of phases and what each one runs. A missing tool is a failure that names the mend,
//! never a silent skip. Begin at [`test`]; [`check`] is the same without installing anything.

mod test;
mod disk;
mod check;
mod bench;
mod setup;
mod vectors;
mod tools;
mod chance;
mod by_chance;
mod properties;
mod phases;
mod command;
mod summary;

pub(crate) use bench::{bench, shipped_bench};
pub(crate) use check::check;
pub(crate) use command::find_system_programs;
pub(crate) use command::run as run_command;
pub(crate) use properties::{HuntOptions as PropertiesOptions, properties};
pub(crate) use setup::{SetupAction, ensure_program, setup};
pub(crate) use test::test;
pub(crate) use vectors::published_cases;
