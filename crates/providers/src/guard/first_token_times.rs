//! How long models take to their first words.
//!
//! Owns a moving average for each model of one provider, from the requests that it answered. Knows no clock: times come in.
//! A value that no request has renewed for [`FRESH_SPAN`] is not known any more, so that a model that was slow once is
//! measured again.

use std::collections::BTreeMap;
use std::time::Duration;

use palyra_types::BootTime;
use palyra_types::model::ModelName;

/// How long a measurement says something.
pub(super) const FRESH_SPAN: Duration = Duration::from_secs(60 * 60);
/// Models of one provider that are measured; those that come later are not.
const MODELS_MAX: usize = 256;
/// The share of a new measurement in the average is one of so many.
const AVERAGE_OF: u32 = 4;

/// The averages.
#[derive(Debug, Default)]
pub(super) struct FirstTokenTimes {
    by_model: BTreeMap<ModelName, FirstTokenTime>,
}

#[derive(Debug, Clone, Copy)]
struct FirstTokenTime {
    average: Duration,
    measured: BootTime,
}

impl FirstTokenTimes {
    /// Takes in the time from a request to its first words.
    pub(super) fn measured(&mut self, model: &ModelName, span: Duration, now: BootTime) {
        let average = match self.known(model, now) {
            Some(average) => (average * (AVERAGE_OF - 1) + span) / AVERAGE_OF,
            None => span,
        };
        if self.by_model.contains_key(model) || self.by_model.len() < MODELS_MAX {
            self.by_model.insert(model.clone(), FirstTokenTime { average, measured: now });
        }
    }

    /// Returns the average of a model; `None` when no request measured it lately.
    pub(super) fn known(&self, model: &ModelName, now: BootTime) -> Option<Duration> {
        let time = self.by_model.get(model).filter(|time| now.since(time.measured) < FRESH_SPAN)?;
        Some(time.average)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ModelName {
        ModelName::new(text)
    }

    #[test]
    fn the_average_follows_new_measurements_and_gets_old() {
        let mut times = FirstTokenTimes::default();
        let start = BootTime::default();
        let (small, large) = (name("small"), name("large"));
        assert_eq!(times.known(&small, start), None);
        times.measured(&small, Duration::from_millis(400), start);
        times.measured(&small, Duration::from_millis(800), start);
        assert_eq!(times.known(&small, start), Some(Duration::from_millis(500)));
        assert_eq!(times.known(&large, start), None);

        let later = start.after(FRESH_SPAN);
        assert_eq!(times.known(&small, later), None, "it is too old to say something");
        times.measured(&small, Duration::from_millis(100), later);
        assert_eq!(times.known(&small, later), Some(Duration::from_millis(100)));
    }

    #[test]
    fn the_number_of_models_has_a_limit() {
        let mut times = FirstTokenTimes::default();
        let start = BootTime::default();
        for number in 0..=MODELS_MAX {
            times.measured(&name(&format!("model-{number}")), Duration::from_millis(1), start);
        }
        assert_eq!(times.by_model.len(), MODELS_MAX);
        times.measured(&name("model-0"), Duration::from_millis(5), start);
        assert_eq!(times.known(&name("model-0"), start), Some(Duration::from_millis(2)));
    }
}
