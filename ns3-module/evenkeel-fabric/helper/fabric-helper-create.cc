// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../model/fabric-or-abort.h"
#include "../model/toml-of.h"
#include "fabric-helper.h"

#include "ns3/data-rate.h"
#include "ns3/log.h"
#include "ns3/names.h"
#include "ns3/refuse.h"
#include "ns3/rng-seed-manager.h"

#include <algorithm>
#include <map>
#include <sstream>

// FabricHelper's Create calls, and its description of a fabric: the graph and the settings.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricHelperCreate");

namespace
{

/**
 * @brief Finds an element.
 * @tparam T type of the elements
 * @param all the elements
 * @param one one of them
 * @return its index; the number of elements without it
 */
template <class T>
uint32_t
IndexIn(const std::vector<T>& all, const T& one)
{
    return static_cast<uint32_t>(std::find(all.begin(), all.end(), one) - all.begin());
}

} // namespace

Ptr<Fabric>
FabricHelper::CreateLeafSpine(uint32_t leaves, uint32_t spines, uint32_t hostsPerLeaf)
{
    Ptr<FabricChannel> sample = m_channelFactory.Create<FabricChannel>();
    const uint64_t rate = sample->GetDataRate().GetBitRate();
    std::ostringstream keys;
    keys << "leaves = " << leaves << "\nspines = " << spines
         << "\nhosts_per_leaf = " << hostsPerLeaf << "\nhost_rate = \"" << rate
         << "bps\"\nfabric_rate = \"" << rate << "bps\"\ndelay = \""
         << sample->GetDelay().GetPicoSeconds() << "ps\"\n";
    return BuildTopology("leaf-spine", keys.str(), "FabricHelper::CreateLeafSpine");
}

Ptr<Fabric>
FabricHelper::BuildTopology(const std::string& kind,
                            const std::string& keys,
                            const std::string& call)
{
    ExpectOpen(call);
    const std::string section = "kind = " + Quoted(kind) + "\n" + keys;
    Build(fabrichelper::OrAbort(call, [&] { return MakeFabricGraph(section, "."); }), call);
    return FinishFor(call);
}

Ptr<Fabric>
FabricHelper::CreateFromScenario(const std::string& path)
{
    const std::string call = "FabricHelper::CreateFromScenario";
    ExpectBare(call);
    std::unique_ptr<FabricCore> core =
        fabrichelper::OrAbort(call, [&] { return ReadFabricCore(path); });
    Build(core->GetGraph(), call);
    return Assemble(m_fabricFactory.Create<Fabric>(), std::move(core), call);
}

Ptr<Fabric>
FabricHelper::CreateFromCore(std::unique_ptr<FabricCore> core)
{
    const std::string call = "FabricHelper::CreateFromCore";
    EVENKEEL_REFUSE_IF(!core, call, "the core is null: pass one of MakeFabricCore");
    ExpectBare(call);
    Build(core->GetGraph(), call);
    return Assemble(m_fabricFactory.Create<Fabric>(), std::move(core), call);
}

void
FabricHelper::ExpectBare(const std::string& call) const
{
    ExpectOpen(call);
    EVENKEEL_REFUSE_IF(!m_workloads.empty() || !m_classes.empty() || !m_failures.empty() ||
                           !m_ownAttributes.empty(),
                       call,
                       "classes, failures, a workload or attributes of one NIC were added before, "
                       "but have no effect on a fabric made in one call: put them into the "
                       "scenario");
}

void
FabricHelper::Build(const FabricGraph& graph, const std::string& call)
{
    NS_LOG_FUNCTION(this << call);
    EVENKEEL_REFUSE_IF(!m_channels.empty(),
                       call,
                       "a fabric is made link by link (FabricHelper::Install and Finish) or in one "
                       "call, not both");
    const auto count = static_cast<uint32_t>(graph.hosts.size());
    m_joinedPorts = graph.joinedPorts;
    EVENKEEL_REFUSE_IF(count % m_nicsPerNode != 0,
                       call,
                       count << " hosts do not fill nodes with " << m_nicsPerNode
                             << " NICs each: give FabricHelper::SetNicsPerNode a divisor");
    NodeContainer hosts;
    for (uint32_t host = 0; host < count; ++host)
    {
        hosts.Add(host % m_nicsPerNode == 0 ? CreateObject<Node>() : hosts.Get(host - 1));
    }
    NodeContainer switches;
    switches.Create(static_cast<uint32_t>(graph.switches.size()));
    InstallSwitches(switches);
    const NetDeviceContainer nics = m_nicHelper.Install(hosts);
    for (uint32_t host = 0; host < nics.GetN(); ++host)
    {
        m_nics.push_back(DynamicCast<RdmaNic>(nics.Get(host)));
    }
    for (uint32_t number = 0; number < switches.GetN(); ++number)
    {
        m_switches.push_back(switches.Get(number)->GetObject<FabricSwitch>());
        m_switchNames.push_back(graph.switches[number]);
    }
    const auto port = [&](const FabricEnd& end) -> Ptr<FabricPort> {
        if (end.isHost)
        {
            // On a multi-port NIC, the next free port gets the link.
            const Ptr<RdmaNic> nic = m_nics[end.number];
            return nic->GetChannel() ? nic->AddPort() : Ptr<FabricPort>(nic);
        }
        return MakePort(switches.Get(end.number));
    };
    for (const FabricLink& link : graph.links)
    {
        ObjectFactory factory = m_channelFactory;
        factory.Set("DataRate", DataRateValue(DataRate(link.rateBps)));
        Ptr<FabricChannel> channel = factory.Create<FabricChannel>();
        // ns-3's time resolution may round this delay; the fabric reads the exact one from its
        // core.
        channel->SetAttribute("Delay", TimeValue(PicoSeconds(link.delayPs)));
        channel->Attach(port(link.a));
        channel->Attach(port(link.b));
        m_channels.push_back(channel);
    }
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
        std::string name = m_switchNames[number];
        if (name.empty())
        {
            name = Names::FindName(m_switches[number]->GetObject<Node>());
        }
        graph.switches.push_back(name.empty() ? "switch" + std::to_string(number) : name);
    }
    const auto describe = [this](Ptr<NetDevice> device) {
        FabricEnd end;
        const Ptr<RdmaNic> nic = RdmaNic::Of(device);
        end.isHost = nic != nullptr;
        end.number = nic ? IndexIn(m_nics, nic)
                         : IndexIn(m_switches, device->GetNode()->GetObject<FabricSwitch>());
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
    graph.joinedPorts = m_joinedPorts;
    return graph;
}

std::string
FabricHelper::DescribeWorkloads() const
{
    // The n-th time that the ranks have a node is its n-th NIC.
    std::map<Ptr<Node>, std::vector<uint32_t>> hosts;
    for (uint32_t host = 0; host < m_nics.size(); ++host)
    {
        hosts[m_nics[host]->GetNode()].push_back(host);
    }
    std::string text;
    for (const auto& [keys, ranks] : m_workloads)
    {
        text += (m_workloads.size() == 1 ? "[workload]\n" : "[[job]]\n") + keys;
        std::map<Ptr<Node>, std::size_t> used;
        std::string list;
        for (uint32_t rank = 0; rank < ranks.GetN(); ++rank)
        {
            const Ptr<Node> node = ranks.Get(rank);
            EVENKEEL_REFUSE_IF(used[node] >= hosts[node].size(),
                               "CollectiveHelper::Install",
                               "rank " << rank << ", node " << node->GetId() << ", has "
                                       << hosts[node].size()
                                       << " NICs in this fabric: connect it to a switch with "
                                          "FabricHelper::Install, or name it less often");
            list += (rank == 0 ? "" : ",") + std::to_string(hosts[node][used[node]++]);
        }
        text += list.empty() ? "\n" : "hosts = \"" + list + "\"\n\n";
    }
    return text;
}

std::string
FabricHelper::DescribeSettings(const RdmaNic& nic,
                               const FabricGraph& graph,
                               Ptr<Fabric> fabric) const
{
    std::ostringstream text;
    const uint64_t run = RngSeedManager::GetRun() + (static_cast<uint64_t>(m_stream) << 20);
    const uint64_t seed = (static_cast<uint64_t>(RngSeedManager::GetSeed()) - 1) << 40 ^ run;
    text << "schema_version = 1\n";
    // TOML integers are signed 64-bit.
    text << "seed = " << (seed & 0x7fffffffffffffffULL) << "\n\n";
    text << "[topology]\n" << fabric->DescribeSettings() << "\n" << nic.DescribeSettings() << "\n";
    if (!m_switches.empty())
    {
        text << m_switches[0]->DescribeSettings() << "\n";
    }
    for (const auto& each : m_switches)
    {
        EVENKEEL_REFUSE_IF(each->DescribeSettings() != m_switches[0]->DescribeSettings(),
                           "FabricHelper::Finish",
                           "all switches of a fabric must have the same attributes: set them "
                           "before the switches are made");
    }
    text << DescribeWorkloads() << m_classes;
    for (const auto& [channel, keys] : m_failures)
    {
        const uint32_t link = IndexIn(m_channels, channel);
        EVENKEEL_REFUSE_IF(
            channel && link == m_channels.size(),
            "FailureHelper",
            "the link of a failure is in another fabric: take it from GetChannels of this helper");
        text << "\n[[failure]]\n"
             << (channel ? "link = " + Quoted(graph.NameOf(link)) + "\n" : "") << keys << "\n";
    }
    return text.str();
}

std::vector<FabricNicSettings>
FabricHelper::DescribeOwnNics(const FabricGraph& graph, Ptr<Fabric> fabric) const
{
    std::vector<FabricNicSettings> own;
    std::map<std::string, std::size_t> known;
    for (uint32_t host = 0; host < m_nics.size(); ++host)
    {
        const std::string attributes = m_nics[host]->DescribeAttributes();
        if (attributes == m_nics[0]->DescribeAttributes())
        {
            continue;
        }
        const auto [found, isNew] = known.emplace(attributes, own.size());
        if (isNew)
        {
            FabricNicSettings settings;
            settings.settings = DescribeSettings(*m_nics[host], graph, fabric);
            settings.queuePairs = m_nics[host]->DescribeQueuePairs();
            own.push_back(settings);
        }
        own[found->second].hosts.push_back(host);
    }
    return own;
}

} // namespace ns3
