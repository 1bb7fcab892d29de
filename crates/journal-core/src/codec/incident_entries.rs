//! Stored forms of entries about incidents of self-healing. All of it is facts: an incident has no content.

use std::time::Duration;

use palyra_types::IncidentId;
use palyra_types::event::JournalEvent;
use palyra_types::incident::{
    HealingDomain, IncidentCause, IncidentEvent, IncidentEvidence, IncidentOpened, IncidentResolution,
    IncidentSubject, RemedyKind, RemedyOutcome, SelfHealingMode,
};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, ReadResult, VERSION, facts_only, fixed, fixed_or_zero, micros, unless_zero,
};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &IncidentEvent) -> EncodedParts {
    match event {
        IncidentEvent::Opened(opened) => encode_opened(opened),
        IncidentEvent::RemedyStarted { incident, remedy } => facts_only(&store::IncidentRemedyFacts {
            version: VERSION,
            incident: incident.to_bytes().to_vec(),
            remedy: remedy.to_stored(),
            outcome: 0,
        }),
        IncidentEvent::RemedyEnded { incident, remedy, outcome } => facts_only(&store::IncidentRemedyFacts {
            version: VERSION,
            incident: incident.to_bytes().to_vec(),
            remedy: remedy.to_stored(),
            outcome: outcome.to_stored(),
        }),
        IncidentEvent::Resolved { incident, resolution } => facts_only(&store::IncidentResolvedFacts {
            version: VERSION,
            incident: incident.to_bytes().to_vec(),
            resolution: resolution.to_stored(),
        }),
        IncidentEvent::ModeSet { domain, mode } => facts_only(&store::HealingModeSetFacts {
            version: VERSION,
            domain: domain.to_stored(),
            mode: mode.map_or(0, StoredEnum::to_stored),
        }),
    }
}

fn encode_opened(opened: &IncidentOpened) -> EncodedParts {
    let IncidentOpened { incident, cause, severity, subject, evidence, planned } = opened;
    facts_only(&store::IncidentOpenedFacts {
        version: VERSION,
        incident: incident.to_bytes().to_vec(),
        cause: cause.to_stored(),
        severity: severity.to_stored(),
        subject: unless_zero(&subject.0),
        silent_us: micros(evidence.silent),
        window_us: micros(evidence.window),
        measured: evidence.measured,
        limit: evidence.limit,
        planned: planned.map_or(0, StoredEnum::to_stored),
    })
}

pub(super) fn decode_opened(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::IncidentOpenedFacts::decode(facts)?;
    let opened = IncidentOpened {
        incident: id(&facts.incident)?,
        cause: StoredEnum::from_stored(facts.cause)?,
        severity: StoredEnum::from_stored(facts.severity)?,
        subject: IncidentSubject(fixed_or_zero(&facts.subject)?),
        evidence: IncidentEvidence {
            silent: Duration::from_micros(facts.silent_us),
            window: Duration::from_micros(facts.window_us),
            measured: facts.measured,
            limit: facts.limit,
        },
        planned: optional(facts.planned)?,
    };
    Ok(IncidentEvent::Opened(opened).into())
}

pub(super) fn decode_remedy_started(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::IncidentRemedyFacts::decode(facts)?;
    let remedy = StoredEnum::from_stored(facts.remedy)?;
    Ok(IncidentEvent::RemedyStarted { incident: id(&facts.incident)?, remedy }.into())
}

pub(super) fn decode_remedy_ended(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::IncidentRemedyFacts::decode(facts)?;
    let remedy = StoredEnum::from_stored(facts.remedy)?;
    let outcome = StoredEnum::from_stored(facts.outcome)?;
    Ok(IncidentEvent::RemedyEnded { incident: id(&facts.incident)?, remedy, outcome }.into())
}

pub(super) fn decode_resolved(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::IncidentResolvedFacts::decode(facts)?;
    let resolution = StoredEnum::from_stored(facts.resolution)?;
    Ok(IncidentEvent::Resolved { incident: id(&facts.incident)?, resolution }.into())
}

pub(super) fn decode_mode_set(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::HealingModeSetFacts::decode(facts)?;
    let domain = StoredEnum::from_stored(facts.domain)?;
    Ok(IncidentEvent::ModeSet { domain, mode: optional(facts.mode)? }.into())
}

fn optional<E: StoredEnum>(number: i32) -> ReadResult<Option<E>> {
    if number == 0 { Ok(None) } else { E::from_stored(number).map(Some) }
}

fn id(bytes: &[u8]) -> ReadResult<IncidentId> {
    Ok(IncidentId::from_bytes(fixed(bytes)?))
}

/// Returns the number of a domain in keys and rows.
pub(crate) fn domain_number(domain: HealingDomain) -> u8 {
    u8::try_from(domain.to_stored()).unwrap_or(0)
}

/// Returns the domain of a number.
pub(crate) fn domain_from_number(number: u8) -> Option<HealingDomain> {
    HealingDomain::from_stored(number.into()).ok()
}

/// Returns the number of a mode in rows.
pub(crate) fn mode_number(mode: SelfHealingMode) -> u8 {
    u8::try_from(mode.to_stored()).unwrap_or(0)
}

/// Returns the mode of a number.
pub(crate) fn mode_from_number(number: u8) -> Option<SelfHealingMode> {
    SelfHealingMode::from_stored(number.into()).ok()
}

/// Adds the numbers of a value in rows.
macro_rules! row_numbers {
    ($($value:ty: $to:ident $from:ident;)+) => {
        $(
            /// Returns the number of a value in rows.
            pub(crate) fn $to(value: $value) -> u32 {
                u32::try_from(value.to_stored()).unwrap_or(0)
            }

            /// Returns the value of a number in rows.
            pub(crate) fn $from(number: u32) -> Option<$value> {
                <$value>::from_stored(i32::try_from(number).ok()?).ok()
            }
        )+
    };
}

row_numbers! {
    IncidentCause: cause_number cause_from_number;
    RemedyKind: remedy_number remedy_from_number;
    RemedyOutcome: outcome_number outcome_from_number;
    IncidentResolution: resolution_number resolution_from_number;
}
