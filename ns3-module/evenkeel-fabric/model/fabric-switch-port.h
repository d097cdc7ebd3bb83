// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_SWITCH_PORT_H
#define FABRIC_SWITCH_PORT_H

#include "fabric-port.h"

namespace ns3
{

class FabricSwitch;

/**
 * @ingroup evenkeel
 * @brief A port of a FabricSwitch, with queues, ECN, priority flow control (PFC) and trimming.
 */
class FabricSwitchPort : public FabricPort
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * @brief Sets the switch of the port; FabricSwitch::AddPort calls it.
     * @param owner the switch
     */
    void SetSwitch(FabricSwitch* owner);
    /**
     * @brief Handles a packet that leaves the switch through this port: starts, enqueues or drops
     * it.
     * @param nowPs the time
     * @param slot slot of the packet
     */
    void Enqueue(uint64_t nowPs, uint32_t slot);
    /**
     * @brief Starts every queued packet that is due by now.
     * @param nowPs the time
     */
    void StartDue(uint64_t nowPs);
    /**
     * @param nowPs the time; every packet that is due by then has started
     * @return queued bytes, plus those of the packet that occupies the wire
     */
    uint64_t GetLoad(uint64_t nowPs) const;

    void Settle(uint64_t nowPs) override;
    void Receive(uint64_t nowPs, uint32_t slot) override;
    void ApplyPfcOrder(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass) override;
    void HandleStart(uint64_t nowPs) override;

  protected:
    void DoDispose() override;

  private:
    /**
     * @param nowPs the time
     * @param packet a packet
     * @return true if it would start immediately: the wire is free, no packet is queued before it,
     *         and its queue is not paused
     */
    bool IsClear(uint64_t nowPs, const FabricPacket& packet) const;
    /**
     * @brief With priority flow control (PFC): starts the packets that may start now, and schedules
     * the start of the next.
     * @param nowPs the time
     */
    void StartWaiting(uint64_t nowPs);
    /**
     * @param slot slot of a packet
     * @return queued bytes that decide whether it is marked: those of its class
     */
    uint32_t GetQueuedLike(uint32_t slot) const;
    /**
     * @brief Reports a mark to trace sinks.
     * @param slot slot of a packet
     * @param before its flags before it could be marked
     */
    void TraceMark(uint32_t slot, uint8_t before);
    /**
     * @brief Sends a PFC frame through this port.
     * @param nowPs the time
     * @param order the order of the frame
     * @param trafficClass the class of the frame
     */
    void SendFrame(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass);
    /**
     * @brief Sends a PFC frame back to the sender of a packet.
     * @param nowPs the time
     * @param link the port that sent the packet
     * @param order the order of the frame
     * @param trafficClass the class of the packet
     */
    void SendFrameBack(uint64_t nowPs, uint32_t link, FabricPfcOrder order, uint32_t trafficClass);

    FabricSwitch* m_switch{nullptr}; //!< the switch of the port
};

} // namespace ns3

#endif /* FABRIC_SWITCH_PORT_H */
