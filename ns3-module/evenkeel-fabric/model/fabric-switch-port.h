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

    FabricSwitchPort();
    ~FabricSwitchPort() override;

    /**
     * @brief Sets the switch of the port; FabricSwitch::AddPort calls it.
     * @param owner the switch
     */
    void SetSwitch(FabricSwitch* owner);
    /// Determines whether the link leads to a host; must be called after Join.
    void InspectEnd();
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
    uint64_t GetLoadAt(uint64_t nowPs) const;

    void Settle(uint64_t nowPs) override;
    void Receive(uint64_t nowPs, uint32_t slot) override;
    void ApplyPfcOrder(uint64_t nowPs, FabricPfc::Order order, uint32_t trafficClass) override;
    void HandleStart(uint64_t nowPs) override;

  protected:
    void DoDispose() override;

  private:
    /// The point at which the queue length decides whether a packet is marked.
    enum MarkPoint
    {
        ENQUEUE, //!< when the packet is enqueued
        DEQUEUE, //!< when the packet is dequeued
    };

    /// Puts the next packet on the wire.
    void StartNext();
    /**
     * @brief With priority flow control (PFC): starts the packets that may start now, and schedules
     * the start of the next.
     * @param nowPs the time
     */
    void StartWaiting(uint64_t nowPs);
    /**
     * @param nowPs the time
     * @param slot slot of a packet that cannot start immediately
     * @return true if there is room for it
     */
    bool Admits(uint64_t nowPs, uint32_t slot);
    /**
     * @brief Trims a packet to its header if there is no room for the whole packet.
     * @param slot slot of the packet
     * @return false if the packet must be dropped
     */
    bool Trims(uint32_t slot);
    /**
     * @param bytes of a header
     * @return true if the queue limit of trimmed packets has room for it
     */
    bool HasHeaderRoom(uint64_t bytes) const;
    /**
     * @brief Marks a data packet if the switch marks at this point and the queue is long enough.
     * @param point enqueue or dequeue
     * @param slot slot of the packet
     */
    void MarkIf(MarkPoint point, uint32_t slot);
    /**
     * @brief Counts an enqueued packet for priority flow control (PFC).
     * @param nowPs the time
     * @param slot slot of the packet
     */
    void AccountEnqueue(uint64_t nowPs, uint32_t slot);
    /**
     * @brief Sends a PFC frame through this port.
     * @param nowPs the time
     * @param order the order of the frame
     * @param trafficClass the class of the frame
     */
    void SendFrame(uint64_t nowPs, FabricPfc::Order order, uint32_t trafficClass);
    /**
     * @brief Sends a PFC frame back to the sender of a packet.
     * @param nowPs the time
     * @param link the port that sent the packet
     * @param order the order of the frame
     * @param trafficClass the class of the packet
     */
    void SendFrameBack(uint64_t nowPs,
                       uint32_t link,
                       FabricPfc::Order order,
                       uint32_t trafficClass);

    FabricSwitch* m_switch{nullptr}; //!< the switch of the port
    bool m_endIsHost{false};         //!< true if its link leads to a host
};

} // namespace ns3

#endif /* FABRIC_SWITCH_PORT_H */
