// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-graph.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3
{

namespace
{

/// The tier of a switch that no host reaches.
constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max();

/**
 * @param graph a graph
 * @param end an end of a link
 * @return its height (0 for a host, tier + 1 for a switch) and its number
 */
std::pair<uint32_t, uint32_t>
RankOf(const FabricGraph& graph, const FabricEnd& end)
{
    return {end.isHost ? 0 : 1 + graph.switches[end.number].tier, end.number};
}

/**
 * @param graph a graph
 * @param end an end of a link
 * @return its name
 */
const std::string&
NameOfEnd(const FabricGraph& graph, const FabricEnd& end)
{
    return end.isHost ? graph.hosts[end.number] : graph.switches[end.number].name;
}

/**
 * @param graph a graph
 * @param link one of its links
 * @return the names of its ends, the lower one first
 */
std::string
NameOfEnds(const FabricGraph& graph, const FabricLink& link)
{
    const std::string& a = NameOfEnd(graph, link.a);
    const std::string& b = NameOfEnd(graph, link.b);
    return RankOf(graph, link.a) <= RankOf(graph, link.b) ? a + "-" + b : b + "-" + a;
}

/**
 * @brief Limits the tier of each switch to one more than the lowest of its neighbours.
 * @param graph a graph
 * @return true if a tier changed
 */
bool
LowerTiers(FabricGraph& graph)
{
    bool changed = false;
    for (const FabricLink& link : graph.links)
    {
        if (link.a.isHost || link.b.isHost)
        {
            continue;
        }
        uint32_t& a = graph.switches[link.a.number].tier;
        uint32_t& b = graph.switches[link.b.number].tier;
        uint32_t& higher = a > b ? a : b;
        const uint32_t lower = std::min(a, b);
        if (lower != UNREACHED && higher > lower + 1)
        {
            higher = lower + 1;
            changed = true;
        }
    }
    return changed;
}

} // namespace

void
FabricGraph::FillTiers()
{
    for (Switch& each : switches)
    {
        each.tier = UNREACHED;
    }
    for (const FabricLink& link : links)
    {
        if (link.a.isHost && !link.b.isHost)
        {
            switches[link.b.number].tier = 0;
        }
        if (link.b.isHost && !link.a.isHost)
        {
            switches[link.a.number].tier = 0;
        }
    }
    while (LowerTiers(*this))
    {
    }
    for (Switch& each : switches)
    {
        each.tier = each.tier == UNREACHED ? 0 : each.tier;
    }
}

std::string
FabricGraph::NameOf(uint32_t link) const
{
    const std::string name = NameOfEnds(*this, links[link]);
    uint32_t before = 0;
    uint32_t all = 0;
    for (uint32_t other = 0; other < links.size(); ++other)
    {
        if (NameOfEnds(*this, links[other]) == name)
        {
            before += other < link ? 1 : 0;
            ++all;
        }
    }
    return all > 1 ? name + "#" + std::to_string(before) : name;
}

FabricGraph
FabricGraph::MakeLeafSpine(const LeafSpine& size, const FabricLink& link)
{
    FabricGraph graph;
    graph.hosts.resize(size.leaves * size.hostsPerLeaf);
    for (uint32_t leaf = 0; leaf < size.leaves; ++leaf)
    {
        graph.switches.push_back({"leaf" + std::to_string(leaf), 0});
    }
    for (uint32_t spine = 0; spine < size.spines; ++spine)
    {
        graph.switches.push_back({"spine" + std::to_string(spine), 1});
    }
    const auto connect = [&graph, &link](FabricEnd a, FabricEnd b) {
        FabricLink each = link;
        each.a = a;
        each.b = b;
        graph.links.push_back(each);
    };
    for (uint32_t host = 0; host < graph.hosts.size(); ++host)
    {
        connect({host, true}, {host / size.hostsPerLeaf, false});
    }
    for (uint32_t leaf = 0; leaf < size.leaves; ++leaf)
    {
        for (uint32_t spine = 0; spine < size.spines; ++spine)
        {
            connect({leaf, false}, {size.leaves + spine, false});
        }
    }
    return graph;
}

} // namespace ns3
