//! Attacks on the web console in a real browser, each with a control by which the same attack succeeds.
//!
//! The scripts beside these files do what an attacker or a person does, and print a line of JSON for each step; the tests judge.

mod decisions;
mod downloads;
mod foreign_pages;
mod rebinding;
mod records;
mod texts;
