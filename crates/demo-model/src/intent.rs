//! What a clause asks for.

use serde_json::{Map, Value, json};

/// A thing that needs a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolAbility {
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
    /// Delete, rename or extend a file.
    Patch,
    /// Run a command.
    Run,
    /// Fetch a page.
    Fetch,
    /// Keep a fact.
    Remember,
    /// Look for facts that were kept.
    Recollect,
    /// Ask git.
    Git,
    /// Ask the person.
    Ask,
}

impl ToolAbility {
    /// Every ability, in the order in which they are listed.
    pub(super) const ALL: [Self; 13] = [
        Self::Read,
        Self::List,
        Self::Glob,
        Self::Search,
        Self::Write,
        Self::Edit,
        Self::Patch,
        Self::Run,
        Self::Git,
        Self::Fetch,
        Self::Remember,
        Self::Recollect,
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
            Self::Recollect => "memory_search",
            Self::Git => "git",
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
            Self::Patch => "rename, delete or extend a file",
            Self::Run => "run a command",
            Self::Fetch => "fetch a page",
            Self::Remember => "remember a fact",
            Self::Recollect => "look for a fact that I remember",
            Self::Git => "ask git",
            Self::Ask => "ask you something",
        }
    }

    /// Returns a sentence that it understands.
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Read => "show me README.md",
            Self::List => "list the files in src",
            Self::Glob => "find *.md",
            Self::Search => "search for \"TODO\" in src",
            Self::Write => "create notes.txt with \"hello\"",
            Self::Edit => "replace \"old\" with \"new\" in notes.txt",
            Self::Patch => "rename notes.txt to list.txt",
            Self::Run => "run the tests",
            Self::Git => "git status",
            Self::Fetch => "fetch https://example.org/",
            Self::Remember => "remember that tests run on port 0",
            Self::Recollect => "what do you remember about tests?",
            Self::Ask => "ask me for a title then create title.txt with my answer",
        }
    }

    /// Returns sentences that it understands, to show what can be asked.
    pub(super) fn examples(self) -> impl Iterator<Item = &'static str> {
        let further = (self == Self::Search).then_some("where is main defined?");
        [self.example()].into_iter().chain(further)
    }
}

/// A tool call that a clause means.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct IntendedCall {
    /// What it does.
    pub(super) ability: ToolAbility,
    /// The arguments.
    pub(super) arguments: Map<String, Value>,
}

impl IntendedCall {
    /// Makes a call with text arguments.
    pub(super) fn new(ability: ToolAbility, arguments: &[(&str, &str)]) -> Self {
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

/// How an answer tells what a call found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerView {
    /// In a sentence or two.
    Digest,
    /// As it is.
    Whole,
    /// The last lines, as they are.
    Last(u64),
    /// Lines and words.
    Counts,
    /// Bytes.
    Size,
    /// The largest files of a listing, so many.
    Largest(usize),
    /// The files of a listing, one a line.
    Files,
    /// The names of a listing, folders too.
    Tree,
    /// The file that a list of times and names has last.
    Newest,
    /// How many commits.
    Commits,
    /// A part of a file that its kind knows.
    Section(FileSection),
    /// How many matches.
    Matches,
    /// The matches that are not definitions.
    Uses,
    /// How many matches, and of what.
    CountOf(&'static str),
    /// Yes, with what was found, or no.
    YesNo,
    /// Yes, with the matches that are not definitions, or no.
    IsUsed,
    /// The smallest file of a listing.
    Smallest,
    /// The files of a listing that have more bytes.
    LargerThan(u64),
    /// How many files of each kind.
    Kinds,
    /// The first line.
    FirstLine,
}

/// A part of a file that its kind knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileSection {
    /// The headings of a document.
    Headings,
    /// The targets of a Makefile.
    Targets,
    /// The scripts of a manifest.
    Scripts,
    /// What a manifest depends on.
    Dependencies,
    /// The version that a manifest states.
    Version,
}

/// How a line of a file changes where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineChange {
    /// Give a setting another value.
    Set { key: String, value: String },
    /// Replace a text on the line of a name.
    Swap { key: String, old: String, new: String },
    /// Give a requirement another version.
    Pin { name: String, line: String },
    /// Put a text in its place.
    Replace(LineSelection, String),
    /// Make a comment of it.
    Comment(LineSelection),
    /// Make code of a comment.
    Uncomment(LineSelection),
}

/// What is done for a project whose files say how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProjectChore {
    /// Run its tests.
    Test,
    /// Build it.
    Build,
    /// Start its program.
    Start,
}

/// Which lines of a file go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineSelection {
    /// The one with a number.
    Numbered(u64),
    /// The last one.
    Last,
    /// Those that hold a text.
    Holding(String),
    /// The comment that holds a text.
    Comment(String),
    /// The one that is a text, perhaps as an item of a list.
    Exactly(String),
    /// Those from one number to another.
    Range(u64, u64),
    /// All that hold a text.
    All(String),
}

/// Where a line is put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LinePlace {
    /// Before a line.
    Before(LineSelection),
    /// Behind a line.
    Behind(LineSelection),
}

/// Which part of a text is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextPart {
    /// All of it.
    Whole,
    /// Its first lines.
    First(usize),
    /// Its last lines.
    Last(usize),
    /// The headings of a document.
    Headings,
    /// The first heading.
    Title,
}

/// How a file changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileChange {
    /// Lines at its top; behind a line that names its interpreter.
    Header(String),
    /// Lines at its end.
    Footer(String),
    /// A target of a Makefile.
    Target { name: String, command: String },
    /// A script of a `package.json`.
    Script { name: String, command: String },
    /// A dependency of a manifest.
    Dependency { name: String, version: String },
    /// No spaces at the ends of lines.
    Trimmed,
    /// No empty lines.
    Dense,
}

/// The files that change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileSelection {
    /// These.
    Named(Vec<String>),
    /// All that match a pattern.
    Matching(String),
}

/// Something that tools do, in one round or in several of which a later one depends on what an earlier one found.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ToolGoal {
    /// Calls that are made together.
    Calls(Vec<IntendedCall>, AnswerView),
    /// Show every file of a folder.
    ReadAll(String),
    /// Put lines at the end of a file.
    Append { path: String, text: String },
    /// Put lines at the beginning of a file.
    Prepend { path: String, text: String },
    /// Take lines out of a file.
    Remove { path: String, lines: LineSelection },
    /// Delete a file or a folder.
    Delete(String),
    /// Give a file or a folder another name or place.
    Move { from: String, to: String },
    /// What the project's files say.
    Project(ProjectChore),
    /// Commit what is staged; everything when nothing is, or when the sentence says all of it.
    Commit { message: String, everything: bool },
    /// Run a line in a shell.
    Shell(String),
    /// Put lines beside a line.
    Insert { path: String, text: String, place: LinePlace },
    /// Replace a name by another, in a file, or in every file below a folder.
    Everywhere { old: String, new: String, place: String },
    /// Copy a file.
    Copy { from: String, to: String },
    /// Run a file with the program that its name asks for.
    RunFile(String),
    /// Find where a name is defined; where it occurs, when nothing defines it.
    Define(String),
    /// Write a part of a file into another.
    Extract { from: String, part: TextPart, to: String },
    /// Write what was found before into a file.
    Keep { part: TextPart, to: String },
    /// Change a line where it is; without a path, in the only file that has such a line.
    Rewrite { path: String, change: LineChange },
    /// Replace a text in each of several files, or in none.
    Among { old: String, new: String, paths: Vec<String> },
    /// Show a part of each manifest of the project.
    Manifests(FileSection),
    /// Count the lines of the files below a folder.
    CountLines(String),
    /// Forget the item of memory that says this.
    Forget(String),
    /// Change files whose form is simple, all of them or none.
    Reshape { files: FileSelection, change: FileChange },
}

impl ToolGoal {
    /// Makes one call.
    pub(super) fn one(call: IntendedCall) -> Self {
        Self::Calls(vec![call], AnswerView::Digest)
    }

    /// Runs a program.
    pub(super) fn run<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self::Calls(vec![run_call(argv)], AnswerView::Whole)
    }

    /// Asks git, with options.
    pub(super) fn git(subcommand: &str, options: &[&str], paths: &[String]) -> Self {
        let mut call = IntendedCall::new(ToolAbility::Git, &[("subcommand", subcommand)]);
        if !options.is_empty() {
            call = call.with("options", json!(options));
        }
        if !paths.is_empty() {
            call = call.with("paths", json!(paths));
        }
        Self::Calls(vec![call], AnswerView::Whole)
    }

    /// Returns what it needs, the look first.
    pub(super) fn abilities(&self) -> Vec<ToolAbility> {
        match self {
            Self::Calls(calls, _) => calls.iter().map(|call| call.ability).collect(),
            Self::ReadAll(_) | Self::Manifests(_) => vec![ToolAbility::List, ToolAbility::Read],
            Self::CountLines(_) => vec![ToolAbility::Glob, ToolAbility::Read],
            Self::Rewrite { path, .. } if path.is_empty() => {
                vec![ToolAbility::Search, ToolAbility::Read, ToolAbility::Patch]
            }
            Self::Reshape { files: FileSelection::Matching(_), .. } => {
                vec![ToolAbility::Glob, ToolAbility::Read, ToolAbility::Patch]
            }
            Self::Rewrite { .. } | Self::Among { .. } | Self::Reshape { .. } => {
                vec![ToolAbility::Read, ToolAbility::Patch]
            }
            Self::Append { .. } | Self::Prepend { .. } | Self::Remove { .. } => {
                vec![ToolAbility::Read, ToolAbility::Patch]
            }
            Self::Delete(_) | Self::Move { .. } => vec![ToolAbility::Patch],
            Self::Project(_) => vec![ToolAbility::List, ToolAbility::Run],
            Self::Commit { .. } => vec![ToolAbility::Git, ToolAbility::Run],
            Self::Shell(_) | Self::RunFile(_) | Self::Copy { .. } => vec![ToolAbility::Run],
            Self::Insert { .. } => vec![ToolAbility::Read, ToolAbility::Patch],
            Self::Everywhere { .. } => vec![ToolAbility::Search, ToolAbility::Read, ToolAbility::Patch],
            Self::Define(_) => vec![ToolAbility::Search],
            Self::Extract { .. } => vec![ToolAbility::Read, ToolAbility::Write],
            Self::Keep { .. } => vec![ToolAbility::Write],
            Self::Forget(_) => vec![ToolAbility::Recollect, ToolAbility::Remember],
        }
    }

    /// Returns whether it changes something or leaves the workspace.
    pub(super) fn is_change(&self) -> bool {
        self.abilities().into_iter().any(ToolAbility::is_change)
    }
}

impl ToolAbility {
    /// Returns whether it changes something or leaves the workspace.
    pub(super) fn is_change(self) -> bool {
        matches!(self, Self::Write | Self::Edit | Self::Patch | Self::Run | Self::Fetch | Self::Remember)
    }
}

/// Runs a program.
pub(super) fn run_call<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> IntendedCall {
    let argv: Vec<String> = argv.into_iter().map(Into::into).collect();
    IntendedCall { ability: ToolAbility::Run, arguments: Map::new() }.with("argv", json!(argv))
}

/// What the demo model is asked for and cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingAbility {
    /// Write text or code of its own.
    Compose,
    /// Judge, mend or explain.
    Understand,
    /// Reach another machine.
    Network,
    /// Take back what it did.
    Undo,
    /// Know things outside of the files.
    World,
    /// Do what would destroy much, or needs another user.
    Danger,
    /// Change the folder it works in.
    Folder,
    /// Keep something in mind.
    Memory,
    /// Commit without a message.
    Message,
    /// Say which of the words are the text.
    Quotes,
    /// Understand another language than English.
    Language,
    /// See a file that is not attached.
    Attachment,
    /// Change something for a user who wants nothing changed.
    Contradiction,
    /// Say how a program is used.
    Usage,
    /// Say why something is so.
    Reasons,
}

/// What one clause asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ClauseIntent {
    /// Something that tools do.
    Goal(ToolGoal),
    /// Something that a tool does, but its object is missing.
    Incomplete(ToolAbility),
    /// Something that is known and cannot be done.
    Cannot(MissingAbility),
    /// A description of this project.
    Project,
    /// A description of the model and its abilities.
    Abilities,
    /// A greeting.
    Greeting,
    /// Thanks.
    Thanks,
    /// Words about what was found before: "and tell me what it says".
    Aside,
    /// To have nothing changed.
    NoChange,
    /// To be on the branch that was made just before.
    SwitchToIt,
    /// To have the changes of a commit kept that is taken back just before.
    KeepChanges,
    /// A description of the attachments.
    Attachments,
    /// The earlier inputs of the session.
    Recall,
    /// Not understood; the clause as it was read.
    Unclear(String),
}
