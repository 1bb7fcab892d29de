//! A message as the two texts of a desktop notification.

use serde_json::Value;

use crate::attention_item::AttentionKind;
use crate::message::TEST_TYPE;

/// The two texts of a desktop notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesktopText {
    /// The first line.
    pub title: String,
    /// Below it, with the signs of markup escaped.
    pub text: String,
}

/// Returns the texts of a body that [`NotifyMessage::body`](crate::NotifyMessage::body) made; `None` for any other one.
#[must_use]
pub fn desktop_text(body: &str) -> Option<DesktopText> {
    let body: Value = serde_json::from_str(body).ok()?;
    let data = body.get("data")?;
    let text_of = |name: &str| data.get(name).and_then(Value::as_str);
    let title = match body.get("type")?.as_str()? {
        "attention.item" => AttentionKind::sentence_of(text_of("kind")?)?.to_owned(),
        "attention.count" => match data.get("count")?.as_u64()? {
            1 => "1 thing waits for you".to_owned(),
            count => format!("{count} things wait for you"),
        },
        TEST_TYPE => "A test: messages arrive here".to_owned(),
        _ => return None,
    };
    let names = [("agent", "Agent"), ("risk", "Risk"), ("id", "Id")];
    let mut lines: Vec<String> = names
        .into_iter()
        .filter_map(|(name, label)| text_of(name).map(|text| format!("{label}: {}", escaped(text))))
        .collect();
    lines.extend(text_of("link").map(escaped));
    Some(DesktopText { title, text: lines.join("\n") })
}

/// Desktops read the text as markup.
fn escaped(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.fold(String::new(), |mut text, c| {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            c => text.push(c),
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use palyra_types::tool::ApprovalRiskLevel;

    use super::*;
    use crate::NotifyMessage;
    use crate::fixture::{approval, at, origin};

    #[test]
    fn each_message_has_a_title_and_its_link() {
        let since = at("2026-01-09T20:00:00Z");
        let mut item = approval(7, since, ApprovalRiskLevel::High);
        item.agent = "<b>a&b</b>\n--help".to_owned();
        let shown = |message: &NotifyMessage| {
            let DesktopText { title, text } = desktop_text(&message.body(&origin())).unwrap();
            assert!(text.contains("http://palyra.localhost:7787/console"), "{text}");
            (title, text)
        };
        let (title, text) = shown(&NotifyMessage::Item(item));
        assert_eq!(title, "A call waits for your approval");
        assert!(text.starts_with("Agent: &lt;b&gt;a&amp;b&lt;/b&gt;--help\nRisk: high\nId: "), "{text}");
        assert_eq!(shown(&NotifyMessage::Count { items: 1, since }).0, "1 thing waits for you");
        assert_eq!(shown(&NotifyMessage::Count { items: 5, since }).0, "5 things wait for you");
        assert_eq!(shown(&NotifyMessage::Test { asked: since }).0, "A test: messages arrive here");
        for other in
            ["", "{}", "[]", r#"{"type":"else","data":{}}"#, r#"{"type":"attention.item","data":{}}"#]
        {
            assert_eq!(desktop_text(other), None, "{other}");
        }
    }
}
