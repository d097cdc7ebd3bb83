// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SWITCH_PORT_H
#define FABRIC_SWITCH_PORT_H

#include "fabric-port.h"

namespace ns3
{

class FabricSwitch;

/**
 * @ingroup evenkeel
 * @brief A port of a FabricSwitch: queues, ECN, priority flow control (PFC), trimming.
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
     * @brief Sets the switch of the port; done by FabricSwitch::AddPort.
     * @param owner the switch
     */
    void SetSwitch(FabricSwitch* owner);
    /// Finds out whether its link leads to a host; after Join.
    void InspectEnd();
    /**
     * @brief Takes a packet that leaves the switch by this port: onto the wire, into a queue, or to
     * be dropped.
     * @param nowPs the time
     * @param slot slot of the packet
     */
    void Enqueue(uint64_t nowPs, uint32_t slot);
    /**
     * @brief Starts every waiting packet that could start by now.
     * @param nowPs the time
     */
    void StartDue(uint64_t nowPs);
    /**
     * @param nowPs the time; every packet that could start by then has started
     * @return bytes that wait, and those of the packet that the wire is busy with
     */
    uint64_t GetLoadAt(uint64_t nowPs) const;

    void Settle(uint64_t nowPs) override;
    void Receive(uint64_t nowPs, uint32_t slot) override;
    void ApplyPfcOrder(uint64_t nowPs, FabricPfc::Order order) override;
    void HandleStart(uint64_t nowPs) override;

  protected:
    void DoDispose() override;

  private:
    /// When the length of the queue decides on marking.
    enum MarkPoint
    {
        ENQUEUE, //!< as the packet joins
        DEQUEUE, //!< as the packet leaves
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
     * @param slot of a packet that must wait
     * @return true if there is room for it
     */
    bool Admits(uint64_t nowPs, uint32_t slot);
    /**
     * @brief Cuts a packet to its header if there is no room for the whole.
     * @param slot slot of the packet
     * @return false if it is to be dropped
     */
    bool Trims(uint32_t slot);
    /**
     * @param bytes of a header
     * @return true if there is room for it in the limit of trimmed packets
     */
    bool HasHeaderRoom(uint64_t bytes) const;
    /**
     * @brief Marks a data packet if marking is set to this point and the queue is long.
     * @param point joining or leaving the queue
     * @param slot slot of the packet
     */
    void MarkIf(MarkPoint point, uint32_t slot);
    /**
     * @brief Counts a packet that joined the queue for priority flow control (PFC).
     * @param nowPs the time
     * @param slot slot of the packet
     */
    void AccountEnqueue(uint64_t nowPs, uint32_t slot);
    /**
     * @brief Sends a frame of priority flow control (PFC) by this port.
     * @param nowPs the time
     * @param order what it orders
     */
    void SendFrame(uint64_t nowPs, FabricPfc::Order order);
    /**
     * @brief Sends a frame of priority flow control (PFC) back over the link that a packet came by.
     * @param nowPs the time
     * @param link the port that the packet came by
     * @param order what the frame orders
     */
    void SendFrameBack(uint64_t nowPs, uint32_t link, FabricPfc::Order order);

    FabricSwitch* m_switch{nullptr}; //!< the switch of the port
    bool m_endIsHost{false};         //!< true if its link leads to a host
};

} // namespace ns3

#endif /* FABRIC_SWITCH_PORT_H */
