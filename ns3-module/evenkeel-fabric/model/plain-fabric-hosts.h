// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef PLAIN_FABRIC_HOSTS_H
#define PLAIN_FABRIC_HOSTS_H

#include "fabric-core.h"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Small NICs in C++. They send at line rate, serve messages in round-robin order,
 * acknowledge each packet, and never retransmit.
 */
class PlainFabricHosts : public FabricHosts
{
  public:
    /// The packet format of the NICs.
    struct Transport
    {
        uint32_t payload{4096}; //!< payload of a full packet
        uint32_t header{62};    //!< bytes of headers and frame check sequence
        uint32_t ackBytes{64};  //!< length of an acknowledgement
    };

    /**
     * @param hosts number of hosts
     * @param ackPriority true if acknowledgements are sent before data
     * @param transport packet format of the NICs
     */
    PlainFabricHosts(uint32_t hosts, bool ackPriority, const Transport& transport);

    // Inherited from FabricHosts.
    bool PollTransmit(uint32_t host,
                      uint64_t nowPs,
                      uint64_t& freePs,
                      FabricPacket& packet) override;
    bool PollTransmitControl(uint32_t host, FabricPacket& packet) override;
    bool HasPackets(uint32_t host) override;
    bool HandlePacket(uint32_t host, uint64_t nowPs, const FabricPacket& packet) override;
    bool HandleTimeout(uint32_t host, uint64_t nowPs) override;
    uint64_t NextWake(uint32_t host, uint64_t nowPs, uint64_t freePs) override;
    uint32_t PollTouched() override;
    bool PollMessageEvent(FabricMessageEvent& event) override;
    bool IsFinished() const override;
    uint32_t Post(uint32_t src,
                  uint32_t dst,
                  uint64_t bytes,
                  uint64_t startPs,
                  uint32_t stream) override;
    std::vector<FabricFlow> GetFlows() const override;
    FabricNicCounters GetCounters() const override;
    FabricQpCounts GetQpCounts() const override;

  private:
    /// A message. Its number is also the number of its queue pair at the receiver.
    struct Message
    {
        FabricFlow flow;          //!< its flow
        uint64_t sent{0};         //!< payload bytes sent
        uint64_t received{0};     //!< payload bytes received
        uint32_t packets{0};      //!< packets sent
        uint32_t acknowledged{0}; //!< acknowledgements received
    };

    /// The queues of a host.
    struct Host
    {
        std::deque<FabricPacket> answers;                   //!< acknowledgements to send
        std::deque<uint32_t> open;                          //!< messages to send, round-robin
        std::vector<std::pair<uint64_t, uint32_t>> toStart; //!< start and number, by start
    };

    /**
     * @brief Handles an acknowledgement.
     * @param nowPs the time
     * @param packet the acknowledgement
     * @return true if its message completed
     */
    bool HandleAck(uint64_t nowPs, const FabricPacket& packet);
    /**
     * @brief Adds an event of a message.
     * @param kind kind of the event
     * @param message number of the message
     * @param nowPs the time
     */
    void AddEvent(FabricMessageEventKind kind, uint32_t message, uint64_t nowPs);

    bool m_ackPriority;                      //!< acknowledgements are sent before data
    Transport m_transport;                   //!< packet format
    std::vector<Host> m_hosts;               //!< by number
    std::vector<Message> m_messages;         //!< by number
    std::deque<FabricMessageEvent> m_events; //!< for PollMessageEvent
    FabricNicCounters m_counters;            //!< sums over all hosts
    uint64_t m_completed{0};                 //!< messages that completed
};

} // namespace ns3

#endif /* PLAIN_FABRIC_HOSTS_H */
