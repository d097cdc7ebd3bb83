//! The yardstick: the practical limit of a single-threaded packet-level simulation. It runs a
//! permutation on a three-tier fat-tree with hashed spraying and a fixed window. There is one event
//! per packet and hop, one packet ring per port, and a calendar queue. It has no transport, loss or
//! statistics. A full simulator is judged by its ratio to the yardstick, measured in the same run.

/// One event: the packet at the head of `port` reaches the far end of its wire.
#[derive(Clone, Copy)]
struct Event {
    time_ps: u64,
    seq: u32,
    port: u32,
}

/// Buckets of 2^SHIFT ps, sorted when they become current. Every delay is far shorter than the
/// wheel, so no overflow list is needed.
struct Calendar {
    buckets: Vec<Vec<Event>>,
    now_bucket: u64,
    current: Vec<Event>,
    cursor: usize,
    seq: u32,
    live: usize,
}

const SHIFT: u32 = 10;
const SLOTS: u64 = 1 << 12;

impl Calendar {
    fn new() -> Self {
        Self {
            buckets: vec![Vec::new(); SLOTS as usize],
            now_bucket: 0,
            current: Vec::new(),
            cursor: 0,
            seq: 0,
            live: 0,
        }
    }

    fn push(&mut self, time_ps: u64, port: u32) {
        self.seq = self.seq.wrapping_add(1);
        self.live += 1;
        let event = Event { time_ps, seq: self.seq, port };
        let bucket = time_ps >> SHIFT;
        assert!(bucket - self.now_bucket < SLOTS, "delay beyond the wheel");
        if bucket == self.now_bucket {
            let at = self.current[self.cursor..].partition_point(|e| e.time_ps <= time_ps);
            self.current.insert(self.cursor + at, event);
        } else {
            self.buckets[(bucket % SLOTS) as usize].push(event);
        }
    }

    fn pop(&mut self) -> Option<Event> {
        while self.cursor == self.current.len() {
            if self.live == 0 {
                return None;
            }
            self.current.clear();
            self.cursor = 0;
            self.now_bucket += 1;
            let slot = (self.now_bucket % SLOTS) as usize;
            if !self.buckets[slot].is_empty() {
                std::mem::swap(&mut self.current, &mut self.buckets[slot]);
                self.current.sort_unstable_by_key(|e| (e.time_ps, e.seq));
            }
        }
        self.cursor += 1;
        self.live -= 1;
        Some(self.current[self.cursor - 1])
    }
}

#[derive(Clone, Copy, Default)]
struct Packet {
    arrives_ps: u64,
    flow: u32,
    src: u32,
    dst: u32,
    count: u32,
    bytes: u16,
    entropy: u16,
    is_ack: bool,
}

#[derive(Default)]
struct Port {
    busy_until_ps: u64,
    fifo: std::collections::VecDeque<Packet>,
}

#[derive(Clone, Default)]
struct Flow {
    sent: u32,
    acked: u32,
    received: u32,
    unacked: u32,
    done_ps: u64,
    random: u64,
}

struct FatTree {
    k: u32,
    n_hosts: u32,
    packets_per_flow: u32,
    now_ps: u64,
    hops: u64,
    calendar: Calendar,
    ports: Vec<Port>,
    flows: Vec<Flow>,
}

const LINK_PS: u64 = 1_000_000;
const PS_PER_BYTE: u64 = 20;
const WINDOW: u32 = 225;
const DATA_BYTES: u16 = 4160;
const ACK_BYTES: u16 = 64;
const ACK_EVERY: u32 = 4;

fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

impl FatTree {
    fn new(k: u32, message_bytes: u64) -> Self {
        let n_hosts = k * k * k / 4;
        let flow = |i: u32| Flow {
            random: 88_172_645_463_325_252 ^ (u64::from(i + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            ..Flow::default()
        };
        Self {
            k,
            n_hosts,
            packets_per_flow: message_bytes.div_ceil(4096) as u32,
            now_ps: 0,
            hops: 0,
            calendar: Calendar::new(),
            ports: (0..6 * n_hosts).map(|_| Port::default()).collect(),
            flows: (0..n_hosts).map(flow).collect(),
        }
    }

    fn run(&mut self) {
        for flow in 0..self.n_hosts {
            self.send(flow);
        }
        while let Some(event) = self.calendar.pop() {
            self.now_ps = event.time_ps;
            let fifo = &mut self.ports[event.port as usize].fifo;
            let packet = fifo.pop_front().expect("an event means a packet");
            if let Some(next) = fifo.front() {
                self.calendar.push(next.arrives_ps, event.port);
            }
            self.hops += 1;
            match self.next_port(event.port, &packet) {
                Some(port) => self.enqueue(port, packet),
                None => self.deliver(packet),
            }
        }
    }

    fn enqueue(&mut self, port_index: u32, mut packet: Packet) {
        let port = &mut self.ports[port_index as usize];
        port.busy_until_ps =
            port.busy_until_ps.max(self.now_ps) + u64::from(packet.bytes) * PS_PER_BYTE;
        packet.arrives_ps = port.busy_until_ps + LINK_PS;
        port.fifo.push_back(packet);
        if port.fifo.len() == 1 {
            self.calendar.push(packet.arrives_ps, port_index);
        }
    }

    /// Returns the next port. Ports are grouped in layers of n_hosts each: 0 host up, 1 edge down,
    /// 2 edge up, 3 aggregation down, 4 aggregation up, 5 core down.
    fn next_port(&self, from: u32, packet: &Packet) -> Option<u32> {
        let (n, h) = (self.n_hosts, self.k / 2);
        let (layer, x) = (from / n, from % n);
        let label = u32::from(packet.entropy) ^ packet.flow.wrapping_mul(2_654_435_761);
        Some(match layer {
            0 if packet.dst / h == x / h => n + packet.dst,
            0 => 2 * n + (x / h) * h + mix(label) % h,
            2 => {
                let aggregation = x / h / h * h + x % h;
                if packet.dst / (h * h) == x / h / h {
                    3 * n + aggregation * h + packet.dst / h % h
                } else {
                    4 * n + aggregation * h + mix(label ^ 0x9e37_79b9) % h
                }
            }
            4 => 5 * n + ((x / h % h) * h + x % h) * self.k + packet.dst / (h * h),
            5 => 3 * n + (x % self.k * h + x / self.k / h) * h + packet.dst / h % h,
            3 => n + packet.dst,
            _ => return None,
        })
    }

    fn deliver(&mut self, packet: Packet) {
        let total = self.packets_per_flow;
        let flow = &mut self.flows[packet.flow as usize];
        if packet.is_ack {
            flow.acked += packet.count;
            if flow.acked == total {
                flow.done_ps = self.now_ps;
            } else {
                self.send(packet.flow);
            }
            return;
        }
        flow.received += 1;
        flow.unacked += 1;
        if flow.unacked == ACK_EVERY || flow.received == total {
            let count = std::mem::take(&mut flow.unacked);
            let ack = Packet {
                src: packet.dst,
                dst: packet.src,
                count,
                bytes: ACK_BYTES,
                is_ack: true,
                ..packet
            };
            self.enqueue(packet.dst, ack);
        }
    }

    fn send(&mut self, flow_index: u32) {
        let dst = (flow_index + self.n_hosts / 2) % self.n_hosts;
        loop {
            let flow = &mut self.flows[flow_index as usize];
            if flow.sent == self.packets_per_flow || flow.sent - flow.acked >= WINDOW {
                return;
            }
            flow.sent += 1;
            flow.random ^= flow.random << 13;
            flow.random ^= flow.random >> 7;
            flow.random ^= flow.random << 17;
            let packet = Packet {
                flow: flow_index,
                src: flow_index,
                dst,
                count: 1,
                bytes: DATA_BYTES,
                entropy: (flow.random >> 32) as u16,
                ..Packet::default()
            };
            self.enqueue(flow_index, packet);
        }
    }
}

/// Returns the packet-hops of a run on a `k`-ary fat-tree in which each host sends `message_bytes`.
pub(super) fn hops(k: u32, message_bytes: u64) -> u64 {
    let mut net = FatTree::new(k, message_bytes);
    net.run();
    assert!(net.flows.iter().all(|flow| flow.done_ps > 0), "every flow completes");
    net.hops
}
