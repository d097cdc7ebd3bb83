//! Splitters: messages from one host to each of four edge switches, until their pieces have
//! started.

use divan::Bencher;
use divan::counter::ItemsCount;
use evenkeel::balance::sender::PathSpace;
use evenkeel::ids::{HostId, MessageId, SwitchId};
use evenkeel::split::{Request, Split, SplitConfig, Splitter, SplitterContext, ethereal, line_cut};
use evenkeel::units::{Bytes, Time};

/// Number of destination edge switches.
const EDGES: u32 = 4;
/// Equal-cost paths to each edge switch.
const PATHS: usize = 64;

/// Passes messages to the splitter; returns the number of pieces.
fn divide(splitter: &mut Splitter, messages: u32) -> u64 {
    let paths = PathSpace::SINGLE.with_tier(PATHS).expect("few paths");
    for id in 0..messages * EDGES {
        let (dst, edge) = (HostId(100 + id), SwitchId(id / messages));
        let bytes = Bytes::new(8 << 20);
        let request = Request { message: MessageId(id), dst, edge, bytes, paths };
        splitter.handle_message(Time::ZERO, &request);
    }
    let mut pieces = 0;
    while let Some(now) = splitter.poll_timeout() {
        splitter.handle_timeout(now);
        while splitter.poll_flow(now).is_some() {
            pieces += 1;
        }
    }
    pieces
}

fn measure(bencher: Bencher<'_, '_>, config: &SplitConfig, messages: u32) {
    let host = SplitterContext { host: HostId(0), seed: 1, payload: Bytes::new(4096) };
    let pieces = divide(&mut config.build(&host), messages);
    bencher
        .counter(ItemsCount::new(pieces))
        .with_inputs(|| config.build(&host))
        .bench_local_refs(|splitter| divide(splitter, messages));
}

/// By messages per edge switch: 1 is cut for all paths, 32 for two each, 64 stay whole.
#[divan::bench(args = [1, 7, 32, 64])]
fn ethereal(bencher: Bencher<'_, '_>, messages: u32) {
    measure(bencher, &SplitConfig::Ethereal(ethereal::Config::default()), messages);
}

#[divan::bench(args = [1, 7, 32, 64])]
fn line_cut(bencher: Bencher<'_, '_>, messages: u32) {
    measure(bencher, &SplitConfig::LineCut(line_cut::Config::default()), messages);
}
