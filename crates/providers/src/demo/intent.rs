//! What a clause asks for.

use serde_json::{Map, Value, json};

/// A thing that needs a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ability {
    /// Read a file.
    Read,
    /// List a folder.
    List,
    /// Find files by name.
    Glob,
    /// Find text in files.
    Search,
    /// Create a file.
    Write,
    /// Replace text in a file.
    Edit,
    /// Delete a line of a file.
    Patch,
    /// Run a command.
    Run,
    /// Fetch a page.
    Fetch,
    /// Keep a fact.
    Remember,
    /// Ask the person.
    Ask,
}

impl Ability {
    /// Every ability, in the order in which they are told.
    pub(super) const ALL: [Self; 11] = [
        Self::Read,
        Self::List,
        Self::Glob,
        Self::Search,
        Self::Write,
        Self::Edit,
        Self::Patch,
        Self::Run,
        Self::Fetch,
        Self::Remember,
        Self::Ask,
    ];

    /// Returns the tool that does it.
    pub(super) fn tool(self) -> &'static str {
        match self {
            Self::Read => "read_file",
            Self::List => "list_dir",
            Self::Glob => "glob",
            Self::Search => "search",
            Self::Write => "write_file",
            Self::Edit => "edit_file",
            Self::Patch => "apply_patch",
            Self::Run => "run_command",
            Self::Fetch => "http_fetch",
            Self::Remember => "memory_write",
            Self::Ask => "ask_user",
        }
    }

    /// Returns it in words that follow "I can".
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Self::Read => "read a file",
            Self::List => "list a folder",
            Self::Glob => "find files by name",
            Self::Search => "search for text",
            Self::Write => "create a file",
            Self::Edit => "edit a file",
            Self::Patch => "delete a line",
            Self::Run => "run a command",
            Self::Fetch => "fetch a page",
            Self::Remember => "remember a fact",
            Self::Ask => "ask you something",
        }
    }

    /// Returns a sentence that it understands.
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Read => "read README.md",
            Self::List => "list the files in src",
            Self::Glob => "find *.md",
            Self::Search => "search for \"TODO\" in src",
            Self::Write => "create notes.txt with \"hello\"",
            Self::Edit => "replace \"old\" with \"new\" in notes.txt",
            Self::Patch => "delete the line \"old\" from notes.txt",
            Self::Run => "run `ls -l`",
            Self::Fetch => "fetch https://example.org/",
            Self::Remember => "remember that tests run on port 0",
            Self::Ask => "ask me for a title then create title.txt with my answer",
        }
    }
}

/// A tool call that a clause stands for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// What it does.
    pub(super) ability: Ability,
    /// The arguments.
    pub(super) arguments: Map<String, Value>,
}

impl Call {
    /// Makes a call with text arguments.
    pub(super) fn new(ability: Ability, arguments: &[(&str, &str)]) -> Self {
        let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        Self { ability, arguments }
    }

    /// Adds an argument.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: Value) -> Self {
        self.arguments.insert(name.to_owned(), value);
        self
    }
}

/// What one clause asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Intent {
    /// Something that a tool does.
    Call(Call),
    /// Something that a tool does, but its object is missing.
    Incomplete(Ability),
    /// To be told what this project is.
    Project,
    /// To be told what the model is and can do.
    Abilities,
    /// A greeting.
    Greeting,
    /// Words that ask for nothing by themselves: thanks, "tell me about it".
    Aside,
    /// Not understood; the clause as it was read.
    Unclear(String),
}
