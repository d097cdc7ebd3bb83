// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "noticed-accessor.h"
#include "route-policy.h"

#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

// RoutePolicy's attributes and trace source.

namespace ns3
{

using evenkeelinternal::Noticed;

template <class F>
TypeId
RoutePolicy<F>::AddAttributes(TypeId tid, const std::string& routes, const std::string& callback)
{
    return AddNodeAttributes(AddPolicyAttributes(tid))
        .AddAttribute(
            "Routes",
            "Where next hops come from: `global` (Ipv4GlobalRouting; IPv4 alone), "
            "`static` (static routes of equal prefix and metric) or `shortest-paths` "
            "(fewest links).",
            StringValue(routes),
            Noticed(&RoutePolicy<F>::RenewSource, MakeStringAccessor(&RoutePolicy<F>::m_source)),
            MakeStringChecker())
        .AddTraceSource("Choice",
                        "A packet had two or more next hops; one was chosen.",
                        MakeTraceSourceAccessor(&RoutePolicy<F>::m_choice),
                        callback);
}

template <class F>
TypeId
RoutePolicy<F>::AddPolicyAttributes(TypeId tid)
{
    return tid
        .AddAttribute(
            "Policy",
            "The load-balancing policy, a name that `evenkeel list policies` "
            "prints, such as ecmp, spray, flowlet, jsq, drill.",
            StringValue("ecmp"),
            Noticed(&RoutePolicy<F>::RenewPolicies, MakeStringAccessor(&RoutePolicy<F>::m_policy)),
            MakeStringChecker())
        .AddAttribute("Parameters",
                      "Parameters of the policy, as keys of a scenario's section [policy], "
                      "separated by semicolons or newlines: 'gap = \"50us\"; other = 3'.",
                      StringValue(""),
                      Noticed(&RoutePolicy<F>::RenewPolicies,
                              MakeStringAccessor(&RoutePolicy<F>::m_parameters)),
                      MakeStringChecker())
        .AddAttribute("DscpPolicies",
                      "Policies for packets with some DSCPs, instead of Policy: '46 = drill, "
                      "8-15 = flowlet(gap = \"50us\")'.",
                      StringValue(""),
                      Noticed(&RoutePolicy<F>::RenewPolicies,
                              MakeStringAccessor(&RoutePolicy<F>::m_dscpPolicies)),
                      MakeStringChecker())
        .AddAttribute(
            "Seed",
            "The seed of hashes and draws; 0 to derive it from ns-3's seed and run, so "
            "that --RngRun changes it. No random stream of the script moves.",
            UintegerValue(0),
            Noticed(&RoutePolicy<F>::RenewPolicies, MakeUintegerAccessor(&RoutePolicy<F>::m_seed)),
            MakeUintegerChecker<uint64_t>());
}

template <class F>
TypeId
RoutePolicy<F>::AddNodeAttributes(TypeId tid)
{
    return tid
        .AddAttribute(
            "Tier",
            "Switch tiers between this node and the hosts: 0 at the edge; 255 to find it "
            "from the topology.",
            UintegerValue(FOUND),
            Noticed(&RoutePolicy<F>::RenewPolicies, MakeUintegerAccessor(&RoutePolicy<F>::m_tier)),
            MakeUintegerChecker<uint8_t>())
        .AddAttribute("PortBuffer",
                      "Buffer size of one port, in bytes: the thresholds of `adaptive` are "
                      "fractions of it.",
                      UintegerValue(1000000),
                      Noticed(&RoutePolicy<F>::RenewPolicies,
                              MakeUintegerAccessor(&RoutePolicy<F>::m_portBuffer)),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute(
            "BaseRtt",
            "The longest round-trip time of the idle network: the gap of `flowlet` is "
            "half of it, unless Parameters override it; 0 to find it from the rates and "
            "delays of all links.",
            TimeValue(MicroSeconds(100)),
            Noticed(&RoutePolicy<F>::RenewPolicies, MakeTimeAccessor(&RoutePolicy<F>::m_baseRtt)),
            MakeTimeChecker(Time(0)))
        .AddAttribute("RefreshInterval",
                      "Interval after which a node looks up its next hops again; 0 for never. "
                      "Needed only if the script replaces a route in the middle of a table or "
                      "changes the rate of a link. Other changes are detected at once: those of "
                      "the number of routes, of the first or last route, of an interface or an "
                      "address.",
                      TimeValue(Time(0)),
                      MakeTimeAccessor(&RoutePolicy<F>::m_refreshInterval),
                      MakeTimeChecker(Time(0)));
}

template TypeId RoutePolicy<Ipv4Family>::AddAttributes(TypeId,
                                                       const std::string&,
                                                       const std::string&);
template TypeId RoutePolicy<Ipv6Family>::AddAttributes(TypeId,
                                                       const std::string&,
                                                       const std::string&);
template TypeId RoutePolicy<Ipv4Family>::AddPolicyAttributes(TypeId);
template TypeId RoutePolicy<Ipv6Family>::AddPolicyAttributes(TypeId);
template TypeId RoutePolicy<Ipv4Family>::AddNodeAttributes(TypeId);
template TypeId RoutePolicy<Ipv6Family>::AddNodeAttributes(TypeId);

} // namespace ns3
