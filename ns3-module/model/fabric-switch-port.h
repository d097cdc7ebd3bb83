// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SWITCH_PORT_H
#define FABRIC_SWITCH_PORT_H

#include "fabric-port.h"

namespace ns3
{

class FabricSwitch;

/**
 * @ingroup evenkeel
 * @brief A port of a FabricSwitch: queues, ECN, flow control, trimming.
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
     * @brief Becomes a port of a switch; done by FabricSwitch::AddPort.
     * @param owner the switch
     */
    void SetSwitch(FabricSwitch* owner);
    /// Learns whether its link leads to a host; after Join.
    void LookAtEnd();
    /**
     * @brief Takes a packet that the switch sends by this port: on the wire, in line, or nowhere.
     * @param nowPs the time
     * @param place of the packet
     */
    void Enqueue(uint64_t nowPs, uint32_t place);
    /**
     * @brief Starts every waiting packet whose turn came by now.
     * @param nowPs the time
     */
    void StartDue(uint64_t nowPs);
    /**
     * @param nowPs the time, by which what could start has started
     * @return bytes that wait, and those of the packet that the wire is busy with
     */
    uint64_t GetLoadAt(uint64_t nowPs) const;

    void Settle(uint64_t nowPs) override;
    void Receive(uint64_t nowPs, uint32_t place) override;
    void Obey(uint64_t nowPs, FabricPfc::Order order) override;
    void HandleStart(uint64_t nowPs) override;

  protected:
    void DoDispose() override;

  private:
    /// When marking looks at the queue.
    enum MarkPoint
    {
        ENQUEUE, //!< as the packet joins
        DEQUEUE, //!< as the packet leaves
    };

    /// Puts the packet whose turn it is on the wire.
    void StartNext();
    /**
     * @brief With flow control: starts what may go now, and sees to it that an event comes when
     * the next may.
     * @param nowPs the time
     */
    void StartWaiting(uint64_t nowPs);
    /**
     * @param nowPs the time
     * @param place of a packet that must wait
     * @return true if there is room for it
     */
    bool Admits(uint64_t nowPs, uint32_t place);
    /**
     * @brief Cuts a packet for which there is no room to its header.
     * @param place of the packet
     * @return false if it is to be dropped
     */
    bool Trims(uint32_t place);
    /**
     * @param bytes of a header
     * @return true if there is room for it beside the buffer
     */
    bool HasHeaderRoom(uint64_t bytes) const;
    /**
     * @brief Marks a data packet, if marking looks now and the queue is long.
     * @param point when this is
     * @param place of the packet
     */
    void MarkIf(MarkPoint point, uint32_t place);
    /**
     * @brief A packet has joined the queue: flow control counts it from now on.
     * @param nowPs the time
     * @param place of the packet
     */
    void Stay(uint64_t nowPs, uint32_t place);
    /**
     * @brief Sends a frame of flow control by this port.
     * @param nowPs the time
     * @param order what it says
     */
    void Tell(uint64_t nowPs, FabricPfc::Order order);
    /**
     * @brief Has the port back to where a packet came from send a frame.
     * @param nowPs the time
     * @param link the port that the packet came by
     * @param order what the frame says
     */
    void TellLink(uint64_t nowPs, uint32_t link, FabricPfc::Order order);

    FabricSwitch* m_switch{nullptr}; //!< whose port it is
    bool m_endIsHost{false};         //!< true if its link leads to a host
};

} // namespace ns3

#endif /* FABRIC_SWITCH_PORT_H */
