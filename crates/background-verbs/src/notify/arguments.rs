//! The arguments of the verbs.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use palyra_wire::v1::NotificationTargetKind;

/// Lists targets of notifications.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Example:\n  palyra admin notify test webhook\n`palyra explain docs/notifications.md` says how targets are set."
)]
pub struct NotifyArgs {
    #[command(subcommand)]
    pub(super) verb: Option<NotifyVerb>,
    /// One line of JSON each
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum NotifyVerb {
    /// List the targets that are configured, with their last result
    #[command(after_help = "Example:\n  palyra admin notify list --json")]
    List {
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Send a test message and wait for its result; exits with 1 when it is not sent
    #[command(after_help = "Example:\n  palyra admin notify test command")]
    Test {
        /// To this target: command, webhook or desktop; all if left out
        #[arg(hide_possible_values = true, value_parser = targets())]
        target: Option<NotificationTargetKind>,
        /// The result of each target as one line of JSON
        #[arg(long)]
        json: bool,
    },
}

fn targets() -> impl TypedValueParser<Value = NotificationTargetKind> {
    let words = PossibleValuesParser::new(NotificationTargetKind::SHORT_NAMES);
    words.map(|word| NotificationTargetKind::from_short_name(&word).unwrap_or_default())
}
