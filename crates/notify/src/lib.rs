//! Decides which notifications leave the daemon, when, and what they say.
//!
//! Owns quiet hours, the choice of messages for each target, their idempotency ids, their bodies, what follows a failed
//! attempt, and the signature of webhooks. Knows no clock, disk, network, chance or task: times, zones and what waits are
//! inputs, and messages are returned as values that the caller records and sends.
//!
//! Invariant: a message has kinds, ids, counts, times and the name of an agent, and nothing that a person or a model wrote in
//! a conversation; [`AttentionItem`] has no field for that. Begin at [`candidates`], then [`plan`].

#![warn(clippy::wildcard_enum_match_arm)]

mod attention_item;
mod quiet_hours;
mod message;
mod desktop_text;
mod target_name;
mod message_key;
mod candidates;
mod plan;
mod attempt_end;
mod webhook_signature;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;

pub use attempt_end::{AttemptFailure, AttemptStart, end_of_failure, start_of_attempt};
pub use attention_item::{AttentionItem, AttentionKind, AttentionSubject};
pub use candidates::{MessageCandidate, candidates};
pub use desktop_text::{DesktopText, desktop_text};
pub use message::{ConsoleOrigin, NotifyMessage};
pub use message_key::test_key;
pub use plan::{HOURLY_MESSAGES_MAX, NotifyPlan, RecentMessages, plan};
pub use quiet_hours::{InvalidQuietHours, QuietHours, QuietSpan};
pub use target_name::TargetName;
pub use webhook_signature::{InvalidWebhookSecret, WebhookSecret};
