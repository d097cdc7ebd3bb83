//! Open questions in the public sources of MRC, in numerical order.

use super::Guess;

/// All questions.
pub(super) const GUESSES: [Guess; 21] = [
    Guess {
        name: "G1",
        open: "order of the rotation",
        proposed: "one shuffle for each queue pair over all planes, planes in turn; shuffled \
            anew after 16 turns",
        taken: "as proposed",
        keys: &["policy.reshuffle"],
        others: "any number of turns",
    },
    Guess {
        name: "G2",
        open: "how long a value is skipped",
        proposed: "one turn: the first skipped value that a packet meets is restored",
        taken: "as proposed",
        keys: &["policy.skip"],
        others: "each that a packet meets, or a time such as 1ms",
    },
    Guess {
        name: "G3",
        open: "which loss takes a value out",
        proposed: "time-outs alone, with and without trimming; how many is open",
        taken: "as proposed, one; a hole as old as the timer is a time-out, because a dead path \
            would never meet the timer",
        keys: &["policy.condemn", "policy.condemn_timeouts"],
        others: "repeated: also the second hole in a base RTT; hole: any loss; auto: hole with \
            trimming, else repeated",
    },
    Guess {
        name: "G4",
        open: "how old a hole is when it is a loss",
        proposed: "one base RTT after a later arrival",
        taken: "a retransmission timer, which no queue of a switch exceeds, because queues hold \
            several base RTTs: with one, packets were sent again that were not lost",
        keys: &["transport.recovery_parameters.reordering"],
        others: "rtt, a time",
    },
    Guess {
        name: "G5",
        open: "active and backup values",
        proposed: "96 of 128 active, as many in each plane",
        taken: "as proposed; all paths, because a backup would idle, where planes have fewer",
        keys: &["policy.evs", "policy.active"],
        others: "up to 4096 values, all of them active",
    },
    Guess {
        name: "G6",
        open: "probes",
        proposed: "every 100 µs, without an answer at doubled intervals up to 10 ms; one answer \
            revives, as good",
        taken: "as proposed; a backup if its plane has enough values in rotation",
        keys: &["policy.probe_every", "policy.probe_every_max", "policy.probe_successes"],
        others: "any interval and number",
    },
    Guess {
        name: "G7",
        open: "at the floor",
        proposed: "the value that is out longest comes back as good",
        taken: "as proposed, of the same plane if there is one",
        keys: &["policy.min_active"],
        others: "a floor of up to all values",
    },
    Guess {
        name: "G8",
        open: "when a SACK is due",
        proposed: "after 16 KiB, each packet counting as at least 1 KiB",
        taken: "as proposed: after 16 KiB or 16 packets; or after a base RTT, because a window \
            that shrinks may leave less in flight",
        keys: &["transport.ack_bytes", "transport.ack_every", "transport.ack_time"],
        others: "4096B is one program's choice",
    },
    Guess {
        name: "G9",
        open: "local timer",
        proposed: "the least 1.024 µs · 2^t of at least four base RTTs",
        taken: "of at least the retransmission timer, because queues hold more than four",
        keys: &[
            "transport.recovery_parameters.timer",
            "transport.recovery_parameters.linear",
            "transport.recovery_parameters.exponential",
        ],
        others: "rtt: as proposed; a time; 262us is the headers' example",
    },
    Guess {
        name: "G10",
        open: "when a NIC knows of its dead port",
        proposed: "after 100 µs",
        taken: "as `[[failure]]` has it, at once by default, because failures are of the \
            fabric, which policies that are compared share",
        keys: &["failure.detection"],
        others: "100us; a few seconds were measured on one NIC",
    },
    Guess {
        name: "G11",
        open: "packets in flight on a port that dies",
        proposed: "left to the recovery; new packets go by other planes",
        taken: "as proposed",
        keys: &[],
        others: "no key: only SACKs tell which of them arrived, and the recovery sends again \
                 what these miss",
    },
    Guess {
        name: "G12",
        open: "a port that is back",
        proposed: "usable once the status is known, its values once probed",
        taken: "as proposed",
        keys: &["policy.back"],
        others: "all, at once",
    },
    Guess {
        name: "G13",
        open: "several free ports",
        proposed: "the rotation decides, not the number of the port",
        taken: "as proposed",
        keys: &[],
        others: "no key: ports by number would load the first planes more, against the even \
                 spread that the sources ask for",
    },
    Guess {
        name: "G14",
        open: "ALWAYS_SKIP",
        proposed: "never sent; a sender obeys and takes the value out",
        taken: "as proposed",
        keys: &[],
        others: "no key: when a receiver sends it is undefined",
    },
    Guess {
        name: "G15",
        open: "initial window",
        proposed: "the largest, 1.5 bandwidth-delay products of the sum of the ports",
        taken: "as proposed",
        keys: &["transport.parameters.start_window", "transport.parameters.max_window"],
        others: "any number of bandwidth-delay products",
    },
    Guess {
        name: "G16",
        open: "one window or one for each plane",
        proposed: "one",
        taken: "as proposed",
        keys: &["transport.parameters.scope"],
        others: "plane; destination or destination-plane, which queue pairs to a host share",
    },
    Guess {
        name: "G17",
        open: "what a trim and an inferred loss do to the window",
        proposed: "as in Ultra Ethernet: each takes a packet off, and a trim calls for quick adapt",
        taken: "as proposed",
        keys: &[
            "transport.parameters.trim_cut",
            "transport.parameters.trims_call",
            "transport.parameters.loss_cut",
        ],
        others: "any number of packets, 0 among them; no quick adapt",
    },
    Guess {
        name: "G18",
        open: "the value that a SACK echoes",
        proposed: "that of the packet that made it due; a mark makes it due at once, so that \
            none is lost",
        taken: "as proposed",
        keys: &["transport.ack_marked"],
        others: "wait",
    },
    Guess {
        name: "G19",
        open: "the planes of SACKs",
        proposed: "one value for each usable plane, in turn",
        taken: "free planes in turn, with the value of the packet that they answer, because \
            before a probe is answered no other value is known to work",
        keys: &["policy.reverse"],
        others: "probe: with one for each plane that probes found",
    },
    Guess {
        name: "G20",
        open: "thresholds of switches",
        proposed: "ECN at 0.2 to 0.8 bandwidth-delay products of a plane, none at ports to \
            hosts; trimming beyond 1 (1.5 to hosts)",
        taken: "as proposed between switches; the rest as `[switch]` has it, because policies \
            that are compared share the fabric; without trimming there is a warning",
        keys: &[
            "switch.ecn.kmin",
            "switch.ecn.kmax",
            "switch.ecn_at_hosts",
            "switch.trim",
            "switch.port_buffer",
        ],
        others: "those proposed, for a fabric of MRC alone",
    },
    Guess {
        name: "G21",
        open: "length of a trimmed packet",
        proposed: "the headers: 102 B, with SRv6 142 B",
        taken: "as proposed, and so are those of data and SACKs",
        keys: &["switch.trim.size", "transport.header", "transport.ack"],
        others: "82 B over IPv4",
    },
];
