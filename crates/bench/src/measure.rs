//! Samples, figures, and how they are shown.

pub mod samples;
pub mod figure;
pub mod machine;
pub mod report;
pub mod chart;
