// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef ROCE_BYTES_H
#define ROCE_BYTES_H

#include "fabric-packet.h"

#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Encodes a fabric's packets as bytes on the wire: RoCEv2 in Ethernet.
 *
 * A packet has Ethernet, IPv4, UDP to port 4791, BTH, and then RETH, AETH or the reserved bytes of
 * a CNP, payload (zeros) and ICRC. The layout is that of the InfiniBand Architecture Specification,
 * volume 1 (chapter 9 and annex A17), without the frame check sequence of Ethernet.
 *
 * A data packet has its length in the model, which counts no RETH: in the first packet of a message
 * the RETH replaces 16 bytes of the payload. READ requests, messages of under 16 B, and
 * acknowledgements that the model makes shorter than their headers are captured with whole headers.
 * They are longer than in the model.
 *
 * PFC frames are those of IEEE 802.1Qbb for priority 0, or with traffic classes for the priority of
 * their class. A pause has the longest time (0xffff quanta), even if pauses expire earlier in the
 * model. A resume has the time 0.
 *
 * The DSCP is 26, or with traffic classes that of FabricCodePoints.
 *
 * Host h has the address 10.0.0.1 + h. The UDP source port is 49152 plus the lower 14 bits of the
 * packet's entropy value. The DMA length of a RETH is 0 except in READ requests, because other
 * packets of the model do not carry it. Messages have the opcodes of WRITEs. The responses to a
 * READ have their own PSNs and acknowledgements, as in the model.
 */
class RoceBytes
{
  public:
    /// UDP port of RoCEv2.
    static constexpr uint16_t UDP_PORT = 4791;

    /**
     * @param hasClasses true if data has traffic classes
     */
    void SetHasClasses(bool hasClasses);
    /**
     * @brief Records a packet that a sender puts on its wire, to find the first packets of
     * messages.
     * @param packet the packet
     */
    void RecordSent(const FabricPacket& packet);
    /**
     * @param packet a packet
     * @return its bytes
     */
    Ptr<Packet> MakePacket(const FabricPacket& packet) const;

  private:
    /// Sender, receiver, and the receiver's queue pair.
    using Stream = std::tuple<uint32_t, uint32_t, uint32_t>;

    /// The messages sent on a queue pair.
    struct Sent
    {
        bool inMessage{false};        //!< the latest packet is not the last of its message
        std::set<uint32_t> firstPsns; //!< PSNs that start messages
    };

    /**
     * @param packet a data packet
     * @return true if it starts a message
     */
    bool IsFirst(const FabricPacket& packet) const;
    /**
     * @param packet a packet
     * @return its headers from BTH on
     */
    std::vector<uint8_t> MakeTransport(const FabricPacket& packet) const;

    std::map<Stream, Sent> m_sent; //!< by queue pair
    bool m_hasClasses{false};      //!< data has traffic classes
};

} // namespace ns3

#endif /* ROCE_BYTES_H */
