//! The simulator itself: it repeats itself, it finds nothing in the runtime as it is, and it finds mistakes.

mod stories;

mod mutations;

mod weeks;
