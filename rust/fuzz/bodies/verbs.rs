//! Two NICs under arbitrary sequences of verbs, packets (valid or not) and timeouts.
//!
//! Each verb returns its documented result. Each work request and each receive completes once or is
//! discarded with its queue pair. At the end, when all queue pairs are in Error, no posted work is
//! open and no NIC has data to send.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use evenkeel::ids::{HostId, QpId};
use evenkeel::nic::verbs::{LONGEST_MESSAGE, Opcode, Operation, VerbsError, WorkRequest};
use evenkeel::nic::{Nic, PortFacts, QpAttributes, QpState};
use evenkeel::packet::Packet;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::units::{BitRate, Bytes, Span, Time};

use super::input::Input;

const PORT: PortFacts =
    PortFacts { line_rate: BitRate::from_gbps(100), base_rtt: Span::from_us(5) };

/// Maximum number of queue pairs per NIC.
const MOST_QPS: u64 = 5;

/// One scenario for each recovery.
static SCENARIOS: LazyLock<Vec<Scenario>> = LazyLock::new(|| {
    let all = ["go-back-n", "sack", "per-packet", "erasure", "rod"].map(|recovery| {
        let text = format!(
            "[topology]\nleaves = 2\nspines = 1\nhosts_per_leaf = 1\n[transport]\n\
             payload = \"1000B\"\nretransmit_timeout = \"200us\"\nrecovery = \"{recovery}\"\n\
             congestion_control = \"line-rate\"\n[policy]\nname = \"ecmp\"\n"
        );
        Scenario::parse(&text, "fuzz", Path::new(""), &Overrides::default()).expect("it is sound")
    });
    all.into()
});

/// The expected state of a queue pair.
#[derive(Debug, Default)]
struct Owned {
    destroyed: bool,
    has_peer: bool,
    only_receives: bool,
    /// Posted work that has not completed, by id.
    sends: BTreeSet<u64>,
    receives: BTreeSet<u64>,
}

/// Two NICs, the packets between them, and the expected state of their queue pairs.
struct Rig {
    now: Time,
    coded: bool,
    nics: [Nic; 2],
    pipes: [VecDeque<Packet>; 2],
    owned: [Vec<Owned>; 2],
    names: u64,
}

/// The fuzz target.
pub fn verbs(data: &[u8]) {
    let mut input = Input::new(data);
    let mut rig = Rig::new(&mut input);
    while let Some(choice) = input.next() {
        rig.act(choice, &mut input);
    }
    rig.finish();
}

impl Rig {
    fn new(input: &mut Input) -> Self {
        let which = usize::from(input.byte()) % SCENARIOS.len();
        let mut config = SCENARIOS[which].nic.clone();
        let limits = input.byte();
        config.ack.every = u32::from(limits % 4 + 1);
        config.queue_pairs.rnr_timer = Span::from_us(50);
        config.queue_pairs.retries = (limits & 16 != 0).then_some(2);
        config.queue_pairs.rnr_retries = (limits & 32 != 0).then_some(2);
        config.queue_pairs.send_queue = if limits & 64 != 0 { 2 } else { 64 };
        config.queue_pairs.receive_queue = 3;
        let config = Arc::new(config);
        let mut rig = Self {
            now: Time::ZERO,
            coded: which == 3,
            nics: [0, 1].map(|host| Nic::new(HostId(host), PORT, Arc::clone(&config))),
            pipes: Default::default(),
            owned: Default::default(),
            names: 0,
        };
        // The first queue pair of each NIC is connected, so that short inputs reach data transfer.
        for side in [0, 1] {
            rig.create(side, 0);
            rig.set_peer(side, QpId(0), 0);
            for state in [QpState::Init, QpState::ReadyToReceive, QpState::ReadyToSend] {
                rig.modify(side, QpId(0), state);
            }
        }
        rig
    }

    fn act(&mut self, choice: u8, input: &mut Input) {
        let side = usize::from(choice >> 7);
        match choice % 16 {
            0 => self.nics[side].handle_packet(self.now, &input.packet()),
            1 => self.now += Span::from_ps(input.number() % (1 << 30)),
            2 => self.nics[side].handle_timeout(self.now),
            3 => self.transmit(side),
            4 => self.deliver(side),
            5 => drop(self.pipes[side].pop_front()),
            6 => {
                let copy = self.pipes[side].front().copied();
                self.pipes[side].extend(copy);
            }
            7 => self.create(side, input.byte()),
            8 => self.set_peer(side, qp(input), input.number() % (MOST_QPS + 1)),
            9 => self.modify(side, qp(input), QpState::ALL[usize::from(input.byte() % 7)]),
            10 => self.destroy(side, qp(input)),
            11 => self.post_receive(side, qp(input)),
            12 => self.exchange(),
            _ => self.post_send(side, qp(input), input),
        }
        self.poll_events();
    }

    fn create(&mut self, side: usize, kind: u8) {
        if self.owned[side].len() as u64 == MOST_QPS {
            return;
        }
        let [host, peer] = [side, 1 - side].map(|side| HostId(side as u32));
        let mut attributes = QpAttributes::single_path(host, peer);
        let only_receives = kind % 4 == 3;
        if only_receives {
            attributes.policy = None;
        }
        let made = self.nics[side].create_qp(attributes);
        assert_eq!(made, Ok(QpId(self.owned[side].len() as u32)));
        self.owned[side].push(Owned { only_receives, ..Owned::default() });
    }

    /// Returns the expected state of a queue pair, if it exists, after checking that the NIC
    /// agrees.
    fn known(&mut self, side: usize, qp: QpId) -> Result<(QpState, &mut Owned), VerbsError> {
        let state = self.nics[side].query_qp(qp);
        let found = self.owned[side].get_mut(qp.index()).filter(|it| !it.destroyed);
        assert_eq!(state.is_ok(), found.is_some(), "{qp}");
        let owned = found.ok_or(VerbsError::UnknownQp { qp })?;
        Ok((state?, owned))
    }

    fn set_peer(&mut self, side: usize, qp: QpId, peer: u64) {
        let expected = self.known(side, qp).and_then(|(state, owned)| {
            if state > QpState::Init {
                return Err(VerbsError::WrongState { qp, state, verb: "set_peer_qp" });
            }
            owned.has_peer = true;
            Ok(())
        });
        assert_eq!(self.nics[side].set_peer_qp(qp, QpId(peer as u32)), expected);
    }

    fn modify(&mut self, side: usize, qp: QpId, to: QpState) {
        let expected = self.known(side, qp).and_then(|(from, owned)| {
            if !from.can_transition_to(to) {
                return Err(VerbsError::InvalidTransition { qp, from, to });
            }
            match to {
                QpState::ReadyToReceive if !owned.has_peer => Err(VerbsError::NotConnected { qp }),
                QpState::ReadyToSend if owned.only_receives => Err(VerbsError::ReceiveOnly { qp }),
                QpState::Reset => {
                    owned.has_peer = false;
                    Ok(())
                }
                _ => Ok(()),
            }
        });
        // Completions from before the transition are still returned.
        self.poll_events();
        assert_eq!(self.nics[side].modify_qp(qp, to), expected, "{qp} to {to}");
        if expected.is_ok() && to == QpState::Reset {
            self.forget(side, qp);
        }
        if expected.is_ok() && !matches!(to, QpState::Error) {
            assert_eq!(self.nics[side].query_qp(qp), Ok(to));
        }
    }

    fn destroy(&mut self, side: usize, qp: QpId) {
        self.poll_events();
        let expected = self.known(side, qp).map(|_| ());
        assert_eq!(self.nics[side].destroy_qp(qp), expected);
        if expected.is_ok() {
            self.forget(side, qp);
            self.owned[side][qp.index()].destroyed = true;
        }
    }

    fn forget(&mut self, side: usize, qp: QpId) {
        let owned = &mut self.owned[side][qp.index()];
        owned.sends.clear();
        owned.receives.clear();
    }

    fn post_receive(&mut self, side: usize, qp: QpId) {
        self.names += 1;
        let name = self.names;
        let expected = self.known(side, qp).and_then(|(state, owned)| {
            if state == QpState::Reset {
                return Err(VerbsError::WrongState { qp, state, verb: "post_receive" });
            }
            if owned.receives.len() == 3 {
                return Err(VerbsError::ReceiveQueueFull { qp, depth: 3 });
            }
            owned.receives.insert(name);
            Ok(())
        });
        assert_eq!(self.nics[side].post_receive(qp, name), expected);
    }

    fn post_send(&mut self, side: usize, qp: QpId, input: &mut Input) {
        self.names += 1;
        let (kind, bytes) = (input.byte(), input.number());
        let operation = match kind % 4 {
            0 => Operation::Write,
            1 => Operation::WriteWithImmediate(kind.into()),
            2 => Operation::Send,
            _ => Operation::Read,
        };
        // Keeps lengths beyond the limit; all others become short.
        let bytes = Bytes::new(if bytes > 1 << 40 { bytes } else { bytes % 30_000 });
        let request = WorkRequest { id: self.names, operation, bytes, path: 0 };
        let coded = self.coded;
        let expected = self.known(side, qp).and_then(|(state, owned)| {
            if owned.only_receives {
                return Err(VerbsError::ReceiveOnly { qp });
            }
            if state < QpState::ReadyToSend {
                return Err(VerbsError::WrongState { qp, state, verb: "post_send" });
            }
            if coded && operation != Operation::Write {
                return Err(VerbsError::WritesOnly { recovery: "erasure" });
            }
            if bytes > LONGEST_MESSAGE {
                return Err(VerbsError::MessageTooLong { bytes });
            }
            if operation == Operation::Read && bytes == Bytes::ZERO {
                return Err(VerbsError::EmptyRead);
            }
            owned.sends.insert(request.id);
            Ok(())
        });
        let said = self.nics[side].post_send(qp, request);
        if let Err(VerbsError::SendQueueFull { depth, .. }) = said {
            let owned = &mut self.owned[side][qp.index()];
            assert!(owned.sends.remove(&request.id) && owned.sends.len() == depth);
            return;
        }
        assert_eq!(said, expected);
    }

    fn transmit(&mut self, side: usize) {
        let Some(packet) = self.nics[side].poll_transmit(self.now) else { return };
        self.now += PORT.line_rate.time_for(Bytes::new(u64::from(packet.wire_bytes)));
        self.pipes[side].push_back(packet);
    }

    fn deliver(&mut self, side: usize) {
        if let Some(packet) = self.pipes[side].pop_front() {
            self.nics[1 - side].handle_packet(self.now, &packet);
        }
    }

    /// Exchanges a few packets in each direction, unmodified and in order.
    fn exchange(&mut self) {
        for _ in 0..8 {
            for side in [0, 1] {
                self.transmit(side);
                self.deliver(side);
            }
        }
    }

    fn poll_events(&mut self) {
        for (nic, owned) in self.nics.iter_mut().zip(&mut self.owned) {
            while let Some(done) = nic.poll_completion() {
                let owned = &mut owned[done.qp.index()];
                let open = match done.opcode {
                    Opcode::Receive | Opcode::ReceiveRdmaWithImmediate => &mut owned.receives,
                    _ => &mut owned.sends,
                };
                assert!(open.remove(&done.id), "{done:?} was not posted, or is done twice");
            }
            assert_eq!(nic.poll_event(), None, "there are completions alone");
        }
    }

    /// Checks that the transition to Error flushes all open work.
    fn finish(&mut self) {
        for side in [0, 1] {
            for number in 0..self.owned[side].len() {
                let qp = QpId(number as u32);
                if self.known(side, qp).is_ok() {
                    self.modify(side, qp, QpState::Error);
                }
            }
        }
        self.poll_events();
        for (nic, owned) in self.nics.iter_mut().zip(&self.owned) {
            for left in owned {
                assert!(left.sends.is_empty() && left.receives.is_empty(), "{left:?}");
            }
            while nic.poll_transmit_control().is_some() {}
            assert!(nic.poll_transmit(Time::from_ps(u64::MAX - 1)).is_none(), "data in Error");
            assert!(!nic.has_packets());
        }
    }
}

/// Returns the id of a queue pair, which may not exist.
fn qp(input: &mut Input) -> QpId {
    QpId(u32::from(input.byte()) % (MOST_QPS as u32 + 1))
}
