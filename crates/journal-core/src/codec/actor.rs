//! Who acted, at the end of the facts of any kind: one field that all facts share.
//!
//! Facts of older versions do not have it, and older versions skip it. Begin at [`name_actor`].

use palyra_types::access::ActorIdentity;
use palyra_types::{PrincipalId, TokenId};
use palyra_wire::store;
use prost::Message;

use super::field::{MalformedEvent, ReadResult, UnreadableEvent, fixed};
use super::stored_enums::StoredEnum;

/// Appends to encoded facts who acted.
pub fn name_actor(facts: &mut Vec<u8>, actor: ActorIdentity) {
    let acted_by = store::Actor {
        principal: actor.principal.to_bytes().to_vec(),
        credential: actor.credential.map(|token| token.to_bytes().to_vec()).unwrap_or_default(),
        surface: actor.surface.to_stored(),
    };
    // Fields of one message may be written one after the other; this one has the highest number.
    facts.extend(store::FactsEnd { acted_by: Some(acted_by) }.encode_to_vec());
}

/// Reads from encoded facts who acted; `None` where no one is named, or on a surface of a newer version.
///
/// # Errors
/// [`MalformedEvent`] when the bytes are not what any version writes.
pub fn actor_of(facts: &[u8]) -> Result<Option<ActorIdentity>, MalformedEvent> {
    let end = store::FactsEnd::decode(facts).map_err(|_| MalformedEvent)?;
    let Some(acted_by) = end.acted_by else { return Ok(None) };
    match read(&acted_by) {
        Ok(actor) => Ok(Some(actor)),
        Err(UnreadableEvent::Newer) => Ok(None),
        Err(UnreadableEvent::Malformed) => Err(MalformedEvent),
    }
}

fn read(stored: &store::Actor) -> ReadResult<ActorIdentity> {
    let credential = &stored.credential;
    Ok(ActorIdentity {
        principal: PrincipalId::from_bytes(fixed(&stored.principal)?),
        credential: if credential.is_empty() { None } else { Some(TokenId::from_bytes(fixed(credential)?)) },
        surface: StoredEnum::from_stored(stored.surface)?,
    })
}
