//! Schedules as people name them: by a whole id, a part of one as lists show it, or as the last.

use std::str::FromStr;

use palyra_client::Client;
use palyra_run_view::{ListedName, listed_name};
use palyra_screen_text::clean_line;
use palyra_types::ScheduleId;
use palyra_types::id_name::{IdName, InvalidIdName};
use palyra_wire::v1;

use crate::verb_end::ScheduleVerbError;

/// A schedule as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScheduleName {
    /// By its whole id.
    Id(ScheduleId),
    /// By a part of it, or as the newest.
    Part(IdName),
}

impl FromStr for ScheduleName {
    type Err = InvalidIdName;

    fn from_str(text: &str) -> Result<Self, InvalidIdName> {
        text.parse().map(Self::Id).or_else(|_| text.parse().map(Self::Part))
    }
}

impl ScheduleName {
    /// Returns its id; the list of all schedules is read where the name is a part of one.
    pub(crate) async fn schedule_id(&self, client: &Client) -> Result<String, ScheduleVerbError> {
        match self {
            Self::Id(id) => Ok(id.to_string()),
            Self::Part(name) => found(name, client.call(v1::ListSchedulesRequest {}).await?.schedules),
        }
    }
}

fn found(name: &IdName, schedules: Vec<v1::Schedule>) -> Result<String, ScheduleVerbError> {
    let things = schedules.into_iter().map(|schedule| (schedule.schedule_id, schedule.name));
    match listed_name("schedule", name, things) {
        ListedName::One(id) => Ok(id),
        ListedName::Several(told) => Err(ScheduleVerbError::Usage(told)),
        ListedName::Nothing => Err(ScheduleVerbError::NotFound(match name {
            IdName::Last(_) => "there is no such schedule".to_owned(),
            IdName::Fragment(part) => {
                format!("no schedule begins or ends with `{}`", clean_line(part.as_str(), 26))
            }
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_list_shows_of_an_id_names_the_schedule() {
        let schedule = |id: &str| v1::Schedule { schedule_id: id.to_owned(), ..Default::default() };
        let schedules = ["01JGFJJZ01FE6VV7Z4V1T99YEW", "01JGFJJZ00FE6VV7Z4V1SP3JT5"].map(schedule);
        let found = |typed: &str| match typed.parse::<ScheduleName>().expect("a name") {
            ScheduleName::Part(name) => found(&name, schedules.to_vec()),
            ScheduleName::Id(id) => Ok(id.to_string()),
        };
        for typed in ["T99YEW", "last", "01JGFJJZ01FE6VV7Z4V1T99YEW"] {
            assert_eq!(found(typed).expect(typed), schedules[0].schedule_id);
        }
        assert!(
            matches!(found("01JG"), Err(ScheduleVerbError::Usage(told)) if told.contains("more than one"))
        );
        assert!(matches!(found("ABCD"), Err(ScheduleVerbError::NotFound(told)) if told.contains("`ABCD`")));
        assert!("T99".parse::<ScheduleName>().is_err());
    }
}
