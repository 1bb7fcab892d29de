//! An answer is newer than its prompt: by example, and for any interleaving of keys, prompts, reads and delays.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

const CASES_USUAL: u32 = 2_000;

/// `PROPTEST_CASES` sets another number, such as 100,000.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    asked.unwrap_or(CASES_USUAL)
}

/// Something that happens at a terminal.
#[derive(Debug, Clone)]
enum Event {
    /// Keys are typed or pasted.
    Keys(Vec<u8>),
    /// Time passes, in milliseconds.
    Pass(u64),
    /// The program looks at its input, and reads at most so many bytes of it.
    Look(usize),
    /// A question arrives; the one before is withdrawn.
    Ask,
    /// The question is answered elsewhere.
    Withdraw,
    /// Keys that arrive before the next action is performed, however short that takes.
    Meanwhile(Vec<u8>),
}

/// When a byte arrived: after how many steps of the world, and at what time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Arrival {
    byte: u8,
    step: u64,
    at: Duration,
}

/// A terminal with a buffer in its kernel, as the shell around the gate uses it.
#[derive(Debug, Default)]
struct World {
    gate: PromptGate,
    now: Duration,
    step: u64,
    kernel: VecDeque<Arrival>,
    meanwhile: VecDeque<Vec<u8>>,
    last_arrival: Option<Duration>,
    /// What was read, in order.
    read: Vec<Arrival>,
    /// When the prompt in force was drawn.
    drawn: Option<u64>,
    answers: Vec<Vec<u8>>,
}

impl World {
    fn happen(&mut self, event: &Event) {
        self.step += 1;
        match event {
            Event::Keys(keys) => self.type_in(keys),
            Event::Pass(millis) => self.now += Duration::from_millis(*millis),
            Event::Ask => {
                self.drawn = None;
                let actions = self.gate.ask(self.now);
                self.perform(actions);
            }
            Event::Withdraw => {
                self.drawn = None;
                self.gate.withdraw();
            }
            Event::Meanwhile(keys) => self.meanwhile.push_back(keys.clone()),
            Event::Look(bytes_max) => self.look(*bytes_max),
        }
    }

    fn type_in(&mut self, keys: &[u8]) {
        for byte in keys {
            self.step += 1;
            self.kernel.push_back(Arrival { byte: *byte, step: self.step, at: self.now });
            self.last_arrival = Some(self.now);
        }
    }

    fn look(&mut self, bytes_max: usize) {
        if self.kernel.is_empty() {
            let silent_since = self.last_arrival;
            let actions = self.gate.nothing_to_read(self.now);
            if actions.contains(&GateAction::Draw) {
                assert!(silent_since.is_none_or(|last| self.now - last >= SILENCE), "drawn into typing");
            }
            return self.perform(actions);
        }
        let count = bytes_max.clamp(1, self.kernel.len());
        let read: Vec<Arrival> = self.kernel.drain(..count).collect();
        let bytes: Vec<u8> = read.iter().map(|arrival| arrival.byte).collect();
        match self.gate.received(&bytes, self.now) {
            Some(GateReply::Answer(line)) => self.check(&line, &read),
            Some(GateReply::End) => panic!("there was input"),
            None => self.read.extend(&read),
        }
    }

    fn perform(&mut self, actions: &[GateAction]) {
        for action in actions {
            if let Some(keys) = self.meanwhile.pop_front() {
                self.type_in(&keys);
            }
            self.step += 1;
            match action {
                GateAction::Discard => self.kernel.clear(),
                GateAction::Draw => self.drawn = Some(self.step),
                GateAction::Mark => {}
            }
        }
    }

    /// Finds out when the bytes of an answer arrived.
    fn check(&mut self, line: &[u8], last: &[Arrival]) {
        let drawn = self.drawn.take().expect("an answer to no prompt");
        let end = last.iter().position(|arrival| matches!(arrival.byte, b'\n' | b'\r')).unwrap();
        let mut all = std::mem::take(&mut self.read);
        all.extend(&last[..=end]);
        let bytes = &all[all.len() - 1 - line.len()..];
        let values: Vec<u8> = bytes[..line.len()].iter().map(|arrival| arrival.byte).collect();
        assert_eq!(values, line, "an answer nobody typed");
        assert!(bytes.iter().all(|arrival| arrival.step > drawn), "{bytes:?} for a prompt of step {drawn}");
        self.answers.push(line.to_vec());
    }
}

/// Reads an event from dice.
fn event(dice: u32) -> Event {
    let [kind, amount, first, second] = dice.to_le_bytes();
    let keys = || {
        let key = |byte: u8| b"yns\n\ry\n\x04".get(usize::from(byte >> 5)).copied().unwrap_or(byte);
        (0..=amount % 5).map(|at| key(first.wrapping_mul(at + 1) ^ second)).collect::<Vec<u8>>()
    };
    match kind % 24 {
        0..4 => Event::Keys(keys()),
        4..6 => Event::Meanwhile(keys()),
        6..9 => Event::Pass(u64::from(amount)),
        9..12 => Event::Pass(250 + u64::from(amount) * 2),
        12..20 => Event::Look(usize::from(amount % 8) + 1),
        20..23 => Event::Ask,
        _ => Event::Withdraw,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn every_byte_of_an_answer_is_newer_than_its_prompt(dice in prop::collection::vec(any::<u32>(), 0..60)) {
        let mut world = World::default();
        for dice in &dice {
            world.happen(&event(*dice));
        }
        // Whatever happened before: who waits for the prompt is heard.
        let before = world.answers.len();
        world.meanwhile.clear();
        for event in [Event::Ask, Event::Look(9), Event::Pass(300), Event::Look(9), Event::Keys(b"yes\n".to_vec())] {
            world.happen(&event);
        }
        prop_assert_eq!(world.answers.len(), before);
        world.happen(&Event::Look(9));
        prop_assert_eq!(world.answers.last().map(Vec::as_slice), Some(&b"yes"[..]));
    }
}

fn played(events: &[Event]) -> Vec<Vec<u8>> {
    let mut world = World::default();
    events.iter().for_each(|event| world.happen(event));
    world.answers
}

#[test]
fn what_was_typed_before_the_prompt_is_no_answer_and_what_comes_after_is() {
    let early = || Event::Keys(b"y\n".to_vec());
    let settle = || [Event::Pass(300), Event::Look(64)].into_iter();
    let late = || [Event::Keys(b"n\n".to_vec()), Event::Look(64)].into_iter();
    let before_the_question = [early(), Event::Pass(2_000), Event::Ask].into_iter().chain(settle());
    let within_the_silence =
        [Event::Ask, Event::Pass(200), early(), Event::Look(64)].into_iter().chain(settle());
    let unread_within_it = [Event::Ask, Event::Pass(200), early(), Event::Pass(500), Event::Look(64)]
        .into_iter()
        .chain(settle());
    let while_it_is_drawn = [Event::Ask, Event::Meanwhile(b"y\n".to_vec())].into_iter().chain(settle());
    let to_the_one_before = [Event::Ask]
        .into_iter()
        .chain(settle())
        .chain([Event::Keys(b"y".to_vec()), Event::Look(64), Event::Ask])
        .chain(settle());
    for road in [
        before_the_question.collect::<Vec<_>>(),
        within_the_silence.collect(),
        unread_within_it.collect(),
        while_it_is_drawn.collect(),
        to_the_one_before.collect(),
    ] {
        let mut road = road;
        assert_eq!(played(&road), [b""; 0], "{road:?}");
        road.extend(late());
        assert_eq!(played(&road), [b"n"], "{road:?}");
    }
}

#[test]
fn a_second_line_is_no_answer_to_the_next_prompt() {
    let twice = [
        Event::Ask,
        Event::Pass(300),
        Event::Look(64),
        Event::Keys(b"y\ny\n".to_vec()),
        Event::Look(64),
        Event::Ask,
        Event::Pass(300),
        Event::Look(64),
        Event::Look(64),
    ];
    assert_eq!(played(&twice), [b"y"]);
}

#[test]
fn a_prompt_waits_for_silence_however_long_that_takes() {
    let mut gate = PromptGate::default();
    let at = Duration::from_millis;
    gate.ask(at(0));
    for round in 1..100 {
        assert_eq!(gate.received(b"y\n", at(round * 299)), None);
        assert_eq!(gate.nothing_to_read(at(round * 299 + 298)), []);
    }
    assert_eq!(gate.wait(at(99 * 299)), Some(SILENCE));
    assert!(!gate.nothing_to_read(at(99 * 299 + 300)).is_empty() && gate.is_open());
    assert_eq!(gate.wait(at(1)), None);
}

#[test]
fn the_end_and_an_endless_line_end_the_prompt() {
    let open = || {
        let mut gate = PromptGate::default();
        gate.ask(Duration::ZERO);
        gate.nothing_to_read(SILENCE);
        gate
    };
    assert_eq!(open().received(b"", SILENCE), Some(GateReply::End));
    let mut gate = open();
    let refused = (0..64).find_map(|_| gate.received(&[b'y'; 4096], SILENCE));
    assert_eq!(refused, Some(GateReply::Answer(Vec::new())), "no part of it is an answer");
    assert_eq!(gate.received(b"y\n", SILENCE), None);
    let mut settling = PromptGate::default();
    settling.ask(Duration::ZERO);
    assert_eq!(settling.received(b"", SILENCE), Some(GateReply::End));
}
