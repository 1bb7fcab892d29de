//! Quality of recall on a labelled set of items and queries.

mod labelled_set;
mod set_form;
mod quality;
