// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "plain-fabric-switching.h"

#include "plain-fabric-mix.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace ns3
{

namespace
{

/// Far ends of each switch's links, by switch, in the order of the links.
using FarEnds = std::vector<std::vector<FabricEnd>>;

/// Distance of a switch that has no path to a host.
constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max() - 1;

/**
 * @param graph hosts, switches and links
 * @return the far ends of the links of each switch
 */
FarEnds
FarEndsOf(const FabricGraph& graph)
{
    FarEnds ends(graph.switches.size());
    for (const FabricLink& link : graph.links)
    {
        if (!link.a.isHost)
        {
            ends[link.a.number].push_back(link.b);
        }
        if (!link.b.isHost)
        {
            ends[link.b.number].push_back(link.a);
        }
    }
    return ends;
}

/**
 * @param ends the far ends of the links of each switch
 * @param host number of a host
 * @return the number of links from each switch to the host's own switch
 */
std::vector<uint32_t>
DistancesTo(const FarEnds& ends, uint32_t host)
{
    std::vector<uint32_t> distance(ends.size(), UNREACHED);
    std::deque<uint32_t> next;
    for (uint32_t at = 0; at < ends.size(); ++at)
    {
        const auto isHost = [host](const FabricEnd& end) {
            return end.isHost && end.number == host;
        };
        if (std::any_of(ends[at].begin(), ends[at].end(), isHost))
        {
            distance[at] = 0;
            next.push_back(at);
        }
    }
    while (!next.empty())
    {
        const uint32_t at = next.front();
        next.pop_front();
        for (const FabricEnd& end : ends[at])
        {
            if (!end.isHost && distance[end.number] == UNREACHED)
            {
                distance[end.number] = distance[at] + 1;
                next.push_back(end.number);
            }
        }
    }
    return distance;
}

} // namespace

PlainFabricSwitching::PlainFabricSwitching(const FabricGraph& graph)
    : m_routes(graph.switches.size(), std::vector<std::vector<uint32_t>>(graph.hosts.size()))
{
    const FarEnds ends = FarEndsOf(graph);
    for (uint32_t host = 0; host < graph.hosts.size(); ++host)
    {
        const std::vector<uint32_t> distance = DistancesTo(ends, host);
        for (uint32_t at = 0; at < ends.size(); ++at)
        {
            for (uint32_t port = 0; port < ends[at].size(); ++port)
            {
                const FabricEnd& end = ends[at][port];
                const bool leads =
                    end.isHost ? end.number == host : distance[end.number] + 1 == distance[at];
                if (leads)
                {
                    m_routes[at][host].push_back(port);
                }
            }
        }
    }
}

void
PlainFabricSwitching::SetEcn(const FabricEcn& ecn)
{
    m_ecn = ecn;
}

void
PlainFabricSwitching::DisableOnlyPorts()
{
    m_onlyPorts = false;
}

uint32_t
PlainFabricSwitching::Route(uint32_t switchNumber,
                            uint64_t,
                            FabricPacket& packet,
                            const std::vector<uint64_t>* loads)
{
    const std::vector<uint32_t>& ports = m_routes[switchNumber][packet.dst];
    if (ports.empty())
    {
        return FABRIC_NO_PORT;
    }
    if (loads)
    {
        const auto shorter = [loads](uint32_t a, uint32_t b) { return (*loads)[a] < (*loads)[b]; };
        return *std::min_element(ports.begin(), ports.end(), shorter);
    }
    const uint64_t key = static_cast<uint64_t>(packet.label) << 16 | packet.entropy;
    const uint64_t hash = PlainFabricMix(key ^ static_cast<uint64_t>(switchNumber) << 48);
    return ports[hash % ports.size()];
}

uint32_t
PlainFabricSwitching::OnlyPort(uint32_t switchNumber, uint32_t dst)
{
    const std::vector<uint32_t>& ports = m_routes[switchNumber][dst];
    return m_onlyPorts && ports.size() == 1 ? ports[0] : FABRIC_NO_PORT;
}

bool
PlainFabricSwitching::Marks(uint32_t, uint64_t waitingBytes)
{
    return Draw(m_ecn.pmaxNumerator * (waitingBytes - m_ecn.kmin),
                m_ecn.pmaxDenominator * (m_ecn.kmax - m_ecn.kmin));
}

bool
PlainFabricSwitching::Loses(uint32_t, uint32_t numerator, uint32_t denominator)
{
    return Draw(numerator, denominator);
}

bool
PlainFabricSwitching::Draw(uint64_t numerator, uint64_t denominator)
{
    m_draw = PlainFabricMix(m_draw);
    return m_draw % denominator < numerator;
}

void
PlainFabricSwitching::ApplyStep(uint32_t, uint64_t)
{
}

} // namespace ns3
