//! `palyra model`: which models there are, adding one, testing one, choosing the default.

mod add;
mod config_file;
mod default;
mod list;
mod test;

pub(super) use test::has_images;

use clap::Subcommand;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// List, add, test and choose models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelVerb {
    /// List the models the daemon can ask
    List(list::ListArgs),
    /// Add a server of models after a test, by default that of the environment
    Add(add::AddArgs),
    /// Show or choose the default model
    #[command(name = "use", visible_alias = "default")]
    Use(default::UseArgs),
    /// Test a model with a real completion
    Test(test::TestArgs),
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: ModelVerb) -> Result<Exit, Failure> {
    match verb {
        ModelVerb::List(args) => list::run(context, args).await,
        ModelVerb::Add(args) => add::run(context, args).await,
        ModelVerb::Use(args) => default::run(context, args).await,
        ModelVerb::Test(args) => test::run(context, args).await,
    }
}
