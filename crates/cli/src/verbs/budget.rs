//! `palyra budget`: what model requests may cost.

use clap::{Args, Subcommand};
use palyra_client::Client;
use palyra_run_view::{
    BudgetWords, budget_amount, budget_notes, budget_remarks, budget_request, budget_rows, goes_on_words,
};
use palyra_screen_text::table;
use palyra_terminal::{NoteKind, Output};
use palyra_wire::json::to_json;
use palyra_wire::v1;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::verbs::ids::RunName;

const HEAD: [&str; 6] = ["BUDGET", "FOR", "SPENT", "RESERVED", "LIMIT", "UNTIL"];
const NOTHING: &str = "no budget limits model requests; `palyra budget set NAME --limit tokens=N` makes one";

/// See what model requests cost and may cost, and change it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  palyra budget set daily --limit tokens=200000 --window day")]
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
    #[command(after_help = "Example:\n  palyra budget set daily --limit tokens=200000 --soft tokens=150000")]
    Set {
        /// Its name
        name: String,
        /// At most so much: tokens=N, money=AMOUNT or requests=N; may be given several times
        #[arg(long, value_name = "LIMIT")]
        limit: Vec<String>,
        /// Note runs above this
        #[arg(long, value_name = "LIMIT")]
        soft: Vec<String>,
        /// How long it counts: run, hour, day, week, month, endless
        #[arg(long, value_name = "SPAN", default_value = "day")]
        window: String,
        /// For each: total, principal, agent, session, schedule
        #[arg(long, value_name = "KIND", default_value = "total")]
        per: String,
        /// Only for this one of the kind
        #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
        id: String,
        /// At a limit: park, ask, refuse
        #[arg(long, value_name = "ACTION", default_value = "park")]
        at_limit: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a budget
    #[command(after_help = "Example:\n  palyra budget remove daily")]
    Remove {
        /// Its name
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Raise a budget's limits in its current windows
    #[command(after_help = "Example:\n  palyra budget top-up daily money=2.50")]
    TopUp {
        /// Its name
        name: String,
        /// By so much: tokens=N, money=AMOUNT or requests=N
        amount: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a run that waits for a budget go on once
    #[command(after_help = "Example:\n  palyra budget go-on 7XQ2")]
    GoOn {
        /// The run: its id, 4 letters of its beginning or end, `last`
        run: RunName,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(crate) async fn run(output: &Output, client: &Client, args: BudgetArgs) -> Result<Exit, Failure> {
    match args.verb.unwrap_or(BudgetVerb::List { json: false }) {
        BudgetVerb::List { json } => return list(output, client, json).await,
        BudgetVerb::Set { name, limit, soft, window, per, id, at_limit, json } => {
            let words = BudgetWords { name, limit, soft, window, per, purse: id, at_limit };
            let request = budget_request(words).map_err(Failure::Usage)?;
            let set = client.call(request.clone()).await?;
            let values = client.config().await.map(|config| config.values).unwrap_or_default();
            let setting = |key: &str| values.iter().find(|value| value.key == key).map(|it| it.value.clone());
            let remarks = budget_remarks(&request, setting);
            remarks.iter().for_each(|remark| output.note(NoteKind::Doubt, remark));
            say_done(output, json, &set, "the budget is set; it applies from the next model request")
        }
        BudgetVerb::Remove { name, json } => {
            let removed = client.call(v1::RemoveBudgetRequest { name }).await?;
            say_done(output, json, &removed, "the budget is removed")
        }
        BudgetVerb::TopUp { name, amount, json } => {
            let amount = Some(budget_amount(&amount).map_err(Failure::Usage)?);
            let raised =
                client.call(v1::TopUpBudgetRequest { name, purse_id: String::new(), amount }).await?;
            say_done(output, json, &raised, "the budget is topped up until its window ends")
        }
        BudgetVerb::GoOn { run, json } => {
            let run_id = run.resolve(client).await?.to_string();
            let named = output.id(&run_id);
            let goes_on = client.call(v1::GoOnOnceRequest { run_id }).await;
            let goes_on = goes_on.map_err(|error| Failure::from(error).naming(&named))?;
            say_done(output, json, &goes_on, &goes_on_words(&goes_on))
        }
    }
}

fn say_done(output: &Output, json: bool, answer: &impl prost::Name, done: &str) -> Result<Exit, Failure> {
    if json {
        output.json(&to_json(answer))?;
    } else {
        output.note(NoteKind::Good, done);
    }
    Ok(Exit::Done)
}

async fn list(output: &Output, client: &Client, json: bool) -> Result<Exit, Failure> {
    let v1::ListBudgetsResponse { budgets, currency } = client.call(v1::ListBudgetsRequest {}).await?;
    if json {
        budgets.iter().try_for_each(|budget| output.json(&to_json(budget)))?;
    } else if budgets.is_empty() {
        output.note(NoteKind::Info, NOTHING);
    } else {
        let rows = budgets.iter().flat_map(|budget| budget_rows(budget, &currency)).collect();
        table(HEAD, rows, output.columns()).iter().try_for_each(|line| output.exact_line(line))?;
        budget_notes(&budgets).iter().for_each(|note| output.note(NoteKind::Info, note));
    }
    Ok(Exit::Done)
}
