//! Stored forms of entries about the vault: put, bound, removed, unlocked, used.

use palyra_types::event::JournalEvent;
use palyra_types::vault::{SecretPut, SecretUsed, VaultEvent};
use palyra_types::{EffectId, PrincipalId, Redacted, RunId};
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, VERSION, error_code, error_number, facts_only, fixed, pair};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &VaultEvent) -> EncodedParts {
    match event {
        VaultEvent::Put(put) => encode_put(put),
        VaultEvent::Bound { via, secret, hosts, principals } => {
            let principals = principals.iter().map(|principal| principal.to_bytes().to_vec()).collect();
            let facts = store::SecretBoundFacts { version: VERSION, via: via.to_stored(), principals };
            let (secret, hosts) = (secret.expose().clone(), exposed(hosts));
            pair(&facts, &store::SecretBoundPayload { secret, hosts })
        }
        VaultEvent::Removed { via, secret } => {
            let facts = store::SecretRemovedFacts { version: VERSION, via: via.to_stored() };
            let payload = store::SecretRemovedPayload { secret: secret.expose().clone() };
            pair(&facts, &payload)
        }
        VaultEvent::Unlocked { via, outcome } => {
            let (via, outcome) = (via.to_stored(), outcome.to_stored());
            facts_only(&store::VaultUnlockedFacts { version: VERSION, via, outcome })
        }
        VaultEvent::PassphraseSet { via } => {
            let facts = store::VaultPassphraseSetFacts { version: VERSION, via: via.to_stored() };
            facts_only(&facts)
        }
        VaultEvent::Used(used) => encode_used(used),
    }
}

fn encode_put(put: &SecretPut) -> EncodedParts {
    let SecretPut { version, via, secret, hosts, sent_as } = put;
    pair(
        &store::SecretPutFacts { version: VERSION, value_version: *version, via: via.to_stored() },
        &store::SecretPutPayload {
            secret: secret.expose().clone(),
            hosts: exposed(hosts),
            sent_as: sent_as.expose().clone(),
        },
    )
}

pub(super) fn decode_put(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SecretPutFacts::decode(facts)?;
    let payload = store::SecretPutPayload::decode(payload)?;
    Ok(JournalEvent::Vault(VaultEvent::Put(SecretPut {
        version: facts.value_version,
        via: StoredEnum::from_stored(facts.via)?,
        secret: Redacted::from_stored(payload.secret),
        hosts: redacted(payload.hosts),
        sent_as: Redacted::from_stored(payload.sent_as),
    })))
}

pub(super) fn decode_bound(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SecretBoundFacts::decode(facts)?;
    let payload = store::SecretBoundPayload::decode(payload)?;
    let via = StoredEnum::from_stored(facts.via)?;
    let (secret, hosts) = (Redacted::from_stored(payload.secret), redacted(payload.hosts));
    let principals = facts.principals.iter().map(|id| Ok(PrincipalId::from_bytes(fixed(id)?)));
    let principals = principals.collect::<ReadResult<Vec<_>>>()?;
    Ok(JournalEvent::Vault(VaultEvent::Bound { via, secret, hosts, principals }))
}

pub(super) fn decode_removed(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SecretRemovedFacts::decode(facts)?;
    let payload = store::SecretRemovedPayload::decode(payload)?;
    let via = StoredEnum::from_stored(facts.via)?;
    Ok(JournalEvent::Vault(VaultEvent::Removed { via, secret: Redacted::from_stored(payload.secret) }))
}

pub(super) fn decode_unlocked(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::VaultUnlockedFacts::decode(facts)?;
    let via = StoredEnum::from_stored(facts.via)?;
    Ok(JournalEvent::Vault(VaultEvent::Unlocked { via, outcome: StoredEnum::from_stored(facts.outcome)? }))
}

pub(super) fn decode_passphrase_set(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::VaultPassphraseSetFacts::decode(facts)?;
    Ok(JournalEvent::Vault(VaultEvent::PassphraseSet { via: StoredEnum::from_stored(facts.via)? }))
}

fn encode_used(used: &SecretUsed) -> EncodedParts {
    let SecretUsed { on_behalf, refused, secret, host } = used;
    let (run, effect) =
        on_behalf.map_or((Vec::new(), 0), |(run, effect)| (run.to_bytes().to_vec(), effect.0));
    pair(
        &store::SecretUsedFacts { version: VERSION, run, effect, refused: error_number(*refused) },
        &store::SecretUsedPayload { secret: secret.expose().clone(), host: host.expose().clone() },
    )
}

pub(super) fn decode_used(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SecretUsedFacts::decode(facts)?;
    let payload = store::SecretUsedPayload::decode(payload)?;
    let on_behalf = match facts.run.as_slice() {
        [] => None,
        run => Some((RunId::from_bytes(fixed(run)?), EffectId(facts.effect))),
    };
    let refused = error_code(facts.refused)?;
    let (secret, host) = (Redacted::from_stored(payload.secret), Redacted::from_stored(payload.host));
    Ok(JournalEvent::Vault(VaultEvent::Used(SecretUsed { on_behalf, refused, secret, host })))
}

fn exposed(texts: &[Redacted<String>]) -> Vec<String> {
    texts.iter().map(|text| text.expose().clone()).collect()
}

fn redacted(texts: Vec<String>) -> Vec<Redacted<String>> {
    texts.into_iter().map(Redacted::from_stored).collect()
}
