// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "equal-cost-routes.h"

#include "ip-topology.h"

#include "ns3/channel.h"
#include "ns3/log.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
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
 * @return weights in the same ratio; empty if all are equal or one is unknown
 */
std::vector<uint32_t>
WeightsOf(const std::vector<uint64_t>& rates)
{
    const auto [least, largest] = std::minmax_element(rates.begin(), rates.end());
    if (rates.empty() || *least == 0 || *least == *largest)
    {
        return {};
    }
    uint64_t divisor = 0;
    for (const uint64_t rate : rates)
    {
        divisor = std::gcd(divisor, rate);
    }
    // Rates without a common divisor are rounded to 16 bits.
    divisor = std::max(divisor, *largest >> 16);
    std::vector<uint32_t> weights;
    for (const uint64_t rate : rates)
    {
        weights.push_back(static_cast<uint32_t>(std::max<uint64_t>(rate / divisor, 1)));
    }
    return weights;
}

} // namespace

template <class F>
void
EqualCostRoutesOf<F>::SetSource(std::unique_ptr<Source> source)
{
    NS_LOG_FUNCTION(this);
    m_source = std::move(source);
    m_version++;
}

template <class F>
void
EqualCostRoutesOf<F>::Clear()
{
    NS_LOG_FUNCTION(this);
    m_groups.clear();
    m_source.reset();
    m_ip = nullptr;
}

template <class F>
bool
EqualCostRoutesOf<F>::HasChoice()
{
    // Interface 0 is the loopback. A node with one interface may still reach several routers,
    // behind a shared channel.
    const uint32_t interfaces = m_ip->GetNInterfaces();
    if (interfaces != m_interfaces)
    {
        m_interfaces = interfaces;
        Ptr<Channel> channel = interfaces == 2 ? m_ip->GetNetDevice(1)->GetChannel() : nullptr;
        m_hasChoice = interfaces > 2 || (channel && channel->GetNDevices() > 2);
    }
    return m_hasChoice;
}

template <class F>
void
EqualCostRoutesOf<F>::UpdateVersion(Time interval)
{
    const uint64_t signature = m_source->GetSignature();
    const bool isDue = interval.IsStrictlyPositive() && Simulator::Now() >= m_renewed + interval;
    if (isDue || signature != m_signature || g_ipChanges != m_interfaceChanges)
    {
        NS_LOG_LOGIC("look up all next hops again");
        m_version++;
        m_source->Renew();
        m_signature = signature;
        m_interfaceChanges = g_ipChanges;
        m_renewed = Simulator::Now();
    }
}

template <class F>
RouteGroupOf<F>&
EqualCostRoutesOf<F>::GroupOf(Address destination, Time interval, bool& changed)
{
    UpdateVersion(interval);
    changed = false;
    const auto [found, isNew] = m_groups.try_emplace(destination);
    Group& group = found->second;
    if (isNew || group.version != m_version)
    {
        changed = LookUp(destination, group) && !isNew;
        group.version = m_version;
    }
    return group;
}

template <class F>
bool
EqualCostRoutesOf<F>::LookUp(Address destination, Group& group)
{
    std::vector<NextHopOf<F>> hops = m_source->Find(destination);
    const uint32_t node = m_ip->template GetObject<Node>()->GetId();
    group.shortest =
        hops.size() > 1 ? 0 : IpTopologyOf<F>::Get().NextHops(node, destination).size();
    group.rates.clear();
    for (std::size_t hop = 0; hops.size() > 1 && hop < hops.size(); ++hop)
    {
        group.rates.push_back(IpTopologyOf<F>::RateOf(m_ip->GetNetDevice(hops[hop].interface)));
    }
    group.weights = WeightsOf(group.rates);
    if (hops == group.hops)
    {
        // The source address is looked up again: an address may have been added.
        for (std::size_t hop = 0; hop < hops.size(); ++hop)
        {
            group.routes[hop]->SetSource(F::SourceOf(m_ip, group.interfaces[hop], destination));
        }
        return false;
    }
    NS_LOG_LOGIC(hops.size() << " next hops to " << destination);
    group.hops.swap(hops);
    group.edge = group.hops.size() > 1 ? IpTopologyOf<F>::Get().EdgeOf(destination) : 0;
    group.interfaces.clear();
    group.routes.clear();
    for (const NextHopOf<F>& hop : group.hops)
    {
        Ptr<typename F::Route> route = Create<typename F::Route>();
        route->SetDestination(destination);
        route->SetSource(F::SourceOf(m_ip, hop.interface, destination));
        route->SetGateway(hop.gateway);
        route->SetOutputDevice(m_ip->GetNetDevice(hop.interface));
        group.interfaces.push_back(hop.interface);
        group.routes.push_back(route);
    }
    return true;
}

template class EqualCostRoutesOf<Ipv4Family>;
template class EqualCostRoutesOf<Ipv6Family>;

} // namespace ns3
