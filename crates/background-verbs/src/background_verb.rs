//! The verbs as one, for the command line.

use palyra_client::Client;
use palyra_terminal::Output;

use crate::incidents::{self, IncidentsArgs};
use crate::notify::{self, NotifyArgs};
use crate::tasks::{self, TasksArgs};
use crate::verb_end::{BackgroundVerbEnd, BackgroundVerbError};

/// A verb of what the daemon does by itself.
#[derive(Debug)]
pub enum BackgroundVerb {
    /// `palyra admin tasks`.
    Tasks(TasksArgs),
    /// `palyra admin notify`.
    Notify(NotifyArgs),
    /// `palyra admin incidents`.
    Incidents(IncidentsArgs),
}

impl BackgroundVerb {
    /// Returns whether the verb only looks, so that a journal in doubt is reported and does not stop it.
    #[must_use]
    pub fn is_inspection(&self) -> bool {
        match self {
            Self::Tasks(args) => args.is_inspection(),
            Self::Notify(_) => false,
            Self::Incidents(args) => args.is_inspection(),
        }
    }

    /// Runs the verb.
    ///
    /// # Errors
    /// [`BackgroundVerbError`].
    pub async fn run(
        self,
        output: &Output,
        client: &Client,
    ) -> Result<BackgroundVerbEnd, BackgroundVerbError> {
        match self {
            Self::Tasks(args) => tasks::run(output, client, args).await,
            Self::Notify(args) => notify::run(output, client, args).await,
            Self::Incidents(args) => incidents::run(output, client, args).await,
        }
    }
}
