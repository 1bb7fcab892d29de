//! The rule list: read, and turned into samples.

use regex::Regex;
use regex_syntax::hir::Hir;
use serde::Deserialize;

use crate::sampler::{Draw, generate};

/// Between a name and its value in a rule that wants both.
const NAME_BEGINS: &str = "{0,50}?(?:";
const NAME_ENDS: &str = r")(?:[ \t\w.-]{0,20})";
/// Bytes of a compiled rule, at most.
const COMPILED_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Rules whose expression spans lines are drawn from what people write; the rule itself confirms each.
fn template(id: &str) -> Option<&'static str> {
    Some(match id {
        "private-key" => concat!(
            "-----BEGIN (?:RSA |EC |OPENSSH |ENCRYPTED )?PRIVATE KEY-----\n",
            "(?:[A-Za-z0-9+/]{64}\n){2,20}[A-Za-z0-9+/]{20,50}={0,2}\n-----END (?:RSA |EC )?PRIVATE KEY-----"
        ),
        "kubernetes-secret-yaml" => concat!(
            "(?:kind: Secret\nmetadata:\n  name: [a-z]{3,10}\ndata:\n  [a-z_.]{4,12}: [A-Za-z0-9+/]{16,60}={0,2}",
            "|data:\n  [a-z_.]{4,12}: [A-Za-z0-9+/]{16,60}={0,2}\nkind: Secret)"
        ),
        "curl-auth-user" => concat!(
            "curl (?:-s |-X POST )?(?:-u |--user |--user=)(?:\"[a-z]{3,8}:[A-Za-z0-9!_.-]{6,20}\"",
            "|'[a-z]{3,8}:[A-Za-z0-9!_.-]{6,20}'|[a-z]{3,8}:[A-Za-z0-9_.-]{6,20}) https://api\\.test/v1"
        ),
        _ => return None,
    })
}

/// Tries per sample.
const TRIES_MAX: usize = 400;
/// Rules whose match is a line or a file, not a word.
const WHOLE: [&str; 7] = [
    "curl-auth-header",
    "curl-auth-user",
    "freemius-secret-key",
    "kubernetes-secret-yaml",
    "nuget-config-password",
    "private-key",
    "sidekiq-sensitive-url",
];

#[derive(Deserialize)]
struct List {
    rules: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
    regex: Option<String>,
    entropy: Option<f32>,
    #[serde(default)]
    allowlists: Vec<Allowed>,
    #[serde(default)]
    keywords: Vec<String>,
}

#[derive(Deserialize)]
struct Allowed {
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(rename = "regexTarget")]
    target: Option<String>,
}

/// One kind of secret.
pub(crate) struct Rule {
    pub(crate) id: String,
    hir: Hir,
    regex: Regex,
    name: Option<Hir>,
    keywords: Vec<String>,
    entropy: f32,
    excluded: Vec<Regex>,
    stopwords: Vec<String>,
}

/// How a sample wants to be carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A value behind a name with this word in it.
    Named(String),
    /// A word that speaks for itself.
    Word,
    /// A whole piece of text.
    Whole,
}

/// A secret, and the text that makes it one.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) secret: String,
    pub(crate) text: String,
    pub(crate) shape: Shape,
}

/// Reads the list; kinds without an expression are files by name, not text.
pub(crate) fn read(path: &str) -> Result<Vec<Rule>, Box<dyn std::error::Error>> {
    let list: List = toml::from_str(&std::fs::read_to_string(path)?)?;
    let rules = list.rules.into_iter().filter_map(|listed| {
        let source = listed.regex.clone()?;
        Some(rule(listed, &source))
    });
    rules.collect()
}

fn rule(listed: Listed, source: &str) -> Result<Rule, Box<dyn std::error::Error>> {
    let name = source.rfind(NAME_BEGINS).zip(source.find(NAME_ENDS));
    let name = name.map(|(begins, ends)| format!("(?:{})", &source[begins + NAME_BEGINS.len()..ends]));
    let whole_match = |allowed: &&Allowed| allowed.target.as_deref() != Some("match");
    let excluded = listed.allowlists.iter().filter(whole_match).flat_map(|allowed| &allowed.regexes);
    Ok(Rule {
        hir: regex_syntax::parse(template(&listed.id).unwrap_or(source))?,
        regex: regex::RegexBuilder::new(source).size_limit(COMPILED_BYTES_MAX).build()?,
        name: name.and_then(|name| regex_syntax::parse(&name).ok()),
        keywords: listed.keywords.clone(),
        entropy: listed.entropy.unwrap_or(0.0),
        // Some are written for another engine; without them a sample may be harder than the list means it.
        excluded: excluded.filter_map(|regex| Regex::new(regex).ok()).collect(),
        stopwords: listed.allowlists.iter().flat_map(|allowed| allowed.stopwords.clone()).collect(),
        id: listed.id,
    })
}

impl Rule {
    fn is_whole(&self) -> bool {
        WHOLE.contains(&self.id.as_str())
    }

    /// Makes a sample that the rule itself reports.
    pub(crate) fn sample(&self, draw: &mut Draw) -> Option<Sample> {
        (0..TRIES_MAX).find_map(|_| self.try_sample(draw))
    }

    fn try_sample(&self, draw: &mut Draw) -> Option<Sample> {
        let made = generate(&self.hir, draw);
        let captures = self.regex.captures(&made.text)?;
        let groups = || captures.iter().skip(1).enumerate().filter_map(|(at, group)| Some((at, group?)));
        let enough = |group: &regex::Match<'_>| self.name.is_some() || self.is_whole() || group.len() >= 12;
        let (group, secret) = groups()
            .filter(|(_, group)| enough(group))
            .max_by_key(|(_, group)| group.len())
            .map_or((0, captures.get(0)?.as_str()), |(at, group)| (at, group.as_str()));
        let secret = secret.trim_matches(['"', '\'']).to_owned();
        let lower = secret.to_lowercase();
        if entropy(&secret) < self.entropy
            || self.excluded.iter().any(|regex| regex.is_match(&secret))
            || self.stopwords.iter().any(|word| lower.contains(word.as_str()))
        {
            return None;
        }
        if self.is_whole() {
            let secret = match self.id.as_str() {
                "curl-auth-user" => password(&secret),
                "kubernetes-secret-yaml" => secret.rsplit(' ').next()?.to_owned(),
                _ => secret,
            };
            return Some(Sample { secret, text: made.text, shape: Shape::Whole });
        }
        let speaks = self.keywords.iter().any(|word| lower.contains(word.as_str()));
        let shape = match &self.name {
            Some(name) if group == 0 || !speaks => Shape::Named(generate(name, draw).text),
            // What only a word nearby makes a secret.
            None if !speaks => Shape::Named(draw.pick(&self.keywords).clone()),
            Some(_) | None => Shape::Word,
        };
        Some(Sample { text: secret.clone(), secret, shape })
    }
}

/// The part of `user:password` that has to go.
fn password(pair: &str) -> String {
    let strip = |part: &str| part.trim_matches(['"', '\'']).to_owned();
    match pair.split_once(':') {
        Some((user, "")) => strip(user),
        Some((_, password)) => strip(password),
        None => strip(pair),
    }
}

fn entropy(text: &str) -> f32 {
    let mut counts = std::collections::BTreeMap::new();
    text.chars().for_each(|c| *counts.entry(c).or_insert(0_u16) += 1);
    let total = text.chars().count() as f32;
    counts.values().map(|count| f32::from(*count) / total).map(|share| -share * share.log2()).sum()
}
