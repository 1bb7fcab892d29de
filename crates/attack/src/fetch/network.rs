//! A network of its own: special addresses lead somewhere in it, and its name server lies.
//!
//! Needs user namespaces, `unshare` and `ip`. The process inside is this executable again, with the same user outside.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::process::Command;

/// `local` routes with a source of their own make addresses lead here that this machine does not call its own; 8.8.4.4
/// is its own.
const SETUP: &str = r#"
PATH="$PATH:/usr/sbin:/sbin"
ip link set lo up
ip addr add 8.8.4.4/32 dev lo
for net in 9.9.9.0/24 169.254.0.0/16 100.64.0.0/10 168.63.129.16/32 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 \
    198.18.0.0/15 192.0.0.0/24 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 192.88.99.0/24 240.0.0.0/8; do
    ip route add local $net dev lo src 127.0.0.1
done
for net in 64:ff9b::/96 64:ff9b:1::/48 2001::/32 2002::/16 2001:db8::/32 2a00::/16 3fff::/20 5f00::/16 fd00::/8 \
    fec0::/10 100::/64 2620:4f:8000::/48 2001:20::/28 2001:2::/48; do
    ip -6 route add local $net dev lo
done
folder=$(mktemp -d)
printf 'nameserver 127.0.0.1\nsearch corp.example\noptions ndots:5 timeout:1 attempts:1\n' > "$folder/resolv.conf"
printf 'hosts: files dns\n' > "$folder/nsswitch.conf"
mount --bind "$folder/resolv.conf" /etc/resolv.conf
if [ -e /etc/nsswitch.conf ]; then mount --bind "$folder/nsswitch.conf" /etc/nsswitch.conf; fi
rm -r "$folder"
exec "$@"
"#;

/// Where a proxy would be that the environment names: one of the canaries.
pub(super) const NAMED_PROXY: &str = "http://127.0.0.1:8000";

/// Returns a command that runs this executable inside, with these arguments, and what has to be kept until it has begun.
///
/// # Errors
/// The system's, when the executable cannot be opened.
pub(crate) fn inside(arguments: &[OsString]) -> io::Result<(Command, File)> {
    // Handed on as a descriptor: its file may lie where this user cannot go, and a process in a user namespace of its
    // own may not look through the one outside.
    let itself = File::open("/proc/self/exe")?;
    rustix::io::fcntl_setfd(&itself, rustix::io::FdFlags::empty())?;
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--net", "--mount", "sh", "-euc", SETUP, "sh"])
        .arg(format!("/proc/self/fd/{}", itself.as_raw_fd()))
        .args(arguments);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, NAMED_PROXY);
    }
    Ok((command, itself))
}
