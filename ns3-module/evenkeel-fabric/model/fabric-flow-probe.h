// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

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
 * @brief Classifies the packets of a fabric for FlowMonitor. A flow is all data from one host to
 * one queue pair of another.
 */
class FabricFlowClassifier : public FlowClassifier
{
  public:
    /// Sender, receiver, and the receiver's queue pair.
    using Key = std::tuple<uint32_t, uint32_t, uint32_t>;

    /**
     * @param packet a data packet
     * @return its flow
     */
    FlowId Classify(const FabricPacket& packet);
    /**
     * @param flow a flow that Classify returned
     * @return sender, receiver and queue pair of the flow
     */
    Key FindFlow(FlowId flow) const;

    void SerializeToXmlStream(std::ostream& os, uint16_t indent) const override;

  private:
    std::map<Key, FlowId> m_flows; //!< flows, by sender, receiver and queue pair
};

/**
 * @ingroup evenkeel
 * @brief Reports the data packets of one fabric port to a FlowMonitor.
 *
 * The id of a packet is its PSN; a retransmission is a new packet with the same id.
 */
class FabricFlowProbe : public FlowProbe
{
  public:
    /// Reason of a drop.
    enum DropReason
    {
        DROP_FABRIC = 0, //!< no room, no route, or a failed wire
    };

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * @param monitor the monitor
     * @param classifier the classifier of packets
     * @param port the port; the probe must be made before the simulation starts
     */
    FabricFlowProbe(Ptr<FlowMonitor> monitor,
                    Ptr<FabricFlowClassifier> classifier,
                    Ptr<FabricPort> port);

  protected:
    void DoDispose() override;

  private:
    /// Method of FlowMonitor that takes an event of a packet.
    using Reporter = void (FlowMonitor::*)(Ptr<FlowProbe>, FlowId, FlowPacketId, uint32_t);

    /**
     * @brief Reports an event of a data packet.
     * @param reporter the method for it
     * @param packet the packet
     */
    void Report(Reporter reporter, const FabricPacket& packet);
    /**
     * @brief Handles a packet that starts.
     * @param packet the packet
     * @param when the time
     */
    void HandleSent(const FabricPacket& packet, Time when);
    /**
     * @brief Handles a packet that arrived.
     * @param packet the packet
     * @param when the time
     */
    void HandleReceived(const FabricPacket& packet, Time when);
    /**
     * @brief Handles a packet that was dropped.
     * @param packet the packet
     * @param when the time
     */
    void HandleDrop(const FabricPacket& packet, Time when);

    Ptr<FabricFlowClassifier> m_classifier; //!< classifies packets
    bool m_isHost;                          //!< true for a NIC, where flows begin and end
};

} // namespace ns3

#endif /* FABRIC_FLOW_PROBE_H */
