//! Two people at two terminals who decide opposite at the same time.

use std::process::Child;

use crate::asked::{asked, is_whole, of, tape};
use crate::home::{Ended, Home, ended};

const TIMES: usize = 20;

#[test]
fn of_two_opposite_answers_at_once_one_wins_and_the_other_is_told() {
    let home = Home::new();
    let waiting: Vec<_> =
        (0..TIMES).map(|at| asked(&home, &format!("create file{at}.txt with hello"))).collect();
    let mut won = [0, 0];
    for (at, waits) in waiting.iter().enumerate() {
        let say = |word: &str| home.command(&["approve", word, &waits.approval]).spawn().unwrap();
        let spawned: [(&str, Child); 2] =
            if at % 2 == 0 { ["yes", "no"] } else { ["no", "yes"] }.map(|word| (word, say(word)));
        let mut told: Vec<(&str, Ended)> =
            spawned.into_iter().map(|(word, child)| (word, ended(child))).collect();
        told.sort_by_key(|(_, told)| told.code);
        let codes: Vec<i32> = told.iter().map(|(_, told)| told.code).collect();
        assert_eq!(codes, [0, 5], "{told:?}");
        let yes = told[0].0 == "yes";
        won[usize::from(yes)] += 1;
        let state = if yes { "approved" } else { "denied" };
        let lost = format!("it was decided before: {state} by ");
        assert!(told[1].1.err.contains(&lost), "{}", told[1].1.err);

        let tape = tape(&home, &waits.run);
        assert_eq!(of(&tape, "approval_resolved").len(), 1);
        assert_eq!(of(&tape, "tool_started").len(), usize::from(yes));
        assert_eq!(home.work().join(format!("file{at}.txt")).exists(), yes);
    }
    assert_eq!(won[0] + won[1], TIMES);
    is_whole(&home);
}

#[test]
fn of_several_equal_answers_at_once_all_count_and_one_starts_the_call() {
    let home = Home::new();
    let waits = asked(&home, "create notes.txt with hello");
    let say = |_| home.command(&["approve", "yes", &waits.approval]).spawn().unwrap();
    let told: Vec<Child> = (0..6).map(say).collect();
    let codes: Vec<i32> = told.into_iter().map(|child| ended(child).code).collect();
    assert_eq!(codes, [0; 6], "to say the same again is no conflict");
    let tape = tape(&home, &waits.run);
    assert_eq!((of(&tape, "approval_resolved").len(), of(&tape, "tool_started").len()), (1, 1));
}
