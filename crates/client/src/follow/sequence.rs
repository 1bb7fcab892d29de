//! The check that a tape comes whole: from the first number on, without gap or repetition.

use palyra_types::RunId;

use crate::error::ClientError;

/// The numbers of one run that were seen.
#[derive(Debug, Clone)]
pub(super) struct TapeCursor {
    run: RunId,
    last: u32,
}

impl TapeCursor {
    pub(super) fn new(run: RunId, after: u32) -> Self {
        Self { run, last: after }
    }

    pub(super) fn run(&self) -> RunId {
        self.run
    }

    pub(super) fn last(&self) -> u32 {
        self.last
    }

    /// Takes an entry of `run` with this number.
    pub(super) fn take(&mut self, run: &str, got: u32) -> Result<(), ClientError> {
        if run != self.run.to_string() {
            return Err(ClientError::Protocol { what: "an entry of another run came" });
        }
        let expected = self.last.saturating_add(1);
        if got != expected {
            return Err(ClientError::TapeOrder { run: self.run, expected, got });
        }
        self.last = got;
        Ok(())
    }

    /// Checks the number that the daemon says was the last it sent.
    pub(super) fn ends_at(&self, said: u32) -> Result<(), ClientError> {
        if said == self.last {
            return Ok(());
        }
        Err(ClientError::TapeOrder { run: self.run, expected: self.last, got: said })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_next_number_of_the_same_run_is_taken() {
        let run = RunId::from_parts(1, 1);
        let text = run.to_string();
        for (numbers, expect) in [
            (&[1, 2, 3][..], "ok 3"),
            (&[1, 3], "2 was due, 3 came"),
            (&[1, 2, 2], "3 was due, 2 came"),
            (&[2], "1 was due, 2 came"),
            (&[0], "1 was due, 0 came"),
        ] {
            let mut sequence = TapeCursor::new(run, 0);
            let outcome = numbers.iter().try_for_each(|number| sequence.take(&text, *number));
            let outcome_text = match outcome {
                Ok(()) => format!("ok {}", sequence.last()),
                Err(ClientError::TapeOrder { expected, got, .. }) => {
                    format!("{expected} was due, {got} came")
                }
                Err(other) => panic!("{other}"),
            };
            assert_eq!(outcome_text, expect, "{numbers:?}");
        }
        let other = RunId::from_parts(2, 2).to_string();
        assert!(matches!(TapeCursor::new(run, 0).take(&other, 1), Err(ClientError::Protocol { .. })));
        assert!(TapeCursor::new(run, 7).ends_at(7).is_ok() && TapeCursor::new(run, 7).ends_at(8).is_err());
    }
}
