//! Conversions between the records of the boundary and the types of the library.

use evenkeel_engine::endpoint::{FlowRecord, MessageEventKind};
use evenkeel_engine::fabric::{PauseOrder, PauseRecord, Rounding, Verdict};
use evenkeel_engine::ids::{ClassId, HostId, PortId, QpId, SwitchId};
use evenkeel_engine::nic::QpState;
use evenkeel_engine::nic::verbs::VerbCode;
use evenkeel_engine::nic::verbs::{Completion, CompletionStatus, Opcode, Operation, WorkRequest};
use evenkeel_engine::packet::{Flags, KindFields, Packet, PacketKind, RawFields};
use evenkeel_engine::switching::StepKind;
use evenkeel_engine::topology::Node;
use evenkeel_engine::units::{Bytes, Time};

use super::contract::Verdict as FabricVerdict;
use super::enumerations::{
    FabricCompletionStatus, FabricMessageEventKind, FabricOpcode, FabricOperation,
    FabricPacketFlag, FabricPacketKind, FabricPacketVerb, FabricPfcOrder, FabricQpState,
    FabricRounding, FabricWitness,
};
pub(crate) use super::experiment::UnknownValue;
use super::records::{
    FabricCompletion, FabricEnd, FabricFlow, FabricPacket, FabricPause, FabricWork,
};

/// A value from C++, which may be unknown. Conversions towards C++ are [`From`].
pub(super) trait TryConvert<Own> {
    /// Returns the value in the library.
    ///
    /// # Errors
    /// If the library has no such value.
    fn try_convert(self) -> Result<Own, UnknownValue>;
}

/// Converts a boundary enumeration from and to the library's, value by value. Towards C++ every
/// value must be named; a value from C++ may be unknown.
macro_rules! convert {
    ($what:literal, $boundary:ident, $own:ident: $first:ident = $own_first:ident
     $(, $value:ident = $own_value:ident)* $(,)?) => {
        impl From<$own> for $boundary {
            #[inline]
            fn from(own: $own) -> Self {
                match own {
                    $own::$own_first => Self::$first,
                    $($own::$own_value => Self::$value,)*
                }
            }
        }

        impl TryConvert<$own> for $boundary {
            #[inline]
            fn try_convert(self) -> Result<$own, UnknownValue> {
                match self {
                    $boundary::$first => Ok($own::$own_first),
                    $($boundary::$value => Ok($own::$own_value),)*
                    $boundary { repr: value } => Err(UnknownValue {
                        what: $what,
                        value,
                        least: $boundary::$first.repr,
                        most: [$boundary::$first $(, $boundary::$value)*].last().unwrap().repr,
                    }),
                }
            }
        }
    };
}

convert!("packet kind", FabricPacketKind, PacketKind: DATA = Data, ACK = Ack, NACK = Nack,
    CNP = Cnp, REFUSAL = Refusal, PAUSE = Pause, RESUME = Resume, PROBE = Probe,
    PROBE_REPLY = ProbeReply, PORT_STATUS = PortStatus, CREDIT = Credit,
    CREDIT_REQUEST = CreditRequest, LINK_CREDIT = LinkCredit);
convert!("rounding", FabricRounding, Rounding: EXACT = Exact, TRUNCATE_NS = TruncateNs);
convert!("witness", FabricWitness, StepKind: WIRE = RateChange, ENDS = Detection,
    ROUTING = Convergence);
convert!("message event", FabricMessageEventKind, MessageEventKind: DELIVERED = Delivered,
    COMPLETED = Completed);
convert!("state", FabricQpState, QpState: RESET = Reset, INIT = Init, RTR = ReadyToReceive,
    RTS = ReadyToSend, SQD = SendQueueDrained, SQE = SendQueueError, ERROR = Error);
convert!("opcode", FabricOpcode, Opcode: WRITE = RdmaWrite, SEND = Send, READ = RdmaRead,
    RECEIVE = Receive, RECEIVE_WITH_IMMEDIATE = ReceiveRdmaWithImmediate);
convert!("completion status", FabricCompletionStatus, CompletionStatus: SUCCESS = Success,
    WR_FLUSH_ERR = Flushed, RETRY_EXC_ERR = RetryExceeded, RNR_RETRY_EXC_ERR = RnrRetryExceeded,
    REM_INV_REQ_ERR = RemoteInvalidRequest);
convert!("order of priority flow control", FabricPfcOrder, PauseOrder: PAUSE = Pause,
    RESUME = Resume);
convert!("verdict", FabricVerdict, Verdict: Completed = Completed, Stalled = Stalled,
    TimeLimit = TimeLimit);

// Flags cross the boundary as one byte, so each must have the same bit on both sides.
const _: () = {
    assert!(FabricPacketFlag::MARKED.repr == Flags::MARKED.bits());
    assert!(FabricPacketFlag::LAST.repr == Flags::LAST.bits());
    assert!(FabricPacketFlag::RETRANSMITTED.repr == Flags::RETRANSMITTED.bits());
    assert!(FabricPacketFlag::PRIORITY.repr == Flags::PRIORITY.bits());
    assert!(FabricPacketFlag::TRIMMED.repr == Flags::TRIMMED.bits());
    assert!(FabricPacketFlag::LAST_HOP.repr == Flags::LAST_HOP.bits());
    assert!(FabricPacketFlag::ACK_REQUEST.repr == Flags::ACK_REQUEST.bits());
    assert!(FabricPacketFlag::HASHED.repr == Flags::HASHED.bits());
};

// The verb of a packet crosses the boundary as bits of a field.
const _: () = {
    assert!(FabricPacketVerb::WRITE.repr == VerbCode::Write as u8);
    assert!(FabricPacketVerb::WRITE_WITH_IMMEDIATE.repr == VerbCode::WriteWithImmediate as u8);
    assert!(FabricPacketVerb::SEND.repr == VerbCode::Send as u8);
    assert!(FabricPacketVerb::READ_REQUEST.repr == VerbCode::ReadRequest as u8);
    assert!(FabricPacketVerb::READ_RESPONSE.repr == VerbCode::ReadResponse as u8);
};

/// Position of the traffic class in [`FabricPacket::ack`], above the bits of a PSN.
pub(super) const CLASS: u32 = 24;

impl From<&Packet> for FabricPacket {
    #[inline]
    fn from(packet: &Packet) -> Self {
        let RawFields { sack, psn, ack, marked, stamp } = packet.fields.raw();
        Self {
            src: packet.src.0,
            dst: packet.dst.0,
            qp: packet.qp.0,
            label: packet.label,
            psn,
            ack: ack | packet.class().0 << CLASS,
            sack,
            marked,
            stamp,
            wire_bytes: packet.wire_bytes,
            entropy: packet.entropy,
            route: packet.route,
            kind: packet.kind.into(),
            flags: packet.flags.bits(),
        }
    }
}

impl From<&FabricPacket> for Packet {
    /// # Panics
    /// If the packet's kind is unknown, because calls on the packet path cannot fail.
    #[inline]
    fn from(packet: &FabricPacket) -> Self {
        let mut known = Self {
            src: HostId(packet.src),
            dst: HostId(packet.dst),
            qp: QpId(packet.qp),
            label: packet.label,
            fields: KindFields::of_raw(RawFields {
                sack: packet.sack,
                psn: packet.psn,
                ack: packet.ack,
                marked: packet.marked,
                stamp: packet.stamp,
            }),
            wire_bytes: packet.wire_bytes,
            entropy: packet.entropy,
            route: packet.route,
            kind: packet.kind.try_convert().unwrap_or_else(|unknown| panic!("{unknown}")),
            flags: Flags::from_bits(packet.flags),
        };
        known.set_class(ClassId(packet.ack >> CLASS));
        known
    }
}

impl From<Node> for FabricEnd {
    fn from(node: Node) -> Self {
        match node {
            Node::Host(host) => Self { number: host.0, is_host: true },
            Node::Switch(switch) => Self { number: switch.0, is_host: false },
        }
    }
}

impl From<FabricEnd> for Node {
    fn from(end: FabricEnd) -> Self {
        match end.is_host {
            true => Self::Host(HostId(end.number)),
            false => Self::Switch(SwitchId(end.number)),
        }
    }
}

impl From<&FlowRecord> for FabricFlow {
    fn from(flow: &FlowRecord) -> Self {
        Self {
            message: flow.message.0,
            piece: flow.piece,
            src: flow.src.0,
            dst: flow.dst.0,
            bytes: flow.bytes.get(),
            start_ps: flow.start.as_ps(),
            delivered_ps: flow.delivered.as_ps(),
            completed_ps: flow.completed.as_ps(),
            source_port: flow.source_port,
        }
    }
}

impl TryConvert<PauseRecord> for FabricPause {
    fn try_convert(self) -> Result<PauseRecord, UnknownValue> {
        let (at, port) = (Time::from_ps(self.at_ps), PortId(self.port));
        let class = ClassId(self.traffic_class);
        Ok(PauseRecord { at, port, order: self.order.try_convert()?, class })
    }
}

impl TryConvert<WorkRequest> for FabricWork {
    fn try_convert(self) -> Result<WorkRequest, UnknownValue> {
        let operation = match self.operation {
            FabricOperation::WRITE => Operation::Write,
            FabricOperation::WRITE_WITH_IMMEDIATE => Operation::WriteWithImmediate(self.immediate),
            FabricOperation::SEND => Operation::Send,
            FabricOperation::READ => Operation::Read,
            FabricOperation { repr: value } => {
                let most = FabricOperation::READ.repr;
                return Err(UnknownValue { what: "operation", value, least: 0, most });
            }
        };
        let (id, bytes) = (self.work_id, Bytes::new(self.bytes));
        Ok(WorkRequest { id, operation, bytes, path: 0 })
    }
}

impl FabricCompletion {
    /// Builds the record of a completion at a host.
    pub(super) fn of(host: HostId, completion: &Completion, at: Time) -> Self {
        Self {
            work_id: completion.id,
            bytes: completion.bytes.get(),
            at_ps: at.as_ps(),
            host: host.0,
            qp: completion.qp.0,
            immediate: completion.immediate.unwrap_or(0),
            has_immediate: completion.immediate.is_some(),
            opcode: completion.opcode.into(),
            status: completion.status.into(),
        }
    }
}
