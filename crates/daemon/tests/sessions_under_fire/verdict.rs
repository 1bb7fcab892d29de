//! What must be so afterwards, worked out from the session's entries in the journal's order.

use std::collections::{BTreeMap, BTreeSet};

use palyra_client::Client;
use palyra_types::SessionId;
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{InputDelivery, TapeEntry};

use crate::crowd::Receipt;

/// A run, as its entries tell.
#[derive(Debug, Default)]
struct Run {
    entries: u32,
    delivery: String,
    accepted: u64,
    begun: Option<u64>,
    ended: Option<u64>,
    reason: String,
}

/// One session from its first entry to its last.
pub(crate) struct Story {
    runs: BTreeMap<String, Run>,
    /// Where each text stands.
    said: BTreeMap<String, Vec<String>>,
    steered: usize,
    abandoned: usize,
}

impl Story {
    pub(crate) async fn read(client: &Client, session: SessionId) -> Self {
        let mut story = Self { runs: BTreeMap::new(), said: BTreeMap::new(), steered: 0, abandoned: 0 };
        let mut after = None;
        loop {
            let page = client.read_session_tape(session, after, 0).await.unwrap();
            page.entries.iter().for_each(|entry| story.take(entry));
            after = page.entries.last().map(|entry| entry.seq).or(after);
            if !page.more {
                return story;
            }
        }
    }

    fn take(&mut self, entry: &TapeEntry) {
        let run = self.runs.entry(entry.run_id.clone()).or_default();
        run.entries += 1;
        assert_eq!(entry.tape_seq, run.entries, "the numbers of a tape are dense");
        match entry.event.as_ref().unwrap() {
            Event::RunStarted(started) => {
                run.accepted = entry.seq;
                run.delivery = started.delivery_name().into_owned();
                self.said.entry(started.input.clone()).or_default().push(entry.run_id.clone());
            }
            Event::InputReceived(received) => {
                self.steered += 1;
                self.said.entry(received.input.clone()).or_default().push(entry.run_id.clone());
            }
            Event::ModelRequested(_) => {
                run.begun.get_or_insert(entry.seq);
            }
            Event::ModelAttemptAbandoned(_) => self.abandoned += 1,
            Event::RunFinished(finished) => {
                run.ended = Some(entry.seq);
                run.reason = finished.reason_name().into_owned();
            }
            _ => {}
        }
    }

    pub(crate) fn told(&self) -> String {
        let interrupted = self.runs.values().filter(|run| run.reason == "interrupted").count();
        let (runs, steered, abandoned) = (self.runs.len(), self.steered, self.abandoned);
        format!(
            "{runs} runs, {steered} inputs joined one, {interrupted} were interrupted, {abandoned} requests abandoned"
        )
    }

    pub(crate) fn check(&self, receipts: &[Receipt]) {
        for receipt in receipts {
            let places = &self.said[&receipt.text];
            assert_eq!(
                places,
                std::slice::from_ref(&receipt.run),
                "{receipt:?} is where its receipt says, once"
            );
            let own = self.runs[&receipt.run].delivery.as_str();
            if receipt.delivery == InputDelivery::Interrupt {
                assert_eq!(own, "interrupt", "{receipt:?}");
            }
        }
        assert_eq!(self.said.len(), receipts.len(), "nobody said anything else");
        for (id, run) in &self.runs {
            assert!(run.ended.is_some(), "{id} has an end");
            assert!(matches!(run.reason.as_str(), "final_answer" | "interrupted"), "{id}: {run:?}");
        }
        self.check_order();
        assert!(self.steered > 0, "some inputs joined a run: {}", self.told());
        assert!(self.runs.values().any(|run| run.reason == "interrupted"), "{}", self.told());
    }

    /// One run at a time; each kind in the order of acceptance; interrupting ones before what waits.
    fn check_order(&self) {
        let mut order: Vec<&Run> = self.runs.values().filter(|run| run.begun.is_some()).collect();
        order.sort_by_key(|run| run.begun);
        for pair in order.windows(2) {
            assert!(pair[0].ended < pair[1].begun, "two runs at once: {pair:?}");
        }
        for interrupting in [false, true] {
            let accepted = order.iter().filter(|run| (run.delivery == "interrupt") == interrupting);
            let accepted: Vec<u64> = accepted.map(|run| run.accepted).collect();
            assert!(accepted.is_sorted(), "in the order of acceptance");
            assert_eq!(accepted.iter().collect::<BTreeSet<_>>().len(), accepted.len());
        }
        for (at, run) in order.iter().enumerate().filter(|(_, run)| run.delivery != "interrupt") {
            let waits = |other: &&Run| {
                other.delivery == "interrupt" && Some(other.accepted) < run.begun && other.begun > run.begun
            };
            // One may be accepted at the very moment when the next in the queue begins: then it is the next.
            if order.iter().any(waits) {
                let next = order.get(at + 1).expect("the one that waits");
                assert_eq!(next.delivery, "interrupt", "{run:?} went before {next:?}");
            }
        }
    }
}
