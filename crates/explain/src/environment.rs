//! The variables of the environment that are read.

/// Each variable with its meaning, in rows of a screen; a row without a name goes on with the one before.
pub const ENVIRONMENT: [(&str, &str); 12] = [
    ("PALYRA_HOME", "the state directory, else $XDG_STATE_HOME/palyra, else"),
    ("", "~/.local/state/palyra; --state-dir wins"),
    ("XDG_CONFIG_HOME", "where palyra/palyra.toml is looked for; else ~/.config"),
    ("PALYRA_TOKEN", "the token for --connect"),
    ("PALYRA_CONFIRMATION", ""),
    ("", "a code of `palyra admin confirm`, for one change over --connect"),
    ("PALYRA_MODEL", "the model of the server that OPENAI_BASE_URL names"),
    ("OPENAI_BASE_URL", "a server of models, where no configuration names one"),
    ("OPENAI_API_KEY", "its key"),
    ("PALYRA__A__B", "the setting a.b of the configuration"),
    ("PALYRA_PAGER", "the program that shows long documents; else $PAGER, else less"),
    ("NO_COLOR", "anything in it: no colours; TERM=dumb: no escape codes at all"),
];
