//! What a component says of itself, as far as it can be believed: forms, lengths, and what goes together.
//!
//! Whether its name is free and its schema compiles is asked of whoever knows the other tools.

use palyra_types::component::{AddedComponent, ComponentCapability, ComponentDescription, ComponentRecord};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};

use crate::described::{DescribedCapability, DescribedComponent, DescribedContract};
use crate::limits::CALL_TIME_MAX;

/// Characters of a name, at most.
const NAME_CHARS_MAX: usize = 64;
/// Bytes of what is told to a model, at most.
const TEXT_BYTES_MAX: usize = 4 << 10;
/// Bytes of a schema, at most.
const SCHEMA_BYTES_MAX: usize = 32 << 10;
/// Capabilities of one component, at most.
const CAPABILITIES_MAX: usize = 32;
/// Bytes of a host with its port, at most.
const HOST_BYTES_MAX: usize = 253;
/// Bytes of output that are kept of a call.
const OUTPUT_BYTES_MAX: usize = 256 << 10;

/// Reads a description.
///
/// # Errors
/// What is wrong with it, for the person who adds it.
pub(crate) fn read(told: DescribedComponent) -> Result<ComponentDescription, String> {
    check_name(&told.name)?;
    check_text(&told.description)?;
    let schema = read_schema(&told.schema)?;
    if told.capabilities.len() > CAPABILITIES_MAX {
        return Err(format!("it asks for more than {CAPABILITIES_MAX} capabilities"));
    }
    let capabilities = told.capabilities.into_iter().map(read_capability).collect::<Result<Vec<_>, _>>();
    let mut capabilities = capabilities?;
    capabilities.sort();
    capabilities.dedup();
    let contract = match told.contract {
        DescribedContract::Pure => EffectContract::Pure,
        DescribedContract::Keyed => EffectContract::Keyed,
        DescribedContract::Probe => EffectContract::Probe,
        DescribedContract::Opaque => EffectContract::Opaque,
    };
    check_together(contract, &capabilities)?;
    Ok(ComponentDescription {
        name: ToolName::new(&told.name),
        text: told.description.trim().to_owned(),
        schema,
        contract,
        capabilities,
    })
}

fn check_name(name: &str) -> Result<(), String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let fits = name.len() <= NAME_CHARS_MAX
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(inner);
    if fits {
        return Ok(());
    }
    let shown: String = name.escape_debug().take(NAME_CHARS_MAX).collect();
    Err(format!(
        "`{shown}` is not a tool name: lowercase letters, digits and `_`, a letter first, at most {NAME_CHARS_MAX}"
    ))
}

fn check_text(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("it does not say what it does".to_owned());
    }
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!("what it says of itself has more than {TEXT_BYTES_MAX} bytes"));
    }
    let unseen = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    match text.chars().find(|c| unseen(*c)) {
        Some(c) => {
            Err(format!("what it says of itself holds U+{:04X}, which a person does not see", u32::from(c)))
        }
        None => Ok(()),
    }
}

/// Returns a schema as it is kept.
fn read_schema(text: &str) -> Result<String, String> {
    if text.len() > SCHEMA_BYTES_MAX {
        return Err(format!("its schema has more than {SCHEMA_BYTES_MAX} bytes"));
    }
    let mut schema: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("its schema is not JSON: {error}"))?;
    if schema.get("type").and_then(serde_json::Value::as_str) != Some("object") {
        return Err("its schema has to say `\"type\": \"object\"`".to_owned());
    }
    schema.sort_all_objects();
    Ok(schema.to_string())
}

fn read_capability(told: DescribedCapability) -> Result<ComponentCapability, String> {
    Ok(match told {
        DescribedCapability::ReadFiles => ComponentCapability::ReadFiles,
        DescribedCapability::WriteFiles => ComponentCapability::WriteFiles,
        DescribedCapability::Http(host) => ComponentCapability::Http(check_host(host)?),
        DescribedCapability::Secret(name) => {
            let name: palyra_ports::SecretName = name.parse().map_err(|error| format!("{error}"))?;
            ComponentCapability::Secret(name.as_str().to_owned())
        }
        DescribedCapability::KeyValue => ComponentCapability::KeyValue,
    })
}

fn check_host(host: String) -> Result<String, String> {
    let (name, port) = host.split_once(':').map_or((host.as_str(), None), |(name, port)| (name, Some(port)));
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    let port_fits = port
        .is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number > 0 && number.to_string() == port));
    if host.len() <= HOST_BYTES_MAX && name.split('.').all(part) && port_fits {
        return Ok(host);
    }
    let shown: String = host.escape_debug().take(80).collect();
    Err(format!(
        "`{shown}` is not a host name as capabilities need it: lowercase letters, digits, `-` and `.`, perhaps `:` and a port"
    ))
}

fn check_together(contract: EffectContract, asked: &[ComponentCapability]) -> Result<(), String> {
    let changes = asked
        .iter()
        .any(|one| matches!(one, ComponentCapability::WriteFiles | ComponentCapability::KeyValue));
    if contract == EffectContract::Pure && changes {
        return Err("it says that it changes nothing, and asks to change files or to keep values".to_owned());
    }
    let secret = asked.iter().any(|one| matches!(one, ComponentCapability::Secret(_)));
    let host = asked.iter().any(|one| matches!(one, ComponentCapability::Http(_)));
    if secret && !host {
        return Err("it asks for a secret, and for no host to send it to".to_owned());
    }
    Ok(())
}

/// Returns the tool that a component is; `None` for one that was removed, or whose content was erased.
#[must_use]
pub fn tool_of(record: &ComponentRecord) -> Option<ToolSpec> {
    record.removed.is_none().then(|| spec_of(&record.added)).flatten()
}

pub(crate) fn spec_of(added: &AddedComponent) -> Option<ToolSpec> {
    if added.is_erased() {
        return None;
    }
    let has = |wanted: fn(&ComponentCapability) -> bool| added.capabilities.iter().any(wanted);
    let writes = has(|one| matches!(one, ComponentCapability::WriteFiles));
    let reads = writes || has(|one| matches!(one, ComponentCapability::ReadFiles));
    let asks = has(|one| matches!(one, ComponentCapability::Http(_)));
    let secrets = has(|one| matches!(one, ComponentCapability::Secret(_)));
    let capabilities = [
        (reads, Capability::ReadFiles),
        (writes, Capability::WriteFiles),
        (asks, Capability::Network),
        (secrets, Capability::Secrets),
        (true, Capability::Component),
    ];
    let mut taints = Taints::TOOL;
    for (seen, label) in [(reads, Taints::WORKSPACE), (asks, Taints::WEB)] {
        taints = if seen { taints.with(label) } else { taints };
    }
    Some(ToolSpec {
        name: ToolName::new(added.name.expose()),
        version: added.tool_version,
        description: added.text.expose().clone(),
        schema: serde_json::from_str(added.schema.expose()).ok()?,
        contract: added.contract,
        parallelism: match added.contract {
            EffectContract::Pure => Parallelism::Parallel,
            EffectContract::Keyed
            | EffectContract::Probe
            | EffectContract::Local
            | EffectContract::Opaque => Parallelism::Exclusive,
        },
        conduct: ToolConduct::Direct,
        capabilities: capabilities.into_iter().filter_map(|(has, one)| has.then_some(one)).collect(),
        taints,
        risk: if asks || secrets { ApprovalRiskLevel::High } else { ApprovalRiskLevel::Medium },
        deadline: CALL_TIME_MAX,
        output_bytes_max: OUTPUT_BYTES_MAX,
    })
}

#[cfg(test)]
mod tests;
