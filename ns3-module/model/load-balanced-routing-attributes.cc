// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "load-balanced-routing.h"

#include "ns3/string.h"
#include "ns3/uinteger.h"

// The attributes and the trace source of LoadBalancedRouting.

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LoadBalancedRouting);

TypeId
LoadBalancedRouting::GetTypeId()
{
    static TypeId tid =
        AddNodeAttributes(AddPolicyAttributes(TypeId("ns3::LoadBalancedRouting")
                                                  .SetParent<Ipv4RoutingProtocol>()
                                                  .SetGroupName("Evenkeel")
                                                  .AddConstructor<LoadBalancedRouting>()));
    return tid;
}

TypeId
LoadBalancedRouting::AddPolicyAttributes(TypeId tid)
{
    return tid
        .AddAttribute(
            "Policy",
            "The load-balancing policy, by a name that `evenkeel list policies` "
            "prints, such as ecmp, spray, flowlet, jsq, drill.",
            StringValue("ecmp"),
            MakeStringAccessor(&LoadBalancedRouting::SetPolicy, &LoadBalancedRouting::GetPolicy),
            MakeStringChecker())
        .AddAttribute("Parameters",
                      "Parameters of the policy, as keys of a scenario's section [policy], "
                      "separated by semicolons or line ends: 'gap = \"50us\"; other = 3'.",
                      StringValue(""),
                      MakeStringAccessor(&LoadBalancedRouting::SetParameters,
                                         &LoadBalancedRouting::GetParameters),
                      MakeStringChecker())
        .AddAttribute("Seed",
                      "The seed of hashes and draws; 0 to derive it from ns-3's seed and run, so "
                      "that --RngRun changes it. No random stream of the script moves.",
                      UintegerValue(0),
                      MakeUintegerAccessor(&LoadBalancedRouting::m_seed),
                      MakeUintegerChecker<uint64_t>());
}

TypeId
LoadBalancedRouting::AddNodeAttributes(TypeId tid)
{
    return tid
        .AddAttribute("Tier",
                      "Switch tiers between this node and the hosts: 0 at the edge; 255 to find it "
                      "from the topology.",
                      UintegerValue(FOUND),
                      MakeUintegerAccessor(&LoadBalancedRouting::m_tier),
                      MakeUintegerChecker<uint8_t>())
        .AddAttribute("PortBuffer",
                      "Buffer size of one port, in bytes: the thresholds of `adaptive` are "
                      "fractions of it.",
                      UintegerValue(1000000),
                      MakeUintegerAccessor(&LoadBalancedRouting::m_portBuffer),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute("BaseRtt",
                      "The longest round-trip time of the idle network: the gap of `flowlet` is "
                      "half of it, unless Parameters override it; 0 to find it from the rates and "
                      "delays of all links.",
                      TimeValue(MicroSeconds(100)),
                      MakeTimeAccessor(&LoadBalancedRouting::m_baseRtt),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("Routes",
                      "Where next hops come from: `global` (Ipv4GlobalRouting), `static` (static "
                      "routes of equal prefix and metric) or `shortest-paths` (fewest links).",
                      StringValue("global"),
                      MakeStringAccessor(&LoadBalancedRouting::m_source),
                      MakeStringChecker())
        .AddAttribute("RefreshInterval",
                      "Interval after which next hops that are in use are looked up again; 0 for "
                      "never. Almost all changes of routes are detected at once: all that change "
                      "the number of a node's routes, an interface or an address.",
                      TimeValue(MilliSeconds(10)),
                      MakeTimeAccessor(&LoadBalancedRouting::m_refreshInterval),
                      MakeTimeChecker(Time(0)))
        .AddTraceSource("Choice",
                        "A packet had two or more next hops; one was chosen.",
                        MakeTraceSourceAccessor(&LoadBalancedRouting::m_choice),
                        "ns3::LoadBalancedRouting::ChoiceTracedCallback");
}

} // namespace ns3
