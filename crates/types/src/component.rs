//! Components: WebAssembly tools that a person added, what each says of itself, and what pins it.
//!
//! Owns the values; how a component is run is an adapter's. Invariant: an id names one addition, whose bytes and whose
//! description never change.

use crate::content_walk::ContentClass::{Identity, Prose};
use crate::content_walk::content_rows;
use crate::tool::{EffectContract, ToolName};
use crate::{ComponentId, PrincipalId, Redacted, Seq, Timestamp};

/// What becomes of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComponentEvent {
    /// A person looked at what it asks for, and added it; its bytes are pinned.
    Added(AddedComponent),
    /// It was removed, or another one of its name took its place.
    Removed {
        /// The component.
        component: ComponentId,
    },
}

impl ComponentEvent {
    /// Returns which component it is about.
    #[must_use]
    pub fn component(&self) -> ComponentId {
        match self {
            Self::Added(added) => added.component,
            Self::Removed { component } => *component,
        }
    }
}

/// A component as it was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedComponent {
    /// Its id.
    pub component: ComponentId,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
    /// How many they are.
    pub bytes: u64,
    /// Its version as a tool: raised with each addition of its name.
    pub tool_version: u32,
    /// What may be done when the outcome of a call is not known.
    pub contract: EffectContract,
    /// Its name as a tool; empty once its content was erased.
    pub name: Redacted<String>,
    /// What it does, for a model to read.
    pub text: Redacted<String>,
    /// JSON Schema of its arguments.
    pub schema: Redacted<String>,
    /// What it was given, in order.
    pub capabilities: Vec<ComponentCapability>,
    /// The file it was read from.
    pub source: Redacted<String>,
}

impl AddedComponent {
    /// Returns whether its content was erased: nobody knows any more what it is called and asked for.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        self.name.expose().is_empty()
    }
}

/// What a component says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentDescription {
    /// Its name as a tool.
    pub name: ToolName,
    /// For a model to read.
    pub text: String,
    /// JSON Schema of its arguments.
    pub schema: String,
    /// What may be done when the outcome of a call is not known.
    pub contract: EffectContract,
    /// What it asks to reach, in order.
    pub capabilities: Vec<ComponentCapability>,
}

/// What a component asks to reach.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentCapability {
    /// To read files of the workspace.
    ReadFiles,
    /// To read and change files of the workspace.
    WriteFiles,
    /// To ask one host; with `:` and a port where another than 80 and 443 is meant.
    Http(String),
    /// To use one secret of the vault, without seeing it.
    Secret(String),
    /// To keep values between its calls.
    KeyValue,
}

impl std::fmt::Display for ComponentCapability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ReadFiles => f.write_str("read_files"),
            Self::WriteFiles => f.write_str("write_files"),
            Self::Http(host) => write!(f, "http:{host}"),
            Self::Secret(name) => write!(f, "secret:{name}"),
            Self::KeyValue => f.write_str("key_value"),
        }
    }
}

/// A text names no capability.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a capability")]
pub struct NotACapability(String);

impl std::str::FromStr for ComponentCapability {
    type Err = NotACapability;

    fn from_str(text: &str) -> Result<Self, NotACapability> {
        Ok(match text.split_once(':') {
            None if text == "read_files" => Self::ReadFiles,
            None if text == "write_files" => Self::WriteFiles,
            None if text == "key_value" => Self::KeyValue,
            Some(("http", host)) => Self::Http(host.to_owned()),
            Some(("secret", name)) => Self::Secret(name.to_owned()),
            None | Some(_) => return Err(NotACapability(text.chars().take(64).collect())),
        })
    }
}

/// A component file that was looked at, compiled and described; nothing is offered by that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExaminedComponent {
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
    /// How many they are.
    pub bytes: u64,
    /// What it says of itself.
    pub description: ComponentDescription,
}

/// A component as the journal knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentRecord {
    /// As it was added.
    pub added: AddedComponent,
    /// Who added it.
    pub by: PrincipalId,
    /// When.
    pub created: Timestamp,
    /// When it was removed.
    pub removed: Option<Timestamp>,
    /// The entry that added it.
    pub seq: Seq,
}

content_rows! {
    fn component_event(walk, event: ComponentEvent) {
        match event {
            ComponentEvent::Added(added) => {
                let AddedComponent {
                    component: _, sha256: _, bytes: _, tool_version: _, contract: _, name, text, schema,
                    capabilities, source,
                } = added;
                walk.text(Identity, "name", name);
                walk.text(Prose, "text", text);
                walk.json(Identity, "schema", schema);
                walk.each(capabilities, |walk, capability| match capability {
                    ComponentCapability::Http(host) => walk.text(Identity, "capabilities.http", host),
                    ComponentCapability::Secret(name) => walk.text(Identity, "capabilities.secret", name),
                    ComponentCapability::ReadFiles
                    | ComponentCapability::WriteFiles
                    | ComponentCapability::KeyValue => {}
                });
                walk.text(Prose, "source", source);
            }
            ComponentEvent::Removed { component: _ } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_is_read_as_it_is_shown() {
        for capability in [
            ComponentCapability::ReadFiles,
            ComponentCapability::WriteFiles,
            ComponentCapability::Http("example.com:8443".to_owned()),
            ComponentCapability::Secret("forge_token".to_owned()),
            ComponentCapability::KeyValue,
        ] {
            assert_eq!(capability.to_string().parse(), Ok(capability));
        }
        for text in ["", "http", "read_files:x", "HTTP:a"] {
            assert!(text.parse::<ComponentCapability>().is_err(), "{text}");
        }
    }
}
