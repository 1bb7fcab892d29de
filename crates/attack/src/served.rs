//! What strangers and a hostile model do to a daemon that runs, through the program that ships.
//!
//! Each attempt has a home of its own. Begin at [`home`].

pub(crate) mod home;
pub(crate) mod prompts;
pub(crate) mod early;
pub(crate) mod withdrawn;
pub(crate) mod principals;
pub(crate) mod secrets;
pub(crate) mod settings;
pub(crate) mod connections;
