//! What a run does, as tables and properties.
