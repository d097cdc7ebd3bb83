// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef RDMA_NIC_H
#define RDMA_NIC_H

#include "core-attributes.h"
#include "fabric-port.h"
#include "fabric-verbs.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3
{

class RdmaQp;

/**
 * @ingroup evenkeel
 * @brief An RDMA NIC on a node, with queue pairs, loss recovery, congestion control and pacing.
 *
 * The core makes every decision of the NIC; this class sends and receives its packets. A script
 * posts messages with PostMessage and observes them with the trace sources MessageDelivered (at the
 * receiver) and MessageCompleted (at the sender). Or it makes queue pairs with CreateQp and uses
 * verbs.
 *
 * The NIC is also a device for ns-3's IP stack, whose packets share ports and wires with RDMA (see
 * FabricIp).
 *
 * The NIC is the device of its first port. AddPort adds more ports, each a device of the same node
 * in its own plane. A queue pair uses all ports at the same time.
 *
 * FabricHelper::Finish reads the attributes, which may differ between NICs. Those that send to each
 * other must have the same Payload, Header, Recovery and order of delivery, because these are
 * properties of the queue pairs between them. The sender determines congestion control and
 * retransmission timer, the receiver acknowledgements. A fabric that is made from a scenario
 * ignores the attributes and uses the values of the scenario.
 */
class RdmaNic : public FabricPort, public CoreAttributes
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    RdmaNic();
    ~RdmaNic() override;

    /**
     * @brief TracedCallback signature for events of messages.
     * @param event the event
     */
    typedef void (*MessageTracedCallback)(const FabricMessageEvent& event);

    /// A callback for an event of one message.
    typedef Callback<void, const FabricMessageEvent&> MessageCallback;

    /**
     * @brief Posts a message that starts now or later.
     *
     * The fabric must be finished (FabricHelper::Finish). A splitter divides the message among
     * several queue pairs, which are created when first needed.
     *
     * @param to the receiver
     * @param bytes payload, at least 1
     * @param delay time until it starts
     * @param stream messages of one stream share queue pairs. With traffic classes, get it from
     *        Fabric::GetStreamIn; other values, including the default, belong to the workload and
     *        its class, or, without a workload, to the first class
     * @return number of the message
     */
    uint32_t PostMessage(Ptr<RdmaNic> to,
                         uint64_t bytes,
                         Time delay = Time(0),
                         uint32_t stream = 0);
    /**
     * @brief Sets a callback for the completion of a message that this NIC sends.
     * @param message its number
     * @param callback the callback
     */
    void NotifyCompletion(uint32_t message, MessageCallback callback);
    /**
     * @brief Sets a callback for the delivery of a message that this NIC receives.
     * @param message its number
     * @param callback the callback
     */
    void NotifyDelivery(uint32_t message, MessageCallback callback);
    /**
     * @brief Makes a queue pair to another NIC, for verbs; RdmaQp::Connect connects two.
     *
     * The fabric must be finished. Throws std::invalid_argument with an explanation if the NIC
     * cannot have queue pairs, such as with a Payload outside 256 to 9,000 bytes.
     *
     * @param peer the NIC at its other end
     * @param trafficClass name of the class of the packets that it sends; empty for the first class
     * @return the queue pair
     */
    Ptr<RdmaQp> CreateQp(Ptr<RdmaNic> peer, const std::string& trafficClass = "");
    /**
     * @brief Adds a port in another plane. FabricHelper::SetPortsPerNic calls it for links that are
     * made one by one. The NIC must have a node, and its fabric must not be finished.
     * @return the port
     */
    Ptr<FabricPort> AddPort();
    /// @return number of its ports
    uint32_t GetNPorts() const;
    /**
     * @param plane a plane, from 0
     * @return its port in that plane; for plane 0 the NIC itself
     */
    Ptr<FabricPort> GetPort(uint32_t plane) const;
    /**
     * @param device a device
     * @return the NIC that has this device as a port; null if none has
     */
    static Ptr<RdmaNic> Of(Ptr<NetDevice> device);
    /// @return number of the host in its fabric
    uint32_t GetHostNumber() const;
    /// @return data packets put on the wire
    uint64_t GetDataSent() const;
    /// @return the attributes as the section [transport] of a scenario
    std::string DescribeSettings() const;
    /// @return the settings of its queue pairs, from the attributes
    FabricQpSettings DescribeQueuePairs() const;

    // For the fabric and for queue pairs; not for scripts.

    /// A function that calls a verb, with the verbs, the host and the time as arguments.
    typedef std::function<void(evenkeel::contract::Core&, uint32_t, uint64_t)> VerbCall;

    /**
     * @brief Calls a verb after which the NIC may have packets to send.
     * @param call the call; it must change nothing if it throws
     */
    void UseVerbs(const VerbCall& call);
    /// @return the verbs of its fabric; throws without a fabric
    evenkeel::contract::Core& GetVerbs() const;
    /**
     * @brief Destroys a queue pair. Its object is released after its flushed work is reported.
     * @param qp its number
     */
    void DestroyQp(uint32_t qp);
    /**
     * @brief Reports a completion to its queue pair and to trace sinks.
     * @param completion the completion
     */
    void ReportCompletion(const FabricCompletion& completion);
    /**
     * @brief Sends packets and schedules the next wake-up: at the start of the simulation, after
     * the host has handled an event, and when the NIC has detected that a port is dead or works
     * again.
     * @param nowPs the time
     */
    void FollowUp(uint64_t nowPs);
    /**
     * @brief Sets the number of the host; must be called after Join.
     * @param host the number
     */
    void SetHost(uint32_t host);
    /**
     * @brief Handles a wake-up that the host requested.
     * @param nowPs the time
     */
    void HandleWake(uint64_t nowPs);
    /// Schedules the wake-up that the host requests.
    void ScheduleWake();
    /**
     * @brief Reports an event of a message to callbacks and to trace sinks.
     * @param event the event
     */
    void ReportMessage(const FabricMessageEvent& event);

    /**
     * @brief Applies a PFC frame to one of its ports.
     * @param port the port
     * @param nowPs the time
     * @param order the order of the frame
     * @param trafficClass the class of the frame
     */
    void ApplyPfcOrderTo(FabricPort& port,
                         uint64_t nowPs,
                         FabricPfcOrder order,
                         uint32_t trafficClass);

    /**
     * @brief Sends a packet of an IP stack. Aborts with a message if the fabric is not made, or if
     * two hosts of a plane have the same address when the addresses are read.
     * @param plane the plane of the port
     * @param packet the packet, from its IP header on
     * @param protocol EtherType
     * @return false if the packet is dropped immediately, see MacTxDrop
     */
    bool SendIpBy(uint32_t plane, Ptr<Packet> packet, uint16_t protocol);
    /**
     * @brief Handles an RDMA packet that arrived.
     * @param nowPs the time
     * @param slot slot of the packet
     */
    void ReceiveRdma(uint64_t nowPs, uint32_t slot);
    /**
     * @param port one of its ports
     * @return the plane of the port
     */
    uint32_t PlaneOf(const FabricPort& port) const;

    void Settle(uint64_t nowPs) override;

  protected:
    void DoDispose() override;

  private:
    /// An IP packet that joins the queue of a port at the next event of the NIC.
    struct EnteringIp
    {
        uint32_t plane;      //!< the plane of the port
        FabricPacket packet; //!< the packet
    };

    /**
     * @brief Enqueues IP packets at their ports, or drops them.
     * @param nowPs the time
     * @param entering the packets
     */
    void Enqueue(uint64_t nowPs, const std::vector<EnteringIp>& entering);
    /**
     * @brief Starts an IP packet that has left its queue.
     * @param port the port
     * @param slot slot of the packet
     */
    void StartIp(FabricPort& port, uint32_t slot);
    /// Starts one packet when the wire of a single-port NIC is free and IP is queued: a control
    /// packet with priority, or alternately a packet of RDMA and one of IP, in each traffic class.
    void SendBesideIp();
    /**
     * @param nowPs the time
     * @return the port whose wire is free first among those with IP that may start by now; null
     *         without such a port
     */
    FabricPort* FindPortForIp(uint64_t nowPs);
    /// Schedules a wake-up now that the host did not request, because flushed work must be
    /// reported.
    void WakeHost();
    /**
     * @param port one of its ports
     * @return true if IP is queued at the port, or the host has packets
     */
    bool HasPacketsFor(const FabricPort& port) const;
    /**
     * @brief Sends every packet that is due by now, each with its own start time.
     * @param nowPs the time
     */
    void SendDue(uint64_t nowPs);
    /**
     * @brief Schedules an event for when the wire becomes free, if a packet waits for it.
     * @param nowPs the time
     */
    void ArmBusy(uint64_t nowPs);
    /**
     * @brief Schedules a wake-up, unless an earlier one is scheduled.
     * @param timePs its time
     */
    void ScheduleWakeAt(uint64_t timePs);
    /// Releases destroyed queue pairs after their flushed work is reported.
    void ReleaseDestroyed();
    /**
     * @brief Puts a packet of the NIC on the wire of one of its ports.
     * @param port the port
     * @param startPs when it starts
     * @param packet the packet
     */
    void Inject(FabricPort& port, uint64_t startPs, const FabricPacket& packet);
    /**
     * @param plane a plane
     * @return its port there
     */
    FabricPort& PortIn(uint32_t plane);
    /// @return the earliest time at which one of its wires is free
    uint64_t GetFree() const;
    /**
     * @brief Does the same as SendDue for a multi-port NIC: a packet starts on any free port.
     * @param nowPs the time
     */
    void SendDueOnPorts(uint64_t nowPs);

    /// Callbacks for an event of a message, by message.
    using MessageCallbacks = std::map<uint32_t, MessageCallback>;

    /**
     * @brief Sets a callback for an event of one message.
     * @param call name of the script's call, for messages
     * @param callbacks the callbacks for the event
     * @param message number of the message
     * @param callback the callback
     */
    static void SetCallback(const char* call,
                            MessageCallbacks& callbacks,
                            uint32_t message,
                            MessageCallback callback);

    /// Marks the NIC as handling an event; packets are polled when the event ends.
    class Handling;

    std::vector<Ptr<FabricPort>> m_further; //!< ports in planes from 1 on
    uint32_t m_host{0};                     //!< number of the host
    uint64_t m_wake{FABRIC_NEVER};          //!< time of the scheduled wake-up
    uint64_t m_dataSent{0};                 //!< data packets put on the wire
    uint32_t m_streams{0};                  //!< streams of queue pairs
    bool m_handling{false};                 //!< an event is being handled
    bool m_hasWarned{false};                //!< it warned that it has no link
    bool m_wakesHost{false};                //!< WakeHost was called since the last wake-up
    std::vector<EnteringIp> m_entering;     //!< IP packets sent since the last event
    std::map<uint32_t, Ptr<RdmaQp>> m_qps;  //!< queue pairs of scripts, by number
    std::vector<uint32_t> m_destroyed;      //!< destroyed queue pairs to release
    MessageCallbacks m_onCompletion;        //!< for completions of sent messages
    MessageCallbacks m_onDelivery;          //!< for deliveries of received messages

    TracedCallback<const FabricMessageEvent&> m_deliveredTrace; //!< a message is delivered
    TracedCallback<const FabricMessageEvent&> m_completedTrace; //!< a message completed
    TracedCallback<const FabricPacket&, Time> m_cnpTrace;       //!< a CNP arrived
    TracedCallback<const FabricCompletion&> m_completionTrace;  //!< work of a queue pair completed

    uint32_t m_ipQueueBytes{4000000}; //!< capacity of a port's IP queue, in bytes
};

/**
 * @brief Prints an event of a message on one line.
 * @param os the stream
 * @param event the event
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, const FabricMessageEvent& event);

} // namespace ns3

#endif /* RDMA_NIC_H */
