//! Cedar policies: read from files, checked, grouped, asked. Begin at [`PolicySet`].

mod schema_text;
mod set;
mod file;

mod parse;
mod terms;
mod diagnostic;

mod evaluate;
mod folders;
mod read_only;
mod mentions;
mod known_words;
mod index;

pub use diagnostic::{PolicyMistake, PolicyMistakes};
pub use evaluate::CedarQuery;
pub(crate) use evaluate::{Answer, worked_out};
pub(crate) use file::KnownPolicy;
pub use file::{POLICY_FILE_BYTES_MAX, PolicyFile};
pub use index::{NotStatic, PolicyIndex, PolicyQuery};
pub use read_only::ReadOnlyFolder;
pub(crate) use read_only::{WithReadOnly, has_mounts, with_read_only};
pub use schema_text::SCHEMA_TEXT;
pub use set::{POLICIES_MAX, PolicySet};
pub(crate) use terms::StatedTerms;
