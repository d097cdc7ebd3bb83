// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef RDMA_NIC_PORT_H
#define RDMA_NIC_PORT_H

#include "fabric-port.h"

namespace ns3
{

class RdmaNic;

/**
 * @ingroup evenkeel
 * @brief A port of an RDMA NIC, in its own plane.
 *
 * RdmaNic is the device of its first port; RdmaNic::AddPort makes the others. Each port has its own
 * link, wire and pauses. The NIC decides which port sends a packet.
 */
class RdmaNicPort : public FabricPort
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    RdmaNicPort();
    ~RdmaNicPort() override;

    /// @return its NIC
    Ptr<RdmaNic> GetNic() const;

    // For the fabric; not for scripts.

    /**
     * @brief Sets the NIC, which calls it.
     * @param nic the NIC; null once it is disposed
     */
    void SetNic(RdmaNic* nic);

    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    void Settle(uint64_t nowPs) override;
    void Receive(uint64_t nowPs, uint32_t slot) override;
    void ApplyPfcOrder(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass) override;
    void HandleStart(uint64_t nowPs) override;

  protected:
    void DoDispose() override;

  private:
    RdmaNic* m_nic{nullptr}; //!< its NIC
};

} // namespace ns3

#endif /* RDMA_NIC_PORT_H */
