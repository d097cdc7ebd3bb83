// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "roce-bytes.h"

#include "fabric-classes.h"

#include "ns3/crc32.h"
#include "ns3/ethernet-header.h"
#include "ns3/ipv4-header.h"
#include "ns3/log.h"
#include "ns3/mac48-address.h"
#include "ns3/udp-header.h"

#include <algorithm>
#include <array>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceBytes");

namespace
{

constexpr uint32_t ICRC_BYTES = 4; //!< length of the invariant CRC
constexpr uint32_t FCS_BYTES = 4;  //!< length of the frame check sequence

constexpr uint8_t ACKNOWLEDGE = 0x11;    //!< opcode of acknowledgements
constexpr uint8_t CONGESTION = 0x81;     //!< opcode of CNPs
constexpr uint8_t READ_REQUEST = 0x0c;   //!< opcode of READ requests
constexpr uint8_t ACK_NO_CREDITS = 0x1f; //!< syndrome of an acknowledgement
constexpr uint8_t RNR_NAK = 0x2c;        //!< syndrome of "receiver not ready"
constexpr uint8_t NAK_SEQUENCE = 0x60;   //!< syndrome of a missing packet
constexpr uint8_t NAK_INVALID = 0x61;    //!< syndrome of an invalid request

/// Opcodes of data, by verb: the middle, last, first and only packet of a message.
constexpr uint8_t OPCODES[5][4] = {
    {0x07, 0x08, 0x06, 0x0a}, // WRITE
    {0x07, 0x09, 0x06, 0x0b}, // WRITE with immediate data
    {0x01, 0x02, 0x00, 0x04}, // SEND
    {READ_REQUEST, READ_REQUEST, READ_REQUEST, READ_REQUEST},
    {0x0e, 0x0f, 0x0d, 0x10}, // response to a READ
};

/// Reason code of a refusal for "receiver not ready"; any other reason is an invalid request.
constexpr uint64_t NOT_READY = 0;

/**
 * @brief Appends an integer, most significant byte first.
 * @param bytes the bytes to append to
 * @param value the integer
 * @param width its bytes
 */
void
Append(std::vector<uint8_t>& bytes, uint64_t value, unsigned width)
{
    for (unsigned at = width; at > 0; --at)
    {
        bytes.push_back(static_cast<uint8_t>(value >> (8 * (at - 1))));
    }
}

/**
 * @param host number of a host
 * @return its hardware address
 */
Mac48Address
MacOf(uint32_t host)
{
    std::vector<uint8_t> bytes;
    Append(bytes, 0x0200, 2);
    Append(bytes, host, 4);
    Mac48Address address;
    address.CopyFrom(bytes.data());
    return address;
}

/**
 * @brief Appends the extended headers of a data packet.
 * @param bytes the bytes to append to
 * @param opcode of the packet
 * @param word its immediate data, or the length that it requests
 */
void
AppendExtension(std::vector<uint8_t>& bytes, uint8_t opcode, uint32_t word)
{
    if (opcode == 0x06 || opcode == 0x0a || opcode == 0x0b || opcode == READ_REQUEST)
    {
        // RETH: address, key, DMA length.
        bytes.resize(bytes.size() + 12, 0);
        Append(bytes, opcode == READ_REQUEST ? word : 0, 4);
    }
    if (opcode == 0x09 || opcode == 0x0b)
    {
        Append(bytes, word, 4);
    }
    if (opcode == 0x0d || opcode == 0x0f || opcode == 0x10)
    {
        // AETH.
        Append(bytes, static_cast<uint32_t>(ACK_NO_CREDITS) << 24, 4);
    }
}

/**
 * @param packet a packet from its IPv4 header on, without ICRC
 * @return its invariant CRC, in which fields that routers may change count as ones
 */
uint32_t
InvariantCrc(Ptr<const Packet> packet)
{
    constexpr std::size_t LOCAL_ROUTE = 8;
    std::vector<uint8_t> masked(LOCAL_ROUTE + packet->GetSize(), 0xff);
    packet->CopyData(masked.data() + LOCAL_ROUTE, packet->GetSize());
    // Type of service, time to live, checksums of IPv4 and UDP, and the notification bits of BTH.
    for (const std::size_t at : {1, 8, 10, 11, 26, 27, 32})
    {
        masked[LOCAL_ROUTE + at] = 0xff;
    }
    return CRC32Calculate(masked.data(), static_cast<int>(masked.size()));
}

/**
 * @param pause true for a pause, false for a resume
 * @param priority the priority that it pauses or resumes
 * @return a frame of priority flow control
 */
Ptr<Packet>
MakeFlowControl(bool pause, uint32_t priority)
{
    std::vector<uint8_t> bytes;
    Append(bytes, 0x0180c2000001ULL, 6);
    Append(bytes, 0x0200ffffffffULL, 6);
    Append(bytes, 0x8808, 2);
    Append(bytes, 0x0101, 2);
    // The bitmap of enabled priorities, then a time for each of the eight.
    Append(bytes, 1ULL << priority, 2);
    bytes.resize(bytes.size() + 2 * priority, 0);
    Append(bytes, pause ? 0xffff : 0, 2);
    bytes.resize(60, 0);
    return Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size()));
}

} // namespace

void
RoceBytes::SetHasClasses(bool hasClasses)
{
    m_hasClasses = hasClasses;
}

void
RoceBytes::RecordSent(const FabricPacket& packet)
{
    NS_LOG_FUNCTION(this << packet);
    if (packet.IsControl() || packet.Has(FabricPacket::RETRANSMITTED))
    {
        return;
    }
    Sent& sent = m_sent[Stream(packet.src, packet.dst, packet.qp)];
    if (sent.inMessage)
    {
        // PSNs have 24 bits, so an earlier message may have begun with this one.
        sent.firstPsns.erase(packet.psn);
    }
    else
    {
        sent.firstPsns.insert(packet.psn);
    }
    sent.inMessage = !packet.Has(FabricPacket::LAST);
}

bool
RoceBytes::IsFirst(const FabricPacket& packet) const
{
    const auto found = m_sent.find(Stream(packet.src, packet.dst, packet.qp));
    return found != m_sent.end() && found->second.firstPsns.count(packet.psn) > 0;
}

std::vector<uint8_t>
RoceBytes::MakeTransport(const FabricPacket& packet) const
{
    const bool last = packet.Has(FabricPacket::LAST);
    uint8_t opcode = ACKNOWLEDGE;
    uint32_t psn = packet.ack;
    uint8_t syndrome = ACK_NO_CREDITS;
    switch (packet.kind)
    {
    case FabricPacketKind::DATA:
        opcode = OPCODES[static_cast<std::size_t>(packet.GetVerb())][2 * IsFirst(packet) + last];
        psn = packet.psn;
        break;
    case FabricPacketKind::CNP:
        opcode = CONGESTION;
        psn = 0;
        break;
    case FabricPacketKind::ACK:
        psn = packet.ack - 1;
        break;
    case FabricPacketKind::NACK:
        syndrome = NAK_SEQUENCE;
        break;
    case FabricPacketKind::REFUSAL:
        syndrome = packet.sack == NOT_READY ? RNR_NAK : NAK_INVALID;
        psn = packet.psn;
        break;
    default:
        break;
    }
    const bool requests = packet.IsData() && (last || packet.Has(FabricPacket::ACK_REQUEST));
    const bool notifies = packet.kind == FabricPacketKind::CNP;
    std::vector<uint8_t> bytes;
    Append(bytes, opcode, 1);
    Append(bytes, 0x00ffff, 3);
    // The BECN bit marks a CNP.
    Append(bytes, notifies ? 0x40 : 0, 1);
    Append(bytes, packet.qp, 3);
    Append(bytes, requests ? 0x80 : 0, 1);
    Append(bytes, psn, 3);
    if (packet.IsData())
    {
        AppendExtension(bytes, opcode, static_cast<uint32_t>(packet.sack));
    }
    else if (notifies)
    {
        bytes.resize(bytes.size() + 16, 0);
    }
    else
    {
        Append(bytes, static_cast<uint32_t>(syndrome) << 24, 4);
    }
    return bytes;
}

Ptr<Packet>
RoceBytes::MakePacket(const FabricPacket& packet) const
{
    NS_LOG_FUNCTION(this << packet);
    if (packet.IsFlowControl())
    {
        return MakeFlowControl(packet.kind == FabricPacketKind::PAUSE, packet.GetTrafficClass());
    }
    EthernetHeader ethernet(false);
    ethernet.SetDestination(MacOf(packet.dst));
    ethernet.SetSource(MacOf(packet.src));
    ethernet.SetLengthType(0x0800);
    Ipv4Header ip;
    const bool marked = !packet.IsControl() && packet.Has(FabricPacket::MARKED);
    const uint8_t dscp = !m_hasClasses        ? FabricCodePoints::WITHOUT_CLASSES
                         : packet.IsControl() ? FabricCodePoints::CONTROL
                                              : FabricCodePoints::Of(packet.GetTrafficClass());
    ip.SetTos(
        static_cast<uint8_t>(dscp << 2 | (marked ? Ipv4Header::ECN_CE : Ipv4Header::ECN_ECT0)));
    ip.SetDontFragment();
    ip.SetTtl(64);
    ip.SetProtocol(17);
    ip.SetSource(Ipv4Address(0x0a000001U + packet.src));
    ip.SetDestination(Ipv4Address(0x0a000001U + packet.dst));
    ip.EnableChecksum();
    UdpHeader udp;
    udp.SetSourcePort(0xc000U | (packet.entropy & 0x3fffU));
    udp.SetDestinationPort(UDP_PORT);

    std::vector<uint8_t> transport = MakeTransport(packet);
    const uint32_t outer = ethernet.GetSerializedSize() + ip.GetSerializedSize() +
                           udp.GetSerializedSize() + ICRC_BYTES;
    if (packet.wireBytes > FCS_BYTES + outer)
    {
        // The payload, unless the headers are longer than the packet of the model.
        const std::size_t length = packet.wireBytes - FCS_BYTES - outer;
        transport.resize(std::max(transport.size(), length), 0);
    }
    Ptr<Packet> made = Create<Packet>(transport.data(), static_cast<uint32_t>(transport.size()));
    udp.ForcePayloadSize(
        static_cast<uint16_t>(udp.GetSerializedSize() + transport.size() + ICRC_BYTES));
    made->AddHeader(udp);
    ip.SetPayloadSize(static_cast<uint16_t>(made->GetSize() + ICRC_BYTES));
    made->AddHeader(ip);
    const uint32_t crc = InvariantCrc(made);
    const std::array<uint8_t, ICRC_BYTES> trailer{static_cast<uint8_t>(crc),
                                                  static_cast<uint8_t>(crc >> 8),
                                                  static_cast<uint8_t>(crc >> 16),
                                                  static_cast<uint8_t>(crc >> 24)};
    made->AddAtEnd(Create<Packet>(trailer.data(), ICRC_BYTES));
    made->AddHeader(ethernet);
    return made;
}

} // namespace ns3
