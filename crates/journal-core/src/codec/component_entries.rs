//! Stored forms of entries about components: added, removed.

use palyra_types::component::{AddedComponent, ComponentCapability, ComponentEvent};
use palyra_types::event::JournalEvent;
use palyra_types::tool::EffectContract;
use palyra_types::{ComponentId, Redacted};
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, UnreadableEvent, VERSION, facts_only, fixed, pair};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &ComponentEvent) -> EncodedParts {
    match event {
        ComponentEvent::Added(added) => encode_added(added),
        ComponentEvent::Removed { component } => {
            let component = component.to_bytes().to_vec();
            let facts = store::ComponentRemovedFacts { version: VERSION, component };
            facts_only(&facts)
        }
    }
}

fn encode_added(added: &AddedComponent) -> EncodedParts {
    let AddedComponent { component, sha256, bytes, tool_version, contract, .. } = added;
    let AddedComponent { name, text, schema, capabilities, source, .. } = added;
    pair(
        &store::ComponentAddedFacts {
            version: VERSION,
            component: component.to_bytes().to_vec(),
            sha256: sha256.to_vec(),
            bytes: *bytes,
            tool_version: *tool_version,
            contract: contract.to_stored(),
        },
        &store::ComponentAddedPayload {
            name: name.expose().clone(),
            text: text.expose().clone(),
            schema: schema.expose().clone(),
            capabilities: capabilities.iter().map(ToString::to_string).collect(),
            source: source.expose().clone(),
        },
    )
}

pub(super) fn decode_added(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::ComponentAddedFacts::decode(facts)?;
    let payload = store::ComponentAddedPayload::decode(payload)?;
    // A capability of a newer version is nothing that this one could withhold or give.
    let capability = |text: &String| text.parse::<ComponentCapability>().map_err(|_| UnreadableEvent::Newer);
    Ok(JournalEvent::Component(ComponentEvent::Added(AddedComponent {
        component: component_id(&facts.component)?,
        sha256: fixed(&facts.sha256)?,
        bytes: facts.bytes,
        tool_version: facts.tool_version,
        contract: EffectContract::from_stored(facts.contract)?,
        name: Redacted::from_stored(payload.name),
        text: Redacted::from_stored(payload.text),
        schema: Redacted::from_stored(payload.schema),
        capabilities: payload.capabilities.iter().map(capability).collect::<ReadResult<_>>()?,
        source: Redacted::from_stored(payload.source),
    })))
}

pub(super) fn decode_removed(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::ComponentRemovedFacts::decode(facts)?;
    let component = component_id(&facts.component)?;
    Ok(JournalEvent::Component(ComponentEvent::Removed { component }))
}

fn component_id(bytes: &[u8]) -> ReadResult<ComponentId> {
    Ok(ComponentId::from_bytes(fixed(bytes)?))
}
