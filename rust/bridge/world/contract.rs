//! The calls from C++ into Rust, and the calls that Rust makes into ns-3.
//!
//! Constructors can fail, with the message that the command line would print. A panic in a call
//! that can fail also becomes its error ([`super::panic_guard`]). Calls on the packet path cannot
//! fail, and allocate nothing. An unknown enumeration value there breaks an invariant and ends the
//! process with a message.

use super::core::Core;
use super::experiment::Experiment;
use super::panic_guard::{
    experiment_of_scenario, experiment_of_text, experiment_on_graph, graph_of, link_names,
};

pub(crate) use ffi::*;

#[allow(
    unsafe_code,
    unreachable_pub,
    reason = "cxx generates the calls across the language border, and their visibility"
)]
#[allow(clippy::too_many_arguments, reason = "C++ passes plain numbers one by one")]
#[cxx::bridge(namespace = "evenkeel::contract")]
mod ffi {
    /// Hosts and switches by name, and the links between them.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct Graph {
        hosts: Vec<String>,
        switches: Vec<String>,
        links: Vec<FabricLink>,
        /// True if hosts have several ports to switches of one fabric (two ToRs). If false, a host
        /// with several links has one port per plane.
        joined_ports: bool,
    }

    /// A traffic class of data: its name, and whether priority flow control protects it.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct TrafficClass {
        name: String,
        pfc: bool,
    }

    /// The NICs of some hosts: the text of a scenario whose section `[transport]` applies to them,
    /// and the settings of their queue pairs for programs.
    #[derive(Debug, Clone, Default)]
    struct NicSettings {
        hosts: Vec<u32>,
        settings: String,
        queue_pairs: FabricQpSettings,
    }

    /// Failures added during a run: the time of the call, and sections `[[failure]]`.
    #[cfg(feature = "ns3")]
    #[derive(Debug, Clone, Default)]
    struct LateFailures {
        at_ps: u64,
        sections: String,
    }

    /// Values that override those of a file: a policy unless it is empty, and a seed if there is
    /// one.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct Overrides {
        policy: String,
        has_seed: bool,
        seed: u64,
    }

    /// The end of a run: every message completed, no event was left, or the time limit passed.
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum Verdict {
        #[default]
        Completed,
        Stalled,
        TimeLimit,
    }

    /// A switch port and the bytes queued there, as a packet finds them: with priority, without
    /// it, and of the packet's class. `ingress` is the port that sent the packet to the switch.
    #[derive(Debug, Clone, Copy)]
    struct QueueState {
        port: u32,
        ingress: u32,
        priority: u32,
        data: u32,
        of_class: u32,
        /// True if no packet of the switch could have started earlier.
        is_settled: bool,
    }

    /// The outcome for a packet that could not start immediately.
    #[derive(Debug)]
    #[repr(u8)]
    enum Enqueued {
        Dropped,
        Queued,
        /// It is queued, and its ingress link must be paused.
        Paused,
        /// Its header is queued with priority.
        Trimmed,
        /// Undecided: the bytes in the buffer are not known exactly.
        Unsettled,
    }

    /// The simulator's measurements of links and switches at the end of a run.
    #[derive(Debug, Clone, Default)]
    struct Measured {
        verdict: Verdict,
        ended_ps: u64,
        counters: FabricCounters,
        events: u64,
        /// The data packets in queues and on wires.
        in_flight: u64,
        /// The maximum queue length in bytes, by port; 0 for host ports.
        queue_bytes_max: Vec<u64>,
        /// The bytes that each port sent.
        link_bytes: Vec<u64>,
        pauses: Vec<FabricPause>,
        /// The dropped data packets, by traffic class; empty without classes.
        dropped_by_class: Vec<u64>,
    }

    #[namespace = "ns3"]
    unsafe extern "C++" {
        include!("fabric-packet.h");
        include!("fabric-records.h");
        include!("fabric-verbs.h");

        type FabricPacket = super::super::records::FabricPacket;
        type FabricLink = super::super::records::FabricLink;
        type FabricSettings = super::super::records::FabricSettings;
        type FabricStep = super::super::records::FabricStep;
        type FabricFlow = super::super::records::FabricFlow;
        type FabricMessageEvent = super::super::records::FabricMessageEvent;
        type FabricPfcOrder = super::super::enumerations::FabricPfcOrder;
        type FabricQpState = super::super::enumerations::FabricQpState;
        type FabricQpSettings = super::super::records::FabricQpSettings;
        type FabricWork = super::super::records::FabricWork;
        type FabricCompletion = super::super::records::FabricCompletion;
        type FabricCounters = super::super::records::FabricCounters;
        type FabricPause = super::super::records::FabricPause;
        type FabricNicCounters = super::super::records::FabricNicCounters;
        type FabricQpCounts = super::super::records::FabricQpCounts;
    }

    #[cfg(feature = "ns3")]
    unsafe extern "C++" {
        include!("twin.h");

        /// Runs an experiment in ns-3 until `core` reports its end. Returns the core with the
        /// measurements. A process has one ns-3 simulator: calls must not overlap.
        fn run_in_ns3(experiment: &Experiment, core: Box<Core>) -> Result<Box<Core>>;
        /// Does the same with failures that a script adds during the run.
        fn run_in_ns3_with_late_failures(
            experiment: &Experiment,
            core: Box<Core>,
            late: &[LateFailures],
        ) -> Result<Box<Core>>;
    }

    extern "Rust" {
        type Experiment;

        /// Reads a scenario file.
        fn experiment_of_scenario(path: &str, overrides: &Overrides) -> Result<Box<Experiment>>;
        /// Reads the text of a scenario; paths in it are relative to `folder`.
        fn experiment_of_text(
            text: &str,
            folder: &str,
            overrides: &Overrides,
        ) -> Result<Box<Experiment>>;
        /// Takes a graph, and the text of a scenario for everything else; its section `[topology]`
        /// may have only `gap` and `forwarding_delay`. Without `[workload]` and `[[job]]` no
        /// message is sent until one is posted.
        fn experiment_on_graph(
            graph: &Graph,
            text: &str,
            folder: &str,
            overrides: &Overrides,
        ) -> Result<Box<Experiment>>;
        /// Returns the graph of a section `[topology]` without its heading; `folder` as above.
        fn graph_of(section: &str, folder: &str) -> Result<Graph>;
        /// Returns the names of a graph's links, as in sections `[[failure]]`.
        fn link_names(graph: &Graph) -> Result<Vec<String>>;

        /// Returns a sentence for each key that is ignored or has another effect here.
        fn warnings(self: &Experiment) -> Vec<String>;
        fn policy(self: &Experiment) -> String;
        /// Sets the queue pairs of programs in cores that are made later.
        #[cxx_name = "set_queue_pairs"]
        fn try_set_queue_pairs(self: &mut Experiment, settings: &FabricQpSettings) -> Result<()>;
        /// Gives some hosts different NICs in cores that are made later.
        #[cxx_name = "set_host_nics"]
        fn try_set_host_nics(self: &mut Experiment, nics: &[NicSettings]) -> Result<()>;
        /// Returns the hosts and policies of the experiment at its start.
        fn core(self: &Experiment) -> Box<Core>;

        type Core;

        fn graph(self: &Core) -> Graph;
        fn settings(self: &Core) -> FabricSettings;
        /// Returns the traffic classes of data, in their order; empty if data has one queue.
        fn classes(self: &Core) -> Vec<TrafficClass>;
        /// True without priority flow control (PFC), or if its headroom is at least that of the
        /// rule `worst-case` for packets of this length.
        fn has_headroom_for(self: &Core, wire_bytes: u32) -> bool;
        /// Returns the links that fail at some time, some of them repeatedly.
        fn failing_links(self: &Core) -> Vec<u32>;
        /// Returns every step, by time; simultaneous steps in the order in which they apply.
        fn steps(self: &Core) -> Vec<FabricStep>;
        /// Adds failures, sections `[[failure]]` of a scenario that begin now or later. `applied`
        /// is the number of `steps` applied so far. Later steps and losses become those of a
        /// scenario that also has these failures.
        #[cxx_name = "add_failures"]
        fn try_add_failures(
            self: &mut Core,
            sections: &str,
            applied: u32,
            now_ps: u64,
        ) -> Result<()>;
        /// Ends all failures that began before `at_ps` and last longer. `target` has the keys of a
        /// section `[[failure]]` that name the links, and `at_ps` is not before now. `applied` and
        /// the effects are as above.
        #[cxx_name = "end_failures"]
        fn try_end_failures(
            self: &mut Core,
            target: &str,
            at_ps: u64,
            applied: u32,
            now_ps: u64,
        ) -> Result<()>;

        /// Polls a host's next packet; its wire has been free since `free_ps`. Returns false if no
        /// packet starts by now. Sets `free_ps` to the start of the packet, or, without one, to the
        /// earliest time at which a packet can start.
        fn poll_transmit(
            self: &mut Core,
            host: u32,
            now_ps: u64,
            free_ps: &mut u64,
            packet: &mut FabricPacket,
        ) -> bool;
        /// Polls a host's next control packet. Returns false if none is queued. Control packets are
        /// sent even while data is paused.
        fn poll_transmit_control(self: &mut Core, host: u32, packet: &mut FabricPacket) -> bool;
        /// Polls the next packet of a multi-port host. Returns false if none starts by now.
        /// `free_ps` is the time since which each wire is free, by plane; `paused` is a bitmap of
        /// the planes whose data is paused. Sets the start and the plane of the packet.
        fn poll_transmit_on(
            self: &mut Core,
            host: u32,
            now_ps: u64,
            free_ps: &[u64],
            paused: u32,
            start_ps: &mut u64,
            plane: &mut u32,
            packet: &mut FabricPacket,
        ) -> bool;
        /// Restarts the polling of a multi-port host after it received input. Packets that it could
        /// send before must have been polled.
        fn poll_anew(self: &mut Core, host: u32, now_ps: u64);
        /// Chooses the packet that starts at `now_ps` on a host's wire, which IP packets share.
        /// `waiting` is a bitmap of the unpaused classes with IP packets, and `first` of the
        /// classes in which IP is next. Returns true if a packet of the host starts. Returns false
        /// if an IP packet starts, and sets its class.
        fn poll_transmit_beside(
            self: &mut Core,
            host: u32,
            now_ps: u64,
            waiting: u8,
            first: u8,
            packet: &mut FabricPacket,
            traffic_class: &mut u32,
        ) -> bool;
        /// Charges the IP packet that starts to its class, which was polled. `waits` is true if the
        /// class has more IP packets.
        fn charge_beside(self: &mut Core, host: u32, traffic_class: u32, bytes: u16, waits: bool);
        /// Pauses or resumes a traffic class of a host, as the far end of its wire orders.
        fn pause_class(self: &mut Core, host: u32, traffic_class: u32, paused: bool);
        /// True if the host has a packet to send, now or when its pacer permits.
        fn has_packets(self: &Core, host: u32) -> bool;
        /// Delivers a packet to a host. True if `poll_touched`, `poll_message_event` or
        /// `poll_completion` have something to return, or everything is finished.
        fn handle_packet(self: &mut Core, host: u32, now_ps: u64, packet: &FabricPacket) -> bool;
        /// Wakes a host at the time that it requested, or after a message was posted. An early call
        /// has no effect. Returns the same as `handle_packet`.
        fn handle_timeout(self: &mut Core, host: u32, now_ps: u64) -> bool;
        /// Returns the time to wake a host if no packet arrives before. Its wire, or the first of
        /// several, is free from `free_ps` on.
        fn next_wake(self: &Core, host: u32, now_ps: u64, free_ps: u64) -> u64;
        /// Polls a host whose wake-up may be earlier than before; the largest number if none
        /// remains.
        fn poll_touched(self: &mut Core) -> u32;
        /// Polls an event of a message; false if none remains.
        fn poll_message_event(self: &mut Core, event: &mut FabricMessageEvent) -> bool;
        /// Reports the events of all messages from now on, not only of posted ones.
        fn report_all_messages(self: &mut Core);
        /// True once every message is delivered and completed, and every work request completed.
        fn is_finished(self: &Core) -> bool;
        /// Adds a message and returns its id; its sender is among the hosts of `poll_touched`.
        #[cxx_name = "post"]
        fn try_post(
            self: &mut Core,
            src: u32,
            dst: u32,
            bytes: u64,
            now_ps: u64,
            start_ps: u64,
            stream: u32,
        ) -> Result<u32>;

        /// Returns a stream of a traffic class for programs; the empty name is that of the first
        /// class. Streams of queue pairs and of messages are counted separately.
        #[cxx_name = "stream_in"]
        fn try_stream_in(self: &Core, name: &str, stream: u32, of_qp: bool) -> Result<u32>;
        /// Creates a queue pair with completions at a host, in state RESET, and returns its number
        /// there. Queue pairs of two hosts with different `stream` are balanced independently.
        #[cxx_name = "create_qp"]
        fn try_create_qp(self: &mut Core, host: u32, peer: u32, stream: u32) -> Result<u32>;
        /// Sets the peer's number of a queue pair.
        #[cxx_name = "set_peer_qp"]
        fn try_set_peer_qp(self: &mut Core, host: u32, qp: u32, peer_qp: u32) -> Result<()>;
        /// Changes the state of a queue pair. The host may have packets to send after this call and
        /// each call below, so packets that it could send before must be polled first.
        #[cxx_name = "modify_qp"]
        fn try_modify_qp(
            self: &mut Core,
            host: u32,
            qp: u32,
            state: FabricQpState,
            now_ps: u64,
        ) -> Result<()>;
        #[cxx_name = "query_qp"]
        fn try_query_qp(self: &Core, host: u32, qp: u32) -> Result<FabricQpState>;
        /// Destroys a queue pair and flushes its incomplete work.
        #[cxx_name = "destroy_qp"]
        fn try_destroy_qp(self: &mut Core, host: u32, qp: u32, now_ps: u64) -> Result<()>;
        /// Posts a work request.
        #[cxx_name = "post_send"]
        fn try_post_send(
            self: &mut Core,
            host: u32,
            qp: u32,
            work: &FabricWork,
            now_ps: u64,
        ) -> Result<()>;
        /// Posts a receive with that id.
        #[cxx_name = "post_receive"]
        fn try_post_receive(
            self: &mut Core,
            host: u32,
            qp: u32,
            id: u64,
            now_ps: u64,
        ) -> Result<()>;
        /// Polls a completion of any host; false if none remains. A host with completions requests
        /// an immediate wake-up.
        fn poll_completion(self: &mut Core, completion: &mut FabricCompletion) -> bool;

        /// Applies a switch's policy to a packet. Returns the index of its output port; the largest
        /// number without a port. `loads` are the bytes queued at each port of the switch and on
        /// its wire, or empty unless the policy looks at queues.
        fn route(
            self: &mut Core,
            switch_number: u32,
            now_ps: u64,
            packet: &mut FabricPacket,
            loads: &[u64],
        ) -> u32;
        /// Returns the only port towards a host, valid until the next step is applied. Returns the
        /// largest number if there is not exactly one, or if the policy must see every packet.
        fn only_port(self: &Core, switch_number: u32, dst: u32) -> u32;
        /// Returns the position of a port among simultaneous arrivals.
        fn place(self: &Core, now_ps: u64, port: u32) -> u32;
        /// Admits a packet that cannot start immediately at a switch port: marks, trims and counts
        /// it. [`Enqueued::Unsettled`] changes nothing: the simulator starts all packets of the
        /// switch that are due by now, and calls again.
        fn enqueue(self: &mut Core, queued: &QueueState, packet: &mut FabricPacket) -> Enqueued;
        /// Counts and marks a packet that leaves a queue of a switch port and starts. `queued` are
        /// the bytes of its class left there. Returns the order for the link `ingress`.
        fn dequeue(
            self: &mut Core,
            port: u32,
            ingress: u32,
            queued: u32,
            packet: &mut FabricPacket,
        ) -> FabricPfcOrder;
        /// Marks a packet that starts immediately and bypasses bytes that a pause holds.
        fn bypass(self: &mut Core, port: u32, queued: u32, packet: &mut FabricPacket);
        /// Counts a PFC frame that is queued at a switch port. It is admitted even without room.
        fn count_frame(self: &mut Core, port: u32, bytes: u16);
        /// Returns the traffic class whose packet starts next at a switch port. `waiting` is a
        /// bitmap of the unpaused classes with packets; at least one bit is set.
        fn choose_class(self: &mut Core, port: u32, waiting: u8) -> u32;
        /// Charges a packet that starts there to its class, which was chosen. `waits` is true if
        /// the class has more packets.
        fn charge_class(self: &mut Core, port: u32, traffic_class: u32, bytes: u16, waits: bool);
        /// True if a packet is lost on the wire of a port. Its first bit started and its last bit
        /// arrived at these times. Frames of flow control are never lost.
        fn loses(self: &mut Core, port: u32, start_ps: u64, end_ps: u64) -> bool;
        /// Applies a step, by index, to policies, buffers, routing and NICs. A multi-port NIC at an
        /// end of the step's link may have packets to send after it, so packets that it could send
        /// before must be polled first.
        fn apply_step(self: &mut Core, step: u32, now_ps: u64);

        /// Returns every flow so far, by message and piece.
        fn flows(self: &Core) -> Vec<FabricFlow>;
        /// Returns the sums of all NICs' counters.
        fn nic_counters(self: &Core) -> FabricNicCounters;
        fn qp_counts(self: &Core) -> FabricQpCounts;
        /// Stores the simulator's measurements, for comparisons.
        fn record(self: &mut Core, measured: &Measured);
    }

    impl Vec<FabricLink> {}
    impl Vec<FabricStep> {}
    impl Vec<FabricFlow> {}
    impl Vec<FabricPause> {}
}
