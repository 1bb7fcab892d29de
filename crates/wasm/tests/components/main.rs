//! Components in their text form, honest and hostile, in the real engine.

mod component;
mod honest;
mod hostile;
