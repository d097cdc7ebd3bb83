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
#include <string>
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
    /**
     * @brief Reports the data packets of a trace source.
     * @tparam Reporter method of FlowMonitor that takes an event of a packet
     * @tparam Reason its last argument, if it has one
     * @param port the port
     * @param source name of the trace source
     * @param reporter the method
     * @param reason its last argument
     */
    template <class Reporter, class... Reason>
    void Connect(Ptr<FabricPort> port,
                 const std::string& source,
                 Reporter reporter,
                 Reason... reason);

    Ptr<FabricFlowClassifier> m_classifier; //!< classifies packets
};

} // namespace ns3

#endif /* FABRIC_FLOW_PROBE_H */
