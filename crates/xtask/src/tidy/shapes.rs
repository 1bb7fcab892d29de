//! Syntax that meets a cap without being simple, as facts of one file.
//!
//! Owns the shape of these facts. Knows no syntax tree and no rule: `read_source/shapes.rs` collects them,
//! `checks/shapes` counts them.

/// The shapes of one file outside of tests, by kind.
#[derive(Debug, Default)]
pub(crate) struct CodeShapes {
    /// Functions with a tuple among their parameters, once for each tuple.
    pub(crate) tuple_parameters: Vec<CodeShape>,
    /// Functions with more parameters than the signature shows, because elements of tuples count.
    pub(crate) functions: Vec<FunctionShape>,
    /// Closures with a name, after the first of their function.
    pub(crate) extra_closures: Vec<CodeShape>,
    /// Functions in which a tuple is only written to bind several names at once.
    pub(crate) tuple_lets: Vec<CodeShape>,
    /// Methods and open fields through which one handle gives out another.
    pub(crate) handle_accessors: Vec<CodeShape>,
    /// Names of structs, enums, unions, traits and aliases.
    pub(crate) types: Vec<CodeShape>,
    /// Names of the structs that literals build.
    pub(crate) literals: Vec<CodeShape>,
}

/// One occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeShape {
    pub(crate) line: usize,
    /// The function, the type or the method concerned.
    pub(crate) name: String,
}

/// The values that a signature passes to its function.
#[derive(Debug)]
pub(crate) struct FunctionShape {
    pub(crate) line: usize,
    pub(crate) name: String,
    /// Parameters, with the elements of a tuple in place of the tuple.
    pub(crate) parameters: usize,
    /// Types named in its parameters, each once; the type of `self` is not among them.
    pub(crate) passed_types: Vec<String>,
}
