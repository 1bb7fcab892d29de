//! Quality of recall on a labelled set of items and queries.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod labelled_set;
mod set_form;
mod quality;
