//! Components that ask hosts and reach files: what they import, and the code that does it.
//!
//! At 3200 stand the folders, at 3220 what the last call came to, at 3300 what a host answered, at 3000 and 3400 words.

use palyra_testkit::component_text::{ComponentAbout, Wat};

/// Imports of the component: asking, dates, and files.
const IMPORTS: &str = r#"
  (import "wasi:clocks/wall-clock@0.2.12" (instance $wall
    (type $date (record (field "seconds" u64) (field "nanoseconds" u32))) (export "datetime" (type (eq $date)))))
  (alias export $wall "datetime" (type $date))
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
    (alias outer 1 $date (type $date')) (export "datetime" (type $datetime (eq $date')))
    (type $nt' (variant (case "no-change") (case "now") (case "timestamp" $datetime)))
    (export "new-timestamp" (type $nt (eq $nt')))
    (export "[method]descriptor.open-at" (func (param "self" (borrow $d)) (param "path-flags" $pf) (param "path" string)
      (param "open-flags" $of) (param "flags" $df) (result (result (own $d) (error $ec)))))
    (export "[method]descriptor.symlink-at" (func (param "self" (borrow $d)) (param "old-path" string)
      (param "new-path" string) (result (result (error $ec)))))
    (export "[method]descriptor.link-at" (func (param "self" (borrow $d)) (param "old-path-flags" $pf) (param "old-path" string)
      (param "new-descriptor" (borrow $d)) (param "new-path" string) (result (result (error $ec)))))
    (export "[method]descriptor.rename-at" (func (param "self" (borrow $d)) (param "old-path" string)
      (param "new-descriptor" (borrow $d)) (param "new-path" string) (result (result (error $ec)))))
    (export "[method]descriptor.unlink-file-at" (func (param "self" (borrow $d)) (param "path" string)
      (result (result (error $ec)))))
    (export "[method]descriptor.create-directory-at" (func (param "self" (borrow $d)) (param "path" string)
      (result (result (error $ec)))))
    (export "[method]descriptor.remove-directory-at" (func (param "self" (borrow $d)) (param "path" string)
      (result (result (error $ec)))))
    (export "[method]descriptor.set-times-at" (func (param "self" (borrow $d)) (param "path-flags" $pf) (param "path" string)
      (param "data-access-timestamp" $nt) (param "data-modification-timestamp" $nt) (result (result (error $ec)))))
    (export "[method]descriptor.read" (func (param "self" (borrow $d)) (param "length" u64) (param "offset" u64)
      (result (result (tuple (list u8) bool) (error $ec)))))
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
  (core func $symlink' (canon lower (func $fs "[method]descriptor.symlink-at") (memory $memory) (realloc $realloc)))
  (core func $link' (canon lower (func $fs "[method]descriptor.link-at") (memory $memory) (realloc $realloc)))
  (core func $rename' (canon lower (func $fs "[method]descriptor.rename-at") (memory $memory) (realloc $realloc)))
  (core func $unlink' (canon lower (func $fs "[method]descriptor.unlink-file-at") (memory $memory) (realloc $realloc)))
  (core func $mkdir' (canon lower (func $fs "[method]descriptor.create-directory-at") (memory $memory) (realloc $realloc)))
  (core func $rmdir' (canon lower (func $fs "[method]descriptor.remove-directory-at") (memory $memory) (realloc $realloc)))
  (core func $times' (canon lower (func $fs "[method]descriptor.set-times-at") (memory $memory) (realloc $realloc)))
  (core func $read' (canon lower (func $fs "[method]descriptor.read") (memory $memory) (realloc $realloc)))
  (core func $write' (canon lower (func $fs "[method]descriptor.write") (memory $memory) (realloc $realloc)))
  (core instance $host (export "fetch" (func $fetch')) (export "dirs" (func $dirs')) (export "open" (func $open'))
    (export "symlink" (func $symlink')) (export "link" (func $link')) (export "rename" (func $rename'))
    (export "unlink" (func $unlink')) (export "mkdir" (func $mkdir')) (export "rmdir" (func $rmdir'))
    (export "times" (func $times')) (export "read" (func $read')) (export "write" (func $write')))
"#;

const CORE_IMPORTS: &str = r#"
    (import "host" "fetch" (func $fetch (param i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "dirs" (func $dirs (param i32)))
    (import "host" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "symlink" (func $symlink (param i32 i32 i32 i32 i32 i32)))
    (import "host" "link" (func $link (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "rename" (func $rename (param i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "unlink" (func $unlink (param i32 i32 i32 i32)))
    (import "host" "mkdir" (func $mkdir (param i32 i32 i32 i32)))
    (import "host" "rmdir" (func $rmdir (param i32 i32 i32 i32)))
    (import "host" "times" (func $times (param i32 i32 i32 i32 i32 i64 i32 i32 i64 i32 i32)))
    (import "host" "read" (func $read (param i32 i64 i64 i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i64 i32)))
"#;

/// What is done with one path or with two, which a blank line divides in what it is told.
const DOING: &str = r#"
    (data (i32.const 3000) "writtenGETPOSTlink")
    (func $no (result i32)
      (i32.store8 (i32.const 3100) (i32.add (i32.const 48) (i32.load8_u (i32.const 3224))))
      (call $answer (i32.const 1) (i32.const 3100) (i32.const 1)))
    (func $root (result i32)
      (call $dirs (i32.const 3200))
      (if (i32.eqz (i32.load (i32.const 3204))) (then (unreachable)))
      (i32.load (i32.load (i32.const 3200))))
    (func $done (result i32)
      (if (i32.load8_u (i32.const 3220)) (then (return (call $no))))
      (call $answer (i32.const 0) (i32.const 3000) (i32.const 7)))
    (func $opened (param $path i32) (param $length i32) (param $how i32) (param $flags i32) (result i32)
      (call $open (call $root) (i32.const 1) (local.get $path) (local.get $length) (local.get $how) (local.get $flags)
        (i32.const 3220))
      (if (i32.load8_u (i32.const 3220)) (then (return (i32.const -1))))
      (i32.load (i32.const 3224)))
    (func $save (param $path i32) (param $length i32) (result i32)
      (local $file i32)
      (local.set $file (call $opened (local.get $path) (local.get $length) (i32.const 9) (i32.const 2)))
      (if (i32.eq (local.get $file) (i32.const -1)) (then (return (call $no))))
      (call $write (local.get $file) (i32.const 3000) (i32.const 7) (i64.const 0) (i32.const 3240))
      (call $answer (i32.const 0) (i32.const 3000) (i32.const 7)))
    (func $show (param $path i32) (param $length i32) (result i32)
      (local $file i32)
      (local.set $file (call $opened (local.get $path) (local.get $length) (i32.const 0) (i32.const 1)))
      (if (i32.eq (local.get $file) (i32.const -1)) (then (return (call $no))))
      (call $read (local.get $file) (i64.const 1000) (i64.const 0) (i32.const 3240))
      (if (i32.load8_u (i32.const 3240)) (then (unreachable)))
      (call $answer (i32.const 0) (i32.load (i32.const 3244)) (i32.load (i32.const 3248))))
    (func $ask (param $method i32) (param $method_length i32) (param $ptr i32) (param $len i32) (result i32)
      (call $fetch (local.get $method) (local.get $method_length) (local.get $ptr) (local.get $len)
        (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 3300))
      (if (result i32) (i32.load8_u (i32.const 3300))
        (then (call $answer (i32.const 1) (i32.load (i32.const 3308)) (i32.load (i32.const 3312))))
        (else (call $answer (i32.const 0) (i32.load (i32.const 3316)) (i32.load (i32.const 3320))))))
"#;

/// A component that asks and reaches, and does this; of a text that it is `given` it finds the length as `$given`.
pub(super) fn reaching(run: &'static str) -> Wat {
    Wat {
        imports: IMPORTS,
        with: WITH,
        core_imports: CORE_IMPORTS,
        core: DOING,
        about: ComponentAbout { name: "reach", contract: 1, capabilities: Vec::new() },
        ..Wat::running(run)
    }
}
