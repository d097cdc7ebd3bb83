// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "route-policy.h"

#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

// RoutePolicy's attributes and trace source.

namespace ns3
{

template <class F>
TypeId
RoutePolicy<F>::AddAttributes(TypeId tid, const std::string& routes)
{
    return AddNodeAttributes(tid.template SetParent<typename F::RoutingProtocol>())
        .SetGroupName("Evenkeel")
        .AddAttribute("Policy",
                      "The load-balancing policy, a name that `evenkeel list policies` "
                      "prints, such as ecmp, spray, flowlet, jsq, drill.",
                      StringValue("ecmp"),
                      Renewing<StringValue, &RoutePolicy::m_policy>(),
                      MakeStringChecker())
        .AddAttribute("Parameters",
                      "Parameters of the policy, as keys of a scenario's section [policy], "
                      "separated by semicolons or newlines: 'gap = \"50us\"; other = 3'.",
                      StringValue(""),
                      Renewing<StringValue, &RoutePolicy::m_parameters>(),
                      MakeStringChecker())
        .AddAttribute("DscpPolicies",
                      "Policies for packets with some DSCPs, instead of Policy: '46 = drill, "
                      "8-15 = flowlet(gap = \"50us\")'.",
                      StringValue(""),
                      Renewing<StringValue, &RoutePolicy::m_dscpPolicies>(),
                      MakeStringChecker())
        .AddAttribute("Seed",
                      "The seed of hashes and draws; 0 to derive it from ns-3's seed and run, so "
                      "that --RngRun changes it. No random stream of the script moves.",
                      UintegerValue(0),
                      Renewing<UintegerValue, &RoutePolicy::m_seed>(),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute("Routes",
                      "Where next hops come from: `global` (Ipv4GlobalRouting; IPv4 alone), "
                      "`static` (static routes of equal prefix and metric) or `shortest-paths` "
                      "(fewest links).",
                      StringValue(routes),
                      Renewing<StringValue, &RoutePolicy::m_source, &RoutePolicy::RenewSource>(),
                      MakeStringChecker())
        .AddTraceSource("Choice",
                        "A packet had two or more next hops; one was chosen.",
                        MakeTraceSourceAccessor(&RoutePolicy::m_choice),
                        tid.GetName() + "::ChoiceTracedCallback");
}

template <class F>
TypeId
RoutePolicy<F>::AddNodeAttributes(TypeId tid)
{
    return tid
        .AddAttribute("Tier",
                      "Switch tiers between this node and the hosts: 0 at the edge; 255 to find it "
                      "from the topology.",
                      UintegerValue(FOUND),
                      Renewing<UintegerValue, &RoutePolicy::m_tier>(),
                      MakeUintegerChecker<uint8_t>())
        .AddAttribute("PortBuffer",
                      "Buffer size of one port, in bytes: the thresholds of `adaptive` are "
                      "fractions of it.",
                      UintegerValue(1000000),
                      Renewing<UintegerValue, &RoutePolicy::m_portBuffer>(),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute("BaseRtt",
                      "The longest round-trip time of the idle network: the gap of `flowlet` is "
                      "half of it, unless Parameters override it; 0 to find it from the rates and "
                      "delays of all links.",
                      TimeValue(MicroSeconds(100)),
                      Renewing<TimeValue, &RoutePolicy::m_baseRtt>(),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("RefreshInterval",
                      "Interval after which a node looks up its next hops again; 0 for never. "
                      "Needed only if the script replaces a route in the middle of a table or "
                      "changes the rate of a link. Other changes are detected at once: those of "
                      "the number of routes, of the first or last route, of an interface or an "
                      "address.",
                      TimeValue(Time(0)),
                      MakeTimeAccessor(&RoutePolicy::m_refreshInterval),
                      MakeTimeChecker(Time(0)));
}

/// The methods of this file, for a family. @param F IPv4 or IPv6
#define EVENKEEL_INSTANTIATE(F)                                                                    \
    template TypeId RoutePolicy<F>::AddAttributes(TypeId, const std::string&);                     \
    template TypeId RoutePolicy<F>::AddNodeAttributes(TypeId);
EVENKEEL_INSTANTIATE(Ipv4Family)
EVENKEEL_INSTANTIATE(Ipv6Family)
#undef EVENKEEL_INSTANTIATE

} // namespace ns3
