// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef RDMA_NIC_H
#define RDMA_NIC_H

#include "fabric-port.h"
#include "fabric-verbs.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3
{

class RdmaNicPort;
class RdmaQp;

/**
 * @ingroup evenkeel
 * @brief An RDMA NIC on a node, with queue pairs, loss recovery, congestion control and pacing.
 *
 * FabricHosts makes every decision of the NIC; this class sends and receives its packets. A script
 * posts messages with PostMessage and observes them with the trace sources MessageDelivered (at the
 * receiver) and MessageCompleted (at the sender); or it makes queue pairs with CreateQp and uses
 * verbs.
 *
 * It is a device for ns-3's IP stack too: its packets share ports and wires with RDMA, see
 * FabricIp.
 *
 * The NIC is the device of its first port. It may have further ones (AddPort), each a device of the
 * same node in a plane of its own: a queue pair uses all of them at once.
 *
 * FabricHelper::Finish reads the attributes. NICs may differ in them; those that send to each other
 * must have the same Payload, Header, Recovery and order of delivery, which are properties of the
 * queue pairs between them. Congestion control and retransmission timer are those of the sender,
 * acknowledgements those of the receiver. A fabric that is made from a scenario ignores the
 * attributes and uses the values of the scenario.
 */
class RdmaNic : public FabricPort
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
     * several queue pairs, which are created when they are first needed.
     *
     * @param to the receiver
     * @param bytes payload, at least 1
     * @param delay time until it starts
     * @param stream messages of one stream share queue pairs; with traffic classes take it from
     *        Fabric::GetStreamIn. Lower ones, the default among them, are those of the workload and
     *        of its class; without a workload, of the first class
     * @return number of the message
     */
    uint32_t PostMessage(Ptr<RdmaNic> to,
                         uint64_t bytes,
                         Time delay = Time(0),
                         uint32_t stream = 0);
    /**
     * @brief Sets a callback for the completion of a message of this sender.
     * @param message its number
     * @param callback the callback
     */
    void NotifyCompletion(uint32_t message, MessageCallback callback);
    /**
     * @brief Sets a callback for the delivery of a message to this receiver.
     * @param message its number
     * @param callback the callback
     */
    void NotifyDelivery(uint32_t message, MessageCallback callback);
    /**
     * @brief Makes a queue pair to another NIC, for verbs; RdmaQp::Connect connects two.
     *
     * The fabric must be finished. Throws std::invalid_argument with the reason if the NIC cannot
     * have queue pairs, such as with a Payload outside of 256 to 9,000 bytes.
     *
     * @param peer the NIC at its other end
     * @param trafficClass name of the class of what it sends; empty for the first one
     * @return the queue pair
     */
    Ptr<RdmaQp> CreateQp(Ptr<RdmaNic> peer, const std::string& trafficClass = "");
    /**
     * @brief Takes a message stream. Ends the program with the reason if there is no such class, or
     * if, with classes, the NIC has taken 2^23 streams.
     * @param trafficClass number of a traffic class; 0 without classes
     * @return a message stream of the class that no other message or queue pair of this NIC uses
     */
    uint32_t TakeStream(uint32_t trafficClass = 0);
    /**
     * @brief Adds a port in a further plane; FabricHelper::SetPortsPerNic does it for links that
     * are made one by one. The NIC must have a node, and its fabric must not be finished.
     * @return the port
     */
    Ptr<FabricPort> AddPort();
    /// @return number of its ports
    uint32_t GetNPorts() const;
    /**
     * @param plane a plane, from 0
     * @return its port there; in plane 0 the NIC itself
     */
    Ptr<FabricPort> GetPort(uint32_t plane) const;
    /**
     * @param device a device
     * @return the NIC whose port it is; null if it is none
     */
    static Ptr<RdmaNic> Of(Ptr<NetDevice> device);
    /// @return number of the host in its fabric
    uint32_t GetHostNumber() const;
    /// @return data packets put on the wire
    uint64_t GetDataSent() const;
    /// @return the section [transport] of a scenario, from the attributes
    std::string DescribeSettings() const;
    /// @return the settings of its queue pairs, from the attributes
    FabricQpSettings DescribeQueuePairs() const;

    /// @return all that the fabric reads from the attributes, as text
    std::string DescribeAttributes() const;

    // For the fabric and for queue pairs; not for scripts.

    /// A function that calls a verb; its arguments are the verbs, the host and the time.
    typedef std::function<void(FabricVerbs&, uint32_t, uint64_t)> VerbCall;

    /**
     * @brief Calls a verb after which the NIC may have packets to send.
     * @param call the call; if it throws, it has changed nothing
     */
    void UseVerbs(const VerbCall& call);
    /// @return the verbs of its fabric; throws if there are none
    FabricVerbs& GetVerbs() const;
    /**
     * @brief Destroys a queue pair; its object is released after its flushed work is reported.
     * @param qp its number
     */
    void DestroyQp(uint32_t qp);
    /**
     * @brief Reports a completion to its queue pair and to trace sinks.
     * @param completion the completion
     */
    void ReportCompletion(const FabricCompletion& completion);
    /**
     * @brief Starts the messages and the work that were posted before the simulation.
     * @param nowPs the time
     */
    void Begin(uint64_t nowPs);

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
     * @brief Applies a frame of priority flow control (PFC) to one of its ports.
     * @param port the port
     * @param nowPs the time
     * @param order the order of the frame
     * @param trafficClass the class of the frame
     */
    void ApplyPfcOrderTo(FabricPort& port,
                         uint64_t nowPs,
                         FabricPfc::Order order,
                         uint32_t trafficClass);
    /**
     * @brief Sends what can be sent after the NIC has learnt that a port of its is dead, or works
     * again.
     * @param nowPs the time
     */
    void HandlePortStatus(uint64_t nowPs);

    /**
     * @brief Sends a packet of an IP stack; ends the program with the reason if the fabric is not
     * made, or if two hosts of a plane have the same address when the addresses are read.
     * @param plane the plane of the port
     * @param packet the packet, from its IP header on
     * @param protocol EtherType
     * @return false if the packet is dropped at once, see MacTxDrop
     */
    bool SendIpBy(uint32_t plane, Ptr<Packet> packet, uint16_t protocol);
    /**
     * @brief Handles a packet of RDMA that arrived.
     * @param nowPs the time
     * @param slot slot of the packet
     */
    void ReceiveRdma(uint64_t nowPs, uint32_t slot);
    /**
     * @param port one of its ports
     * @return the plane of the port
     */
    uint32_t PlaneOf(const FabricPort& port) const;

    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    void Settle(uint64_t nowPs) override;
    void Receive(uint64_t nowPs, uint32_t slot) override;
    void ApplyPfcOrder(uint64_t nowPs, FabricPfc::Order order, uint32_t trafficClass) override;
    void HandleStart(uint64_t nowPs) override;

  protected:
    void DoDispose() override;

  private:
    /// An IP packet that joins the queue of a port at the next event of the NIC.
    struct EnteringIp
    {
        uint32_t plane;      //!< the plane of the port
        FabricPacket packet; //!< the packet
    };

    /// Ends the program with the reason if the fabric has been made, which read the attributes.
    void HandleAttribute();
    /**
     * @brief Puts IP packets that were sent into the queues of their ports, or drops them.
     * @param nowPs the time
     * @param entering the packets
     */
    void Enqueue(uint64_t nowPs, const std::vector<EnteringIp>& entering);
    /**
     * @brief Starts the first IP packet that waits at a port, when the wire is free.
     * @param port the port
     */
    void SendIp(FabricPort& port);
    /**
     * @brief Starts an IP packet that has left its queue.
     * @param port the port
     * @param slot slot of the packet
     */
    void StartIp(FabricPort& port, uint32_t slot);
    /// Starts one packet when the wire is free, while IP waits and the NIC has one port: an
    /// acknowledgement with priority, or in turn a packet of RDMA and one of IP.
    void SendBesideIp();
    /// Does the same with traffic classes, of which each has both.
    void SendBesideIpByClass();
    /**
     * @param nowPs the time
     * @return the port whose wire is free first among those with IP that may start by now; null if
     *         there is none
     */
    FabricPort* FindPortForIp(uint64_t nowPs);
    /**
     * @param nowPs the time
     * @return true if the host requested a wake-up by now, or the end of work is to be reported;
     *         false if the NIC is awake only because IP packets were sent
     */
    bool IsHostDue(uint64_t nowPs) const;
    /// Schedules a wake-up now that calls the host although it did not request one: the end of its
    /// work is to be reported.
    void WakeHost();
    /**
     * @param port one of its ports
     * @return true if IP waits at the port, or the host has packets
     */
    bool HasPacketsFor(const FabricPort& port) const;
    /**
     * @brief Posts a message; ends the program with the reason if it cannot be sent.
     * @param to number of the receiving host
     * @param bytes payload
     * @param startPs when it starts
     * @param stream messages of one stream share queue pairs
     * @return number of the message
     */
    uint32_t Post(uint32_t to, uint64_t bytes, uint64_t startPs, uint32_t stream);
    /**
     * @param tid the type
     * @return the same with the attributes of packets and the transport
     */
    static TypeId AddTransportAttributes(TypeId tid);
    /**
     * @param tid the type
     * @return the same with the attributes of queue pairs
     */
    static TypeId AddQueuePairAttributes(TypeId tid);
    /**
     * @param tid the type
     * @return the same with the trace sources
     */
    static TypeId AddTraceSources(TypeId tid);
    /**
     * @brief Sends every packet that the NIC could have sent by now, each with its own start time.
     * @param nowPs the time
     */
    void SendDue(uint64_t nowPs);
    /**
     * @brief Does the same while the port is paused: only control packets with priority are sent.
     * @param nowPs the time
     */
    void SendDueControl(uint64_t nowPs);
    /**
     * @brief Sends packets and schedules the next wake-up, after the host handled an event.
     * @param nowPs the time
     */
    void FollowUp(uint64_t nowPs);
    /**
     * @brief Schedules an event for when the wire is free, if a packet waits for the wire.
     * @param nowPs the time
     */
    void ArmBusy(uint64_t nowPs);
    /**
     * @brief Schedules a wake-up at a time, unless an earlier one is scheduled.
     * @param timePs the time
     */
    void ScheduleWakeAt(uint64_t timePs);
    /// Releases destroyed queue pairs after their flushed work is reported.
    void ReleaseDestroyed();
    /**
     * @brief Puts a packet of the NIC on its wire.
     * @param startPs when it starts
     * @param packet the packet
     */
    void Inject(uint64_t startPs, const FabricPacket& packet);
    /**
     * @brief Puts a packet of the NIC on the wire of one of its ports.
     * @param port the port
     * @param startPs when it starts
     * @param packet the packet
     */
    void InjectInto(FabricPort& port, uint64_t startPs, const FabricPacket& packet);
    /**
     * @param plane a plane
     * @return its port there
     */
    FabricPort& PortIn(uint32_t plane);
    /// @return when the first of its wires is free
    uint64_t GetFree() const;
    /**
     * @brief Does the same as SendDue with several ports: a packet starts on any that is free.
     * @param nowPs the time
     */
    void SendDueOnPorts(uint64_t nowPs);
    /**
     * @brief Schedules the next event of each of several ports.
     * @param nowPs the time
     */
    void ArmPorts(uint64_t nowPs);

    /// Marks that the NIC handles an event, at whose end it polls packets.
    class Handling;

    std::vector<Ptr<RdmaNicPort>> m_further; //!< ports in planes from 1 on
    uint32_t m_host{0};                      //!< number of the host
    uint64_t m_wake{FABRIC_NEVER};           //!< time of the scheduled wake-up
    uint64_t m_dataSent{0};                  //!< data packets put on the wire
    uint32_t m_streams{0};                   //!< streams of queue pairs and connections so far
    bool m_handling{false};                  //!< an event is being handled
    bool m_wakesHost{false};                 //!< WakeHost was called since the last wake-up
    std::vector<EnteringIp> m_entering;      //!< IP packets that were sent since the last event
    std::map<uint32_t, Ptr<RdmaQp>> m_qps;   //!< queue pairs of scripts, by number
    std::vector<uint32_t> m_destroyed;       //!< destroyed queue pairs to release
    /// Callbacks for the completion of messages of this sender, by message.
    std::map<uint32_t, MessageCallback> m_onCompletion;
    /// Callbacks for the delivery of messages to this receiver, by message.
    std::map<uint32_t, MessageCallback> m_onDelivery;

    TracedCallback<const FabricMessageEvent&> m_deliveredTrace; //!< a message is delivered
    TracedCallback<const FabricMessageEvent&> m_completedTrace; //!< a message completed
    TracedCallback<const FabricPacket&, Time> m_cnpTrace;       //!< a CNP arrived
    TracedCallback<const FabricCompletion&> m_completionTrace;  //!< work of a queue pair completed

    uint32_t m_ipQueueBytes{4000000};            //!< IP that waits at a port, at most, in bytes
    uint32_t m_payload{4096};                    //!< payload of a full packet, in bytes
    uint32_t m_header{62};                       //!< headers of a data packet, in bytes
    uint32_t m_ackBytes{64};                     //!< length of an acknowledgement
    uint32_t m_ackEvery{1};                      //!< data packets per acknowledgement
    bool m_ackPriority{true};                    //!< acknowledgements are sent before data
    Time m_retransmitTimeout;                    //!< retransmission timer
    uint32_t m_sendQueue{1024};                  //!< depth of send queues
    uint32_t m_receiveQueue{1024};               //!< depth of receive queues
    Time m_rnrTimer;                             //!< time that a sender waits after an RNR NAK
    uint32_t m_rnrRetries{FABRIC_WITHOUT_LIMIT}; //!< retries after RNR NAKs
    uint32_t m_retries{FABRIC_WITHOUT_LIMIT};    //!< retries after timeouts
    std::string m_congestionControl;             //!< name
    std::string m_recovery;                      //!< name
    std::string m_parameters;                    //!< further keys of [transport]
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
