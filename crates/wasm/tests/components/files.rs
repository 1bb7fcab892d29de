//! Components that ask a host and write a file: what they import, and the code that does it.

use crate::component::{ComponentAbout, Wat};

/// Imports of the component: asking, and files.
const IMPORTS: &str = r#"
  (import "palyra:tool/http@1.0.0" (instance $http
    (type $q' (record (field "method" string) (field "url" string) (field "headers" (list (tuple string string))) (field "body" (list u8))))
    (export "request" (type $q (eq $q')))
    (type $s' (record (field "status" u16) (field "headers" (list (tuple string string))) (field "body" (list u8)) (field "truncated" bool)))
    (export "response" (type $s (eq $s')))
    (type $p' (variant (case "refused" string) (case "invalid" string) (case "failed" string)))
    (export "problem" (type $p (eq $p')))
    (export "fetch" (func (param "request" $q) (result (result $s (error $p)))))))
  (import "wasi:filesystem/types@0.2.12" (instance $fs
    (export "descriptor" (type $d (sub resource)))
    (type $pf' (flags "symlink-follow")) (export "path-flags" (type $pf (eq $pf')))
    (type $of' (flags "create" "directory" "exclusive" "truncate")) (export "open-flags" (type $of (eq $of')))
    (type $df' (flags "read" "write" "file-integrity-sync" "data-integrity-sync" "requested-write-sync" "mutate-directory"))
    (export "descriptor-flags" (type $df (eq $df')))
    (type $ec' (enum "access" "would-block" "already" "bad-descriptor" "busy" "deadlock" "quota" "exist" "file-too-large"
      "illegal-byte-sequence" "in-progress" "interrupted" "invalid" "io" "is-directory" "loop" "too-many-links" "message-size"
      "name-too-long" "no-device" "no-entry" "no-lock" "insufficient-memory" "insufficient-space" "not-directory" "not-empty"
      "not-recoverable" "unsupported" "no-tty" "no-such-device" "overflow" "not-permitted" "pipe" "read-only" "invalid-seek"
      "text-file-busy" "cross-device"))
    (export "error-code" (type $ec (eq $ec')))
    (export "[method]descriptor.open-at" (func (param "self" (borrow $d)) (param "path-flags" $pf) (param "path" string)
      (param "open-flags" $of) (param "flags" $df) (result (result (own $d) (error $ec)))))
    (export "[method]descriptor.symlink-at" (func (param "self" (borrow $d)) (param "old-path" string)
      (param "new-path" string) (result (result (error $ec)))))
    (export "[method]descriptor.rename-at" (func (param "self" (borrow $d)) (param "old-path" string)
      (param "new-descriptor" (borrow $d)) (param "new-path" string) (result (result (error $ec)))))
    (export "[method]descriptor.write" (func (param "self" (borrow $d)) (param "buffer" (list u8)) (param "offset" u64)
      (result (result u64 (error $ec)))))))
  (alias export $fs "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.12" (instance $pre
    (alias outer 1 $descriptor (type $d)) (export "descriptor" (type $own (eq $d)))
    (export "get-directories" (func (result (list (tuple (own $own) string)))))))
"#;

const WITH: &str = r#"
  (core func $fetch' (canon lower (func $http "fetch") (memory $memory) (realloc $realloc)))
  (core func $dirs' (canon lower (func $pre "get-directories") (memory $memory) (realloc $realloc)))
  (core func $open' (canon lower (func $fs "[method]descriptor.open-at") (memory $memory) (realloc $realloc)))
  (core func $link' (canon lower (func $fs "[method]descriptor.symlink-at") (memory $memory) (realloc $realloc)))
  (core func $rename' (canon lower (func $fs "[method]descriptor.rename-at") (memory $memory) (realloc $realloc)))
  (core func $write' (canon lower (func $fs "[method]descriptor.write") (memory $memory) (realloc $realloc)))
  (core instance $host (export "fetch" (func $fetch')) (export "dirs" (func $dirs')) (export "open" (func $open'))
    (export "link" (func $link')) (export "rename" (func $rename')) (export "write" (func $write')))
"#;

const CORE_IMPORTS: &str = r#"
    (import "host" "fetch" (func $fetch (param i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "dirs" (func $dirs (param i32)))
    (import "host" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "link" (func $link (param i32 i32 i32 i32 i32 i32)))
    (import "host" "rename" (func $rename (param i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i64 i32)))
"#;

/// Writes `$at`, `$length` into the file `$path`, `$path_length`; answers `written`, or one sign for why not: `0` with the
/// number of the error added, `~` where there is no folder.
const WRITING: &str = r#"
    (data (i32.const 3000) "writtenGET~page.txt")
    (func $no (param $code i32) (result i32)
      (i32.store8 (i32.const 3100) (i32.add (i32.const 48) (local.get $code)))
      (call $answer (i32.const 1) (i32.const 3100) (i32.const 1)))
    (func $save (param $path i32) (param $path_length i32) (param $at i32) (param $length i32) (result i32)
      (call $dirs (i32.const 3200))
      (if (i32.eqz (i32.load (i32.const 3204))) (then (return (call $answer (i32.const 1) (i32.const 3010) (i32.const 1)))))
      (call $open (i32.load (i32.load (i32.const 3200))) (i32.const 1) (local.get $path) (local.get $path_length)
        (i32.const 9) (i32.const 2) (i32.const 3220))
      (if (i32.load8_u (i32.const 3220)) (then (return (call $no (i32.load8_u (i32.const 3224))))))
      (call $write (i32.load (i32.const 3224)) (local.get $at) (local.get $length) (i64.const 0) (i32.const 3240))
      (if (i32.load8_u (i32.const 3240)) (then (return (call $no (i32.load8_u (i32.const 3248))))))
      (call $answer (i32.const 0) (i32.const 3000) (i32.const 7)))
"#;

/// Asks for the given address and writes the answer to `page.txt`.
const SAVING: &str = r#"
    (call $fetch (i32.const 3007) (i32.const 3) (i32.const 1024) (global.get $given)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 3300))
    (if (result i32) (i32.load8_u (i32.const 3300))
      (then (call $answer (i32.const 1) (i32.load (i32.const 3308)) (i32.load (i32.const 3312))))
      (else (call $save (i32.const 3011) (i32.const 8) (i32.load (i32.const 3316)) (i32.load (i32.const 3320)))))
"#;

/// A component that writes `written` to the path it is told.
pub(crate) fn writes() -> Wat {
    Wat {
        about: ComponentAbout { name: "save", contract: 1, capabilities: vec![(1, String::new())] },
        ..reaching("(call $save (local.get $ptr) (local.get $len) (i32.const 3000) (i32.const 7))")
    }
}

/// A component that makes a link to the path it is told, and writes through it.
pub(crate) fn links() -> Wat {
    Wat {
        run: r#"
        (call $dirs (i32.const 3200))
        (call $link (i32.load (i32.load (i32.const 3200))) (local.get $ptr) (local.get $len) (i32.const 3011) (i32.const 8)
          (i32.const 3220))
        (if (result i32) (i32.load8_u (i32.const 3220))
          (then (call $no (i32.load8_u (i32.const 3221))))
          (else (call $save (i32.const 3011) (i32.const 8) (i32.const 3000) (i32.const 7))))"#,
        ..writes()
    }
}

/// A component that opens the path it is told as often as it says of itself, and holds all of it.
pub(crate) fn opens(times: &'static str) -> Wat {
    let about = ComponentAbout { name: times, ..writes().about };
    Wat {
        about,
        // The name is `open_`, and the number in four digits; it lies at 2304.
        run: r#"
        (local $left i32)
        (local.set $left (i32.add
          (i32.mul (i32.const 10) (i32.add
            (i32.mul (i32.const 10) (i32.add
              (i32.mul (i32.const 10) (i32.sub (i32.load8_u (i32.const 2309)) (i32.const 48)))
              (i32.sub (i32.load8_u (i32.const 2310)) (i32.const 48))))
            (i32.sub (i32.load8_u (i32.const 2311)) (i32.const 48))))
          (i32.sub (i32.load8_u (i32.const 2312)) (i32.const 48))))
        (call $dirs (i32.const 3200))
        (loop $l
          (call $open (i32.load (i32.load (i32.const 3200))) (i32.const 1) (local.get $ptr) (local.get $len)
            (i32.const 0) (i32.const 1) (i32.const 3220))
          (if (i32.load8_u (i32.const 3220)) (then (return (call $no (i32.load8_u (i32.const 3224))))))
          (br_if $l (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
        (call $answer (i32.const 0) (i32.const 3000) (i32.const 7))"#,
        ..writes()
    }
}

/// A component that opens the folder before the colon of what it is told, and writes to the name behind the colon in it.
pub(crate) fn enters() -> Wat {
    Wat {
        run: r#"
        (local $at i32)
        (loop $l
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $l (i32.ne (i32.load8_u (i32.add (local.get $ptr) (local.get $at))) (i32.const 58))))
        (call $dirs (i32.const 3200))
        (call $open (i32.load (i32.load (i32.const 3200))) (i32.const 1) (local.get $ptr) (local.get $at)
          (i32.const 2) (i32.const 33) (i32.const 3220))
        (if (i32.load8_u (i32.const 3220)) (then (return (call $no (i32.load8_u (i32.const 3224))))))
        (call $open (i32.load (i32.const 3224)) (i32.const 1)
          (i32.add (local.get $ptr) (i32.add (local.get $at) (i32.const 1)))
          (i32.sub (i32.sub (local.get $len) (local.get $at)) (i32.const 1))
          (i32.const 9) (i32.const 2) (i32.const 3220))
        (if (i32.load8_u (i32.const 3220)) (then (return (call $no (i32.load8_u (i32.const 3224))))))
        (call $answer (i32.const 0) (i32.const 3000) (i32.const 7))"#,
        ..writes()
    }
}

/// A component that gives the path before the colon of what it is told the name behind it.
pub(crate) fn moves() -> Wat {
    Wat {
        run: r#"
        (local $at i32)
        (loop $l
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $l (i32.ne (i32.load8_u (i32.add (local.get $ptr) (local.get $at))) (i32.const 58))))
        (call $dirs (i32.const 3200))
        (call $rename (i32.load (i32.load (i32.const 3200))) (local.get $ptr) (local.get $at)
          (i32.load (i32.load (i32.const 3200)))
          (i32.add (local.get $ptr) (i32.add (local.get $at) (i32.const 1)))
          (i32.sub (i32.sub (local.get $len) (local.get $at)) (i32.const 1))
          (i32.const 3220))
        (if (result i32) (i32.load8_u (i32.const 3220))
          (then (call $no (i32.load8_u (i32.const 3221))))
          (else (call $answer (i32.const 0) (i32.const 3000) (i32.const 7))))"#,
        ..writes()
    }
}

/// A component that asks for an address and writes what it is told there to `page.txt`.
pub(crate) fn saves(address: &str, host: &str) -> Wat {
    Wat {
        given: address.to_owned(),
        about: ComponentAbout {
            name: "save_page",
            contract: 1,
            capabilities: vec![(1, String::new()), (2, host.to_owned())],
        },
        ..reaching(SAVING)
    }
}

fn reaching(run: &'static str) -> Wat {
    Wat { imports: IMPORTS, with: WITH, core_imports: CORE_IMPORTS, core: WRITING, run, ..Wat::default() }
}
