//! What a daemon finds on its disk when it starts or reads again, and somebody else wrote (99, 100).

mod poisoned;

pub(crate) mod rows;
pub(crate) mod log;
pub(crate) mod files;
