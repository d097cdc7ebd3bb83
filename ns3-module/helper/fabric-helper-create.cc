// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-helper.h"
#include "fabric-or-abort.h"

#include "ns3/abort.h"
#include "ns3/data-rate.h"

#include <fstream>
#include <sstream>

// The Create calls of FabricHelper: a fabric of a kind, from a file, or from a core.

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
    NS_ABORT_MSG_IF(leaves == 0 || spines == 0 || hostsPerLeaf == 0,
                    "a leaf-spine must have at least one leaf, one spine and one host per leaf");
    const FabricGraph::LeafSpine size{leaves, spines, hostsPerLeaf};
    Build(FabricGraph::MakeLeafSpine(size, DescribeLink()));
    return Finish();
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
    return CreateTopology(text.str());
}

Ptr<Fabric>
FabricHelper::CreateTopology(const std::string& topology, const std::string& folder)
{
    Build(fabrichelper::OrAbort([&] { return MakeFabricGraph(topology, folder); }));
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
    NS_ABORT_MSG_IF(!file, "the scenario cannot be read: " << path);
    std::ostringstream text;
    text << file.rdbuf();
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
    return CreateFromCore(
        fabrichelper::OrAbort([&] { return MakeFabricCore(text.str(), folder); }));
}

Ptr<Fabric>
FabricHelper::CreateFromCore(std::unique_ptr<FabricCore> core)
{
    NS_ABORT_MSG_IF(!core, "the core of the fabric is null");
    Build(core->GetGraph());
    return Assemble(std::move(core));
}

void
FabricHelper::Build(const FabricGraph& graph)
{
    NS_ABORT_MSG_IF(!m_channels.empty(), "a helper makes only one fabric");
    const auto count = static_cast<uint32_t>(graph.hosts.size());
    NS_ABORT_MSG_IF(count % m_nicsPerNode != 0,
                    count << " hosts do not fill nodes with " << m_nicsPerNode << " NICs each");
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
        // ns-3's time may round the delay; the fabric reads the exact one from its core.
        channel->SetAttribute("Delay", TimeValue(PicoSeconds(link.delayPs)));
        channel->Attach(port(link.a));
        channel->Attach(port(link.b));
        m_channels.push_back(channel);
    }
}

} // namespace ns3
