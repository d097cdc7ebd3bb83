// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-helper.h"
#include "fabric-or-abort.h"

#include "ns3/data-rate.h"
#include "ns3/quoted.h"
#include "ns3/refuse.h"

#include <sstream>

// FabricHelper's Create calls: a fabric with a topology, from a file, or from a core.

namespace ns3
{

FabricLink
FabricHelper::DescribeLink() const
{
    Ptr<FabricChannel> sample = m_channelFactory.Create<FabricChannel>();
    FabricLink link;
    link.rateBps = sample->GetDataRate().GetBitRate();
    link.delayPs = static_cast<uint64_t>(sample->GetDelay().GetPicoSeconds());
    return link;
}

Ptr<Fabric>
FabricHelper::CreateLeafSpine(uint32_t leaves, uint32_t spines, uint32_t hostsPerLeaf)
{
    const std::string call = "FabricHelper::CreateLeafSpine";
    ExpectOpen(call);
    EVENKEEL_REFUSE_IF(leaves == 0 || spines == 0 || hostsPerLeaf == 0,
                       call,
                       "a leaf-spine must have at least one leaf, one spine and one host per leaf");
    const FabricGraph::LeafSpine size{leaves, spines, hostsPerLeaf};
    Build(FabricGraph::MakeLeafSpine(size, DescribeLink()), call);
    return FinishFor(call);
}

Ptr<Fabric>
FabricHelper::CreateFatTree(uint32_t k)
{
    const FabricLink link = DescribeLink();
    std::ostringstream text;
    text << "kind = \"fat-tree\"\nk = " << k << "\n";
    text << "host_rate = \"" << link.rateBps << "bps\"\n";
    text << "fabric_rate = \"" << link.rateBps << "bps\"\n";
    text << "delay = \"" << link.delayPs << "ps\"\n";
    return BuildTopology(text.str(), ".", "FabricHelper::CreateFatTree");
}

Ptr<Fabric>
FabricHelper::CreateTopology(const std::string& topology, const std::string& folder)
{
    return BuildTopology(topology, folder, "FabricHelper::CreateTopology");
}

Ptr<Fabric>
FabricHelper::CreateFromTopologyFile(const std::string& path, const std::string& format)
{
    return BuildTopology("kind = \"file\"\npath = " + Quoted(path) +
                             "\nformat = " + Quoted(format) + "\n",
                         ".",
                         "FabricHelper::CreateFromTopologyFile");
}

Ptr<Fabric>
FabricHelper::BuildTopology(const std::string& topology,
                            const std::string& folder,
                            const std::string& call)
{
    ExpectOpen(call);
    Build(fabrichelper::OrAbort(call, [&] { return MakeFabricGraph(topology, folder); }), call);
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
    return Assemble(std::move(core), call);
}

Ptr<Fabric>
FabricHelper::CreateFromCore(std::unique_ptr<FabricCore> core)
{
    const std::string call = "FabricHelper::CreateFromCore";
    EVENKEEL_REFUSE_IF(!core, call, "the core is null: pass one of MakeFabricCore");
    ExpectBare(call);
    Build(core->GetGraph(), call);
    return Assemble(std::move(core), call);
}

void
FabricHelper::ExpectBare(const std::string& call) const
{
    ExpectOpen(call);
    if (!m_sections.empty() || !m_classes.empty() || !m_failures.empty() ||
        m_firstHosts.GetN() > 0 || !m_ownAttributes.empty())
    {
        EVENKEEL_REFUSE(call,
                        "settings, classes, failures or a workload were added before, but have no "
                        "effect on a fabric made in one call: put them into the scenario");
    }
}

void
FabricHelper::Build(const FabricGraph& graph, const std::string& call)
{
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

} // namespace ns3
