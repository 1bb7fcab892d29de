//! A person as the row of a table.

use palyra_screen_text::short_id;
use palyra_wire::v1;

use super::times::date;

/// Returns the row of a person: name, role, kind, state and id.
pub fn person_row(person: v1::Person) -> [String; 5] {
    let state = match person.disabled {
        Some(since) => format!("disabled {}", date(Some(since))),
        None => "active".to_owned(),
    };
    let role = person.role_name().into_owned();
    let kind = person.kind_name().into_owned();
    [person.name, role, kind, state, short_id(&person.principal_id)]
}
