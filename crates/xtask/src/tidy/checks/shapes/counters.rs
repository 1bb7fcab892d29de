//! The counters: what each counts, and how a hit is mended.
//!
//! Owns the list. Knows no numbers.

use crate::tidy::house::RepositoryView;
use crate::tidy::rules::Rules;

use super::hits::CountedHit;
use super::{bodies, module_files, signatures, structs, type_names};

/// One number per group that only falls.
pub(super) struct ShapeCounter {
    pub(super) rule: &'static str,
    /// What it counts, for the file of counts.
    pub(super) counts: &'static str,
    pub(super) mend: &'static str,
    /// What any group may have.
    pub(super) free: fn(&Rules) -> usize,
    pub(super) hits: fn(&RepositoryView, &Rules) -> Vec<CountedHit>,
}

pub(super) const COUNTERS: [ShapeCounter; 11] = [
    ShapeCounter {
        rule: "tuple-parameters",
        counts: "Parameters that are tuples, also behind a reference or in an Option.",
        mend: "find the noun that the elements make up, and pass that",
        free: |_| 0,
        hits: signatures::tuple_parameters,
    },
    ShapeCounter {
        rule: "spread-parameters",
        counts: "Functions over the cap of parameters when elements of tuples count.",
        mend: "find the missing noun and pass that",
        free: |_| 0,
        hits: signatures::spread_parameters,
    },
    ShapeCounter {
        rule: "named-closures",
        counts: "Closures with a name, after the first of their function.",
        mend: "make it a private function below",
        free: |_| 0,
        hits: bodies::named_closures,
    },
    ShapeCounter {
        rule: "tuple-lets",
        counts: "Tuples that are written to bind or assign several names at once.",
        mend: "write one `let` for each name, or make the names unnecessary",
        free: |_| 0,
        hits: bodies::tuple_lets,
    },
    ShapeCounter {
        rule: "handle-accessors",
        counts: "Methods and open fields of handles that give out another handle.",
        mend: "give the handle to those who need it where the program is put together",
        free: |_| 0,
        hits: signatures::handle_accessors,
    },
    ShapeCounter {
        rule: "passed-types",
        counts: "Functions to which the most-passed structs are passed (`passed_to_functions_max`).",
        mend: "pass the one field that the function needs",
        free: |rules| rules.caps.passed_to_functions_max,
        hits: structs::users_of_passed,
    },
    ShapeCounter {
        rule: "passed-fields",
        counts: "Fields of the most-passed structs.",
        mend: "give the field to the few functions that need it, or find the noun that some fields make up",
        free: |_| 0,
        hits: structs::fields_of_passed,
    },
    ShapeCounter {
        rule: "wide-carriers",
        counts: "Structs called Args, Params, Parts or Context with more fields than `carrier_fields_max`, built in one place.",
        mend: "find the nouns that its fields make up; a list of parameters with a name is still a list of parameters",
        free: |_| 0,
        hits: structs::wide_carriers,
    },
    ShapeCounter {
        rule: "one-word-types",
        counts: "Types with a name of one word that is neither a field's term nor a seed name (`field_terms`).",
        mend: "say what kind of thing it is: noun and kind, as `InputQueue`, `RowCache`",
        free: |_| 0,
        hits: type_names::one_word_types,
    },
    ShapeCounter {
        rule: "one-word-percent",
        counts: "Percent of all types of the workspace with such a name; up to 30 is the goal and free.",
        mend: "say what kind of thing it is: noun and kind, as `InputQueue`, `RowCache`",
        free: |_| 30,
        hits: type_names::one_word_percent,
    },
    ShapeCounter {
        rule: "mod-files",
        counts: "Modules written as `foo/mod.rs`; the house writes `foo.rs` beside `foo/`.",
        mend: "move it to a file named like its folder, beside the folder",
        free: |_| 0,
        hits: module_files::mod_files,
    },
];
