//! `palyra tools`: what models may be given beside their words.

use clap::Subcommand;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

mod components;
mod skills;

/// The tools there are, components that become tools, and skills that narrow and instruct runs
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsVerb {
    /// List the tools there are
    #[command(after_help = "Example:\n  palyra tools list")]
    List(components::ListArgs),
    /// Show what a WebAssembly component asks for, and add it as a tool after a yes
    #[command(after_help = "Example:\n  palyra tools add ./word_count.wasm")]
    Add(components::AddArgs),
    /// Remove a component
    #[command(after_help = "Example:\n  palyra tools remove word_count")]
    Remove(components::RemoveArgs),
    /// Install skills, look at them, switch them on and off
    Skills(skills::SkillsArgs),
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: ToolsVerb) -> Result<Exit, Failure> {
    match verb {
        ToolsVerb::List(args) => components::list(context, args).await,
        ToolsVerb::Add(args) => components::add(context, args).await,
        ToolsVerb::Remove(args) => components::remove(context, args).await,
        ToolsVerb::Skills(args) => skills::run(context, args).await,
    }
}
