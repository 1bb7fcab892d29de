#!/usr/bin/env python3
"""Verifies a Palyra journal: docs/journal-format.md, read a third time, in plain Python.

Needs only the standard library, and `cryptography` for Ed25519 (and AES-GCM, with --keys). Usage:
  verify.py --db FILE [--key VKEY] [--since CHECKPOINT] [--keys STATE_DIR]
  verify.py --batch     one JSON object a line on standard input, {"db", "key", "since", "keys"}
An exit code of 18 means that nothing contradicts, but sealed payloads were not checked: give --keys.
Prints the exit code, the first bad seq (or -) and what is wrong; exits with that code.
"""
import argparse, base64, hashlib, hmac, json, os, re, shutil, sqlite3, struct, sys, tempfile, urllib.parse
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

TABLES = {"entry": "seq envelope run_id tape_seq kind", "payload": "seq key_id sealed", "chunk": "seq n sealed",
          "static": "hash body"}
PROOFS = {"tile": "level index hashes", "frontier": "id size hashes", "checkpoint": "size note"}
KEYS = {"seq", "hash", "level", "id", "size"}
FILES = {0x40: 5, 0x41: 2}
CALLS = (0x60, 0x61, 0x62, 0x63, 0x65, 0x67, 0x68)


class Bad(Exception):
    pass


def sha(*parts): return hashlib.sha256(b"".join(parts)).digest()
def node(left, right): return sha(b"\1", left, right)
def key_id(name, key): return sha(name.encode(), b"\n\1", key)[:4]


def fields(message):
    """Splits a protobuf message into (number, value)."""
    at, out = 0, []
    def varint():
        nonlocal at
        value = 0
        for shift in range(0, 64, 7):
            byte = message[at]; at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value & (2**64 - 1)
        raise Bad
    try:
        while at < len(message):
            tag = varint()
            value = varint() if tag & 7 in (0, 2) else None
            if tag & 7 in (1, 2, 5):
                length = {1: 8, 5: 4}.get(tag & 7, value)
                value = message[at:at + length]; at += length
                if len(value) < length: raise Bad
                if tag & 7 != 2: value = None
            elif tag & 7: raise Bad
            if not tag >> 3: raise Bad
            out.append((tag >> 3, value))
    except IndexError:
        raise Bad from None
    return out


def one(message, number, kind, default=None):
    found = [v for n, v in message if n == number and isinstance(v, kind)]
    return found[-1] if found else default


def sized(message, number, size):
    value = one(message, number, bytes, b"")
    if len(value) != size: raise Bad
    return value


def zeroed(message, number, size):
    value = one(message, number, bytes)
    if value is not None and len(value) != size: raise Bad
    return bytes(size) if value is None else value


def small(message, number, default=0):
    value = one(message, number, int, default)
    if value is not None and value >= 2**32: raise Bad
    return value


def facts(raw):
    message = fields(raw)
    if not one(message, 1, int, 0): raise Bad
    return message


def erased(raw, seq):
    message, ranges = facts(raw), []
    sized(message, 2, 16)
    for n, v in message:
        if n == 4 and isinstance(v, bytes):
            first, last = one(fields(v), 1, int, 0), one(fields(v), 2, int, 0)
            if not first <= last < seq: raise Bad
            ranges.append((first, last))
    return ranges


def parse_note(text):
    m = re.fullmatch(r"(palyra\.log/[0-9a-f]{32})\n(0|[1-9][0-9]*)\n([A-Za-z0-9+/=]{44})\n\n((?:— [^ \n]+ [^ \n]+\n)+)", text)
    if not m or len(text.encode()) > 65536: raise Bad
    try:
        root = base64.b64decode(m[3], validate=True)
        lines = [(n, base64.b64decode(b, validate=True)) for n, b in re.findall(r"— ([^ \n]+) ([^ \n]+)\n", m[4])]
    except ValueError:
        raise Bad from None
    canonical = all(base64.b64encode(b).decode() in m[4] for _, b in lines) and base64.b64encode(root).decode() == m[3]
    if not canonical or len(root) != 32 or len(lines) > 16 or int(m[2]) >= 2**64: raise Bad
    if any(n == m[1] and len(b) != 68 for n, b in lines): raise Bad
    return m[1], int(m[2]), root, text.split("\n\n")[0].encode() + b"\n", lines


class Verifier:
    def __init__(self, db, key=None, since=None, keys=None):
        self.faults, self.key, self.since = [], key, since and parse_note(since)
        # A state directory without keys.db: nothing was ever sealed, so no key fits.
        self.keys = keys and ("none" if os.path.isdir(keys) and not os.path.lexists(os.path.join(keys, "keys.db"))
                              else (self.open(os.path.join(keys, "keys.db")), AESGCM(bytes.fromhex(
                                  open(os.path.join(keys, "keys/root.key")).read().strip()))))
        self.sealing, self.unchecked = 0, 0
        self.log, self.olds, self.newest, self.copy = None, [], None, None
        self.runs, self.grants = {}, {}
        try:
            self.db = self.open(db)
            self.schema()
            self.walk()
        except (sqlite3.Error, Bad, OSError, OverflowError) as error:
            self.fault(None if not self.faults else 2**63, 16, f"unreadable: {error}")

    def fault(self, seq, code, what):
        self.faults.append((seq is None, seq or 0, code, what))

    def result(self):
        if not self.faults and self.unchecked: return 18, None, f"{self.unchecked} sealed payloads were not checked"
        if not self.faults: return 0, None, "ok"
        beside, seq, code, what = min(self.faults)
        return code, None if beside else seq, what

    def open(self, path):
        path = os.path.realpath(path)
        size = lambda end: os.path.getsize(path + end) if os.path.isfile(path + end) else None
        if not os.path.isfile(path) or size("-journal"): raise Bad("no such database")
        how = "mode=ro&immutable=1"
        if size("-wal") is not None and size("-shm") is not None: how = "mode=ro&readonly_shm=1"
        elif size("-wal"):
            folder = tempfile.mkdtemp(prefix="palyra-verify-")
            self.copy = folder
            for end in ("", "-wal"): shutil.copyfile(path + end, os.path.join(folder, "journal.db" + end))
            path, how = os.path.join(folder, "journal.db"), "mode=ro"
        db = sqlite3.connect(f"file:{urllib.parse.quote(path)}?{how}", uri=True, isolation_level=None)
        if hasattr(db, "setlimit"): db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 16 << 20)
        db.executescript("PRAGMA trusted_schema=OFF; PRAGMA query_only=ON; PRAGMA cell_size_check=ON; BEGIN;")
        return db

    def schema(self):
        pragma = lambda name: self.db.execute(f"PRAGMA {name}").fetchone()[0]
        self.format = pragma("user_version")
        if pragma("application_id") != 0x504C594A or self.format not in (1, 2) or pragma("encoding") != "UTF-8":
            raise Bad("not a journal")
        there = {r[0] for r in self.db.execute("SELECT name FROM sqlite_schema WHERE type='table' AND rootpage > 1")}
        if self.format == 1 and there & set(PROOFS): raise Bad("format 1 with proofs")
        for table, columns in {**TABLES, **(PROOFS if self.format > 1 else {})}.items():
            found = [(r[1], r[5], r[6]) for r in self.db.execute(f"PRAGMA table_xinfo({table})")]
            second = {"chunk": "n", "tile": "index"}.get(table)
            if table not in there or found != [(c, 1 if i == 0 else 2 if c == second else 0, 0)
                                               for i, c in enumerate(columns.split())]: raise Bad(f"table {table}")

    def rows(self, sql, kinds):
        last = None
        for row in self.db.execute(sql):
            if any(not isinstance(v, k) for v, k in zip(row, kinds)) or last is not None and row[:1] < last: raise Bad("row")
            last = row[:1]
            yield row

    def walk(self):
        ranges, self.tree, self.size, self.levels, self.known = [], [], 0, [], {}
        for seq, envelope in self.db.execute("SELECT seq, envelope FROM entry ORDER BY seq"):
            if isinstance(envelope, bytes) and envelope[2:4] == b"\0\3":
                try: ranges += erased(envelope[162:], seq)
                except Bad: pass
        self.ranges = sorted(ranges)
        self.payloads = {r[0]: r[1:] for r in self.rows("SELECT seq, key_id, sealed FROM payload ORDER BY seq", (int, int, bytes))}
        self.chunks = {}
        for seq, n in self.rows("SELECT seq, n FROM chunk ORDER BY seq, n", (int, int)):
            self.chunks.setdefault(seq, []).append(n)
        if any(s < 0 for s in (*self.payloads, *self.chunks)): raise Bad("negative")
        self.notes = {}
        if self.format > 1:
            self.notes = dict(self.rows("SELECT size, note FROM checkpoint ORDER BY size", (int, str)))
            self.tiles = {(l, i): h for l, i, h in self.rows('SELECT level, "index", hashes FROM tile ORDER BY level, "index"', (int, int, bytes))}
        tapes, last, doubt, whole, seq = {}, None, None, True, 0
        self.since_root = None
        for row_seq, e, run, tape, kind in self.db.execute("SELECT seq, envelope, run_id, tape_seq, kind FROM entry ORDER BY seq"):
            if row_seq != seq:
                self.fault(seq, 10 if isinstance(row_seq, int) and row_seq > seq else 16, "entry missing"); whole = False; break
            if not isinstance(e, bytes) or not 162 <= len(e) <= 4096 or not isinstance(kind, int):
                self.fault(seq, 16, "envelope"); whole = False; break
            version, flags, e_kind, epoch, e_seq, time = struct.unpack(">BBHIQq", e[:24])
            log_id, e_run, e_tape, prev, commitment = e[24:40], e[72:88], struct.unpack(">I", e[88:92])[0], e[96:128], e[128:160]
            here, paid, running = e[162:], flags & 1, any(e_run)
            if last is None and any(prev): self.fault(0, 10, "prev")
            if last is not None:
                if doubt: self.fault(doubt[0] if prev == last else seq - 1, 10, "chain"); doubt = None
                if prev != last: doubt = (seq - 1, prev, list(self.tree), self.size)
                self.settle(last)
            last = sha(b"\0", e)
            if (e_seq, e_kind, e_run if running else None, e_tape or None) != (seq, kind, run, tape):
                self.fault(seq, 10, "columns")
            if version != 1 or flags > 3 or not epoch or running != bool(e_tape) or bool(paid) != any(commitment) \
                    or struct.unpack(">H", e[160:162])[0] != len(here) or e_kind < 16 and paid:
                self.fault(seq, 16, "rule")
            if e_kind == 3:
                try: erased(here, seq)
                except Bad: self.fault(seq, 16, "erasure")
            if running:
                if e_tape != tapes.get(e_run, 0) + 1: self.fault(seq, 16, "tape")
                tapes[e_run] = e_tape
            if e_seq == seq:
                self.lineage(seq, e_kind, epoch, log_id, running, here)
                self.content(seq, e_kind, paid, commitment, log_id)
                if e_kind == 0x44 and running: self.runs.pop(e_run, None)
                if e_kind in (CALLS if running else (0x70,)):
                    try: self.call(e_kind, e_run, seq, facts(here))
                    except Bad: pass
            seq += 1
        if whole: self.end(seq, last, doubt)
        else:
            if doubt: self.fault(doubt[0], 10, "chain")
            if last is not None: self.settle(last)
        for digest, body in self.db.execute("SELECT hash, CAST(body AS BLOB) FROM static NOT INDEXED"):
            if sha(body) != digest: self.fault(None, 10, "static")
        for table, pair in (("entry", "run_id, tape_seq"), ("chunk", "seq, n"), ("tile", 'level, "index"'))[:2 if self.format == 1 else 3]:
            index = self.db.execute(f"SELECT name FROM pragma_index_list('{table}') WHERE \"unique\" AND name GLOB 'sqlite_auto*'").fetchone()
            if table == "tile" and self.db.execute("SELECT wr FROM pragma_table_list WHERE name = 'tile'").fetchone()[0]: continue
            if not index: raise Bad("index")
            one, two = (sorted(self.db.execute(f"SELECT rowid, {pair} FROM {table} {how}"), key=lambda r: r[0])
                        for how in (f'INDEXED BY "{index[0]}" ORDER BY {pair}', "NOT INDEXED"))
            if one != two and (whole or table != "entry"): self.fault(None, 16, "index")

    def push(self, tree, size, leaf):
        while size & 1: leaf = node(tree.pop(), leaf); size >>= 1
        tree.append(leaf)

    def root(self):
        root = None
        for left in reversed(self.tree): root = left if root is None else node(left, root)
        return root or sha(b"")

    def settle(self, leaf):
        self.push(self.tree, self.size, leaf); self.size += 1
        level, hash_ = 0, leaf
        while hash_ is not None and self.format > 1:
            if level == len(self.levels): self.levels.append([0, []])
            index, hashes = self.levels[level]
            hashes.append(hash_); hash_ = None
            if len(hashes) == 256:
                stored, made, below = self.tiles.get((level, index)), b"".join(hashes), 256 ** level
                if stored != made:
                    same = 0
                    while stored and stored[32*same:32*same+32] == hashes[same]: same += 1
                    at = 255 if stored is None else min(same, 255)
                    self.fault((index * 256 + at + 1) * below - 1, 10, "tile")
                tree = []
                for i, h in enumerate(hashes): self.push(tree, i, h)
                hash_ = tree[0]; self.levels[level] = [index + 1, []]
            level += 1
        if self.since and self.since[1] == self.size: self.since_root = self.root()
        for size in sorted(s for s in self.notes if s <= self.size):
            head = self.head(size, self.notes.pop(size))
            if head and size != self.size: self.fault(max(size - 1, 0), 16, "checkpoint")
            elif head and head != self.root(): self.fault(size - 1, 13, "forked")
            elif head: self.newest = (size, self.led)

    def lineage(self, seq, kind, epoch, log_id, running, here):
        bad = lambda what: self.fault(seq, 16, what)
        log = self.log
        try:
            if kind == 1 and log is None and seq == 0 or kind == 4 and log:
                f = facts(here); new_id, nonce, key = sized(f, 2, 16), sized(f, 3, 32), sized(f, 4, 32)
                if kind == 4: sized(f, 6, 32)
                made = [g for g in (1, 2) if sha(b"palyra/log/v%d\n" % g, key, nonce)[:16] == new_id]
                if kind == 4 and made != [2] or kind == 1 and (not made or epoch != 1): bad("log id")
                if kind == 4 and epoch <= log["epoch"]: bad("epoch")
                if kind == 4: self.missing(); self.olds.append(log["name"])
                self.log = log = {"id": new_id, "name": "palyra.log/" + new_id.hex(), "old": made == [1], "epochs": [],
                                  "first": key, "epoch": epoch, "run": None, "heads": 0, "stored": 0}
            elif kind in (1, 4): bad("opened")
            elif kind == 2 and log is not None:
                f = facts(here); number, key = one(f, 2, int, 0), sized(f, 3, 32)
                if number != epoch: bad("epoch")
                self.sealing = one(f, 4, int, 0)
                first = log["first"]; log["first"] = None
                if first is not None and first != key: bad("first key")
                if first is None and epoch <= log["epoch"]: bad("epoch")
                genuine = first is not None and epoch == log["epoch"]
                log["epochs"].append({"key": first if genuine else key, "vouched": genuine, "led": False}); log["epoch"] = epoch
            elif log is None or log["first"] is not None: bad("order")
        except Bad: bad("facts")
        if self.log is None: return
        if log_id != self.log["id"]: bad("another log")
        if epoch != self.log["epoch"]: bad("another epoch")
        if running and self.log["run"] is None: self.log["run"] = seq

    def missing(self):
        if self.log and self.log["run"] is not None and not self.log["stored"] and not self.log["old"]:
            self.fault(self.log["run"], 14, "no head")

    def head(self, size, text):
        """Returns the root of a checkpoint that holds."""
        at = max(size - 1, 0)
        if self.log: self.log["stored"] += 1
        try:
            name, noted, root, body, lines = parse_note(text)
            if noted != size: raise Bad
        except Bad: return self.fault(at, 16, "checkpoint")
        log = self.log
        if log is None: return None
        if name != log["name"] or any(n != name for n, _ in lines): return self.fault(at, 14, "name")
        signers, epochs = set(), log["epochs"]
        for _, blob in lines:
            good = [i for i, e in enumerate(epochs) if key_id(name, e["key"]) == blob[:4] and signed(e["key"], blob[4:], body)]
            if not good: return self.fault(at, 14, "signature")
            signers.add(good[-1])
        mine = lambda e: self.key == (name, e["key"])
        if log["old"] and not log["heads"]:
            led = any(mine(e) for e in epochs)
            for e in epochs: e["vouched"] = True; e["led"] = led
        vouched = led = False
        for i in sorted(signers):
            e = epochs[i]
            e["vouched"] = e["vouched"] or vouched
            if not e["vouched"]: return self.fault(at, 14, "nobody vouched")
            e["led"] = e["led"] or led or mine(e)
            vouched, led = True, led or e["led"]
        log["heads"] += 1
        self.led = epochs[max(signers)]["led"]
        return root

    def covered(self, seq): return any(first <= seq <= last for first, last in self.ranges)

    def content(self, seq, kind, paid, commitment, log_id):
        bad = lambda code, what: self.fault(seq, code, what)
        row, parts, gone = self.payloads.pop(seq, None), self.chunks.pop(seq, []), self.covered(seq)
        if row is None and paid and not gone: return bad(15, "payload missing")
        if row is None or gone or not paid: return bad(10, "content") if row or parts else None
        key = None
        if row[0] < 0: return bad(16, "key number")
        if row[0]:
            if self.sealing == 1: return bad(10, "sealed where nothing is")
            if not self.keys:
                self.unchecked += 1
                return None
            key = self.subject_key(row[0])
            if not key: return bad(10, "key")
        def plain(n, sealed):
            if not key: return sealed
            return key.decrypt(sealed[:12], sealed[12:], b"palyra/seal/v1\n" + log_id + struct.pack(">QQ", seq, n))
        try:
            salted, payload, files = plain(2**64 - 1, row[1]), [], {}
            for n in parts:
                if n < 0: raise Bad
                stored = self.db.execute("SELECT sealed FROM chunk WHERE seq=? AND n=?", (seq, n)).fetchone()[0]
                if not isinstance(stored, bytes): raise Bad
                stored = plain(n, stored)
                if n >> 20:
                    file = files.setdefault((n >> 20) - 1, [0, 0, hashlib.sha256()])
                    if n & 0xFFFFF != file[0]: return bad(10, "parts")
                    file[0] += 1; file[1] += len(stored); file[2].update(stored)
                else:
                    payload.append(stored)
                    if n != len(payload) or len(salted) > 32: return bad(10, "parts")
        except (InvalidTag, ValueError): return bad(10, "sealed")
        payload = salted[32:] + b"".join(payload)
        if len(salted) < 32 or hmac.new(salted[:32], b"palyra/payload/v1\n" + payload, "sha256").digest() != commitment:
            return bad(10, "commitment")
        try: named = [fields(v) for n, v in fields(payload) if n == FILES[kind] and isinstance(v, bytes)] if kind in FILES else []
        except Bad: return bad(16, "payload")
        named = {one(f, 6, int): (one(f, 3, int, 0), one(f, 4, bytes)) for f in named if one(f, 6, int) is not None}
        if any(i not in named for i in files): return bad(10, "file")
        for i, (size, digest) in named.items():
            if i not in files and size: return bad(15, "file missing")
            if i in files and (files[i][1], files[i][2].digest()) != (size, digest): return bad(10, "file")

    def call(self, kind, run, seq, f):
        """What tools did, against what was decided before: calls and approvals by run, grants of the whole log."""
        bad = lambda what: self.fault(seq, 17, what)
        calls, approvals = self.runs.setdefault(run, ({}, {}))
        call = lambda effect: calls.setdefault(effect, {"digest": bytes(32), "verdict": None, "grant": None, "started": None})
        approved = lambda i, effect: i in approvals and approvals[i]["yes"] and approvals[i]["effect"] == effect
        if kind == 0x60:
            effect, digest = small(f, 2), zeroed(f, 4, 32)
            if call(effect)["verdict"] is None: call(effect)["digest"] = digest
        elif kind == 0x61:
            effect, verdict, by = small(f, 2), one(f, 3, int, 0), one(f, 5, int, 0)
            who = zeroed(f, 16, 16) if by in (3, 4) else None
            if verdict == 1 and by == 4 and not approved(who, effect): bad("approval")
            if verdict == 1 and by == 3:
                grant = self.grants.get(who, [0, 0, True])
                if grant[2] or grant[1] is not None and grant[0] >= grant[1]: bad("grant")
                grant[0] += 1
            call(effect).update(verdict=verdict, grant=who if by == 3 else None)
        elif kind == 0x62:
            started = call(small(f, 2))
            if started["started"] is None: started["started"] = seq
            if started["verdict"] != 1: bad("not allowed")
        elif kind == 0x63:
            effect, raw = small(f, 2), one(f, 9, bytes)
            attested = None if raw is None else fields(raw)
            if attested is not None:
                digest, names = zeroed(attested, 2, 32), [one(attested, n, bytes) for n in (4, 5)]
                if any(n is not None and len(n) != 16 for n in names): raise Bad
            ended = calls.get(effect)
            if not ended or ended["started"] is None: return bad("not started")
            if attested is None: return
            if names[0] is not None:
                if not approved(names[0], effect) or approvals[names[0]]["at"] >= ended["started"]: return bad("approval")
            if names[1] is not None and names[1] != ended["grant"]: return bad("grant")
            if digest != ended["digest"]: bad("digest")
        elif kind == 0x65:
            effect, approval = small(f, 3), zeroed(f, 2, 16)
            if approval in approvals: return bad("asked twice")
            approvals[approval] = {"effect": effect, "at": None, "yes": False}
        elif kind == 0x67:
            effect, approval, edited = small(f, 3), zeroed(f, 2, 16), zeroed(f, 7, 32)
            asked = approvals.get(approval)
            if not asked or asked["at"] is not None or asked["effect"] != effect: return bad("decided")
            asked.update(at=seq, yes=one(f, 4, int, 0) == 2)
            if asked["yes"] and any(edited) and call(effect)["started"] is None: call(effect)["digest"] = edited
        elif kind == 0x68:
            grant, uses_max = zeroed(f, 2, 16), small(f, 8, None)
            if grant in self.grants: return bad("given twice")
            self.grants[grant] = [0, uses_max, False]
        elif kind == 0x70:
            grant = zeroed(f, 2, 16)
            if grant in self.grants: self.grants[grant][2] = True

    def subject_key(self, key_id):
        if self.keys == "none": return None
        db, root = self.keys
        row = db.execute("SELECT principal, wrapped FROM subject_key WHERE key_id=?", (key_id,)).fetchone()
        try: return row and AESGCM(root.decrypt(row[1][:12], row[1][12:], b"palyra/subject-key/v1\n" + struct.pack(">q", key_id) + row[0]))
        except (InvalidTag, ValueError, TypeError): return None

    def end(self, entries, last, doubt):
        stored = None
        if self.format > 1:
            found = self.db.execute("SELECT id, size, hashes FROM frontier").fetchall()
            if len(found) != 1 or found[0][0] != 0 or not isinstance(found[0][1], int) or found[0][1] < 0 \
                    or not isinstance(found[0][2], bytes) or len(found[0][2]) != 32 * bin(found[0][1]).count("1"):
                self.fault(None, 16, "frontier")
            else: stored = found[0][1:]
        if doubt:
            seq, named, tree, size = doubt
            self.push(tree, size, named); self.push(tree, size + 1, last)
            earlier = stored is None or stored[0] != entries or stored[1] == b"".join(tree)
            self.fault(seq if earlier else entries - 1, 10, "chain")
        if last is not None: self.settle(last)
        if stored and stored[0] > entries: self.fault(entries, 11, "frontier")
        elif stored and stored[0] < entries: self.fault(stored[0], 10, "frontier")
        elif stored and stored[1] != b"".join(self.tree): self.fault(entries - 1, 10, "frontier")
        if any(s >= entries for s in (*self.payloads, *self.chunks)): self.fault(entries, 11, "content")
        for size in sorted(self.notes):
            if self.head(size, self.notes[size]): self.fault(entries, 11, "head")
        if not entries: self.fault(0, 16, "no entry")
        if self.format > 1:
            for level, index in self.tiles:
                if level < 0 or index < 0 or level > 6: self.fault(None, 16, "tile")
                elif (index + 1) * 256 ** (level + 1) > entries: self.fault(entries, 11, "tile")
        elif self.log and not self.log["old"]: self.fault(0, 16, "format")
        self.missing()
        if self.key and not (self.newest and self.newest[1]):
            self.fault((self.newest[0] if self.newest else entries) - 1, 14, "key")
        if self.since and self.since[1] > entries: self.fault(entries, 12, "rolled back")
        elif self.since and (self.since_root != self.since[2] or self.since[0] not in [*self.olds, self.log and self.log["name"]]):
            self.fault(self.since[1] - 1, 13, "forked")


def signed(key, signature, body):
    try: Ed25519PublicKey.from_public_bytes(key).verify(signature, body); return True
    except (InvalidSignature, ValueError): return False


def verify(db, key=None, since=None, keys=None):
    if key:
        name, _, blob = key.split("+", 2)
        key = name, base64.b64decode(blob)[1:]
    verifier = Verifier(db, key, since, keys)
    if verifier.copy: shutil.rmtree(verifier.copy)
    return verifier.result()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--db"); p.add_argument("--key"); p.add_argument("--since"); p.add_argument("--keys")
    p.add_argument("--batch", action="store_true")
    a = p.parse_args()
    if a.batch:
        for line in sys.stdin: print(json.dumps(verify(**json.loads(line))), flush=True)
        return 0
    code, seq, what = verify(a.db, a.key, a.since and open(a.since, encoding="utf-8").read(), a.keys)
    print(code, "-" if seq is None else seq, what)
    return code


if __name__ == "__main__":
    sys.exit(main())
