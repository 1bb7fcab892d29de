//! Everything that a scan compares a text with: the prefilter, the rules behind its literals, and registered values.
//!
//! Immutable; a new set of values makes a new set. The automaton over the rules' literals is made once per
//! process.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use palyra_types::Content;

use crate::registered::{RegisterError, RegisteredValues};
use crate::rules::assignment::{self, NameTail, VALUE_REST};
use crate::rules::line::{self, LineRule};
use crate::rules::token::{self, TokenRule};
use crate::rules::vendor::{VENDORS, VendorRule};
use crate::rules::{boundary, credentials, csv, header, key_block, manifest, name, url};
use crate::verdict::{NOWHERE, RuleRank, RuleVerdict, Span, TextView};

/// Bytes of the longest literal with which a token begins.
const LITERAL_BYTES_MAX: usize = 32;

/// Which rule a literal calls.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Trigger {
    Token(&'static TokenRule),
    Line(&'static LineRule),
    Vendor(&'static VendorRule),
    Name,
    Authorization,
    Cookie,
    Scheme,
    Url,
    CurlUser,
    Pem,
    Putty,
    Manifest,
    Csv,
    /// The forms of registered values that begin alike.
    Registered(usize),
}

impl Trigger {
    pub(crate) fn needs_boundary(self) -> bool {
        match self {
            Self::Token(rule) => rule.needs_boundary(),
            Self::Scheme => true,
            Self::Line(rule) => rule.needs_boundary(),
            _ => false,
        }
    }

    pub(crate) fn is_token(self) -> bool {
        matches!(self, Self::Token(_))
    }
}

/// The rules behind their literals.
struct RuleShapes {
    automaton: DFA,
    start: StateID,
    /// Accepts the beginnings of what a secret itself begins with.
    beginnings: DFA,
    beginnings_start: StateID,
    triggers: Vec<Vec<Trigger>>,
}

static SHAPES: LazyLock<RuleShapes> = LazyLock::new(RuleShapes::new);

impl RuleShapes {
    fn new() -> Self {
        let mut literals: Vec<(String, Vec<Trigger>)> = Vec::new();
        let mut add = |literal: &str, trigger: Trigger| {
            let literal = literal.to_ascii_lowercase();
            match literals.iter_mut().find(|(known, _)| *known == literal) {
                Some((_, triggers)) => triggers.push(trigger),
                None => literals.push((literal, vec![trigger])),
            }
        };
        token::all().for_each(|rule| add(rule.start, Trigger::Token(rule)));
        line::all().for_each(|rule| add(rule.start, Trigger::Line(rule)));
        for vendor in &VENDORS {
            vendor.words.iter().for_each(|word| add(word, Trigger::Vendor(vendor)));
        }
        name::WORDS.iter().for_each(|word| add(word, Trigger::Name));
        header::SCHEMES.iter().for_each(|scheme| add(scheme, Trigger::Scheme));
        add(header::AUTHORIZATION, Trigger::Authorization);
        add(header::COOKIE, Trigger::Cookie);
        add(url::LITERAL, Trigger::Url);
        credentials::LITERALS.iter().for_each(|literal| add(literal, Trigger::CurlUser));
        add(key_block::PEM, Trigger::Pem);
        add(key_block::PUTTY, Trigger::Putty);
        manifest::LITERALS.iter().for_each(|literal| add(literal, Trigger::Manifest));
        csv::LITERALS.iter().for_each(|literal| add(literal, Trigger::Csv));
        let beginnings = token::all().filter(|rule| rule.needs_boundary()).map(|rule| rule.start);
        let automaton =
            dfa(literals.iter().map(|(literal, _)| literal.as_str()), aho_corasick::StartKind::Unanchored);
        let beginnings = dfa(beginnings.chain([key_block::PEM]), aho_corasick::StartKind::Anchored);
        let start =
            |automaton: &DFA, anchored| automaton.start_state(anchored).expect("it was made for this");
        Self {
            start: start(&automaton, Anchored::No),
            beginnings_start: start(&beginnings, Anchored::Yes),
            automaton,
            beginnings,
            triggers: literals.into_iter().map(|(_, triggers)| triggers).collect(),
        }
    }
}

fn dfa<'a>(literals: impl Iterator<Item = &'a str>, start: aho_corasick::StartKind) -> DFA {
    let mut builder = DFA::builder();
    builder.ascii_case_insensitive(true).prefilter(false).start_kind(start);
    builder.build(literals).expect("the literals are few and short")
}

/// What texts are compared with.
#[derive(Debug)]
pub(crate) struct CompiledRules {
    shapes: &'static RuleShapes,
    values: Option<RegisteredValues>,
}

impl std::fmt::Debug for RuleShapes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} literals>", self.triggers.len())
    }
}

/// What texts are compared with, until it is replaced as a whole.
#[derive(Debug)]
pub(crate) struct InForce(RwLock<Arc<CompiledRules>>);

impl InForce {
    /// Begins with one that knows no value.
    pub(crate) fn new() -> Self {
        Self(RwLock::new(Arc::new(CompiledRules { shapes: &SHAPES, values: None })))
    }

    pub(crate) fn replace(&self, rule_set: Arc<CompiledRules>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = rule_set;
    }

    pub(crate) fn now(&self) -> Arc<CompiledRules> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CompiledRules {
    pub(crate) fn new(values: &[Content<String>]) -> Result<Arc<Self>, RegisterError> {
        Ok(Arc::new(Self { shapes: &SHAPES, values: RegisteredValues::new(values)? }))
    }

    pub(crate) fn shapes(&self) -> &DFA {
        &self.shapes.automaton
    }

    pub(crate) fn shapes_start(&self) -> StateID {
        self.shapes.start
    }

    pub(crate) fn triggers(&self, pattern: usize) -> &[Trigger] {
        &self.shapes.triggers[pattern]
    }

    pub(crate) fn values(&self) -> Option<&DFA> {
        self.values.as_ref().map(RegisteredValues::heads)
    }

    pub(crate) fn values_start(&self) -> StateID {
        let start = self.values().map(|heads| heads.start_state(Anchored::No));
        start.and_then(Result::ok).unwrap_or_default()
    }

    /// Asks a rule what it says of its literal, which stands from `at` to `end`.
    pub(crate) fn judge(&self, trigger: Trigger, at: usize, end: usize, view: TextView<'_>) -> RuleVerdict {
        match trigger {
            Trigger::Token(rule) => rule.judge(at, end, view),
            Trigger::Line(rule) => rule.judge(at, end, view),
            Trigger::Vendor(vendor) => assigned(at, end, view, RuleRank::Vendor, |value| {
                vendor.made(value.value).then_some(vendor.kind)
            }),
            Trigger::Name => assigned(at, end, view, RuleRank::Generic, name::judge),
            Trigger::Authorization => header::authorization(end, view),
            Trigger::Cookie => header::cookie(end, view),
            Trigger::Scheme => header::scheme(end, view),
            Trigger::Url => url::judge(end, view),
            Trigger::CurlUser => credentials::judge(at, end, view),
            Trigger::Pem => key_block::pem(at, end, view),
            Trigger::Putty => key_block::putty(end, view),
            Trigger::Csv => csv::judge(at, view),
            Trigger::Manifest => manifest::judge(at, end, view),
            Trigger::Registered(group) => {
                self.values.as_ref().map_or(RuleVerdict::No, |values| values.judge(group, at, view))
            }
        }
    }

    /// Returns where the text's last bytes may be the beginning of a secret's own literal.
    pub(crate) fn partial_start(&self, text: &[u8], given: usize) -> usize {
        let from = given.max(text.len().saturating_sub(LITERAL_BYTES_MAX));
        let automaton = &self.shapes.beginnings;
        let goes_on = |start: &usize| {
            let mut state = self.shapes.beginnings_start;
            (boundary(text, *start) || text[*start] == b'-')
                && text[*start..].iter().all(|byte| {
                    state = automaton.next_state(Anchored::Yes, state, *byte);
                    !automaton.is_dead(state)
                })
        };
        let begun = (from..text.len()).find(goes_on);
        begun.into_iter().chain(token::partial_start(text)).min().unwrap_or(NOWHERE)
    }
}

/// Looks for an assigned value and has it judged.
fn assigned(
    at: usize,
    end: usize,
    view: TextView<'_>,
    rank: RuleRank,
    judge: impl Fn(&assignment::AssignedValue<'_>) -> Option<&'static str>,
) -> RuleVerdict {
    match assignment::seek(at, end, view) {
        NameTail::Nothing => RuleVerdict::No,
        NameTail::Wait(from) => RuleVerdict::Wait(from),
        NameTail::Value(value) => judge(&value).map_or(RuleVerdict::No, |kind| {
            let grows = value.goes_on.then_some(&VALUE_REST);
            RuleVerdict::Found(Span {
                start: value.start,
                end: value.end,
                kind,
                rank,
                grows,
                fills_word: false,
            })
        }),
    }
}
