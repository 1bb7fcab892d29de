//! Runs the integration corpus that the Cedar project publishes through our index and evaluator.
//!
//! Owns reading it: `corpus-tests/HASH.json` beside its policies, entities and schema. Run by
//! `cargo xtask cedar-corpus`; a second argument such as `3/10` judges a share of the cases. Fails when a request is decided otherwise than published, or otherwise by the whole
//! set, or when there is no case.
#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::collections::BTreeSet;
use std::error::Error;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cedar_policy::{
    Authorizer, Context, Decision, Entities, EntityId, EntityTypeName, EntityUid, PolicySet, Request,
    Response, Schema, ValidationMode, Validator,
};
use palyra_policy::PolicyIndex;
use serde::Deserialize;

/// More threads than this gain nothing on the machines that run it.
const THREADS_MAX: usize = 8;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    policies: PathBuf,
    entities: PathBuf,
    schema: PathBuf,
    should_validate: bool,
    requests: Vec<Question>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    description: String,
    principal: Name,
    action: Name,
    resource: Name,
    context: serde_json::Value,
    validate_request: bool,
    decision: String,
    reason: BTreeSet<String>,
    errors: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Name {
    #[serde(rename = "type")]
    kind: String,
    id: String,
}

/// What an answer comes to: the decision, the policies that decided, those that could not be evaluated.
type CedarAnswer = (&'static str, BTreeSet<String>, BTreeSet<String>);

#[derive(Default)]
struct Sum {
    cases: usize,
    requests: usize,
    /// Policies evaluated over all requests, and how many whole sets would have come to.
    evaluated: usize,
    whole: usize,
    validated_otherwise: usize,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.requests += other.requests;
        self.evaluated += other.evaluated;
        self.whole += other.whole;
        self.validated_otherwise += other.validated_otherwise;
    }
}

/// Every so many cases, and which of them: `3/10` is the fourth of each ten.
struct Share {
    first: usize,
    every: NonZero<usize>,
}

impl Default for Share {
    fn default() -> Self {
        Self { first: 0, every: NonZero::<usize>::MIN }
    }
}

impl Share {
    fn read(text: &str) -> Outcome<Self> {
        let (first, every) = text.split_once('/').ok_or("a share is written 3/10")?;
        Ok(Self { first: first.parse()?, every: every.parse()? })
    }

    fn of(&self, cases: Vec<PathBuf>) -> Vec<PathBuf> {
        let every = self.every.get();
        cases.into_iter().skip(self.first % every).step_by(every).collect()
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(sum) => {
            println!(
                "cedar corpus: {} cases, {} requests, all as published and as the whole set decides; \
                 the index evaluated {} of {} policies; {} sets validate otherwise in this version",
                sum.cases, sum.requests, sum.evaluated, sum.whole, sum.validated_otherwise
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cedar_corpus: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<Sum> {
    let folder =
        std::env::args_os().nth(1).map(PathBuf::from).ok_or("name the folder that holds corpus-tests")?;
    let share = std::env::args().nth(2).map(|text| Share::read(&text)).transpose()?.unwrap_or_default();
    let cases: Vec<PathBuf> = share.of(cases(&folder.join("corpus-tests"))?);
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let mut sum = Sum::default();
    std::thread::scope(|scope| -> Outcome<()> {
        let parts = cases.chunks(cases.len().div_ceil(threads).max(1));
        let judges: Vec<_> = parts.map(|part| scope.spawn(|| judge_all(&folder, part))).collect();
        for judge in judges {
            sum.add(&judge.join().map_err(|_| "a case panicked")??);
        }
        Ok(())
    })?;
    if sum.requests == 0 {
        return Err("there is no case".into());
    }
    Ok(sum)
}

fn judge_all(folder: &Path, cases: &[PathBuf]) -> Result<Sum, String> {
    let mut sum = Sum::default();
    for case in cases {
        judge(folder, case, &mut sum).map_err(|error| format!("{}: {error}", case.display()))?;
    }
    Ok(sum)
}

fn cases(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".json") && !name.ends_with(".entities.json") {
            cases.push(path);
        }
    }
    cases.sort();
    Ok(cases)
}

fn judge(folder: &Path, path: &Path, sum: &mut Sum) -> Outcome<()> {
    let read = |path: &Path| std::fs::read_to_string(folder.join(path));
    let case: Case = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let policies: PolicySet = read(&case.policies)?.parse()?;
    let (schema, _) = Schema::from_cedarschema_str(&read(&case.schema)?)?;
    let entities = Entities::from_json_str(&read(&case.entities)?, Some(&schema))?;
    let valid =
        Validator::new(schema.clone()).validate(&policies, ValidationMode::default()).validation_passed();
    // Which policies a validator takes is a matter of its version; what they decide is not.
    sum.validated_otherwise += usize::from(valid != case.should_validate);
    let index = PolicyIndex::new(&policies)?;
    for question in &case.requests {
        let request = request(question, &schema)?;
        let published = (
            if question.decision == "allow" { "allow" } else { "deny" },
            question.reason.clone(),
            question.errors.clone(),
        );
        let slice = index.slice_of(&request, &entities);
        let ours = told(&index.is_authorized(&request, &entities));
        let whole = told(&Authorizer::new().is_authorized(&request, &policies, &entities));
        if ours != published || ours != whole {
            let text =
                format!("{}: {ours:?}, published {published:?}, whole {whole:?}", question.description);
            return Err(text.into());
        }
        sum.requests += 1;
        sum.evaluated += slice.num_of_policies();
        sum.whole += policies.num_of_policies();
    }
    sum.cases += 1;
    Ok(())
}

fn request(question: &Question, schema: &Schema) -> Outcome<Request> {
    let uid = |name: &Name| -> Outcome<EntityUid> {
        let kind: EntityTypeName = name.kind.parse()?;
        Ok(EntityUid::from_type_name_and_id(kind, EntityId::new(&name.id)))
    };
    let action = uid(&question.action)?;
    let context = Context::from_json_value(question.context.clone(), Some((schema, &action)))?;
    let known = question.validate_request.then_some(schema);
    Ok(Request::new(uid(&question.principal)?, action, uid(&question.resource)?, context, known)?)
}

fn told(response: &Response) -> CedarAnswer {
    let decision = match response.decision() {
        Decision::Allow => "allow",
        Decision::Deny => "deny",
    };
    let errors = response.diagnostics().errors().map(|error| {
        let cedar_policy::AuthorizationError::PolicyEvaluationError(error) = error;
        error.policy_id().to_string()
    });
    (decision, response.diagnostics().reason().map(ToString::to_string).collect(), errors.collect())
}
