// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_IP_H
#define FABRIC_IP_H

#include "fabric-packet.h"
#include "fabric-records.h"

#include "ns3/address.h"
#include "ns3/mac48-address.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{

class FabricPort;
class RdmaNic;

/**
 * @ingroup evenkeel
 * @brief Carries IP packets through a fabric: keeps their bytes and resolves addresses to hosts.
 *
 * On wires and in queues, a FabricPacket of kind IP stands for the packet, which is kept here. It
 * is as long as its frame: the Ethernet header and frame check sequence take 18 B, and the shortest
 * frame has 64 B.
 *
 * All hosts of a fabric, or of one of its planes, are neighbours. A packet goes to the host whose
 * device has its destination address, or the address of the gateway in the sender's routing. There
 * is no ARP and no neighbour discovery.
 *
 * With traffic classes, the DSCP of a packet determines its class (see FabricCodePoints).
 *
 * A packet with an unknown address makes the fabric read the addresses of all hosts, at most once
 * per simulated time. An address that is assigned later at the same time is therefore known only
 * from the next time on.
 */
class FabricIp
{
  public:
    /// Ethernet overhead of a packet, in bytes: header and frame check sequence (IEEE 802.3).
    static constexpr uint16_t ETHERNET = 14 + 4;
    /// The longest packet, in bytes: 65,535 B less 18 B of Ethernet.
    static constexpr uint16_t LONGEST = 65535 - ETHERNET;

    /// An IP packet in transit.
    struct Carried
    {
        Ptr<Packet> packet;       //!< from the IP header on
        uint16_t protocol{0};     //!< EtherType
        Mac48Address source;      //!< of the sending device
        Mac48Address destination; //!< of the receiving device
    };

    /**
     * @param nics NICs of the fabric, by host; must outlive this object
     * @param classes number of traffic classes; 0 if data has one queue
     */
    explicit FabricIp(const std::vector<Ptr<RdmaNic>>& nics, uint32_t classes = 0);

    /**
     * @brief Accepts a packet from a protocol stack. Aborts with a message if two hosts of a plane
     * have the same address when the addresses are read.
     * @param from the sending host
     * @param plane the plane of the sending port
     * @param packet the packet, from the IP header on
     * @param protocol EtherType
     * @param carried set to the packet for wires and queues
     * @return false unless it is an IPv4 or IPv6 unicast packet to another host of the plane; the
     *         broadcast address of a subnet belongs to no host
     */
    bool Take(uint32_t from,
              uint32_t plane,
              Ptr<Packet> packet,
              uint16_t protocol,
              FabricPacket& carried);
    /**
     * @brief Returns a packet that arrived at its host, with the CE mark if a switch set it.
     * @param packet the packet
     * @return its bytes
     */
    Carried Deliver(const FabricPacket& packet);
    /**
     * @brief Returns a packet that was dropped.
     * @param packet the packet
     * @return its bytes
     */
    Carried Drop(const FabricPacket& packet);
    /**
     * @param packet a packet in the fabric
     * @return its frame, from the Ethernet header on, without padding and frame check sequence
     */
    Ptr<Packet> MakeFrame(const FabricPacket& packet) const;
    /// @return counts of packets
    const FabricIpCounters& GetCounters() const;
    /// @return number of packets kept: those in queues, on wires, and about to be enqueued
    uint64_t GetKept() const;
    /// @return true if a host port is an IPv4 or IPv6 interface
    bool IsInstalled() const;

  private:
    /// A plane and a device address in it.
    using Key = std::pair<uint32_t, Address>;

    /**
     * @param from the sending host
     * @param plane the plane of the sending port
     * @param packet the packet
     * @param protocol EtherType
     * @param destination its destination address
     * @return number of the next-hop host; FABRIC_NO_PORT without one
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
     * @return the gateway of its route; an invalid address without a gateway
     */
    template <class F>
    Address FindGateway(uint32_t from, uint32_t plane, Ptr<const Packet> packet) const;
    /**
     * @brief Reads the addresses of all hosts, unless they have already been read at this simulated
     * time. Aborts with a message if two hosts of a plane have the same address.
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
    std::unordered_map<uint64_t, Carried> m_carried; //!< by FabricPacket::sack
    FabricIpCounters m_counters;                     //!< counts of packets
};

} // namespace ns3

#endif /* FABRIC_IP_H */
