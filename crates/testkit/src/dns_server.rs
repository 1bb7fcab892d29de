//! A name server over UDP (RFC 1035) that changes its mind.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// One record of an answer; all live for no time at all.
#[derive(Debug, Clone)]
pub enum Record {
    /// An address of either version.
    Address(IpAddr),
    /// Another name for it.
    Alias(&'static str),
}

/// What the server says to a name: the answer for the first time it is asked for, the second, ...; the last one stays.
pub type DnsZone = Vec<(&'static str, Vec<Vec<Record>>)>;

/// The server; gone when dropped.
#[derive(Debug)]
pub struct DnsServer {
    asked: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

const TYPE_A: u16 = 1;
const TYPE_CNAME: u16 = 5;
const TYPE_AAAA: u16 = 28;

impl DnsServer {
    /// Answers on a socket.
    #[must_use]
    pub fn start(socket: UdpSocket, zone: DnsZone) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let all = asked.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut packet = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut packet).await {
                if let Some(answer) = answer(&packet[..length], &zone, &all) {
                    drop(socket.send_to(&answer, from).await);
                }
            }
        });
        Self { asked, _tasks: tasks }
    }

    /// Returns how often addresses of the fourth version were asked for.
    #[must_use]
    pub fn asked(&self, name: &str) -> usize {
        all(&self.asked).iter().filter(|asked| *asked == name).count()
    }
}

fn all(asked: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a question with one name and writes the answer to it.
fn answer(packet: &[u8], zone: &DnsZone, asked: &Mutex<Vec<String>>) -> Option<Vec<u8>> {
    let question = packet.get(12..)?;
    let end = question.iter().position(|byte| *byte == 0)?;
    let (mut labels, mut rest) = (Vec::new(), &question[..end]);
    while let [length, tail @ ..] = rest {
        let (label, behind) = tail.split_at_checked(usize::from(*length))?;
        labels.push(String::from_utf8_lossy(label).to_lowercase());
        rest = behind;
    }
    let name = labels.join(".");
    let kind = u16::from_be_bytes([*question.get(end + 1)?, *question.get(end + 2)?]);
    let times = {
        let mut asked = all(asked);
        if kind == TYPE_A {
            asked.push(name.clone());
        }
        asked.iter().filter(|earlier| **earlier == name).count().max(1)
    };
    let known = zone.iter().find(|(known, _)| *known == name);
    let records = known.map_or(&[][..], |(_, answers)| &answers[times.min(answers.len()) - 1]);
    let (mut body, mut count, mut owner) = (Vec::new(), 0_u16, encoded(&name));
    for record in records {
        let (record_kind, data) = match record {
            Record::Alias(alias) => (TYPE_CNAME, encoded(alias)),
            Record::Address(IpAddr::V4(address)) => (TYPE_A, address.octets().to_vec()),
            Record::Address(IpAddr::V6(address)) => (TYPE_AAAA, address.octets().to_vec()),
        };
        if record_kind != TYPE_CNAME && record_kind != kind {
            continue;
        }
        body.extend_from_slice(&owner);
        body.extend_from_slice(&record_kind.to_be_bytes());
        body.extend_from_slice(&[0, 1, 0, 0, 0, 0]);
        body.extend_from_slice(&u16::try_from(data.len()).ok()?.to_be_bytes());
        body.extend_from_slice(&data);
        count += 1;
        if record_kind == TYPE_CNAME {
            owner = data;
        }
    }
    let refused = if known.is_some() { 0 } else { 3 };
    let mut answer = packet[..2].to_vec();
    answer.extend_from_slice(&[0x85, 0x80 | refused, 0, 1]);
    answer.extend_from_slice(&count.to_be_bytes());
    answer.extend_from_slice(&[0, 0, 0, 0]);
    answer.extend_from_slice(&question[..end + 5]);
    answer.extend_from_slice(&body);
    Some(answer)
}

fn encoded(name: &str) -> Vec<u8> {
    let labels = name
        .split('.')
        .flat_map(|label| std::iter::once(u8::try_from(label.len()).unwrap_or(63)).chain(label.bytes()));
    labels.chain([0]).collect()
}
