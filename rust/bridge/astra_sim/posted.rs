//! The messages that ranks send, for the results folder's connection matrix and the load of a run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};

use evenkeel_engine::ids::HostId;
use evenkeel_engine::ranks::{Request, Transfer};
use evenkeel_engine::units::{Bytes, Time};
use evenkeel_engine::workload::{Message, Workload};
use evenkeel_formats::connection_matrix::Connections;

/// The messages that ranks have sent through the network.
#[derive(Debug)]
pub(super) struct Posted {
    hosts: u32,
    /// Bytes by pair of hosts.
    load: BTreeMap<[HostId; 2], Bytes>,
    messages: u64,
    lines: Option<Lines>,
}

/// The lines of a connection matrix, in the order of the messages.
#[derive(Debug)]
struct Lines {
    connections: Connections,
    to: BufWriter<File>,
    /// The first write error; after it nothing more is written, but the run continues.
    written: io::Result<()>,
}

impl Posted {
    /// Starts with no messages. If there is a `file`, lines of a connection matrix go into it.
    pub(super) fn begin(hosts: u32, file: Option<File>) -> Self {
        let lines = file.map(|file| Lines {
            connections: Connections::default(),
            to: BufWriter::new(file),
            written: Ok(()),
        });
        Self { hosts, load: BTreeMap::new(), messages: 0, lines }
    }

    /// Records the message of a request made at `now`, if the request is a valid send.
    pub(super) fn take(&mut self, now: Time, request: &Request) {
        let &Request::Send(Transfer { rank, peer, bytes, .. }) = request else { return };
        let Ok(peer) = u32::try_from(peer) else { return };
        // Empty messages, and messages of a rank to itself, complete without the network.
        let crosses_network = bytes > 0 && peer != rank;
        let is_valid = peer < self.hosts && i64::try_from(bytes).is_ok();
        if !crosses_network || !is_valid {
            return;
        }
        let (pair, bytes) = ([rank, peer].map(HostId), Bytes::new(bytes));
        let load = self.load.entry(pair).or_default();
        *load = Bytes::new(load.get().saturating_add(bytes.get()));
        self.messages += 1;
        if let Some(Lines { connections, to, written: written @ Ok(()) }) = &mut self.lines {
            let begins = format!("start {}", now.as_ps());
            *written = writeln!(to, "{}", connections.line(pair, 0, &begins, bytes));
        }
    }

    pub(super) fn messages(&self) -> u64 {
        self.messages
    }

    /// Returns one message per pair of hosts, with all bytes of the pair.
    pub(super) fn load(&self) -> Workload {
        let message = |(&[src, dst], &bytes): (&[HostId; 2], &Bytes)| Message {
            src,
            dst,
            bytes,
            stream: 0,
            start: Time::ZERO,
        };
        Workload::independent(self.load.iter().map(message).collect())
    }

    /// Flushes and returns the file of the lines, if there is one.
    pub(super) fn end(self) -> io::Result<Option<File>> {
        let Some(Lines { to, written, .. }) = self.lines else { return Ok(None) };
        written?;
        to.into_inner().map(Some).map_err(io::IntoInnerError::into_error)
    }
}
