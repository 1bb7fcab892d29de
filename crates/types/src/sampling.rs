//! Settings of a model request that a client may give: how the model chooses its words, and how much it thinks.
//!
//! Owns their values and the words of the enumerations. Knows no provider: a wire format leaves out those that it lacks. Invariant: a setting that is absent leaves the choice to the provider.

use crate::Redacted;

/// The settings of a run: the same for each of its model requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingOptions<T = Redacted<String>> {
    /// How freely words are chosen, from 0 to 2.
    pub temperature: Option<SamplingNumber>,
    /// From which part of the likely words one is chosen, from 0 to 1.
    pub top_p: Option<SamplingNumber>,
    /// Texts before which an answer ends.
    pub stop: Vec<T>,
    /// Where chance begins: equal requests give equal answers as far as the provider can.
    pub seed: Option<i64>,
    /// How much the model thinks.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// How long its answers are.
    pub verbosity: Option<AnswerVerbosity>,
    /// How many tools one answer may call.
    pub calls_per_answer: Option<CallsPerAnswer>,
}

// Not derived: no `T: Default` is needed.
impl<T> Default for SamplingOptions<T> {
    fn default() -> Self {
        Self {
            temperature: None,
            top_p: None,
            stop: Vec::new(),
            seed: None,
            reasoning_effort: None,
            verbosity: None,
            calls_per_answer: None,
        }
    }
}

impl<T> SamplingOptions<T> {
    /// Returns the same settings with other texts to stop at.
    #[must_use]
    pub fn with_stop<U>(&self, stop: Vec<U>) -> SamplingOptions<U> {
        SamplingOptions {
            temperature: self.temperature,
            top_p: self.top_p,
            stop,
            seed: self.seed,
            reasoning_effort: self.reasoning_effort,
            verbosity: self.verbosity,
            calls_per_answer: self.calls_per_answer,
        }
    }
}

/// A number of a setting: not negative, exact to a millionth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SamplingNumber {
    /// How many millionths it is.
    pub millionths: u32,
}

impl SamplingNumber {
    const PER_UNIT: f64 = 1_000_000.0;

    /// Rounds a number; a number below 0 becomes 0, and so does NaN.
    #[must_use]
    pub fn rounded(number: f64) -> Self {
        // A cast from a float ends at the limits of the integer.
        Self { millionths: (number * Self::PER_UNIT).round() as u32 }
    }

    /// Returns the number.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.millionths) / Self::PER_UNIT
    }
}

macro_rules! named_values {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$of])* $variant,)+
        }

        impl $name {
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Returns the word for it in requests.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}

named_values! {
    /// How much a model thinks before it answers.
    ReasoningEffort {
        /// Not at all.
        None = "none",
        /// As little as it can.
        Minimal = "minimal",
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
        /// Very much.
        ExtraHigh = "xhigh",
        /// As much as it can.
        Max = "max",
    }
}

named_values! {
    /// How long the answers of a model are.
    AnswerVerbosity {
        /// Short.
        Low = "low",
        /// As usual.
        Medium = "medium",
        /// Long.
        High = "high",
    }
}

/// How many tools one answer of a model may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallsPerAnswer {
    /// One at most.
    One,
    /// Several.
    Several,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_exact_to_a_millionth() {
        for (number, millionths) in
            [(0.0, 0), (0.7, 700_000), (1.0, 1_000_000), (0.123_456_7, 123_457), (-1.0, 0)]
        {
            assert_eq!(SamplingNumber::rounded(number), SamplingNumber { millionths });
        }
        assert_eq!(SamplingNumber::rounded(0.7).value().to_string(), "0.7");
        assert_eq!(SamplingNumber::rounded(f64::NAN).value(), 0.0);
    }

    #[test]
    fn settings_keep_all_but_the_texts_to_stop_at() {
        let options = SamplingOptions { seed: Some(7), stop: vec!["a"], ..SamplingOptions::default() };
        assert_eq!(
            options.with_stop(vec![1]),
            SamplingOptions { stop: vec![1], ..options.with_stop(Vec::new()) }
        );
        assert_eq!(options.with_stop(Vec::<u8>::new()).seed, Some(7));
    }
}
