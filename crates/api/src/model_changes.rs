//! The way to the daemon's configuration file for servers of models.
//!
//! The daemon checks an addition, makes the server from it, and writes the file; operations test the server and decide the
//! order. Begin at [`ConfigureModels`].

use std::path::PathBuf;
use std::sync::Arc;

use palyra_ports::ModelProvider;
use palyra_types::model::ModelRef;
use palyra_types::{Content, ErrorCode};
use tokio::sync::{Mutex, MutexGuard};

/// A server of models to add.
#[derive(Debug, Clone)]
pub struct ModelAddition {
    /// Its name.
    pub name: String,
    /// The wire format that it speaks.
    pub format: ModelFormat,
    /// Where its API begins.
    pub base_url: String,
    /// The model that is tested.
    pub model: String,
    /// Its key; `None` for a server that takes none.
    pub key: Option<Content<String>>,
    /// The window of its models in tokens; `None` for what server or format say.
    pub context_tokens: Option<u64>,
    /// Whether the model becomes the default.
    pub new_default: NewDefault,
    /// Whether a server of that name may be there.
    pub existing: ExistingServer,
}

/// A wire format of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFormat {
    /// Chat Completions of OpenAI.
    OpenAiChat,
    /// Responses of OpenAI.
    OpenAiResponses,
    /// Messages of Anthropic.
    AnthropicMessages,
}

/// Whether a model becomes the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewDefault {
    /// It does.
    ThisModel,
    /// The default stays.
    Unchanged,
}

/// What becomes of a server that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingServer {
    /// The addition is refused.
    Kept,
    /// It is replaced.
    Replaced,
}

/// An addition that fits into the configuration file of now.
pub struct ModelDraft {
    /// The server, with its key.
    pub provider: Arc<dyn ModelProvider>,
    /// The model that is tested.
    pub model: ModelRef,
    /// What the vault is to keep; `None` without a key.
    pub secret: Option<SecretDraft>,
    /// The secret of the server that is replaced, which no other server uses.
    pub former_secret: Option<String>,
    /// The configuration file.
    pub file: PathBuf,
    /// Its new text.
    pub text: String,
}

/// How the vault is to keep a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretDraft {
    /// A name that no other secret has.
    pub name: String,
    /// The server that it may be sent to.
    pub host: String,
    /// How it is sent.
    pub sent_as: &'static str,
}

/// Why a server of models is not added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddModelError {
    /// A part of the addition is not acceptable.
    #[error("{what}")]
    Unsuitable {
        /// Which, and what would be; no value that a client sent.
        what: String,
    },
    /// The configuration would not be valid, or is not now.
    #[error("{}", mistakes.join("; "))]
    Invalid {
        /// Every mistake with its place.
        mistakes: Vec<String>,
    },
    /// The key cannot be kept.
    #[error("{why}")]
    NotKept {
        /// The code of the reason.
        code: ErrorCode,
        /// The reason.
        why: String,
    },
    /// The file cannot be written.
    #[error("{} cannot be written: {why}", file.display())]
    NotWritten {
        /// The file.
        file: PathBuf,
        /// What the system says.
        why: String,
    },
    /// No place for a configuration file is known.
    #[error("no place for a configuration file is known: set HOME, or start the daemon with --config")]
    NoFile,
}

impl AddModelError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unsuitable { .. } => ErrorCode::InvalidArgument,
            Self::Invalid { .. } => ErrorCode::ConfigInvalid,
            Self::NotKept { code, .. } => *code,
            Self::NotWritten { .. } | Self::NoFile => ErrorCode::ConfigUnreadable,
        }
    }
}

/// Puts a new configuration file in its place, in one step.
pub type PersistConfig = Box<dyn FnOnce() -> Result<(), AddModelError> + Send>;

/// Makes servers of models from the configuration file, and writes it.
pub trait ConfigureModels: std::fmt::Debug + Send + Sync {
    /// Checks an addition against the file of now and makes its server; nothing is changed. May wait for the disk.
    ///
    /// # Errors
    /// [`AddModelError`].
    fn draft(&self, addition: &ModelAddition) -> Result<ModelDraft, AddModelError>;

    /// Writes a draft's text beside the file. May wait for the disk.
    ///
    /// # Errors
    /// [`AddModelError::NotWritten`].
    fn stage(&self, draft: &ModelDraft) -> Result<PersistConfig, AddModelError>;
}

/// Changes of the configuration file, one at a time.
#[derive(Debug, Clone)]
pub struct ModelChanges {
    pub(crate) configure: Arc<dyn ConfigureModels>,
    changing: Arc<Mutex<()>>,
}

impl ModelChanges {
    /// Makes the way to a daemon's configuration.
    #[must_use]
    pub fn new(configure: Arc<dyn ConfigureModels>) -> Self {
        Self { configure, changing: Arc::default() }
    }

    /// Returns a way to no configuration.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Arc::new(NoModelChanges))
    }

    /// Waits until no other change is made.
    pub(crate) async fn one_at_a_time(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().await
    }
}

/// A daemon without a configuration file.
#[derive(Debug, Clone, Copy)]
pub struct NoModelChanges;

impl ConfigureModels for NoModelChanges {
    fn draft(&self, _addition: &ModelAddition) -> Result<ModelDraft, AddModelError> {
        Err(AddModelError::NoFile)
    }

    fn stage(&self, _draft: &ModelDraft) -> Result<PersistConfig, AddModelError> {
        Err(AddModelError::NoFile)
    }
}
