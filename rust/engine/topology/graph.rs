//! The topology of hosts, switches and links.

use super::intact_routes::IntactRoutes;
use super::{Direct, HostPath, Link, Node, Planes, ScaleUp, Switch, TopologyError, check, naming};
use crate::ids::{HostId, LinkId, PortId, SwitchId};
use crate::units::{BitRate, Span};

/// The graph of a fabric, valid by construction. Every host has one link in each plane. Planes
/// share no switch. Every host reaches every other through the switches of each plane. A fabric has
/// one plane unless it is built with several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    hosts: Vec<String>,
    switches: Vec<Switch>,
    links: Vec<Link>,
    planes: Planes,
    link_names: Vec<String>,
    scale_up: Option<ScaleUp>,
    direct: Option<Direct>,
    /// Number of networks that no link connects; 1 if all hosts reach each other.
    rails: u32,
    /// The ports of switch `s` are `switch_ports[first_port[s]..first_port[s + 1]]`.
    first_port: Vec<u32>,
    switch_ports: Vec<PortId>,
    pub(super) intact_routes: IntactRoutes,
}

impl Topology {
    /// Builds a topology from named hosts, switches and links; ids are indices into these lists.
    /// Two hosts wired to each other without a switch are a valid topology.
    ///
    /// # Errors
    /// Fails if a host does not have exactly one link, a link has a rate of zero or does not
    /// connect two different nodes, two nodes share a name, two hosts cannot reach each other, or
    /// a size exceeds [`MAX_HOSTS`](super::MAX_HOSTS), [`MAX_SWITCHES`](super::MAX_SWITCHES),
    /// [`MAX_LINKS`](super::MAX_LINKS) or [`MAX_ROUTES`](super::MAX_ROUTES).
    pub fn new(
        hosts: Vec<String>,
        switches: Vec<Switch>,
        links: Vec<Link>,
    ) -> Result<Self, TopologyError> {
        Self::with_planes(1, hosts, switches, links)
    }

    /// Builds a topology of several planes: the p-th link of each host, in order of ids, is in
    /// plane p.
    ///
    /// # Errors
    /// Fails as [`Self::new`] does, and if planes share a switch or wire hosts differently.
    pub fn with_planes(
        planes: u32,
        hosts: Vec<String>,
        switches: Vec<Switch>,
        links: Vec<Link>,
    ) -> Result<Self, TopologyError> {
        Self::checked(Networks::Planes(planes), hosts, switches, links)
    }

    /// Builds a topology of `rails` separate networks: host `h` reaches only the hosts of rail `h %
    /// rails`.
    ///
    /// # Errors
    /// Fails as [`Self::new`] does, except that hosts of different rails need not reach each other.
    pub(super) fn of_rails(
        rails: u32,
        hosts: Vec<String>,
        switches: Vec<Switch>,
        links: Vec<Link>,
    ) -> Result<Self, TopologyError> {
        Self::checked(Networks::Rails(rails), hosts, switches, links)
    }

    /// Builds a topology whose hosts have `ports` ports at different edge switches of one fabric:
    /// the p-th link of each host is its port p.
    ///
    /// # Errors
    /// Fails as [`Self::new`] does, and if an edge switch is attached to different port numbers.
    pub fn with_host_ports(
        ports: u32,
        hosts: Vec<String>,
        switches: Vec<Switch>,
        links: Vec<Link>,
    ) -> Result<Self, TopologyError> {
        Self::checked(Networks::Joined(ports), hosts, switches, links)
    }

    fn checked(
        networks: Networks,
        hosts: Vec<String>,
        switches: Vec<Switch>,
        links: Vec<Link>,
    ) -> Result<Self, TopologyError> {
        // The order matters: each check indexes by what earlier ones have validated. Sizes come
        // first because the other checks allocate by them.
        check::counts(hosts.len() as u128, switches.len() as u128, links.len() as u128)?;
        check::names(&hosts, &switches)?;
        check::links(&hosts, &switches, &links)?;
        let rails = match networks {
            Networks::Rails(rails) => rails,
            _ => 1,
        };
        let planes = match networks {
            Networks::Planes(1) | Networks::Rails(_) => {
                let host_ports = check::host_ports(&hosts, &switches, &links)?;
                check::reachability(rails, &hosts, &switches, &links)?;
                Planes::single(host_ports)
            }
            Networks::Planes(planes) => Planes::several(planes, &hosts, &switches, &links)?,
            Networks::Joined(ports) => Planes::shared_fabric(ports, &hosts, &switches, &links)?,
        };
        check::routes(&switches, &links, &planes)?;
        let link_names = naming::of_links(&hosts, &switches, &links);
        let (first_port, switch_ports) = ports_by_switch(switches.len(), &links);
        Ok(Self {
            hosts,
            switches,
            links,
            planes,
            link_names,
            scale_up: None,
            direct: None,
            rails,
            first_port,
            switch_ports,
            intact_routes: IntactRoutes::default(),
        })
    }

    /// Replaces the propagation delay of each link, in both directions. `delay` receives the link
    /// and its current delay.
    #[must_use]
    pub fn with_delays(mut self, mut delay: impl FnMut(LinkId, Span) -> Span) -> Self {
        for (id, link) in (0u32..).map(LinkId).zip(&mut self.links) {
            link.delay = delay(id, link.delay);
        }
        self.intact_routes = IntactRoutes::default();
        self
    }

    /// Adds `latency` to the propagation delay of each host link, in both directions.
    pub fn with_host_latency(mut self, latency: Span) -> Self {
        let hosts = |link: &&mut Link| link.ends.iter().any(|end| matches!(end, Node::Host(_)));
        self.links.iter_mut().filter(hosts).for_each(|link| link.delay += latency);
        self.intact_routes = IntactRoutes::default();
        self
    }

    /// Makes the topology a direct network with these groups.
    pub(super) fn with_direct(self, direct: Direct) -> Self {
        Self { direct: Some(direct), ..self }
    }

    /// Returns the groups of a direct network, or `None` if there is a top tier.
    pub fn direct(&self) -> Option<&Direct> {
        self.direct.as_ref()
    }

    /// Returns the number of separate rail networks; 1 if all hosts reach each other.
    pub fn separate_rails(&self) -> u32 {
        self.rails
    }

    /// Adds a scale-up network to each server.
    ///
    /// # Errors
    /// Fails if the hosts cannot be divided into whole servers, or the rate is zero.
    pub fn with_scale_up(self, scale_up: ScaleUp) -> Result<Self, TopologyError> {
        scale_up.check(self.host_count())?;
        Ok(Self { scale_up: Some(scale_up), ..self })
    }

    /// Returns the scale-up networks of the servers, if any.
    pub fn scale_up(&self) -> Option<&ScaleUp> {
        self.scale_up.as_ref()
    }

    /// Returns the route of a message from `src` to `dst`.
    #[inline]
    pub fn host_path(&self, src: HostId, dst: HostId) -> HostPath {
        self.scale_up.as_ref().map_or(HostPath::Fabric, |it| it.host_path(src, dst))
    }

    /// Returns the host whose NIC sends a message over the fabric, or `None` if the fabric is not
    /// used.
    pub fn sender_over_fabric(&self, src: HostId, dst: HostId) -> Option<HostId> {
        match self.host_path(src, dst) {
            HostPath::Fabric => Some(src),
            HostPath::Relayed(by) => Some(by),
            HostPath::ScaleUp => None,
        }
    }

    /// Returns the planes in which hosts have ports.
    pub fn planes(&self) -> &Planes {
        &self.planes
    }

    /// Returns the names of the hosts, in id order.
    pub fn host_names(&self) -> &[String] {
        &self.hosts
    }

    /// Returns the number of hosts; host ids are below it.
    pub fn host_count(&self) -> u32 {
        u32::try_from(self.hosts.len()).expect("ids are 32 bits")
    }

    /// Returns the switches, in id order.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Returns the links, in id order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Returns the names of the links, in id order. The host, or the switch nearer to the hosts,
    /// comes first (`host12-leaf0`, `leaf3-spine0`). Parallel links have a suffix
    /// (`leaf3-spine0#0`, `leaf3-spine0#1`).
    pub fn link_names(&self) -> &[String] {
        &self.link_names
    }

    /// Returns a link by id.
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.index()]
    }

    /// Returns the name of a link; see [`Self::link_names`].
    pub fn link_name(&self, id: LinkId) -> &str {
        &self.link_names[id.index()]
    }

    /// Returns true if links between switches have different rates.
    pub fn is_uneven(&self) -> bool {
        let links = (0u32..).map(LinkId).zip(&self.links);
        let mut rates = links.filter(|(id, _)| self.is_fabric_link(*id)).map(|(_, it)| it.rate);
        let first = rates.next();
        rates.any(|rate| Some(rate) != first)
    }

    /// Returns the name of a host or switch.
    pub fn node_name(&self, node: Node) -> &str {
        naming::of_node(&self.hosts, &self.switches, node)
    }

    /// Returns the transmitting and the receiving node of `port`.
    pub fn ends_of(&self, port: PortId) -> (Node, Node) {
        let [a, b] = self.link(port.link()).ends;
        if port.0.is_multiple_of(2) { (a, b) } else { (b, a) }
    }

    /// Returns the port of a host; with several planes, its port in plane 0.
    pub fn host_port(&self, host: HostId) -> PortId {
        self.planes.ports_of(host)[0]
    }

    /// Returns the sum of the rates of a host's ports.
    pub fn host_rate(&self, host: HostId) -> BitRate {
        let rates = self.planes.ports_of(host).iter().map(|port| self.link(port.link()).rate);
        BitRate::from_bps(rates.map(BitRate::as_bps).sum())
    }

    /// Returns the switch that a host is attached to in plane 0, or `None` if the host is wired to
    /// another host.
    pub fn edge_of(&self, host: HostId) -> Option<SwitchId> {
        self.ends_of(self.host_port(host)).1.switch()
    }

    /// Returns the nodes at the other end of a host's links, by plane: switches, or another host.
    pub fn behind(&self, host: HostId) -> impl Iterator<Item = Node> + '_ {
        self.planes.ports_of(host).iter().map(|&port| self.ends_of(port).1)
    }

    /// Returns plane 0 with every link rate multiplied by the number of planes.
    pub fn merged(&self) -> Self {
        let count = self.planes.count();
        let switches = (0u32..).zip(&self.switches);
        let first = switches.filter(|(id, _)| self.planes.of_switch(SwitchId(*id)) == 0);
        // The switches of plane 0 have the lowest ids, so the ids in its links stay valid.
        let switches: Vec<Switch> = first.map(|(_, switch)| switch.clone()).collect();
        let links = self.links_of_plane(0).map(|id| {
            let link = self.link(id);
            let rate = BitRate::from_bps(link.rate.as_bps().saturating_mul(count.into()));
            Link { rate, ..link.clone() }
        });
        let merged = Self::new(self.hosts.clone(), switches, links.collect())
            .expect("a plane is a topology of its own");
        Self { scale_up: self.scale_up, ..merged }
    }

    /// Returns the links of a plane, in id order.
    pub fn links_of_plane(&self, plane: u32) -> impl Iterator<Item = LinkId> + '_ {
        let of_node = move |node: Node| node.switch().map(|id| self.planes.of_switch(id));
        let links = (0u32..).map(LinkId).zip(&self.links);
        // Shared switches above the edge count as plane 0, so the edge decides the plane: take the
        // maximum.
        let is_in =
            move |link: &Link| link.ends.into_iter().filter_map(of_node).max() == Some(plane);
        links.filter(move |(_, link)| is_in(link)).map(|(id, _)| id)
    }

    /// Returns the ports of a switch, in link order.
    pub fn ports_of(&self, switch: SwitchId) -> &[PortId] {
        let from = self.first_port[switch.index()] as usize;
        let to = self.first_port[switch.index() + 1] as usize;
        &self.switch_ports[from..to]
    }

    /// Returns the links of a switch, in id order.
    pub fn links_of(&self, switch: SwitchId) -> impl Iterator<Item = LinkId> + '_ {
        self.ports_of(switch).iter().map(|port| port.link())
    }

    /// Returns true if a link connects two switches.
    pub fn is_fabric_link(&self, id: LinkId) -> bool {
        self.link(id).ends.iter().all(|end| end.switch().is_some())
    }
}

/// Number and kind of the networks of a topology.
#[derive(Debug, Clone, Copy)]
enum Networks {
    /// Each host has one port in each network.
    Planes(u32),
    /// Each host has one port, in the network of its rail.
    Rails(u32),
    /// One network, in which each host has this many ports.
    Joined(u32),
}

/// Groups ports by switch. Returns the offset of each switch's first port and the flat port list.
fn ports_by_switch(switches: usize, links: &[Link]) -> (Vec<u32>, Vec<PortId>) {
    let mut first = vec![0u32; switches + 1];
    let ends = || {
        (0u32..).zip(links.iter().flat_map(|link| link.ends)).filter_map(|(port, end)| {
            // Port 2l belongs to ends[0] and port 2l + 1 to ends[1]: the index of an end is its
            // port id.
            end.switch().map(|switch| (switch, PortId(port)))
        })
    };
    // Counting sort, because it keeps ports in link order: policies see a port's position here as
    // its index at the switch.
    for (switch, _) in ends() {
        first[switch.index() + 1] += 1;
    }
    for index in 1..first.len() {
        first[index] += first[index - 1];
    }
    let mut next = first.clone();
    let mut ports = vec![PortId::default(); first[switches] as usize];
    for (switch, port) in ends() {
        ports[next[switch.index()] as usize] = port;
        next[switch.index()] += 1;
    }
    (first, ports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn switch(name: &str) -> Switch {
        Switch { name: name.into(), tier: 0 }
    }

    fn link(a: Node, b: Node) -> Link {
        Link { ends: [a, b], rate: BitRate::from_gbps(100), delay: Span::from_ns(500) }
    }

    fn host(id: u32) -> Node {
        Node::Host(HostId(id))
    }

    fn at(id: u32) -> Node {
        Node::Switch(SwitchId(id))
    }

    fn fault(hosts: &[&str], switches: &[&str], links: Vec<Link>) -> String {
        let hosts = hosts.iter().map(|name| (*name).to_owned()).collect();
        let switches = switches.iter().map(|name| switch(name)).collect();
        Topology::new(hosts, switches, links).unwrap_err().to_string()
    }

    #[test]
    fn two_hosts_back_to_back_are_valid() {
        let hosts = vec!["a".to_owned(), "b".to_owned()];
        let topology = Topology::new(hosts, vec![], vec![link(host(1), host(0))]).unwrap();
        assert_eq!(topology.host_port(HostId(0)), PortId(1));
        assert_eq!(topology.link_name(LinkId(0)), "a-b");
        assert_eq!(topology.edge_of(HostId(0)), None);
    }

    #[test]
    fn a_switch_lists_its_own_ports_and_links() {
        let hosts = vec!["a".to_owned(), "b".to_owned()];
        let links = vec![link(host(0), at(0)), link(at(1), host(1)), link(at(1), at(0))];
        let topology = Topology::new(hosts, vec![switch("s"), switch("t")], links).unwrap();
        assert_eq!(topology.ports_of(SwitchId(0)), [PortId(1), PortId(5)]);
        assert_eq!(topology.ports_of(SwitchId(1)), [PortId(2), PortId(4)]);
        assert!(topology.links_of(SwitchId(1)).eq([LinkId(1), LinkId(2)]));
        assert!(topology.is_fabric_link(LinkId(2)) && !topology.is_fabric_link(LinkId(1)));
        assert_eq!(topology.ends_of(PortId(5)), (at(0), at(1)));
    }

    #[test]
    fn each_error_names_the_fault_and_what_is_expected() {
        assert_eq!(fault(&[], &["s"], vec![]), "the topology has no hosts; expected at least 1");
        assert_eq!(
            fault(&["a", "b"], &["s"], vec![link(host(0), at(0))]),
            "b has no link; expected exactly 1"
        );
        let twice = vec![link(host(0), at(0)), link(host(0), at(0)), link(host(1), at(0))];
        assert!(fault(&["a", "b"], &["s"], twice).starts_with("a has 2 links; expected exactly 1"));
        assert_eq!(
            fault(&["a"], &["s"], vec![link(host(0), at(3))]),
            "link 0 ends at switch3, but there are 1 hosts and 1 switches"
        );
        assert_eq!(
            fault(&["a"], &["s"], vec![link(host(0), at(0)), link(at(0), at(0))]),
            "link 1 connects s to itself; its ends must differ"
        );
        let mut dead = link(host(0), at(0));
        dead.rate = BitRate::from_bps(0);
        assert!(fault(&["a"], &["s"], vec![dead]).starts_with("link 0 (a-s) has a rate of zero"));
        let apart = vec![link(host(0), at(0)), link(host(1), at(1))];
        assert!(fault(&["a", "b"], &["s", "t"], apart).starts_with("a and b cannot reach"));
        let same = vec![link(host(0), at(0)), link(host(1), at(0))];
        assert!(fault(&["a", "a"], &["s"], same).starts_with("two nodes are named 'a'"));
    }

    #[test]
    fn the_error_for_a_ring_of_hosts_explains_that_hosts_do_not_forward() {
        let ring = (0..4).map(|i| link(host(i), host((i + 1) % 4))).collect();
        assert_eq!(
            fault(&["w", "x", "y", "z"], &[], ring),
            "w has 2 links and there is no switch: hosts do not forward, so w and y cannot reach \
             each other; connect each host to a switch with one link"
        );
    }

    #[test]
    fn a_pair_of_hosts_without_a_switch_is_unreachable() {
        let links = vec![link(host(0), at(0)), link(host(1), host(2))];
        let message = fault(&["a", "b", "c"], &["s"], links);
        assert!(message.starts_with("a and b cannot reach each other"), "{message}");
    }
}
