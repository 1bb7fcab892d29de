//! What the arguments of a call name: paths, machines, the words of a command; and those that policies may look at.
//!
//! Owns what follows from the meaning of an argument. A tool's schema declares it; where it does not, the argument's name
//! tells, and for a component, which a stranger may have written, both count.
//! Invariant: every path, machine and word that is found counts, however deep it lies; only what policies are
//! *shown* has limits.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::argument_meaning::ArgumentMeaning;
use palyra_types::tool::{Capability, ToolCatalog, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::exclusions::without_exclusions;
use super::hosts::host_of;
use super::places::{PathContext, PlaceCategory, read_path, read_tree_path};

/// How long a text may be to be shown to policies as an argument, in bytes.
pub const ARGUMENT_TEXT_BYTES_MAX: usize = 1024;
/// How many members a list may have for that.
const LIST_MEMBERS_MAX: usize = 64;
/// How many paths, machines and words of a call are judged; a call that names more is denied.
pub const NAMED_MAX: usize = 1000;

/// The shape of an argument, as policies see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentShape {
    Text,
    Number,
    Flag,
    List,
}

/// An argument that policies see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum ArgumentValue {
    Flag(bool),
    Number(i64),
    Text(String),
    List(BTreeSet<String>),
}

/// The shapes of all arguments of a catalogue by name. Where two tools disagree, the first by name holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ArgumentShapes(pub(crate) BTreeMap<String, ArgumentShape>);

impl ArgumentShapes {
    pub(crate) fn of(catalog: &ToolCatalog) -> Self {
        let mut shapes = BTreeMap::new();
        for tool in catalog.iter() {
            let properties = tool.schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                if let Some(shape) = shape_of(property).filter(|_| is_plain(name)) {
                    shapes.entry(name.clone()).or_insert(shape);
                }
            }
        }
        Self(shapes)
    }

    /// Returns the arguments as policies see them, paths in their normal form, and the names of those they do not.
    pub(crate) fn show(
        &self,
        tool: &ToolSpec,
        arguments: &Value,
        ground: PathContext<'_>,
    ) -> (BTreeMap<String, ArgumentValue>, BTreeSet<String>) {
        let (mut shown, mut left_out) = (BTreeMap::new(), BTreeSet::new());
        for (name, value) in arguments.as_object().into_iter().flatten() {
            let normal = declares_path(tool, name).then(|| with_normal_paths(value, ground));
            let value = normal.as_ref().unwrap_or(value);
            match self.0.get(name).and_then(|shape| shown_as(*shape, value)) {
                Some(value) => drop(shown.insert(name.clone(), value)),
                None => drop(left_out.insert(name.chars().take(64).collect())),
            }
        }
        (shown, left_out)
    }
}

fn declares_path(tool: &ToolSpec, name: &str) -> bool {
    let property = tool.schema.get("properties").and_then(|properties| properties.get(name));
    property.and_then(ArgumentMeaning::declared) == Some(ArgumentMeaning::Path)
}

/// Returns the paths of an argument in the form in which tools open them.
fn with_normal_paths(value: &Value, ground: PathContext<'_>) -> Value {
    match value {
        Value::String(path) => Value::String(read_path(path, ground).text),
        Value::Array(members) => members.iter().map(|member| with_normal_paths(member, ground)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.clone(),
    }
}

/// Whether a name can be written in a policy without quotes.
fn is_plain(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn shape_of(property: &Value) -> Option<ArgumentShape> {
    match property.get("type").and_then(Value::as_str) {
        Some("string") => Some(ArgumentShape::Text),
        Some("integer") => Some(ArgumentShape::Number),
        Some("boolean") => Some(ArgumentShape::Flag),
        Some("array") => {
            let items = property.get("items").and_then(|items| items.get("type"));
            (items.and_then(Value::as_str) == Some("string")).then_some(ArgumentShape::List)
        }
        Some(_) => None,
        None => {
            let words = property.get("enum").and_then(Value::as_array)?;
            words.iter().all(Value::is_string).then_some(ArgumentShape::Text)
        }
    }
}

fn shown_as(shape: ArgumentShape, value: &Value) -> Option<ArgumentValue> {
    let fits = |text: &str| (text.len() <= ARGUMENT_TEXT_BYTES_MAX).then(|| text.to_owned());
    match shape {
        ArgumentShape::Text => value.as_str().and_then(fits).map(ArgumentValue::Text),
        ArgumentShape::Number => value.as_i64().map(ArgumentValue::Number),
        ArgumentShape::Flag => value.as_bool().map(ArgumentValue::Flag),
        ArgumentShape::List => {
            let members = value.as_array().filter(|members| members.len() <= LIST_MEMBERS_MAX)?;
            let texts: Option<BTreeSet<String>> =
                members.iter().map(|member| member.as_str().and_then(fits)).collect();
            texts.map(ArgumentValue::List)
        }
    }
}

/// What the arguments of a call name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NamedParts {
    pub(crate) paths: BTreeSet<String>,
    pub(crate) places: BTreeSet<PlaceCategory>,
    pub(crate) hosts: BTreeSet<String>,
    pub(crate) argv: Vec<String>,
    /// How many were met; above [`NAMED_MAX`] the sets are not complete.
    pub(crate) count: usize,
}

const PATHS: [&str; 22] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "dir",
    "dirs",
    "directory",
    "folder",
    "folders",
    "cwd",
    "workdir",
    "source",
    "destination",
    "dest",
    "target",
    "from",
    "to",
    "glob",
    "include",
    "root",
    "move_to",
];
const PATH_ENDS: [&str; 4] = ["_path", "_file", "_dir", "_paths"];
const HOSTS: [&str; 8] = ["url", "urls", "uri", "host", "hosts", "href", "endpoint", "domain"];
const ARGVS: [&str; 5] = ["argv", "command", "cmd", "args", "program"];
const PATCHES: [&str; 2] = ["patch", "diff"];
const CREDENTIALS: [&str; 2] = ["credential", "credentials"];

/// Returns what the name of an argument says, where its schema does not.
fn meaning_by_name(name: &str, property: Option<&Value>) -> ArgumentMeaning {
    match property.and_then(|property| property.get("format")).and_then(Value::as_str) {
        Some("path") => return ArgumentMeaning::Path,
        Some("uri" | "url" | "hostname") => return ArgumentMeaning::Host,
        Some(_) | None => {}
    }
    let is = |list: &[&str]| list.contains(&name);
    if is(&PATHS) || PATH_ENDS.iter().any(|end| name.ends_with(end)) {
        ArgumentMeaning::Path
    } else if is(&HOSTS) || name.ends_with("_url") {
        ArgumentMeaning::Host
    } else if is(&ARGVS) {
        ArgumentMeaning::Argv
    } else if is(&PATCHES) {
        ArgumentMeaning::Patch
    } else if is(&CREDENTIALS) {
        ArgumentMeaning::Credential
    } else {
        ArgumentMeaning::Text
    }
}

/// Returns what the argument of a tool means; of a component, only where the declaration and the name agree.
pub(crate) fn meaning_of(tool: &ToolSpec, name: &str) -> ArgumentMeaning {
    let property = tool.schema.get("properties").and_then(|properties| properties.get(name));
    let by_name = meaning_by_name(name, property);
    match property.and_then(ArgumentMeaning::declared) {
        Some(declared) if is_component(tool) && declared != by_name => ArgumentMeaning::Text,
        declared => declared.unwrap_or(by_name),
    }
}

fn is_component(tool: &ToolSpec) -> bool {
    tool.capabilities.contains(&Capability::Component)
}

/// Finds what the arguments of a call of `tool` name.
pub(crate) fn named_by(tool: &ToolSpec, arguments: &Value, ground: PathContext<'_>) -> NamedParts {
    let starts = tool.capabilities.contains(&Capability::Process);
    let mut find =
        PartFinder { ground, starts, also_by_name: is_component(tool), named: NamedParts::default() };
    for (name, value) in arguments.as_object().into_iter().flatten() {
        let property = tool.schema.get("properties").and_then(|properties| properties.get(name));
        find.argument(NamedArgument { name, property }, ArgumentMeaning::Text, value);
    }
    if works_at_the_root(tool, arguments) {
        find.path(".");
    }
    let argv = std::mem::take(&mut find.named.argv);
    find.words(&argv);
    find.named.argv = argv;
    find.named
}

/// Returns whether an argument names a place whose change wants a yes that names it.
pub(crate) fn wants_own_yes(name: &str, value: &Value, ground: PathContext<'_>) -> bool {
    let mut find = PartFinder { ground, starts: false, also_by_name: false, named: NamedParts::default() };
    find.argument(NamedArgument { name, property: None }, ArgumentMeaning::Text, value);
    find.named.places.into_iter().any(PlaceCategory::wants_own_yes)
}

/// Whether a call works at the workspace root, because it leaves out the path at which it would work, or is about all of
/// the workspace whatever its words are.
fn works_at_the_root(tool: &ToolSpec, arguments: &Value) -> bool {
    let required = tool.schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
    let properties = tool.schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().any(|(name, property)| {
        let declared = ArgumentMeaning::declared(property);
        let is_left_out = !is_required(name) && arguments.get(name).is_none();
        declared == Some(ArgumentMeaning::Option) || (declared == Some(ArgumentMeaning::Path) && is_left_out)
    })
}

struct PartFinder<'a> {
    ground: PathContext<'a>,
    /// Whether the tool starts processes: only then is an argument a command.
    starts: bool,
    /// Whether a name counts beside what is declared.
    also_by_name: bool,
    named: NamedParts,
}

/// An argument's name, and its schema where the tool has one.
#[derive(Clone, Copy)]
struct NamedArgument<'a> {
    name: &'a str,
    property: Option<&'a Value>,
}

impl PartFinder<'_> {
    /// Looks at one argument; `outer` is the meaning of what it lies in.
    fn argument(&mut self, argument: NamedArgument<'_>, outer: ArgumentMeaning, value: &Value) {
        let NamedArgument { name, property } = argument;
        let declared = property.and_then(ArgumentMeaning::declared);
        if let Some(declared) = declared {
            self.value(declared, property, value);
        }
        if declared.is_none() || self.also_by_name {
            let by_name = meaning_by_name(name, property);
            let meaning = if by_name == ArgumentMeaning::Text { outer } else { by_name };
            self.value(meaning, property, value);
        }
    }

    fn value(&mut self, meaning: ArgumentMeaning, schema: Option<&Value>, value: &Value) {
        match value {
            Value::String(text) => self.text(meaning, text),
            Value::Array(members) => {
                let items = schema.and_then(|schema| schema.get("items"));
                members.iter().for_each(|member| self.value(meaning, items, member));
            }
            Value::Object(members) => {
                let properties = schema.and_then(|schema| schema.get("properties"));
                for (name, member) in members {
                    let property = properties.and_then(|properties| properties.get(name));
                    self.argument(NamedArgument { name, property }, meaning, member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, meaning: ArgumentMeaning, text: &str) {
        match meaning {
            ArgumentMeaning::Path | ArgumentMeaning::Glob => self.path(text),
            ArgumentMeaning::Host => self.host(text),
            ArgumentMeaning::Argv if self.starts => {
                self.named.argv.push(text.to_owned());
                self.named.count += 1;
            }
            ArgumentMeaning::Option => self.option(text),
            ArgumentMeaning::Patch => patched_paths(text).for_each(|path| self.path(path)),
            ArgumentMeaning::Credential => {
                self.named.count += 1;
                self.named.places.insert(PlaceCategory::Vault);
            }
            ArgumentMeaning::Argv | ArgumentMeaning::Handle | ArgumentMeaning::Text => {}
        }
    }

    fn path(&mut self, text: &str) {
        self.named.count += 1;
        if self.named.count <= NAMED_MAX {
            let read = read_path(text, self.ground);
            self.named.paths.insert(read.text);
            self.named.places.extend(read.places);
        }
    }

    /// Looks at a word that may be an option with its value, a revision, a path, or a path in a revision.
    fn option(&mut self, word: &str) {
        self.named.count += 1;
        if self.named.count > NAMED_MAX {
            return;
        }
        let value = word.find('=').map_or("", |at| &word[at + 1..]);
        let behind_a_letter = match word.strip_prefix('-') {
            Some(cluster) if !cluster.starts_with('-') => cluster.get(1..).unwrap_or_default(),
            Some(_) | None => "",
        };
        let behind_letters = behind_a_letter.find(['/', '.', '~']).map_or("", |at| &behind_a_letter[at..]);
        for path in [word, value, behind_a_letter, behind_letters] {
            if !path.is_empty() && (path != word || !path.starts_with('-')) {
                self.named.places.extend(read_tree_path(path, self.ground));
            }
        }
        // Behind a colon stands a path from the root of a tree, which leads nowhere else.
        for (at, _) in word.match_indices([':', ')']) {
            let in_tree = read_tree_path(word[at + 1..].trim_start_matches('/'), self.ground);
            self.named
                .places
                .extend(in_tree.into_iter().filter(|place| *place != PlaceCategory::OutsideRoot));
        }
    }

    fn host(&mut self, text: &str) {
        self.named.count += 1;
        if self.named.count <= NAMED_MAX {
            self.named.hosts.insert(host_of(text));
        }
    }

    /// Looks at the words of a command. A word proves nothing about what the command does, but what it names counts.
    fn words(&mut self, argv: &[String]) {
        let mut places = BTreeSet::new();
        for (at, named) in named_words(argv).enumerate() {
            if is_address(named) {
                self.host(named);
                continue;
            }
            // A program may well lie in /usr/bin.
            let counts = |place: &PlaceCategory| at > 0 || *place != PlaceCategory::OutsideRoot;
            places.extend(read_path(named, self.ground).places.into_iter().filter(counts));
        }
        places.remove(&PlaceCategory::Git);
        if self.names_git(&without_exclusions(argv)) {
            places.insert(PlaceCategory::Git);
        }
        self.named.places.extend(places);
    }

    /// Whether some word names a place of git, also right behind the sign of a redirection.
    fn names_git(&self, argv: &[String]) -> bool {
        let words = named_words(argv).filter(|named| !is_address(named));
        let mut named = words.flat_map(|word| std::iter::once(word).chain(word.split(['<', '>', ';', '&'])));
        named.any(|named| read_path(named, self.ground).places.contains(&PlaceCategory::Git))
    }
}

/// What the words of a command name, in a line for a shell as well: a value without its option, without quotes around it.
pub(super) fn named_words(argv: &[String]) -> impl Iterator<Item = &str> {
    argv.iter().take(NAMED_MAX).flat_map(|word| word.split_whitespace()).map(|word| {
        let named = word.split_once('=').map_or(word, |(_, value)| value);
        named.trim_matches(['"', '\'', '(', ')', ';', '&', '|', '<', '>', '`'])
    })
}

fn is_address(named: &str) -> bool {
    named.contains("://") && !named.starts_with("file:")
}

/// The files that a patch names in its headers, whichever of the common forms it has.
fn patched_paths(patch: &str) -> impl Iterator<Item = &str> {
    const BEGINS: [&str; 12] = [
        "--- ",
        "+++ ",
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
        "*** Move File: ",
        "*** Rename to: ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
    ];
    patch.lines().filter_map(|line| {
        let path = BEGINS.iter().find_map(|begin| line.strip_prefix(begin))?;
        let path = path.split('\t').next().unwrap_or_default().trim().trim_matches('"');
        if !(line.starts_with("--- ") || line.starts_with("+++ ")) {
            return (!path.is_empty()).then_some(path);
        }
        // Only as it is written does it mean that there is no file: `a//dev/null` is a path.
        let named = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
        (path != "/dev/null" && !named.is_empty()).then_some(named)
    })
}
