//! Cedar policies: read from files, checked, grouped, asked. Begin at [`PolicySet`].

mod set;

mod parse;
mod terms;
mod mistake;

mod evaluate;
mod index;

pub(crate) use evaluate::Answer;
pub use evaluate::AskedOfCedar;
pub use index::{Asked, NotStatic, PolicyIndex};
pub use mistake::{PolicyMistake, PolicyMistakes};
pub(crate) use set::KnownPolicy;
pub use set::{POLICIES_MAX, POLICY_FILE_BYTES_MAX, PolicyFile, PolicySet, SCHEMA_TEXT};
