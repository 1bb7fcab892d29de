//! Names that people type for runs, sessions, approvals and the like: whole ids, parts of ids, `last`.
//!
//! Owns what is sent for them and what is said when a name fits nothing or several things. Which things there are, and
//! which of them a name fits, the daemon knows: nothing is guessed from a list that was read before.

use std::fmt;
use std::str::FromStr;

use palyra_client::Client;
use palyra_types::id_name::{IdKind, IdName};
use palyra_types::{ApprovalId, ErrorCode, RunId, SessionId, StoredGrantId, TokenId};
use palyra_wire::v1;

use super::open_questions::{NOTHING_TO_APPROVE, nothing_to_approve};
use crate::context::Context;
use crate::failure::Failure;
use palyra_run_view::{ERASED_MARK, age, as_bookmark, entry_expected, mend_of_bookmark, named_other};
use palyra_screen_text::clean_line;
use palyra_screen_text::short_id;
use palyra_terminal::NoteKind;

const ABOUT_CHARS_MAX: usize = 80;
/// Letters of a name that can be compared with ids.
const PART_LETTERS_MIN: usize = 3;
/// Letters of an id that tables show.
const SHORT_ID_LETTERS: usize = 6;
/// A longer text is searched for in no title.
const TITLE_CHARS_MAX: usize = 200;
/// The newest sessions, whose ids are compared with a name.
const SESSIONS_COMPARED_MAX: u32 = 200;

/// An id that people may name in part.
pub(crate) trait NamedId: FromStr + Copy + fmt::Display {
    /// What it is an id of.
    const KIND: IdKind;
    /// Where such things are listed.
    const LISTED_BY: &'static str;
}

impl NamedId for RunId {
    const KIND: IdKind = IdKind::Run;
    const LISTED_BY: &'static str = "palyra runs list";
}

impl NamedId for SessionId {
    const KIND: IdKind = IdKind::Session;
    const LISTED_BY: &'static str = "palyra sessions list";
}

impl NamedId for ApprovalId {
    const KIND: IdKind = IdKind::Approval;
    const LISTED_BY: &'static str = "palyra approve list --all";
}

impl NamedId for StoredGrantId {
    const KIND: IdKind = IdKind::Grant;
    const LISTED_BY: &'static str = "palyra approve grants";
}

impl NamedId for TokenId {
    const KIND: IdKind = IdKind::Token;
    const LISTED_BY: &'static str = "palyra admin tokens list";
}

/// Something as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TypedName<T> {
    /// By its whole id.
    Id(T),
    /// By a part of it, or as the last.
    Part(String),
}

/// A run as a person names it.
pub(crate) type RunName = TypedName<RunId>;
/// An approval as a person names it.
pub(crate) type ApprovalName = TypedName<ApprovalId>;
/// A stored grant as a person names it.
pub(crate) type GrantName = TypedName<StoredGrantId>;
/// A token as a person names it.
pub(crate) type TokenName = TypedName<TokenId>;

impl<T: NamedId> FromStr for TypedName<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Id(id));
        }
        text.parse::<IdName>().map(|_| Self::Part(text.to_owned())).map_err(|error| {
            if T::KIND == IdKind::Approval { error.without_count() } else { error.to_string() }
        })
    }
}

impl<T: NamedId> TypedName<T> {
    /// Returns the id; what was named by a part of it, the daemon finds.
    pub(crate) async fn resolve(&self, client: &Client) -> Result<T, Failure> {
        match self {
            Self::Id(id) => Ok(*id),
            Self::Part(name) => resolve_name(client, name).await,
        }
    }
}

/// Returns the approvals that wait in this folder; where there is none, that is the failure.
pub(super) async fn waiting_here(client: &Client) -> Result<v1::ResolveIdResponse, Failure> {
    match client.resolve_id(IdKind::Approval, "last", this_folder()).await {
        Err(error) if is_not_found(error.code()) => Err(nothing_waits_here(client).await?),
        found => Ok(found?),
    }
}

/// Says that no approval waits in this folder, and where one does.
async fn nothing_waits_here(client: &Client) -> Result<Failure, Failure> {
    let request = v1::ListApprovalsRequest { page_size: 1, ..Default::default() };
    let elsewhere = client.call(request).await?.approvals;
    let mend = match elsewhere.first() {
        Some(_) => "`palyra approve` asks about those that wait in other folders".to_owned(),
        None => {
            let decided = "`palyra approve list --all` shows those that are decided";
            match nothing_to_approve(client).await?.strip_prefix(NOTHING_TO_APPROVE) {
                None | Some("") => decided.to_owned(),
                Some(words) => format!("{decided}{words}"),
            }
        }
    };
    let message = "nothing waits for an approval in this folder".to_owned();
    Ok(Failure::WithMend { code: ErrorCode::ApprovalNotFound, message, mend })
}

/// Returns the folder in which `last` is looked for. Over TCP the daemon takes none, and looks in all of the caller's.
fn this_folder() -> String {
    let folder = std::env::current_dir().ok().and_then(|folder| folder.into_os_string().into_string().ok());
    folder.unwrap_or_default()
}

/// Finds what a name that is no whole id fits.
async fn resolve_name<T: NamedId>(client: &Client, name: &str) -> Result<T, Failure> {
    refuse_counted(client, T::KIND, name).await?;
    match client.resolve_id(T::KIND, name, this_folder()).await {
        Ok(found) => only_match(name, &found),
        Err(error) if is_not_found(error.code()) => {
            let kind = T::KIND.as_str();
            if let Some(other) = other_kind(client, T::KIND, name).await {
                return Err(other);
            }
            let notice = match (name.starts_with("last"), T::KIND) {
                (true, IdKind::Approval) if name == "last" => return Err(nothing_waits_here(client).await?),
                (true, IdKind::Approval) => "fewer approvals wait in this folder".to_owned(),
                (true, _) => format!("there is no such {kind} in this folder"),
                (false, _) => format!("no {kind} begins or ends with `{name}`"),
            };
            // The mend of the code names the list.
            Err(Failure::local(error.code(), notice))
        }
        Err(error) => Err(error.into()),
    }
}

/// Refuses to count approvals back where several wait: with each answer, the same name is another one.
async fn refuse_counted(client: &Client, kind: IdKind, name: &str) -> Result<(), Failure> {
    if kind != IdKind::Approval || name == "last" || !name.starts_with("last") {
        return Ok(());
    }
    match client.resolve_id(kind, "last", this_folder()).await {
        Ok(found) => only_match::<ApprovalId>(name, &found).map(drop),
        Err(error) if is_not_found(error.code()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Says that the name is one of another thing, and how that leads to the right one.
async fn other_kind(client: &Client, wanted: IdKind, name: &str) -> Option<Failure> {
    let other = match wanted {
        _ if name.starts_with("last") => return None,
        IdKind::Run => IdKind::Session,
        IdKind::Session | IdKind::Approval => IdKind::Run,
        IdKind::Grant | IdKind::Agent | IdKind::Token => return None,
    };
    let found = client.resolve_id(other, name, this_folder()).await.ok()?;
    match found.matches.as_slice() {
        [only] if !found.more => {
            let (code, message, mend) = named_other(wanted, name, &only.id)?;
            Some(Failure::WithMend { code, message, mend })
        }
        _ => None,
    }
}

fn is_not_found(code: ErrorCode) -> bool {
    [
        ErrorCode::RunNotFound,
        ErrorCode::SessionNotFound,
        ErrorCode::ApprovalNotFound,
        ErrorCode::GrantNotFound,
    ]
    .contains(&code)
}

fn only_match<T: NamedId>(name: &str, found: &v1::ResolveIdResponse) -> Result<T, Failure> {
    let kind = T::KIND.as_str();
    match found.matches.as_slice() {
        [only] if !found.more => {
            let notice = format!("the daemon named no {kind}");
            only.id.parse().map_err(|_| Failure::local(ErrorCode::Internal, notice))
        }
        several => {
            let rows = several.iter().map(|found| {
                let about = clean_line(&found.about, ABOUT_CHARS_MAX);
                let is_erased = matches!(T::KIND, IdKind::Run | IdKind::Approval) && about.is_empty();
                let about = if is_erased { ERASED_MARK } else { &about };
                format!("\n{}  {:>4}  {about}", found.id, age(found.created))
            });
            let more =
                if found.more { format!("\nand more; `{}` lists them", T::LISTED_BY) } else { String::new() };
            Err(Failure::Usage(format!(
                "`{name}` is not clear, since it fits more than one {kind}; name one by its id, newest first:{}{more}",
                rows.collect::<String>()
            )))
        }
    }
}

/// A place in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunPlace {
    /// The run, and the last entry that counts; 0 for all there is.
    Entry(RunName, u32),
    /// The place that has this name.
    Bookmark(String),
}

impl FromStr for RunPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // `journal show` writes a place as RUN:4.
        let place = if text.starts_with('@') { text.to_owned() } else { text.replacen(':', "@", 1) };
        let (run, tape_seq) = match place.split_once('@') {
            None => {
                let run =
                    place.parse::<RunName>().map_err(|error| format!("{error}; {}", as_bookmark(&place)))?;
                return Ok(Self::Entry(run, 0));
            }
            Some(("", name)) if !name.is_empty() && name.parse::<u64>().is_err() => {
                return Ok(Self::Bookmark(name.to_owned()));
            }
            Some((run, entry)) => {
                let number = entry.parse().ok().filter(|number| *number > 0);
                (run, number.ok_or_else(|| entry_expected(entry))?)
            }
        };
        Ok(Self::Entry(run.parse()?, tape_seq))
    }
}

/// Says of a name that fits no run that it is one of a bookmark, where that is so.
async fn perhaps_bookmark(client: &Client, run: &RunName, failure: Failure) -> Failure {
    let (RunName::Part(name), Failure::Local { code: code @ ErrorCode::RunNotFound, message, .. }) =
        (run, &failure)
    else {
        return failure;
    };
    let bookmarks = client.call(v1::ListBookmarksRequest {}).await.map(|listed| listed.bookmarks);
    if !bookmarks.unwrap_or_default().iter().any(|bookmark| bookmark.name == *name) {
        return failure;
    }
    Failure::WithMend { code: *code, message: message.clone(), mend: mend_of_bookmark(name) }
}

impl RunPlace {
    /// Returns it as the daemon wants it.
    pub(super) async fn branch_point(self, client: &Client) -> Result<v1::BranchPoint, Failure> {
        let (run_id, tape_seq) = match self {
            Self::Entry(run, tape_seq) => match run.resolve(client).await {
                Ok(run) => (run.to_string(), tape_seq),
                Err(failure) => return Err(perhaps_bookmark(client, &run, failure).await),
            },
            Self::Bookmark(name) => {
                let found = client.call(v1::ListBookmarksRequest {}).await?.bookmarks;
                let named = found.into_iter().find(|bookmark| bookmark.name == name);
                let missing = "there is no such bookmark; `palyra runs bookmarks` lists them";
                let named = named.ok_or_else(|| Failure::local(ErrorCode::InvalidArgument, missing))?;
                (named.run_id, named.tape_seq)
            }
        };
        Ok(v1::BranchPoint { run_id, tape_seq, ..Default::default() })
    }
}

/// Refuses a session that should have been a branch: daemons that do not know branches open an empty one.
pub(super) fn require_branched(session: &v1::Session) -> Result<(), Failure> {
    if session.branched_from.is_some() {
        return Ok(());
    }
    let notice = "this daemon does not branch sessions; a newer one does";
    Err(Failure::local(ErrorCode::BranchOutOfRange, notice))
}

/// How a session that does not exist is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingSession {
    /// It is made, under the name as a key of one's own.
    Create,
    /// It is refused.
    Refuse,
}

/// Finds what names a session: a key of one's own, its id or a part of it, `last`, or its title. A key comes first, a title last.
pub(crate) async fn find_session(
    client: &Client,
    text: &str,
    missing: MissingSession,
) -> Result<v1::SessionSelector, Failure> {
    let by_id = |id: SessionId| v1::SessionSelector {
        session_id: id.to_string(),
        require_existing: true,
        ..Default::default()
    };
    if let Ok(id) = text.parse() {
        return Ok(by_id(id));
    }
    let require_existing = missing == MissingSession::Refuse;
    let by_key = v1::SessionSelector { session_key: text.to_owned(), require_existing, ..Default::default() };
    if has_session(client, &by_key).await? {
        return Ok(by_key);
    }
    if let Some(session) = session_of_title(client, text).await? {
        return Ok(v1::SessionSelector { session_id: session, require_existing: true, ..Default::default() });
    }
    if !names_part(text, missing) {
        return Ok(by_key);
    }
    match resolve_name(client, text).await {
        Ok(id) => Ok(by_id(id)),
        Err(Failure::Local { code: ErrorCode::SessionNotFound, .. })
            if missing == MissingSession::Create
                && !text.starts_with("last")
                && text.len() > SHORT_ID_LETTERS =>
        {
            Ok(by_key)
        }
        // A question in a session that was not meant cannot be taken back.
        Err(Failure::Local { code: code @ ErrorCode::SessionNotFound, message, .. })
            if missing == MissingSession::Create && !text.starts_with("last") =>
        {
            let mend = "`palyra sessions list` shows what there is; the name of a new session has at least one small letter";
            Err(Failure::WithMend { code, message, mend: mend.to_owned() })
        }
        Err(failure) => Err(failure),
    }
}

/// As [`find_session`], for what makes a session where none has that name: says so, and which session has an id like that.
pub(super) async fn find_or_make_session(
    context: &Context,
    client: &Client,
    name: &str,
) -> Result<v1::SessionSelector, Failure> {
    let found = find_session(client, name, MissingSession::Create).await?;
    if found.require_existing || has_session(client, &found).await? {
        return Ok(found);
    }
    let shown = clean_line(name, ABOUT_CHARS_MAX);
    let like = like_an_id(client, name).await?;
    let like = like.map(|id| format!("; did you mean {}?", short_id(&id))).unwrap_or_default();
    let note = format!("no session {shown} yet; a new one of that name begins{like}");
    context.output.note(NoteKind::Info, &note);
    Ok(found)
}

/// Returns whether a selector names a session that is there.
async fn has_session(client: &Client, selector: &v1::SessionSelector) -> Result<bool, Failure> {
    let existing = v1::SessionSelector { require_existing: true, ..selector.clone() };
    let request = v1::ResolveSessionRequest { session: Some(existing), ..Default::default() };
    match client.call(request).await {
        Ok(_) => Ok(true),
        Err(error) if error.code() == ErrorCode::SessionNotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns the id of the session that has this title; several are refused.
async fn session_of_title(client: &Client, title: &str) -> Result<Option<String>, Failure> {
    if title.chars().count() > TITLE_CHARS_MAX {
        return Ok(None);
    }
    let request = v1::ListSessionsRequest {
        search: title.to_owned(),
        only: v1::SessionFilter::All.into(),
        page_size: SESSIONS_COMPARED_MAX,
        ..Default::default()
    };
    let mut found = client.call(request).await?.sessions;
    found.retain(|session| session.label == title);
    match &found[..] {
        [] => Ok(None),
        [one] => Ok(Some(one.session_id.clone())),
        several => {
            let row = |session: &v1::Session| {
                format!("\n  {}  used {} ago", short_id(&session.session_id), age(session.updated))
            };
            let rows: String = several.iter().map(row).collect();
            let shown = clean_line(title, ABOUT_CHARS_MAX);
            Err(Failure::Usage(format!(
                "`{shown}` is the title of several sessions; name one by its id, newest first:{rows}"
            )))
        }
    }
}

/// Returns the id of the newest session that begins or ends like this, in letters of any size.
async fn like_an_id(client: &Client, name: &str) -> Result<Option<String>, Failure> {
    let part = name.to_ascii_uppercase();
    if part.len() < PART_LETTERS_MIN || !part.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let request = v1::ListSessionsRequest { page_size: SESSIONS_COMPARED_MAX, ..Default::default() };
    let sessions = client.call(request).await?.sessions;
    let mut ids = sessions.into_iter().map(|session| session.session_id);
    Ok(ids.find(|id| id.starts_with(&part) || id.ends_with(&part) || short_id(id).starts_with(&part)))
}

/// Returns the id of a session that exists, however it is named.
pub(super) async fn session_id(client: &Client, text: &str) -> Result<String, Failure> {
    let selector = find_session(client, text, MissingSession::Refuse).await?;
    if !selector.session_id.is_empty() {
        return Ok(selector.session_id);
    }
    let request = v1::ResolveSessionRequest { session: Some(selector), ..Default::default() };
    Ok(client.call(request).await?.session.unwrap_or_default().session_id)
}

/// Whether a name may be a part of an id. Where a key would make a session, only what tables show is: capital letters.
fn names_part(text: &str, missing: MissingSession) -> bool {
    let as_shown = text.starts_with("last") || text.chars().all(|c| !c.is_ascii_lowercase());
    text.parse::<IdName>().is_ok() && (missing == MissingSession::Refuse || as_shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_by_its_id_a_part_of_it_or_as_the_last() {
        let id = RunId::from_parts(1, 1);
        assert_eq!(id.to_string().parse(), Ok(RunName::Id(id)));
        for part in ["last", "last~2", "5FAV", "5fav"] {
            assert_eq!(part.parse(), Ok(RunName::Part(part.to_owned())));
        }
        for bad in ["nonsense!", "5FA", "last~x"] {
            assert!(bad.parse::<RunName>().unwrap_err().contains("at least 4"), "{bad}");
            let of_approval = bad.parse::<ApprovalName>().unwrap_err();
            assert!(of_approval.ends_with("or `last`"), "{of_approval}");
        }
    }

    #[test]
    fn a_place_is_written_with_either_sign() {
        for text in ["5FAV@4", "5FAV:4"] {
            let place = text.parse();
            assert!(
                matches!(place, Ok(RunPlace::Entry(RunName::Part(ref run), 4)) if run == "5FAV"),
                "{text}"
            );
        }
        assert!(matches!("@a:b".parse(), Ok(RunPlace::Bookmark(ref name)) if name == "a:b"));
        assert!("5FAV:x".parse::<RunPlace>().unwrap_err().contains("number of an entry"));
        for (typed, wanted) in [
            ("last@draft", "a bookmark is named without a run: @draft"),
            ("end", "a bookmark is named with @: @end"),
            ("first draft", "a bookmark is named with @: @first draft"),
        ] {
            assert!(typed.parse::<RunPlace>().unwrap_err().ends_with(wanted), "{typed}");
        }
        assert!(!"last@0".parse::<RunPlace>().unwrap_err().contains("bookmark"));
    }

    #[test]
    fn the_last_approval_is_the_only_one_that_waits() {
        let found = |number| v1::IdMatch {
            id: ApprovalId::from_parts(number, 1).to_string(),
            about: "write_file creates `a\nb`".to_owned(),
            created: None,
        };
        let (first, second) = (found(1), found(2));
        let page = |matches: &[v1::IdMatch], more| v1::ResolveIdResponse { matches: matches.to_vec(), more };
        let only = only_match::<ApprovalId>("last", &page(std::slice::from_ref(&first), false));
        assert_eq!(only.unwrap().to_string(), first.id);
        for (name, several) in [
            ("last", page(&[second.clone(), first.clone()], false)),
            ("last~1", page(&[second.clone(), first.clone()], false)),
            ("last", page(std::slice::from_ref(&first), true)),
        ] {
            let refused = only_match::<ApprovalId>(name, &several).unwrap_err();
            assert_eq!(refused.exit().number(), 2);
            let notice = refused.to_string();
            assert!(notice.contains(&first.id) && notice.contains("write_file creates `a b`"), "{notice}");
        }
    }

    #[test]
    fn a_place_is_a_run_and_perhaps_an_entry() {
        let id = RunId::from_parts(1, 1);
        let place = |text: &str| text.parse::<RunPlace>();
        assert_eq!(place("last"), Ok(RunPlace::Entry(RunName::Part("last".to_owned()), 0)));
        assert_eq!(place(&format!("{id}@12")), Ok(RunPlace::Entry(RunName::Id(id), 12)));
        assert_eq!(place("@first draft"), Ok(RunPlace::Bookmark("first draft".to_owned())));
        for bad in ["last@", "last@0", "last@x", "@", "@3", "last@4294967296"] {
            assert!(place(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_that_would_make_a_session_is_a_part_of_an_id_only_as_tables_show_it() {
        use MissingSession::{Create, Refuse};
        for (text, create, refuse) in [
            ("A1B2C3", true, true),
            ("test", false, true),
            ("last", true, true),
            ("notes", false, false),
            ("chat:/home/a", false, false),
            ("ABC", false, false),
        ] {
            assert_eq!((names_part(text, Create), names_part(text, Refuse)), (create, refuse), "{text}");
        }
    }
}
