// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef RDMA_NIC_HELPER_H
#define RDMA_NIC_HELPER_H

#include "ns3/attribute.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/rdma-qp.h"
#include "ns3/trace-helper.h"

#include <string>
#include <utility>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Installs RDMA NICs on nodes and writes their packets to pcap files.
 *
 * FabricHelper::Install(host, switch) connects the NIC of a host, and adds a NIC first if needed.
 */
class RdmaNicHelper : public PcapHelperForDevice
{
  public:
    RdmaNicHelper();

    /**
     * @brief Sets an attribute of NICs that are made later.
     * @param name of an attribute of RdmaNic
     * @param value its value
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Installs a NIC on each node.
     * @param hosts the nodes
     * @return the NICs
     */
    NetDeviceContainer Install(const NodeContainer& hosts) const;
    /**
     * @brief Makes a queue pair at each of two NICs of a finished fabric, connected and in state
     * RTS.
     * @param a an RdmaNic
     * @param b another RdmaNic
     * @param trafficClass name of the class of what both send; empty for the first class
     * @return the queue pair at a and the one at b
     */
    static std::pair<Ptr<RdmaQp>, Ptr<RdmaQp>> ConnectQps(Ptr<NetDevice> a,
                                                          Ptr<NetDevice> b,
                                                          const std::string& trafficClass = "");

  private:
    /**
     * @brief Writes the packets of a NIC or of a port to a file, as RoCEv2 in Ethernet.
     *
     * It must be called before the simulation starts.
     *
     * @param prefix of the file's name
     * @param device an RdmaNic or a port of a switch; other devices are ignored
     * @param promiscuous ignored: a NIC only receives packets for itself
     * @param explicitFilename true if the prefix is the whole name
     */
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> device,
                            bool promiscuous,
                            bool explicitFilename) override;

    ObjectFactory m_factory; //!< makes NICs
};

} // namespace ns3

#endif /* RDMA_NIC_HELPER_H */
