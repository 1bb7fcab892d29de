//! `palyra model`: which models there are, adding one, testing one.

mod address;
mod add;
mod list;
mod test;

use clap::Subcommand;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// List, add and test models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelVerb {
    /// List the models the daemon can ask
    List(list::ListArgs),
    /// Add a server of models, after a test
    Add(add::AddArgs),
    /// Test a model with a real completion
    Test(test::TestArgs),
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: ModelVerb) -> Result<Exit, Failure> {
    match verb {
        ModelVerb::List(args) => list::run(context, args).await,
        ModelVerb::Add(args) => add::run(context, args).await,
        ModelVerb::Test(args) => test::run(context, args).await,
    }
}
