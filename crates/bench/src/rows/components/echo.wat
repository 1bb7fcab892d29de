;; A tool that says what it is told: what is measured is the way in and out of it.
(component
  
  (core module $mem
    (memory (export "memory") 2)
    (global $next (mut i32) (i32.const 4096))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
      (global.set $next (i32.add (local.get $at) (local.get 3)))
      (local.get $at)))
  (core instance $mem (instantiate $mem))
  (alias core export $mem "memory" (core memory $memory))
  (alias core export $mem "realloc" (core func $realloc))
  
  (core module $m
    (import "mem" "memory" (memory 1))
    
    (data (i32.const 2304) "\65\63\68\6f\5f\62\61\63\6b")(data (i32.const 2313) "\73\61\79\73\20\77\68\61\74\20\69\74\20\69\73\20\74\6f\6c\64")(data (i32.const 2333) "\7b\22\74\79\70\65\22\3a\22\6f\62\6a\65\63\74\22\7d")(data (i32.const 2350) "")(data (i32.const 2048) "\00\09\00\00\09\00\00\00\09\09\00\00\14\00\00\00\1d\09\00\00\11\00\00\00\01\00\00\00\40\08\00\00\01\00\00\00") (data (i32.const 2112) "\04\00\00\00\2e\09\00\00\00\00\00\00")
    (data (i32.const 1024) "")
    (global $given i32 (i32.const 0))
    (func $answer (param $failed i32) (param $at i32) (param $length i32) (result i32)
      (i32.store8 (i32.const 300) (local.get $failed))
      (i32.store (i32.const 304) (local.get $at))
      (i32.store (i32.const 308) (local.get $length))
      (i32.const 300))
    
    (func (export "describe") (result i32) (i32.const 2048))
    (func (export "run") (param $ptr i32) (param $len i32) (result i32) (call $answer (i32.const 0) (local.get $ptr) (local.get $len))))
  (core instance $i (instantiate $m (with "mem" (instance $mem)) ))
  (alias core export $i "describe" (core func $describe))
  (alias core export $i "run" (core func $run))
  (type $contract' (enum "pure" "keyed" "probe" "opaque"))
  (type $capability' (variant (case "read-files") (case "write-files") (case "http" string) (case "secret" string) (case "key-value")))
  (type $description' (record (field "name" string) (field "description" string) (field "schema" string) (field "contract" $contract') (field "capabilities" (list $capability'))))
  (import "palyra:tool/description@1.0.0" (instance $d
    (type $c (enum "pure" "keyed" "probe" "opaque")) (export "contract" (type $contract (eq $c)))
    (type $v (variant (case "read-files") (case "write-files") (case "http" string) (case "secret" string) (case "key-value"))) (export "capability" (type $capability (eq $v)))
    (type $r (record (field "name" string) (field "description" string) (field "schema" string) (field "contract" $contract) (field "capabilities" (list $capability)))) (export "tool-description" (type (eq $r)))))
  (alias export $d "tool-description" (type $told))
  (import "tool-description" (type $description (eq $told)))
  (func (export "describe") (result $description) (canon lift (core func $describe) (memory $memory) (realloc $realloc)))
  (func (export "run") (param "arguments" string) (result (result string (error string)))
    (canon lift (core func $run) (memory $memory) (realloc $realloc))))