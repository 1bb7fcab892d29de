//! What the arguments of a call name: paths, machines, the words of a command; and those that policies may look at.
//!
//! Owns which names of arguments mean what. Knows no tool: a tool's schema and the names in it are all there is.
//! Invariant: every path, machine and word that is found counts, however deep it lies; only what policies are
//! *shown* has limits.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::tool::{Capability, ToolCatalog, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::hosts::host_of;
use super::places::{Ground, Place, read_path};

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

    /// Returns the arguments as policies see them, and the names of those they do not.
    pub(crate) fn show(&self, arguments: &Value) -> (BTreeMap<String, ArgumentValue>, BTreeSet<String>) {
        let (mut shown, mut left_out) = (BTreeMap::new(), BTreeSet::new());
        for (name, value) in arguments.as_object().into_iter().flatten() {
            match self.0.get(name).and_then(|shape| shown_as(*shape, value)) {
                Some(value) => drop(shown.insert(name.clone(), value)),
                None => drop(left_out.insert(name.chars().take(64).collect())),
            }
        }
        (shown, left_out)
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
pub(crate) struct Named {
    pub(crate) paths: BTreeSet<String>,
    pub(crate) places: BTreeSet<Place>,
    pub(crate) hosts: BTreeSet<String>,
    pub(crate) argv: Vec<String>,
    /// How many were met; above [`NAMED_MAX`] the sets are not complete.
    pub(crate) count: usize,
}

/// What the name of an argument says about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Path,
    Host,
    Argv,
    Patch,
    Credential,
    Other,
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

fn meaning_of(name: &str, property: Option<&Value>) -> Meaning {
    match property.and_then(|property| property.get("format")).and_then(Value::as_str) {
        Some("path") => return Meaning::Path,
        Some("uri" | "url" | "hostname") => return Meaning::Host,
        Some(_) | None => {}
    }
    let is = |list: &[&str]| list.contains(&name);
    if is(&PATHS) || PATH_ENDS.iter().any(|end| name.ends_with(end)) {
        Meaning::Path
    } else if is(&HOSTS) || name.ends_with("_url") {
        Meaning::Host
    } else if is(&ARGVS) {
        Meaning::Argv
    } else if is(&PATCHES) {
        Meaning::Patch
    } else if is(&CREDENTIALS) {
        Meaning::Credential
    } else {
        Meaning::Other
    }
}

/// Finds what the arguments of a call of `tool` name.
pub(crate) fn named_by(tool: &ToolSpec, arguments: &Value, ground: Ground<'_>) -> Named {
    let mut find =
        Find { ground, starts: tool.capabilities.contains(&Capability::Process), named: Named::default() };
    let properties = tool.schema.get("properties");
    for (name, value) in arguments.as_object().into_iter().flatten() {
        let property = properties.and_then(|properties| properties.get(name));
        find.value(meaning_of(name, property), value);
    }
    let argv = std::mem::take(&mut find.named.argv);
    find.words(&argv);
    find.named.argv = argv;
    find.named
}

/// Returns whether an argument names a place whose change wants a yes that names it.
pub(crate) fn wants_own_yes(name: &str, value: &Value, ground: Ground<'_>) -> bool {
    let mut find = Find { ground, starts: false, named: Named::default() };
    find.value(meaning_of(name, None), value);
    find.named.places.into_iter().any(Place::wants_own_yes)
}

struct Find<'a> {
    ground: Ground<'a>,
    /// Whether the tool starts processes: only then is an argument a command.
    starts: bool,
    named: Named,
}

impl Find<'_> {
    fn value(&mut self, meaning: Meaning, value: &Value) {
        match value {
            Value::String(text) => self.text(meaning, text),
            Value::Array(members) => members.iter().for_each(|member| self.value(meaning, member)),
            Value::Object(members) => {
                for (name, member) in members {
                    let inner = match meaning_of(name, None) {
                        Meaning::Other => meaning,
                        own @ (Meaning::Path
                        | Meaning::Host
                        | Meaning::Argv
                        | Meaning::Patch
                        | Meaning::Credential) => own,
                    };
                    self.value(inner, member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, meaning: Meaning, text: &str) {
        match meaning {
            Meaning::Path => self.path(text),
            Meaning::Host => self.host(text),
            Meaning::Argv if self.starts => {
                self.named.argv.push(text.to_owned());
                self.named.count += 1;
            }
            Meaning::Patch => patched_paths(text).for_each(|path| self.path(path)),
            Meaning::Credential => {
                self.named.count += 1;
                self.named.places.insert(Place::Vault);
            }
            Meaning::Argv | Meaning::Other => {}
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

    fn host(&mut self, text: &str) {
        self.named.count += 1;
        if self.named.count <= NAMED_MAX {
            self.named.hosts.insert(host_of(text));
        }
    }

    /// Looks at the words of a command. A word proves nothing about what the command does, but what it names counts.
    fn words(&mut self, argv: &[String]) {
        let words = argv.iter().take(NAMED_MAX).flat_map(|word| word.split_whitespace());
        for (at, word) in words.enumerate() {
            let named = word.split_once('=').map_or(word, |(_, value)| value);
            let named = named.trim_matches(['"', '\'', '(', ')', ';', '&', '|', '<', '>', '`']);
            if named.contains("://") && !named.starts_with("file:") {
                self.host(named);
                continue;
            }
            let places = read_path(named, self.ground).places;
            // A program may well lie in /usr/bin.
            let counts = |place: &Place| at > 0 || *place != Place::OutsideRoot;
            self.named.places.extend(places.into_iter().filter(counts));
        }
    }
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
        let path = if line.starts_with("--- ") || line.starts_with("+++ ") {
            path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
        } else {
            path
        };
        (path != "/dev/null" && !path.is_empty()).then_some(path)
    })
}
