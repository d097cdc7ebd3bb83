//! What is wrong when nothing can go on.

use std::collections::{BTreeMap, BTreeSet};

use super::super::error::{ChakraFault, Dependency};
use super::matcher::Alone;
use super::rank::{Rank, Stage};
use super::{AHEAD, Fault, Player};

impl Player<'_> {
    /// Nothing is under way and nothing can begin: ranks are read further ahead.
    pub(super) fn widen(&mut self) -> Result<(), Fault> {
        let most = AHEAD.saturating_mul(self.streaming.window());
        let mut widened = false;
        for (number, rank) in (0u32..).zip(&mut self.ranks) {
            if rank.nodes.is_some() && rank.window < most {
                rank.window = rank.window.saturating_mul(2).min(most);
                self.hungry.insert(number);
                widened = true;
            }
        }
        if widened { Ok(()) } else { Err(self.explain(most)) }
    }

    /// Everything is over: a send without a receive is told now.
    pub(super) fn nobody_is_left_alone(&self) -> Result<(), Fault> {
        self.alone().map_or(Ok(()), Err)
    }

    fn explain(&self, most: usize) -> Fault {
        let ranks = || (0u32..).zip(&self.ranks);
        let circle = ranks().find_map(|(number, rank)| Some((number, circle(rank)?)));
        if let Some((number, (id, by, dependency))) = circle {
            let fault = ChakraFault::Cyclic { by, dependency };
            return (number, self.ranks[number as usize].at(id, fault));
        }
        let first = |rank: &Rank<'_>| {
            rank.live.iter().min_by_key(|(_, live)| live.place).map(|(&id, _)| id)
        };
        let unread = ranks().find(|(_, rank)| rank.nodes.is_some());
        if let Some((number, rank)) = unread {
            let fault = ChakraFault::OutOfReach { ahead: most };
            // A rank whose sends are over and not received may have no node that is not.
            return match first(rank) {
                Some(id) => (number, rank.at(id, fault)),
                None => (number, (None, None, fault)),
            };
        }
        if let Some(alone) = self.alone() {
            return alone;
        }
        let waits = ranks().find_map(|(number, rank)| Some((number, rank, first(rank)?)));
        let (number, rank, id) = waits.expect("who is stuck has nodes that are not over");
        (number, rank.at(id, ChakraFault::Deadlock))
    }

    /// The first send or receive that has met nobody.
    fn alone(&self) -> Option<Fault> {
        let ((src, dst, tag), who) = self.meetings.first()?;
        Some(match who {
            Alone::Send(send) => {
                let (this, other, peer) = ("send", "receive", dst);
                let fault = ChakraFault::Unmatched { this, other, peer, tag };
                (src, (Some(send.id), Some(send.offset), fault))
            }
            Alone::Receive(id) => {
                let (this, other, peer) = ("receive", "send", src);
                let fault = ChakraFault::Unmatched { this, other, peer, tag };
                (dst, self.ranks[dst as usize].at(id, fault))
            }
        })
    }
}

/// A node, what it waits for, and how much of that was looked at.
type Looked = (u64, Vec<(u64, Dependency)>, usize);

/// A node that waits for itself, and the one that it waits for on the way: at a control
/// dependency if there is one.
fn circle(rank: &Rank<'_>) -> Option<(u64, u64, Dependency)> {
    let waits = |id: u64| -> Vec<(u64, Dependency)> {
        let live = &rank.live[&id];
        let is_open = |(on, _): &(u64, Dependency)| rank.live.contains_key(on);
        let waits = live.stage == Stage::Waiting;
        live.before.iter().filter(|wait| waits && is_open(wait)).copied().collect()
    };
    let mut done: BTreeSet<u64> = BTreeSet::new();
    // In order of the file, as when it is read as a whole.
    let places: BTreeMap<u64, u64> = rank.live.iter().map(|(&id, it)| (it.place, id)).collect();
    for &start in places.values() {
        // The way down from here.
        let mut way: Vec<Looked> = Vec::new();
        let mut above: BTreeSet<u64> = BTreeSet::new();
        if !done.contains(&start) {
            way.push((start, waits(start), 0));
            above.insert(start);
        }
        while let Some((id, before, looked)) = way.last_mut() {
            let Some(&(on, _)) = before.get(*looked) else {
                done.insert(*id);
                above.remove(id);
                way.pop();
                continue;
            };
            *looked += 1;
            if above.contains(&on) {
                let begin = way.iter().position(|(id, ..)| *id == on).unwrap_or(0);
                let edges =
                    || way[begin..].iter().map(|(id, it, n)| (*id, it[n - 1].0, it[n - 1].1));
                let control = edges().find(|edge| edge.2 == Dependency::Control);
                return control.or_else(|| edges().next_back());
            }
            if !done.contains(&on) {
                above.insert(on);
                way.push((on, waits(on), 0));
            }
        }
    }
    None
}
