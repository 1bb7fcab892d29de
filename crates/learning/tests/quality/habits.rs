//! Scripted users with habits over 30 sessions, with learning off and on: how often they repeat themselves.
//!
//! The double of the assistant follows a habit exactly if a preference or a fact with its words is in use; else the user corrects
//! it, which costs one more call of a tool.

use palyra_learning::{
    CandidateStanding, EntryVoice, KnownCandidate, LearningRuntimeConfig, NextStep, ReflectedEntry,
    ReflectedRun, decide_standing, find_candidates, next_step,
};
use palyra_types::learning::{CandidateState, CitedEntry};
use palyra_types::surface::Surface;
use palyra_types::tool::Taints;
use palyra_types::{CandidateId, Content, RunId, TapeSeq, Timestamp};

use crate::labelled_set::{NOW, blocks};

const SESSIONS: usize = 30;
const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
/// Calls of a task that needs no correction.
const CALLS_PER_TASK: usize = 2;

/// A user, as scripted.
#[derive(Default)]
struct ScriptedUser {
    name: String,
    /// Kind of task, sentence, and the words that a candidate of it has; a fact belongs to each kind.
    habits: Vec<[String; 3]>,
    tasks: Vec<[String; 2]>,
    noise: Vec<String>,
}

/// Figures of a user.
#[derive(Default, PartialEq, Eq)]
struct HabitFigures {
    corrections: usize,
    /// Those in the last ten sessions.
    late_corrections: usize,
    calls: usize,
    wrong: Vec<String>,
}

fn users() -> Vec<ScriptedUser> {
    let all = blocks(include_str!("../labelled/habits.txt")).into_iter().map(|(name, lines)| {
        let mut user = ScriptedUser { name, ..ScriptedUser::default() };
        for line in &lines {
            let (head, text) = line.split_once(": ").expect("a line has a text");
            let (word, kind) = head.split_once(' ').unwrap_or((head, ""));
            let halves = text.split_once(" | ").unwrap_or((text, ""));
            match word {
                "habit" | "fact" => {
                    user.habits.push([kind, halves.0, halves.1].map(str::to_owned));
                }
                "task" => user.tasks.push([kind, text].map(str::to_owned)),
                "noise" => user.noise.push(text.to_owned()),
                other => panic!("`{other}` begins no line"),
            }
        }
        user
    });
    all.collect()
}

fn run(number: usize, time: Timestamp, said: &[String]) -> ReflectedRun {
    let run = RunId::from_parts(2, number as u128 + 1);
    let entries = said.iter().zip(1..).map(|(text, tape_seq)| ReflectedEntry {
        at: CitedEntry { run, tape_seq: TapeSeq(tape_seq) },
        time,
        voice: EntryVoice::Principal,
        text: Content::new(text.clone()),
    });
    let entries = entries.collect();
    ReflectedRun { run, surface: Surface::Console, taints: Taints::NONE, entries, calls: Vec::new() }
}

fn play(user: &ScriptedUser, config: &LearningRuntimeConfig) -> HabitFigures {
    let mut figures = HabitFigures::default();
    let mut known: Vec<KnownCandidate> = Vec::new();
    for session in 0..SESSIONS {
        let now = Timestamp(NOW.0 + DAY_MICROS * i64::try_from(session).unwrap_or_default());
        let [kind, task] = &user.tasks[session % user.tasks.len()];
        let mut said = vec![task.clone()];
        if session % 3 == 1 {
            said.push(user.noise[session / 3 % user.noise.len()].clone());
        }
        for [of, sentence, words] in &user.habits {
            let concerns = of == kind || of.is_empty();
            let is_known = known.iter().any(|one| one.state.is_in_use() && one.text.contains(words.as_str()));
            if concerns && !is_known {
                said.push(sentence.clone());
            }
        }
        let corrections =
            said.iter().filter(|text| user.habits.iter().any(|habit| habit[1] == **text)).count();
        figures.corrections += corrections;
        figures.late_corrections += if session >= SESSIONS - 10 { corrections } else { 0 };
        figures.calls += CALLS_PER_TASK + corrections;
        if config.is_enabled {
            learn(&run(session, now, &said), &mut known, now);
        }
    }
    let of_no_habit = |one: &&KnownCandidate| user.habits.iter().all(|habit| !one.text.contains(&habit[2]));
    let wrong = known.iter().filter(|one| one.state.is_in_use()).filter(of_no_habit);
    figures.wrong = wrong.map(|one| one.text.clone()).collect();
    figures
}

fn learn(run: &ReflectedRun, known: &mut Vec<KnownCandidate>, now: Timestamp) {
    let config = LearningRuntimeConfig::default();
    for found in find_candidates(std::slice::from_ref(run), None) {
        let NextStep::Propose { confidence_bps, supersedes, replaces, evidence } =
            next_step(&found, known, now)
        else {
            continue;
        };
        let state = match decide_standing(&found, confidence_bps, &config) {
            CandidateStanding::Applied => CandidateState::Applied,
            CandidateStanding::PendingReview(_) => CandidateState::PendingReview,
            CandidateStanding::Dropped => continue,
        };
        let replaces = replaces.filter(|_| state == CandidateState::Applied);
        for one in known.iter_mut().filter(|one| [supersedes, replaces].contains(&Some(one.candidate))) {
            one.state = CandidateState::Superseded;
        }
        known.push(KnownCandidate {
            candidate: CandidateId::from_parts(3, known.len() as u128 + 1),
            kind: found.kind,
            state,
            text: found.text.expose().clone(),
            confidence_bps,
            time: now,
            evidence,
        });
    }
}

#[test]
fn users_repeat_themselves_less_with_learning() {
    println!(
        "| user | corrections, off | on | in the last ten sessions, on | calls per task, off | on | wrong |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    let mut totals = [0, 0];
    for user in users() {
        let off = play(&user, &LearningRuntimeConfig::disabled());
        let on = play(&user, &LearningRuntimeConfig::default());
        let per_task = |calls: usize| format!("{}.{:02}", calls / SESSIONS, calls * 100 / SESSIONS % 100);
        println!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            user.name,
            off.corrections,
            on.corrections,
            on.late_corrections,
            per_task(off.calls),
            per_task(on.calls),
            on.wrong.len()
        );
        assert_eq!(on.wrong, Vec::<String>::new(), "{}", user.name);
        assert!(on.corrections <= off.corrections, "{}", user.name);
        totals[0] += off.corrections;
        totals[1] += on.corrections;
    }
    assert!(totals[1] * 5 <= totals[0], "{totals:?}");
}
