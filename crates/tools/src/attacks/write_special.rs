//! Cases 29 and 32 for the tools that write: what is no plain file, and files that never end.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use rustix::fs::{CWD, Mode, mkfifoat};

use super::grounds::{CANARY, Grounds};
use super::write_grounds::{PAYLOAD, calls_at};
use crate::fixture::call_in;

const TERABYTE: u64 = 1 << 40;

#[test]
fn a_pipe_is_neither_written_nor_replaced() {
    let grounds = Grounds::new();
    let path = grounds.root().join("pipe");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    // Nobody reads it: who would open it for writing would wait for ever.
    grounds.assert_nothing_written("pipe");

    let mut both = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    both.write_all(CANARY.as_bytes()).unwrap();
    grounds.assert_nothing_written("pipe");
    let mut held = vec![0; CANARY.len()];
    both.read_exact(&mut held).unwrap();
    assert_eq!(held, CANARY.as_bytes(), "somebody took or added something");

    // The control: plain code writes into the pipe.
    let reader = thread::spawn(move || {
        let mut held = vec![0; PAYLOAD.len()];
        both.read_exact(&mut held).map(|()| held)
    });
    fs::write(&path, PAYLOAD).unwrap();
    assert_eq!(reader.join().unwrap().unwrap(), PAYLOAD.as_bytes());
}

/// The control: what saves by a rename does not ask what it displaces.
fn assert_control_replaces(grounds: &Grounds, name: &str) {
    grounds.fixture.write("saved", PAYLOAD.as_bytes());
    fs::rename(grounds.root().join("saved"), grounds.root().join(name)).unwrap();
    assert_eq!(fs::read_to_string(grounds.root().join(name)).unwrap(), PAYLOAD);
}

#[test]
fn a_socket_and_a_folder_are_neither_written_nor_replaced() {
    let grounds = Grounds::new();
    let _listener = UnixListener::bind(grounds.root().join("socket")).unwrap();
    for path in ["socket", "a", "a/b", "socket/x", "inside.txt/x"] {
        grounds.assert_nothing_written(path);
    }
    // The control: a plain rename, as editors save, puts a file in the socket's place.
    assert_control_replaces(&grounds, "socket");
}

#[test]
fn a_device_is_neither_written_nor_replaced() {
    let devices = Path::new("/dev");
    for device in ["null", "zero", "full", "tty"] {
        let before = fs::symlink_metadata(devices.join(device)).unwrap();
        for (tool, arguments) in calls_at(device) {
            if !arguments.to_string().contains("rename") {
                let told = call_in(devices, 4096, tool, &arguments);
                assert!(!told.starts_with("c") && !told.starts_with("removed"), "{tool} {arguments}: {told}");
            }
        }
        let after = fs::symlink_metadata(devices.join(device)).unwrap();
        assert_eq!(before.permissions(), after.permissions());
        assert!(!after.is_file(), "{device}");
    }
    // The control: plain code writes to a device.
    assert!(fs::write("/dev/null", PAYLOAD).is_ok());
}

#[test]
fn a_sparse_terabyte_is_neither_read_nor_replaced() {
    let grounds = Grounds::new();
    let path = grounds.root().join("sparse");
    let mut file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(TERABYTE)).unwrap();
    file.write_all(CANARY.as_bytes()).unwrap();
    grounds.assert_nothing_written("sparse");
    assert_eq!(file.metadata().unwrap().len(), TERABYTE + CANARY.len() as u64);
    let mut control = [0; CANARY.len()];
    file.read_exact_at(&mut control, TERABYTE).unwrap();
    assert_eq!(control, CANARY.as_bytes());
}

#[test]
fn what_its_owner_protects_is_not_written() {
    let grounds = Grounds::new();
    for (name, mode) in [("protected", 0o444), ("runs-as-owner", 0o4755), ("runs-as-group", 0o2755)] {
        let path = grounds.root().join(name);
        grounds.fixture.write(name, format!("{CANARY}\n").as_bytes());
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        grounds.assert_nothing_written(name);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
        assert_control_replaces(&grounds, name);
    }
}

#[test]
fn a_binary_file_is_not_written() {
    let grounds = Grounds::new();
    grounds.fixture.write("binary", b"\x7fELF\0\0canary");
    grounds.assert_nothing_written("binary");
    grounds.assert_control_writes("binary", &grounds.root().join("binary"));
}
