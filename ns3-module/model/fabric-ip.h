// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_IP_H
#define FABRIC_IP_H

#include "fabric-packet.h"

#include "ns3/address.h"
#include "ns3/mac48-address.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3
{

class FabricPort;
class RdmaNic;

/**
 * @ingroup evenkeel
 * @brief The counters of the IP packets in a fabric.
 *
 * After a run, sent is the sum of delivered, dropped and what Fabric::CountIpInFlight returns.
 */
struct FabricIpCounters
{
    uint64_t sent{0};      //!< packets that NICs accepted from protocol stacks
    uint64_t delivered{0}; //!< packets that arrived at their host
    uint64_t marked{0};    //!< those of them that a switch marked: congestion experienced (CE)
    uint64_t dropped{0};   //!< packets dropped at a full NIC, at a switch or on a link that failed
};

/**
 * @ingroup evenkeel
 * @brief The IP packets in a fabric: their bytes, and which host has which address.
 *
 * On wires and in queues an IP packet is a FabricPacket of kind IP, which is as long as its frame:
 * Ethernet header and frame check sequence take 18 B, and the shortest frame has 64 B. The packet
 * itself is kept here meanwhile.
 *
 * The hosts of a fabric, or of a plane of it, are neighbours: a packet goes to the host whose
 * device has its destination address, or that of the gateway that routing at the sender names.
 * There is no ARP and no neighbour discovery.
 *
 * With traffic classes a packet has that of its DSCP, see FabricCodePoints.
 *
 * The addresses of all hosts are read when a packet has an unknown one: at most once per time of
 * the run, so that an address that is assigned at that time, after the packet, is known from the
 * next time on.
 */
class FabricIp
{
  public:
    /// The bytes of Ethernet around a packet: header and frame check sequence (IEEE 802.3).
    static constexpr uint16_t ETHERNET = 14 + 4;
    /// The longest packet, in bytes: 65,535 B less 18 B of Ethernet.
    static constexpr uint16_t LONGEST = 65535 - ETHERNET;

    /// An IP packet on its way.
    struct Carried
    {
        Ptr<Packet> packet;       //!< from the IP header on
        uint16_t protocol{0};     //!< EtherType
        Mac48Address source;      //!< of the sending device
        Mac48Address destination; //!< of the receiving device
    };

    /**
     * @param nics NICs of the fabric, by host; they outlive this object's calls
     * @param classes number of traffic classes; 0 if data has one queue
     */
    explicit FabricIp(const std::vector<Ptr<RdmaNic>>& nics, uint32_t classes = 0);

    /**
     * @brief Takes a packet of a protocol stack. Ends the program with the reason if two hosts of a
     * plane have the same address when the addresses are read.
     * @param from the sending host
     * @param plane the plane of the sending port
     * @param packet the packet, from the IP header on
     * @param protocol EtherType
     * @param carried set to the packet on wires and in queues
     * @return false if it is no unicast packet of IPv4 or IPv6 for another host of the plane; the
     *         broadcast address of a subnet is that of no host
     */
    bool Take(uint32_t from,
              uint32_t plane,
              Ptr<Packet> packet,
              uint16_t protocol,
              FabricPacket& carried);
    /**
     * @brief Hands back a packet that left the fabric at its host, with the mark of a switch.
     * @param packet the packet
     * @return its bytes
     */
    Carried Deliver(const FabricPacket& packet);
    /**
     * @brief Hands back a packet that was dropped.
     * @param packet the packet
     * @return its bytes
     */
    Carried Drop(const FabricPacket& packet);
    /**
     * @param packet a packet in the fabric
     * @return its bytes as a frame, from the Ethernet header on, without frame check sequence and
     *         padding
     */
    Ptr<Packet> MakeFrame(const FabricPacket& packet) const;
    /// @return counts of packets
    const FabricIpCounters& GetCounters() const;
    /// @return number of packets that are kept: those in queues, on wires, and about to be queued
    uint64_t GetKept() const;
    /// @return true if a port of a host is an interface of IPv4 or IPv6
    bool IsInstalled() const;

  private:
    /// A plane, and an address of a device in it.
    using Key = std::pair<uint32_t, Address>;

    /**
     * @param from the sending host
     * @param plane the plane of the sending port
     * @param packet the packet
     * @param protocol EtherType
     * @param destination its destination address
     * @return number of the host that it goes to; FABRIC_NO_PORT if there is none
     */
    uint32_t FindNextHop(uint32_t from,
                         uint32_t plane,
                         Ptr<const Packet> packet,
                         uint16_t protocol,
                         const Address& destination);
    /**
     * @tparam F IPv4 or IPv6
     * @param from the sending host
     * @param plane the plane of the sending port
     * @param packet the packet
     * @return the address of the gateway that routing names for it; invalid if there is none
     */
    template <class F>
    Address FindGateway(uint32_t from, uint32_t plane, Ptr<const Packet> packet) const;
    /**
     * @param key a plane and an address
     * @return number of the host; FABRIC_NO_PORT if none is known to have it
     */
    uint32_t FindHost(const Key& key) const;
    /**
     * @brief Reads the addresses of all hosts anew, unless they have been read at this time of the
     * run; ends the program with the reason if two hosts of a plane have the same.
     * @return true if they were read
     */
    bool ReadAddresses();
    /**
     * @tparam F IPv4 or IPv6
     * @param host number of a host
     */
    template <class F>
    void ReadAddressesOf(uint32_t host);
    /**
     * @param packet a packet that leaves the fabric
     * @return its bytes
     */
    Carried Remove(const FabricPacket& packet);

    const std::vector<Ptr<RdmaNic>>& m_nics; //!< by host
    uint32_t m_classes;                      //!< number of traffic classes
    std::map<Key, uint32_t> m_hosts;         //!< by plane and address
    int64_t m_readAt{-1};                    //!< when they were read, in ticks; -1 before the run
    std::vector<Carried> m_carried;          //!< by FabricPacket::sack
    std::vector<uint64_t> m_free;            //!< places of m_carried without a packet
    FabricIpCounters m_counters;             //!< counts of packets
};

} // namespace ns3

#endif /* FABRIC_IP_H */
