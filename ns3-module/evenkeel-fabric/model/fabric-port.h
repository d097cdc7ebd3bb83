// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_PORT_H
#define FABRIC_PORT_H

#include "fabric-classes.h"
#include "fabric-core.h"
#include "fabric-packet.h"

#include "ns3/data-rate.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <array>
#include <deque>
#include <vector>

namespace ns3
{

class Fabric;
class FabricChannel;
class FabricPool;
class RdmaNic;

/**
 * @ingroup evenkeel
 * @brief One end of a fabric link: an output port with its queues and its wire.
 *
 * A packet occupies the wire for its length divided by the link rate, and arrives one propagation
 * delay after its last bit is sent. The wire stays busy for a gap after each packet.
 *
 * There are two queues. Packets with priority are sent first, and a pause frame of priority flow
 * control (PFC) stops the other queue. With traffic classes (FabricHelper::AddClass), the second
 * queue is split into one per class, and each class is paused separately.
 *
 * A NIC is its first port and has a FabricPort for each of the others.
 *
 * A port decides as late as possible which packet starts next: at the port's next event, when every
 * packet that could start first has arrived. A packet thus costs one event per hop. If a trace sink
 * is connected (see the attribute Punctual), each start is a separate event. The results do not
 * change.
 */
class FabricPort : public NetDevice
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    FabricPort();
    ~FabricPort() override;

    /**
     * @brief TracedCallback signature for packets of a fabric.
     * @param packet the packet
     * @param when the time
     */
    typedef void (*PacketTracedCallback)(const FabricPacket& packet, Time when);

    /**
     * @brief TracedCallback signature for priority flow control (PFC).
     * @param paused true for a pause, false for a resume
     */
    typedef void (*PauseTracedCallback)(bool paused);

    /**
     * @brief TracedCallback signature for priority flow control (PFC) by traffic class.
     * @param trafficClass number of the class; 0 without classes
     * @param paused true for a pause, false for a resume
     */
    typedef void (*ClassPauseTracedCallback)(uint32_t trafficClass, bool paused);

    /**
     * @brief Sets the link of the port; FabricChannel::Attach calls it.
     * @param channel the link
     */
    void SetChannel(Ptr<FabricChannel> channel);

    // For scripts.

    /// @return number of the port in its fabric: 2l or 2l + 1 of link l
    uint32_t GetPortNumber() const
    {
        return m_id;
    }

    /// @return bytes in the queues
    uint32_t GetWaitingBytes() const
    {
        return m_queueBytes[0] + m_dataBytes;
    }

    /**
     * @param trafficClass number of a traffic class; 0 without classes
     * @return bytes in the queue of the class
     */
    uint32_t GetWaitingBytesOf(uint32_t trafficClass) const;

    /// @return the maximum of the queued bytes so far
    uint32_t GetWaitingBytesMax() const
    {
        return m_waitingMax;
    }

    /**
     * @brief Returns the bytes that the link has carried in this direction.
     *
     * Ports decide late which packets start. This method first starts those that are due before
     * now, so the result is exact at any time of a run and after Simulator::Stop. In a trace sink
     * of the fabric, packets that start at that moment may be missing.
     *
     * @return bytes of the packets that have started, without gaps
     */
    uint64_t GetCarriedBytes();

    /// @return true while the far end pauses at least one traffic class
    bool IsPaused() const
    {
        return m_paused != 0;
    }

    /**
     * @param trafficClass number of a traffic class; 0 without classes
     * @return true while the far end pauses the class
     */
    bool IsClassPaused(uint32_t trafficClass) const;
    /// @return the current rate
    DataRate GetDataRate() const;

    /// @return packets of protocol stacks dropped before the wire, as MacTxDrop reports them
    uint64_t GetForeignDropped() const
    {
        return m_foreignDropped;
    }

    // For the fabric; not for scripts.

    /// @return the fabric; null before it is made
    const Fabric* GetFabric() const
    {
        return m_fabric;
    }

    /**
     * @brief Joins a fabric.
     * @param fabric the fabric
     * @param id number of the port
     * @param end the port at the far end
     */
    void Join(Fabric& fabric, uint32_t id, FabricPort& end);
    /// Starts the port. Connected trace sinks make it punctual.
    void Open();
    /**
     * @brief Starts every packet that is due by now, and schedules the next event.
     * @param nowPs the time
     */
    virtual void Settle(uint64_t nowPs);
    /**
     * @brief Handles a packet that arrived from the far end.
     * @param nowPs the time
     * @param slot slot of the packet
     */
    virtual void Receive(uint64_t nowPs, uint32_t slot);
    /**
     * @brief Applies a frame of priority flow control (PFC) from the far end.
     * @param nowPs the time
     * @param order the order of the frame
     * @param trafficClass the class of the frame; 0 without classes
     */
    virtual void ApplyPfcOrder(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass);
    /**
     * @brief Handles the expiry of a pause, unless a later frame has extended it.
     * @param nowPs the time
     */
    void HandlePauseEnd(uint64_t nowPs);
    /**
     * @brief Handles an event of this port: its first packet in flight arrives at the far end, or
     * the wire becomes free.
     * @param nowPs the time
     */
    void HandleArrival(uint64_t nowPs);
    /**
     * @brief Handles a start event: the wire is free for a queued packet.
     * @param nowPs the time
     */
    virtual void HandleStart(uint64_t nowPs);
    /**
     * @brief Changes the rate of packets that start from now on.
     * @param rateBps bits per second
     */
    void SetRate(uint64_t rateBps);
    /// Marks the port's link as one that fails at some time.
    void SetFaulty();

    // Inherited from NetDevice.

    void SetIfIndex(const uint32_t index) override
    {
        m_ifIndex = index;
    }

    uint32_t GetIfIndex() const override
    {
        return m_ifIndex;
    }

    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;

    Address GetAddress() const override
    {
        return m_address;
    }

    bool SetMtu(const uint16_t mtu) override;

    uint16_t GetMtu() const override
    {
        return m_mtu;
    }

    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;

    bool IsMulticast() const override
    {
        return false;
    }

    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;

    bool IsPointToPoint() const override
    {
        return false;
    }

    bool IsBridge() const override
    {
        return false;
    }

    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;

    bool NeedsArp() const override
    {
        return false;
    }

    void SetReceiveCallback(NetDevice::ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb) override;

    bool SupportsSendFrom() const override
    {
        return false;
    }

  protected:
    void DoDispose() override;

    /// Number of queues: one with priority, then one per traffic class.
    static constexpr uint32_t QUEUES = 1 + FABRIC_MOST_CLASSES;

    /**
     * @param packet a packet
     * @return the index of its queue
     */
    static uint32_t GetQueue(const FabricPacket& packet)
    {
        return packet.Has(FabricPacket::PRIORITY) ? 0 : 1 + packet.GetTrafficClass();
    }

    /**
     * @param trafficClass number of a class
     * @return its bit in a bitmap of classes
     */
    static constexpr uint8_t BitOf(uint32_t trafficClass)
    {
        return static_cast<uint8_t>(1U << trafficClass);
    }

    /// @return a bitmap of the classes with a packet that may start
    uint8_t GetReady() const
    {
        return static_cast<uint8_t>(m_waiting & ~m_paused);
    }

    /**
     * @param bytes of a packet
     * @return their time on the wire, in ps
     */
    uint64_t GetTimeFor(uint64_t bytes) const;
    /// @return true if a queued packet may start once the wire is free
    bool HasWaiting() const;
    /**
     * @brief Puts a packet on the wire.
     * @param slot slot of the packet
     * @param startPs when it starts
     */
    void Transmit(uint32_t slot, uint64_t startPs);
    /**
     * @brief Appends a packet to its queue.
     * @param slot slot of the packet
     */
    void PushQueue(uint32_t slot);
    /// @return slot of the next packet, removed from its queue; NONE if no packet may start
    uint32_t PopQueue();
    /// Schedules an event at the next arrival, or when the wire becomes free for a queued packet.
    void Arm();
    /**
     * @brief Does the same as Arm for a port whose packets are queued elsewhere.
     * @param more true if a packet is queued for the wire
     */
    void ArmFor(bool more);
    /// Schedules a start for when the wire is free, unless one is scheduled already.
    void ArmStart();
    /**
     * @brief Applies a PFC frame and reports it to trace sinks.
     * @param nowPs the time
     * @param order the order of the frame
     * @param trafficClass the class of the frame
     */
    void SetPaused(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass);
    /**
     * @brief Removes the first packet of a traffic class from its queue.
     * @param trafficClass a class that has one
     * @return slot of the packet
     */
    uint32_t PopClass(uint32_t trafficClass);
    /**
     * @brief Passes a packet to the trace sinks of PromiscSniffer.
     * @param packet the packet
     * @param startPs when it started or arrived
     */
    void Sniff(const FabricPacket& packet, uint64_t startPs);

    /**
     * @brief Passes a packet to trace sinks.
     * @param sinks the trace source
     * @param packet the packet
     * @param atPs the time
     */
    static void Trace(const TracedCallback<const FabricPacket&, Time>& sinks,
                      const FabricPacket& packet,
                      uint64_t atPs)
    {
        if (!sinks.IsEmpty())
        {
            sinks(packet, PicoSeconds(atPs));
        }
    }

    /**
     * @brief Drops a packet of a protocol stack that has not started.
     * @param packet the packet
     * @return false, for Send
     */
    bool DropUnsent(Ptr<const Packet> packet);
    /**
     * @brief Passes an arrived IP packet to the node's protocol stack, in an event of the node at
     * this time.
     * @param slot slot of the packet
     * @return true if it is an IP packet
     */
    bool ReceiveIp(uint32_t slot);

    Fabric* m_fabric{nullptr};                   //!< the fabric of the port
    RdmaNic* m_nic{nullptr};                     //!< the NIC of the port; null for a switch
    FabricPool* m_pool{nullptr};                 //!< packets of the fabric
    uint64_t m_free{0};                          //!< time from which the wire is free
    FabricSlots m_wire;                          //!< packets on the wire, by arrival
    std::array<FabricSlots, QUEUES> m_queues;    //!< packets with priority, then by class
    std::array<uint32_t, QUEUES> m_queueBytes{}; //!< bytes in each queue
    uint32_t m_dataBytes{0};                     //!< bytes without priority
    FabricPort* m_end{nullptr};                  //!< the far end
    uint32_t m_id{0};                            //!< number in its fabric
    uint32_t m_psPerByte{0};  //!< picoseconds per byte if that is a whole number; else 0
    bool m_armed{false};      //!< an event of this port is scheduled
    bool m_startArmed{false}; //!< a start is scheduled
    bool m_faulty{false};     //!< its link fails at some time
    uint8_t m_waiting{0};     //!< bitmap of the classes with packets
    uint8_t m_paused{0};      //!< bitmap of the classes that the far end pauses
    uint8_t m_ipFirst{0};     //!< NIC: bitmap of the classes in which RDMA sent last
    bool m_punctual{false};   //!< each start is an event
    bool m_traced{false};     //!< trace sinks are connected, for starts or arrivals
    FabricRounding m_rounding{FabricRounding::EXACT}; //!< rounding of transmission times
    uint64_t m_delay{0};                              //!< from last bit out to arrival
    uint64_t m_gap{0};        //!< time that the wire stays busy after each packet
    uint64_t m_carried{0};    //!< bytes started
    uint32_t m_gapBytes{0};   //!< bytes of the gap
    uint32_t m_waitingMax{0}; //!< maximum of the queued bytes
    uint64_t m_rate{0};       //!< bits per second
    uint64_t m_forwarding{0}; //!< forwarding delay of the far switch, part of m_delay
    uint32_t m_classes{0};    //!< number of traffic classes; 0 if data has one queue

    TracedCallback<const FabricPacket&, Time> m_sentTrace;     //!< a packet starts
    TracedCallback<const FabricPacket&, Time> m_receivedTrace; //!< a packet arrived
    TracedCallback<const FabricPacket&, Time> m_enqueueTrace;  //!< a packet joins a queue
    TracedCallback<const FabricPacket&, Time> m_dequeueTrace;  //!< a packet leaves a queue
    TracedCallback<const FabricPacket&, Time> m_dropTrace;     //!< a packet is dropped
    TracedCallback<const FabricPacket&, Time> m_markTrace;     //!< a packet is ECN marked
    TracedCallback<bool> m_pauseTrace;                         //!< PFC pauses or resumes the port
    TracedCallback<uint32_t, bool> m_classPauseTrace;          //!< PFC pauses or resumes a class
    TracedCallback<Ptr<const Packet>> m_snifferTrace;          //!< bytes of passing packets
    TracedCallback<Ptr<const Packet>> m_macTxTrace;            //!< an IP packet is accepted
    TracedCallback<Ptr<const Packet>> m_macTxDropTrace; //!< a packet is dropped before the wire
    TracedCallback<Ptr<const Packet>> m_macRxTrace;     //!< an IP packet arrived at its host
    TracedCallback<Ptr<const Packet>> m_ipDropTrace;    //!< an IP packet is dropped here

    /// The fabric reports drops and reads queues.
    friend class Fabric;
    /// A NIC sends through all its ports.
    friend class RdmaNic;

  private:
    /**
     * @param tid the type
     * @return the type with the trace sources added
     */
    static TypeId AddTraceSources(TypeId tid);
    std::deque<uint64_t> m_starts;     //!< starts of the packets on the wire, of a link that fails
    std::vector<uint64_t> m_pauseEnds; //!< when pauses expire, by class; empty if they never do
    Ptr<FabricChannel> m_channel;      //!< the link
    Ptr<Node> m_node;                  //!< the node of the device
    uint32_t m_ifIndex{0};             //!< index among the devices of the node
    Mac48Address m_address;            //!< address of the device
    uint16_t m_mtu{9000};              //!< IP MTU; RDMA packets have the NIC's payload size instead
    uint64_t m_foreignDropped{0};      //!< packets of protocol stacks dropped before the wire
    NetDevice::ReceiveCallback m_receive;               //!< takes IP packets that arrived
    NetDevice::PromiscReceiveCallback m_receivePromisc; //!< the promiscuous callback
    TracedCallback<> m_linkChangeCallbacks; //!< never called: failures do not change IsLinkUp
};

} // namespace ns3

#endif /* FABRIC_PORT_H */
