//! The stable codes that every error shows to people and programs.
//!
//! A code never changes its meaning and is never reused. Each has a page `docs/errors/PLY-nnnn.md`
//! (checked by `cargo xtask tidy`).

use std::fmt;

use crate::error_class::ErrorClass;

macro_rules! error_codes {
    ($($name:ident = $number:literal, $slug:literal, $class:ident, $summary:literal, $mend:literal;)*) => {
        /// A stable error code; prints as `PLY-nnnn`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum ErrorCode {
            $(#[doc = $summary] $name = $number,)*
        }

        impl ErrorCode {
            /// Every code, in order of number.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the number without its prefix.
            #[must_use]
            pub fn number(self) -> u16 {
                self as u16
            }

            /// Returns the short machine-readable name, such as `run_not_found`.
            #[must_use]
            pub fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug,)* }
            }

            /// Returns how a client that knows only gRPC or HTTP sees it.
            #[must_use]
            pub fn class(self) -> ErrorClass {
                match self { $(Self::$name => ErrorClass::$class,)* }
            }

            /// Returns one sentence that says what happened.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Self::$name => $summary,)* }
            }

            /// Returns what a person can do about it, in one line; its page says more.
            #[must_use]
            pub fn mend(self) -> &'static str {
                match self { $(Self::$name => $mend,)* }
            }
        }
    };
}

error_codes! {
    InvalidFrame = 1001, "invalid_frame", InvalidArgument, "A client message was malformed or came out of order.",
        "compare the client with gateway.proto; nothing was recorded";
    InvalidId = 1002, "invalid_id", InvalidArgument, "An id is not a canonical ULID.",
        "copy the whole id from `palyra runs list` or `palyra sessions list`";
    MessageTooLarge = 1003, "message_too_large", TooLarge, "A message is larger than its limit.",
        "send less, or put it into a file of this folder and ask to read that";
    InvalidArgument = 1004, "invalid_argument", InvalidArgument, "A field of a request has a value that is not allowed.",
        "correct what the message names; nothing was recorded";
    UnsupportedMediaType = 1005, "unsupported_media_type", UnsupportedMedia, "The body of a request is not in a form that is read here.",
        "send `content-type: application/json`";
    RequestTimeout = 1006, "request_timeout", RequestTimeout, "The body of a request did not arrive in time.",
        "send it again, or send less; nothing was recorded";
    RouteNotFound = 1007, "route_not_found", NotFound, "There is nothing at this path.",
        "/api/v1/openapi.json lists the paths there are";
    MethodNotAllowed = 1008, "method_not_allowed", MethodNotAllowed, "The path takes another method.",
        "/api/v1/openapi.json lists the methods of each path";
    CallTimeout = 1009, "call_timeout", DeadlineExceeded, "The call took too long and was given up.",
        "look whether it happened, then try again";
    TooManyStreams = 1010, "too_many_streams", LimitReached, "The caller has too many streams open.",
        "close one of them";
    SessionNotFound = 1101, "session_not_found", NotFound, "No such session is visible to this principal.",
        "`palyra sessions list` shows the sessions there are";
    SessionMismatch = 1102, "session_mismatch", Conflict, "The session id and the session key name different sessions.",
        "send the id or the key, not both";
    RunNotFound = 1103, "run_not_found", NotFound, "No such run is visible to this principal.",
        "`palyra runs list` shows the runs there are";
    RunFinished = 1104, "run_finished", Conflict, "The run is over and takes no more input.",
        "`palyra runs show ID` shows its state";
    RunNotWaiting = 1105, "run_not_waiting", Conflict, "The run does not wait for an answer.",
        "`palyra runs show ID` shows its state";
    QueueFull = 1106, "queue_full", Overloaded, "A queue is full; the request was not accepted.",
        "try again in a moment; `palyra runs list --open` shows the runs that wait";
    WorkspaceRefused = 1107, "workspace_refused", PermissionDenied, "A workspace root was sent over a transport that may not choose one.",
        "use the daemon's own socket, without --connect";
    AgentNotFound = 1108, "agent_not_found", NotFound, "No such agent exists.",
        "`palyra admin agents` shows the agents there are";
    AttachOutOfRange = 1109, "attach_out_of_range", OutOfRange, "The tape has not reached the number to attach after.",
        "attach after the last number seen on this very run, or after 0";
    IdempotencyConflict = 1110, "idempotency_conflict", AlreadyExists, "The idempotency key was used before for another input.",
        "use a new key for a new request";
    SessionArchived = 1111, "session_archived", Conflict, "The session is archived and takes no new input.",
        "`palyra sessions restore ID` makes it active again";
    AttachmentRefused = 1112, "attachment_refused", InvalidArgument, "An attachment is too large, one too many, or not what it says it is.",
        "send fewer or smaller files, with the type they have";
    BranchOutOfRange = 1113, "branch_out_of_range", Conflict, "The tape has not reached the place to branch from.",
        "`palyra runs tail ID` shows the numbers there are";
    PrincipalNotFound = 1114, "principal_not_found", NotFound, "No such principal exists.",
        "`palyra admin people list` shows the people there are";
    TaskNotFound = 1115, "task_not_found", NotFound, "No such task of the background queue exists.",
        "`palyra admin tasks list` shows the tasks there are";
    TaskInWrongStage = 1116, "task_in_wrong_stage", Conflict, "The task of the background queue is in a stage in which this cannot be done.",
        "`palyra admin tasks list` shows the stage of each task";
    SessionTooShort = 1117, "session_too_short", Conflict, "The session has no older part that a summary could shorten.",
        "no action needed: later runs of the session make a summary possible; nothing was recorded";
    ScheduleNotFound = 1121, "schedule_not_found", NotFound, "No such schedule exists.",
        "copy the id from `palyra admin schedules list`; where it lists none, `palyra admin schedules add WHEN --prompt TEXT` makes one";
    ScheduleInvalid = 1122, "schedule_invalid", InvalidArgument, "The times or rules of the schedule are not possible, or its words are not understood.",
        "correct the part that the message names; the text of the task goes into --prompt or --remind, and `palyra admin schedules add WHEN` without both shows what WHEN means";
    TooManySchedules = 1123, "too_many_schedules", Conflict, "The limit of schedules of this principal is reached.",
        "remove one with `palyra admin schedules remove SCHEDULE`";
    ScheduleNotStarted = 1124, "schedule_not_started", Conflict, "The schedule starts nothing now.",
        "look at it with `palyra admin schedules show SCHEDULE`";
    IncidentNotFound = 1131, "incident_not_found", NotFound, "No such incident of self-healing exists.",
        "`palyra admin incidents` lists those that are open, and `--all` those that are over";
    NoNotificationTarget = 1132, "no_notification_target", Conflict, "No such target of notifications is configured.",
        "set one in `[notify]` of palyra.toml as `palyra explain docs/notifications.md` says, then `palyra config reload`";
    Unauthenticated = 1201, "unauthenticated", Unauthenticated, "The call has no valid credential.",
        "make a token with `palyra admin tokens create user:NAME`; --connect reads it from PALYRA_TOKEN, HTTP from the header `authorization: Bearer TOKEN`";
    PermissionDenied = 1202, "permission_denied", PermissionDenied, "The credential does not cover this call.",
        "use the daemon's own socket, without --connect";
    ScopeMissing = 1203, "scope_missing", PermissionDenied, "The credential was not made for this call.",
        "use the daemon's own socket, without --connect, or a token with each scope that its calls need";
    ConfirmationNeeded = 1204, "confirmation_needed", PermissionDenied, "An owner's change over the network needs a fresh confirmation.",
        "use the daemon's own socket, without --connect, or put a code of `palyra admin confirm` into PALYRA_CONFIRMATION";
    UnknownHost = 1211, "unknown_host", Misdirected, "The request names a host that is not this server.",
        "use the address that `palyra status` shows, or set `http.public_url`";
    CrossSiteRequest = 1212, "cross_site_request", PermissionDenied, "A page of another origin made the request.",
        "call from a program with a token, or open the page at the address that `palyra status` shows";
    ConfigInvalid = 1301, "config_invalid", NotReady, "A configuration value or key is not valid.",
        "correct it, or move the file away and `palyra init`";
    ConfigUnreadable = 1302, "config_unreadable", NotReady, "The configuration file cannot be read.",
        "correct it, or the permissions of the file and its folder; or name another file with --config";
    DaemonUnreachable = 1401, "daemon_unreachable", Unavailable, "The daemon cannot be reached.",
        "the daemon ended: type the command again, which starts a new one; `palyra logs` shows why it ended";
    StateDirLocked = 1402, "state_dir_locked", NotReady, "Another daemon serves this state directory.",
        "use the daemon that runs, end it with `palyra admin stop`, or choose another directory with --state-dir";
    StateDirUnusable = 1403, "state_dir_unusable", NotReady, "The state directory cannot be used.",
        "choose a directory of your own with --state-dir or PALYRA_HOME";
    NetworkFilesystem = 1404, "network_filesystem", NotReady, "The state directory is on a network file system.",
        "choose a directory on a local disk with --state-dir or PALYRA_HOME";
    DaemonStartFailed = 1405, "daemon_start_failed", Unavailable, "The daemon was started and did not become ready.",
        "run `palyra serve` in a terminal to see why";
    BuildMismatch = 1406, "build_mismatch", NotReady, "The running daemon was built from another version.",
        "`palyra admin stop`, then try again";
    ShuttingDown = 1407, "shutting_down", Unavailable, "The daemon is shutting down and takes no new work.",
        "try again in a moment; open runs continue at the next start";
    ModelMismatch = 1408, "model_mismatch", Conflict, "The running daemon uses another model than this environment names.",
        "`palyra admin stop`, then try again; or name the model to ask with --model";
    ServiceManagerMissing = 1411, "service_manager_missing", NotReady, "There is no systemd user session.",
        "let the program that starts programs here run `palyra serve`";
    ServiceUnitKept = 1412, "service_unit_kept", Conflict, "The unit of the service is not the one that would be replaced or removed.",
        "`palyra admin service install --force` replaces it";
    ServiceFailed = 1413, "service_failed", Unavailable, "The service could not be installed, started or removed.",
        "`systemctl --user status palyrad` and `journalctl --user -u palyrad` show more";
    JournalQuarantined = 2001, "journal_quarantined", NotReady, "The journal is read-only.",
        "`palyra journal status` names the cause";
    DiskFull = 2002, "disk_full", StorageFull, "The disk is too full for new work.",
        "free some space; open runs continue automatically";
    JournalCorrupt = 2003, "journal_corrupt", DataLoss, "The journal does not verify.",
        "copy the state directory first; a restart repairs derived data, other damage needs a backup";
    JournalNewer = 2004, "journal_newer", NotReady, "The journal was written by a newer version.",
        "use the version that wrote it; nothing was changed";
    WriteUnknown = 2005, "write_unknown", Unknown, "It is unknown whether the write was stored.",
        "`palyra admin stop`; after the next start `palyra runs list` shows what is there";
    JournalBusy = 2006, "journal_busy", Unavailable, "The journal's queue is full.",
        "try again in a moment; `palyra doctor` shows the state of the journal";
    Fenced = 2007, "fenced", Unavailable, "A newer daemon has taken over this journal.",
        "try again: another daemon serves this directory now";
    GuardFailed = 2008, "guard_failed", Aborted, "A condition of the append did not hold.",
        "check the current state and try again";
    JournalRange = 2009, "journal_range", OutOfRange, "The journal has no such entry or size.",
        "`palyra journal status` shows how many entries there are";
    JournalRolledBack = 2010, "journal_rolled_back", NotReady, "The journal is shorter than a head it has signed before.",
        "restore the newest copy of the state directory; `palyra journal accept-rollback` continues without the lost entries";
    JournalForked = 2011, "journal_forked", DataLoss, "The journal's history differs from the one that this client has seen.",
        "keep a copy of the state directory and compare it with `palyra-verify --since`; trust nothing it says until then";
    ErasureOpenRun = 2012, "erasure_open_run", Conflict, "A run whose content is to be erased is still open.",
        "`palyra runs cancel ID`, then erase again";
    ErasureNothing = 2013, "erasure_nothing", Conflict, "There is no content to erase.",
        "`palyra journal show` lists entries and marks those without content";
    ErasureNotOverwritten = 2014, "erasure_not_overwritten", Aborted,
        "The content is erased, but its old bytes are not overwritten yet.",
        "repeat the command; if it fails again, stop other readers of the journal or free disk space";
    JournalMissing = 2015, "journal_missing", DataLoss, "The journal's file is missing, but other files of the journal exist.",
        "restore `journal.db`; to start with an empty journal, move the state directory away";
    ModelAuth = 3001, "model_auth", UpstreamRefused, "The model provider refused the credential.",
        "check the provider's key, then `palyra model test PROVIDER/MODEL`";
    ModelPermission = 3002, "model_permission", UpstreamRefused, "The credential may not use this model.",
        "check the provider's key, then `palyra model test PROVIDER/MODEL`";
    ModelRateLimited = 3003, "model_rate_limited", LimitReached, "The model provider limits the rate of requests.",
        "try again in a while";
    ModelQuota = 3004, "model_quota", LimitReached, "The quota at the model provider is exhausted.",
        "raise the quota at the provider, or choose another with --model";
    ModelTransient = 3005, "model_transient", UpstreamUnavailable, "The model provider failed temporarily.",
        "try again in a while";
    ModelPermanent = 3006, "model_permanent", UpstreamRefused, "The model provider rejected the request; a retry does not help.",
        "choose another with --model (`palyra model list --ask` lists them); `palyra model test PROVIDER/MODEL` shows whether it answers at all; if not, check the name and base_url, which often ends in /v1";
    ModelContextExceeded = 3007, "model_context_exceeded", Unprocessable, "The request is larger than the model's window.",
        "shorten the input, or start a new session";
    ModelContentPolicy = 3008, "model_content_policy", Unprocessable, "The model provider's content policy refused the request.",
        "rephrase the input, or remove the text that the filter rejects";
    ModelMalformed = 3009, "model_malformed", UpstreamUnavailable, "The model provider's answer does not follow its own format.",
        "try again; `palyra model test PROVIDER/MODEL` shows whether the server speaks the format it should";
    ModelNetwork = 3010, "model_network", UpstreamUnavailable, "The model provider cannot be reached, or the connection broke.",
        "check the provider's address and the network, then `palyra model test PROVIDER/MODEL`";
    ModelTimeout = 3011, "model_timeout", DeadlineExceeded, "The model provider did not answer in time.",
        "try again in a while";
    ModelNotConfigured = 3012, "model_not_configured", NotFound, "No such model is configured.",
        "`palyra model list --ask` shows the models there are, `palyra model add` adds one";
    ToolUnknown = 4001, "tool_unknown", NotFound, "The tool is not in the run's catalogue.",
        "no action needed: the model receives this error and continues";
    ToolArgumentsInvalid = 4002, "tool_arguments_invalid", InvalidArgument, "The arguments do not fit the tool's schema.",
        "no action needed: the model receives this error and continues";
    ToolDenied = 4003, "tool_denied", PermissionDenied, "Policy denies the tool call.",
        "no action needed: the model receives this error and continues";
    PathRefused = 4004, "path_refused", PermissionDenied, "A path leads out of the workspace or through a link.",
        "no action needed: the model receives this error and continues";
    FileUnsuitable = 4005, "file_unsuitable", Unprocessable, "The file is not of a kind the tool can use.",
        "no action needed: the model receives this error and continues";
    ToolTimedOut = 4006, "tool_timed_out", DeadlineExceeded, "The tool did not finish before its deadline.",
        "no action needed: the model receives this error and continues";
    ToolOutcomeUnknown = 4007, "tool_outcome_unknown", Unknown, "It is unknown whether the tool took effect.",
        "check whether it did, then `palyra runs effects resolve ID NUMBER happened|did-not-happen|retry`";
    ToolFailed = 4008, "tool_failed", Unknown, "The tool failed.",
        "no action needed: the model receives this error and continues";
    FileNotFound = 4009, "file_not_found", NotFound, "The file or folder does not exist in the workspace.",
        "no action needed: the model receives this error and continues";
    PatternInvalid = 4010, "pattern_invalid", InvalidArgument, "A glob or regular expression is not valid.",
        "no action needed: the model receives this error and continues";
    ToolCancelled = 4011, "tool_cancelled", Cancelled, "The tool was stopped because its run was cancelled.",
        "no action needed: the model receives this error and continues";
    SecretInArguments = 4012, "secret_in_arguments", InvalidArgument, "The arguments of a tool call contain a secret.",
        "no action needed: the model is asked to use a handle instead";
    PlaceholderInArguments = 4013, "placeholder_in_arguments", InvalidArgument,
        "The arguments of a tool call contain the placeholder of a removed secret.",
        "no action needed: the model receives this error and continues";
    FileConflict = 4014, "file_conflict", Conflict, "A file changed after the call was proposed.",
        "no action needed: the model reads the file again";
    EditNotUnique = 4015, "edit_not_unique", InvalidArgument, "The text to replace occurs not at all or more than once in the file.",
        "no action needed: the model receives this error and continues";
    PatchInvalid = 4016, "patch_invalid", InvalidArgument, "A patch is malformed or does not apply.",
        "no action needed: the model receives this error and continues";
    NoApprovalChannel = 4017, "no_approval_channel", PermissionDenied, "The call needs an approval, and no person can answer in this run.",
        "start the run without `--approve never`, or write a rule that parks such calls";
    ApprovalDenied = 4018, "approval_denied", PermissionDenied, "A person denied the tool call.",
        "no action needed: the model receives this error and continues";
    ApprovalExpired = 4019, "approval_expired", DeadlineExceeded, "No person answered the approval in time.",
        "ask for it again in the session; a rule can set a longer time (`@expires`)";
    ApprovalNotFound = 4101, "approval_not_found", NotFound, "No such approval is visible to this principal.",
        "`palyra approve list --all` shows all approvals";
    ApprovalDecided = 4102, "approval_decided", Conflict, "The approval is decided already.",
        "`palyra approve show ID` shows the decision and who made it";
    ApproverNotEligible = 4103, "approver_not_eligible", PermissionDenied, "This principal may not decide this approval.",
        "another person must decide; `palyra approve show ID` lists who can";
    ApprovalDrifted = 4104, "approval_drifted", Conflict, "The call changed after you were asked.",
        "decide again: `palyra approve` shows what changed";
    EditRefused = 4105, "edit_refused", InvalidArgument, "The edited arguments do not fit the tool, or policy denies them.",
        "correct what the message names; the approval still waits";
    GrantNotFound = 4106, "grant_not_found", NotFound, "No such stored grant is visible to this principal.",
        "`palyra approve grants` shows the grants there are";
    EffectNotUnknown = 4107, "effect_not_unknown", Conflict, "The outcome of this effect is already known.",
        "`palyra runs effects ID` shows the state of each effect";
    UndoNothing = 4108, "undo_nothing", Conflict, "The run changed nothing that can be undone.",
        "`palyra runs effects ID` shows what it did";
    UndoOpenRun = 4109, "undo_open_run", Conflict, "You cannot undo a run that is still open.",
        "answer what it waits for (`palyra approve`) or cancel it (`palyra runs cancel ID`); after that `palyra runs undo ID` takes back what it changed, if it changed anything";
    ClockBehind = 4110, "clock_behind", NotReady, "The machine's clock is behind the newest entry of the journal.",
        "correct the clock; approvals wait until it has passed the newest entry";
    KeptFileRefused = 4111, "kept_file_refused", Conflict, "A kept file cannot be applied.",
        "`palyra runs kept show RUN PLACE` shows it and says what prevents it";
    ProjectRulesChanged = 4112, "project_rules_changed", Conflict, "No file of the project has the digest that was to be accepted.",
        "`palyra approve rules` shows the digest of each file of this folder; read the file before you accept it";
    PolicyInvalid = 4201, "policy_invalid", InvalidArgument, "A policy file is not valid.",
        "`palyra policy check` names the line and the fix; the previous policies still apply";
    PolicyUnreadable = 4202, "policy_unreadable", NotReady, "The policies cannot be read.",
        "make the policy folder readable; until then every call is denied";
    SkillInvalid = 4301, "skill_invalid", InvalidArgument, "A skill's folder is not valid.",
        "correct what the message names";
    SkillChanged = 4302, "skill_changed", Conflict, "A skill changed after it was installed, and is quarantined.",
        "look at what changed, then install its folder again";
    SkillNotFound = 4303, "skill_not_found", NotFound, "No such skill is installed.",
        "`palyra tools skills list` shows the skills there are";
    SkillLimit = 4304, "skill_limit", LimitReached, "There are too many skills, or their texts are too long together.",
        "disable or remove one; the message names the limit";
    SkillUnreadable = 4305, "skill_unreadable", Unavailable, "A skill's folder could not be read or written this time.",
        "try again; `palyra doctor` looks at the disk";
    CommandFailed = 4501, "command_failed", Unknown, "A command ended with a failure.",
        "the outcome shows what it printed; `palyra runs tail ID` has it whole";
    SandboxMissing = 4502, "sandbox_missing", NotReady, "This host lacks a mechanism that the sandbox needs.",
        "`palyra doctor` says which; `palyra explain docs/sandbox.md` says what each is for";
    SandboxFailed = 4503, "sandbox_failed", Internal, "The sandbox could not be created.",
        "`palyra doctor` tries each mechanism; the message names the step";
    JobUnknown = 4504, "job_unknown", NotFound, "The session has no job of this name.",
        "jobs end with the daemon; start it again";
    SecretNotFound = 4601, "secret_not_found", NotFound, "The vault has no secret of this name.",
        "`palyra admin vault list` shows the names";
    SecretNotBound = 4602, "secret_not_bound", PermissionDenied, "The secret may not be given to this host.",
        "to allow it, run `palyra admin vault bind NAME HOST`";
    SecretUnsuitable = 4603, "secret_unsuitable", InvalidArgument, "The value cannot be stored as a secret.",
        "correct what the message names; nothing was stored";
    VaultLocked = 4604, "vault_locked", NotReady, "The vault has no key to decrypt its secrets.",
        "give the passphrase with `palyra admin vault unlock`, or put the key file back";
    VaultDamaged = 4605, "vault_damaged", DataLoss, "The vault cannot be read or written.",
        "the message names the file; store the secret again, or restore the file from a backup";
    PassphraseWrong = 4606, "passphrase_wrong", InvalidArgument, "The passphrase is wrong.",
        "try again; a lost passphrase and the secrets that it seals cannot be recovered";
    SecretUnguarded = 4607, "secret_unguarded", LimitReached, "The value cannot be redacted reliably (limit reached), so the vault does not store or use it.",
        "remove secrets that are not used";
    FetchRefused = 4701, "fetch_refused", PermissionDenied, "The address, the request or a redirect is not allowed.",
        "no action needed: the model receives this error and continues; `egress.allow_private` names hosts of your own network";
    FetchFailed = 4702, "fetch_failed", UpstreamUnavailable, "A server could not be reached, or its answer could not be used.",
        "no action needed: the model receives this error and continues; `palyra explain docs/http-fetch.md#certificates` says how a certificate of your own authority is accepted";
    FetchLimit = 4703, "fetch_limit", DeadlineExceeded, "A server took too long to answer.",
        "no action needed: the model receives this error and continues";
    FetchStatus = 4704, "fetch_status", UpstreamFailed, "A server answered that the request failed.",
        "no action needed: the model receives this error and continues";
    FetchBinary = 4705, "fetch_binary", Unprocessable, "The server's answer is not text.",
        "no action needed: the model receives this error and continues";
    ComponentInvalid = 4801, "component_invalid", InvalidArgument, "A file is not a component that can be a tool here.",
        "the message says what does not fit; `palyra explain docs/components.md` says how one is made";
    ComponentTrapped = 4802, "component_trapped", Unknown, "The component failed with an error and was stopped.",
        "check the arguments of the call, then report it to the component's author; other parts are not affected";
    ComponentLimit = 4803, "component_limit", LimitReached, "The component exceeded a limit.",
        "the message names the limit; reduce the work of the call, or remove a component";
    ComponentChanged = 4804, "component_changed", Conflict, "The component changed after it was added.",
        "check its file, then run `palyra tools add FILE` again";
    ComponentNotFound = 4805, "component_not_found", NotFound, "No such component was added.",
        "`palyra tools list` shows the components";
    ComponentUnreadable = 4806, "component_unreadable", Unavailable, "A component's file could not be read or written this time.",
        "try again; `palyra doctor` looks at the disk";
    MemoryNotFound = 4901, "memory_not_found", NotFound, "No such item is in this principal's memory.",
        "`palyra memory list` shows the items";
    BudgetNotFound = 4902, "budget_not_found", NotFound, "There is no such budget.",
        "`palyra budget` shows the budgets";
    BackupFailed = 4911, "backup_failed", Unavailable, "The backup was not made or not put back.",
        "the message names the file and the cause; what was written is removed, so try again";
    BackupInvalid = 4912, "backup_invalid", DataLoss, "The backup is damaged, was changed, or is not one.",
        "check the path, or use another backup; `palyra backup verify FOLDER` names what does not hold in one";
    BackupTargetRefused = 4913, "backup_target_refused", Conflict, "The folder cannot take the backup or the restored state.",
        "the message says why; name a folder that does not exist yet";
    SupportBundleRefused = 4921, "support_bundle_refused", Conflict, "The file cannot take the support bundle.",
        "the message says why; name a file that does not exist yet";
    TurnLimit = 5001, "turn_limit", LimitReached, "The run used all its model turns.",
        "`palyra runs answer ID --new TEXT` goes on in a new run of its session; or raise `limits.turns_max` or `limits.output_tokens_max`, as the message says, in palyra.toml, then `palyra config reload`";
    ToolLimit = 5002, "tool_limit", LimitReached, "The run used all its tool calls.",
        "`palyra runs answer ID --new TEXT` goes on in a new run of its session; or raise `limits.tool_calls_max` in palyra.toml, then `palyra config reload`";
    TimeLimit = 5003, "time_limit", DeadlineExceeded, "The run used all its active time.",
        "`palyra runs answer ID --new TEXT` goes on in a new run of its session; or raise `limits.active_time_seconds_max` in palyra.toml, then `palyra config reload`";
    LoopStopped = 5004, "loop_stopped", Aborted, "The run repeated itself and was stopped.",
        "`palyra runs tail ID` shows the repeated calls; give the missing information in the session";
    ContextExhausted = 5005, "context_exhausted", TooLarge, "The input does not fit the model's window.",
        "shorten the input, or start a new session";
    UnknownKind = 5006, "unknown_kind", Conflict, "The tape holds an entry that this version does not know.",
        "continue with the version that wrote it, or run `palyra runs cancel ID`";
    OverBudget = 5007, "over_budget", LimitReached, "A budget does not allow the model request.",
        "`palyra budget` shows what is spent; raise the limit, top the budget up, or wait for its next window";
    ModelWithoutPrice = 5008, "model_without_price", Conflict, "A budget limits money, and the model has no price.",
        "`palyra explain docs/usage.md` says how to set a price; or use a model that has one, or remove the budget: `palyra budget remove NAME`";
    Internal = 9001, "internal", Internal, "An invariant did not hold; this is a bug.",
        "report this bug with the output of `palyra doctor --json`";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PLY-{:04}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_rise_and_slugs_are_unique() {
        assert!(ErrorCode::ALL.is_sorted_by(|a, b| a.number() < b.number()));
        let slugs: std::collections::BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.slug()).collect();
        assert_eq!(slugs.len(), ErrorCode::ALL.len());
        assert_eq!(ErrorCode::RunNotFound.to_string(), "PLY-1103");
    }
}
