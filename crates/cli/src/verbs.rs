//! The verbs, one file each.

pub(crate) mod init;
pub(crate) mod run;
pub(crate) mod chat;
pub(crate) mod runs;
pub(crate) mod approve;
pub(crate) mod policy;
pub(crate) mod tools;
pub(crate) mod sessions;
pub(crate) mod budget;
pub(crate) mod memory;
pub(crate) mod model;
pub(crate) mod journal;
pub(crate) mod config;
pub(crate) mod status;
pub(crate) mod logs;
pub(crate) mod doctor;
pub(crate) mod admin;
pub(crate) mod api;
pub(crate) mod console;
pub(crate) mod usage;

mod attachments;
mod ids;
mod open_questions;
mod pages;
mod preview_references;
mod start_run;
