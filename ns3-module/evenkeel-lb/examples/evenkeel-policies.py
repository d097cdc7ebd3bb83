#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""UDP over a leaf-spine under a policy that is picked by name, with ns-3's Python bindings.

    EVENKEEL_BUILD=build python3 ns3-module/evenkeel-lb/examples/evenkeel-policies.py drill

EVENKEEL_BUILD is the folder in which CMake built the module against the `ns3` wheel. In an ns-3 tree
whose Python bindings are enabled, the module is loaded with the others, and nothing is set.
"""

import argparse
import os
import sys

# Made absolute before the working directory changes below.
BUILD = os.path.abspath(os.environ.get("EVENKEEL_BUILD", "build"))
# ns-3's bindings search the working directory and everything below it for libraries, and follow
# symbolic links. In a Cargo package with a `target` folder, where cxx keeps links to the package,
# the search never ends. The folder of the examples is small.
os.chdir(os.path.dirname(os.path.abspath(__file__)))

import cppyy  # noqa: E402

try:
    from ns import ns  # noqa: E402
except ModuleNotFoundError:
    sys.exit("error: ns-3's Python bindings are missing: pip install ns3==3.44.post0")

LEAVES, SPINES, HOSTS_PER_LEAF, PACKETS = 2, 4, 4, 50


def load_evenkeel():
    """Loads the module, unless ns-3's bindings have it already."""
    if hasattr(ns, "LoadBalancedRoutingHelper"):
        return
    library = os.path.join(BUILD, "libns3-evenkeel-lb.so")
    if not os.path.exists(library):
        sys.exit(f"error: {library} does not exist: set EVENKEEL_BUILD to the folder of the build")
    cppyy.add_include_path(os.path.join(BUILD, "include"))
    cppyy.load_library(library)
    cppyy.include("ns3/evenkeel-lb-module.h")


def chosen_paths(policy):
    """Sends UDP packets from each host of one leaf to the other; returns the packets that arrived
    and those that each spine forwarded."""
    leaves, spines, hosts = ns.NodeContainer(), ns.NodeContainer(), ns.NodeContainer()
    leaves.Create(LEAVES)
    spines.Create(SPINES)
    hosts.Create(LEAVES * HOSTS_PER_LEAF)

    routing = ns.LoadBalancedRoutingHelper(policy)
    stack = ns.InternetStackHelper()
    stack.SetRoutingHelper(routing.WithGlobalRouting())
    for nodes in (leaves, spines, hosts):
        stack.Install(nodes)

    link = ns.PointToPointHelper()
    link.SetDeviceAttribute("DataRate", ns.StringValue("10Gbps"))
    link.SetChannelAttribute("Delay", ns.StringValue("1us"))
    network = ns.Ipv4AddressHelper()
    network.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))

    def connect(a, b):
        devices = link.Install(a, b)
        addresses = network.Assign(devices)
        network.NewNetwork()
        return devices, addresses

    addresses = []
    for host in range(hosts.GetN()):
        _, ends = connect(hosts.Get(host), leaves.Get(host // HOSTS_PER_LEAF))
        addresses.append(ends.GetAddress(0))
    uplinks = []
    for spine in range(SPINES):
        uplinks.append([connect(leaves.Get(leaf), spines.Get(spine))[0] for leaf in range(LEAVES)])
    ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()

    servers = ns.ApplicationContainer()
    for host in range(HOSTS_PER_LEAF):
        to = host + HOSTS_PER_LEAF
        servers.Add(ns.UdpServerHelper(9).Install(hosts.Get(to)))
        client = ns.UdpClientHelper(addresses[to].ConvertTo(), 9)
        client.SetAttribute("MaxPackets", ns.UintegerValue(PACKETS))
        client.SetAttribute("Interval", ns.TimeValue(ns.MicroSeconds(1)))
        client.Install(hosts.Get(host)).Start(ns.MicroSeconds(10 + host))
    ns.Simulator.Stop(ns.MilliSeconds(10))
    ns.Simulator.Run()
    received = sum(
        servers.Get(each).GetObject[ns.UdpServer]().__deref__().GetReceived()
        for each in range(servers.GetN())
    )
    # Packets that each spine sent to the second leaf.
    forwarded = [
        to_leaves[1].Get(1).GetObject[ns.PointToPointNetDevice]().GetQueue().GetTotalReceivedPackets()
        for to_leaves in uplinks
    ]
    ns.Simulator.Destroy()
    return received, forwarded


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policy", nargs="?", default="drill", help="a name, such as ecmp or spray")
    policy = parser.parse_args().policy
    load_evenkeel()
    received, forwarded = chosen_paths(policy)
    sent = HOSTS_PER_LEAF * PACKETS
    print(f"{policy}: {received} of {sent} packets arrived, by spine {forwarded}")
    return 0 if received == sent else 1


if __name__ == "__main__":
    sys.exit(main())
