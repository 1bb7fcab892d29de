//! What holds for any sequence of inputs, however foolish.

use palyra_types::TapeSeq;
use palyra_types::event::{ModelEvent, TapeEvent};
use palyra_types::run::RunLimits;
use proptest::prelude::*;

use crate::model_call::ModelCall;
use crate::scenario::replay;
use crate::scenario::world::{ScenarioWorld, moves, small_limits};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_inputs_keep_the_rules_and_good_will_ends_the_run(limits in small_limits(), moves in moves(80)) {
        let mut world = ScenarioWorld::new(limits);
        for a_move in &moves {
            world.make(a_move);
        }
        world.drive_to_end();
    }

    #[test]
    fn a_replay_of_any_prefix_is_the_machine_of_that_moment(limits in small_limits(), moves in moves(40)) {
        let mut world = ScenarioWorld::new(limits);
        let mut moments = vec![world.clone()];
        for a_move in &moves {
            world.make(a_move);
            moments.push(world.clone());
        }
        for moment in moments {
            let committed = &moment.driver.tape;
            let of_the_whole = &world.driver.tape[..committed.len()];
            prop_assert_eq!(of_the_whole, &committed[..], "the past changed");
            prop_assert_eq!(replay(of_the_whole), moment.driver.machine);
        }
    }

    #[test]
    fn a_switch_is_a_remark_that_an_older_version_may_skip(limits in small_limits(), moves in moves(60)) {
        let mut world = ScenarioWorld::new(limits);
        for a_move in &moves {
            world.make(a_move);
        }
        let mut older = world.driver.tape.clone();
        for (event, _) in &mut older {
            if let (TapeEvent::Model(ModelEvent::Switched { .. }), Some(kind)) = (&*event, event.kind()) {
                *event = TapeEvent::Unknown { kind: kind.number() };
            }
        }
        for length in 0..=older.len() {
            prop_assert_eq!(replay(&older[..length]), replay(&world.driver.tape[..length]));
        }
        let calls = |with: bool| {
            let mut call = ModelCall::default();
            for (seq, (event, time)) in (1..).zip(&world.driver.tape) {
                if with || !matches!(event, TapeEvent::Model(ModelEvent::Switched { .. })) {
                    call.evolve(event, TapeSeq(seq), *time);
                }
            }
            call
        };
        prop_assert_eq!(calls(true), calls(false), "a tape without switches replays differently");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_crash_at_any_entry_leads_to_an_end_and_no_opaque_call_runs_twice(moves in moves(40)) {
        let mut world = ScenarioWorld::new(RunLimits { turns_max: 8, ..RunLimits::default() });
        for a_move in &moves {
            world.make(a_move);
        }
        let now = world.driver.now;
        for length in 1..=world.driver.tape.len() {
            let mut revived = ScenarioWorld::after_crash(&world.driver.tape[..length], now);
            revived.drive_to_end();
        }
    }

    #[test]
    fn crashes_during_recovery_lead_to_an_end_too(moves in moves(30), again in 1..4_usize) {
        let mut world = ScenarioWorld::new(RunLimits { turns_max: 8, ..RunLimits::default() });
        for a_move in &moves {
            world.make(a_move);
        }
        for length in 1..=world.driver.tape.len() {
            let mut tape = world.driver.tape[..length].to_vec();
            for _ in 0..again {
                tape = ScenarioWorld::after_crash(&tape, world.driver.now).driver.tape;
            }
            let mut revived = ScenarioWorld::after_crash(&tape, world.driver.now);
            revived.drive_to_end();
            let repeats = tape.iter().filter(|(event, _)| matches!(event, TapeEvent::Model(ModelEvent::Requested(_))));
            prop_assert!(repeats.count() <= 6 * 8, "a turn was asked more than six times");
        }
    }
}
