// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef POLICY_CHECKS_H
#define POLICY_CHECKS_H

#include "equal-cost-routes.h"

#include "ns3/data-rate.h"
#include "ns3/simulation-singleton.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Warns on the standard error, since most builds and scripts do not enable logs, and in the
 * log.
 * @param text the warning
 */
void WarnOfPolicy(const std::string& text);

/**
 * @ingroup evenkeel
 * @brief Checks and warnings of the policies of a simulation.
 * @tparam F IPv4 or IPv6
 */
template <class F>
class PolicyChecks
{
  public:
    using Ip = typename F::Ip;         //!< the IP of a node
    using Source = NextHopSourceOf<F>; //!< a source of next hops

    /// @return the checks of this simulation
    static PolicyChecks& Get()
    {
        return *SimulationSingleton<PolicyChecks>::Get();
    }

    /// Warns at the end of the simulation at the latest.
    ~PolicyChecks()
    {
        WarnOfNoChoice();
    }

    /**
     * @brief Compares the policies of a node with those of the previous call; nodes mostly have the
     * same, which are then checked once.
     * @param policies the attributes that name them
     * @return true if they differ
     */
    bool IsNew(const std::string& policies)
    {
        return std::exchange(m_accepted, policies) != policies;
    }

    /**
     * @brief Prepares a warning if another protocol is above a policy, or its source has no routes.
     * @tparam P type of the protocol with the policy
     * @param policy name of the policy
     * @param ip the IP of the node
     * @param source the source of next hops; null if its name is unknown
     */
    template <class P>
    void CheckPlace(const std::string& policy, Ptr<Ip> ip, const Source* source)
    {
        std::string fault = source ? source->GetFault() : "";
        auto list = DynamicCast<typename F::ListRouting>(ip->GetRoutingProtocol());
        for (uint32_t i = 0; fault.empty() && list && i < list->GetNRoutingProtocols(); i++)
        {
            int16_t priority = 0;
            const auto protocol = list->GetRoutingProtocol(i, priority);
            if (DynamicCast<P>(protocol))
            {
                break;
            }
            // Static routes above a policy are exceptions that a script makes.
            if (const auto routes = DynamicCast<typename F::StaticRouting>(protocol))
            {
                CheckNetworks(routes, ip);
                continue;
            }
            fault = protocol->GetInstanceTypeId().GetName() +
                    " routes all packets first, with the priority " + std::to_string(priority) +
                    " in the list: add the policy with a higher priority";
        }
        if (!fault.empty())
        {
            SetNoChoice(policy, ip, fault);
        }
    }

    /**
     * @brief Warns once per simulation of each protocol below a policy that the policy overrules.
     * @tparam P type of the protocol with the policy
     * @param policy name of the policy
     * @param ip the IP of the node
     * @param source the source of next hops
     */
    template <class P>
    void CheckBelow(const std::string& policy, Ptr<Ip> ip, const Source& source)
    {
        auto list = DynamicCast<typename F::ListRouting>(ip->GetRoutingProtocol());
        bool isBelow = false;
        for (uint32_t i = 0; list && i < list->GetNRoutingProtocols(); i++)
        {
            int16_t priority = 0;
            const auto protocol = list->GetRoutingProtocol(i, priority);
            const std::string overruled = isBelow ? source.GetOverruled(protocol) : "";
            if (!overruled.empty() && m_overruled.insert(protocol->GetInstanceTypeId()).second)
            {
                WarnOfPolicy("policy " + policy + ", as at " + NameOf(ip) + ", overrules " +
                             overruled);
            }
            isBelow = isBelow || DynamicCast<P>(protocol);
        }
    }

    /**
     * @brief Warns once per simulation if no packet has a choice, although there are several paths,
     * and of a destination behind wireless channels.
     * @param policy name of the policy
     * @param ip the IP of the node
     * @param source the source of next hops
     * @param destination of a packet
     * @param group its next hops
     */
    void CheckChoice(const std::string& policy,
                     const Ptr<Ip>& ip,
                     const Source& source,
                     typename F::Address destination,
                     const RouteGroupOf<F>& group)
    {
        if (!m_isWirelessDone && !group.wireless.empty())
        {
            m_isWirelessDone = true;
            std::ostringstream text;
            text << "policy " << policy << " does not balance packets from " << NameOf(ip) << " to "
                 << destination << ": no path without a wireless channel (" << group.wireless
                 << ") leads there, and the nodes of such a channel may be out of range of one "
                    "another; for paths to balance, use point-to-point or CSMA links";
            WarnOfPolicy(text.str());
        }
        if (m_isChoiceDone)
        {
            return;
        }
        m_isChoiceDone = group.hops.size() > 1;
        if (group.shortest > 1)
        {
            std::ostringstream fault;
            fault << "there are " << group.shortest << " shortest paths to " << destination
                  << ", but " << source.GetReason();
            SetNoChoice(policy, ip, fault.str());
        }
        m_packets += m_noChoice.empty() ? 0 : 1;
        if (m_packets == PATIENCE)
        {
            WarnOfNoChoice();
        }
    }

    /**
     * @brief Warns once per simulation if every packet would start a flowlet.
     * @param gapPs the gap of flowlets, in picoseconds
     * @param ip the IP of the node
     * @param group next hops
     */
    void CheckFlowletGap(uint64_t gapPs, Ptr<Ip> ip, const RouteGroupOf<F>& group)
    {
        for (std::size_t hop = 0; !m_isGapDone && hop < group.hops.size(); hop++)
        {
            const uint32_t interface = group.hops[hop].interface;
            const uint64_t rate = IpTopologyOf<F>::RateOf(ip->GetNetDevice(interface));
            const double packetNs = rate > 0 ? 8e9 * ip->GetMtu(interface) / rate : 0;
            if (1000 * packetNs > gapPs)
            {
                m_isGapDone = true;
                const double halfNs = IpTopologyOf<F>::Get().GetBaseRtt().GetNanoSeconds() / 2.0;
                const bool isHalf = halfNs > packetNs;
                std::ostringstream text;
                text << "the flowlet gap of " << gapPs / 1000
                     << " ns is shorter than the transmission of a full packet on interface "
                     << interface << " of " << NameOf(ip) << " (" << DataRate(rate)
                     << "): every packet begins a flowlet; set gap = \""
                     << static_cast<uint64_t>(std::ceil((isHalf ? halfNs : 2 * packetNs) / 1000))
                     << "us\", "
                     << (isHalf ? "half of the longest round-trip time, in the attribute "
                                  "Parameters; flowlet without a gap takes it if BaseRtt is 0"
                                : "twice that transmission, in the attribute Parameters");
                WarnOfPolicy(text.str());
            }
        }
    }

  private:
    /// Number of packets without a choice after which the warning does not wait for the end.
    static constexpr uint32_t PATIENCE = 1000;

    /**
     * @param ip the IP of a node
     * @return the node in messages
     */
    static std::string NameOf(Ptr<Ip> ip)
    {
        return "node " + std::to_string(ip->template GetObject<Node>()->GetId());
    }

    /**
     * @brief Prepares the warning that no packet has a choice, unless it has a reason already.
     * @param policy name of the policy
     * @param ip the IP of a node
     * @param fault the reason at this node, and the cure
     */
    void SetNoChoice(const std::string& policy, Ptr<Ip> ip, const std::string& fault)
    {
        if (m_noChoice.empty())
        {
            m_noChoice = "policy " + policy + " has no effect, as at " + NameOf(ip) + ": " + fault;
        }
    }

    /// Warns that no packet has a choice, unless one has or the warning was given.
    void WarnOfNoChoice()
    {
        if (!m_isChoiceDone && !m_noChoice.empty())
        {
            WarnOfPolicy(m_noChoice);
        }
        m_isChoiceDone = true;
    }

    /**
     * @brief Warns once per simulation if static routing sends the packets of several links to one.
     * @param routing static routing above the policy
     * @param ip the IP of the node
     */
    void CheckNetworks(Ptr<typename F::StaticRouting> routing, Ptr<Ip> ip)
    {
        std::map<std::pair<typename F::Address, uint32_t>, uint32_t> interfaces;
        // The routes to networks of links come first: a script adds others when links have
        // addresses. An interface mostly has one or two addresses.
        const uint32_t count = std::min(routing->GetNRoutes(), 2 * ip->GetNInterfaces());
        for (uint32_t i = 0; !m_isNetworkDone && i < count; i++)
        {
            const typename F::TableEntry route = routing->GetRoute(i);
            const std::pair<typename F::Address, uint32_t> network(
                route.GetDestNetwork(),
                F::MaskOf(route).GetPrefixLength());
            const uint32_t first = interfaces.emplace(network, route.GetInterface()).first->second;
            if (first != route.GetInterface() && !route.IsGateway())
            {
                m_isNetworkDone = true;
                std::ostringstream text;
                text << "several interfaces of " << NameOf(ip) << " share the network "
                     << network.first << "/" << network.second
                     << ", and static routing, above the policy, sends its packets over the first: "
                        "if the script installs Ipv4GlobalRoutingHelper alone without a policy, "
                        "use WithGlobalRoutingOnly()";
                WarnOfPolicy(text.str());
            }
        }
    }

    std::string m_accepted;       //!< the policies and parameters that were last accepted
    bool m_isNetworkDone{false};  //!< the warning of links that share a network was given
    bool m_isGapDone{false};      //!< the warning of a flowlet gap was given
    std::set<TypeId> m_overruled; //!< protocols that a warning has named as overruled
    bool m_isWirelessDone{false}; //!< the warning of a wireless channel was given
    bool m_isChoiceDone{false};   //!< a packet had a choice, or the warning of none was given
    uint32_t m_packets{0};        //!< packets without a choice since m_noChoice was set
    std::string m_noChoice;       //!< why no packet has a choice; empty if there is none to choose
};

} // namespace ns3

#endif /* POLICY_CHECKS_H */
