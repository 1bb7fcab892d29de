//! What a run does, seen from its tape: tables, properties, a second model, and every order of few inputs.

mod ends;
mod properties;
mod restarts;
mod rounds;
