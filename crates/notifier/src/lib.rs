//! Notifications at work: reads what waits for a person, records messages in the outbox, and sends them as tasks of the
//! background queue.
//!
//! Owns the writer of the outbox's entries. The crate `notify` decides when which message is sent; the adapter
//! behind [`DeliverMessages`](palyra_ports::DeliverMessages) sends it.
//!
//! Invariant: a message is recorded before it is sent, and an attempt before it begins; so a process that ends in between
//! leaves a message that is sent later, or one whose outcome is unknown, and never one that is lost. Begin at
//! [`NotificationSetup`]; the planner is [`NotifyPlanner`], and what callers ask is [`NotificationsHandle`].

mod parts;
mod attention;
mod outbox;
mod planner;
mod handler;
mod delivery_check;
mod target_view;
mod handle;
mod notifications;

pub use delivery_check::{DeliveryCheck, delivery_check};
pub use handle::{NotificationsHandle, TestError};
pub use handler::NotifyHandler;
pub use notifications::NotificationSetup;
pub use outbox::PlanError;
pub use parts::{NotifierParts, SettingsSource};
pub use planner::NotifyPlanner;
pub use target_view::TargetView;

#[cfg(test)]
mod tests;
