// SPDX-License-Identifier: GPL-2.0-only

#include "equal-cost-routes.h"

#include "ns3/channel.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

// ns-3.47 renamed this header. The new name is tried first, because an older ns-3 may be installed
// in addition to the tree.
#if __has_include("ns3/global-routing.h")
#include "ns3/global-routing.h"
#else
#include "ns3/ipv4-global-routing.h"
#endif

#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("EqualCostRoutes");

namespace
{

/**
 * @param node a node
 * @param device one of its devices
 * @return the id of the node that represents its edge switch
 */
uint32_t
EdgeBehind(Ptr<Node> node, Ptr<NetDevice> device)
{
    // A node with one link is a host, whose neighbour is its edge switch; others are switches.
    uint32_t edge = node->GetId();
    Ptr<Channel> channel = device->GetChannel();
    const bool isHost = node->GetObject<Ipv4>()->GetNInterfaces() == 2;
    for (std::size_t end = 0; channel && isHost && end < channel->GetNDevices(); ++end)
    {
        Ptr<Node> other = channel->GetDevice(end)->GetNode();
        edge = other != node ? other->GetId() : edge;
    }
    return edge;
}

} // namespace

bool
EqualCostRoutes::Entry::operator==(const Entry& other) const
{
    return isHost == other.isHost && destination == other.destination && mask == other.mask &&
           gateway == other.gateway && interface == other.interface;
}

void
EqualCostRoutes::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ipv4 = ipv4;
}

void
EqualCostRoutes::Invalidate()
{
    m_stale = true;
}

void
EqualCostRoutes::Clear()
{
    m_groups.clear();
    m_entries.clear();
    m_edges.clear();
    m_ipv4 = nullptr;
}

bool
EqualCostRoutes::Refresh(Time interval)
{
    auto global = Ipv4RoutingHelper::GetRouting<Ipv4GlobalRouting>(m_ipv4->GetRoutingProtocol());
    const uint32_t count = global ? global->GetNRoutes() : 0;
    const Time now = Simulator::Now();
    const bool due = interval.IsStrictlyPositive() && now >= m_readAgain;
    if (!m_stale && !due && count == m_entries.size())
    {
        return false;
    }
    NS_LOG_LOGIC("reading " << count << " routes");
    m_stale = false;
    m_readAgain = now + interval;
    std::vector<Entry> entries;
    entries.reserve(count);
    for (uint32_t i = 0; i < count; i++)
    {
        const Ipv4RoutingTableEntry& route = *global->GetRoute(i);
        entries.push_back({route.IsHost(),
                           route.IsHost() ? route.GetDest() : route.GetDestNetwork(),
                           route.IsHost() ? Ipv4Mask::GetOnes() : route.GetDestNetworkMask(),
                           route.GetGateway(),
                           route.GetInterface()});
    }
    if (entries == m_entries)
    {
        return false;
    }
    m_entries.swap(entries);
    m_groups.clear();
    m_edges.clear();
    return true;
}

std::vector<const EqualCostRoutes::Entry*>
EqualCostRoutes::FindEntries(Ipv4Address destination) const
{
    // Ipv4GlobalRouting looks up host routes, then network routes. External routes are never
    // equal-cost.
    for (const bool hosts : {true, false})
    {
        std::vector<const Entry*> matching;
        for (const Entry& entry : m_entries)
        {
            if (entry.isHost == hosts && entry.mask.IsMatch(destination, entry.destination))
            {
                matching.push_back(&entry);
            }
        }
        if (!matching.empty())
        {
            return matching;
        }
    }
    return {};
}

EqualCostRoutes::Group&
EqualCostRoutes::GroupOf(Ipv4Address destination)
{
    const auto found = m_groups.find(destination);
    if (found != m_groups.end())
    {
        return found->second;
    }
    const std::vector<const Entry*> matching = FindEntries(destination);
    Group group;
    group.edge = matching.size() > 1 ? EdgeOf(destination) : 0;
    for (const Entry* entry : matching)
    {
        Ptr<Ipv4Route> route = Create<Ipv4Route>();
        route->SetDestination(destination);
        route->SetSource(m_ipv4->GetAddress(entry->interface, 0).GetLocal());
        route->SetGateway(entry->gateway);
        route->SetOutputDevice(m_ipv4->GetNetDevice(entry->interface));
        group.interfaces.push_back(entry->interface);
        group.routes.push_back(route);
    }
    return m_groups.emplace(destination, std::move(group)).first->second;
}

const std::map<Ipv4Address, EqualCostRoutes::Group>&
EqualCostRoutes::GetGroups() const
{
    return m_groups;
}

void
EqualCostRoutes::FillEdges()
{
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        Ptr<Ipv4> ipv4 = (*node)->GetObject<Ipv4>();
        for (uint32_t i = 1; ipv4 && i < ipv4->GetNInterfaces(); i++)
        {
            const uint32_t edge = EdgeBehind(*node, ipv4->GetNetDevice(i));
            for (uint32_t j = 0; j < ipv4->GetNAddresses(i); j++)
            {
                m_edges[ipv4->GetAddress(i, j).GetLocal()] = edge;
            }
        }
    }
}

uint32_t
EqualCostRoutes::EdgeOf(Ipv4Address destination)
{
    if (m_edges.empty())
    {
        FillEdges();
    }
    const auto found = m_edges.find(destination);
    return found == m_edges.end() ? 0 : found->second;
}

} // namespace ns3
