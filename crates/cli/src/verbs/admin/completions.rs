//! `palyra admin completions`: what a shell completes, made of the command line's own definition; ids and models are asked
//! of the daemon while the shell completes.

use clap_complete::Shell;

use super::complete::with_known;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  palyra admin completions bash > \\\n    ~/.local/share/bash-completion/completions/palyra"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(hide_possible_values = false)]
    shell: Shell,
}

/// Runs the verb.
pub(super) fn run(context: &Context, args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut (context.definition)(), "palyra", &mut script);
    let definition = (context.definition)();
    let script = with_known(args.shell, &definition, &String::from_utf8_lossy(&script));
    context.output.verbatim(&script)?;
    Ok(Exit::Done)
}
