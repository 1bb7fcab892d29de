//! `palyra budget`: what model requests may cost.

use clap::{Args, Subcommand};
use palyra_run_view::budget_rows;
use palyra_terminal::NoteKind;
use palyra_types::budget::MoneyAmount;
use palyra_wire::json::to_json;
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::ids::RunName;

const HEAD: [&str; 6] = ["BUDGET", "FOR", "SPENT", "RESERVED", "LIMIT", "UNTIL"];
const NOTHING: &str = "no budget limits model requests; `palyra budget set NAME --tokens N` makes one";

/// See what model requests cost and may cost, and change it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  palyra budget set daily --money 5.00 --window day")]
pub(crate) struct BudgetArgs {
    #[command(subcommand)]
    verb: Option<BudgetVerb>,
}

#[derive(Debug, Subcommand)]
enum BudgetVerb {
    /// List budgets with what is spent and reserved
    #[command(after_help = "Example:\n  palyra budget list --json")]
    List {
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Make a budget, or replace it as a whole
    Set(SetArgs),
    /// Remove a budget
    #[command(after_help = "Example:\n  palyra budget remove daily")]
    Remove {
        /// Its name
        name: String,
    },
    /// Raise a budget's limits in its current windows
    #[command(after_help = "Example:\n  palyra budget top-up daily --money 2.50")]
    TopUp {
        /// Its name
        name: String,
        /// By so many tokens
        #[arg(long, value_name = "N")]
        tokens: Option<u64>,
        /// By so much money
        #[arg(long, value_name = "AMOUNT")]
        money: Option<MoneyAmount>,
        /// By so many model requests
        #[arg(long, value_name = "N")]
        requests: Option<u64>,
        /// Only the account of this id
        #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
        id: String,
    },
    /// Let a run that waits for a budget go on once
    #[command(after_help = "Example:\n  palyra budget go-on 7XQ2")]
    GoOn {
        /// The run: its id, 4 letters of its beginning or end, `last`
        run: RunName,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  palyra budget set daily --money 5.00 --soft-money 4.00")]
struct SetArgs {
    /// Its name
    name: String,
    /// Tokens of all requests, at most
    #[arg(long, value_name = "N")]
    tokens: Option<u64>,
    /// Their cost, at most
    #[arg(long, value_name = "AMOUNT")]
    money: Option<MoneyAmount>,
    /// Model requests, at most
    #[arg(long, value_name = "N")]
    requests: Option<u64>,
    /// Note runs above so many tokens
    #[arg(long, value_name = "N")]
    soft_tokens: Option<u64>,
    /// Note runs above this cost
    #[arg(long, value_name = "AMOUNT")]
    soft_money: Option<MoneyAmount>,
    /// How long it counts: run, hour, day, week, month, endless
    #[arg(long, value_name = "SPAN", default_value = "day")]
    window: String,
    /// For each: total, principal, agent, session
    #[arg(long, value_name = "KIND", default_value = "total")]
    per: String,
    /// Only for this one of the kind
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    id: String,
    /// At a limit: park, ask, refuse
    #[arg(long, value_name = "ACTION", default_value = "park")]
    at_limit: String,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: BudgetArgs) -> Result<Exit, Failure> {
    let client = &context.connect().await?;
    let done = match args.verb.unwrap_or(BudgetVerb::List { json: false }) {
        BudgetVerb::List { json } => {
            let budgets = client.call(v1::ListBudgetsRequest {}).await?.budgets;
            if json {
                budgets.iter().try_for_each(|budget| context.output.json(&to_json(budget)))?;
            } else if budgets.is_empty() {
                context.output.note(NoteKind::Info, NOTHING);
            } else {
                context.table(HEAD, budgets.iter().flat_map(budget_rows).collect())?;
            }
            return Ok(Exit::Done);
        }
        BudgetVerb::Set(args) => {
            let name = args.name.clone();
            client.call(request_of(args)?).await?;
            format!("`{name}` is set; it applies from the next model request")
        }
        BudgetVerb::Remove { name } => {
            client.call(v1::RemoveBudgetRequest { name: name.clone() }).await?;
            format!("`{name}` is removed")
        }
        BudgetVerb::TopUp { name, tokens, money, requests, id } => {
            let amount = v1::BudgetAmount {
                tokens: tokens.unwrap_or_default(),
                money_millionths: money.unwrap_or_default().0,
                requests: requests.unwrap_or_default(),
            };
            let request = v1::TopUpBudgetRequest { name: name.clone(), purse_id: id, amount: Some(amount) };
            client.call(request).await?;
            format!("`{name}` is topped up until its window ends")
        }
        BudgetVerb::GoOn { run } => {
            let run_id = run.resolve(client).await?.to_string();
            client.call(v1::GoOnOnceRequest { run_id }).await?;
            "the run goes on once".to_owned()
        }
    };
    context.output.note(NoteKind::Good, &done);
    Ok(Exit::Done)
}

fn request_of(args: SetArgs) -> Result<v1::SetBudgetRequest, Failure> {
    let unknown = |what: &str, given: &str| Failure::Usage(format!("`{given}` is not {what}; see `palyra budget set --help`"));
    let window = v1::BudgetWindow::from_short_name(&args.window);
    let purse = v1::BudgetPurse::from_short_name(&args.per);
    let at_limit = v1::BudgetAction::from_short_name(&args.at_limit);
    let limits = |tokens, money: Option<MoneyAmount>, requests| v1::BudgetLimits {
        tokens,
        money_millionths: money.map(|money| money.0),
        requests,
    };
    Ok(v1::SetBudgetRequest {
        name: args.name,
        purse: purse.ok_or_else(|| unknown("a kind of purse", &args.per))?.into(),
        purse_id: args.id,
        window: window.ok_or_else(|| unknown("a window", &args.window))?.into(),
        hard: Some(limits(args.tokens, args.money, args.requests)),
        soft: Some(limits(args.soft_tokens, args.soft_money, None)),
        at_limit: at_limit.ok_or_else(|| unknown("an action", &args.at_limit))?.into(),
        auxiliary_percent: None,
    })
}
