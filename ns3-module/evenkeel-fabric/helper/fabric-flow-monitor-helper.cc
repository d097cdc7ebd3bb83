// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-flow-monitor-helper.h"

#include "ns3/fabric.h"
#include "ns3/log.h"
#include "ns3/refuse.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricFlowMonitorHelper");

FabricFlowMonitorHelper::FabricFlowMonitorHelper()
    : m_monitor(CreateObject<FlowMonitor>()),
      m_classifier(Create<FabricFlowClassifier>())
{
    m_monitor->AddFlowClassifier(m_classifier);
}

FabricFlowMonitorHelper::~FabricFlowMonitorHelper()
{
    // Break the reference cycle between probes and monitor.
    m_monitor->Dispose();
}

Ptr<FlowMonitor>
FabricFlowMonitorHelper::Install(Ptr<Fabric> fabric)
{
    NS_LOG_FUNCTION(this << fabric);
    EVENKEEL_REFUSE_IF(!fabric,
                       "FabricFlowMonitorHelper::Install",
                       "the fabric is null: call it after FabricHelper::Finish or a Create call");
    for (uint32_t number = 0; number < fabric->GetNPorts(); ++number)
    {
        Ptr<FabricPort> port = &fabric->GetPort(number);
        // The probe adds itself to its monitor.
        CreateObject<FabricFlowProbe>(m_monitor, m_classifier, port);
    }
    return m_monitor;
}

Ptr<FabricFlowClassifier>
FabricFlowMonitorHelper::GetClassifier() const
{
    return m_classifier;
}

} // namespace ns3
