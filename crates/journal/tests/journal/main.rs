//! The journal from outside: its four ports, its files, and what goes wrong with them.

mod opened;

mod first_path;

mod conformance;
