//! Numbers between Rust and SQLite, whose integers are signed.

use palyra_types::Seq;

pub(crate) fn seq_to_sql(seq: Seq) -> i64 {
    seq.0.cast_signed()
}

pub(crate) fn seq_from_sql(seq: i64) -> Seq {
    Seq(seq.cast_unsigned())
}

pub(crate) fn u64_to_sql(value: u64) -> i64 {
    value.cast_signed()
}

pub(crate) fn u64_from_sql(value: i64) -> u64 {
    value.cast_unsigned()
}

pub(crate) fn count_to_sql(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
