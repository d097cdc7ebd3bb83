// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PORT_H
#define FABRIC_PORT_H

#include "fabric-core.h"
#include "fabric-packet.h"
#include "fabric-pfc.h"
#include "fabric-pool.h"

#include "ns3/data-rate.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <array>

namespace ns3
{

class Fabric;
class FabricChannel;

/**
 * @ingroup evenkeel
 * @brief An end of a fabric's link: an output port, its queues and the wire behind it.
 *
 * Store and forward: a packet is on the wire for its bytes at the link's rate, arrives one
 * propagation delay after its last bit, and the wire is busy for a gap more. Two classes wait
 * apart, those with priority first; a pause frame of flow control stops the other class.
 *
 * A port decides as late as it can: which packet starts next is settled when something touches the
 * port, by which time everything that could have been there is there. So a packet costs one event a
 * hop. While somebody listens to what starts (see the attribute Punctual), each start is an event
 * of its own, and the outcome is the same.
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
     * @param when when it happened
     */
    typedef void (*PacketTracedCallback)(const FabricPacket& packet, Time when);

    /**
     * @brief TracedCallback signature for flow control.
     * @param paused true for a pause, false for a resume
     */
    typedef void (*PauseTracedCallback)(bool paused);

    /**
     * @brief Sets the link that it is an end of; done by FabricChannel::Attach.
     * @param channel the link
     */
    void SetChannel(Ptr<FabricChannel> channel);

    // What a script may ask.

    /// @return number of the port in its fabric: 2l or 2l + 1 of link l
    uint32_t GetPortNumber() const;
    /// @return bytes of packets that wait
    uint32_t GetWaitingBytes() const;
    /**
     * @param flags of a packet, see FabricPacket::Flag
     * @return bytes of packets that wait in the queue that it joins
     */
    uint32_t GetWaitingBytesLike(uint8_t flags) const;
    /// @return most bytes that ever waited
    uint32_t GetWaitingBytesMax() const;
    /// @return bytes carried, without gaps
    uint64_t GetCarriedBytes() const;
    /// @return true while the far end asks for no more of what has no priority
    bool IsPaused() const;
    /// @return the rate now
    DataRate GetDataRate() const;
    /// @return packets of other stacks that were given to Send, and dropped
    uint64_t GetForeignDropped() const;

    // What a fabric does with it; not for scripts.

    /// How it is set up.
    struct Setup
    {
        Fabric* fabric{nullptr};                       //!< whose
        FabricPort* end{nullptr};                      //!< the far end
        uint32_t id{0};                                //!< number in the fabric
        uint32_t number{0};                            //!< number in its switch
        uint64_t rateBps{0};                           //!< bits a second
        uint64_t delayPs{0};                           //!< forwarding delay of the far end included
        uint64_t forwardingPs{0};                      //!< ... which is this
        uint32_t gapBytes{0};                          //!< behind each packet
        FabricRounding rounding{FabricRounding::EXACT}; //!< of transmission times
        FabricEcn ecn;                                 //!< marking
    };

    /**
     * @brief Joins a fabric.
     * @param setup how
     */
    void Join(const Setup& setup);
    /// The fabric starts: who listens by now is served punctually.
    void Open();
    /**
     * @brief Starts everything whose turn came by now, and sees to the next event.
     * @param nowPs the time
     */
    virtual void Settle(uint64_t nowPs) = 0;
    /**
     * @brief A packet came in from the far end.
     * @param nowPs the time
     * @param place of the packet
     */
    virtual void Receive(uint64_t nowPs, uint32_t place) = 0;
    /**
     * @brief A frame of flow control takes effect.
     * @param nowPs the time
     * @param order what it says
     */
    virtual void Obey(uint64_t nowPs, FabricPfc::Order order) = 0;
    /**
     * @brief An event of this port comes due: the head of its wire arrives, or the wire is free.
     * @param nowPs the time
     */
    void HandleArrival(uint64_t nowPs);
    /**
     * @brief The wire is free for what waits.
     * @param nowPs the time
     */
    virtual void HandleStart(uint64_t nowPs) = 0;
    /**
     * @brief From now on packets start at another rate.
     * @param rateBps bits a second
     */
    void ChangeRate(uint64_t rateBps);
    /// Marks it as one whose link ever fails.
    void SetFaulty();

    // Inherited from NetDevice.
    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsPointToPoint() const override;
    bool IsBridge() const override;
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(NetDevice::ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoDispose() override;

    /**
     * @param flags of a packet
     * @return the queue that it joins: 0 with priority, 1 without
     */
    static unsigned GetClass(uint8_t flags)
    {
        return (flags & FabricPacket::PRIORITY) ? 0 : 1;
    }

    /**
     * @param bytes of a packet
     * @return how long they are on the wire, in ps
     */
    uint64_t GetTimeFor(uint64_t bytes) const;
    /// @return true if something waits that may go once the wire is free
    bool HasWaiting() const;
    /**
     * @param nowPs the time
     * @param flags of a packet
     * @return true if it would go at once: nothing is before it, nothing holds it
     */
    bool IsClear(uint64_t nowPs, uint8_t flags) const;
    /**
     * @param nowPs the time, by which what could start has started
     * @return bytes that wait, and those of the packet that the wire is busy with
     */
    uint64_t GetLoad(uint64_t nowPs) const;
    /**
     * @brief Puts a packet on the wire.
     * @param place of the packet
     * @param startPs when it starts
     */
    void Transmit(uint32_t place, uint64_t startPs);
    /**
     * @brief Puts a packet in line.
     * @param place of the packet
     */
    void Wait(uint32_t place);
    /**
     * @brief Puts a frame of flow control in line, before everything else.
     * @param place of the frame
     */
    void WaitFirst(uint32_t place);
    /// @return the place of the packet whose turn it is, out of line; NONE if none may go
    uint32_t TakeWaiting();
    /// Makes sure that an event comes at the next arrival, or when the wire is free for what waits.
    void Arm();
    /**
     * @brief The same for a port without queues of its own.
     * @param more whether something else waits for the wire
     */
    void ArmFor(bool more);
    /// Makes sure that an event comes when the wire is free, if one is to come then.
    void ArmStart();
    /**
     * @brief Tells listeners that a frame was obeyed.
     * @param order what it said
     */
    void TracePause(FabricPfc::Order order);
    /**
     * @brief Shows a packet to sniffers.
     * @param packet the packet
     * @param startPs when it started or arrived
     */
    void Sniff(const FabricPacket& packet, uint64_t startPs);

    Fabric* m_fabric{nullptr};  //!< whose port it is
    FabricPool* m_pool{nullptr}; //!< where its packets are
    uint64_t m_free{0};         //!< from when on the wire is free
    FabricPool::List m_wire;    //!< packets on the wire, by arrival
    FabricPool::List m_waiting[2];   //!< packets that wait: with priority, and the others
    uint32_t m_waitingBytes[2]{0, 0}; //!< bytes that wait, likewise
    FabricPort* m_end{nullptr}; //!< where packets arrive
    uint32_t m_id{0};           //!< number in its fabric
    uint32_t m_number{0};       //!< number in its switch
    uint32_t m_psPerByte{0};    //!< picoseconds a byte, where that is a whole number; else 0
    bool m_armed{false};        //!< an event of this port is pending
    bool m_startArmed{false};   //!< a start is pending
    bool m_faulty{false};       //!< its link ever fails
    bool m_paused{false};       //!< the far end asks for no more
    bool m_punctual{false};     //!< each start is an event
    bool m_listened{false};     //!< somebody listens to what starts or arrives
    FabricRounding m_rounding{FabricRounding::EXACT}; //!< of transmission times
    uint64_t m_delay{0};        //!< from last bit out to arrival
    uint64_t m_gap{0};          //!< extra time the wire is busy after each packet
    uint64_t m_carried{0};      //!< bytes carried
    uint32_t m_gapBytes{0};     //!< bytes of the gap
    uint32_t m_waitingMax{0};   //!< most bytes that ever waited
    uint64_t m_rate{0};         //!< bits a second
    uint64_t m_forwarding{0};   //!< the part of the delay that is off the wire
    FabricEcn m_ecn;            //!< marking

    TracedCallback<const FabricPacket&, Time> m_sentTrace;     //!< a packet starts
    TracedCallback<const FabricPacket&, Time> m_receivedTrace; //!< a packet has arrived
    TracedCallback<const FabricPacket&, Time> m_enqueueTrace;  //!< a packet joins a queue
    TracedCallback<const FabricPacket&, Time> m_dequeueTrace;  //!< a packet leaves a queue
    TracedCallback<const FabricPacket&, Time> m_dropTrace;     //!< a packet is lost
    TracedCallback<const FabricPacket&, Time> m_markTrace;     //!< a packet is ECN marked
    TracedCallback<bool> m_pauseTrace;                         //!< flow control takes effect
    TracedCallback<Ptr<const Packet>> m_snifferTrace;          //!< bytes of what passes
    TracedCallback<Ptr<const Packet>> m_foreignTrace; //!< a packet of another stack is dropped

    /// Lets the fabric report a loss on the wire.
    friend class Fabric;

  private:
    /**
     * @param tid the type
     * @return the same with the attributes
     */
    static TypeId AddAttributes(TypeId tid);
    /**
     * @param tid the type
     * @return the same with the trace sources of packets
     */
    static TypeId AddPacketTraceSources(TypeId tid);
    /**
     * @param tid the type
     * @return the same with the other trace sources
     */
    static TypeId AddOtherTraceSources(TypeId tid);
    /**
     * @brief Sets the rate, and what follows from it.
     * @param rateBps bits a second
     */
    void SetRate(uint64_t rateBps);
    /**
     * @param rateBps bits a second
     * @param bytes of a packet
     * @return how long they are on the wire at that rate, in ps
     */
    uint64_t GetTimeAt(uint64_t rateBps, uint64_t bytes) const;
    /**
     * @param slot a packet that arrives now
     * @return true if it was lost on the wire
     */
    bool IsLostOnTheWay(const FabricPool::Slot& slot) const;

    std::vector<uint64_t> m_rates;   //!< rates that it has had, the present one last
    Ptr<FabricChannel> m_channel;    //!< the link
    Ptr<Node> m_node;                //!< whose device it is
    uint32_t m_ifIndex{0};           //!< which of the node's
    Mac48Address m_address;          //!< its address
    uint16_t m_mtu{9000};            //!< for those who ask; packets are made by NICs
    uint64_t m_foreignDropped{0};           //!< packets of other stacks
    TracedCallback<> m_linkChangeCallbacks; //!< never called: links are made up
};

} // namespace ns3

#endif /* FABRIC_PORT_H */
