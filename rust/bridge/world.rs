//! Experiments, and what moves in them, for worlds whose links, queues and events are their own.
//!
//! An [`Experiment`] says what there is: hosts, switches, links, what they are set to, what fails
//! when. Its [`Core`] is every NIC and every choice of a path; the world asks it who sends what
//! next and where a packet goes, and moves packets and time itself. Both draw and decide exactly
//! as they do in the fabric in Rust, so that two worlds can be compared to the picosecond.
//!
//! Times are picoseconds, and the largest 64-bit number is a time that never comes. Hosts,
//! switches and links are numbers from 0; port `2l` sends from the first end of link `l` to the
//! second, port `2l + 1` back. The ports of a switch are numbered in order of its links.
//!
//! Constructors can fail, with the text that the command line would print. Calls on the packet
//! path cannot, and allocate nothing.

mod core;
mod experiment;
mod facts;
mod recording;
mod verbs;
mod wire;

#[cfg(test)]
mod tests;

use self::core::Core;
pub(super) use experiment::Experiment;
use experiment::{
    experiment_of_hpcc, experiment_of_scenario, experiment_of_text, experiment_on_graph, graph_of,
};

#[allow(unsafe_code, reason = "cxx generates the calls across the language border")]
#[allow(clippy::too_many_arguments, reason = "what C++ passes by value, it passes one by one")]
#[cxx::bridge(namespace = "evenkeel::contract")]
pub(super) mod contract {
    /// A packet on the wire: the fields of `rust/packet.rs`, with kind and flags as numbers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct WirePacket {
        src: u32,
        dst: u32,
        qp: u32,
        label: u32,
        psn: u32,
        ack: u32,
        sack: u64,
        marked: u32,
        stamp: u32,
        wire_bytes: u16,
        entropy: u16,
        route: u16,
        kind: u8,
        flags: u8,
    }

    /// A link; rate and delay in each direction.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct WireLink {
        a: u32,
        b: u32,
        a_is_host: bool,
        b_is_host: bool,
        rate_bps: u64,
        delay_ps: u64,
    }

    /// A switch: its name, and the switch tiers between it and the hosts.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct SwitchNode {
        name: String,
        tier: u32,
    }

    /// Who is wired to whom.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct Graph {
        hosts: Vec<String>,
        switches: Vec<SwitchNode>,
        links: Vec<WireLink>,
    }

    /// What is said in place of a file's own: a policy unless it is empty, a seed if there is one.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct InPlace {
        policy: String,
        has_seed: bool,
        seed: u64,
    }

    /// What every switch and link is set to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct Settings {
        shared_buffer: bool,
        buffer_bytes: u64,
        ecn_at_dequeue: bool,
        pfc: bool,
        pfc_resume_offset: u64,
        trim: bool,
        trim_size: u64,
        trim_limit: u64,
        gap_bytes: u32,
        forwarding_delay_ps: u64,
        truncate_ns: bool,
        ack_priority: bool,
        looks_at_queues: bool,
        time_limit_ps: u64,
        seed: u64,
    }

    /// Marking at a port: up to `kmin` never, above `kmax` always. A step has both alike; never
    /// is the largest number in both.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct EcnFacts {
        kmin: u64,
        kmax: u64,
        pmax_numerator: u64,
        pmax_denominator: u64,
    }

    /// What flow control keeps for a link that ends at a switch.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct IngressFacts {
        reserve: u64,
        headroom: u64,
        alpha_numerator: u64,
        alpha_denominator: u64,
    }

    /// What a link does meanwhile: nothing gets through, or packets that start then are lost with
    /// a probability.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct FaultFacts {
        link: u32,
        is_loss: bool,
        from_ps: u64,
        until_ps: u64,
        numerator: u32,
        denominator: u32,
    }

    /// Somebody learns of a failure: 0 the wire, whose packets start at `rate_bps` from then on;
    /// 1 the switches at its ends; 2 routing everywhere.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct StepFacts {
        at_ps: u64,
        witness: u8,
        link: u32,
        rate_bps: u64,
    }

    /// A flow: a message, or the piece of it that a splitter put on a queue pair.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct FlowFacts {
        message: u32,
        piece: u32,
        src: u32,
        dst: u32,
        bytes: u64,
        start_ps: u64,
        delivered_ps: u64,
        completed_ps: u64,
        source_port: u16,
    }

    /// What happened to a message: 0 its receiver has all of it, 1 its sender knows that.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct NewsFacts {
        kind: u8,
        message: u32,
        src: u32,
        dst: u32,
        bytes: u64,
        start_ps: u64,
        at_ps: u64,
    }

    /// What the queue pairs of programs are set to: how many requests their queues hold, how long
    /// a sender waits for a receiver that is not ready, and how often in a row that, or a timeout,
    /// may happen before work fails; the largest number is without limit.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct QpSettings {
        send_queue: u32,
        receive_queue: u32,
        rnr_timer_ps: u64,
        rnr_retries: u32,
        retries: u32,
    }

    /// A work request. `operation`: 0 WRITE, 1 WRITE with immediate data, 2 SEND, 3 READ. One that
    /// is not `signaled` has a completion only if it fails.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct WorkFacts {
        id: u64,
        bytes: u64,
        immediate: u32,
        operation: u8,
        signaled: bool,
    }

    /// What completed. `opcode`: 0 WRITE, 1 SEND, 2 READ, 3 a receive by a SEND, 4 a receive by a
    /// WRITE with immediate data. `status`: 0 success, 1 flushed, 2 the peer did not answer, 3 the
    /// peer was not ready, 4 the peer cannot serve it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct CompletionFacts {
        id: u64,
        bytes: u64,
        at_ps: u64,
        host: u32,
        qp: u32,
        immediate: u32,
        has_immediate: bool,
        opcode: u8,
        status: u8,
    }

    /// What all NICs together counted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct NicFacts {
        data_sent: u64,
        retransmitted: u64,
        control_sent: u64,
        data_received: u64,
        marked: u64,
        out_of_order: u64,
        control_received: u64,
    }

    /// Queue pairs, counted at the NICs that send on them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct QpFacts {
        per_nic_max: u64,
        total: u64,
        extra_per_nic_max: u64,
        extra_total: u64,
    }

    /// What an experiment of the HPCC family wants to hear of while it runs: what happens to
    /// packets at the `noted` ports (what arrives over a link counts as at the port that leads
    /// back), and from when on it looks at which counters.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct RecordFacts {
        noted: Vec<u32>,
        looked_at: Vec<u32>,
        next_look_ps: u64,
    }

    /// A frame of flow control took effect at a port.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct PauseFacts {
        at_ps: u64,
        port: u32,
        is_pause: bool,
    }

    /// What a world measured of its links and switches when a run was over. `verdict`: 0 every
    /// message is complete, 1 nothing can happen any more, 2 the time limit passed.
    #[derive(Debug, Clone, PartialEq, Default)]
    struct Measured {
        verdict: u8,
        ended_ps: u64,
        data_dropped: u64,
        control_dropped: u64,
        trimmed: u64,
        pfc_pauses: u64,
        packet_hops: u64,
        events: u64,
        in_flight: u64,
        queue_bytes_mean: f64,
        /// By port; 0 for those of hosts.
        queue_bytes_max: Vec<u64>,
        /// By port.
        link_bytes: Vec<u64>,
        pauses: Vec<PauseFacts>,
    }

    #[cfg(feature = "ns3")]
    unsafe extern "C++" {
        include!("twin.h");

        /// Runs an experiment in ns-3, from the start to where `core` says that it ends, and gives
        /// the core back with what was measured. ns-3's simulator is one a process: calls must
        /// not overlap.
        fn run_in_ns3(experiment: &Experiment, core: Box<Core>) -> Result<Box<Core>>;
        /// The same for an experiment of the HPCC family, which writes its files into a folder.
        fn run_hpcc_in_ns3(
            experiment: &Experiment,
            core: Box<Core>,
            folder: &str,
        ) -> Result<Box<Core>>;
    }

    extern "Rust" {
        type Experiment;

        /// A scenario's file.
        fn experiment_of_scenario(path: &str, in_place: &InPlace) -> Result<Box<Experiment>>;
        /// The text of a scenario; paths in it are relative to `folder`.
        fn experiment_of_text(
            text: &str,
            folder: &str,
            in_place: &InPlace,
        ) -> Result<Box<Experiment>>;
        /// A graph, and the text of a scenario for the rest: of its section `[topology]` only
        /// `gap` and `forwarding_delay`. Without a section `[workload]` nothing is sent until it
        /// is posted.
        fn experiment_on_graph(
            graph: &Graph,
            text: &str,
            folder: &str,
            in_place: &InPlace,
        ) -> Result<Box<Experiment>>;
        /// A configuration of the HPCC family; `truncate_ns` cuts transmission times to whole
        /// nanoseconds, as that family does.
        fn experiment_of_hpcc(
            path: &str,
            in_place: &InPlace,
            truncate_ns: bool,
        ) -> Result<Box<Experiment>>;
        /// The graph of a section `[topology]`, without its heading; `folder` as above.
        fn graph_of(section: &str, folder: &str) -> Result<Graph>;

        fn graph(self: &Experiment) -> Graph;
        fn settings(self: &Experiment) -> Settings;
        /// Marking at a port that starts at a switch.
        fn ecn(self: &Experiment, port: u32) -> EcnFacts;
        /// What flow control keeps for a port that ends at a switch.
        fn ingress(self: &Experiment, port: u32) -> IngressFacts;
        /// A switch's memory beyond what links keep for themselves.
        fn pool_size(self: &Experiment, switch_number: u32) -> u64;
        /// By link and time; those that overlap are not joined.
        fn faults(self: &Experiment) -> Vec<FaultFacts>;
        /// In order of time; those of one time in their order.
        fn steps(self: &Experiment) -> Vec<StepFacts>;
        /// What of its files is ignored, or done otherwise here.
        fn warnings(self: &Experiment) -> Vec<String>;
        fn policy(self: &Experiment) -> String;
        /// Sets what queue pairs of programs are like, in cores that are made from now on.
        fn set_queue_pairs(self: &mut Experiment, settings: &QpSettings) -> Result<()>;
        /// Its hosts and policies, before anything has happened.
        fn core(self: &Experiment) -> Box<Core>;
        /// From now on keeps what the configuration asks to be written while it runs, as `note` and
        /// `look` tell it; for experiments of the HPCC family alone.
        fn record_hpcc(self: &Experiment, core: &mut Core) -> Result<RecordFacts>;
        /// Writes `fct.txt`, `pfc.txt` and what was recorded into a folder, as the HPCC family
        /// does; for experiments of that family alone.
        fn write_hpcc(self: &Experiment, core: &mut Core, folder: &str) -> Result<()>;

        type Core;

        /// The packet that starts next on a host's wire, which is free since `free_ps`: false if
        /// none starts by now. `free_ps` is set to when the packet starts, or, if none does, to
        /// when the wire will have been free for the first that can.
        fn poll_transmit(
            self: &mut Core,
            host: u32,
            now_ps: u64,
            free_ps: &mut u64,
            packet: &mut WirePacket,
        ) -> bool;
        /// The answer that starts now, if there is one: what goes while data is paused.
        fn poll_transmit_control(self: &mut Core, host: u32, packet: &mut WirePacket) -> bool;
        /// True if a packet would go if the wire were free, now or after a pause of pacing.
        fn has_packets(self: &Core, host: u32) -> bool;
        /// A packet arrived; true if `poll_touched`, `poll_news` or `poll_completion` have something
        /// to say, or all is finished.
        fn handle_packet(self: &mut Core, host: u32, now_ps: u64, packet: &WirePacket) -> bool;
        /// The time has come that a host named, or a message was posted; early is harmless. True
        /// as above.
        fn handle_timeout(self: &mut Core, host: u32, now_ps: u64) -> bool;
        /// When to wake a host if nothing comes in before, with its wire free from `free_ps` on.
        fn next_wake(self: &Core, host: u32, now_ps: u64, free_ps: u64) -> u64;
        /// Another host whose wake-up may be earlier now; the largest number if there is none.
        fn poll_touched(self: &mut Core) -> u32;
        /// What happened to a message; false if nothing more did.
        fn poll_news(self: &mut Core, news: &mut NewsFacts) -> bool;
        /// From now on news of every message are told, not of those alone that were posted.
        fn tell_all(self: &mut Core);
        /// True once all messages that there are are delivered and complete, and all work requests.
        fn is_finished(self: &Core) -> bool;
        /// Adds a message; its sender is among those of `poll_touched`.
        fn post(
            self: &mut Core,
            src: u32,
            dst: u32,
            bytes: u64,
            now_ps: u64,
            start_ps: u64,
            stream: u32,
        ) -> Result<u32>;

        /// Makes a queue pair with completions at a host, in state 0; its number there. Those of a
        /// pair of hosts that differ in `stream` are balanced apart. States are numbers in the
        /// order of the specification: Reset, Init, RTR, RTS, SQD, SQE, Error.
        fn create_qp(self: &mut Core, host: u32, peer: u32, stream: u32) -> Result<u32>;
        /// Tells a queue pair the number of its other end.
        fn set_peer_qp(self: &mut Core, host: u32, qp: u32, peer_qp: u32) -> Result<()>;
        /// Takes a queue pair to another state. As after each of the calls that follow, the host
        /// may have packets to send now: what it could have sent before is to be asked for before.
        fn modify_qp(self: &mut Core, host: u32, qp: u32, state: u8, now_ps: u64) -> Result<()>;
        fn query_qp(self: &Core, host: u32, qp: u32) -> Result<u8>;
        /// Ends a queue pair; what has not completed is flushed.
        fn destroy_qp(self: &mut Core, host: u32, qp: u32, now_ps: u64) -> Result<()>;
        /// Posts a work request.
        fn post_send(
            self: &mut Core,
            host: u32,
            qp: u32,
            work: &WorkFacts,
            now_ps: u64,
        ) -> Result<()>;
        /// Posts a receive of that name.
        fn post_receive(self: &mut Core, host: u32, qp: u32, id: u64, now_ps: u64) -> Result<()>;
        /// What completed, at whatever host; false if nothing more did. A host with completions
        /// wants to be woken at once.
        fn poll_completion(self: &mut Core, completion: &mut CompletionFacts) -> bool;

        /// The number of the port by which a packet leaves a switch, seen by its policy; the
        /// largest number if there is none. `loads`: bytes that wait at each port of the switch
        /// and on its wire, by number; empty unless the policy looks at queues.
        fn route(
            self: &mut Core,
            switch_number: u32,
            now_ps: u64,
            packet: &mut WirePacket,
            loads: &[u64],
        ) -> u32;
        /// The only port towards a host for as long as no step is applied; the largest number if
        /// there is more than one, none, or the policy watches what leaves.
        fn only_port(self: &Core, switch_number: u32, dst: u32) -> u32;
        /// Whether a packet is marked that finds so many bytes without priority waiting: a draw.
        fn marks(self: &mut Core, port: u32, waiting_bytes: u64) -> bool;
        /// Whether a lossy link loses a packet that came by a port: a draw.
        fn loses(self: &mut Core, port: u32, numerator: u32, denominator: u32) -> bool;
        /// Tells policies and routing of a step, by its place among them.
        fn apply_step(self: &mut Core, step: u32, now_ps: u64);

        /// Something happened to a packet at a noted port: 0 it has arrived, 1 it joins the queue, 2
        /// it leaves it and starts, 3 it is lost. `waiting`: bytes in that queue without it; of
        /// what has arrived, those with priority.
        fn note(
            self: &mut Core,
            at_ps: u64,
            port: u32,
            event: u8,
            waiting: u32,
            packet: &WirePacket,
        );
        /// A look, when it was asked for, at what there is before anything happens then; nothing
        /// happens before the next event. By port: bytes without priority that wait, bytes that
        /// have started. When the next look is to be; the largest number for never.
        fn look(
            self: &mut Core,
            now_ps: u64,
            next_event_ps: u64,
            waiting: &[u32],
            carried: &[u64],
        ) -> u64;

        /// Every flow so far, by message and piece.
        fn flows(self: &Core) -> Vec<FlowFacts>;
        fn nic_counters(self: &Core) -> NicFacts;
        fn qp_counts(self: &Core) -> QpFacts;
        /// Keeps what the world measured, for `write_hpcc` and for who compares worlds.
        fn record(self: &mut Core, measured: &Measured);
    }
}
