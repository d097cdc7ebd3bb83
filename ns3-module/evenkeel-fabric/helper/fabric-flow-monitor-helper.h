// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_FLOW_MONITOR_HELPER_H
#define FABRIC_FLOW_MONITOR_HELPER_H

#include "ns3/fabric-flow-probe.h"
#include "ns3/flow-monitor.h"
#include "ns3/ptr.h"

namespace ns3
{

class Fabric;

/**
 * @ingroup evenkeel
 * @brief FlowMonitor for a fabric: delay, jitter and losses of each flow of data packets.
 *
 * A fabric needs a separate monitor, because the ids of its flows may equal those of IP's probes.
 */
class FabricFlowMonitorHelper
{
  public:
    FabricFlowMonitorHelper();
    ~FabricFlowMonitorHelper();
    FabricFlowMonitorHelper(const FabricFlowMonitorHelper&) = delete;
    FabricFlowMonitorHelper& operator=(const FabricFlowMonitorHelper&) = delete;

    /**
     * @brief Monitors every port of a fabric, from the start of the simulation.
     * @param fabric the fabric, before the simulation starts
     * @return the monitor
     */
    Ptr<FlowMonitor> Install(Ptr<Fabric> fabric);
    /// @return the classifier of packets
    Ptr<FabricFlowClassifier> GetClassifier() const;

  private:
    Ptr<FlowMonitor> m_monitor;             //!< the monitor
    Ptr<FabricFlowClassifier> m_classifier; //!< classifies packets
};

} // namespace ns3

#endif /* FABRIC_FLOW_MONITOR_HELPER_H */
