//! Components in their text form, honest and hostile, in the real engine.

mod component;
mod files;
mod shelf;

mod attacks;
mod attacks_files;
mod honest;
mod tools;
