// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "equal-cost-routes.h"

#include "ip-topology.h"

#include "ns3/channel.h"
#include "ns3/log.h"
#include "ns3/net-device.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("EqualCostRoutes");

namespace
{

/**
 * @param rates rates of links
 * @return weights in the same ratio; none if all are equal or one is unknown
 */
std::vector<uint32_t>
WeightsOf(const std::vector<uint64_t>& rates)
{
    uint64_t divisor = 0;
    uint64_t largest = 0;
    bool areEqual = true;
    for (const uint64_t rate : rates)
    {
        if (rate == 0)
        {
            return {};
        }
        divisor = std::gcd(divisor, rate);
        largest = std::max(largest, rate);
        areEqual = areEqual && rate == rates[0];
    }
    if (areEqual)
    {
        return {};
    }
    // Rates without a common divisor are rounded to 16 bits.
    divisor = std::max(divisor, largest >> 16);
    std::vector<uint32_t> weights;
    for (const uint64_t rate : rates)
    {
        weights.push_back(static_cast<uint32_t>(std::max<uint64_t>(rate / divisor, 1)));
    }
    return weights;
}

} // namespace

void
EqualCostRoutes::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ipv4 = ipv4;
}

void
EqualCostRoutes::SetSource(std::unique_ptr<NextHopSource> source)
{
    m_source = std::move(source);
    m_version++;
}

bool
EqualCostRoutes::HasSource() const
{
    return m_source != nullptr;
}

void
EqualCostRoutes::Clear()
{
    m_groups.clear();
    m_source.reset();
    m_ipv4 = nullptr;
}

bool
EqualCostRoutes::HasChoice()
{
    // Interface 0 is the loopback. Behind a shared channel there may be several routers.
    const uint32_t interfaces = m_ipv4->GetNInterfaces();
    if (interfaces != m_interfaces)
    {
        m_interfaces = interfaces;
        Ptr<Channel> channel = interfaces == 2 ? m_ipv4->GetNetDevice(1)->GetChannel() : nullptr;
        m_hasChoice = interfaces > 2 || (channel && channel->GetNDevices() > 2);
    }
    return m_hasChoice;
}

void
EqualCostRoutes::UpdateVersion()
{
    const NextHopSource::Signature signature = m_source->GetSignature();
    if (signature != m_signature || m_interfaceChanges != IpTopology::GetChanges())
    {
        m_signature = signature;
        m_interfaceChanges = IpTopology::GetChanges();
        m_version++;
    }
}

EqualCostRoutes::Group&
EqualCostRoutes::GroupOf(Ipv4Address destination, Time interval, bool& changed)
{
    UpdateVersion();
    changed = false;
    const auto [found, isNew] = m_groups.try_emplace(destination);
    Group& group = found->second;
    const bool due = interval.IsStrictlyPositive() && Simulator::Now() >= group.lookedUp + interval;
    if (isNew || due || group.version != m_version)
    {
        changed = LookUp(destination, group) && !isNew;
        group.lookedUp = Simulator::Now();
        group.version = m_version;
    }
    return group;
}

bool
EqualCostRoutes::LookUp(Ipv4Address destination, Group& group)
{
    std::vector<NextHop> hops = m_source->Find(destination);
    // Rates may change without a change of routes.
    group.rates.clear();
    for (std::size_t hop = 0; hops.size() > 1 && hop < hops.size(); ++hop)
    {
        group.rates.push_back(IpTopology::RateOf(m_ipv4->GetNetDevice(hops[hop].interface)));
    }
    group.weights = WeightsOf(group.rates);
    if (hops == group.hops)
    {
        return false;
    }
    NS_LOG_LOGIC(hops.size() << " next hops to " << destination);
    group.hops.swap(hops);
    group.edge = group.hops.size() > 1 ? IpTopology::Get().EdgeOf(destination) : 0;
    group.interfaces.clear();
    group.routes.clear();
    for (const NextHop& hop : group.hops)
    {
        Ptr<Ipv4Route> route = Create<Ipv4Route>();
        route->SetDestination(destination);
        route->SetSource(m_ipv4->GetAddress(hop.interface, 0).GetLocal());
        route->SetGateway(hop.gateway);
        route->SetOutputDevice(m_ipv4->GetNetDevice(hop.interface));
        group.interfaces.push_back(hop.interface);
        group.routes.push_back(route);
    }
    return true;
}

const std::map<Ipv4Address, EqualCostRoutes::Group>&
EqualCostRoutes::GetGroups() const
{
    return m_groups;
}

} // namespace ns3
