//! The fast part of a filter: a search tree over the numbers that are allowed whatever their arguments.
//!
//! Owns its instructions. A list that is walked from its start costs every program that is started half a millisecond,
//! for the kernel tries each number on it, and later every call that it cannot remember. Invariant: what this part does
//! not allow, of this machine's own calls, goes on to the part that follows it. Source: seccomp(2).

use seccompiler::{BpfProgram, sock_filter};

/// Where `seccomp_data` has the number of the call, and the kind of machine that it is for.
const NUMBER_AT: u32 = 0;
const MACHINE_AT: u32 = 4;

/// This machine's own calls, from linux/audit.h.
#[cfg(target_arch = "x86_64")]
const MACHINE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const MACHINE: u32 = 0xc000_00b7;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const IF_GREATER: u16 = (libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16;
const GO_ON: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Numbers that follow each other, the last among them.
type Range = (u32, u32);

/// Puts the allowance of `calls` in front of a filter for the rest.
pub(crate) fn before(calls: impl Iterator<Item = i64>, rest: &BpfProgram) -> BpfProgram {
    let tree = tree(&ranges(calls));
    let behind = u32::try_from(tree.len()).unwrap_or(u32::MAX);
    let mut program = vec![
        instruction(LOAD, MACHINE_AT),
        branch(IF_EQUAL, MACHINE, 1, 0),
        // Past the load of the number, and the tree.
        instruction(GO_ON, behind + 1),
        instruction(LOAD, NUMBER_AT),
    ];
    program.extend(tree);
    program.extend(rest.iter().cloned());
    program
}

fn ranges(calls: impl Iterator<Item = i64>) -> Vec<Range> {
    let mut numbers: Vec<u32> = calls.filter_map(|call| u32::try_from(call).ok()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut ranges: Vec<Range> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

/// Makes the instructions that allow the ranges, and run to their own end for every other number.
fn tree(ranges: &[Range]) -> BpfProgram {
    match ranges {
        [] => Vec::new(),
        [(first, last)] => vec![
            branch(IF_AT_LEAST, *first, 0, 2),
            branch(IF_GREATER, *last, 1, 0),
            instruction(RETURN, libc::SECCOMP_RET_ALLOW),
        ],
        _ => {
            let (low, high) = ranges.split_at(ranges.len() / 2);
            let begin_of_high = high.first().map_or(0, |(first, _)| *first);
            let (low, high) = (tree(low), tree(high));
            let length = |part: &BpfProgram| u32::try_from(part.len()).unwrap_or(u32::MAX);
            let mut both = vec![
                branch(IF_AT_LEAST, begin_of_high, 0, 1),
                // Past the lower half, and its own way to the end.
                instruction(GO_ON, length(&low) + 1),
            ];
            let past_high = instruction(GO_ON, length(&high));
            both.extend(low);
            both.push(past_high);
            both.extend(high);
            both
        }
    }
}

fn instruction(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

fn branch(code: u16, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code, jt: yes, jf: no, k }
}

#[cfg(test)]
mod tests;
