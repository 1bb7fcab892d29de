//! Every setting there is: key, type, range, default, meaning. Said once, here.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use palyra_ports::EMBEDDED_MODEL_NAME;

use super::value::{ConfigValue, ValueOrigin};

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct SettingSpec {
    /// Its dotted key; within a provider only the last part.
    pub key: &'static str,
    /// What it takes.
    pub takes: SettingType,
    /// What holds when nobody sets it.
    pub unset: UnsetValue,
    /// When a change of it takes effect.
    pub applies: ApplyTime,
    /// What it means, in one sentence.
    pub meaning: &'static str,
}

/// What a setting takes.
#[derive(Debug, Clone, Copy)]
pub enum SettingType {
    /// A whole number within a range.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A text.
    Text,
    /// One of these texts.
    Choice {
        /// The texts.
        of: &'static [&'static str],
    },
    /// `true` or `false`.
    Bool,
    /// A list of texts.
    List {
        /// How many, at most.
        items_max: usize,
    },
}

/// What holds when nobody sets a setting.
#[derive(Debug, Clone, Copy)]
pub enum UnsetValue {
    /// A number.
    Integer(u64),
    /// A text.
    Text(&'static str),
    /// `true` or `false`.
    Bool(bool),
    /// No items.
    EmptyList,
    /// Something that depends; told in words, with an example of a value.
    Depends(&'static str, &'static str),
    /// Nothing: it has to be set; with an example.
    Required(&'static str),
}

/// When a change of a setting takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyTime {
    /// When the configuration is read again.
    AtReload,
    /// At the next start of the daemon.
    AtStart,
}

const fn setting(
    key: &'static str,
    takes: SettingType,
    unset: UnsetValue,
    meaning: &'static str,
) -> SettingSpec {
    SettingSpec { key, takes, unset, applies: ApplyTime::AtReload, meaning }
}

const fn integer(
    key: &'static str,
    range: RangeInclusive<u64>,
    default: u64,
    meaning: &'static str,
) -> SettingSpec {
    setting(
        key,
        SettingType::Integer { min: *range.start(), max: *range.end() },
        UnsetValue::Integer(default),
        meaning,
    )
}

const fn text(key: &'static str, default: &'static str, meaning: &'static str) -> SettingSpec {
    setting(key, SettingType::Text, UnsetValue::Text(default), meaning)
}

const fn tools(key: &'static str, meaning: &'static str) -> SettingSpec {
    setting(key, SettingType::List { items_max: TOOLS_MAX }, UnsetValue::EmptyList, meaning)
}

const fn at_start(setting: SettingSpec) -> SettingSpec {
    SettingSpec { applies: ApplyTime::AtStart, ..setting }
}

/// Requests that one provider gets at once, unless its configuration says otherwise.
pub const PARALLEL_REQUESTS_DEFAULT: usize = 8;

/// Where the HTTP API is unless its configuration says otherwise.
pub(super) const HTTP_LISTEN_DEFAULT: &str = "127.0.0.1:7787";

/// Models that may be asked instead of the default one, at most.
pub(super) const FALLBACKS_MAX: usize = 8;

/// Tools that one setting names, at most.
const TOOLS_MAX: usize = 256;

/// Folders or variables that one setting names, at most.
const PLACES_MAX: usize = 64;

/// What self-healing does in a domain.
const HEALING_MODES: &[&str] = &["disabled", "observe_only", "auto"];

const fn healing(key: &'static str, meaning: &'static str) -> SettingSpec {
    setting(key, SettingType::Choice { of: HEALING_MODES }, UnsetValue::Text("observe_only"), meaning)
}

const fn places(key: &'static str, meaning: &'static str) -> SettingSpec {
    at_start(setting(key, SettingType::List { items_max: PLACES_MAX }, UnsetValue::EmptyList, meaning))
}

/// All settings but those of providers, in order of key.
pub const SETTINGS: &[SettingSpec] = &[
    integer(
        "backup.every_hours",
        1..=8_760,
        24,
        "Hours from one automatic backup to the next, while the daemon runs (docs/backup.md).",
    ),
    text(
        "backup.folder",
        "",
        "The folder of automatic backups, an absolute path outside of the state directory, best on another disk; empty: none \
         are made.",
    ),
    integer(
        "backup.keep",
        1..=1_000,
        7,
        "Automatic backups that are kept; older ones are removed once a new one is verified.",
    ),
    at_start(setting(
        "commands.enabled",
        SettingType::Bool,
        UnsetValue::Bool(true),
        "Whether tools may start programs, each in a sandbox (docs/sandbox.md).",
    )),
    places(
        "commands.environment",
        "Variables that every command gets, each as NAME=value, beside those it has; nothing of the daemon's own goes \
         along.",
    ),
    at_start(integer(
        "commands.memory_mib_max",
        64..=1_048_576,
        2_048,
        "Memory of a command and all that it starts, in MiB.",
    )),
    places(
        "commands.path",
        "Folders in which programs are looked for before those of the system, such as ~/tools/bin.",
    ),
    at_start(integer(
        "commands.processes_max",
        4..=65_536,
        256,
        "Processes and threads of a command at once.",
    )),
    places(
        "commands.readable",
        "Files and folders outside of the workspace that commands may read and run, such as a compiler's; beside the \
         system's and Rust's toolchain.",
    ),
    setting(
        "compaction.automatic",
        SettingType::Bool,
        UnsetValue::Bool(true),
        "Whether older runs of a session are summed up when the model's window fills, and after a rest (docs/context.md).",
    ),
    integer(
        "daemon.drain_seconds",
        0..=3_600,
        10,
        "Time that running answers and tools have to finish when the daemon stops; work that is not done \
         by then goes on at the next start.",
    ),
    integer(
        "daemon.idle_stop_seconds",
        1..=604_800,
        900,
        "A daemon that a command started stops after this time without work: no client connected, no active run, no job, \
         no browser signed in to the console, no enabled schedule, no open reminder, no task in the background queue.",
    ),
    places(
        "egress.allow_private",
        "Hosts of your own network that tools may reach, each with its port, such as build.internal:8080; all others \
         have to be of the open network.",
    ),
    at_start(setting(
        "egress.enabled",
        SettingType::Bool,
        UnsetValue::Bool(true),
        "Whether there are tools that ask other machines, and commands can be given hosts, as docs/http-fetch.md says.",
    )),
    text(
        "embeddings.model",
        EMBEDDED_MODEL_NAME,
        "The model that makes vectors of texts for clients (docs/openai.md): palyra-embedded, which is part of the program, or \
         provider/model of a provider with a format of OpenAI.",
    ),
    healing(
        "healing.approvals",
        "The mode of self-healing for approvals that cannot be decided or had no effect (docs/self-healing.md).",
    ),
    healing(
        "healing.artifacts",
        "The mode of self-healing for files that the journal pins by a digest and that are missing or differ (docs/self-healing.md).",
    ),
    healing(
        "healing.browser",
        "The mode of self-healing for browsers that do not answer (docs/self-healing.md).",
    ),
    healing(
        "healing.channels",
        "The mode of self-healing for connectors without a connection (docs/self-healing.md).",
    ),
    healing(
        "healing.journal",
        "The mode of self-healing for the write-ahead log, the disk and the derived tables (docs/self-healing.md).",
    ),
    healing("healing.providers", "The mode of self-healing for providers that fail (docs/self-healing.md)."),
    healing("healing.runs", "The mode of self-healing for runs without progress (docs/self-healing.md)."),
    healing(
        "healing.sandbox",
        "The mode of self-healing for what programs left behind (docs/self-healing.md).",
    ),
    healing(
        "healing.tasks",
        "The mode of self-healing for background tasks without progress (docs/self-healing.md).",
    ),
    healing(
        "healing.workers",
        "The mode of self-healing for workers without a sign of life (docs/self-healing.md).",
    ),
    at_start(text(
        "http.listen",
        HTTP_LISTEN_DEFAULT,
        "Address of the HTTP API (docs/http.md); `off`: none. Where the default port is taken, the next free one is used.",
    )),
    at_start(setting(
        "http.public",
        SettingType::Bool,
        UnsetValue::Bool(false),
        "Whether the HTTP API may be at an address beyond this machine; it needs a certificate there.",
    )),
    at_start(text(
        "http.public_url",
        "",
        "The URL under which people reach the HTTP API, such as https://palyra.example; empty: http://localhost with the \
         port.",
    )),
    at_start(text(
        "http.tls_cert",
        "",
        "File of the certificate of the HTTP API, in PEM, followed by those above it; empty: no TLS.",
    )),
    at_start(text("http.tls_key", "", "File of the certificate's private key, in PEM.")),
    at_start(setting(
        "http.trusted_proxies",
        SettingType::List { items_max: PLACES_MAX },
        UnsetValue::EmptyList,
        "Addresses of proxies that take TLS off; beside this machine only they may connect then. Their \
         headers about the caller do not count.",
    )),
    at_start(setting(
        "journal.seal",
        SettingType::Bool,
        UnsetValue::Bool(false),
        "Whether what is said is sealed in the journal under a key of its principal, so that erasing takes it out of \
         older copies as well; a backup without keys.db and keys/root.key cannot be read then.",
    )),
    setting(
        "learning.enabled",
        SettingType::Bool,
        UnsetValue::Bool(true),
        "Whether facts, preferences and procedures are learned from your conversations, and runs are given learned preferences (docs/learning.md).",
    ),
    integer(
        "learning.fact_threshold_bps",
        0..=10_000,
        9_000,
        "From this confidence on, in hundredths of a percent, a fact is applied without a review.",
    ),
    integer(
        "learning.preference_threshold_bps",
        0..=10_000,
        9_200,
        "From this confidence on, in hundredths of a percent, a preference is applied without a review.",
    ),
    integer(
        "learning.review_threshold_bps",
        0..=10_000,
        0,
        "Below this confidence, in hundredths of a percent, something that was found is dropped; 0 drops nothing.",
    ),
    integer(
        "learning.sampling_bps",
        0..=10_000,
        10_000,
        "How many of the completed runs are looked at, in hundredths of a percent.",
    ),
    integer(
        "limits.active_time_seconds_max",
        1..=86_400,
        1_800,
        "Active time of a run; waiting does not count.",
    ),
    integer("limits.input_bytes_max", 1..=3_145_728, 524_288, "Bytes of one input."),
    integer(
        "limits.output_tokens_max",
        1..=1_000_000_000,
        1_000_000,
        "Tokens a model may write in one run, as docs/model-failures.md says.",
    ),
    integer("limits.parallel_tools_max", 1..=64, 4, "Read-only tools of one run at once."),
    integer("limits.session_queue_max", 1..=100_000, 1_024, "Runs waiting in one session."),
    integer("limits.tool_calls_max", 1..=100_000, 200, "Tool calls of one run."),
    integer("limits.turns_max", 1..=10_000, 50, "Model turns of one run."),
    at_start(text(
        "listen.tcp",
        "",
        "Loopback address for clients with a token (`palyra admin tokens create`), such as 127.0.0.1:7070; empty: none.",
    )),
    setting(
        "memory.recall",
        SettingType::Bool,
        UnsetValue::Bool(false),
        "Whether a run is given items of memory that have to do with its input, where neither its session nor its agent says so (docs/memory.md); tools of memory stay.",
    ),
    text(
        "model.default",
        "",
        "The model to use, as provider/model; empty: the model of the environment (OPENAI_BASE_URL, OPENAI_API_KEY, \
         PALYRA_MODEL), else the built-in demo/demo.",
    ),
    at_start(setting(
        "model.detect_local",
        SettingType::Bool,
        UnsetValue::Bool(true),
        "Whether a start asks the ports 11434, 8080, 1234 and 8000 of this machine which models are there, to suggest them; \
         none is used by itself.",
    )),
    setting(
        "model.fallbacks",
        SettingType::List { items_max: FALLBACKS_MAX },
        UnsetValue::EmptyList,
        "Models that may be asked, in this order, when the default one cannot answer; each as provider/model.",
    ),
    setting(
        "model.fallbacks_over_budget",
        SettingType::Bool,
        UnsetValue::Bool(false),
        "Whether a request that budgets do not allow goes to the next one of model.fallbacks that they allow, before the run \
         waits or ends (docs/budgets.md).",
    ),
    setting(
        "model.order",
        SettingType::Choice { of: MODEL_ORDERS },
        UnsetValue::Text(MODEL_ORDERS[0]),
        "Which of the default model and its fallbacks a run asks first that names no model: as configured, the cheapest by \
         prices.file, or the one that lately began to answer first (docs/model-failures.md).",
    ),
    setting(
        "notify.command",
        SettingType::List { items_max: 64 },
        UnsetValue::EmptyList,
        "A program with its arguments that gets each notification as one line of JSON on its input, such as \
         [\"/usr/local/bin/tell-me\"]; empty: none (docs/notifications.md).",
    ),
    setting(
        "notify.desktop",
        SettingType::Bool,
        UnsetValue::Bool(false),
        "Whether notifications are shown on the desktop of the user who runs the daemon, by notify-send.",
    ),
    text(
        "notify.quiet_from",
        "",
        "When quiet hours begin, such as 22:00: until they are over, only critical things are sent, and the rest as one count \
         after that; empty: there are none.",
    ),
    text("notify.quiet_until", "", "When quiet hours are over, such as 07:00."),
    text(
        "notify.time_zone",
        "",
        "The time zone of quiet hours, a name of the IANA database such as Europe/Prague; empty: that of the machine.",
    ),
    text(
        "notify.webhook_secret",
        "",
        "Where the secret is that webhooks are signed with: env:NAME, file:PATH or vault:NAME; base64 of 24 to 64 bytes with \
         whsec_ before them.",
    ),
    text(
        "notify.webhook_url",
        "",
        "The URL to which each notification is posted, signed as Standard Webhooks says; empty: none.",
    ),
    tools(
        "policy.always_allow",
        "Tools whose calls run without asking where policy would ask, unless the call is critical.",
    ),
    tools("policy.ask", "Tools whose calls are asked about even where policy would let them run unattended."),
    text(
        "policy.dir",
        "",
        "Folder of your own policies (*.cedar), beside the shipped ones; empty: `policies` beside this file.",
    ),
    tools("policy.disabled", "Tools whose calls are always denied, also where policy permits them."),
    text(
        "policy.shadow_dir",
        "",
        "Folder of policies (*.cedar) that are tried out: with the shipped ones, and instead of your own, they are asked \
         about every decision, and change none; `palyra policy shadow` tells. Empty: none.",
    ),
    text(
        "prices.file",
        "",
        "File with prices of models (docs/usage.md), by which the costs of usage and the limits of budgets on money are computed; empty: no costs are shown.",
    ),
    integer(
        "retention.archive_sessions_days",
        0..=36_500,
        0,
        "Days without an entry after which a session is archived (docs/background.md); 0: never.",
    ),
    integer(
        "retention.erase_archived_days",
        0..=36_500,
        0,
        "Days after which the content of an archived session is erased, with the files that were kept of its commands \
         (docs/background.md); 0: never.",
    ),
];

/// Where a provider's API may begin, as TOML.
pub(super) const BASE_URL_EXAMPLE: &str = "\"https://api.openai.com/v1\"";

/// The orders of models, as [`palyra_governance::ModelPreference`] names them.
const MODEL_ORDERS: &[&str] = &["configured_order", "cheapest", "fastest"];

/// The wire formats of providers.
pub(super) const FORMATS: &[&str] = &["openai_chat", "openai_responses", "anthropic_messages"];

/// The fields of a provider, below `providers.NAME`, in order of key.
pub const PROVIDER_FIELDS: &[SettingSpec] = &[
    setting("base_url", SettingType::Text, UnsetValue::Required(BASE_URL_EXAMPLE), "Where its API begins."),
    setting(
        "context_tokens",
        SettingType::Integer { min: 1_024, max: 100_000_000 },
        UnsetValue::Depends("the server's value, else the usual value of the format", "128000"),
        "The window of its models.",
    ),
    setting(
        "format",
        SettingType::Choice { of: FORMATS },
        UnsetValue::Text("openai_chat"),
        "The wire format it speaks.",
    ),
    setting(
        "images",
        SettingType::Bool,
        UnsetValue::Depends(
            "what is known of the model: true for Anthropic's format and OpenAI's own service, else by its name or a test",
            "true",
        ),
        "Whether its models take images; to others an image is named with type and size.",
    ),
    setting(
        "key",
        SettingType::Text,
        UnsetValue::Depends("no key is sent", "\"env:LOCAL_API_KEY\""),
        "A reference to its key, env:NAME, file:PATH or vault:NAME; never the key itself.",
    ),
    setting(
        "kind",
        SettingType::Choice { of: &["openai-chat"] },
        UnsetValue::Depends("`format` counts", "\"openai-chat\""),
        "The older name of `format`; write that instead.",
    ),
    setting(
        "model",
        SettingType::Text,
        UnsetValue::Depends("the only model that the server lists", "\"qwen3\""),
        "The model that the server's name alone means.",
    ),
    integer(
        "parallel_requests_max",
        1..=1_024,
        PARALLEL_REQUESTS_DEFAULT as u64,
        "Requests to it at once; further ones wait for their turn.",
    ),
];

/// Returns the setting of a key, also of a provider's field.
pub(super) fn setting_of(key: &str) -> Option<SettingSpec> {
    if let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) {
        return Some(*setting);
    }
    let (_, field) = key.strip_prefix("providers.")?.split_once('.')?;
    provider_of(key)?;
    provider_field(field)
}

/// Returns the field of a provider.
pub(super) fn provider_field(field: &str) -> Option<SettingSpec> {
    PROVIDER_FIELDS.iter().find(|setting| setting.key == field).copied()
}

/// Returns the provider a key belongs to.
pub(super) fn provider_of(key: &str) -> Option<&str> {
    provider_name(key).filter(|name| is_provider_name(name) && key.len() > "providers.".len() + name.len())
}

/// Returns what stands in the place of a provider's name.
pub(super) fn provider_name(key: &str) -> Option<&str> {
    let rest = key.strip_prefix("providers.")?;
    Some(rest.split_once('.').map_or(rest, |(name, _)| name))
}

/// Returns whether a provider can be called so.
pub(super) fn is_provider_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Returns whether a key names a table that settings lie in.
pub(super) fn is_section(key: &str) -> bool {
    example_in_section(key).is_some()
}

/// Returns a setting of a section; `None` where the key is no section.
pub(super) fn example_in_section(key: &str) -> Option<String> {
    let provider = provider_name(key)
        .filter(|name| is_provider_name(name) && key.len() == "providers.".len() + name.len());
    if key == "providers" || provider.is_some() {
        return Some(format!("providers.{}.base_url", provider.unwrap_or("NAME")));
    }
    let within =
        |setting: &&SettingSpec| setting.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    SETTINGS.iter().find(within).map(|setting| setting.key.to_owned())
}

/// Returns the sections, in order of name; providers are one.
pub(super) fn sections() -> Vec<&'static str> {
    let mut sections: Vec<_> = SETTINGS
        .iter()
        .filter_map(|setting| setting.key.split_once('.'))
        .map(|(section, _)| section)
        .collect();
    sections.push("providers");
    sections.sort_unstable();
    sections.dedup();
    sections
}

/// Returns the value that holds when nobody sets a setting; `None` where that depends.
pub(super) fn default_of(setting: &SettingSpec) -> Option<ConfigValue> {
    match setting.unset {
        UnsetValue::Integer(number) => Some(ConfigValue::Integer(number)),
        UnsetValue::Text(text) => Some(ConfigValue::Text(text.to_owned())),
        UnsetValue::Bool(yes) => Some(ConfigValue::Bool(yes)),
        UnsetValue::EmptyList => Some(ConfigValue::List(Vec::new())),
        UnsetValue::Depends(..) | UnsetValue::Required(_) => None,
    }
}

/// Returns the defaults of all settings but those of providers.
pub(super) fn defaults() -> BTreeMap<String, (ConfigValue, ValueOrigin)> {
    let default =
        |setting: &SettingSpec| Some((setting.key.to_owned(), (default_of(setting)?, ValueOrigin::Default)));
    SETTINGS.iter().filter_map(default).collect()
}
