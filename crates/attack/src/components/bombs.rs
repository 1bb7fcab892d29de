//! Components that are small and take a compiler for ever (56).
//!
//! The canary is the host itself, which has to stay idle and small while a process that is held compiles, and which has to
//! go on afterwards. Their binary form is written by hand: their text would be as large as they are not.

use palyra_testkit::component_text::{ComponentAbout, ECHO, Wat};

use super::attempt::Attempt;
use super::call::{CallAction, ComponentCall};
use super::watched::{HostCanary, both};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// A kind of bomb, and its bytes.
type ParserBomb = (&'static str, fn() -> Vec<u8>);

const BOMBS: &[ParserBomb] = &[
    ("many functions", || functions(400, &LINE.repeat(4_000))),
    ("one large function", || functions(1, &LINE.repeat(450_000))),
    ("blocks within blocks", || {
        let deep = 200_000;
        functions(
            3,
            &[&[0x02, 0x40].repeat(deep)[..], &[0x20, 0, 0xa7, 0x0d, 0x00].repeat(10), &[0x0b].repeat(deep)]
                .concat(),
        )
    }),
    ("loops beside loops", || functions(200, &LOOP.repeat(6_000))),
    ("tables of branches", || functions(40, &branches(20_000).repeat(10))),
    ("many calls", || functions(200, &CALL.repeat(8_000))),
];

const I64: u8 = 0x7e;
/// x = (x + 7) * rotl(x, x)
const LINE: &[u8] = &[0x20, 0, 0x42, 7, 0x7c, 0x20, 0, 0x20, 0, 0x89, 0x7e, 0x21, 0];
/// loop: x = x + 1; if x goes on
const LOOP: &[u8] = &[0x03, 0x40, 0x20, 0, 0x42, 1, 0x7c, 0x21, 0, 0x20, 0, 0xa7, 0x0d, 0, 0x0b];
/// x = the first function of x
const CALL: &[u8] = &[0x20, 0, 0x10, 0, 0x21, 0];

/// Returns all of them, one after the other: each wants a processor for itself.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let pairs =
        BOMBS.iter().map(|&(variant, _)| CasePair::new(56, variant, "a compiler that is a held process"));
    vec![AttackTrial::new(pairs.collect(), carry_out).alone()]
}

async fn carry_out(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let mut found = Vec::new();
    for pair in pairs {
        let bomb = BOMBS.iter().find(|(variant, _)| *variant == pair.variant);
        let bytes = bomb.map(|(_, bytes)| bytes()).unwrap_or_default();
        found.extend(
            run_attempts(vec![pair], place.half, async |_| {
                let attempt = Attempt::new(&bytes)?;
                // The compiler is this program, and needs a path that everybody may go.
                let program = attempt.trial_folder.scratch().join("palyra-attack");
                std::fs::copy(&place.program, &program)?;
                let about = ComponentAbout { contract: 1, ..ComponentAbout::default() };
                std::fs::write(attempt.honest(), Wat { about, ..Wat::running(ECHO) }.bytes())?;
                let spec = ComponentCall {
                    ask: CallAction::Add,
                    beside: Some(attempt.honest()),
                    ..attempt.spec.clone()
                };
                let canaries = &[HostCanary::Used, HostCanary::Memory, HostCanary::Dead, HostCanary::Beside];
                both(&program, &spec, canaries).await.map(Some)
            })
            .await,
        );
    }
    found
}

/// A component whose core module has so many functions `i64 -> i64`, each with these lines.
fn functions(count: usize, lines: &[u8]) -> Vec<u8> {
    let body = [&[0][..], lines, &[0x20, 0, 0x0b]].concat();
    let body = [&*leb(body.len()), &body].concat();
    let many = leb(count);
    let module = [
        b"\0asm\x01\0\0\0".to_vec(),
        section(1, &[1, 0x60, 1, I64, 1, I64]),
        section(3, &[&*many, &vec![0; count]].concat()),
        section(10, &[&*many, &body.repeat(count)].concat()),
    ];
    [b"\0asm\x0d\0\x01\0".to_vec(), section(1, &module.concat())].concat()
}

/// A block out of which a table leads in many ways, all of which are one.
fn branches(ways: usize) -> Vec<u8> {
    let table = [&[0x0e][..], &leb(ways), &[0, 1].repeat(ways / 2), &[0]].concat();
    [&[0x02, 0x40, 0x02, 0x40, 0x20, 0, 0xa7][..], &table, &[0x0b, 0x0b]].concat()
}

fn section(number: u8, inside: &[u8]) -> Vec<u8> {
    [&[number], &*leb(inside.len()), inside].concat()
}

/// A number as WebAssembly writes it.
fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}
