//! The rules of a policy file, one by one: name, effect, annotations, to what it applies and under which condition.
//!
//! Pure. Reads only as much of the language as a list needs; the daemon has compiled the file before, and the page shows
//! the whole text beside the list.

/// What a rule does with a call to which it applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleEffect {
    Permit,
    Forbid,
}

/// An annotation of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RuleAnnotation {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// A rule as a list shows it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RuleOutline {
    pub(crate) effect: RuleEffect,
    pub(crate) annotations: Vec<RuleAnnotation>,
    /// What is between the parentheses.
    pub(crate) scope: String,
    /// What follows them; empty for none.
    pub(crate) condition: String,
}

impl RuleOutline {
    /// Returns the value of an annotation; empty where there is none.
    pub(crate) fn annotation(&self, name: &str) -> &str {
        let found = self.annotations.iter().find(|annotation| annotation.name == name);
        found.map(|annotation| annotation.value.as_str()).unwrap_or_default()
    }
}

/// Returns the rules of a file, in their order.
pub(crate) fn rules_of(text: &str) -> Vec<RuleOutline> {
    statements(text).iter().filter_map(|statement| outline(statement)).collect()
}

/// Splits a file at its semicolons, without comments. A semicolon in a quoted text does not count.
fn statements(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '"' => quoted_bytes(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            other => other.len_utf8(),
        };
        let (piece, after) = rest.split_at(taken);
        rest = after;
        match (piece, found.last_mut()) {
            (";", _) => found.push(String::new()),
            (piece, Some(statement)) => statement.push_str(piece),
            (_, None) => {}
        }
    }
    found
}

/// Returns the length of the quoted text that begins here, with its quotes.
fn quoted_bytes(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

fn outline(statement: &str) -> Option<RuleOutline> {
    let mut annotations = Vec::new();
    let mut rest = statement.trim_start();
    while let Some(after) = rest.strip_prefix('@') {
        let (annotation, after) = annotation(after);
        annotations.push(annotation);
        rest = after.trim_start();
    }
    let (effect, rest) = match rest.strip_prefix("permit") {
        Some(rest) => (RuleEffect::Permit, rest),
        None => (RuleEffect::Forbid, rest.strip_prefix("forbid")?),
    };
    let rest = rest.trim_start().strip_prefix('(')?;
    let (scope, condition) = rest.split_at_checked(closing_at(rest))?;
    let condition = condition.strip_prefix(')').unwrap_or(condition);
    Some(RuleOutline { effect, annotations, scope: on_one_line(scope), condition: on_one_line(condition) })
}

/// Reads an annotation after its sign, and returns it with the text after it.
fn annotation(text: &str) -> (RuleAnnotation, &str) {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let value =
        rest.trim_start().strip_prefix('(').map(str::trim_start).filter(|value| value.starts_with('"'));
    let Some(value) = value else {
        return (RuleAnnotation { name: name.to_owned(), value: String::new() }, rest);
    };
    let (value, rest) = value.split_at(quoted_bytes(value));
    let rest = rest.trim_start();
    let annotation = RuleAnnotation { name: name.to_owned(), value: value.trim_matches('"').to_owned() };
    (annotation, rest.strip_prefix(')').unwrap_or(rest))
}

/// Returns where the parenthesis closes that was opened before this text.
fn closing_at(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        match first {
            '"' => {
                at += quoted_bytes(&text[at..]);
                continue;
            }
            '(' => depth += 1,
            ')' if depth == 0 => return at,
            ')' => depth -= 1,
            _ => {}
        }
        at += first.len_utf8();
    }
    text.len()
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"// A comment; with a semicolon and "quotes.
@id("reads") @approvers
@reason("it reads; \"only\" (here)")
permit (
  principal,
  action == Action::"a)b;",
  resource in [Capability::"x"]
)
when { context.risk == "low" && (true) }; // and one more
forbid (principal, action, resource);
nonsense (x);
"#;

    #[test]
    fn a_rule_has_its_name_effect_scope_and_condition() {
        let rules = rules_of(FILE);
        assert_eq!(rules.len(), 2, "{rules:?}");
        let reads = &rules[0];
        assert_eq!((reads.effect, reads.annotation("id")), (RuleEffect::Permit, "reads"));
        assert_eq!(reads.annotation("reason"), r#"it reads; \"only\" (here)"#);
        assert_eq!((reads.annotations.len(), reads.annotation("approvers")), (3, ""));
        assert_eq!(reads.scope, r#"principal, action == Action::"a)b;", resource in [Capability::"x"]"#);
        assert_eq!(reads.condition, r#"when { context.risk == "low" && (true) }"#);
        assert_eq!((rules[1].effect, rules[1].condition.as_str()), (RuleEffect::Forbid, ""));
    }

    #[test]
    fn a_text_that_ends_in_the_middle_is_read_to_its_end() {
        for text in
            ["", "@", "@id(", "@id(\"a", "permit", "permit (", "permit (\"", "\"", "// x", "permit (é\"\\"]
        {
            assert!(rules_of(text).len() <= 1, "{text}");
        }
    }
}
