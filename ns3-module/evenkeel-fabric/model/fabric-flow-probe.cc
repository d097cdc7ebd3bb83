// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-flow-probe.h"

#include "rdma-nic.h"

#include "ns3/log.h"
#include "ns3/refuse.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricFlowProbe");

NS_OBJECT_ENSURE_REGISTERED(FabricFlowProbe);

FlowId
FabricFlowClassifier::Classify(const FabricPacket& packet)
{
    const auto made = m_flows.emplace(Key(packet.src, packet.dst, packet.qp), 0);
    if (made.second)
    {
        made.first->second = GetNewFlowId();
    }
    return made.first->second;
}

FabricFlowClassifier::Key
FabricFlowClassifier::FindFlow(FlowId flow) const
{
    for (const auto& each : m_flows)
    {
        if (each.second == flow)
        {
            return each.first;
        }
    }
    EVENKEEL_REFUSE("FabricFlowProbe",
                    "there is no flow " << flow << ": use one that the monitor reports");
    return Key();
}

void
FabricFlowClassifier::SerializeToXmlStream(std::ostream& os, uint16_t indent) const
{
    Indent(os, indent);
    os << "<FabricFlowClassifier>\n";
    for (const auto& each : m_flows)
    {
        Indent(os, indent + 2);
        os << "<Flow flowId=\"" << each.second << "\" sourceHost=\"" << std::get<0>(each.first)
           << "\" destinationHost=\"" << std::get<1>(each.first) << "\" destinationQp=\""
           << std::get<2>(each.first) << "\" />\n";
    }
    Indent(os, indent);
    os << "</FabricFlowClassifier>\n";
}

TypeId
FabricFlowProbe::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricFlowProbe").SetParent<FlowProbe>().SetGroupName("Evenkeel");
    return tid;
}

FabricFlowProbe::FabricFlowProbe(Ptr<FlowMonitor> monitor,
                                 Ptr<FabricFlowClassifier> classifier,
                                 Ptr<FabricPort> port)
    : FlowProbe(monitor),
      m_classifier(classifier)
{
    NS_LOG_FUNCTION(this << monitor << port);
    const bool isHost = RdmaNic::Of(port) != nullptr;
    Connect(port,
            "PacketSent",
            isHost ? &FlowMonitor::ReportFirstTx : &FlowMonitor::ReportForwarding);
    Connect(port, "Drop", &FlowMonitor::ReportDrop, DROP_FABRIC);
    if (isHost)
    {
        Connect(port, "PacketReceived", &FlowMonitor::ReportLastRx);
    }
}

template <class Reporter, class... Reason>
void
FabricFlowProbe::Connect(Ptr<FabricPort> port,
                         const std::string& source,
                         Reporter reporter,
                         Reason... reason)
{
    const auto report = [this, reporter, reason...](const FabricPacket& packet, Time) {
        if (packet.IsData() && m_classifier)
        {
            const FlowId flow = m_classifier->Classify(packet);
            (PeekPointer(m_flowMonitor)->*reporter)(this,
                                                    flow,
                                                    packet.psn,
                                                    packet.wireBytes,
                                                    reason...);
        }
    };
    port->TraceConnectWithoutContext(source, Callback<void, const FabricPacket&, Time>(report));
}

void
FabricFlowProbe::DoDispose()
{
    m_classifier = nullptr;
    FlowProbe::DoDispose();
}

} // namespace ns3
