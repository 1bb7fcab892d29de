//! A log in memory.
//!
//! Owns envelopes, chain, epochs and erasures. Begin at [`Log::open`].

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use super::{Chance, bytes_field, number_field};

pub(crate) const PART: usize = 65_536;
pub(crate) const FILE: u64 = 1 << 20;

/// An entry and what lies beside it, in the clear.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) envelope: Vec<u8>,
    pub(crate) payload: Option<Payload>,
}

/// What lies beside an entry.
#[derive(Debug, Clone)]
pub(crate) struct Payload {
    pub(crate) salt: [u8; 32],
    pub(crate) bytes: Vec<u8>,
    pub(crate) files: Vec<Vec<u8>>,
    /// Whether the bytes lie in chunks.
    pub(crate) in_chunks: bool,
    /// Zero: not sealed.
    pub(crate) key_id: i64,
}

/// What a new entry is to hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct New {
    pub(crate) kind: u16,
    pub(crate) run: [u8; 16],
    pub(crate) tape_seq: u32,
    pub(crate) facts: Vec<u8>,
    pub(crate) payload: Option<Vec<u8>>,
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) in_chunks: bool,
    pub(crate) key_id: i64,
}

/// A log that can be added to, broken and saved.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    pub(crate) chance: Chance,
    /// Whether the log began in format 1.
    pub(crate) early: bool,
    /// 1 or 2: what the file says.
    pub(crate) format: u32,
    pub(crate) entries: Vec<Entry>,
    pub(crate) log_id: [u8; 16],
    pub(crate) epoch: u32,
    /// Keys of the present log, with the seq of their EpochStarted; only the last of them is held by the daemon.
    pub(crate) keys: Vec<(u64, SigningKey)>,
    pub(crate) checkpoints: BTreeMap<u64, super::Signed>,
    pub(crate) erased: Vec<(u64, u64, u64)>,
    pub(crate) statics: Vec<String>,
    pub(crate) subject_keys: BTreeMap<i64, [u8; 32]>,
    /// What epochs say of their payloads: 0 nothing, 1 none is sealed, 2 they are sealed.
    pub(crate) sealing: u64,
}

pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

pub(crate) fn leaf(envelope: &[u8]) -> [u8; 32] {
    sha256(&[&[0], envelope])
}

impl Log {
    /// Begins a log, its id made as format `id_of` makes it.
    pub(crate) fn open(seed: u64, format: u32, id_of: u32) -> Self {
        Self::open_stating(seed, (format, id_of), 0)
    }

    /// Begins a log whose epochs say whether they seal.
    pub(crate) fn open_stating(seed: u64, (format, id_of): (u32, u32), sealing: u64) -> Self {
        let mut chance = Chance::new(seed);
        let statics = vec!["a catalogue of tools".repeat(5), format!("instructions {seed}")];
        let mut log = Self {
            early: id_of == 1,
            format,
            entries: Vec::new(),
            log_id: [0; 16],
            epoch: 1,
            keys: Vec::new(),
            checkpoints: BTreeMap::new(),
            erased: Vec::new(),
            statics,
            subject_keys: BTreeMap::new(),
            sealing,
            chance: chance.clone(),
        };
        let key = SigningKey::from_bytes(&chance.array());
        let domain: &[u8] = if id_of == 1 { b"palyra/log/v1\n" } else { b"palyra/log/v2\n" };
        let facts = log.new_id(domain, &key, &chance.array());
        log.append(New { kind: 1, facts, ..New::default() });
        log.start_epoch(key);
        log.chance = chance;
        log
    }

    fn new_id(&mut self, domain: &[u8], key: &SigningKey, nonce: &[u8; 32]) -> Vec<u8> {
        let public = key.verifying_key().to_bytes();
        self.log_id.copy_from_slice(&sha256(&[domain, &public, nonce])[..16]);
        let mut facts = Vec::new();
        number_field(&mut facts, 1, 1);
        bytes_field(&mut facts, 2, &self.log_id);
        bytes_field(&mut facts, 3, nonce);
        bytes_field(&mut facts, 4, &public);
        facts
    }

    fn start_epoch(&mut self, key: SigningKey) {
        let mut facts = Vec::new();
        number_field(&mut facts, 1, 1);
        number_field(&mut facts, 2, u64::from(self.epoch));
        bytes_field(&mut facts, 3, &key.verifying_key().to_bytes());
        if self.sealing > 0 {
            number_field(&mut facts, 4, self.sealing);
        }
        let seq = self.append(New { kind: 2, facts, ..New::default() });
        self.keys.push((seq, key));
    }

    /// Begins the next epoch, without a handover.
    pub(crate) fn next_epoch(&mut self) {
        let key = SigningKey::from_bytes(&self.chance.array());
        self.epoch += 1;
        self.start_epoch(key);
    }

    /// Goes on as another log.
    pub(crate) fn reopen(&mut self, reason: u64) {
        let key = SigningKey::from_bytes(&self.chance.array());
        let nonce = self.chance.array();
        let (size, root) = (self.entries.len() as u64, self.root(self.entries.len()));
        self.epoch += 1;
        self.keys.clear();
        let mut facts = self.new_id(b"palyra/log/v2\n", &key, &nonce);
        number_field(&mut facts, 5, size);
        bytes_field(&mut facts, 6, &root);
        number_field(&mut facts, 7, reason);
        self.append(New { kind: 4, facts, ..New::default() });
        self.start_epoch(key);
    }

    /// Erases ranges: the entry that says so, and the content that goes.
    pub(crate) fn erase(&mut self, ranges: &[(u64, u64)]) {
        let mut facts = Vec::new();
        number_field(&mut facts, 1, 1);
        bytes_field(&mut facts, 2, &self.chance.array::<16>());
        number_field(&mut facts, 3, 1);
        for (first, last) in ranges {
            let mut range = Vec::new();
            if *first > 0 {
                number_field(&mut range, 1, *first);
            }
            if *last > 0 {
                number_field(&mut range, 2, *last);
            }
            bytes_field(&mut facts, 4, &range);
        }
        let by = self.append(New { kind: 3, facts, ..New::default() });
        for &(first, last) in ranges {
            self.erased.push((first, last, by));
            for entry in &mut self.entries[first as usize..=last as usize] {
                entry.payload = None;
            }
        }
    }

    /// Appends an entry and returns its seq.
    pub(crate) fn append(&mut self, new: New) -> u64 {
        let seq = self.entries.len() as u64;
        let payload = new.payload.map(|bytes| Payload {
            salt: self.chance.array(),
            bytes,
            files: new.files,
            in_chunks: new.in_chunks,
            key_id: new.key_id,
        });
        let commitment = payload.as_ref().map_or([0; 32], Payload::commitment);
        let prev = self.entries.last().map_or([0; 32], |last| leaf(&last.envelope));
        let mut envelope = vec![1, u8::from(payload.is_some())];
        envelope.extend(new.kind.to_be_bytes());
        envelope.extend(self.epoch.to_be_bytes());
        envelope.extend(seq.to_be_bytes());
        envelope.extend((1_735_689_600_000_000 + seq as i64 * 1000).to_be_bytes());
        envelope.extend(self.log_id);
        envelope.extend([7; 32]);
        envelope.extend(new.run);
        envelope.extend(new.tape_seq.to_be_bytes());
        envelope.extend([0; 4]);
        envelope.extend(prev);
        envelope.extend(commitment);
        envelope.extend((new.facts.len() as u16).to_be_bytes());
        envelope.extend(new.facts);
        self.entries.push(Entry { envelope, payload });
        seq
    }

    /// Makes the chain right again from `seq` on, as somebody does who has changed that entry.
    pub(crate) fn rechain(&mut self, seq: u64) {
        for at in seq as usize + 1..self.entries.len() {
            let prev = leaf(&self.entries[at - 1].envelope);
            self.entries[at].envelope[96..128].copy_from_slice(&prev);
        }
    }

    /// Returns the root over the first entries: RFC 6962's own definition, by halves.
    pub(crate) fn root(&self, size: usize) -> [u8; 32] {
        let leaves: Vec<[u8; 32]> = self.entries[..size].iter().map(|entry| leaf(&entry.envelope)).collect();
        root(&leaves)
    }

    /// Returns the runs of which the newest checkpoint covers the beginning.
    pub(crate) fn runs(&self) -> Vec<[u8; 16]> {
        let size = self.newest().map_or(0, |(size, _)| size as usize);
        let starts = self.entries[..size].iter().filter(|entry| entry.envelope[2..4] == [0, 0x40]);
        starts.map(|entry| entry.envelope[72..88].try_into().expect("sixteen")).collect()
    }

    pub(crate) fn kind(&self, seq: u64) -> u16 {
        let envelope = &self.entries[seq as usize].envelope;
        u16::from_be_bytes([envelope[2], envelope[3]])
    }
}

impl Payload {
    fn commitment(&self) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.salt).expect("any length");
        mac.update(b"palyra/payload/v1\n");
        mac.update(&self.bytes);
        mac.finalize().into_bytes().into()
    }
}

impl Entry {
    /// Gives the entry another payload and the commitment to it.
    pub(crate) fn forge(&mut self, bytes: &[u8]) {
        if let Some(payload) = &mut self.payload {
            payload.bytes = bytes.to_vec();
            payload.files.clear();
            let commitment = payload.commitment();
            self.envelope[128..160].copy_from_slice(&commitment);
        }
    }
}

pub(crate) fn root(leaves: &[[u8; 32]]) -> [u8; 32] {
    match leaves {
        [] => sha256(&[]),
        [one] => *one,
        more => {
            let (left, right) = more.split_at(more.len().next_power_of_two() / 2);
            sha256(&[&[1], &root(left), &root(right)])
        }
    }
}
