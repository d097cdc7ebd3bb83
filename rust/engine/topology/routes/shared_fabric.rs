//! Next hops where each host has ports at several edge switches of one fabric (dual-ToR).
//!
//! A column of the table stands for a set of edge switches with a usable link to a host. Hosts with
//! the same set share a column. Without failures there is one column per set of edge switches. A
//! host that lost one of its links has another column, in which the switch without the link sends
//! its packets up again.

use std::collections::BTreeMap;

use super::search::{Neighbours, Search};
use super::{Attachment, CandidateGroups, OWN_EDGE, Routes};
use crate::ids::{HostId, SwitchId};
use crate::topology::Topology;

/// Returns the hosts' attachments by plane and host, and the edge switches of each plane by column.
/// An edge switch is [`Routes::NO_EDGE`] where the link is not usable.
pub(super) fn attach(
    topology: &Topology,
    usable: &[bool],
) -> (Vec<Attachment>, Vec<Vec<SwitchId>>) {
    let planes = topology.planes();
    let edge_of = |host: HostId, plane: usize| {
        let port = planes.ports_of(host)[plane];
        let edge = topology.ends_of(port).1.switch().unwrap_or(Routes::NO_EDGE);
        (port, edge, usable[port.link().index()])
    };
    let count = planes.count() as usize;
    let hosts = || (0..topology.host_count()).map(HostId);
    let key = |host: HostId| -> Vec<SwitchId> {
        let usable = (0..count).map(|plane| edge_of(host, plane));
        usable.map(|(_, edge, is_usable)| if is_usable { edge } else { Routes::NO_EDGE }).collect()
    };
    let mut columns: BTreeMap<Vec<SwitchId>, u32> = hosts().map(|host| (key(host), 0)).collect();
    (0u32..).zip(columns.values_mut()).for_each(|(index, column)| *column = index);
    let mut attachments = Vec::new();
    for plane in 0..count {
        attachments.extend(hosts().map(|host| {
            let (up, edge, is_usable) = edge_of(host, plane);
            let (column, down) = (columns[&key(host)], up.reverse());
            Attachment { column, down, usable: u32::from(is_usable), edge }
        }));
    }
    let edges = (0..count).map(|plane| columns.keys().map(|key| key[plane]).collect());
    (attachments, edges.collect())
}

/// Fills the table of all switches.
pub(super) fn fill(
    neighbours: &Neighbours,
    edges: &[Vec<SwitchId>],
    (table, groups): (&mut [u32], &mut CandidateGroups),
) {
    let columns = edges[0].len();
    let switches = table.len() / columns;
    let mut search = Search::new(switches);
    for column in 0..columns {
        let usable = edges.iter().map(|of_plane| of_plane[column]);
        let roots: Vec<SwitchId> = usable.filter(|&edge| edge != Routes::NO_EDGE).collect();
        search.run_from(neighbours, &roots);
        for switch in 0..switches {
            let plane = edges.iter().position(|edges| edges[column].index() == switch);
            table[switch * columns + column] = match plane {
                Some(plane) => OWN_EDGE - plane as u32,
                None => groups.insert(switch, search.closer(neighbours, switch)),
            };
        }
    }
}
