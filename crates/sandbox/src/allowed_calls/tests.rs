//! Runs the instructions of the tree, call by call.

use super::*;

/// What the rest answers here.
const REST: u32 = 77;

fn answer(program: &BpfProgram, machine: u32, number: u32) -> u32 {
    answer_after(program, machine, number).0
}

/// Runs a program of the instructions that are used here on one call; says its answer, and after how many of them.
fn answer_after(program: &BpfProgram, machine: u32, number: u32) -> (u32, usize) {
    let (mut at, mut value) = (0, 0);
    for steps in 1.. {
        let sock_filter { code, jt, jf, k } = program[at].clone();
        let taken = |yes: bool| usize::from(if yes { jt } else { jf });
        at += 1;
        match code {
            LOAD if k == NUMBER_AT => value = number,
            LOAD => value = machine,
            IF_EQUAL => at += taken(value == k),
            IF_AT_LEAST => at += taken(value >= k),
            IF_GREATER => at += taken(value > k),
            GO_ON => at += k as usize,
            RETURN => return (k, steps),
            other => panic!("instruction {other}"),
        }
    }
    unreachable!("a program ends")
}

#[test]
fn what_is_on_the_list_is_allowed_and_all_else_goes_on() {
    let rest = vec![instruction(RETURN, REST)];
    let lists: [&[i64]; 5] = [&[], &[0], &[5, 6, 7], &[0, 2, 4, 6, 9, 10, 300], &[1, 3, 500, 501, 999]];
    for list in lists {
        let program = before(list.iter().copied(), &rest);
        // Beyond the list too, where other ways to name the calls of a machine begin.
        for number in (0..1100).chain([0x4000_0000, 0x4000_0005, u32::MAX]) {
            let wanted = if list.contains(&i64::from(number)) { libc::SECCOMP_RET_ALLOW } else { REST };
            assert_eq!(answer(&program, MACHINE, number), wanted, "{list:?} {number}");
            assert_eq!(answer(&program, MACHINE ^ 1, number), REST, "of another machine");
        }
    }
}

#[test]
fn every_allowed_call_is_found_in_a_few_steps() {
    let calls: Vec<i64> = (0..400).filter(|number| number % 2 == 0).collect();
    let program = before(calls.iter().copied(), &vec![instruction(RETURN, REST)]);
    for number in calls {
        let number = u32::try_from(number).expect("a number");
        let (answer, steps) = answer_after(&program, MACHINE, number);
        // Two for each half that is left out of two hundred, and six at both ends.
        assert!(answer == libc::SECCOMP_RET_ALLOW && steps <= 2 * 8 + 6, "{number}: {steps} steps");
    }
}
