//! Why a verb did not do what it was asked.

use std::io::ErrorKind;
use std::path::Path;

use palyra_backup::BackupError;
use palyra_backup_verb::BackupCommandError;
use palyra_client::{ClientError, LogTail, NO_OTHER_STARTS, ReplacementTerms};
use palyra_service_verb::ServiceVerbError;
use palyra_support_bundle::BundleError;
use palyra_terminal::{Output, OutputError, error_json, error_lines};
use palyra_types::{ErrorCode, mend_of_start};
use serde_json::Value;

use crate::exit::Exit;
use palyra_explain::{
    KeptModel, mend_in_chat, mend_of_address, mend_of_locked_vault, mend_of_model, mend_of_refusal,
};
use palyra_screen_text::shell_word;

const PATH_CHARS_MAX: usize = 300;
/// What mends of codes have in the place of an id.
const ID_PLACEHOLDER: &str = " ID";
/// What mends of codes have in the place of a model.
const MODEL_PLACEHOLDER: &str = " PROVIDER/MODEL";

/// Why a verb did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The daemon could not be asked, or refused.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The command line asks for something that does not exist.
    #[error("{0}")]
    Usage(String),
    /// The command line names something that cannot be used, with what to do about exactly that.
    #[error("{message}")]
    Input {
        /// Its code.
        code: ErrorCode,
        /// What happened.
        message: String,
        /// What to do.
        mend: String,
    },
    /// Something on this side, with a code.
    #[error("{message}")]
    Local {
        /// Its code.
        code: ErrorCode,
        /// What happened.
        message: String,
    },
    /// As [`Failure::Local`], with what to do about exactly that.
    #[error("{message}")]
    WithMend {
        /// Its code.
        code: ErrorCode,
        /// What happened.
        message: String,
        /// What to do.
        mend: String,
    },
    /// Standard output takes nothing more.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl From<BackupError> for Failure {
    fn from(error: BackupError) -> Self {
        Self::local(error.code(), error.to_string())
    }
}

impl From<BackupCommandError> for Failure {
    fn from(error: BackupCommandError) -> Self {
        match error {
            BackupCommandError::Client(error) => Self::Client(error),
            BackupCommandError::Output(error) => Self::Output(error),
            error => Self::local(error.code(), error.to_string()),
        }
    }
}

impl From<ServiceVerbError> for Failure {
    fn from(error: ServiceVerbError) -> Self {
        match error {
            ServiceVerbError::Client(error) => Self::Client(error),
            ServiceVerbError::Output(error) => Self::Output(error),
            error => Self::WithMend { code: error.code(), message: error.to_string(), mend: error.mend() },
        }
    }
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Output(error) => Self::Output(error),
            error => {
                let mend = error.mend().to_owned();
                Self::WithMend { code: error.code(), message: error.to_string(), mend }
            }
        }
    }
}

impl Failure {
    /// Makes a failure of this side.
    pub(crate) fn local(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::Local { code, message: message.into() }
    }

    /// Makes a failure of a file that the command line names and that cannot be read.
    pub(crate) fn unreadable_file(code: ErrorCode, file: &Path, error: &std::io::Error) -> Self {
        // A path is one line, whatever is in it.
        let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        let shown: String = file.display().to_string().chars().take(PATH_CHARS_MAX).map(visible).collect();
        let is_address =
            ["http://", "https://"].iter().any(|scheme| file.starts_with(scheme.trim_end_matches('/')));
        let mend = match error.kind() {
            _ if is_address => {
                "only files of this machine are read: download it first, for example with `curl -fLO`, then name the file"
            }
            ErrorKind::NotFound => "check the path",
            ErrorKind::PermissionDenied => "check the permissions: you may not read it",
            _ => "check the path and what is there",
        };
        // The mend of a wrong path is the reason.
        let reason = if error.kind() == ErrorKind::NotFound && !is_address {
            "nothing is there".to_owned()
        } else {
            error.to_string()
        };
        Self::Input { code, message: format!("{shown} cannot be read: {reason}"), mend: mend.to_owned() }
    }

    /// Names what the failure is about in the mend of its code, where that has only a placeholder.
    pub(crate) fn naming(self, id: &str) -> Self {
        self.naming_parts(&[(ID_PLACEHOLDER, id)])
    }

    /// As [`Failure::naming`], with the value of each placeholder.
    pub(crate) fn naming_parts(self, parts: &[(&str, &str)]) -> Self {
        let has_place =
            |code: ErrorCode| parts.iter().any(|(placeholder, _)| code.mend().contains(placeholder));
        match self {
            Self::Client(error) if has_place(error.code()) && own_mend(&error).is_none() => {
                let code = error.code();
                Self::WithMend { code, message: chain(&error), mend: mend_naming(code, parts) }
            }
            Self::Local { code, message } if has_place(code) => {
                Self::WithMend { code, message, mend: mend_naming(code, parts) }
            }
            other => other,
        }
    }

    /// As [`Failure::naming`], of a run and the model that it asked; an unknown one is empty.
    pub(crate) fn naming_run(self, run: &str, model: &str) -> Self {
        if let Self::Local { code, message } = &self
            && let Some(mend) = mend_of_model(*code, message, model)
        {
            return Self::WithMend { code: *code, mend, message: message.clone() };
        }
        let parts = [(ID_PLACEHOLDER, run), (MODEL_PLACEHOLDER, model)];
        let known: Vec<_> = parts.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        self.naming_parts(&known)
    }

    /// Names the commands of a chat in the mend of its code, in the place of those of the command line.
    pub(crate) fn in_chat(self) -> Self {
        match self {
            Self::Local { code, message } if mend_in_chat(code.mend()) != code.mend() => {
                Self::WithMend { code, message, mend: mend_in_chat(code.mend()) }
            }
            Self::WithMend { code, message, mend } => {
                Self::WithMend { code, message, mend: mend_in_chat(&mend) }
            }
            Self::Client(error) => {
                let code = error.code();
                let own = own_mend(&error).unwrap_or_else(|| code.mend().to_owned());
                match mend_in_chat(&own) {
                    mend if mend == own => Self::Client(error),
                    mend => Self::WithMend { code, message: chain(&error), mend },
                }
            }
            other => other,
        }
    }

    /// As [`Failure::naming`], where the failure is about a session.
    pub(crate) fn naming_session(self, session: &str) -> Self {
        match &self {
            Self::Client(error) if error.code() == ErrorCode::SessionArchived => self.naming(session),
            _ => self,
        }
    }

    /// Returns how the program ends.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Client(error) if error.is_unreachable() => Exit::Unreachable,
            Self::Client(error) => Exit::of_error(error.code()),
            Self::Usage(_) | Self::Input { .. } => Exit::Usage,
            Self::Local { code, .. } | Self::WithMend { code, .. } => Exit::of_error(*code),
            // The reader has what it wanted, and the run goes on.
            Self::Output(OutputError::Closed) => Exit::Done,
            Self::Output(OutputError::Failed(_)) => Exit::Failed,
        }
    }

    /// Writes why a verb failed to standard error, as text or as a value.
    pub(crate) fn show(&self, output: &Output) {
        output.failure(&self.lines(), self.json().as_ref());
    }

    /// Returns the same as a value, for programs; none for a closed pipe.
    pub(crate) fn json(&self) -> Option<Value> {
        let (code, message) = match self {
            Self::Output(OutputError::Closed) => return None,
            Self::Usage(message) => (Some(ErrorCode::InvalidArgument), message.clone()),
            Self::Output(OutputError::Failed(_)) => (None, self.to_string()),
            Self::Client(error) => (Some(error.code()), chain(error)),
            Self::Local { code, message }
            | Self::Input { code, message, .. }
            | Self::WithMend { code, message, .. } => (Some(*code), message.clone()),
        };
        let own = match self {
            Self::Client(error) => own_mend(error),
            Self::Input { mend, .. } | Self::WithMend { mend, .. } => Some(mend.clone()),
            Self::Usage(_) | Self::Local { .. } | Self::Output(_) => None,
        };
        Some(error_json(code, &message, own))
    }

    /// Returns the lines for standard error; none for a closed pipe.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = match self {
            Self::Output(OutputError::Closed) => return Vec::new(),
            // Each says itself what to write instead.
            Self::Usage(message) => return vec![format!("error: {message}")],
            Self::Output(OutputError::Failed(_)) => return vec![format!("error: {self}")],
            Self::Client(error) => {
                let mut lines = error_lines(error.code(), &chain(error));
                if let (Some(notice), Some(mend)) = (lines.get_mut(1), own_mend(error)) {
                    *notice = format!("  {mend}");
                }
                // The page of a code that has many causes says nothing of this one.
                lines.truncate(if needs_nothing(error) { 2 } else { lines.len() });
                lines
            }
            Self::Local { code, message } => error_lines(*code, message),
            Self::Input { code, message, mend } | Self::WithMend { code, message, mend } => {
                vec![format!("error[{code}]: {message}"), format!("  {mend}")]
            }
        };
        if let Self::Client(ClientError::StartFailed { log, .. }) = self {
            lines.extend(log_lines(log));
        }
        lines
    }
}

/// Returns the mend of a code with the id of what it is about.
fn mend_naming(code: ErrorCode, parts: &[(&str, &str)]) -> String {
    // A program may read it, so an id is whole; a session may be named by a key of one's own.
    parts.iter().fold(code.mend().to_owned(), |mend, (placeholder, value)| {
        mend.replace(placeholder, &format!(" {}", shell_word(value)))
    })
}

/// Returns whether nothing was wrong: there is no more to read about it.
fn needs_nothing(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused { code: ErrorCode::SessionTooShort, .. })
}

/// Returns a daemon that stays with another model.
pub(crate) fn kept_model<'a>(in_force: &'a str, own: &'a str, terms: ReplacementTerms) -> KeptModel<'a> {
    let ReplacementTerms { wait_seconds, open_runs, unset_key } = terms;
    KeptModel { in_force, own, wait_seconds, open_runs, unset_key }
}

/// Returns what helps in this very case, where the code alone does not say.
fn own_mend(error: &ClientError) -> Option<String> {
    match error {
        ClientError::NotAnswering { pid, .. } => Some(format!(
            "if it stays so, `kill -9 {pid}`: nothing recorded is lost, and the next command starts another"
        )),
        // No other daemon would start, so the one that runs is not to be stopped.
        ClientError::OtherModel { in_force, kept_because, .. }
            if kept_because.starts_with(NO_OTHER_STARTS) =>
        {
            Some(format!(
                "correct that (`palyra config check` says when it is right), then try again; or name the daemon's model: \
                 `--model {in_force}`, to test it `palyra model test {in_force}`"
            ))
        }
        ClientError::OtherModel { in_force, own, terms, .. } => {
            Some(kept_model(in_force, own, *terms).mend())
        }
        ClientError::StartFailed { code, message, .. } => mend_of_start(*code, message),
        ClientError::NotRunning { .. } => {
            Some("start one: the same command without --no-start, or `palyra serve`".to_owned())
        }
        ClientError::Lost { endpoint, cause } if endpoint.starts_with("http://") => {
            Some(mend_of_address(endpoint, cause))
        }
        ClientError::GaveUp { last, .. } => own_mend(last),
        ClientError::Refused { code, message } => {
            let mend = mend_of_refusal(*code, message).or_else(|| mend_of_locked_vault(message));
            mend.map(str::to_owned)
        }
        _ => None,
    }
}

fn log_lines(log: &LogTail) -> Vec<String> {
    if log.lines.is_empty() {
        return Vec::new();
    }
    let head = match &log.file {
        Some(file) => format!("  the end of {}:", file.display()),
        None => "  what it said:".to_owned(),
    };
    std::iter::once(head).chain(log.lines.iter().map(|line| format!("    {line}"))).collect()
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        // Libraries below like to repeat their cause.
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_is_told_with_its_code_and_a_mend() {
        let failure = Failure::from(ClientError::NotRunning { state_dir: "/state".into() });
        assert_eq!(
            failure.lines(),
            [
                "error[PLY-1401]: no daemon serves /state",
                "  start one: the same command without --no-start, or `palyra serve`",
                "  `palyra explain PLY-1401` says more",
            ]
        );
        assert_eq!(failure.exit(), Exit::Unreachable);
        assert_eq!(
            failure.json(),
            Some(json!({ "error": {
                "code": "PLY-1401",
                "slug": "daemon_unreachable",
                "message": "no daemon serves /state",
                "mend": "start one: the same command without --no-start, or `palyra serve`",
            } }))
        );
    }

    #[test]
    fn a_daemon_that_does_not_start_is_unreachable_whatever_its_code_and_shows_its_log() {
        let log =
            LogTail { file: Some("/state/log/palyrad.log".into()), lines: vec!["line 3: nonsense".into()] };
        let message = "unknown key `modle`".to_owned();
        let failure =
            Failure::from(ClientError::StartFailed { code: ErrorCode::ConfigInvalid, message, log });
        assert_eq!(failure.exit(), Exit::Unreachable);
        assert_eq!(failure.lines()[0], "error[PLY-1301]: the daemon did not start: unknown key `modle`");
        assert_eq!(failure.lines()[4], "    line 3: nonsense");
    }

    #[test]
    fn a_refusal_that_needs_nothing_names_no_page() {
        let message = "there is no older part to sum up: the latest runs stay".to_owned();
        let failure = Failure::from(ClientError::Refused { code: ErrorCode::SessionTooShort, message });
        let lines = failure.lines();
        assert!(lines.len() == 2 && lines[1].contains("no action needed"), "{lines:?}");
    }

    #[test]
    fn a_mend_names_what_the_failure_is_about() {
        let id = palyra_types::RunId::from_parts(1, 1).to_string();
        let mut named = 0;
        for code in ErrorCode::ALL.iter().copied().filter(|code| code.mend().contains(ID_PLACEHOLDER)) {
            let failure = Failure::from(ClientError::Refused { code, message: "no".to_owned() });
            let exit = failure.exit();
            let failure = failure.naming(&id);
            let lines = failure.lines().join("\n");
            assert!(lines.contains(&id) && !lines.contains(" ID"), "{lines}");
            assert_eq!((failure.to_string().as_str(), failure.exit()), ("no", exit), "{code}");
            named += 1;
        }
        assert!(named > 5, "{named}");
        let asked =
            Failure::local(ErrorCode::ModelPermanent, "no").naming_run(&id, "mine/shop").in_chat().lines();
        assert!(
            asked[1].contains("`palyra model test mine/shop`") && asked[1].contains("with /model"),
            "{asked:?}"
        );
        assert!(!asked[1].contains("--"), "{asked:?}");
        let over = || Failure::local(ErrorCode::TurnLimit, "50 turns").naming_run(&id, "mine/shop");
        assert!(over().lines()[1].contains(&format!("`palyra runs answer {id} --new TEXT`")), "{:?}", over());
        let over = over().in_chat().lines();
        assert!(over[1].starts_with("  what you say next goes on from there; or raise"), "{over:?}");
        let refused = "HTTP 401: no; the key is `env:MINE_KEY`";
        let refused =
            Failure::local(ErrorCode::ModelAuth, refused).naming_run(&id, "mine/shop").in_chat().lines();
        assert!(refused[1].ends_with("then /quit and `palyra chat` there"), "{refused:?}");
        let unset = "no key for `mine`: `MINE_KEY` is not set in the daemon's environment";
        let unset = Failure::local(ErrorCode::ModelAuth, unset).naming_run(&id, "mine/shop").lines();
        assert!(unset[1].contains("`palyra admin stop`, then the same command"), "{unset:?}");
        let unknown = Failure::local(ErrorCode::ModelNetwork, "no").naming_run("", "").lines();
        assert!(unknown[1].contains("test PROVIDER/MODEL"), "{unknown:?}");
        let kept = Failure::local(ErrorCode::KeptFileRefused, "no");
        let kept = kept.naming_parts(&[(" RUN", &id), (" PLACE", ".git/hooks/a b")]).lines().join("\n");
        assert!(kept.contains(&format!("kept show {id} '.git/hooks/a b'`")), "{kept}");
    }

    #[test]
    fn a_daemon_with_another_model_that_stays_says_how_long_or_what_to_do() {
        let mend = |wait_seconds| {
            let (in_force, own) = ("openai/a".to_owned(), "openai/b".to_owned());
            let kept_because = "it has 1 job running".to_owned();
            let terms = ReplacementTerms { wait_seconds, ..ReplacementTerms::default() };
            let error = ClientError::OtherModel { in_force, own, kept_because, terms };
            Failure::from(error).lines()[1].clone()
        };
        assert_eq!(mend(0), "  `palyra admin stop`, then the same command");
        assert_eq!(
            mend(42),
            "  the same command replaces it in 42 s; after `palyra admin stop` it does not wait"
        );
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        assert_eq!(
            (Failure::Output(OutputError::Closed).exit(), Failure::Output(OutputError::Closed).lines().len()),
            (Exit::Done, 0)
        );
        assert_eq!(Failure::Output(OutputError::Closed).json(), None);
    }
}
