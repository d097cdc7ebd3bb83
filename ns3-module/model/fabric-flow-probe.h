// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FLOW_PROBE_H
#define FABRIC_FLOW_PROBE_H

#include "fabric-packet.h"
#include "fabric-port.h"

#include "ns3/flow-classifier.h"
#include "ns3/flow-monitor.h"
#include "ns3/flow-probe.h"

#include <map>
#include <tuple>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Tells FlowMonitor's flows of a fabric apart: a flow is what one host sends to one queue
 * pair of another.
 */
class FabricFlowClassifier : public FlowClassifier
{
  public:
    /// Sender, receiver, queue pair there.
    using Key = std::tuple<uint32_t, uint32_t, uint32_t>;

    /**
     * @param packet a data packet
     * @return the flow that it belongs to
     */
    FlowId Classify(const FabricPacket& packet);
    /**
     * @param flow a flow that Classify returned
     * @return what it is
     */
    Key FindFlow(FlowId flow) const;

    void SerializeToXmlStream(std::ostream& os, uint16_t indent) const override;

  private:
    std::map<Key, FlowId> m_flows; //!< by what they are
};

/**
 * @ingroup evenkeel
 * @brief Tells a FlowMonitor what data packets do at one port of a fabric.
 *
 * A packet is known by its PSN; one that is sent again is a new packet of the same name.
 */
class FabricFlowProbe : public FlowProbe
{
  public:
    /// Why packets are lost.
    enum DropReason
    {
        DROP_FABRIC = 0, //!< no room, no way, or a failed wire
    };

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * @param monitor what is told
     * @param classifier what tells flows apart
     * @param port where; connected before the simulation starts
     */
    FabricFlowProbe(Ptr<FlowMonitor> monitor,
                    Ptr<FabricFlowClassifier> classifier,
                    Ptr<FabricPort> port);

  protected:
    void DoDispose() override;

  private:
    /**
     * @brief A packet starts.
     * @param packet the packet
     * @param when the time
     */
    void HandleSent(const FabricPacket& packet, Time when);
    /**
     * @brief A packet has arrived.
     * @param packet the packet
     * @param when the time
     */
    void HandleReceived(const FabricPacket& packet, Time when);
    /**
     * @brief A packet is lost.
     * @param packet the packet
     * @param when the time
     */
    void HandleDrop(const FabricPacket& packet, Time when);

    Ptr<FabricFlowClassifier> m_classifier; //!< tells flows apart
    bool m_isHost;                          //!< packets begin and end here
};

} // namespace ns3

#endif /* FABRIC_FLOW_PROBE_H */
