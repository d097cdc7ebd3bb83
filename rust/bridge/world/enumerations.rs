//! The enumerations that cross the language boundary.
//!
//! C++ defines them in the headers of `ns3-module/evenkeel-fabric/model/` included below, and cxx
//! checks every value against its header when C++ is compiled. A value may have any number that C++
//! stored in it. Code that receives one converts it (see [`super::convert`]), and an unknown number
//! is an error.

pub(super) use ffi::*;

#[allow(unsafe_code, unreachable_pub, reason = "cxx generates the items and their checks")]
#[cxx::bridge(namespace = "ns3")]
mod ffi {
    /// The kind of a packet.
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum FabricPacketKind {
        #[default]
        DATA = 0,
        ACK = 1,
        NACK = 2,
        CNP = 3,
        REFUSAL = 4,
        PAUSE = 5,
        RESUME = 6,
        PROBE = 7,
        PROBE_REPLY = 8,
        PORT_STATUS = 9,
        CREDIT = 10,
        CREDIT_REQUEST = 11,
        LINK_CREDIT = 12,
        IP = 13,
    }

    /// The bits of [`FabricPacket::flags`].
    #[derive(Debug)]
    #[repr(u8)]
    enum FabricPacketFlag {
        MARKED = 1,
        LAST = 2,
        RETRANSMITTED = 4,
        PRIORITY = 8,
        TRIMMED = 16,
        LAST_HOP = 32,
        ACK_REQUEST = 64,
        HASHED = 128,
    }

    /// The verb of a data packet: the upper four bits of [`FabricPacket::sack`].
    #[derive(Debug)]
    #[repr(u8)]
    enum FabricPacketVerb {
        WRITE = 0,
        WRITE_WITH_IMMEDIATE = 1,
        SEND = 2,
        READ_REQUEST = 3,
        READ_RESPONSE = 4,
    }

    /// The rounding of transmission times.
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum FabricRounding {
        #[default]
        EXACT = 0,
        TRUNCATE_NS = 1,
    }

    /// The part of a fabric that reacts to a failure: the wire, the switches at its ends, or
    /// routing everywhere.
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum FabricWitness {
        #[default]
        WIRE = 0,
        ENDS = 1,
        ROUTING = 2,
    }

    /// The kind of a message event: the receiver has every byte, or the sender has the last
    /// acknowledgement.
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum FabricMessageEventKind {
        #[default]
        DELIVERED = 0,
        COMPLETED = 1,
    }

    /// The state of a queue pair (InfiniBand specification, volume 1, 10.3.1).
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum FabricQpState {
        #[default]
        RESET = 0,
        INIT = 1,
        RTR = 2,
        RTS = 3,
        SQD = 4,
        SQE = 5,
        ERROR = 6,
    }

    /// The operation of a work request.
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum FabricOperation {
        #[default]
        WRITE = 0,
        WRITE_WITH_IMMEDIATE = 1,
        SEND = 2,
        READ = 3,
    }

    /// The kind of completed work.
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum FabricOpcode {
        #[default]
        WRITE = 0,
        SEND = 1,
        READ = 2,
        RECEIVE = 3,
        RECEIVE_WITH_IMMEDIATE = 4,
    }

    /// The status of a completion, with the names of rdma-core.
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum FabricCompletionStatus {
        #[default]
        SUCCESS = 0,
        WR_FLUSH_ERR = 1,
        RETRY_EXC_ERR = 2,
        RNR_RETRY_EXC_ERR = 3,
        REM_INV_REQ_ERR = 4,
    }

    /// An order of priority flow control (PFC) to a link.
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum FabricPfcOrder {
        #[default]
        NOTHING = 0,
        PAUSE = 1,
        RESUME = 2,
    }

    extern "C++" {
        include!("fabric-packet.h");
        include!("fabric-records.h");
        include!("fabric-verbs.h");

        type FabricPacketKind;
        type FabricPacketFlag;
        type FabricPacketVerb;
        type FabricRounding;
        type FabricWitness;
        type FabricMessageEventKind;
        type FabricQpState;
        type FabricOperation;
        type FabricOpcode;
        type FabricCompletionStatus;
        type FabricPfcOrder;
    }
}
