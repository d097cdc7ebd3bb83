// SPDX-License-Identifier: GPL-2.0-only

#include "load-balanced-routing.h"

#include "evenkeel.h"

#include "ns3/abort.h"
#include "ns3/channel.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/ipv4.h"
#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

// Renamed in ns-3.47. The new name is asked for first: an older ns-3 may be installed beside a tree.
#if __has_include("ns3/global-routing.h")
#include "ns3/global-routing.h"
#else
#include "ns3/ipv4-global-routing.h"
#endif

#include <algorithm>
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

/// Mixes 32 bits so that each of them moves half of the others (the finaliser of MurmurHash3).
uint32_t
Mix(uint32_t hash, uint32_t value)
{
    hash = hash * 31 + value;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
    return hash ^ (hash >> 16);
}

/// Notes the packet that a wire is busy with.
void
Begin(std::shared_ptr<uint64_t> onWire, Ptr<const Packet> packet)
{
    *onWire = packet->GetSize();
}

/// The wire is free.
void
End(std::shared_ptr<uint64_t> onWire, Ptr<const Packet> packet)
{
    *onWire = 0;
}

} // namespace

struct LoadBalancedRouting::Chooser
{
    evenkeel::SwitchChooser policy;
};

struct LoadBalancedRouting::Entry
{
    bool isHost;
    Ipv4Address destination;
    Ipv4Mask mask;
    Ipv4Address gateway;
    uint32_t interface;

    bool operator==(const Entry& other) const
    {
        return isHost == other.isHost && destination == other.destination && mask == other.mask &&
               gateway == other.gateway && interface == other.interface;
    }
};

struct LoadBalancedRouting::Group
{
    uint32_t edge;
    std::vector<uint32_t> interfaces;
    std::vector<Ptr<Ipv4Route>> routes;
};

struct LoadBalancedRouting::Port
{
    Ptr<QueueBase> queue;
    Ptr<QueueDisc> disc;
    std::shared_ptr<uint64_t> onWire;
};

TypeId
LoadBalancedRouting::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::LoadBalancedRouting")
            .SetParent<Ipv4RoutingProtocol>()
            .SetGroupName("Evenkeel")
            .AddConstructor<LoadBalancedRouting>()
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
                          "The seed of hashes and draws; 0 draws it from ns-3's random stream, "
                          "so that --RngRun changes it.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&LoadBalancedRouting::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Tier",
                          "Switch tiers between this node and the hosts: 0 at the edge.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&LoadBalancedRouting::m_tier),
                          MakeUintegerChecker<uint8_t>())
            .AddAttribute("PortBuffer",
                          "What can wait at one port, in bytes: thresholds of `adaptive` are "
                          "parts of it.",
                          UintegerValue(1000000),
                          MakeUintegerAccessor(&LoadBalancedRouting::m_portBuffer),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("BaseRtt",
                          "The longest round trip of the idle network: the gap of `flowlet` is "
                          "half of it, unless Parameters say otherwise.",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&LoadBalancedRouting::m_baseRtt),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("RefreshInterval",
                          "How often the routes of global routing are read anew, beside changes "
                          "that are noticed at once; 0: never.",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&LoadBalancedRouting::m_refreshInterval),
                          MakeTimeChecker(Time(0)))
            .AddTraceSource("Choice",
                            "A packet had two or more next hops; one was chosen.",
                            MakeTraceSourceAccessor(&LoadBalancedRouting::m_choice),
                            "ns3::LoadBalancedRouting::ChoiceTracedCallback");
    return tid;
}

LoadBalancedRouting::LoadBalancedRouting()
    : m_seed(0),
      m_tier(0),
      m_portBuffer(0),
      m_random(CreateObject<UniformRandomVariable>()),
      m_stale(true)
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
    // A policy that cannot be had is told before the first packet.
    MakeChooser();
    Ipv4RoutingProtocol::DoInitialize();
}

void
LoadBalancedRouting::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_chooser.reset();
    m_groups.clear();
    m_entries.clear();
    m_ports.clear();
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
    NS_ABORT_MSG_UNLESS(m_ipv4, "LoadBalancedRouting needs an Ipv4: add it to a list routing");
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
}

void
LoadBalancedRouting::NotifyInterfaceUp(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    m_stale = true;
}

void
LoadBalancedRouting::NotifyInterfaceDown(uint32_t interface)
{
    NS_LOG_FUNCTION(this << interface);
    m_stale = true;
}

void
LoadBalancedRouting::NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    m_stale = true;
}

void
LoadBalancedRouting::NotifyRemoveAddress(uint32_t interface, Ipv4InterfaceAddress address)
{
    NS_LOG_FUNCTION(this << interface << address);
    m_stale = true;
}

void
LoadBalancedRouting::ReadRoutes()
{
    auto global = Ipv4RoutingHelper::GetRouting<Ipv4GlobalRouting>(m_ipv4->GetRoutingProtocol());
    const uint32_t count = global ? global->GetNRoutes() : 0;
    const Time now = Simulator::Now();
    const bool due = m_refreshInterval.IsStrictlyPositive() && now >= m_readAgain;
    if (!m_stale && !due && count == m_entries.size())
    {
        return;
    }
    NS_LOG_LOGIC("reads " << count << " routes");
    m_stale = false;
    m_readAgain = now + m_refreshInterval;
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
        return;
    }
    m_entries.swap(entries);
    m_groups.clear();
    m_edges.clear();
    if (m_chooser)
    {
        m_chooser->policy.routingChanged();
    }
}

uint32_t
LoadBalancedRouting::EdgeOf(Ipv4Address destination)
{
    if (m_edges.empty())
    {
        for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
        {
            Ptr<Ipv4> ipv4 = (*node)->GetObject<Ipv4>();
            for (uint32_t i = 1; ipv4 && i < ipv4->GetNInterfaces(); i++)
            {
                // A host is next to its edge switch; what has several links is a switch itself.
                uint32_t edge = (*node)->GetId();
                Ptr<Channel> channel = ipv4->GetNetDevice(i)->GetChannel();
                for (std::size_t end = 0; channel && ipv4->GetNInterfaces() == 2 &&
                                          end < channel->GetNDevices();
                     end++)
                {
                    Ptr<Node> other = channel->GetDevice(end)->GetNode();
                    edge = other != *node ? other->GetId() : edge;
                }
                for (uint32_t j = 0; j < ipv4->GetNAddresses(i); j++)
                {
                    m_edges[ipv4->GetAddress(i, j).GetLocal()] = edge;
                }
            }
        }
    }
    auto found = m_edges.find(destination);
    return found == m_edges.end() ? 0 : found->second;
}

LoadBalancedRouting::Group&
LoadBalancedRouting::GroupOf(Ipv4Address destination)
{
    auto found = m_groups.find(destination);
    if (found != m_groups.end())
    {
        return found->second;
    }
    // As Ipv4GlobalRouting looks a destination up: hosts, then networks. External routes never
    // have an equal.
    std::vector<const Entry*> matching;
    for (bool hosts : {true, false})
    {
        for (const Entry& entry : m_entries)
        {
            if (matching.empty() || matching.front()->isHost == hosts)
            {
                if (entry.isHost == hosts && entry.mask.IsMatch(destination, entry.destination))
                {
                    matching.push_back(&entry);
                }
            }
        }
    }
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

uint64_t
LoadBalancedRouting::QueueBytes(uint32_t interface)
{
    auto found = m_ports.find(interface);
    if (found == m_ports.end())
    {
        Port port;
        port.onWire = std::make_shared<uint64_t>(0);
        Ptr<NetDevice> device = m_ipv4->GetNetDevice(interface);
        PointerValue queue;
        if (device->GetAttributeFailSafe("TxQueue", queue))
        {
            port.queue = queue.Get<QueueBase>();
        }
        if (auto control = m_ipv4->GetObject<TrafficControlLayer>())
        {
            port.disc = control->GetRootQueueDiscOnDevice(device);
        }
        // Devices without these sources are looked at without what is on their wire.
        device->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&Begin, port.onWire));
        device->TraceConnectWithoutContext("PhyTxEnd", MakeBoundCallback(&End, port.onWire));
        found = m_ports.emplace(interface, port).first;
    }
    const Port& port = found->second;
    uint64_t bytes = *port.onWire;
    bytes += port.queue ? port.queue->GetNBytes() : 0;
    bytes += port.disc ? port.disc->GetNBytes() : 0;
    return bytes;
}

std::size_t
LoadBalancedRouting::Choose(Ptr<const Packet> packet, const Ipv4Header& header, Group& group)
{
    MakeChooser();
    m_places.clear();
    m_candidates.clear();
    m_queueBytes.clear();
    const bool looks = m_chooser->policy.looksAtQueues();
    for (std::size_t place = 0; place < group.interfaces.size(); place++)
    {
        const uint32_t interface = group.interfaces[place];
        if (m_ipv4->IsUp(interface))
        {
            m_places.push_back(place);
            m_candidates.push_back(interface);
            if (looks)
            {
                m_queueBytes.push_back(QueueBytes(interface));
            }
        }
    }
    if (m_places.empty())
    {
        return group.interfaces.size();
    }

    evenkeel::Arrival arrival;
    arrival.nowPs = Simulator::Now().GetPicoSeconds();
    arrival.bytes = (packet ? packet->GetSize() : 0) + header.GetSerializedSize();
    arrival.edge = group.edge;
    arrival.pod = group.edge;
    arrival.label = Mix(header.GetProtocol(), header.GetSource().Get());
    arrival.label = Mix(arrival.label, header.GetDestination().Get());
    const bool isWhole = header.IsLastFragment() && header.GetFragmentOffset() == 0;
    const bool hasPorts = header.GetProtocol() == TCP || header.GetProtocol() == UDP;
    uint8_t start[13];
    if (packet && isWhole && hasPorts && packet->CopyData(start, 13) >= 4)
    {
        const uint32_t ports = start[0] << 24 | start[1] << 16 | start[2] << 8 | start[3];
        arrival.label = Mix(arrival.label, ports);
        // The TCP header's own length, in words of 32 bits: behind it there is nothing.
        arrival.control = header.GetProtocol() == TCP && packet->GetSize() >= 13 &&
                          packet->GetSize() == (start[12] >> 4) * 4U;
    }
    evenkeel::Candidates candidates;
    candidates.ports = m_candidates.data();
    candidates.count = m_candidates.size();
    candidates.queueBytes = looks ? m_queueBytes.data() : nullptr;
    const uint32_t choice = m_chooser->policy.choose(arrival, candidates);
    NS_LOG_LOGIC("of " << candidates.count << " next hops to " << header.GetDestination()
                       << " takes interface " << m_candidates[choice]);
    m_choice(packet, header, m_candidates[choice], candidates.count);
    return m_places[choice];
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
    ReadRoutes();
    Group& group = GroupOf(destination);
    if (group.routes.size() < 2)
    {
        return nullptr;
    }
    // Whether the packet has its ports by now differs between transport protocols.
    const std::size_t place = Choose(nullptr, header, group);
    if (place == group.routes.size())
    {
        return nullptr;
    }
    error = Socket::ERROR_NOTERROR;
    // The socket may write to its route.
    return Create<Ipv4Route>(*group.routes[place]);
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
        // The list, and the protocols after this one, know what to do.
        return false;
    }
    ReadRoutes();
    Group& group = GroupOf(destination);
    if (group.routes.size() < 2)
    {
        return false;
    }
    const std::size_t place = Choose(packet, header, group);
    if (place == group.routes.size())
    {
        return false;
    }
    unicast(group.routes[place], packet, header);
    return true;
}

void
LoadBalancedRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit unit) const
{
    std::ostream& out = *stream->GetStream();
    out << "Node: " << m_ipv4->GetObject<Node>()->GetId() << ", Time: " << Now().As(unit)
        << ", LoadBalancedRouting table, policy " << m_policy << "\n";
    for (const auto& [destination, group] : m_groups)
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
