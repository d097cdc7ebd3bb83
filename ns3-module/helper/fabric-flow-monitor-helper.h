// SPDX-License-Identifier: GPL-2.0-only

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
 * @brief FlowMonitor for a fabric: delays, jitter, losses of each flow of data packets.
 *
 * Its flows are numbered apart from those of IP's probes, so a fabric has a monitor of its own.
 */
class FabricFlowMonitorHelper
{
  public:
    FabricFlowMonitorHelper();
    ~FabricFlowMonitorHelper();
    FabricFlowMonitorHelper(const FabricFlowMonitorHelper&) = delete;
    FabricFlowMonitorHelper& operator=(const FabricFlowMonitorHelper&) = delete;

    /**
     * @brief Listens at every port of a fabric, from the start of the simulation on.
     * @param fabric the fabric, before the simulation starts
     * @return what is told
     */
    Ptr<FlowMonitor> Install(Ptr<Fabric> fabric);
    /// @return what tells flows apart
    Ptr<FabricFlowClassifier> GetClassifier() const;

  private:
    Ptr<FlowMonitor> m_monitor;             //!< what is told
    Ptr<FabricFlowClassifier> m_classifier; //!< tells flows apart
};

} // namespace ns3

#endif /* FABRIC_FLOW_MONITOR_HELPER_H */
