//! The borders of the core: one trait per file, as narrow as its caller.
//!
//! Object-safe, boxed futures, values of [`palyra_types`]. No port exposes SQLite, HTTP or a file
//! system, and none assumes that there is only one log.

pub mod append_tape;
pub mod recorder;
pub mod erase_journal;
pub mod maintain_journal;
pub mod deliver_messages;
pub mod make_backups;
pub mod granted_writes;
pub mod kept_files;
mod mask_values;
pub mod prove_journal;
pub mod read_approvals;
pub mod read_records;
pub mod read_tape;
pub mod read_usage;

pub mod search_memories;

pub mod embed_texts;
pub mod model_directory;
mod gateway_trail;
pub mod model_provider;
pub mod redactor;
pub mod secret_store;
pub mod process_sandbox;
mod bound_credential;
pub mod fetch_http;
pub mod read_url;
mod trust_file;
pub mod use_schedules;
pub mod guard_egress;
pub mod tool_runtime;
pub mod hear_output;

mod check_artifacts;
pub mod component_store;
pub mod project_files;
pub mod skill_folders;
mod spare_files;
pub mod workspace_root;
pub mod workspaces;

pub mod clock;
pub mod entropy;

pub use append_tape::{
    AppendClass, AppendError, AppendRedaction, AppendTape, CommitReceipt, EntryActor, EntryBlobs, Guard,
    JournalAppendRequest, NewEntry, StaticText,
};
pub use bound_credential::{BoundCredential, CredentialHandle, CredentialUser};
pub use check_artifacts::{
    ArtifactCheck, ArtifactError, ArtifactKind, ArtifactRef, CheckArtifacts, NoArtifacts,
};
pub use clock::Clock;
pub use component_store::{ComponentStore, ComponentStoreError};
pub use deliver_messages::{
    DeliverError, DeliverMessages, DeliverySettings, DeliveryTarget, NoTargets, OutboundMessage, QuietTimes,
};
pub use embed_texts::{
    EMBEDDED_MODEL_NAME, EmbedError, EmbedTexts, EmbeddingModel, EmbeddingModelName, EmbeddingRequest,
    EmbeddingRequestError, TextEmbeddings,
};
pub use entropy::Entropy;
pub use erase_journal::{
    EraseError, EraseJournal, ErasureOrder, ErasurePlan, ErasureReceipt, ErasureSubject,
};
pub use fetch_http::{
    BodyCompleteness, CredentialHeader, CredentialUnavailable, FetchError, FetchFailure, FetchHop, FetchHttp,
    FetchLimits, FetchMethod, FetchReach, FetchRequest, FetchResponse, FillCredential, HostReach, HostRule,
    HostScope,
};
pub use gateway_trail::{AnsweredGateways, GATEWAY_HEADER, GATEWAY_LOOP_CODE, GatewayLoop, GatewayTrail};
pub use granted_writes::{GrantedState, GrantedWrites};
pub use guard_egress::{
    EgressContact, EgressContacts, EgressGrant, EgressLimits, EgressSession, EgressVerdict, GuardEgress,
    GuardEgressError,
};
pub use hear_output::{HearOutput, OutputSink};
pub use kept_files::{
    KeptChange, KeptContent, KeptEntry, KeptFile, KeptFileError, KeptFiles, KeptKind, KeptOwner, NoKeptFiles,
};
pub use maintain_journal::{Integrity, JournalStatus, MaintainJournal, ReadOnlyCause, VerifyReport};
pub use make_backups::{
    AutomaticBackup, BackupKeys, BackupOrder, BackupSchedule, BackupSummary, MakeBackupError, MakeBackups,
    NoBackups,
};
pub use mask_values::{MaskStream, MaskValues};
pub use model_provider::{ModelCapabilities, ModelInfo, ModelProvider, ProviderHealth};
pub use process_sandbox::{
    COMMAND_BYTES_MAX, ConfinedCommand, ConfinedProcess, GUARD_PORT, LimitRung, NetworkAccess, ProcessLimits,
    ProcessSandbox, ProcessTier, ProgramEnd, SEALED_MAX, SandboxError, SandboxOffer, SealedFile,
    WorkspaceAccess, text_bytes,
};
pub use project_files::{
    FoundProjectFile, FoundProjectFiles, NoProjectFiles, ProjectFileExtent, ProjectFiles,
};
pub use prove_journal::{
    ConsistencyProof, Export, ExportPart, ExportSink, InclusionProof, KeyChoice, ProofError, ProveJournal,
};
pub use read_tape::{ReadError, ReadTape, TapePage};
pub use read_url::{NotAHostRule, ReadUrl, UrlPrivacy, UrlServer};
pub use recorder::{AttachedData, Recorder};
pub use redactor::{CheckedText, CleanedText, RedactStream, RedactionFindings, Redactor, SecretFound};
pub use search_memories::{
    FoundSession, MemoryCall, MemoryDemand, MemoryDraft, MemoryRanking, MemoryReach, MemoryRefusal,
    SearchMemories, UseMemories,
};
pub use secret_store::{
    NewSecret, NotASecretName, NotAWayToSend, OpenedSecret, PassphraseCheck, RootKind, SecretChange,
    SecretName, SecretNames, SecretReader, SecretRecord, SecretStore, SecretStoreError, SentAs, VaultStatus,
};
pub use skill_folders::{SkillFile, SkillFileMode, SkillFolderError, SkillFolders};
pub use spare_files::{NoSpareFiles, SpareFiles, SpareFilesError, SpareKind, SpareSpace};
pub use tool_runtime::{
    CancelFlag, ComparedFile, EffectKey, ExecuteToolError, PreparedCall, RestoreFiles, RestoreOrder,
    Supervision, ToolRuntime,
};
pub use trust_file::{TRUST_FILE_VARIABLE, trust_file_hint};
pub use use_schedules::{
    DraftTimes, PlannedSchedule, ScheduleRefusal, ToolSchedule, ToolScheduleAction, ToolScheduleDraft,
    UseSchedules,
};
pub use workspace_root::{OpenRootError, WorkspaceRoot};
pub use workspaces::{FolderRefusal, WorkspaceChoice, WorkspaceError, Workspaces};
