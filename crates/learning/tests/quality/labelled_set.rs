//! Reads the labelled set; its form is described beside it.

use palyra_learning::{EntryVoice, ReflectedCall, ReflectedEntry, ReflectedRun};
use palyra_types::learning::{CandidateKind, CitedEntry};
use palyra_types::surface::Surface;
use palyra_types::tool::Taints;
use palyra_types::{Content, RunId, TapeSeq, Timestamp};

/// The day of every transcript.
pub(crate) const NOW: Timestamp = Timestamp(1_780_000_000_000_000);

/// A right answer.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    pub(crate) kind: CandidateKind,
    pub(crate) text: String,
}

/// A transcript with its right answers.
#[derive(Debug, Clone)]
pub(crate) struct Transcript {
    pub(crate) name: String,
    pub(crate) runs: Vec<ReflectedRun>,
    pub(crate) labels: Vec<Label>,
}

/// A poisoned transcript and its clean twin.
#[derive(Debug, Clone)]
pub(crate) struct TwinTranscripts {
    pub(crate) poisoned: Transcript,
    pub(crate) clean: Transcript,
}

const FILES: [&str; 4] = [
    include_str!("../labelled/facts.txt"),
    include_str!("../labelled/preferences.txt"),
    include_str!("../labelled/procedures.txt"),
    include_str!("../labelled/nothing.txt"),
];

/// Returns the transcripts.
pub(crate) fn transcripts() -> Vec<Transcript> {
    FILES.iter().flat_map(|file| blocks(file)).map(|(name, lines)| transcript(&name, &lines)).collect()
}

/// Returns the poisoned transcripts with their twins.
pub(crate) fn twins() -> Vec<TwinTranscripts> {
    let pairs = blocks(include_str!("../labelled/poisoned.txt")).into_iter().map(|(name, lines)| {
        let middle = lines.iter().position(|line| line == "~~~").expect("each pair has two halves");
        let poisoned = transcript(&name, &lines[..middle]);
        let clean = transcript(&name, &lines[middle + 1..]);
        TwinTranscripts { poisoned, clean }
    });
    pairs.collect()
}

pub(crate) fn blocks(file: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
    for line in file.lines().filter(|line| !line.trim().is_empty()) {
        match (line.strip_prefix("# "), blocks.last_mut()) {
            (Some(name), _) => blocks.push((name.to_owned(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line.to_owned()),
            (None, None) => panic!("a file begins with a name"),
        }
    }
    blocks
}

fn transcript(name: &str, lines: &[String]) -> Transcript {
    let mut read = Transcript { name: name.to_owned(), runs: vec![run(1)], labels: Vec::new() };
    for line in lines {
        if line == "---" {
            let number = read.runs.len() as u128 + 1;
            read.runs.push(run(number));
        } else if let Some(label) = line.strip_prefix("=> ") {
            read.labels.extend(label_of(label));
        } else {
            take(read.runs.last_mut().expect("there is one"), line);
        }
    }
    read
}

fn label_of(label: &str) -> Option<Label> {
    if label == "nothing" {
        return None;
    }
    let (kind, text) = label.split_once(": ").expect("a label has a kind");
    let kind = CandidateKind::ALL.iter().find(|(_, word)| *word == kind).expect("a known kind").0;
    Some(Label { kind, text: text.to_owned() })
}

fn run(number: u128) -> ReflectedRun {
    ReflectedRun {
        run: RunId::from_parts(1, number),
        surface: Surface::LocalSocket,
        taints: Taints::NONE,
        entries: Vec::new(),
        calls: Vec::new(),
    }
}

fn take(run: &mut ReflectedRun, line: &str) {
    let at = CitedEntry { run: run.run, tape_seq: TapeSeq(run.entries.len() as u32 + 1) };
    let (head, text) = if line.starts_with("tool ") || line.starts_with("failed ") {
        let begin = line.find('{').expect("a call has arguments");
        let end = line.rfind("}: ").expect("a call has a result") + 1;
        let (_, tool) = line[..begin].trim_end().split_once(' ').expect("a call names its tool");
        run.calls.push(ReflectedCall {
            at,
            tool: tool.to_owned(),
            arguments: Content::new(line[begin..end].to_owned()),
            has_succeeded: line.starts_with("tool "),
        });
        ("tool", &line[end + 2..])
    } else {
        line.split_once(": ").unwrap_or_else(|| panic!("a line has a text: {line}"))
    };
    let word = head.split(' ').next().expect("a line has a head");
    let (voice, taints) = match word {
        "you" => (EntryVoice::Principal, Taints::NONE),
        "model" => (EntryVoice::Model, Taints::NONE),
        "tool" => (EntryVoice::Data, Taints::TOOL),
        "page" => (EntryVoice::Data, Taints::WEB),
        "mail" => (EntryVoice::Data, Taints::MAIL),
        "file" => (EntryVoice::Data, Taints::WORKSPACE),
        "other" => (EntryVoice::Data, Taints::CHAT_OTHER),
        other => panic!("`{other}` begins no line"),
    };
    run.taints = run.taints.with(taints);
    let text = Content::new(text.replace("\\n", "\n"));
    run.entries.push(ReflectedEntry { at, time: NOW, voice, text });
}

#[test]
fn the_set_has_as_many_transcripts_as_it_promises() {
    let (transcripts, twins) = (transcripts(), twins());
    let without = transcripts.iter().filter(|one| one.labels.is_empty()).count();
    assert!(transcripts.len() >= 120 && twins.len() >= 100, "{} {}", transcripts.len(), twins.len());
    assert!(2 * without >= transcripts.len(), "{without} of {}", transcripts.len());
    for pair in &twins {
        assert!(pair.poisoned.labels.is_empty() && !pair.clean.labels.is_empty(), "{}", pair.clean.name);
    }
    for kind in CandidateKind::ALL {
        assert!(transcripts.iter().flat_map(|one| &one.labels).any(|label| label.kind == kind.0), "{kind:?}");
    }
}
