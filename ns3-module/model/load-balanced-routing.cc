// SPDX-License-Identifier: GPL-2.0-only

#include "load-balanced-routing.h"

#include "evenkeel.h"

#include "ns3/abort.h"
#include "ns3/ipv4.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <stdexcept>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("LoadBalancedRouting");

NS_OBJECT_ENSURE_REGISTERED(LoadBalancedRouting);

namespace
{

/// Protocol numbers of IP (IANA).
const uint8_t TCP = 6;
const uint8_t UDP = 17;

/// Adds 32 bits to a hash, of which each bit affects all bits (the finaliser of MurmurHash3).
uint32_t
Mix(uint32_t hash, uint32_t value)
{
    hash = hash * 31 + value;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
    return hash ^ (hash >> 16);
}

/**
 * @param packet a packet without its IP header; null if its ports must not be used
 * @param header its IP header
 * @param edge the node that represents the edge switch of its destination
 * @return the packet as the policy sees it
 */
evenkeel::Arrival
ArrivalOf(Ptr<const Packet> packet, const Ipv4Header& header, uint32_t edge)
{
    evenkeel::Arrival arrival;
    arrival.nowPs = Simulator::Now().GetPicoSeconds();
    arrival.bytes = (packet ? packet->GetSize() : 0) + header.GetSerializedSize();
    arrival.edge = edge;
    // IP routing has no pods: the edge switch serves as the pod.
    arrival.pod = edge;
    arrival.label = Mix(header.GetProtocol(), header.GetSource().Get());
    arrival.label = Mix(arrival.label, header.GetDestination().Get());
    const bool isWhole = header.IsLastFragment() && header.GetFragmentOffset() == 0;
    const bool hasPorts = header.GetProtocol() == TCP || header.GetProtocol() == UDP;
    uint8_t start[13];
    if (packet && isWhole && hasPorts && packet->CopyData(start, 13) >= 4)
    {
        const uint32_t ports = start[0] << 24 | start[1] << 16 | start[2] << 8 | start[3];
        arrival.label = Mix(arrival.label, ports);
        // A TCP segment has no data if its length is that of its header, in words of 32 bits.
        arrival.control = header.GetProtocol() == TCP && packet->GetSize() >= 13 &&
                          packet->GetSize() == (start[12] >> 4) * 4U;
    }
    return arrival;
}

} // namespace

struct LoadBalancedRouting::Chooser
{
    evenkeel::SwitchChooser policy;
};

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
        .AddAttribute("Policy",
                      "The load-balancing policy, by a name that `evenkeel list policies` "
                      "prints, such as ecmp, spray, flowlet, jsq, drill.",
                      StringValue("ecmp"),
                      MakeStringAccessor(&LoadBalancedRouting::SetPolicy,
                                         &LoadBalancedRouting::GetPolicy),
                      MakeStringChecker())
        .AddAttribute("Parameters",
                      "Parameters of the policy: lines of TOML, such as gap = \"50us\".",
                      StringValue(""),
                      MakeStringAccessor(&LoadBalancedRouting::SetParameters,
                                         &LoadBalancedRouting::GetParameters),
                      MakeStringChecker())
        .AddAttribute("Seed",
                      "The seed of hashes and draws; 0 to draw it from ns-3's random stream, "
                      "so that --RngRun changes it.",
                      UintegerValue(0),
                      MakeUintegerAccessor(&LoadBalancedRouting::m_seed),
                      MakeUintegerChecker<uint64_t>());
}

TypeId
LoadBalancedRouting::AddNodeAttributes(TypeId tid)
{
    return tid
        .AddAttribute("Tier",
                      "Switch tiers between this node and the hosts: 0 at the edge.",
                      UintegerValue(0),
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
                      "half of it, unless Parameters override it.",
                      TimeValue(MicroSeconds(100)),
                      MakeTimeAccessor(&LoadBalancedRouting::m_baseRtt),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("RefreshInterval",
                      "Interval at which the routes of global routing are read again to detect "
                      "changes; 0 for never. Some changes are detected at once.",
                      TimeValue(MilliSeconds(10)),
                      MakeTimeAccessor(&LoadBalancedRouting::m_refreshInterval),
                      MakeTimeChecker(Time(0)))
        .AddTraceSource("Choice",
                        "A packet had two or more next hops; one was chosen.",
                        MakeTraceSourceAccessor(&LoadBalancedRouting::m_choice),
                        "ns3::LoadBalancedRouting::ChoiceTracedCallback");
}

LoadBalancedRouting::LoadBalancedRouting()
    : m_seed(0),
      m_tier(0),
      m_portBuffer(0),
      m_random(CreateObject<UniformRandomVariable>())
{
    NS_LOG_FUNCTION(this);
}

LoadBalancedRouting::~LoadBalancedRouting()
{
    NS_LOG_FUNCTION(this);
}

void
LoadBalancedRouting::DoInitialize()
{
    NS_LOG_FUNCTION(this);
    // An unsupported policy ends the simulation before the first packet.
    MakeChooser();
    Ipv4RoutingProtocol::DoInitialize();
}

void
LoadBalancedRouting::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_chooser.reset();
    m_routes.Clear();
    m_queues.Clear();
    m_random = nullptr;
    m_ipv4 = nullptr;
    Ipv4RoutingProtocol::DoDispose();
}

void
LoadBalancedRouting::SetPolicy(std::string policy)
{
    NS_LOG_FUNCTION(this << policy);
    m_policy = policy;
    m_chooser.reset();
}

std::string
LoadBalancedRouting::GetPolicy() const
{
    return m_policy;
}

void
LoadBalancedRouting::SetParameters(std::string parameters)
{
    NS_LOG_FUNCTION(this << parameters);
    m_parameters = parameters;
    m_chooser.reset();
}

std::string
LoadBalancedRouting::GetParameters() const
{
    return m_parameters;
}

int64_t
LoadBalancedRouting::AssignStreams(int64_t stream)
{
    NS_LOG_FUNCTION(this << stream);
    m_random->SetStream(stream);
    return 1;
}

uint64_t
LoadBalancedRouting::GetStateBits() const
{
    return m_chooser ? m_chooser->policy.stateBits() : 0;
}

void
LoadBalancedRouting::MakeChooser()
{
    if (m_chooser)
    {
        return;
    }
    NS_ABORT_MSG_UNLESS(m_ipv4, "LoadBalancedRouting has no Ipv4: add it to an Ipv4ListRouting");
    evenkeel::Switch facts;
    facts.id = m_ipv4->GetObject<Node>()->GetId();
    facts.ports = m_ipv4->GetNInterfaces();
    facts.tier = m_tier;
    facts.portBufferBytes = m_portBuffer;
    facts.baseRttPs = m_baseRtt.GetPicoSeconds();
    facts.seed = m_seed;
    if (m_seed == 0)
    {
        const uint64_t high = m_random->GetInteger(0, UINT32_MAX);
        facts.seed = high << 32 | m_random->GetInteger(0, UINT32_MAX);
    }
    std::string reason;
    try
    {
        m_chooser.reset(new Chooser{evenkeel::SwitchChooser(m_policy, m_parameters, facts)});
    }
    catch (const std::invalid_argument& error)
    {
        reason = error.what();
    }
    NS_ABORT_MSG_UNLESS(reason.empty(), "LoadBalancedRouting: " << reason);
}

void
LoadBalancedRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    NS_LOG_FUNCTION(this << ipv4);
    m_ipv4 = ipv4;
    m_routes.SetIpv4(ipv4);
}

void
LoadBalancedRouting::NotifyInterfaceUp(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    m_routes.Invalidate();
}

void
LoadBalancedRouting::NotifyInterfaceDown(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    m_routes.Invalidate();
}

void
LoadBalancedRouting::NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    m_routes.Invalidate();
}

void
LoadBalancedRouting::NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    m_routes.Invalidate();
}

void
LoadBalancedRouting::RefreshRoutes()
{
    if (m_routes.Refresh(m_refreshInterval) && m_chooser)
    {
        m_chooser->policy.routingChanged();
    }
}

bool
LoadBalancedRouting::FillCandidates(const EqualCostRoutes::Group& group)
{
    m_indices.clear();
    m_candidates.clear();
    m_queueBytes.clear();
    const bool looks = m_chooser->policy.looksAtQueues();
    for (std::size_t index = 0; index < group.interfaces.size(); index++)
    {
        const uint32_t interface = group.interfaces[index];
        if (m_ipv4->IsUp(interface))
        {
            m_indices.push_back(index);
            m_candidates.push_back(interface);
            if (looks)
            {
                m_queueBytes.push_back(m_queues.GetBytes(m_ipv4, interface));
            }
        }
    }
    return !m_indices.empty();
}

std::size_t
LoadBalancedRouting::Choose(Ptr<const Packet> packet,
                            const Ipv4Header& header,
                            const EqualCostRoutes::Group& group)
{
    MakeChooser();
    if (!FillCandidates(group))
    {
        return group.interfaces.size();
    }
    evenkeel::Candidates candidates;
    candidates.ports = m_candidates.data();
    candidates.count = m_candidates.size();
    candidates.queueBytes = m_queueBytes.empty() ? nullptr : m_queueBytes.data();
    const uint32_t choice =
        m_chooser->policy.choose(ArrivalOf(packet, header, group.edge), candidates);
    NS_LOG_LOGIC("interface " << m_candidates[choice] << " of " << candidates.count
                              << " next hops to " << header.GetDestination());
    m_choice(packet, header, m_candidates[choice], candidates.count);
    return m_indices[choice];
}

Ptr<Ipv4Route>
LoadBalancedRouting::RouteOutput(Ptr<Packet> packet,
                                 const Ipv4Header& header,
                                 Ptr<NetDevice> device,
                                 Socket::SocketErrno& error)
{
    NS_LOG_FUNCTION(this << packet << header << device);
    const Ipv4Address destination = header.GetDestination();
    error = Socket::ERROR_NOROUTETOHOST;
    if (device || destination.IsMulticast() || destination.IsBroadcast())
    {
        return nullptr;
    }
    RefreshRoutes();
    const EqualCostRoutes::Group& group = m_routes.GroupOf(destination);
    if (group.routes.size() < 2)
    {
        return nullptr;
    }
    // Some transport protocols add their ports to the packet later, so ports are not used here.
    const std::size_t index = Choose(nullptr, header, group);
    if (index == group.routes.size())
    {
        return nullptr;
    }
    error = Socket::ERROR_NOTERROR;
    // A copy, because the socket may change its route.
    return Create<Ipv4Route>(*group.routes[index]);
}

bool
LoadBalancedRouting::RouteInput(Ptr<const Packet> packet,
                                const Ipv4Header& header,
                                Ptr<const NetDevice> device,
                                evenkeelinternal::RouteInput::Unicast unicast,
                                evenkeelinternal::RouteInput::Multicast multicast,
                                evenkeelinternal::RouteInput::Local local,
                                evenkeelinternal::RouteInput::Error error)
{
    NS_LOG_FUNCTION(this << packet << header << device);
    const Ipv4Address destination = header.GetDestination();
    if (destination.IsMulticast() || destination.IsBroadcast())
    {
        return false;
    }
    const uint32_t interface = m_ipv4->GetInterfaceForDevice(device);
    if (m_ipv4->IsDestinationAddress(destination, interface) || !m_ipv4->IsForwarding(interface))
    {
        // Ipv4ListRouting does the local delivery, and the next protocol handles the rest.
        return false;
    }
    RefreshRoutes();
    const EqualCostRoutes::Group& group = m_routes.GroupOf(destination);
    if (group.routes.size() < 2)
    {
        return false;
    }
    const std::size_t index = Choose(packet, header, group);
    if (index == group.routes.size())
    {
        return false;
    }
    unicast(group.routes[index], packet, header);
    return true;
}

void
LoadBalancedRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const
{
    std::ostream& out = *stream->GetStream();
    out << "Node: " << m_ipv4->GetObject<Node>()->GetId() << ", Time: " << Now().As(unit)
        << ", LoadBalancedRouting table, policy " << m_policy << "\n";
    for (const auto& [destination, group] : m_routes.GetGroups())
    {
        if (group.interfaces.size() > 1)
        {
            out << destination << " by one of the interfaces";
            for (uint32_t interface : group.interfaces)
            {
                out << " " << interface;
            }
            out << "\n";
        }
    }
}

} // namespace ns3
