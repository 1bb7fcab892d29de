//! The sources of a request, in the order in which a model reads them.
//!
//! Owns the list: a source is one row, which says what it gives and what becomes of it where there is too little room. The parts
//! that change least are first, so that a provider's prompt cache can serve them. Begin at [`CONTEXT_SOURCES`].

use std::borrow::Cow;

use jiff::tz::TimeZone;
use palyra_types::data_delimiter::DATA_RULE;
use palyra_types::event::{ContextSource, RunStarted};

use crate::plan::{DropRule, SourceRule};
use crate::prompt::RequestSegment;
use crate::session_history::PriorContext;
use crate::transcript::Transcript;
use crate::{project_files, recalled_memories, session_summary};

/// The lines between two texts.
const BETWEEN: &str = "\n\n";
/// Items of memory take at most one part in so many of a request.
const MEMORY_SHARE: u64 = 10;

/// What the sources of a request read.
#[derive(Clone, Copy)]
pub struct RequestMaterial<'a> {
    /// The texts of people of authority.
    pub texts: StandingTexts<'a>,
    /// The size of what is offered to the model beside its messages.
    pub offered_bytes: usize,
    /// How the run was started.
    pub started: Option<&'a RunStarted>,
    /// What the run sees of those before it.
    pub earlier: &'a PriorContext,
    /// The zone of the person whose run it is.
    pub zone: &'a TimeZone,
    /// The run so far.
    pub transcript: &'a Transcript,
}

/// Texts that a person of authority wrote or accepted; everything else is data in the conversation.
#[derive(Debug, Clone, Copy, Default)]
pub struct StandingTexts<'a> {
    /// The instructions of the configuration.
    pub instructions: &'a str,
    /// Those of the agent.
    pub of_agent: &'a str,
    /// The active skills.
    pub of_skills: &'a str,
}

/// A source of a request.
struct ContextSourceRow {
    /// What becomes of it where there is too little room.
    rule: SourceRule,
    gives: SourceGives,
}

/// What a source gives.
enum SourceGives {
    /// Texts before the conversation.
    Texts(for<'a> fn(&RequestMaterial<'a>) -> Vec<Cow<'a, str>>),
    /// Parts of a request.
    Segments(for<'a> fn(&RequestMaterial<'a>) -> Vec<RequestSegment<'a>>),
    /// Parts that the row of the input gives, where they are among those of the input.
    WithInput,
    /// Nothing yet.
    Nothing,
}

const fn row(source: ContextSource, drop: DropRule, gives: SourceGives) -> ContextSourceRow {
    ContextSourceRow { rule: SourceRule { source, drop, share: None }, gives }
}

const fn oldest_first(priority: u8) -> DropRule {
    DropRule::OldestFirst { priority }
}

/// Every source.
const CONTEXT_SOURCES: &[ContextSourceRow] = &[
    row(
        ContextSource::Instructions,
        DropRule::Never,
        // The rule about data is part of each request, also where there are no instructions.
        SourceGives::Texts(|material| vec![material.texts.instructions.into(), DATA_RULE.into()]),
    ),
    row(
        ContextSource::Agent,
        DropRule::Never,
        SourceGives::Texts(|material| vec![material.texts.of_agent.into()]),
    ),
    row(
        ContextSource::ProjectRules,
        DropRule::Never,
        SourceGives::Texts(|material| {
            let rules = material.started.and_then(|started| project_files::rules(&started.project_files));
            rules.map(Cow::Owned).into_iter().collect()
        }),
    ),
    row(
        ContextSource::Skills,
        DropRule::Never,
        SourceGives::Texts(|material| vec![material.texts.of_skills.into()]),
    ),
    row(
        ContextSource::Preferences,
        oldest_first(55),
        SourceGives::Segments(|material| {
            material.started.map(recalled_memories::preferences_of).unwrap_or_default()
        }),
    ),
    row(
        ContextSource::Tools,
        DropRule::Never,
        SourceGives::Segments(|material| {
            vec![RequestSegment::outside(ContextSource::Tools, material.offered_bytes)]
        }),
    ),
    row(
        ContextSource::Summary,
        oldest_first(70),
        SourceGives::Segments(|material| {
            let summary =
                material.started.and_then(|started| session_summary::segment_of(started, material.earlier));
            summary.into_iter().collect()
        }),
    ),
    row(
        ContextSource::History,
        oldest_first(30),
        SourceGives::Segments(|material| {
            let earlier: &PriorContext = material.earlier;
            earlier.runs.iter().map(RequestSegment::past).collect()
        }),
    ),
    row(
        ContextSource::ProjectFiles,
        oldest_first(60),
        SourceGives::Segments(|material| {
            material.started.map(project_files::data_segments_of).unwrap_or_default()
        }),
    ),
    row(ContextSource::Channel, oldest_first(40), SourceGives::Nothing),
    ContextSourceRow {
        rule: SourceRule { source: ContextSource::Memory, drop: oldest_first(50), share: Some(MEMORY_SHARE) },
        gives: SourceGives::Segments(|material| {
            let items = |started| recalled_memories::segments_of(started, material.zone);
            material.started.map(items).unwrap_or_default()
        }),
    },
    row(ContextSource::Rounds, oldest_first(90), SourceGives::WithInput),
    row(ContextSource::References, DropRule::Never, SourceGives::WithInput),
    row(
        ContextSource::Input,
        DropRule::Never,
        SourceGives::Segments(|material| {
            RequestSegment::current(material.transcript.rendered(material.zone))
        }),
    ),
];

/// Returns what becomes of the pieces of each source.
#[must_use]
pub fn source_rules() -> Vec<SourceRule> {
    CONTEXT_SOURCES.iter().map(|row| row.rule).collect()
}

/// Returns the texts before the conversation, as one.
#[must_use]
pub fn system_text(material: &RequestMaterial<'_>) -> String {
    let mut joined = String::new();
    for (_, text) in texts_of(material) {
        if !joined.is_empty() {
            joined.push_str(BETWEEN);
        }
        joined.push_str(&text);
    }
    joined
}

/// Returns the parts of a request, in the order in which a model reads them; those of texts are together as long as
/// [`system_text`].
#[must_use]
pub fn request_segments<'a>(material: &RequestMaterial<'a>) -> Vec<RequestSegment<'a>> {
    let mut between = 0;
    let mut segments = Vec::new();
    for (source, text) in texts_of(material) {
        segments.push(RequestSegment::outside(source, between + text.len()));
        between = BETWEEN.len();
    }
    for row in CONTEXT_SOURCES {
        match row.gives {
            SourceGives::Segments(gives) => segments.extend(gives(material)),
            SourceGives::Texts(_) | SourceGives::WithInput | SourceGives::Nothing => {}
        }
    }
    segments
}

fn texts_of<'a>(material: &RequestMaterial<'a>) -> Vec<(ContextSource, Cow<'a, str>)> {
    let mut texts = Vec::new();
    for row in CONTEXT_SOURCES {
        match row.gives {
            SourceGives::Texts(gives) => {
                texts.extend(gives(material).into_iter().map(|text| (row.rule.source, text)));
            }
            SourceGives::Segments(_) | SourceGives::WithInput | SourceGives::Nothing => {}
        }
    }
    texts.retain(|(_, text)| !text.is_empty());
    texts
}

#[cfg(test)]
mod tests {
    use palyra_types::RunId;

    use super::*;
    use crate::prompt::SegmentBody;

    fn with<T>(texts: StandingTexts<'_>, check: impl FnOnce(&RequestMaterial<'_>) -> T) -> T {
        let earlier = PriorContext::default();
        let transcript = Transcript::new(RunId::from_parts(1, 1));
        check(&RequestMaterial {
            texts,
            offered_bytes: 7,
            started: None,
            earlier: &earlier,
            zone: &TimeZone::UTC,
            transcript: &transcript,
        })
    }

    #[test]
    fn each_source_is_one_row_and_texts_come_first() {
        for source in ContextSource::ALL {
            assert_eq!(
                CONTEXT_SOURCES.iter().filter(|row| row.rule.source == source).count(),
                1,
                "{source:?}"
            );
        }
        assert_eq!(CONTEXT_SOURCES.len(), ContextSource::ALL.len());
        let is_text = |row: &ContextSourceRow| matches!(row.gives, SourceGives::Texts(_));
        let texts = CONTEXT_SOURCES.iter().take_while(|row| is_text(row)).count();
        assert_eq!(texts, CONTEXT_SOURCES.iter().filter(|row| is_text(row)).count());
        assert!(CONTEXT_SOURCES.iter().all(|row| !is_text(row) || row.rule.drop == DropRule::Never));
    }

    #[test]
    fn texts_are_joined_and_counted_alike() {
        let texts = StandingTexts { instructions: "Be brief.", of_agent: "", of_skills: "Skill one." };
        with(texts, |material| {
            assert_eq!(system_text(material), format!("Be brief.\n\n{DATA_RULE}\n\nSkill one."));
            let sizes = request_segments(material).into_iter().map(|segment| match segment.body {
                SegmentBody::Outside { bytes } => bytes,
                SegmentBody::Messages(_) => panic!("there are no messages"),
            });
            assert_eq!(sizes.sum::<u64>(), system_text(material).len() as u64 + 7);
        });
        with(StandingTexts::default(), |material| assert_eq!(system_text(material), DATA_RULE));
    }
}
