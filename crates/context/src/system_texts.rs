//! The texts before each conversation: rules of the system, of the agent, of the project, of skills.
//!
//! Only texts that a person of authority wrote or accepted come here; everything else is data in the conversation.

use palyra_types::data_delimiter::DATA_RULE;
use palyra_types::event::ContextSource;

use crate::prompt::RequestSegment;

/// The lines between two texts.
const BETWEEN: &str = "\n\n";

/// The texts of one request.
#[derive(Debug, Clone)]
pub struct SystemTexts<'a> {
    parts: Vec<SystemText<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct SystemText<'a> {
    source: ContextSource,
    text: &'a str,
}

impl<'a> SystemTexts<'a> {
    /// Takes the instructions of the configuration, of the agent, of the project and of skills; empty ones are left out. The
    /// rule about data is part of each request, also where there are no instructions.
    #[must_use]
    pub fn new(
        instructions: &'a str,
        of_agent: Option<&'a str>,
        of_project: Option<&'a str>,
        of_skills: Option<&'a str>,
    ) -> Self {
        let texts = [
            SystemText { source: ContextSource::Instructions, text: instructions },
            SystemText { source: ContextSource::Instructions, text: DATA_RULE },
            SystemText { source: ContextSource::Agent, text: of_agent.unwrap_or_default() },
            SystemText { source: ContextSource::ProjectRules, text: of_project.unwrap_or_default() },
            SystemText { source: ContextSource::Skills, text: of_skills.unwrap_or_default() },
        ];
        Self { parts: texts.into_iter().filter(|part| !part.text.is_empty()).collect() }
    }

    /// Returns the texts as one.
    #[must_use]
    pub fn joined(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|part| part.text).collect();
        texts.join(BETWEEN)
    }

    /// Returns them as segments of a request; together as long as [`joined`](Self::joined).
    #[must_use]
    pub fn segments(&self) -> Vec<RequestSegment<'static>> {
        let mut between = 0;
        let mut segments = Vec::new();
        for part in &self.parts {
            segments.push(RequestSegment::outside(part.source, between + part.text.len()));
            between = BETWEEN.len();
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::SegmentBody;

    #[test]
    fn texts_are_joined_and_counted_alike() {
        let texts = SystemTexts::new("Be brief.", Some(""), Some("Use tabs."), Some("Skill one."));
        assert_eq!(texts.joined(), format!("Be brief.\n\n{DATA_RULE}\n\nUse tabs.\n\nSkill one."));
        let counted: u64 = texts
            .segments()
            .iter()
            .map(|segment| match segment.body {
                SegmentBody::Outside { bytes } => bytes,
                SegmentBody::Messages(_) => panic!("a text outside of the conversation"),
            })
            .sum();
        assert_eq!(counted, texts.joined().len() as u64);
        assert_eq!(SystemTexts::new("", None, None, None).joined(), DATA_RULE);
    }
}
