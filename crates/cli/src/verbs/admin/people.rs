//! `palyra admin people`: who may use the daemon, and with which role.

use clap::Subcommand;
use palyra_client::Client;
use palyra_types::ErrorCode;
use palyra_types::access::Role;
use palyra_wire::json::to_json;
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::person_row;
use palyra_screen_text::short_id;
use palyra_terminal::{NoteKind, Output};

/// People and their roles.
#[derive(Debug, Subcommand)]
pub(crate) enum PeopleVerb {
    /// List people and their roles
    #[command(after_help = "Example:\n  palyra admin people list")]
    List {
        /// One line of JSON each
        #[arg(long)]
        json: bool,
    },
    /// Add a person with a role
    #[command(after_help = "Example:\n  palyra admin people add user:alice --role approver")]
    Add {
        /// The name, such as user:alice
        name: String,
        /// owner, member, approver, viewer or worker
        #[arg(long, default_value_t = Role::Member)]
        role: Role,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a link that signs a person in to the web console; it works once, for a day
    #[command(after_help = "Example:\n  palyra admin people invite user:alice --role approver")]
    Invite {
        /// The name, or the whole id; a person who is not there is added
        person: String,
        /// The role of a person who is added: owner, member, approver or viewer
        #[arg(long, default_value_t = Role::Member)]
        role: Role,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a person another name
    #[command(after_help = "Example:\n  palyra admin people rename user:alice user:anna")]
    Rename {
        /// The name, or the whole id
        person: String,
        /// The new name
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a person another role; credentials lose at once what it does not allow
    #[command(after_help = "Example:\n  palyra admin people role user:alice viewer")]
    Role {
        /// The name, or the whole id
        person: String,
        /// owner, member, approver, viewer or worker
        role: Role,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Set your own time zone; models are shown times in it
    #[command(after_help = "Example:\n  palyra admin people zone Europe/Prague")]
    Zone {
        /// A name of the IANA database; without one, the zone of the daemon's machine
        #[arg(default_value = "", hide_default_value = true)]
        zone: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Stop every credential of a person at once
    #[command(after_help = "Example:\n  palyra admin people disable user:alice")]
    Disable {
        /// The name, or the whole id
        person: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Let the credentials of a person work again
    #[command(after_help = "Example:\n  palyra admin people enable user:alice")]
    Enable {
        /// The name, or the whole id
        person: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(super) async fn run(context: &Context, client: &Client, verb: PeopleVerb) -> Result<Exit, Failure> {
    let (person, said, json) = match verb {
        PeopleVerb::List { json } => {
            let people = client.call(v1::ListPeopleRequest {}).await?.people;
            if json {
                people.iter().try_for_each(|person| context.output.json(&to_json(person)))?;
            } else {
                context.table(
                    ["NAME", "ROLE", "KIND", "STATE", "ID"],
                    people.into_iter().map(person_row).collect(),
                )?;
            }
            return Ok(Exit::Done);
        }
        PeopleVerb::Add { name, role, json } => {
            let request = v1::CreatePersonRequest { name, role: role_to_wire(role).into() };
            (client.call(request).await?.person, "added", json)
        }
        PeopleVerb::Invite { person, role, json } => {
            return invite(&context.output, client, &person, role, json).await;
        }
        PeopleVerb::Rename { person, name, json } => {
            let principal_id = principal_of(client, &person).await?;
            let answer = client.call(v1::RenamePersonRequest { principal_id, name }).await?;
            (answer.person, "renamed", json)
        }
        PeopleVerb::Role { person, role, json } => {
            let principal_id = principal_of(client, &person).await?;
            let role = role_to_wire(role).into();
            (client.call(v1::SetRoleRequest { principal_id, role }).await?.person, "changed", json)
        }
        PeopleVerb::Zone { zone, json } => {
            let answer = client.call(v1::SetTimeZoneRequest { time_zone: zone }).await?;
            (answer.person, "times are shown to models in this zone", json)
        }
        PeopleVerb::Disable { person, json } => {
            let principal_id = principal_of(client, &person).await?;
            let answer = client.call(v1::DisablePersonRequest { principal_id }).await?;
            (answer.person, "disabled; none of their credentials works", json)
        }
        PeopleVerb::Enable { person, json } => {
            let principal_id = principal_of(client, &person).await?;
            let answer = client.call(v1::EnablePersonRequest { principal_id }).await?;
            (answer.person, "enabled; credentials that are not revoked work again", json)
        }
    };
    let person = person.unwrap_or_default();
    if json {
        context.output.json(&to_json(&person))?;
    } else {
        let message = format!("{}, {}: {said}", person.name, person.role_name());
        context.output.note(NoteKind::Good, &message);
    }
    Ok(Exit::Done)
}

async fn invite(
    output: &Output,
    client: &Client,
    named: &str,
    role: Role,
    json: bool,
) -> Result<Exit, Failure> {
    let principal_id = match find(client, named).await? {
        Some(person) => person.principal_id,
        None => {
            let request = v1::CreatePersonRequest { name: named.to_owned(), role: role_to_wire(role).into() };
            client.call(request).await?.person.unwrap_or_default().principal_id
        }
    };
    let link = client.call(v1::CreateConsoleLinkRequest { principal_id, ..Default::default() }).await?;
    if json {
        output.json(&to_json(&link))?;
        return Ok(Exit::Done);
    }
    output.exact_line(&link.url)?;
    let hours = link.seconds / 3_600;
    output.note(NoteKind::Info, &format!("it signs one browser in as {named}, within {hours} hours"));
    Ok(Exit::Done)
}

async fn find(client: &Client, named: &str) -> Result<Option<v1::Person>, Failure> {
    let people = client.call(v1::ListPeopleRequest {}).await?.people;
    // The list shows the end of an id.
    let is_id = |id: &str| id == named || short_id(id) == named;
    Ok(people.into_iter().find(|person| person.name == named || is_id(&person.principal_id)))
}

/// Returns the id of a person who is named by name, id or the end of the id.
async fn principal_of(client: &Client, named: &str) -> Result<String, Failure> {
    let found = find(client, named).await?;
    found.map(|person| person.principal_id).ok_or_else(|| Failure::WithMend {
        code: ErrorCode::PrincipalNotFound,
        message: format!("there is no person `{}`", palyra_screen_text::clean_line(named, 60)),
        mend: "`palyra admin people list` shows the people there are".to_owned(),
    })
}

fn role_to_wire(role: Role) -> v1::PrincipalRole {
    v1::PrincipalRole::from_short_name(role.name()).unwrap_or_default()
}
