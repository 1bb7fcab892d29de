//! What a component says of itself, in words of ours.

use crate::bindings::palyra::tool::description as wit;

/// What a component says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedComponent {
    /// Its name as a tool.
    pub name: String,
    /// For a model to read.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: String,
    /// What may be done when the outcome of a call is not known.
    pub contract: DescribedContract,
    /// What it asks to reach.
    pub capabilities: Vec<DescribedCapability>,
}

/// The contract that a component claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescribedContract {
    /// It changes nothing.
    Pure,
    /// It can be repeated with the same key.
    Keyed,
    /// It can look whether it was done.
    Probe,
    /// Nobody can tell.
    Opaque,
}

/// What a component asks to reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescribedCapability {
    /// Files of the workspace.
    ReadFiles,
    /// The same, and change them.
    WriteFiles,
    /// One host.
    Http(String),
    /// One secret of the vault.
    Secret(String),
    /// To keep values between its calls.
    KeyValue,
}

impl From<wit::ToolDescription> for DescribedComponent {
    fn from(told: wit::ToolDescription) -> Self {
        let contract = match told.contract {
            wit::Contract::Pure => DescribedContract::Pure,
            wit::Contract::Keyed => DescribedContract::Keyed,
            wit::Contract::Probe => DescribedContract::Probe,
            wit::Contract::Opaque => DescribedContract::Opaque,
        };
        let capability = |told: wit::Capability| match told {
            wit::Capability::ReadFiles => DescribedCapability::ReadFiles,
            wit::Capability::WriteFiles => DescribedCapability::WriteFiles,
            wit::Capability::Http(host) => DescribedCapability::Http(host),
            wit::Capability::Secret(name) => DescribedCapability::Secret(name),
            wit::Capability::KeyValue => DescribedCapability::KeyValue,
        };
        Self {
            name: told.name,
            description: told.description,
            schema: told.schema,
            contract,
            capabilities: told.capabilities.into_iter().map(capability).collect(),
        }
    }
}
