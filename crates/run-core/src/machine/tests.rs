//! What a run does, seen from its tape: tables, properties, a second model, and every order of few inputs.

mod ends;
mod interleavings;
mod properties;
mod reference;
mod restarts;
mod rounds;
