// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-helper.h"

#include "ns3/fabric-channel.h"
#include "ns3/fabric-switch-port.h"
#include "ns3/fabric-switch.h"
#include "ns3/rdma-nic.h"

#include "ns3/abort.h"
#include "ns3/data-rate.h"
#include "ns3/log.h"
#include "ns3/names.h"
#include "ns3/rng-seed-manager.h"

#include <algorithm>
#include <deque>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricHelper");

namespace
{

/// A switch that no host reaches.
constexpr uint32_t FAR = std::numeric_limits<uint32_t>::max();

/**
 * @brief Ends the program with the reason where evenkeel refuses something.
 * @param make what may be refused
 * @return what was made
 */
template <class Make>
auto
OrAbort(Make make) -> decltype(make())
{
    try
    {
        return make();
    }
    catch (const std::exception& error)
    {
        NS_FATAL_ERROR("evenkeel: " << error.what());
    }
    return decltype(make())();
}

} // namespace

FabricHelper::FabricHelper(Resolution resolution)
{
    if (resolution == PICOSECONDS)
    {
        Fabric::UsePicoseconds();
    }
    m_channelFactory.SetTypeId(FabricChannel::GetTypeId());
    m_fabricFactory.SetTypeId(Fabric::GetTypeId());
}

void
FabricHelper::SetNicAttribute(const std::string& name, const AttributeValue& value)
{
    m_nicHelper.SetAttribute(name, value);
}

void
FabricHelper::SetSwitchAttribute(const std::string& name, const AttributeValue& value)
{
    m_switchHelper.SetAttribute(name, value);
}

void
FabricHelper::SetChannelAttribute(const std::string& name, const AttributeValue& value)
{
    m_channelFactory.Set(name, value);
}

void
FabricHelper::SetFabricAttribute(const std::string& name, const AttributeValue& value)
{
    m_fabricFactory.Set(name, value);
}

void
FabricHelper::SetPolicy(const std::string& policy, const std::string& parameters)
{
    m_switchHelper.SetPolicy(policy, parameters);
}

void
FabricHelper::SetGap(uint32_t bytes)
{
    m_gapBytes = bytes;
}

void
FabricHelper::SetForwardingDelay(Time delay)
{
    m_forwardingDelay = delay;
}

void
FabricHelper::AddSettings(const std::string& sections)
{
    m_sections += sections + "\n";
}

void
FabricHelper::AddFailure(Ptr<FabricChannel> link, const std::string& keys)
{
    m_failures.emplace_back(link, keys);
}

void
FabricHelper::SetFirstHosts(const NodeContainer& hosts)
{
    m_firstHosts = hosts;
}

void
FabricHelper::SetNicsPerNode(uint32_t nics)
{
    NS_ABORT_MSG_IF(nics == 0, "a host has a NIC");
    m_nicsPerNode = nics;
}

void
FabricHelper::SetCoreFactory(CoreFactory factory)
{
    m_coreFactory = std::move(factory);
}

int64_t
FabricHelper::AssignStreams(int64_t stream)
{
    m_stream = stream;
    return 1;
}

Ptr<FabricPort>
FabricHelper::MakePort(Ptr<Node> node)
{
    if (Ptr<FabricSwitch> owner = node->GetObject<FabricSwitch>())
    {
        if (std::find(m_switches.begin(), m_switches.end(), owner) == m_switches.end())
        {
            m_switches.push_back(owner);
            m_switchNodes.push_back(node);
            m_switchNames.emplace_back();
        }
        Ptr<FabricSwitchPort> port = CreateObject<FabricSwitchPort>();
        port->SetAddress(Mac48Address::Allocate());
        node->AddDevice(port);
        owner->AddPort(port);
        return port;
    }
    for (uint32_t place = 0; place < node->GetNDevices(); ++place)
    {
        Ptr<RdmaNic> nic = DynamicCast<RdmaNic>(node->GetDevice(place));
        if (nic && !nic->GetChannel())
        {
            m_nics.push_back(nic);
            return nic;
        }
    }
    Ptr<NetDevice> nic = m_nicHelper.Install(NodeContainer(node)).Get(0);
    m_nics.push_back(DynamicCast<RdmaNic>(nic));
    return m_nics.back();
}

NetDeviceContainer
FabricHelper::Install(Ptr<Node> a, Ptr<Node> b)
{
    NS_LOG_FUNCTION(this << a << b);
    Ptr<FabricPort> atA = MakePort(a);
    Ptr<FabricPort> atB = MakePort(b);
    Ptr<FabricChannel> channel = m_channelFactory.Create<FabricChannel>();
    channel->Attach(atA);
    channel->Attach(atB);
    m_channels.push_back(channel);
    NetDeviceContainer ends;
    ends.Add(atA);
    ends.Add(atB);
    return ends;
}

NetDeviceContainer
FabricHelper::Install(const NodeContainer& nodes, Ptr<Node> to)
{
    NetDeviceContainer ends;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        ends.Add(Install(*node, to).Get(0));
    }
    return ends;
}

Ptr<Fabric>
FabricHelper::Finish()
{
    NS_LOG_FUNCTION(this);
    OrderHosts();
    const FabricGraph graph = DescribeGraph();
    const std::string settings = DescribeSettings();
    NS_LOG_LOGIC("settings:\n" << settings);
    return Assemble(OrAbort([&] {
        return m_coreFactory ? m_coreFactory(graph, settings)
                             : MakeFabricCore(graph, settings, DescribeQueuePairs());
    }));
}

Ptr<Fabric>
FabricHelper::Assemble(std::unique_ptr<FabricCore> core)
{
    Ptr<Fabric> fabric = m_fabricFactory.Create<Fabric>();
    fabric->Assemble(std::move(core), m_nics, m_switches, m_channels);
    return fabric;
}

void
FabricHelper::OrderHosts()
{
    const auto rank = [this](const Ptr<RdmaNic>& nic) {
        for (uint32_t place = 0; place < m_firstHosts.GetN(); ++place)
        {
            if (m_firstHosts.Get(place) == nic->GetNode())
            {
                return place;
            }
        }
        return FAR;
    };
    std::stable_sort(m_nics.begin(), m_nics.end(), [&rank](const auto& a, const auto& b) {
        return rank(a) < rank(b);
    });
}

FabricGraph
FabricHelper::DescribeGraph() const
{
    FabricGraph graph;
    for (std::size_t host = 0; host < m_nics.size(); ++host)
    {
        graph.hosts.push_back("host" + std::to_string(host));
    }
    for (std::size_t number = 0; number < m_switches.size(); ++number)
    {
        FabricGraph::Switch each;
        each.name = m_switchNames[number];
        if (each.name.empty())
        {
            each.name = Names::FindName(m_switchNodes[number]);
        }
        if (each.name.empty())
        {
            each.name = "switch" + std::to_string(number);
        }
        graph.switches.push_back(each);
    }
    const auto describe = [this](Ptr<NetDevice> device) {
        FabricEnd end;
        if (Ptr<RdmaNic> nic = DynamicCast<RdmaNic>(device))
        {
            end.isHost = true;
            const auto place = std::find(m_nics.begin(), m_nics.end(), nic);
            end.number = static_cast<uint32_t>(place - m_nics.begin());
            return end;
        }
        Ptr<FabricSwitch> owner = device->GetNode()->GetObject<FabricSwitch>();
        const auto place = std::find(m_switches.begin(), m_switches.end(), owner);
        end.number = static_cast<uint32_t>(place - m_switches.begin());
        return end;
    };
    for (const auto& channel : m_channels)
    {
        FabricLink link;
        link.a = describe(channel->GetDevice(0));
        link.b = describe(channel->GetDevice(1));
        link.rateBps = channel->GetDataRate().GetBitRate();
        link.delayPs = static_cast<uint64_t>(channel->GetDelay().GetPicoSeconds());
        graph.links.push_back(link);
    }
    FillTiers(graph);
    return graph;
}

void
FabricHelper::FillTiers(FabricGraph& graph)
{
    for (auto& each : graph.switches)
    {
        each.tier = FAR;
    }
    for (const FabricLink& link : graph.links)
    {
        if (link.a.isHost && !link.b.isHost)
        {
            graph.switches[link.b.number].tier = 0;
        }
        if (link.b.isHost && !link.a.isHost)
        {
            graph.switches[link.a.number].tier = 0;
        }
    }
    for (bool changed = true; changed;)
    {
        changed = false;
        for (const FabricLink& link : graph.links)
        {
            if (link.a.isHost || link.b.isHost)
            {
                continue;
            }
            uint32_t& a = graph.switches[link.a.number].tier;
            uint32_t& b = graph.switches[link.b.number].tier;
            uint32_t& higher = a > b ? a : b;
            const uint32_t lower = std::min(a, b);
            if (lower != FAR && higher > lower + 1)
            {
                higher = lower + 1;
                changed = true;
            }
        }
    }
    for (auto& each : graph.switches)
    {
        each.tier = each.tier == FAR ? 0 : each.tier;
    }
}

std::string
FabricHelper::NameOf(Ptr<FabricChannel> channel, const FabricGraph& graph) const
{
    const auto place = std::find(m_channels.begin(), m_channels.end(), channel);
    NS_ABORT_MSG_IF(place == m_channels.end(), "a failure of a link of another fabric");
    const FabricLink& link = graph.links[static_cast<std::size_t>(place - m_channels.begin())];
    const auto height = [&graph](const FabricEnd& end) {
        return end.isHost ? 0 : 1 + graph.switches[end.number].tier;
    };
    const auto name = [&graph](const FabricEnd& end) {
        return end.isHost ? graph.hosts[end.number] : graph.switches[end.number].name;
    };
    const auto key = [&height](const FabricEnd& end) {
        return std::make_pair(height(end), end.number);
    };
    const auto ends = [&](const FabricLink& each) {
        const bool inOrder = key(each.a) <= key(each.b);
        return inOrder ? name(each.a) + "-" + name(each.b) : name(each.b) + "-" + name(each.a);
    };
    uint32_t before = 0;
    uint32_t all = 0;
    for (const FabricLink& other : graph.links)
    {
        if (ends(other) == ends(link))
        {
            before += &other < &link ? 1 : 0;
            ++all;
        }
    }
    return all > 1 ? ends(link) + "#" + std::to_string(before) : ends(link);
}

std::string
FabricHelper::DescribeSettings() const
{
    NS_ABORT_MSG_IF(m_nics.empty(), "a fabric needs at least one host");
    std::ostringstream text;
    const uint64_t run = RngSeedManager::GetRun() + (static_cast<uint64_t>(m_stream) << 20);
    const uint64_t seed = (static_cast<uint64_t>(RngSeedManager::GetSeed()) - 1) << 40 ^ run;
    text << "schema_version = 1\n";
    // The format holds 63 bits.
    text << "seed = " << (seed & 0x7fffffffffffffffULL) << "\n\n";
    text << "[topology]\ngap = \"" << m_gapBytes << "B\"\n";
    text << "forwarding_delay = \"" << m_forwardingDelay.GetPicoSeconds() << "ps\"\n\n";
    text << m_nics[0]->DescribeSettings() << "\n";
    for (const auto& nic : m_nics)
    {
        NS_ABORT_MSG_IF(nic->DescribeSettings() != m_nics[0]->DescribeSettings(),
                        "all NICs of a fabric have one setting; set it before they are made");
    }
    if (!m_switches.empty())
    {
        text << m_switches[0]->DescribeSettings() << "\n";
    }
    for (const auto& each : m_switches)
    {
        NS_ABORT_MSG_IF(each->DescribeSettings() != m_switches[0]->DescribeSettings(),
                        "all switches of a fabric have one setting; set it before they are made");
    }
    text << m_sections;
    const FabricGraph graph = m_failures.empty() ? FabricGraph() : DescribeGraph();
    for (const auto& [channel, keys] : m_failures)
    {
        text << "\n[[failure]]\nlink = \"" << NameOf(channel, graph) << "\"\n" << keys << "\n";
    }
    return text.str();
}

FabricQpSettings
FabricHelper::DescribeQueuePairs() const
{
    NS_ABORT_MSG_IF(m_nics.empty(), "a fabric needs at least one host");
    const auto fields = [](const FabricQpSettings& it) {
        return std::make_tuple(it.sendQueue,
                               it.receiveQueue,
                               it.rnrTimerPs,
                               it.rnrRetries,
                               it.retries);
    };
    const FabricQpSettings settings = m_nics[0]->DescribeQueuePairs();
    for (const auto& nic : m_nics)
    {
        NS_ABORT_MSG_IF(fields(nic->DescribeQueuePairs()) != fields(settings),
                        "all NICs of a fabric have one setting; set it before they are made");
    }
    return settings;
}

Ptr<Fabric>
FabricHelper::CreateLeafSpine(uint32_t leaves, uint32_t spines, uint32_t hostsPerLeaf)
{
    NS_ABORT_MSG_IF(leaves == 0 || spines == 0 || hostsPerLeaf == 0,
                    "a leaf-spine has leaves, spines, and hosts on each leaf");
    Ptr<FabricChannel> sample = m_channelFactory.Create<FabricChannel>();
    const uint64_t rate = sample->GetDataRate().GetBitRate();
    const auto delay = static_cast<uint64_t>(sample->GetDelay().GetPicoSeconds());
    FabricGraph graph;
    graph.hosts.resize(leaves * hostsPerLeaf);
    for (uint32_t leaf = 0; leaf < leaves; ++leaf)
    {
        graph.switches.push_back({"leaf" + std::to_string(leaf), 0});
    }
    for (uint32_t spine = 0; spine < spines; ++spine)
    {
        graph.switches.push_back({"spine" + std::to_string(spine), 1});
    }
    for (uint32_t host = 0; host < leaves * hostsPerLeaf; ++host)
    {
        graph.links.push_back({{host, true}, {host / hostsPerLeaf, false}, rate, delay});
    }
    for (uint32_t leaf = 0; leaf < leaves; ++leaf)
    {
        for (uint32_t spine = 0; spine < spines; ++spine)
        {
            graph.links.push_back({{leaf, false}, {leaves + spine, false}, rate, delay});
        }
    }
    Build(graph);
    return Finish();
}

Ptr<Fabric>
FabricHelper::CreateFatTree(uint32_t k)
{
    Ptr<FabricChannel> sample = m_channelFactory.Create<FabricChannel>();
    const uint64_t rate = sample->GetDataRate().GetBitRate();
    std::ostringstream text;
    text << "kind = \"fat-tree\"\nk = " << k << "\n";
    text << "host_rate = \"" << rate << "bps\"\nfabric_rate = \"" << rate << "bps\"\n";
    text << "delay = \"" << sample->GetDelay().GetPicoSeconds() << "ps\"\n";
    return CreateTopology(text.str());
}

Ptr<Fabric>
FabricHelper::CreateTopology(const std::string& topology, const std::string& folder)
{
    Build(OrAbort([&] { return MakeFabricGraph(topology, folder); }));
    return Finish();
}

Ptr<Fabric>
FabricHelper::CreateFromTopologyFile(const std::string& path, const std::string& format)
{
    return CreateTopology("kind = \"file\"\npath = '" + path + "'\nformat = \"" + format + "\"\n");
}

Ptr<Fabric>
FabricHelper::CreateFromScenario(const std::string& path)
{
    std::ifstream file(path);
    NS_ABORT_MSG_IF(!file, "cannot read the scenario " << path);
    std::ostringstream text;
    text << file.rdbuf();
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
    return CreateFromCore(OrAbort([&] { return MakeFabricCore(text.str(), folder); }));
}

Ptr<Fabric>
FabricHelper::CreateFromCore(std::unique_ptr<FabricCore> core)
{
    NS_ABORT_MSG_IF(!core, "a fabric needs a core");
    Build(core->GetGraph());
    return Assemble(std::move(core));
}

void
FabricHelper::Build(const FabricGraph& graph)
{
    NS_ABORT_MSG_IF(!m_channels.empty(), "a helper makes one fabric");
    const auto count = static_cast<uint32_t>(graph.hosts.size());
    NS_ABORT_MSG_IF(count % m_nicsPerNode != 0,
                    count << " hosts cannot be nodes with " << m_nicsPerNode << " NICs each");
    NodeContainer hosts;
    for (uint32_t host = 0; host < count; ++host)
    {
        hosts.Add(host % m_nicsPerNode == 0 ? CreateObject<Node>() : hosts.Get(host - 1));
    }
    NodeContainer switches;
    switches.Create(static_cast<uint32_t>(graph.switches.size()));
    m_switchHelper.Install(switches);
    const NetDeviceContainer nics = m_nicHelper.Install(hosts);
    for (uint32_t host = 0; host < nics.GetN(); ++host)
    {
        m_nics.push_back(DynamicCast<RdmaNic>(nics.Get(host)));
    }
    for (uint32_t number = 0; number < switches.GetN(); ++number)
    {
        m_switchNodes.push_back(switches.Get(number));
        m_switches.push_back(switches.Get(number)->GetObject<FabricSwitch>());
        m_switchNames.push_back(graph.switches[number].name);
    }
    const auto port = [&](const FabricEnd& end) -> Ptr<FabricPort> {
        if (end.isHost)
        {
            return m_nics[end.number];
        }
        return MakePort(switches.Get(end.number));
    };
    for (const FabricLink& link : graph.links)
    {
        ObjectFactory factory = m_channelFactory;
        factory.Set("DataRate", DataRateValue(DataRate(link.rateBps)));
        Ptr<FabricChannel> channel = factory.Create<FabricChannel>();
        // Delays of a graph may be finer than ns-3's time; the fabric takes them from its core.
        channel->SetAttribute("Delay", TimeValue(PicoSeconds(link.delayPs)));
        channel->Attach(port(link.a));
        channel->Attach(port(link.b));
        m_channels.push_back(channel);
    }
}

NodeContainer
FabricHelper::GetHosts() const
{
    NodeContainer nodes;
    for (const auto& nic : m_nics)
    {
        nodes.Add(nic->GetNode());
    }
    return nodes;
}

NodeContainer
FabricHelper::GetSwitches() const
{
    NodeContainer nodes;
    for (const auto& node : m_switchNodes)
    {
        nodes.Add(node);
    }
    return nodes;
}

NetDeviceContainer
FabricHelper::GetNics() const
{
    NetDeviceContainer devices;
    for (const auto& nic : m_nics)
    {
        devices.Add(nic);
    }
    return devices;
}

const std::vector<Ptr<FabricChannel>>&
FabricHelper::GetChannels() const
{
    return m_channels;
}

} // namespace ns3
