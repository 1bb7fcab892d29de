//! Writes components: a core module with the canonical ABI by hand, and the world around it.
//!
//! Owns the text form and nothing of an engine, so that whoever is handed the bytes may be honest or careless. Begin at
//! [`Wat`].

/// A component whose `run` has this body; it may use the locals `$ptr` and `$len` and `call $answer`, and further
/// core items and imports.
#[derive(Debug, Clone, Default)]
pub struct Wat {
    /// Imports of the component and their lowerings, outside of the core module.
    pub imports: &'static str,
    /// What the core module imports.
    pub core_imports: &'static str,
    /// What the core instance is given.
    pub with: &'static str,
    /// Further items of the core module.
    pub core: &'static str,
    /// The body of `run`: leaves a pointer to the answer.
    pub run: &'static str,
    /// What `describe` does before it answers.
    pub describe: &'static str,
    /// What it says of itself, where that is not what [`ComponentAbout::default`] says.
    pub about: ComponentAbout,
    /// A text at 1024 of its memory, and its length as the global `$given`.
    pub given: String,
}

/// What a component says of itself.
#[derive(Debug, Clone)]
pub struct ComponentAbout {
    /// The name of its tool.
    pub name: &'static str,
    /// pure, keyed, probe, opaque.
    pub contract: u8,
    /// read-files, write-files, http, secret, key-value; with a name for the third and fourth.
    pub capabilities: Vec<(u8, String)>,
}

impl Default for ComponentAbout {
    fn default() -> Self {
        Self { name: "echo", contract: 0, capabilities: vec![(4, String::new())] }
    }
}

impl ComponentAbout {
    /// Returns data segments: the description at 2048, and what it points to.
    fn data(&self) -> String {
        let texts = [self.name, "says what it is told", r#"{"type":"object"}"#];
        let mut at = 2304;
        let mut place = |text: &str| {
            let placed = (at, text.len());
            at += text.len();
            placed
        };
        let escaped = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\{byte:02x}")).collect::<String>();
        let mut described = Vec::new();
        let mut data = String::new();
        let mut list = Vec::new();
        let add = |number: usize, to: &mut Vec<u8>| {
            to.extend_from_slice(&u32::try_from(number).expect("small").to_le_bytes());
        };
        for text in texts {
            let (at, length) = place(text);
            add(at, &mut described);
            add(length, &mut described);
            data += &format!("(data (i32.const {at}) \"{}\")", escaped(text.as_bytes()));
        }
        described.extend_from_slice(&[self.contract, 0, 0, 0]);
        add(2112, &mut described);
        add(self.capabilities.len(), &mut described);
        for (case, name) in &self.capabilities {
            let (at, length) = place(name);
            list.extend_from_slice(&[*case, 0, 0, 0]);
            add(at, &mut list);
            add(length, &mut list);
            data += &format!("(data (i32.const {at}) \"{}\")", escaped(name.as_bytes()));
        }
        data + &format!(
            "(data (i32.const 2048) \"{}\") (data (i32.const 2112) \"{}\")",
            escaped(&described),
            escaped(&list)
        )
    }
}

/// A body of `run` that answers what it is told.
pub const ECHO: &str = "(call $answer (i32.const 0) (local.get $ptr) (local.get $len))";

impl Wat {
    /// Writes a component whose `run` has this body.
    #[must_use]
    pub fn running(run: &'static str) -> Self {
        Self { run, ..Self::default() }
    }

    /// Returns its bytes.
    ///
    /// # Panics
    /// When what was written is no text form.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        binary(&self.text())
    }

    /// Returns its text form.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { imports, core_imports, with, core, run, describe, about, given } = self;
        let (about, length) = (about.data(), given.len());
        let text: String = given.bytes().map(|byte| format!("\\{byte:02x}")).collect();
        format!(
            r#"(component
  {imports}
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
  {with}
  (core module $m
    (import "mem" "memory" (memory 1))
    {core_imports}
    {about}
    (data (i32.const 1024) "{text}")
    (global $given i32 (i32.const {length}))
    (func $answer (param $failed i32) (param $at i32) (param $length i32) (result i32)
      (i32.store8 (i32.const 300) (local.get $failed))
      (i32.store (i32.const 304) (local.get $at))
      (i32.store (i32.const 308) (local.get $length))
      (i32.const 300))
    {core}
    (func (export "describe") (result i32) {describe} (i32.const 2048))
    (func (export "run") (param $ptr i32) (param $len i32) (result i32) {run}))
  (core instance $i (instantiate $m (with "mem" (instance $mem)) {host}))
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
    (canon lift (core func $run) (memory $memory) (realloc $realloc))))"#,
            host = if core_imports.is_empty() { "" } else { r#"(with "host" (instance $host))"# },
        )
    }
}

/// Returns the bytes of a text form.
///
/// # Panics
/// When it is none.
#[must_use]
pub fn binary(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}"))
}
