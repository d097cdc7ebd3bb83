// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "roce-bytes.h"

#include "fabric-classes.h"

#include <algorithm>
#include <array>

namespace ns3
{

namespace
{

/// Maximum number of message-first PSNs remembered per queue pair.
constexpr std::size_t MAX_FIRST_PSNS = 4096;

constexpr std::size_t ETHERNET = 14;    //!< length of the Ethernet header
constexpr std::size_t IPV4_HEADER = 20; //!< length of the IPv4 header
constexpr std::size_t UDP = 8;          //!< length of the UDP header
constexpr std::size_t ICRC = 4;         //!< length of the invariant CRC
constexpr std::size_t FCS = 4;          //!< length of the frame check sequence

/// Opcodes of the base transport header, reliable connection.
enum Opcode : uint8_t
{
    SEND_FIRST = 0x00,
    SEND_MIDDLE = 0x01,
    SEND_LAST = 0x02,
    SEND_ONLY = 0x04,
    WRITE_FIRST = 0x06,
    WRITE_MIDDLE = 0x07,
    WRITE_LAST = 0x08,
    WRITE_LAST_WITH_IMMEDIATE = 0x09,
    WRITE_ONLY = 0x0a,
    WRITE_ONLY_WITH_IMMEDIATE = 0x0b,
    READ_REQUEST = 0x0c,
    READ_RESPONSE_FIRST = 0x0d,
    READ_RESPONSE_MIDDLE = 0x0e,
    READ_RESPONSE_LAST = 0x0f,
    READ_RESPONSE_ONLY = 0x10,
    ACKNOWLEDGE = 0x11,
    CONGESTION = 0x81,
};

/**
 * @param packet a data packet
 * @param first true if it is the first of its message
 * @return its opcode
 */
uint8_t
OpcodeOf(const FabricPacket& packet, bool first)
{
    const bool last = packet.Has(FabricPacket::LAST);
    const auto of = [first, last](Opcode only, Opcode start, Opcode middle, Opcode end) {
        return first ? (last ? only : start) : (last ? end : middle);
    };
    switch (packet.GetVerb())
    {
    case FabricPacketVerb::WRITE_WITH_IMMEDIATE:
        return of(WRITE_ONLY_WITH_IMMEDIATE, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_WITH_IMMEDIATE);
    case FabricPacketVerb::SEND:
        return of(SEND_ONLY, SEND_FIRST, SEND_MIDDLE, SEND_LAST);
    case FabricPacketVerb::READ_REQUEST:
        return READ_REQUEST;
    case FabricPacketVerb::READ_RESPONSE:
        return of(READ_RESPONSE_ONLY,
                  READ_RESPONSE_FIRST,
                  READ_RESPONSE_MIDDLE,
                  READ_RESPONSE_LAST);
    default:
        return of(WRITE_ONLY, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST);
    }
}

/// Syndromes of the ACK extended transport header.
enum Syndrome : uint8_t
{
    ACK_NO_CREDITS = 0x1f,
    RNR_NAK = 0x2c,
    NAK_SEQUENCE = 0x60,
    NAK_INVALID = 0x61,
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
 * @brief Appends the hardware address of a host.
 * @param bytes the bytes to append to
 * @param host number of the host
 */
void
AppendMac(std::vector<uint8_t>& bytes, uint32_t host)
{
    Append(bytes, 0x0200, 2);
    Append(bytes, host, 4);
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
    switch (opcode)
    {
    case WRITE_FIRST:
    case WRITE_ONLY:
        // RETH: address, key, DMA length.
        bytes.resize(bytes.size() + 16, 0);
        break;
    case WRITE_ONLY_WITH_IMMEDIATE:
        bytes.resize(bytes.size() + 16, 0);
        Append(bytes, word, 4);
        break;
    case WRITE_LAST_WITH_IMMEDIATE:
        Append(bytes, word, 4);
        break;
    case READ_REQUEST:
        bytes.resize(bytes.size() + 12, 0);
        Append(bytes, word, 4);
        break;
    case READ_RESPONSE_FIRST:
    case READ_RESPONSE_LAST:
    case READ_RESPONSE_ONLY:
        // AETH.
        Append(bytes, ACK_NO_CREDITS, 1);
        Append(bytes, 0, 3);
        break;
    default:
        break;
    }
}

/**
 * @return the table for the CRC of Ethernet
 */
std::array<uint32_t, 256>
MakeCrcTable()
{
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < 256; ++byte)
    {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit)
        {
            value = (value & 1) ? 0xedb88320U ^ (value >> 1) : value >> 1;
        }
        table[byte] = value;
    }
    return table;
}

/**
 * @param bytes a whole packet from its Ethernet header on, without ICRC
 * @return its invariant CRC, in which fields that routers may change count as ones
 */
uint32_t
InvariantCrc(const std::vector<uint8_t>& bytes)
{
    static const std::array<uint32_t, 256> TABLE = MakeCrcTable();
    std::vector<uint8_t> masked(8, 0xff);
    masked.insert(masked.end(), bytes.begin() + ETHERNET, bytes.end());
    const std::size_t ip = 8;
    const std::size_t udp = ip + IPV4_HEADER;
    const std::size_t bth = udp + UDP;
    for (const std::size_t at : {ip + 1, ip + 8, ip + 10, ip + 11, udp + 6, udp + 7, bth + 4})
    {
        masked[at] = 0xff;
    }
    uint32_t crc = 0xffffffffU;
    for (const uint8_t byte : masked)
    {
        crc = TABLE[(crc ^ byte) & 0xff] ^ (crc >> 8);
    }
    return ~crc;
}

/**
 * @param bytes a header
 * @param length how many bytes it has, an even number
 * @return the Internet checksum (RFC 1071)
 */
uint16_t
InternetChecksum(const uint8_t* bytes, std::size_t length)
{
    uint32_t sum = 0;
    for (std::size_t at = 0; at < length; at += 2)
    {
        sum += static_cast<uint32_t>(bytes[at]) << 8 | bytes[at + 1];
    }
    while (sum >> 16)
    {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return static_cast<uint16_t>(~sum);
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
    AppendMac(bytes, 0xffffffff);
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

uint8_t
RoceBytes::DscpOf(const FabricPacket& packet) const
{
    if (!m_hasClasses)
    {
        return FabricCodePoints::WITHOUT_CLASSES;
    }
    return packet.IsControl() ? FabricCodePoints::CONTROL
                              : FabricCodePoints::Of(packet.GetTrafficClass());
}

void
RoceBytes::RecordSent(const FabricPacket& packet)
{
    if (packet.IsControl() || packet.Has(FabricPacket::RETRANSMITTED))
    {
        return;
    }
    Sent& sent = m_sent[Stream(packet.src, packet.dst, packet.qp)];
    if (!sent.inMessage && sent.firstPsns.insert(packet.psn).second)
    {
        sent.byAge.push_back(packet.psn);
        if (sent.byAge.size() > MAX_FIRST_PSNS)
        {
            sent.firstPsns.erase(sent.byAge.front());
            sent.byAge.pop_front();
        }
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
    const bool first = !packet.IsControl() && IsFirst(packet);
    uint8_t opcode = ACKNOWLEDGE;
    uint32_t psn = packet.ack;
    bool request = false;
    if (packet.kind == FabricPacketKind::DATA)
    {
        opcode = OpcodeOf(packet, first);
        psn = packet.psn;
        request = last || packet.Has(FabricPacket::ACK_REQUEST);
    }
    else if (packet.kind == FabricPacketKind::CNP)
    {
        opcode = CONGESTION;
        psn = 0;
    }
    else if (packet.kind == FabricPacketKind::ACK)
    {
        psn = (packet.ack - 1) & 0xffffff;
    }
    else if (packet.kind == FabricPacketKind::REFUSAL)
    {
        psn = packet.psn;
    }
    // The BECN bit marks a CNP.
    const uint8_t notification = packet.kind == FabricPacketKind::CNP ? 0x40 : 0;
    std::vector<uint8_t> bytes;
    Append(bytes, opcode, 1);
    Append(bytes, 0, 1);
    Append(bytes, 0xffff, 2);
    Append(bytes, notification, 1);
    Append(bytes, packet.qp & 0xffffff, 3);
    Append(bytes, request ? 0x80 : 0, 1);
    Append(bytes, psn & 0xffffff, 3);
    if (packet.kind == FabricPacketKind::DATA)
    {
        AppendExtension(bytes, opcode, static_cast<uint32_t>(packet.sack));
    }
    else if (packet.kind == FabricPacketKind::CNP)
    {
        bytes.resize(bytes.size() + 16, 0);
    }
    else if (packet.IsControl())
    {
        uint8_t syndrome = ACK_NO_CREDITS;
        if (packet.kind == FabricPacketKind::NACK)
        {
            syndrome = NAK_SEQUENCE;
        }
        else if (packet.kind == FabricPacketKind::REFUSAL)
        {
            syndrome = packet.sack == NOT_READY ? RNR_NAK : NAK_INVALID;
        }
        Append(bytes, syndrome, 1);
        Append(bytes, 0, 3);
    }
    return bytes;
}

Ptr<Packet>
RoceBytes::MakePacket(const FabricPacket& packet) const
{
    if (packet.IsFlowControl())
    {
        return MakeFlowControl(packet.kind == FabricPacketKind::PAUSE, packet.GetTrafficClass());
    }
    const std::vector<uint8_t> transport = MakeTransport(packet);
    const std::size_t headers = ETHERNET + IPV4_HEADER + UDP + transport.size() + ICRC;
    const std::size_t shown = packet.wireBytes > FCS ? packet.wireBytes - FCS : 0;
    const std::size_t length = std::max(headers, shown);
    std::vector<uint8_t> bytes;
    bytes.reserve(length);
    AppendMac(bytes, packet.dst);
    AppendMac(bytes, packet.src);
    Append(bytes, 0x0800, 2);
    // IPv4: ECT(0), or CE once marked; do not fragment; protocol UDP.
    const bool marked = !packet.IsControl() && packet.Has(FabricPacket::MARKED);
    Append(bytes, 0x45, 1);
    Append(bytes, static_cast<uint32_t>(DscpOf(packet)) << 2 | (marked ? 3 : 2), 1);
    Append(bytes, length - ETHERNET, 2);
    Append(bytes, 0x00004000, 4);
    Append(bytes, 0x4011, 2);
    Append(bytes, 0, 2);
    Append(bytes, 0x0a000001U + packet.src, 4);
    Append(bytes, 0x0a000001U + packet.dst, 4);
    const uint16_t checksum = InternetChecksum(bytes.data() + ETHERNET, IPV4_HEADER);
    bytes[ETHERNET + 10] = static_cast<uint8_t>(checksum >> 8);
    bytes[ETHERNET + 11] = static_cast<uint8_t>(checksum);
    Append(bytes, 0xc000U | (packet.entropy & 0x3fffU), 2);
    Append(bytes, UDP_PORT, 2);
    Append(bytes, length - ETHERNET - IPV4_HEADER, 2);
    Append(bytes, 0, 2);
    bytes.insert(bytes.end(), transport.begin(), transport.end());
    bytes.resize(length - ICRC, 0);
    const uint32_t crc = InvariantCrc(bytes);
    for (unsigned at = 0; at < ICRC; ++at)
    {
        bytes.push_back(static_cast<uint8_t>(crc >> (8 * at)));
    }
    return Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size()));
}

} // namespace ns3
