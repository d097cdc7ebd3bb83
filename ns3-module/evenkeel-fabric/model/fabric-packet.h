// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_PACKET_H
#define FABRIC_PACKET_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The kind of a packet on a fabric's wires.
 */
enum class FabricPacketKind : uint8_t
{
    DATA = 0,            //!< part of a message
    ACK = 1,             //!< acknowledges packets that arrived
    NACK = 2,            //!< reports that PSN FabricPacket::ack is missing
    CNP = 3,             //!< congestion notification (DCQCN)
    REFUSAL = 4,         //!< RNR NAK (receiver not ready), or NAK of an invalid request
    PAUSE = 5,           //!< IEEE 802.1Qbb: stop sending packets without priority
    RESUME = 6,          //!< IEEE 802.1Qbb: continue to send packets without priority
    PROBE = 7,           //!< requests a reply over one path
    PROBE_REPLY = 8,     //!< reply to a probe
    PORT_STATUS = 9,     //!< reports a NIC's usable ports to another NIC
    CREDIT = 10,         //!< grants credit to a sender (RCCC)
    CREDIT_REQUEST = 11, //!< requests credit from a receiver
    LINK_CREDIT = 12,    //!< how much the far end of a link has freed (CBFC)
    IP = 13,             //!< a packet of ns-3's IP stack, whose bytes FabricIp keeps
};

/**
 * @ingroup evenkeel
 * @brief The bits of FabricPacket::flags.
 */
enum class FabricPacketFlag : uint8_t
{
    MARKED = 1,             //!< ECN: congestion experienced; in an acknowledgement the ECN echo
    LAST = 1 << 1,          //!< the last packet of a message
    RETRANSMITTED = 1 << 2, //!< sent more than once
    PRIORITY = 1 << 3,      //!< sent before all packets without this flag
    TRIMMED = 1 << 4,       //!< trimmed to its header by a switch
    LAST_HOP = 1 << 5,      //!< trimmed by the switch that the receiver is attached to
    ACK_REQUEST = 1 << 6,   //!< BTH AckReq: requests an immediate acknowledgement
    HASHED = 1 << 7,        //!< switches choose its ports by ECMP hash, whatever their policy
};

/**
 * @ingroup evenkeel
 * @brief The verb of a data packet, in the upper four bits of FabricPacket::sack.
 */
enum class FabricPacketVerb : uint8_t
{
    WRITE = 0,                //!< part of a plain WRITE
    WRITE_WITH_IMMEDIATE = 1, //!< part of a WRITE with immediate data, which consumes a receive
    SEND = 2,                 //!< part of a SEND, which consumes a receive
    READ_REQUEST = 3,         //!< requests a READ
    READ_RESPONSE = 4,        //!< part of the response to a READ
};

/**
 * @ingroup evenkeel
 * @brief A packet on a fabric's wires, as headers and lengths; RDMA payloads are not carried.
 *
 * It has those fields of RoCEv2 and Ultra Ethernet headers that decisions in a fabric depend on.
 * rust/bridge/world/records.rs declares the same record with the same field order. Like
 * fabric-records.h, this header is plain C++11 without ns-3.
 */
struct FabricPacket
{
    using Flag = FabricPacketFlag;                                         //!< bits of flags
    static constexpr uint8_t MARKED = uint8_t(Flag::MARKED);               //!< see FabricPacketFlag
    static constexpr uint8_t LAST = uint8_t(Flag::LAST);                   //!< see FabricPacketFlag
    static constexpr uint8_t RETRANSMITTED = uint8_t(Flag::RETRANSMITTED); //!< see FabricPacketFlag
    static constexpr uint8_t PRIORITY = uint8_t(Flag::PRIORITY);           //!< see FabricPacketFlag
    static constexpr uint8_t TRIMMED = uint8_t(Flag::TRIMMED);             //!< see FabricPacketFlag
    static constexpr uint8_t LAST_HOP = uint8_t(Flag::LAST_HOP);           //!< see FabricPacketFlag
    static constexpr uint8_t ACK_REQUEST = uint8_t(Flag::ACK_REQUEST);     //!< see FabricPacketFlag
    static constexpr uint8_t HASHED = uint8_t(Flag::HASHED);               //!< see FabricPacketFlag

    /// Position of the traffic class in ack, above the 24 bits of a PSN.
    static constexpr uint32_t CLASS_SHIFT = 24;

    uint32_t src{0};    //!< number of the sending host
    uint32_t dst{0};    //!< number of the receiving host
    uint32_t qp{0};     //!< queue pair at dst (BTH destination QP)
    uint32_t label{0};  //!< hash of the 5-tuple without the entropy value
    uint32_t psn{0};    //!< packet sequence number; acknowledgements: the first of sack
    uint32_t ack{0};    //!< acknowledgements: every PSN before this one has arrived; others: the
                        //!< traffic class in the upper 8 bits, which are 0 without classes and
                        //!< in packets of script-defined cores
    uint64_t sack{0};   //!< acknowledgements: which of the 64 PSNs from psn on arrived; frames of
                        //!< flow control: bytes without priority queued at its sender; data: the
                        //!< header of its verb, see GetVerb(); IP: its slot in FabricIp
    uint32_t marked{0}; //!< acknowledgements: which of those were marked; IP: 1 if ECN-capable
    uint32_t stamp{0};  //!< when the data was sent, in steps of 1,024 ps
    uint16_t wireBytes{0};                         //!< length on the wire without the gap
    uint16_t entropy{0};                           //!< entropy value, or path with source routing
    uint16_t route{0};                             //!< rest of the path with source routing
    FabricPacketKind kind{FabricPacketKind::DATA}; //!< kind of the packet
    uint8_t flags{0};                              //!< bits of FabricPacketFlag

    /**
     * @param flag bits to look for
     * @return true if all of them are set
     */
    bool Has(uint8_t flag) const
    {
        return (flags & flag) == flag;
    }

    /// @return the verb of a data packet
    FabricPacketVerb GetVerb() const
    {
        return static_cast<FabricPacketVerb>(sack >> 60);
    }

    /// @return the traffic class of data, IP and PFC frames; 0 for other control packets and
    ///         without classes
    uint32_t GetTrafficClass() const
    {
        return IsControl() && !IsFlowControl() ? 0 : ack >> CLASS_SHIFT;
    }

    /**
     * @param trafficClass number of a class
     */
    void SetTrafficClass(uint32_t trafficClass)
    {
        ack = (ack & ((1U << CLASS_SHIFT) - 1)) | trafficClass << CLASS_SHIFT;
    }

    /// @return true for RDMA data
    bool IsData() const
    {
        return kind == FabricPacketKind::DATA;
    }

    /// @return true for a packet of ns-3's IP stack
    bool IsIp() const
    {
        return kind == FabricPacketKind::IP;
    }

    /// @return true for every kind but data and IP
    bool IsControl() const
    {
        return !IsData() && !IsIp();
    }

    /// @return true if it is ECN-capable, so that a switch may mark it
    bool IsMarkable() const
    {
        return IsData() || (IsIp() && marked != 0);
    }

    /// @return true for frames of priority flow control (PFC), which do not leave their link
    bool IsFlowControl() const
    {
        return kind == FabricPacketKind::PAUSE || kind == FabricPacketKind::RESUME;
    }
};

static_assert(sizeof(FabricPacket) == 48, "a packet and its bookkeeping share a cache line");

/**
 * @ingroup evenkeel
 * @brief A FIFO list of packets in a FabricPool.
 */
struct FabricSlots
{
    /// No slot: marks the end of a list.
    static constexpr uint32_t NONE = 0xffffffff;

    uint32_t head{NONE}; //!< slot of the first packet
    uint32_t tail{NONE}; //!< slot of the last packet

    /// @return true if the list is empty
    bool IsEmpty() const
    {
        return head == NONE;
    }
};

/**
 * @brief Prints the name of a value of an enumeration.
 * @param os the stream
 * @param names of the values, from 0
 * @param value the value
 * @return the stream
 */
std::ostream& PrintName(std::ostream& os,
                        std::initializer_list<const char*> names,
                        std::size_t value);
/**
 * @brief Prints the kind of a packet.
 * @param os the stream
 * @param kind the kind
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, FabricPacketKind kind);
/**
 * @brief Prints a packet on one line.
 * @param os the stream
 * @param packet the packet
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, const FabricPacket& packet);

} // namespace ns3

#endif /* FABRIC_PACKET_H */
