//! What a notification says, and its form on the way: one line of JSON.

use palyra_types::Timestamp;
use palyra_types::tool::ApprovalRiskLevel;
use serde_json::{Value, json};

use crate::attention_item::AttentionItem;

/// Characters of a short id, from its end.
const SHORT_ID_CHARS: usize = 6;
/// The type of a message that a person sends to see whether messages arrive.
pub(crate) const TEST_TYPE: &str = "notification.test";

/// Where the console is; empty where there is none, and messages have no link then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConsoleOrigin(String);

impl ConsoleOrigin {
    /// Takes an origin, such as `https://palyra.example`.
    #[must_use]
    pub fn new(origin: &str) -> Self {
        Self(origin.trim_end_matches('/').to_owned())
    }

    fn link(&self, path: &str) -> Option<String> {
        (!self.0.is_empty()).then(|| format!("{}{path}", self.0))
    }
}

/// What a notification says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotifyMessage {
    /// One thing waits.
    Item(AttentionItem),
    /// So many things began to wait in quiet hours, and wait still.
    Count {
        /// How many.
        items: usize,
        /// When the quiet hours were over.
        since: Timestamp,
    },
    /// A person asked whether messages arrive.
    Test {
        /// When.
        asked: Timestamp,
    },
}

impl NotifyMessage {
    /// Returns the message as one line of JSON, in the form that Standard Webhooks recommends: `type`, `timestamp`, `data`.
    #[must_use]
    pub fn body(&self, origin: &ConsoleOrigin) -> String {
        let (kind, time, data) = match self {
            Self::Item(item) => ("attention.item", item.since, item_data(item, origin)),
            Self::Count { items, since } => {
                ("attention.count", *since, json!({"count": items, "link": origin.link("/console")}))
            }
            Self::Test { asked } => (TEST_TYPE, *asked, json!({"link": origin.link("/console")})),
        };
        json!({"type": kind, "timestamp": timestamp_text(time), "data": data}).to_string()
    }

    /// Returns whether quiet hours let it pass.
    pub(crate) fn is_critical(&self) -> bool {
        matches!(self, Self::Item(item) if item.is_critical())
    }
}

fn item_data(item: &AttentionItem, origin: &ConsoleOrigin) -> Value {
    let id = item.subject.id();
    let short_id = id.get(id.len().saturating_sub(SHORT_ID_CHARS)..).unwrap_or_default();
    let agent = (!item.agent.is_empty()).then_some(&item.agent);
    json!({
        "kind": item.kind.as_str(),
        "agent": agent,
        "risk": item.risk.map(risk_word),
        "id": short_id,
        "link": origin.link(&item.subject.console_path()),
    })
}

fn risk_word(risk: ApprovalRiskLevel) -> &'static str {
    match risk {
        ApprovalRiskLevel::Low => "low",
        ApprovalRiskLevel::Medium => "medium",
        ApprovalRiskLevel::High => "high",
        ApprovalRiskLevel::Critical => "critical",
    }
}

fn timestamp_text(time: Timestamp) -> String {
    let seconds = time.0.div_euclid(1_000_000);
    jiff::Timestamp::from_second(seconds).map(|time| time.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{approval, at, origin};

    #[test]
    fn a_message_is_one_line_with_ids_and_words_of_ours() {
        let since = at("2026-01-09T20:00:00.5Z");
        let item = approval(7, since, ApprovalRiskLevel::High);
        let id = item.subject.id();
        let expected = format!(
            r#"{{"type":"attention.item","timestamp":"2026-01-09T20:00:00Z","data":{{"kind":"approval","agent":"default","risk":"high","id":"{}","link":"http://palyra.localhost:7787/console/approvals/{id}"}}}}"#,
            &id[20..],
        );
        assert_eq!(NotifyMessage::Item(item).body(&origin()), expected);
        assert_eq!(
            NotifyMessage::Count { items: 3, since }.body(&ConsoleOrigin::default()),
            r#"{"type":"attention.count","timestamp":"2026-01-09T20:00:00Z","data":{"count":3,"link":null}}"#
        );
        assert_eq!(
            NotifyMessage::Test { asked: since }.body(&origin()),
            r#"{"type":"notification.test","timestamp":"2026-01-09T20:00:00Z","data":{"link":"http://palyra.localhost:7787/console"}}"#
        );
    }

    #[test]
    fn the_name_of_an_agent_cannot_break_the_line() {
        let mut item = approval(7, at("2026-01-09T20:00:00Z"), ApprovalRiskLevel::Low);
        item.agent = "a\n\"}\u{1b}[2J".to_owned();
        let body = NotifyMessage::Item(item.clone()).body(&origin());
        assert!(body.chars().all(|c| !c.is_control()), "{body}");
        let read: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(read["data"]["agent"], item.agent.as_str());
    }
}
