//! Whether a run is given items of memory that have to do with its input, and who decides that.
//!
//! Owns the levels that may say so and their order. Invariant: the narrowest level that says something wins, and the configuration
//! always says something. Begin at [`RecallSwitches::setting`].

/// Whether items of memory are recalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecallSwitch {
    /// They are.
    On,
    /// They are not.
    Off,
}

/// Where a switch is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecallLevel {
    /// At the conversation.
    Session,
    /// At the surface that the input came from.
    Channel,
    /// At the agent.
    Agent,
    /// In the configuration of the daemon.
    Configuration,
}

/// What holds for a run, and since where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecallSetting {
    /// What holds.
    pub switch: RecallSwitch,
    /// The level that says so.
    pub level: RecallLevel,
}

/// What each level says; `None` leaves it to the next wider one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecallSwitches {
    /// The conversation.
    pub session: Option<RecallSwitch>,
    /// The surface.
    pub channel: Option<RecallSwitch>,
    /// The agent.
    pub agent: Option<RecallSwitch>,
    /// The configuration.
    pub configuration: RecallSwitch,
}

impl From<bool> for RecallSwitch {
    fn from(is_on: bool) -> Self {
        if is_on { Self::On } else { Self::Off }
    }
}

impl RecallSwitches {
    /// Returns what holds.
    #[must_use]
    pub fn setting(self) -> RecallSetting {
        let narrow = [
            (self.session, RecallLevel::Session),
            (self.channel, RecallLevel::Channel),
            (self.agent, RecallLevel::Agent),
        ];
        let said = narrow.into_iter().find_map(|(switch, level)| Some((switch?, level)));
        let (switch, level) = said.unwrap_or((self.configuration, RecallLevel::Configuration));
        RecallSetting { switch, level }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_level_that_says_something_wins() {
        use RecallLevel::{Agent, Channel, Configuration, Session};
        use RecallSwitch::{Off, On};
        for (session, channel, agent, configuration, expected) in [
            (None, None, None, Off, (Off, Configuration)),
            (None, None, None, On, (On, Configuration)),
            (None, None, Some(On), Off, (On, Agent)),
            (None, Some(Off), Some(On), On, (Off, Channel)),
            (Some(On), Some(Off), Some(Off), Off, (On, Session)),
            (Some(Off), None, Some(On), On, (Off, Session)),
        ] {
            let setting = RecallSwitches { session, channel, agent, configuration }.setting();
            assert_eq!((setting.switch, setting.level), expected);
        }
    }
}
