//! What notifications are made of.

use std::sync::Arc;

use palyra_journal_core::family::ReadFamilies;
use palyra_notify::{ConsoleOrigin, InvalidQuietHours, QuietHours, TargetName};
use palyra_ports::{Clock, DeliverMessages, DeliverySettings, DeliveryTarget, Recorder, Redactor};
use palyra_types::PrincipalId;
use tokio::sync::watch;

/// The adapters that notifications need, and whose they are.
#[derive(Clone)]
pub struct NotifierParts {
    /// Appends to the journal.
    pub recorder: Recorder,
    /// Reads records.
    pub families: Arc<dyn ReadFamilies>,
    /// Cleans explanations before they are recorded.
    pub redactor: Arc<dyn Redactor>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Sends messages.
    pub deliver: Arc<dyn DeliverMessages>,
    /// Whose targets they are.
    pub owner: PrincipalId,
}

/// Counts entries of the outbox. Clones count together.
#[derive(Clone, Default)]
pub(crate) struct DeliveryChanges(watch::Sender<u64>);

impl DeliveryChanges {
    pub(crate) fn note(&self) {
        self.0.send_modify(|changes| *changes += 1);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

/// Where the configuration says which targets there are.
pub struct SettingsSource<T> {
    pub(crate) config: watch::Receiver<Arc<T>>,
    read: fn(&T) -> DeliverySettings,
}

impl<T> Clone for SettingsSource<T> {
    fn clone(&self) -> Self {
        Self { config: self.config.clone(), read: self.read }
    }
}

/// Returns the targets of the configuration in force.
pub(crate) type SettingsReader = Arc<dyn Fn() -> DeliverySettings + Send + Sync>;

impl<T: Send + Sync + 'static> SettingsSource<T> {
    /// Takes a configuration that may change, and the part of it that matters.
    #[must_use]
    pub fn new(config: watch::Receiver<Arc<T>>, read: fn(&T) -> DeliverySettings) -> Self {
        Self { config, read }
    }

    /// Returns what reads it.
    #[must_use]
    pub fn reader(&self) -> Arc<dyn Fn() -> DeliverySettings + Send + Sync> {
        let source = self.clone();
        Arc::new(move || (source.read)(&source.config.borrow()))
    }

    /// Returns the settings, and waits for the next change from now on.
    pub(crate) fn take(&mut self) -> DeliverySettings {
        (self.read)(&self.config.borrow_and_update())
    }
}

/// Returns the targets as the planner names them.
pub(crate) fn target_names(settings: &DeliverySettings) -> Vec<TargetName> {
    settings.targets.iter().map(target_name).collect()
}

pub(crate) fn target_name(target: &DeliveryTarget) -> TargetName {
    TargetName { kind: target.kind, name: target.name.clone() }
}

/// Returns the quiet hours. The configuration was checked when it was read.
pub(crate) fn quiet_hours(settings: &DeliverySettings) -> Result<Option<QuietHours>, InvalidQuietHours> {
    let parse = |times: &palyra_ports::QuietTimes| QuietHours::parse(&times.from, &times.until, &times.zone);
    settings.quiet.as_ref().map(parse).transpose()
}

pub(crate) fn console_origin(settings: &DeliverySettings) -> ConsoleOrigin {
    ConsoleOrigin::new(&settings.console_origin)
}
