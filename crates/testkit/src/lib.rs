//! Test doubles of the ports, and servers for tests to talk to.
//!
//! Owns nothing that ships. Knows the nouns, the pure core and the ports, never an adapter.
//! Begin at the double you need.

pub mod grants;
pub mod pass_through;

pub mod fake_clock;

pub mod fixed_entropy;

pub mod journal_suite;
pub mod row_store_suite;
pub mod family_oracle;
pub mod memory_journal;
pub mod journal_reads;
pub mod row_counter;

pub mod embedding_suite;
pub mod scripted_embeddings;

pub mod scripted_provider;
pub mod dns_server;
pub mod loopback_spellings;

pub mod scripted_tools;

pub mod injection;

pub mod component_text;
pub mod no_components;
pub mod skill_folders;
pub mod memory_secrets;
pub mod shared_words;

pub mod pty;

pub use fake_clock::FakeClock;
pub use fixed_entropy::{FixedEntropy, suite_seed};
pub use grants::{GrantRequest, grant_for};
pub use journal_reads::JournalReads;
pub use loopback_spellings::LOOPBACK_SPELLINGS;
pub use memory_journal::MemoryJournal;
pub use memory_secrets::{ChangeSecrets, MemorySecrets};
pub use row_counter::RowCounter;

pub use no_components::NoComponents;
pub use pass_through::PassThrough;
pub use scripted_embeddings::ScriptedEmbeddings;
pub use scripted_provider::{Gate, Script, ScriptedProvider};
pub use scripted_tools::{ScriptedTools, ToolScript};
pub use shared_words::SharedWordSearch;
pub use skill_folders::{MemorySkillFolders, skill_file};
