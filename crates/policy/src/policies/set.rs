//! A set of policies that holds together: parsed, checked against the schema, grouped for speed.
//!
//! Invariant: there is no half a set: one mistake in one file refuses all of them.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::{Effect, PolicyId, Schema, SchemaFragment, Validator};
use palyra_types::tool::ToolCatalog;

use super::diagnostic::{PolicyMistake, PolicyMistakes, leave_one_for_all_actions, place_of};
use super::evaluate::{
    Answer, AssumedFacts, CedarNames, CedarQuery, ForbidIds, PolicyGroups, PreparedTool, RequestDetail, ask,
    forbids, in_cedar, seen_of,
};
use super::file::{KnownPolicy, PolicyFile};
use super::index::PolicyIndex;
use super::known_words::{misspelled_folders, wrong_words};
use super::mentions::PolicyMentions;
use super::parse::{parsed, validated};
use super::schema_text::SCHEMA_TEXT;
use super::terms::StatedTerms;
use crate::request::{ArgumentShape, ArgumentShapes, PolicyRequest, RequestTool};

/// How many policies a set may have.
pub const POLICIES_MAX: usize = 10_000;
/// Policies that can be asked.
#[derive(Debug)]
pub struct PolicySet {
    words: CedarNames,
    index: PolicyIndex,
    mentions: BTreeMap<PolicyId, PolicyMentions>,
    known: BTreeMap<String, KnownPolicy>,
    shapes: ArgumentShapes,
    tools: BTreeMap<String, PreparedTool>,
    warnings: Vec<PolicyMistake>,
}

impl PolicySet {
    /// Compiles the policies of several files against the tools that there are.
    ///
    /// # Errors
    /// [`PolicyMistakes`]: everything that is wrong with any of them.
    pub fn compile(files: &[PolicyFile], catalog: &ToolCatalog) -> Result<Self, PolicyMistakes> {
        let words = CedarNames::new();
        let shapes = ArgumentShapes::of(catalog);
        let mut known: BTreeMap<String, KnownPolicy> = BTreeMap::new();
        let mut mistakes = Vec::new();
        for file in files {
            let policies = match parsed(file, &words.execute) {
                Ok(policies) => policies,
                Err(more) => {
                    mistakes.extend(more);
                    continue;
                }
            };
            for (policy, annotations, byte) in policies {
                let (line, column) = place_of(&file.text, byte);
                let id = annotations.id.clone();
                if let Some(first) = known.get(&id) {
                    mistakes.push(PolicyMistake {
                        file: file.name.clone(),
                        line,
                        column,
                        what: format!(
                            "the id `{id}` is used by another policy at {}:{}",
                            first.file, first.line
                        ),
                        mend: "give this one an id of its own".to_owned(),
                    });
                    continue;
                }
                let policy = policy.new_id(PolicyId::new(&id));
                known.insert(id, KnownPolicy { file: file.name.clone(), line, annotations, policy });
            }
        }
        let whole = cedar_policy::PolicySet::from_policies(known.values().map(|known| known.policy.clone()));
        let whole = whole.expect("ids are the keys of a map");
        if known.len() > POLICIES_MAX {
            mistakes.push(too_many(files, known.len()));
        }
        let (errors, warnings) = validated(&whole, &validator(&shapes), files, &known, catalog);
        mistakes.extend(errors);
        mistakes.sort();
        mistakes.dedup();
        leave_one_for_all_actions(&mut mistakes);
        if !mistakes.is_empty() {
            return Err(PolicyMistakes(mistakes));
        }
        let index = PolicyIndex::new(&whole).expect("what was parsed one by one is static");
        let mentions: BTreeMap<PolicyId, PolicyMentions> =
            whole.policies().map(|policy| (policy.id().clone(), PolicyMentions::of(policy))).collect();
        let grouped = PolicyGroups { index: &index, mentions: &mentions };
        let prepared = |facts: RequestTool| (facts.name.clone(), PreparedTool::new(&words, grouped, facts));
        let tools = catalog.iter().map(RequestTool::of).map(prepared).collect();
        Ok(Self { words, index, mentions, known, shapes, tools, warnings })
    }

    /// Returns how many policies there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns whether there are none, which means that everything is denied.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Returns how many policies can matter to a call of a tool, unattended and attended.
    #[must_use]
    pub fn slice_len(&self, tool: &str) -> Option<(usize, usize)> {
        let (unattended, execute) = self.tools.get(tool)?.slices();
        Some((unattended.num_of_policies(), execute.num_of_policies()))
    }

    /// Returns the schema that its policies were checked against, in Cedar's language.
    #[must_use]
    pub fn schema_text(&self) -> String {
        schema_text(&self.shapes)
    }

    /// Returns what Cedar is asked about a request, for whoever wants to ask it himself.
    #[must_use]
    pub fn cedar_query(&self, request: &PolicyRequest) -> Option<CedarQuery> {
        self.with_tool(request, |prepared| {
            in_cedar(&self.words, prepared, request, prepared.named_folders(), RequestDetail::All)
        })
    }

    /// Returns, for each tool, the policies that can matter to the question whether it runs once a person agreed.
    pub(crate) fn execute_slices(&self) -> impl Iterator<Item = &cedar_policy::PolicySet> {
        self.tools.values().map(|prepared| prepared.slices().1)
    }

    /// Returns the policies as one set of Cedar's.
    #[must_use]
    pub fn whole(&self) -> cedar_policy::PolicySet {
        cedar_policy::PolicySet::from_policies(self.known.values().map(|known| known.policy.clone()))
            .expect("ids are the keys of a map")
    }

    pub(crate) fn ask(&self, request: &PolicyRequest) -> Answer {
        self.with_tool(request, |prepared| {
            let supposed = AssumedFacts { folders: prepared.named_folders(), unattended: true };
            ask(&self.words, prepared, request, supposed)
        })
    }

    /// Asks about a call of a program that reaches only some of the folders that rules look for.
    pub(crate) fn ask_in(&self, request: &PolicyRequest, supposed: AssumedFacts<'_>) -> Answer {
        self.with_tool(request, |prepared| ask(&self.words, prepared, request, supposed))
    }

    /// Returns what forbids a call of a program that reaches only some of the folders that rules look for.
    pub(crate) fn forbids(
        &self,
        request: &PolicyRequest,
        folders: &BTreeSet<String>,
    ) -> Result<ForbidIds, Answer> {
        self.with_tool(request, |prepared| forbids(&self.words, prepared, request, folders))
    }

    /// Returns the folders that the rules about a call look for.
    pub(crate) fn named_folders(&self, request: &PolicyRequest) -> BTreeSet<String> {
        self.with_tool(request, |prepared| prepared.named_folders().clone())
    }

    /// Returns a text that is the same for requests that no policy can tell apart.
    pub(crate) fn seen_of(&self, request: &PolicyRequest) -> String {
        self.with_tool(request, |prepared| seen_of(prepared, request))
    }

    /// Calls `ask` with the tool as the request declares it, which need not be as the catalogue has it now.
    pub(crate) fn with_tool<T>(&self, request: &PolicyRequest, ask: impl FnOnce(&PreparedTool) -> T) -> T {
        match self.tools.get(&request.tool.name).filter(|prepared| prepared.facts == request.tool) {
            Some(prepared) => ask(prepared),
            None => {
                let grouped = PolicyGroups { index: &self.index, mentions: &self.mentions };
                ask(&PreparedTool::new(&self.words, grouped, request.tool.clone()))
            }
        }
    }

    /// Returns what is no mistake, and likely not meant: a policy that can never apply, letters that look like others.
    #[must_use]
    pub fn warnings(&self) -> &[PolicyMistake] {
        &self.warnings
    }

    /// Returns what is wrong with words that policies compare with: words that no request ever has, and conditions that
    /// exclude each other. `files` are those that the set was compiled from.
    #[must_use]
    pub fn wrong_words(&self, files: &[PolicyFile]) -> Vec<PolicyMistake> {
        let file_of = |known: &KnownPolicy| files.iter().find(|file| file.name == known.file);
        let mut mistakes: Vec<PolicyMistake> =
            self.known.values().flat_map(|known| wrong_words(known, file_of(known))).collect();
        mistakes.sort();
        mistakes.dedup();
        mistakes
    }

    /// Returns a warning for each folder of a policy, where `near` knows another one with almost the same name.
    /// `files` are those that the set was compiled from.
    #[must_use]
    pub fn misspelled_folders(
        &self,
        files: &[PolicyFile],
        near: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<PolicyMistake> {
        let file_of = |known: &KnownPolicy| files.iter().find(|file| file.name == known.file);
        let mut warnings: Vec<PolicyMistake> =
            self.known.values().flat_map(|known| misspelled_folders(known, file_of(known), near)).collect();
        warnings.sort();
        warnings.dedup();
        warnings
    }

    pub(crate) fn words(&self) -> &CedarNames {
        &self.words
    }

    /// Returns the policies in order of id.
    pub(crate) fn all(&self) -> impl Iterator<Item = &KnownPolicy> {
        self.known.values()
    }

    pub(crate) fn shapes(&self) -> &ArgumentShapes {
        &self.shapes
    }

    pub(crate) fn known(&self, id: &str) -> Option<&KnownPolicy> {
        self.known.get(id)
    }

    /// Returns those of the named policies that have an effect.
    pub(crate) fn named<'p>(
        &'p self,
        ids: &'p [String],
        effect: Effect,
    ) -> impl Iterator<Item = &'p KnownPolicy> {
        ids.iter().filter_map(|id| self.known.get(id)).filter(move |known| known.policy.effect() == effect)
    }

    /// Returns the strictest terms that any of the named permits states.
    pub(crate) fn terms(&self, ids: &[String]) -> StatedTerms {
        let stated = self.named(ids, Effect::Permit).map(|known| known.annotations.terms.clone());
        stated.fold(StatedTerms::default(), StatedTerms::and)
    }
}

fn too_many(files: &[PolicyFile], count: usize) -> PolicyMistake {
    PolicyMistake {
        file: files.last().map(|file| file.name.clone()).unwrap_or_default(),
        line: 1,
        column: 1,
        what: format!("the files have {count} policies together"),
        mend: format!("at most {POLICIES_MAX} are taken"),
    }
}

/// Returns the schema with the arguments of the tools there are.
fn schema_text(shapes: &ArgumentShapes) -> String {
    let members = shapes.0.iter().map(|(name, shape)| {
        let kind = match shape {
            ArgumentShape::Text => "String",
            ArgumentShape::Number => "Long",
            ArgumentShape::Flag => "Bool",
            ArgumentShape::List => "Set<String>",
        };
        format!("  \"{name}\"?: {kind},\n")
    });
    format!("{SCHEMA_TEXT}\ntype Arguments = {{\n{}}};\n", members.collect::<String>())
}

fn validator(shapes: &ArgumentShapes) -> Validator {
    let (fragment, _) = SchemaFragment::from_cedarschema_str(&schema_text(shapes))
        .expect("the schema that ships parses with any plain names");
    Validator::new(Schema::from_schema_fragments([fragment]).expect("the schema that ships is one"))
}

#[cfg(test)]
mod tests;
