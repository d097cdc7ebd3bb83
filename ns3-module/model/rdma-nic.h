// SPDX-License-Identifier: GPL-2.0-only

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

class RdmaQp;

/**
 * @ingroup evenkeel
 * @brief evenkeel's RDMA NIC on a node: queue pairs, loss recovery, congestion control, pacing.
 *
 * Everything that the NIC decides is decided by the Rust code behind FabricCore; this class is the
 * wire. A script posts messages with PostMessage and hears of them by the trace sources
 * MessageDelivered (at the receiver) and MessageCompleted (at the sender); or it makes queue pairs
 * with CreateQp and uses verbs.
 *
 * The attributes describe it to FabricHelper::Finish; all NICs of a fabric have one setting. In a
 * fabric that was built from a scenario the scenario's values are used and the attributes are not
 * looked at.
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
     * @brief TracedCallback signature for what happened to a message.
     * @param event which message, and when
     */
    typedef void (*MessageTracedCallback)(const FabricMessageEvent& event);

    /// What hears of one message.
    typedef Callback<void, const FabricMessageEvent&> MessageCallback;

    /**
     * @brief Posts a message, from now on or from a time to come.
     *
     * The fabric must be finished (FabricHelper::Finish). With a splitter the message goes in
     * pieces on several queue pairs, which are made when they are first needed.
     *
     * @param to the receiver
     * @param bytes payload, at least 1
     * @param delay how long to wait before it starts
     * @param stream messages of one stream share queue pairs
     * @return the number of the message
     */
    uint32_t PostMessage(Ptr<RdmaNic> to,
                         uint64_t bytes,
                         Time delay = Time(0),
                         uint32_t stream = 0);
    /**
     * @brief Asks to be told when a message is complete at its sender.
     * @param message its number
     * @param callback what to call, once
     */
    void NotifyCompletion(uint32_t message, MessageCallback callback);
    /**
     * @brief Asks to be told when a message is here with every byte.
     * @param message its number
     * @param callback what to call, once
     */
    void NotifyDelivery(uint32_t message, MessageCallback callback);
    /**
     * @brief Makes a queue pair to another NIC, for verbs; RdmaQp::Connect brings two together.
     *
     * The fabric must be finished. Throws std::invalid_argument with the reason if there can be
     * none, such as for a Payload outside of 256 to 9,000 bytes.
     *
     * @param peer the NIC at its other end
     * @return the queue pair
     */
    Ptr<RdmaQp> CreateQp(Ptr<RdmaNic> peer);
    /// @return a message stream that no other message or queue pair of this NIC uses
    uint32_t TakeStream();
    /// @return number of the host in its fabric
    uint32_t GetHostNumber() const;
    /// @return data packets put on the wire
    uint64_t GetDataSent() const;
    /// @return the section [transport] of a scenario, as the attributes have it
    std::string DescribeSettings() const;
    /// @return what its queue pairs are set to, as the attributes have it
    FabricQpSettings DescribeQueuePairs() const;

    // What a fabric and its queue pairs do with it; not for scripts.

    /// What uses verbs: with those of the core, the number of the host and the time.
    typedef std::function<void(FabricVerbs&, uint32_t, uint64_t)> VerbCall;

    /**
     * @brief Uses a verb that may give the NIC packets to send.
     * @param call what to do; it may throw, and has changed nothing then
     */
    void UseVerbs(const VerbCall& call);
    /// @return the verbs of its fabric's core; throws if there are none
    FabricVerbs& GetVerbs() const;
    /**
     * @brief Ends a queue pair, which stays until it has been told what was flushed.
     * @param qp its number
     */
    void DestroyQp(uint32_t qp);
    /**
     * @brief Work of a queue pair completed.
     * @param completion which
     */
    void ReportCompletion(const FabricCompletion& completion);
    /**
     * @brief Time begins: what was posted before starts now.
     * @param nowPs the time
     */
    void Begin(uint64_t nowPs);

    /**
     * @brief Becomes a host of its fabric; after Join.
     * @param host which
     */
    void SetHost(uint32_t host);
    /**
     * @brief It asked to be woken.
     * @param nowPs the time
     */
    void HandleWake(uint64_t nowPs);
    /// Sees to it that an event comes when it is to be woken.
    void KeepWake();
    /**
     * @brief Tells listeners of a message.
     * @param event what happened
     */
    void ReportMessage(const FabricMessageEvent& event);

    void Settle(uint64_t nowPs) override;
    void Receive(uint64_t nowPs, uint32_t place) override;
    void Obey(uint64_t nowPs, FabricPfc::Order order) override;
    void HandleStart(uint64_t nowPs) override;

  protected:
    void DoDispose() override;

  private:
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
     * @brief Sends what the NIC would have sent by now, each packet at the moment it could go.
     * @param nowPs the time
     */
    void Pump(uint64_t nowPs);
    /**
     * @brief The same while the port is paused: only answers go, if they have priority.
     * @param nowPs the time
     */
    void PumpControl(uint64_t nowPs);
    /**
     * @brief After something went into the host: its wire and its next wake-up.
     * @param nowPs the time
     */
    void FollowUp(uint64_t nowPs);
    /**
     * @brief Makes sure that an event comes when the wire is free, if it is to be used then.
     * @param nowPs the time
     */
    void ArmBusy(uint64_t nowPs);
    /**
     * @brief Makes sure that the host is woken at that time or before.
     * @param timePs the time
     */
    void WakeAt(uint64_t timePs);
    /// Lets go of queue pairs that are destroyed, once they have been told everything.
    void ReleaseEnded();
    /**
     * @brief Puts a packet of the NIC on its wire.
     * @param startPs when it starts
     * @param packet the packet
     */
    void Inject(uint64_t startPs, const FabricPacket& packet);

    /// What goes on at this NIC, and asks it for packets when it is over.
    class Handling;

    uint32_t m_host{0};             //!< which host
    uint64_t m_wake{FABRIC_NEVER};  //!< when its pending wake-up is due
    uint64_t m_dataSent{0};         //!< data packets put on the wire
    uint32_t m_streams{0};          //!< streams taken
    bool m_handling{false};         //!< an event is at work here
    std::map<uint32_t, Ptr<RdmaQp>> m_qps; //!< queue pairs of scripts, by number
    std::vector<uint32_t> m_ended;  //!< those that are destroyed, until their work is flushed
    /// Who waits for messages of this sender to be complete.
    std::map<uint32_t, MessageCallback> m_onCompletion;
    /// Who waits for messages to this receiver.
    std::map<uint32_t, MessageCallback> m_onDelivery;

    TracedCallback<const FabricMessageEvent&> m_deliveredTrace; //!< a message is here
    TracedCallback<const FabricMessageEvent&> m_completedTrace; //!< a message is there and acknowledged
    TracedCallback<const FabricPacket&, Time> m_cnpTrace; //!< a CNP is here
    TracedCallback<const FabricCompletion&> m_completionTrace; //!< work of a queue pair completed

    uint32_t m_payload{4096};          //!< bytes of a full packet's payload
    uint32_t m_header{62};             //!< bytes around it
    uint32_t m_ackBytes{64};           //!< bytes of an acknowledgement
    uint32_t m_ackEvery{1};            //!< packets an acknowledgement
    bool m_ackPriority{true};          //!< acknowledgements go before data
    Time m_retransmitTimeout;          //!< retransmission timer
    uint32_t m_sendQueue{1024};        //!< work requests of a queue pair
    uint32_t m_receiveQueue{1024};     //!< receives of a queue pair
    Time m_rnrTimer;                   //!< how long a sender waits for a receive
    uint32_t m_rnrRetries{FABRIC_WITHOUT_LIMIT}; //!< how often in a row
    uint32_t m_retries{FABRIC_WITHOUT_LIMIT};    //!< timeouts in a row until work fails
    std::string m_congestionControl;   //!< name
    std::string m_recovery;            //!< name
};

/**
 * @brief Prints what happened to a message on one line.
 * @param os the stream
 * @param event what happened
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, const FabricMessageEvent& event);

} // namespace ns3

#endif /* RDMA_NIC_H */
