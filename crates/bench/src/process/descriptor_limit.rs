//! How many files and sockets this process may have open, and every process that it starts.

use anyhow::Context;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Raises the limit to what the system allows, and demands that it is enough.
///
/// # Errors
/// When fewer are allowed than wanted.
pub fn demand_descriptors(wanted: u64) -> anyhow::Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).context("the limit of open files")?;
    let enough = limit.maximum.is_none_or(|maximum| maximum >= wanted);
    anyhow::ensure!(enough, "{wanted} open files are needed, and the system allows {:?}", limit.maximum);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_can_be_had_and_more_than_the_system_allows_are_refused() {
        demand_descriptors(64).expect("a few");
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
        if let Some(more) = limit.maximum.and_then(|maximum| maximum.checked_add(1)) {
            demand_descriptors(more).expect_err("too many");
        }
    }
}
