// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EQUAL_COST_ROUTES_H
#define EQUAL_COST_ROUTES_H

#include "ip-topology.h"
#include "next-hop-source.h"

#include "ns3/channel.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The equal-cost next hops to a destination.
 * @tparam F IPv4 or IPv6
 */
template <class F>
struct RouteGroupOf
{
    uint32_t edge{0};                           //!< id of the node that represents the edge switch
    std::vector<NextHopOf<F>> hops;             //!< the next hops
    std::vector<Ptr<typename F::Route>> routes; //!< their routes
    std::vector<uint32_t> weights; //!< their weights, by link rate; empty if all rates are equal
    std::size_t shortest{0};       //!< with fewer than two: number of next hops on shortest paths
    std::string wireless;          //!< without any: see IpTopologyOf::WirelessTo
    uint64_t version{0};           //!< version of the routes at the last lookup
};

/**
 * @ingroup evenkeel
 * @brief The equal-cost next hops of a node, by destination.
 *
 * The next hops to a destination are looked up for its first packet, and again after the routes
 * change.
 *
 * @tparam F IPv4 or IPv6
 */
template <class F>
class EqualCostRoutesOf
{
  public:
    using Address = typename F::Address; //!< an address
    using Source = NextHopSourceOf<F>;   //!< source of next hops
    using Group = RouteGroupOf<F>;       //!< the next hops to a destination

    /**
     * @param ip the IP of the node
     */
    void SetIp(Ptr<typename F::Ip> ip)
    {
        m_ip = ip;
    }

    /**
     * @brief Sets the source of next hops; all of them are looked up again.
     * @param source the source
     */
    void SetSource(std::unique_ptr<Source> source)
    {
        m_source = std::move(source);
        m_interfaceChanges = UINT64_MAX;
    }

    /// @return the source; null unless SetSource was called
    const Source* GetSource() const
    {
        return m_source.get();
    }

    /// @return false if the node has one link, so that no destination can have several next hops
    bool HasChoice()
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

    /**
     * @brief Looks up the next hops to a destination, or returns them from the cache.
     * @param destination an address
     * @param interval how often to look up all next hops again, for changes that the signature does
     *        not show; 0 for never
     * @param[out] changed true if they differ from those of an earlier call
     * @return the next hops; empty if the source has no route
     */
    const Group& GroupOf(Address destination, Time interval, bool& changed)
    {
        UpdateVersion(interval);
        changed = false;
        const auto [found, isNew] = m_groups.try_emplace(destination);
        Group& group = found->second;
        if (isNew || group.version != m_version)
        {
            const std::vector<NextHopOf<F>> hops = std::exchange(group.hops, {});
            group = LookUp(destination);
            changed = !isNew && group.hops != hops;
        }
        return group;
    }

    /// @return the groups that GroupOf has returned so far
    const std::map<Address, Group>& GetGroups() const
    {
        return m_groups;
    }

  private:
    /**
     * @brief Increments the version if the source or an interface has changed.
     * @param interval how often to increment it anyway; 0 for never
     */
    void UpdateVersion(Time interval)
    {
        const uint64_t signature = m_source->GetSignature();
        const bool isDue =
            interval.IsStrictlyPositive() && Simulator::Now() >= m_renewed + interval;
        if (isDue || signature != m_signature || g_ipChanges != m_interfaceChanges)
        {
            m_version++;
            m_source->Renew();
            m_signature = signature;
            m_interfaceChanges = g_ipChanges;
            m_renewed = Simulator::Now();
        }
    }

    /**
     * @param destination an address
     * @return the next hops to it
     */
    Group LookUp(Address destination) const
    {
        IpTopologyOf<F>& topology = IpTopologyOf<F>::Get();
        Group group;
        group.version = m_version;
        group.hops = m_source->Find(destination);
        const bool isChoice = group.hops.size() > 1;
        const uint32_t node = m_ip->template GetObject<Node>()->GetId();
        group.edge = isChoice ? topology.EdgeOf(destination) : 0;
        group.shortest = isChoice ? 0 : topology.NextHops(node, destination).size();
        group.wireless = group.hops.empty() ? topology.WirelessTo(node, destination) : "";
        std::vector<uint64_t> rates;
        for (const NextHopOf<F>& hop : group.hops)
        {
            Ptr<NetDevice> device = m_ip->GetNetDevice(hop.interface);
            rates.push_back(isChoice ? topology.RateOf(device) : 0);
            Ptr<typename F::Route> route = Create<typename F::Route>();
            route->SetDestination(destination);
            route->SetSource(F::SourceOf(m_ip, hop.interface, destination));
            route->SetGateway(hop.gateway);
            route->SetOutputDevice(device);
            group.routes.push_back(route);
        }
        group.weights = WeightsOf(rates);
        return group;
    }

    /**
     * @param rates rates of links
     * @return weights in the same ratio; empty if all are equal or one is unknown
     */
    static std::vector<uint32_t> WeightsOf(const std::vector<uint64_t>& rates)
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

    Ptr<typename F::Ip> m_ip;          //!< the IP of the node
    std::unique_ptr<Source> m_source;  //!< source of next hops
    uint64_t m_signature{0};           //!< signature of the source at the last version
    uint64_t m_interfaceChanges{0};    //!< topology changes at the last version, or UINT64_MAX
    uint64_t m_version{1};             //!< version of the routes
    Time m_renewed{0};                 //!< when the version was last incremented
    uint32_t m_interfaces{0};          //!< number of interfaces at the last HasChoice
    bool m_hasChoice{true};            //!< the result of HasChoice
    std::map<Address, Group> m_groups; //!< by destination
};

/// The next hops of IPv4.
using EqualCostRoutes = EqualCostRoutesOf<Ipv4Family>;

} // namespace ns3

#endif /* EQUAL_COST_ROUTES_H */
