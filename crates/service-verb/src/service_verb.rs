//! The verb as it is typed.

use clap::Subcommand;

/// Run the daemon as a systemd user service.
#[derive(Debug, Clone, Copy, Subcommand)]
#[command(
    after_help = "Example:\n  palyra admin service install\n`palyra explain docs/service.md` has more."
)]
pub enum ServiceVerb {
    /// Write the unit of this state directory, enable and start it
    #[command(
        after_help = "Examples:\n  palyra admin service install\n  palyra admin service install --print\nKeys of this environment are not copied; the command names the file for them."
    )]
    Install {
        /// Print the unit only; write and start nothing
        #[arg(long)]
        print: bool,
        /// Replace a unit that was edited, or that is of another state directory
        #[arg(long, conflicts_with = "print")]
        force: bool,
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the unit and the state of the service
    #[command(after_help = "Example:\n  palyra admin service status")]
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Stop and disable the service, and remove the unit that install wrote
    #[command(after_help = "Example:\n  palyra admin service uninstall")]
    Uninstall {
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
}
