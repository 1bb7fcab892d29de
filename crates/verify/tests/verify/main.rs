//! Tests of the verifier over logs that a small writer made from the document alone.

mod writer;
mod clean;
mod tamper;
mod calls;
mod broken;
mod cut_bundles;
mod python;
mod beside;
mod hostile;
mod command_line;
