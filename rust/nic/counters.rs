//! What a NIC counts.

/// What a NIC counted. C++ shares the record, so that its layout is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct NicCounters {
    /// Data packets put on the wire.
    pub data_sent: u64,
    /// ... of which not for the first time.
    pub retransmitted: u64,
    /// Acknowledgements, NACKs and CNPs put on the wire.
    pub control_sent: u64,
    /// Data packets received, whole or cut.
    pub data_received: u64,
    /// ... of which cut to their headers by a switch.
    pub trimmed: u64,
    /// ... of which ECN marked.
    pub marked: u64,
    /// ... of which behind one of a higher PSN.
    pub out_of_order: u64,
    /// ... of which already there.
    pub duplicates: u64,
    /// ... of which thrown away because one before them is missing (go-back-N).
    pub refused: u64,
    /// Payload bytes accepted, each once.
    pub payload_received: u64,
    /// Acknowledgements, NACKs and CNPs received.
    pub control_received: u64,
    /// Packets of any kind dropped because no queue pair has the number that they are for.
    pub misdirected: u64,
    /// ... because the queue pair's state takes none.
    pub discarded: u64,
    /// Data packets refused because no receive was posted, or the request cannot be served.
    pub not_ready: u64,
}
