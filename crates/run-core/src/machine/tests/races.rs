//! Many short lives in which answers race: with each other, and with what the calls depend on.

use palyra_types::approval::ApprovalState;
use palyra_types::event::{ApprovalEvent, TapeEvent, ToolEvent};
use palyra_types::run::RunLimits;

use crate::scenario::asks::{ScriptedAnswer, approve, asking, deny, edit, ready, send};
use crate::scenario::world::{RandomMove, ScenarioWorld};
use crate::scenario::{ScenarioDriver, begin, calls, start};
use crate::{RunError, RunInput};

/// Numbers in a fixed order, different for each seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn byte(&mut self) -> u8 {
        self.roll().to_le_bytes()[3]
    }
}

/// Prepared calls that ask: exclusive, parked, and beside others.
const EDITS: [u8; 3] = [8, 20, 32];

fn one_life(seed: u64) -> ScenarioWorld {
    let mut dice = Dice(seed);
    let limits = RunLimits { parallel_tools_max: 1 + u32::from(dice.byte() % 3), ..RunLimits::default() };
    let mut world = ScenarioWorld::new(limits);
    world.make(&RandomMove::Begin);
    let wanted = (0..1 + dice.byte() % 3).map(|_| EDITS[usize::from(dice.byte()) % 3]).collect();
    world.make(&RandomMove::Calls(wanted));
    for _ in 0..24 {
        let (which, how) = (dice.byte(), dice.byte());
        world.make(&match dice.byte() % 16 {
            0..=3 => RandomMove::Mutate,
            4..=6 => RandomMove::Prepared(which, how | 1),
            7..=11 => RandomMove::Decide(which, how),
            12 => RandomMove::ToolEnds(which, 0),
            13 => RandomMove::Restart,
            14 => RandomMove::DieAfterNextCommit,
            _ => RandomMove::Steer(which),
        });
    }
    world
}

/// The world checks at each execution that what runs is what was asked and approved, or what the person wrote.
#[test]
fn of_ten_thousand_changes_that_race_with_an_approval_none_runs_unapproved() {
    let (mut executed, mut asked_again) = (0, 0);
    for seed in 0..10_000 {
        let world = one_life(seed);
        for (event, _) in &world.driver.tape {
            match event {
                TapeEvent::Tool(ToolEvent::Started(_)) => executed += 1,
                TapeEvent::Approval(ApprovalEvent::Requested(asked))
                    if !asked.prompt.asked_again.expose().is_empty() =>
                {
                    asked_again += 1;
                }
                _ => {}
            }
        }
    }
    assert!(executed > 2_000 && asked_again > 2_000, "{executed} executed, {asked_again} asked again");
}

fn some_answer(dice: &mut Dice) -> ScriptedAnswer {
    let answer = match dice.byte() % 4 {
        0 => deny(11),
        1 => approve(11).edited(r#"{"path":"other"}"#),
        2 => approve(11).found("changed"),
        _ => approve(11),
    };
    answer.by(3 + u128::from(dice.byte() % 3))
}

/// Both answers were judged and prepared while the approval waited.
#[test]
fn of_two_answers_one_wins_and_the_other_is_told() {
    let mut resolved = std::collections::BTreeMap::new();
    for seed in 0..1_000 {
        let mut dice = Dice(seed);
        let call = [asking("write"), edit("a"), send()][usize::from(dice.byte()) % 3].clone();
        let mut driver = ScenarioDriver::new();
        for act in [start(), begin(), calls(1, &[call])] {
            driver.act(&act).expect("an input").expect("taken");
        }
        if !driver.machine.preparing().is_empty() {
            driver.act(&ready(1)).expect("an input").expect("taken");
        }
        let (first, second) = (some_answer(&mut dice), some_answer(&mut dice));
        let (first, mut second) = (driver.answer(&first), driver.answer(&second.fresh(901)));
        if dice.byte().is_multiple_of(8) {
            second = RunInput::ApprovalExpired { approval: crate::scenario::asks::approval(11) };
        }
        let expires = matches!(second, RunInput::ApprovalExpired { .. });
        let before = driver.tape.len();
        driver.take(&first).expect("the first one wins");
        let late = if expires { RunError::Stale } else { RunError::ApprovalDecided };
        assert_eq!(driver.take(&second), Err(late), "{}", driver.tape_line());
        let mut ends = driver.tape[before..].iter().filter_map(|(event, _)| match event {
            TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => Some(resolved.state),
            _ => None,
        });
        *resolved.entry(ends.next().expect("it is resolved")).or_insert(0_u32) += 1;
        assert_eq!(ends.next(), None, "{}", driver.tape_line());
    }
    let ends: Vec<ApprovalState> = resolved.into_keys().collect();
    assert_eq!(ends, [ApprovalState::Approved, ApprovalState::Denied, ApprovalState::Withdrawn]);
}
