//! Splitters and rail allocators, with arbitrary sizes, paths and times.
//!
//! For any input, no byte is lost or sent twice, and every byte takes a valid path.

use std::collections::BTreeMap;

use evenkeel::balance::sender::PathSpace;
use evenkeel::balance::{Parameters, build_scheme};
use evenkeel::ids::{HostId, MessageId, RailId, SwitchId};
use evenkeel::rail::{self, AllocateError, Allocator, RailCost, RailOperation, RailSet};
use evenkeel::split::{Flow, Request, Split, Splitter, SplitterContext};
use evenkeel::units::{BitRate, Bytes, Span, Time};

use super::input::Input;

/// Presets, one for each splitter.
const SPLITTERS: [&str; 4] = ["ecmp", "subflow-4", "ethereal", "line-cut"];

/// The longest message; it is cut into packets of [`PAYLOAD`].
const LONGEST: u64 = 1 << 40;
const PAYLOAD: Bytes = Bytes::new(1_000);

/// The flows that a splitter has made of a message so far.
#[derive(Debug, Default)]
struct SplitMessage {
    bytes: Bytes,
    pieces: Vec<u32>,
    count: u32,
}

/// A splitter, the messages posted to it, and the flows that it made.
struct Host {
    now: Time,
    splitter: Splitter,
    posted: BTreeMap<MessageId, Request>,
    made: BTreeMap<MessageId, SplitMessage>,
    in_flight: usize,
}

/// Fuzzes the splitter of a host.
pub fn splitter(data: &[u8]) {
    let mut input = Input::new(data);
    let preset = SPLITTERS[usize::from(input.byte()) % SPLITTERS.len()];
    let scheme = build_scheme(preset, &Parameters::new()).expect("a preset has defaults");
    let context = SplitterContext { host: HostId(0), seed: input.byte().into(), payload: PAYLOAD };
    let mut host = Host {
        now: Time::ZERO,
        splitter: scheme.split.build(&context),
        posted: BTreeMap::new(),
        made: BTreeMap::new(),
        in_flight: 0,
    };
    while let Some(choice) = input.next() {
        host.act(choice, &mut input);
    }
    host.finish();
}

impl Host {
    fn act(&mut self, choice: u8, input: &mut Input) {
        match choice % 4 {
            0 | 1 => self.post(choice, input),
            2 => {
                let (edge, path) = (SwitchId(u32::from(choice >> 2) % 3), input.number() as u16);
                self.splitter.handle_failed_path(self.now, edge, path);
            }
            _ => {
                self.now += Span::from_ps(input.number() % 1_000_000_000_000);
                self.splitter.handle_timeout(self.now);
                self.take();
                if choice & 4 != 0 && self.in_flight > 0 {
                    self.splitter.handle_completed_flow(self.now);
                    self.in_flight -= 1;
                }
            }
        }
    }

    fn post(&mut self, choice: u8, input: &mut Input) {
        // All hosts below an edge switch have the same paths to it.
        let edge = u32::from(choice >> 2) % 3;
        let tiers = [&[1][..], &[5], &[4, 16]][edge as usize];
        let paths = tiers.iter().fold(PathSpace::SINGLE, |paths, &choices| {
            paths.with_tier(choices).expect("few paths")
        });
        let message = MessageId(self.posted.len() as u32);
        let bytes = Bytes::new(input.number() % LONGEST);
        let (dst, edge) = (HostId(1 + u32::from(choice >> 4)), SwitchId(edge));
        let request = Request { message, dst, edge, bytes, paths };
        self.posted.insert(message, request);
        self.splitter.handle_message(self.now, &request);
    }

    fn take(&mut self) {
        while let Some(flow) = self.splitter.poll_flow(self.now) {
            self.note(&flow);
        }
        let next = self.splitter.poll_timeout();
        assert!(next.is_none_or(|next| next > self.now), "{next:?} was due by {}", self.now);
    }

    fn note(&mut self, flow: &Flow) {
        let request = &self.posted[&flow.message];
        assert_eq!(flow.dst, request.dst);
        assert!(u32::from(flow.path) < request.paths.count(), "there is no path {}", flow.path);
        let made = self.made.entry(flow.message).or_default();
        made.bytes += flow.bytes;
        made.pieces.push(flow.piece);
        assert!(made.count == 0 || made.count == flow.pieces, "{} pieces", flow.pieces);
        made.count = flow.pieces;
        assert!(flow.bytes > Bytes::ZERO || request.bytes == Bytes::ZERO, "an empty piece");
        self.in_flight += 1;
    }

    /// Checks that every posted message eventually becomes flows.
    fn finish(&mut self) {
        self.take();
        while let Some(next) = self.splitter.poll_timeout() {
            self.now = next;
            self.splitter.handle_timeout(self.now);
            self.take();
            // Completing flows opens the windows of queue pairs.
            for _ in 0..std::mem::take(&mut self.in_flight) {
                self.splitter.handle_completed_flow(self.now);
            }
        }
        assert_eq!(self.made.len(), self.posted.len(), "messages without flows");
        for (message, made) in &mut self.made {
            made.pieces.sort_unstable();
            assert_eq!(made.pieces, (0..made.count).collect::<Vec<_>>(), "pieces of {message:?}");
            assert_eq!(made.bytes, self.posted[message].bytes, "bytes of {message:?}");
        }
    }
}

/// Fuzzes a rail allocator with durations from the input.
pub fn allocator(data: &[u8]) {
    let mut input = Input::new(data);
    let preset = rail::PRESETS[usize::from(input.byte()) % rail::PRESETS.len()].name;
    let config = rail::allocator_config(preset, &Parameters::new()).expect("a preset");
    let rails = usize::from(input.byte());
    let nominal: Vec<BitRate> =
        (0..rails).map(|_| BitRate::from_gbps(u64::from(input.byte()) + 1)).collect();
    let mut allocator = match config.build(&nominal) {
        Ok(allocator) => allocator,
        Err(_) => return assert!(!(1..=RailSet::CAPACITY).contains(&rails), "{rails} rails"),
    };
    while let Some(choice) = input.next() {
        if choice % 4 == 3 {
            let up = (0..64).map(RailId).filter(|rail| input.byte() >> (rail.0 % 8) & 1 == 1);
            allocator.handle_rails(up.collect());
            continue;
        }
        let (bytes, element) = (Bytes::new(input.number()), Bytes::new(choice.into()));
        allocate(&mut allocator, RailOperation { bytes, element }, &mut input);
    }
}

/// Divides an operation and reports costs, both of its parts and unrelated ones.
fn allocate(allocator: &mut Allocator, operation: RailOperation, input: &mut Input) {
    let division = match allocator.allocate(&operation) {
        Ok(division) => division,
        Err(error) => {
            assert_eq!(error, AllocateError::NoRail);
            return assert!(allocator.up().is_empty());
        }
    };
    assert_eq!(division.total(), operation.bytes);
    let element = operation.element.get().max(1);
    let mut costs = Vec::new();
    for range in division.ranges() {
        assert!(allocator.up().contains(range.rail), "rail {} is down", range.rail);
        assert!(range.range.start.is_multiple_of(element), "an element is cut");
        let duration = Span::from_ps(input.number());
        costs.push(RailCost { rail: range.rail, bytes: range.bytes(), duration });
        allocator.expected(&operation, range.rail, range.bytes());
        allocator.rate(&operation, range.rail);
    }
    if input.byte() & 1 == 1 {
        // An unsolicited cost report.
        let (rail, bytes) = (RailId(input.byte().into()), Bytes::new(input.number()));
        costs.push(RailCost { rail, bytes, duration: Span::from_ps(input.number()) });
    }
    allocator.handle_costs(&operation, &costs);
}
