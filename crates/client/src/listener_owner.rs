//! Whose program listens at a port of this machine, as the kernel says.
//!
//! A token goes over TCP in clear text, and a port that no daemon has can be taken by any user. Owns the reading of the
//! kernel's tables and nothing else: who may listen there is the person's to judge. Begin at [`foreign_listener`].

/// The state of a socket that listens.
const LISTENS: &str = "0A";

/// Returns a user other than this one and root who listens at a port of this machine, by any of its addresses.
pub(crate) fn foreign_listener(port: u16) -> Option<u32> {
    let own = rustix::process::geteuid().as_raw();
    let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(std::fs::read_to_string);
    tables.iter().flatten().flat_map(|table| listeners(table, port)).find(|uid| ![own, 0].contains(uid))
}

/// Returns the users who listen at a port, from a table as in proc_net_tcp(5).
fn listeners(table: &str, port: u16) -> Vec<u32> {
    let row = |line: &str| {
        let mut fields = line.split_whitespace();
        let local = fields.nth(1)?;
        let state = fields.nth(1)?;
        let uid = fields.nth(3)?.parse::<u32>().ok()?;
        let (_, found) = local.rsplit_once(':')?;
        (state == LISTENS && u16::from_str_radix(found, 16) == Ok(port)).then_some(uid)
    };
    table.lines().skip(1).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1E14 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 7 1 0000 100 0 0 10 0
   1: 0100007F:1E15 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 8 1 0000 100 0 0 10 0
   2: 0100007F:1E16 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1002        0 9 1 0000 100 0 0 10 0
";

    #[test]
    fn who_listens_is_read_from_the_table() {
        assert_eq!(listeners(TABLE, 0x1E14), [1001]);
        assert_eq!(listeners(TABLE, 0x1E15), [0]);
        assert_eq!(listeners(TABLE, 0x1E16), [0_u32; 0], "a connection is no listener");
        assert_eq!(listeners("nonsense\nnonsense\n", 1), [0_u32; 0]);
    }

    #[test]
    fn ones_own_listener_is_not_foreign() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
        assert_eq!(listeners(&table, port), [rustix::process::geteuid().as_raw()]);
        assert_eq!(foreign_listener(port), None);
    }
}
