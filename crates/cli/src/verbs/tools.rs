//! `palyra tools`: what models may be given beside their words.

use clap::Subcommand;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

mod skills;

/// Skills that narrow and instruct runs
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsVerb {
    /// Install skills, look at them, switch them on and off
    Skills(skills::SkillsArgs),
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: ToolsVerb) -> Result<Exit, Failure> {
    match verb {
        ToolsVerb::Skills(args) => skills::run(context, args).await,
    }
}
