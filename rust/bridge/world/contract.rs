//! The calls that C++ makes, and the one call that Rust makes.
//!
//! Constructors can fail, with the text that the command line would print; a panic in a call that
//! can fail is its error too ([`super::panic_guard`]). Calls on the packet path cannot fail, and
//! allocate nothing; a value there that no enumeration has is a broken invariant and ends the
//! process with a message.

use super::core::Core;
use super::experiment::Experiment;
use super::panic_guard::{
    experiment_of_hpcc, experiment_of_scenario, experiment_of_text, experiment_on_graph, graph_of,
};

pub(in crate::bridge) use ffi::*;

#[allow(
    unsafe_code,
    unreachable_pub,
    reason = "cxx generates the calls across the language border, and their visibility"
)]
#[allow(clippy::too_many_arguments, reason = "C++ passes plain numbers one by one")]
#[cxx::bridge(namespace = "evenkeel::contract")]
mod ffi {
    /// A switch: its name, and the number of switch tiers between it and the hosts.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct SwitchNode {
        name: String,
        tier: u32,
    }

    /// Hosts, switches and the links between them.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct Graph {
        hosts: Vec<String>,
        switches: Vec<SwitchNode>,
        links: Vec<FabricLink>,
        /// Whether hosts have several ports to switches of one fabric (two ToRs); otherwise those
        /// with several links have a plane for each.
        joined_ports: bool,
    }

    /// A traffic class of data: its name, and whether priority flow control protects it.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct TrafficClass {
        name: String,
        pfc: bool,
    }

    /// The NICs of some hosts: the text of a scenario whose section `[transport]` is theirs, and
    /// the settings of their queue pairs of programs.
    #[derive(Debug, Clone, Default)]
    struct NicSettings {
        hosts: Vec<u32>,
        settings: String,
        queue_pairs: FabricQpSettings,
    }

    /// A call for failures during a run: when it is made, and sections `[[failure]]`.
    #[cfg(feature = "ns3")]
    #[derive(Debug, Clone, Default)]
    struct LateFailures {
        at_ps: u64,
        sections: String,
    }

    /// What overrides the values of a file: a policy unless it is empty, and a seed if there is
    /// one.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct Overrides {
        policy: String,
        has_seed: bool,
        seed: u64,
    }

    /// How a run ended: every message completed, no event was left, or the time limit passed.
    #[derive(Debug, Default)]
    #[repr(u8)]
    enum Verdict {
        #[default]
        Completed,
        Stalled,
        TimeLimit,
    }

    /// The kind of a packet event at a port.
    #[derive(Debug)]
    #[repr(u8)]
    enum PacketEvent {
        /// Its last bit arrived.
        Received,
        /// It joined the queue.
        Enqueued,
        /// It left the queue and starts.
        Dequeued,
        /// It was dropped at the queue, which it did not join.
        Dropped,
    }

    /// The recording of an experiment of the HPCC family: the packets at some ports (a packet that
    /// arrives over a link counts at the port that sends back over it), and the counters of
    /// others, sampled from `next_sample_ps` on.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    struct RecordPlan {
        traced_ports: Vec<u32>,
        sampled_ports: Vec<u32>,
        next_sample_ps: u64,
    }

    /// The measurements of a world's links and switches at the end of a run.
    #[derive(Debug, Clone, Default)]
    struct Measured {
        verdict: Verdict,
        ended_ps: u64,
        counters: FabricCounters,
        events: u64,
        /// The data packets in queues and on wires.
        in_flight: u64,
        /// The most bytes that waited, by port; 0 for the ports of hosts.
        queue_bytes_max: Vec<u64>,
        /// The bytes that each port sent.
        link_bytes: Vec<u64>,
        pauses: Vec<FabricPause>,
        /// The data packets that were dropped, by traffic class; empty without classes.
        dropped_by_class: Vec<u64>,
    }

    #[namespace = "ns3"]
    unsafe extern "C++" {
        include!("fabric-packet.h");
        include!("fabric-records.h");
        include!("fabric-verbs-records.h");

        type FabricPacket = super::super::records::FabricPacket;
        type FabricLink = super::super::records::FabricLink;
        type FabricSettings = super::super::records::FabricSettings;
        type FabricEcn = super::super::records::FabricEcn;
        type FabricIngress = super::super::records::FabricIngress;
        type FabricFault = super::super::records::FabricFault;
        type FabricStep = super::super::records::FabricStep;
        type FabricFlow = super::super::records::FabricFlow;
        type FabricMessageEvent = super::super::records::FabricMessageEvent;
        type FabricRounding = super::super::enumerations::FabricRounding;
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

        /// Runs an experiment in ns-3 until `core` reports its end, and returns the core with
        /// what was measured. A process has one ns-3 simulator: calls must not overlap.
        fn run_in_ns3(experiment: &Experiment, core: Box<Core>) -> Result<Box<Core>>;
        /// Does the same with failures that a script adds during the run.
        fn run_in_ns3_with_late_failures(
            experiment: &Experiment,
            core: Box<Core>,
            late: &[LateFailures],
        ) -> Result<Box<Core>>;
        /// Does the same for an experiment of the HPCC family and writes its files into a folder.
        fn run_hpcc_in_ns3(
            experiment: &Experiment,
            core: Box<Core>,
            folder: &str,
        ) -> Result<Box<Core>>;
    }

    extern "Rust" {
        type Experiment;

        /// Reads the file of a scenario.
        fn experiment_of_scenario(path: &str, overrides: &Overrides) -> Result<Box<Experiment>>;
        /// Reads the text of a scenario; paths in it are relative to `folder`.
        fn experiment_of_text(
            text: &str,
            folder: &str,
            overrides: &Overrides,
        ) -> Result<Box<Experiment>>;
        /// Takes a graph, and the text of a scenario for the rest: of its section `[topology]` only
        /// `gap` and `forwarding_delay`. Without `[workload]` and `[[job]]` no message is sent
        /// until one is posted.
        fn experiment_on_graph(
            graph: &Graph,
            text: &str,
            folder: &str,
            overrides: &Overrides,
        ) -> Result<Box<Experiment>>;
        /// Reads a configuration of the HPCC family.
        fn experiment_of_hpcc(
            path: &str,
            overrides: &Overrides,
            rounding: FabricRounding,
        ) -> Result<Box<Experiment>>;
        /// The graph of a section `[topology]`, without its heading; `folder` as above.
        fn graph_of(section: &str, folder: &str) -> Result<Graph>;

        fn graph(self: &Experiment) -> Graph;
        fn settings(self: &Experiment) -> FabricSettings;
        /// The traffic classes of data, in their order; none if data has one queue.
        fn classes(self: &Experiment) -> Vec<TrafficClass>;
        /// The marking at a port that starts at a switch.
        fn ecn(self: &Experiment, port: u32) -> FabricEcn;
        /// A sentence for each key of the files that is ignored or has another effect here.
        fn warnings(self: &Experiment) -> Vec<String>;
        fn policy(self: &Experiment) -> String;
        /// Sets the queue pairs of programs, for cores that are made from now on.
        #[cxx_name = "set_queue_pairs"]
        fn try_set_queue_pairs(self: &mut Experiment, settings: &FabricQpSettings) -> Result<()>;
        /// Gives some hosts other NICs than the rest has, for cores that are made from now on.
        #[cxx_name = "set_own_nics"]
        fn try_set_own_nics(self: &mut Experiment, nics: &[NicSettings]) -> Result<()>;
        /// The hosts and policies of the experiment at its start.
        fn core(self: &Experiment) -> Box<Core>;
        /// Starts to record the calls of `trace_packet` and `sample` for the files that the
        /// configuration requests. Only experiments of the HPCC family have such files.
        #[cxx_name = "record_hpcc"]
        fn try_record_hpcc(self: &Experiment, core: &mut Core) -> Result<RecordPlan>;
        /// Writes `fct.txt`, `pfc.txt` and the recorded files into a folder. Only experiments of
        /// the HPCC family have such files.
        #[cxx_name = "write_hpcc"]
        fn try_write_hpcc(self: &Experiment, core: &mut Core, folder: &str) -> Result<()>;

        type Core;

        /// What priority flow control (PFC) keeps for a traffic class of a port that ends at a
        /// switch; the only class is 0 if data has one queue.
        fn ingress(self: &Core, port: u32, traffic_class: u32) -> FabricIngress;
        /// The memory of a switch beyond what its links keep for themselves, in bytes.
        fn pool_size(self: &Core, switch_number: u32) -> u64;
        /// Every fault, by link and time; those that overlap are not joined.
        fn faults(self: &Core) -> Vec<FabricFault>;
        /// Every step, by time; those of one time in the order in which they are applied.
        fn steps(self: &Core) -> Vec<FabricStep>;
        /// Adds failures, sections `[[failure]]` of a scenario, none of which begins before now.
        /// `applied`: how many of `steps` have been applied; from there on `steps`, and `faults`,
        /// are those of a scenario that has these failures too.
        #[cxx_name = "add_failures"]
        fn try_add_failures(
            self: &mut Core,
            sections: &str,
            applied: u32,
            now_ps: u64,
        ) -> Result<()>;
        /// Ends all failures that began before `at_ps` and last longer. `target`: the keys of a
        /// section `[[failure]]` that name the links; `at_ps` is not before now, and `applied` and
        /// what changes are as above.
        #[cxx_name = "end_failures"]
        fn try_end_failures(
            self: &mut Core,
            target: &str,
            at_ps: u64,
            applied: u32,
            now_ps: u64,
        ) -> Result<()>;

        /// Takes the packet that starts next on a host's wire, which is free since `free_ps`:
        /// false if none starts by now. Sets `free_ps` to the start of the packet, or, if none
        /// starts, to the time from which the wire is free for the first packet that can.
        fn poll_transmit(
            self: &mut Core,
            host: u32,
            now_ps: u64,
            free_ps: &mut u64,
            packet: &mut FabricPacket,
        ) -> bool;
        /// Takes the control packet that starts now, if there is one: a host sends these while
        /// its data is paused.
        fn poll_transmit_control(self: &mut Core, host: u32, packet: &mut FabricPacket) -> bool;
        /// Takes the packet that starts next on a port of a host with several: false if none starts
        /// by now. `free_ps`: since when the wire of each is free, by plane; `paused`: the planes
        /// whose data is paused, a bit each. Sets the start and the plane of the packet.
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
        /// After something went into a host with several ports, once what it could send before has
        /// been sent: what it can send from now on is polled.
        fn poll_anew(self: &mut Core, host: u32, now_ps: u64);
        /// Takes what starts at `now_ps` on a host's wire, for which others have packets too. Bit
        /// `c` of `waiting`: in traffic class `c`, which is not paused; of `first`: it is their
        /// turn in that class. True if a packet of the host starts; false if one of the others
        /// does, of the class that is set.
        fn poll_transmit_beside(
            self: &mut Core,
            host: u32,
            now_ps: u64,
            waiting: u8,
            first: u8,
            packet: &mut FabricPacket,
            traffic_class: &mut u32,
        ) -> bool;
        /// A packet of others has started, of the class that was polled; `waits`: others of the
        /// class do still.
        fn charge_beside(self: &mut Core, host: u32, traffic_class: u32, bytes: u16, waits: bool);
        /// The far end of a host's wire pauses a traffic class, or resumes it.
        fn pause_class(self: &mut Core, host: u32, traffic_class: u32, paused: bool);
        /// True if the host has a packet to send, now or when its pacer permits.
        fn has_packets(self: &Core, host: u32) -> bool;
        /// Delivers a packet to a host. True if `poll_touched`, `poll_message_event` or
        /// `poll_completion` have something to return, or everything is finished.
        fn handle_packet(self: &mut Core, host: u32, now_ps: u64, packet: &FabricPacket) -> bool;
        /// Wakes a host at the time that it requested, or after a message was posted; an early
        /// call has no effect. Returns the same as `handle_packet`.
        fn handle_timeout(self: &mut Core, host: u32, now_ps: u64) -> bool;
        /// The time to wake a host if no packet arrives before, with its wire (of several, the
        /// first) free from `free_ps` on.
        fn next_wake(self: &Core, host: u32, now_ps: u64, free_ps: u64) -> u64;
        /// Takes a host whose wake-up may be earlier than before; the largest number if none
        /// remains.
        fn poll_touched(self: &mut Core) -> u32;
        /// Takes an event of a message; false if none remains.
        fn poll_message_event(self: &mut Core, event: &mut FabricMessageEvent) -> bool;
        /// Reports the events of every message from now on, not only of those that were posted.
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

        /// Creates a queue pair with completions at a host, in state RESET, and returns its
        /// number there. The queue pairs of two hosts that differ in `stream` are balanced apart.
        #[cxx_name = "create_qp"]
        fn try_create_qp(self: &mut Core, host: u32, peer: u32, stream: u32) -> Result<u32>;
        /// Sets the number of a queue pair's peer.
        #[cxx_name = "set_peer_qp"]
        fn try_set_peer_qp(self: &mut Core, host: u32, qp: u32, peer_qp: u32) -> Result<()>;
        /// Changes the state of a queue pair. After this call and each of those that follow the
        /// host may have packets to send: what it could have sent before must be polled before.
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
        /// Destroys a queue pair; work that has not completed is flushed.
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
        /// Takes a completion of any host; false if none remains. A host with completions
        /// asks to be woken at once.
        fn poll_completion(self: &mut Core, completion: &mut FabricCompletion) -> bool;

        /// The index of the port by which a packet leaves a switch, after its policy saw the
        /// packet; the largest number if no port can. `loads`: the bytes that wait at each port
        /// of the switch and on its wire; empty unless the policy looks at queues.
        fn route(
            self: &mut Core,
            switch_number: u32,
            now_ps: u64,
            packet: &mut FabricPacket,
            loads: &[u64],
        ) -> u32;
        /// The only port towards a host until the next step is applied; the largest number if
        /// there are several or none, or if the policy must see every packet.
        fn only_port(self: &Core, switch_number: u32, dst: u32) -> u32;
        /// The place of a port among those with arrivals at a time.
        fn place(self: &Core, now_ps: u64, port: u32) -> u32;
        /// Draws whether a packet is marked that finds these bytes without priority waiting.
        fn marks(self: &mut Core, port: u32, waiting_bytes: u64) -> bool;
        /// The traffic class whose packet starts next at a port of a switch. Bit `c` of `waiting`:
        /// class `c` has one, and is not paused; there is at least one.
        fn choose_class(self: &mut Core, port: u32, waiting: u8) -> u32;
        /// A packet starts there, of the class that was chosen; `waits`: others of the class do
        /// still.
        fn charge_class(self: &mut Core, port: u32, traffic_class: u32, bytes: u16, waits: bool);
        /// Draws whether a lossy link loses a packet that arrived by a port.
        fn loses(self: &mut Core, port: u32, numerator: u32, denominator: u32) -> bool;
        /// Informs policies, routing and NICs of a step, by its index among the steps. The NIC of a
        /// host with several ports that is at the link of a step of its ends may have packets to
        /// send: what it could have sent before must be polled before.
        fn apply_step(self: &mut Core, step: u32, now_ps: u64);

        /// Records an event of a packet at a traced port. `waiting`: the bytes in that queue
        /// without the packet; for one that arrived, those with priority.
        fn trace_packet(
            self: &mut Core,
            at_ps: u64,
            port: u32,
            event: PacketEvent,
            waiting: u32,
            packet: &FabricPacket,
        );
        /// Samples the counters at the time of a sample, before any other event at that time; no
        /// event happens until `next_event_ps`. By port: the bytes without priority that wait,
        /// and the bytes that have started. Returns the time of the next sample.
        fn sample(
            self: &mut Core,
            now_ps: u64,
            next_event_ps: u64,
            waiting: &[u32],
            carried: &[u64],
        ) -> u64;

        /// Every flow so far, by message and piece.
        fn flows(self: &Core) -> Vec<FabricFlow>;
        /// The sums of the counters of all NICs.
        fn nic_counters(self: &Core) -> FabricNicCounters;
        fn qp_counts(self: &Core) -> FabricQpCounts;
        /// Keeps what the world measured, for `write_hpcc` and for comparisons of worlds.
        fn record(self: &mut Core, measured: &Measured);
    }

    impl Vec<FabricLink> {}
    impl Vec<FabricFault> {}
    impl Vec<FabricStep> {}
    impl Vec<FabricFlow> {}
    impl Vec<FabricPause> {}
}
