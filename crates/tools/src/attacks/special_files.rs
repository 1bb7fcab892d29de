//! Case 29: pipes, sockets and devices where a file is expected.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;

use super::grounds::{CANARY, Grounds, assert_untouched_in};
use crate::fixture::call_in;

#[test]
fn a_pipe_with_a_writer_keeps_what_it_holds() {
    let grounds = Grounds::new();
    let path = grounds.root().join("pipe");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    // Opened for both, a pipe waits for nobody.
    let mut writer = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    writer.write_all(CANARY.as_bytes()).unwrap();

    for _ in 0..3 {
        grounds.assert_untouched("pipe");
        grounds.assert_untouched(".");
        grounds.assert_kernel_refuses("pipe");
    }
    assert_eq!(
        grounds.fixture.call("read_file", &json!({"path": "pipe"})),
        "file_unsuitable: `pipe` is a named pipe, not a regular file"
    );

    let mut held = vec![0; CANARY.len()];
    File::open(&path).unwrap().read_exact(&mut held).unwrap();
    assert_eq!(held, CANARY.as_bytes());
}

#[test]
fn a_pipe_without_a_writer_holds_nobody_up() {
    let grounds = Grounds::new();
    let path = grounds.root().join("pipe");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    grounds.assert_untouched("pipe");
    grounds.assert_untouched(".");

    // The control waits in its open until somebody writes, and then is given the canary.
    let control = thread::spawn({
        let path = path.clone();
        move || fs::read_to_string(path).unwrap()
    });
    fs::write(&path, CANARY).unwrap();
    assert_eq!(control.join().unwrap(), CANARY);
}

#[test]
fn a_socket_is_not_connected_to() {
    let grounds = Grounds::new();
    let path = grounds.root().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    grounds.assert_untouched("socket");
    grounds.assert_untouched(".");
    assert_eq!(
        grounds.fixture.call("read_file", &json!({"path": "socket"})),
        "file_unsuitable: `socket` is a socket or device, not a regular file"
    );
    assert!(listener.accept().is_err(), "somebody connected");

    let mut control = UnixStream::connect(&path).unwrap();
    listener.accept().unwrap().0.write_all(CANARY.as_bytes()).unwrap();
    let mut text = String::new();
    control.read_to_string(&mut text).unwrap();
    assert_eq!(text, CANARY);
}

#[test]
fn a_device_is_refused_and_not_read_from() {
    let devices = Path::new("/dev");
    for (device, gives) in [("zero", 16), ("urandom", 16), ("null", 0)] {
        assert_eq!(
            call_in(devices, 4096, "read_file", &json!({"path": device})),
            format!("file_unsuitable: `{device}` is a device, not a regular file")
        );
        assert_untouched_in(devices, device);

        let mut control = Vec::new();
        File::open(devices.join(device)).unwrap().take(16).read_to_end(&mut control).unwrap();
        assert_eq!(control.len(), gives, "{device}");
    }
}
