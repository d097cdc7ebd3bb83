// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// A leaf-spine whose links go down and up during the run. Global routing responds to the interface
// changes; for one metric change the script itself recomputes the routes.

#include "leaf-spine.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    Config::SetDefault("ns3::Ipv4GlobalRouting::RespondToInterfaceEvents", BooleanValue(true));
    Script script(argc, argv);
    // A short delay, so that no packet is in flight when a change takes effect.
    const LeafSpine<Ipv4Family> site(script, Script::DEFAULT, {3, 3, 4, "100ns"});
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    // Both ends of the first uplink of the first leaf.
    Ptr<Ipv4> leaf = site.m_leaves.Get(0)->GetObject<Ipv4>();
    Ptr<Ipv4> spine = site.m_spines.Get(0)->GetObject<Ipv4>();
    for (auto [at, change] : {std::pair(5095, &Ipv4::SetDown), std::pair(9095, &Ipv4::SetUp)})
    {
        Simulator::Schedule(MicroSeconds(at), change, PeekPointer(leaf), site.UplinkTo(0));
        Simulator::Schedule(MicroSeconds(at), change, PeekPointer(spine), 1);
    }
    // A high metric removes the path over this spine at one leaf; all other nodes keep their
    // routes.
    Ptr<Ipv4> other = site.m_leaves.Get(1)->GetObject<Ipv4>();
    Simulator::Schedule(MicroSeconds(12095), &Ipv4::SetMetric, other, site.UplinkTo(0), 10);
    Simulator::Schedule(MicroSeconds(12095), &Ipv4GlobalRoutingHelper::RecomputeRoutingTables);
    return site.Run(script, 200);
}
