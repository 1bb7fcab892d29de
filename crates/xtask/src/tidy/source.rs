//! What the checks know of one Rust file.
//!
//! Owns plain facts without syntax trees, so that they can cross threads. Knows no rule.

use super::shapes::CodeShapes;

/// One Rust file, reduced to what some rule asks about.
#[derive(Debug, Default)]
pub(crate) struct SourceFile {
    /// Path from the root, with forward slashes.
    pub(crate) path: String,
    /// Folder of the crate below `crates/`.
    pub(crate) crate_folder: String,
    pub(crate) place: FilePlace,
    /// Path of the module this file is, from the crate's root.
    pub(crate) module: Vec<String>,
    pub(crate) lines_without_tests: usize,
    /// Length of the longest inline test module.
    pub(crate) inline_test_lines: usize,
    pub(crate) has_header: bool,
    /// Line and kind of top-level items that are neither modules nor imports.
    pub(crate) logic: Vec<(usize, String)>,
    pub(crate) functions: Vec<FunctionFacts>,
    pub(crate) items: Vec<NamedItem>,
    pub(crate) structs: Vec<Struct>,
    /// Line and self type of each impl block.
    pub(crate) impls: Vec<(usize, String)>,
    pub(crate) imports: Vec<Import>,
    pub(crate) references: Vec<Reference>,
    /// Modules written inside this file.
    pub(crate) inline_modules: Vec<Vec<String>>,
    /// Modules declared here that are compiled for tests only.
    pub(crate) test_modules: Vec<Vec<String>>,
    /// Lines on which an identifier occurs, for names written with a capital.
    pub(crate) capital_idents: Vec<(usize, String)>,
    /// Line, type and name of functions that are named by a path behind a type: `Type::function`, called or as a value.
    pub(crate) type_functions: Vec<(usize, String, String)>,
    /// Other names that this file gives to types: the new one and the old one.
    pub(crate) type_aliases: Vec<(String, String)>,
    /// Names, from this file's module on, and lines of functions that a test runner calls.
    pub(crate) tests: Vec<(String, usize)>,
    /// Rows `Name = 1234, "slug", ...`, as tables of error codes have them.
    pub(crate) error_codes: Vec<ErrorCodeRow>,
    /// Headers and doc comments outside of tests, one passage for lines that follow each other.
    pub(crate) doc_comments: Vec<TextPassage>,
    /// String literals of several words outside of tests.
    pub(crate) messages: Vec<TextPassage>,
    /// What `#[error("...")]` attributes hold.
    pub(crate) error_texts: Vec<String>,
    /// Syntax that could hide from a cap.
    pub(crate) shapes: CodeShapes,
}

/// Words that a person reads, and the line on which they begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPassage {
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Where in its crate a file stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilePlace {
    /// Below `src/`, part of the library or the main binary.
    #[default]
    Source,
    /// Below `src/`, compiled for tests only.
    SourceTests,
    /// `src/bin`, `build.rs`: a target of its own.
    OwnTarget,
    /// `tests/`, `benches/`, `examples/`.
    TestTarget,
}

/// A function, method or trait method.
#[derive(Debug)]
pub(crate) struct FunctionFacts {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// Lines of the body that are neither blank nor comment.
    pub(crate) lines: usize,
    pub(crate) parameters: usize,
    /// Names of parameters of type `bool`, where others may call it.
    pub(crate) public_bools: Vec<String>,
}

/// Something with a name: `Type::method` for methods.
#[derive(Debug)]
pub(crate) struct NamedItem {
    pub(crate) module: Vec<String>,
    pub(crate) name: String,
    pub(crate) line: usize,
}

/// A struct with its named fields.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) fields: Vec<Field>,
}

/// A named field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// `pub` without a restriction, in a struct that is `pub` too.
    pub(crate) public: bool,
    /// Every identifier in the field's type, outermost first.
    pub(crate) type_idents: Vec<String>,
}

/// A name that a `use` brings into a module.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) module: Vec<String>,
    /// The name as it is called there; `*` for all of them.
    pub(crate) name: String,
    pub(crate) segments: Vec<String>,
}

/// A path written in a module outside of tests.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) module: Vec<String>,
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
}

/// One row of a table of error codes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ErrorCodeRow {
    pub(crate) number: String,
    pub(crate) slug: String,
    /// One sentence that says what happened.
    pub(crate) summary: String,
    /// What a person can do about it.
    pub(crate) mend: String,
    pub(crate) line: usize,
}
