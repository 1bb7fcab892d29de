//! What holds for any sequence of inputs, however foolish.

use palyra_types::event::{ModelEvent, TapeEvent};
use palyra_types::run::RunLimits;
use proptest::prelude::*;

use crate::scenario::replay;
use crate::scenario::world::{World, moves, small_limits};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_inputs_keep_the_rules_and_good_will_ends_the_run(limits in small_limits(), moves in moves(80)) {
        let mut world = World::new(limits);
        for a_move in &moves {
            world.make(a_move);
        }
        world.drive_to_end();
    }

    #[test]
    fn a_replay_of_any_prefix_is_the_machine_of_that_moment(limits in small_limits(), moves in moves(40)) {
        let mut world = World::new(limits);
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
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_crash_at_any_entry_leads_to_an_end_and_no_opaque_call_runs_twice(moves in moves(40)) {
        let mut world = World::new(RunLimits { turns_max: 8, ..RunLimits::default() });
        for a_move in &moves {
            world.make(a_move);
        }
        let now = world.driver.now;
        for length in 1..=world.driver.tape.len() {
            let mut revived = World::after_crash(&world.driver.tape[..length], now);
            revived.drive_to_end();
        }
    }

    #[test]
    fn crashes_during_recovery_lead_to_an_end_too(moves in moves(30), again in 1..4_usize) {
        let mut world = World::new(RunLimits { turns_max: 8, ..RunLimits::default() });
        for a_move in &moves {
            world.make(a_move);
        }
        for length in 1..=world.driver.tape.len() {
            let mut tape = world.driver.tape[..length].to_vec();
            for _ in 0..again {
                tape = World::after_crash(&tape, world.driver.now).driver.tape;
            }
            let mut revived = World::after_crash(&tape, world.driver.now);
            revived.drive_to_end();
            let repeats = tape.iter().filter(|(event, _)| matches!(event, TapeEvent::Model(ModelEvent::Requested(_))));
            prop_assert!(repeats.count() <= 6 * 8, "a turn was asked more than six times");
        }
    }
}
