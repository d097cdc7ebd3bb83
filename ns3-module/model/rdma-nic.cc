// SPDX-License-Identifier: GPL-2.0-only

#include "rdma-nic.h"

#include "fabric.h"
#include "rdma-qp.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaNic");

NS_OBJECT_ENSURE_REGISTERED(RdmaNic);

namespace
{

/// Streams of connections come after those that workloads and scripts number themselves.
constexpr uint32_t FIRST_STREAM = 1U << 24;

} // namespace

/// While one lives, whoever made it asks for packets and the wake-up in the end.
class RdmaNic::Handling
{
  public:
    /**
     * @param nic where something goes on
     */
    explicit Handling(RdmaNic& nic)
        : m_nic(nic),
          m_before(nic.m_handling)
    {
        nic.m_handling = true;
    }

    ~Handling()
    {
        m_nic.m_handling = m_before;
    }

    Handling(const Handling&) = delete;
    Handling& operator=(const Handling&) = delete;

  private:
    RdmaNic& m_nic; //!< where something goes on
    bool m_before;  //!< whether something did already
};

TypeId
RdmaNic::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaNic")
            .SetParent<FabricPort>()
            .SetGroupName("Evenkeel")
            .AddConstructor<RdmaNic>()
            .AddAttribute("Payload",
                          "Payload of a full packet, in bytes.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RdmaNic::m_payload),
                          MakeUintegerChecker<uint32_t>(1, 65000))
            .AddAttribute("Header",
                          "Headers of a data packet with the frame check sequence, in bytes.",
                          UintegerValue(62),
                          MakeUintegerAccessor(&RdmaNic::m_header),
                          MakeUintegerChecker<uint32_t>(0, 500))
            .AddAttribute("AckBytes",
                          "An acknowledgement on the wire, in bytes.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&RdmaNic::m_ackBytes),
                          MakeUintegerChecker<uint32_t>(1, 65000))
            .AddAttribute("AckEvery",
                          "Data packets that an acknowledgement is for.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RdmaNic::m_ackEvery),
                          MakeUintegerChecker<uint32_t>(1, 32))
            .AddAttribute("AckPriority",
                          "Acknowledgements go before data on every wire.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RdmaNic::m_ackPriority),
                          MakeBooleanChecker())
            .AddAttribute("CongestionControl",
                          "line-rate, dcqcn, dcqcn-mlx, dctcp-rate, dctcp-window, nscc or swift.",
                          StringValue("dcqcn"),
                          MakeStringAccessor(&RdmaNic::m_congestionControl),
                          MakeStringChecker())
            .AddAttribute("Recovery",
                          "auto (what the policy is made for), go-back-n, sack, per-packet or "
                          "erasure.",
                          StringValue("auto"),
                          MakeStringAccessor(&RdmaNic::m_recovery),
                          MakeStringChecker())
            .AddAttribute("RetransmitTimeout",
                          "The retransmission timer.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&RdmaNic::m_retransmitTimeout),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("SendQueue",
                          "Work requests that the send queue of a queue pair holds.",
                          UintegerValue(1024),
                          MakeUintegerAccessor(&RdmaNic::m_sendQueue),
                          MakeUintegerChecker<uint32_t>(1, FABRIC_DEEPEST_QUEUE))
            .AddAttribute("ReceiveQueue",
                          "Receives that the receive queue of a queue pair holds.",
                          UintegerValue(1024),
                          MakeUintegerAccessor(&RdmaNic::m_receiveQueue),
                          MakeUintegerChecker<uint32_t>(1, FABRIC_DEEPEST_QUEUE))
            .AddAttribute("RnrTimer",
                          "How long a sender waits after a receiver without a receive (RNR NAK).",
                          TimeValue(MicroSeconds(640)),
                          MakeTimeAccessor(&RdmaNic::m_rnrTimer),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("RnrRetries",
                          "RNR NAKs in a row that work of a queue pair outlives; the largest "
                          "number is without limit.",
                          UintegerValue(FABRIC_WITHOUT_LIMIT),
                          MakeUintegerAccessor(&RdmaNic::m_rnrRetries),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Retries",
                          "Timeouts in a row that work of a queue pair outlives; the largest "
                          "number is without limit. Messages try for ever.",
                          UintegerValue(FABRIC_WITHOUT_LIMIT),
                          MakeUintegerAccessor(&RdmaNic::m_retries),
                          MakeUintegerChecker<uint32_t>())
            .AddTraceSource("Completion",
                            "Work or a receive of a queue pair of this NIC completed.",
                            MakeTraceSourceAccessor(&RdmaNic::m_completionTrace),
                            "ns3::RdmaQp::CompletionTracedCallback")
            .AddTraceSource("MessageDelivered",
                            "A message is here with every byte.",
                            MakeTraceSourceAccessor(&RdmaNic::m_deliveredTrace),
                            "ns3::RdmaNic::MessageTracedCallback")
            .AddTraceSource("MessageCompleted",
                            "A message of this sender is delivered and acknowledged.",
                            MakeTraceSourceAccessor(&RdmaNic::m_completedTrace),
                            "ns3::RdmaNic::MessageTracedCallback")
            .AddTraceSource("CnpReceived",
                            "A congestion notification is here.",
                            MakeTraceSourceAccessor(&RdmaNic::m_cnpTrace),
                            "ns3::FabricPort::PacketTracedCallback");
    return tid;
}

RdmaNic::RdmaNic()
{
    NS_LOG_FUNCTION(this);
}

RdmaNic::~RdmaNic()
{
    NS_LOG_FUNCTION(this);
}

void
RdmaNic::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_onCompletion.clear();
    m_onDelivery.clear();
    for (const auto& each : m_qps)
    {
        each.second->Dispose();
    }
    m_qps.clear();
    FabricPort::DoDispose();
}

uint32_t
RdmaNic::PostMessage(Ptr<RdmaNic> to, uint64_t bytes, Time delay, uint32_t stream)
{
    NS_LOG_FUNCTION(this << to << bytes << delay << stream);
    NS_ABORT_MSG_IF(!m_fabric || !to || to->m_fabric != m_fabric,
                    "a message goes between two NICs of one fabric that is finished: call "
                    "FabricHelper::Finish first");
    NS_ABORT_MSG_IF(to == this, "a message does not leave its host");
    NS_ABORT_MSG_IF(bytes == 0, "a message has at least one byte");
    const uint64_t now = m_fabric->GetCalendar().Now();
    const uint64_t start = now + static_cast<uint64_t>(delay.GetPicoSeconds());
    const uint32_t message = m_fabric->GetCore().Post(m_host, to->m_host, bytes, start, stream);
    m_fabric->Reopen();
    KeepWake();
    return message;
}

void
RdmaNic::NotifyCompletion(uint32_t message, MessageCallback callback)
{
    NS_LOG_FUNCTION(this << message);
    m_onCompletion[message] = callback;
}

void
RdmaNic::NotifyDelivery(uint32_t message, MessageCallback callback)
{
    NS_LOG_FUNCTION(this << message);
    m_onDelivery[message] = callback;
}

Ptr<RdmaQp>
RdmaNic::CreateQp(Ptr<RdmaNic> peer)
{
    NS_LOG_FUNCTION(this << peer);
    if (!peer || peer->m_fabric != m_fabric)
    {
        throw std::invalid_argument("a queue pair goes to another NIC of one fabric that is "
                                    "finished: call FabricHelper::Finish first");
    }
    const uint32_t number = GetVerbs().CreateQp(m_host, peer->m_host, TakeStream());
    Ptr<RdmaQp> qp = CreateObject<RdmaQp>();
    qp->Attach(this, peer, number);
    m_qps[number] = qp;
    return qp;
}

FabricVerbs&
RdmaNic::GetVerbs() const
{
    FabricVerbs* verbs = m_fabric ? m_fabric->GetVerbs() : nullptr;
    if (!verbs)
    {
        throw std::invalid_argument(
            m_fabric ? "the core of this fabric has no verbs: it is not evenkeel's"
                     : "a NIC has verbs once its fabric is finished: call FabricHelper::Finish");
    }
    return *verbs;
}

void
RdmaNic::UseVerbs(const VerbCall& call)
{
    FabricVerbs& verbs = GetVerbs();
    const uint64_t now = m_fabric->GetCalendar().Now();
    const bool idle = m_fabric->HasStarted() && !m_handling;
    if (idle)
    {
        // What went by now went before this.
        Settle(now);
    }
    const bool wasOpen = !m_fabric->GetCore().IsFinished();
    call(verbs, m_host, now);
    const bool isOpen = !m_fabric->GetCore().IsFinished();
    if (isOpen)
    {
        m_fabric->Reopen();
    }
    if (idle)
    {
        FollowUp(now);
    }
    if (wasOpen && !isOpen)
    {
        // Nothing else may come that would tell the fabric.
        WakeAt(now);
    }
}

void
RdmaNic::DestroyQp(uint32_t qp)
{
    NS_LOG_FUNCTION(this << qp);
    UseVerbs([qp](FabricVerbs& verbs, uint32_t host, uint64_t nowPs) {
        verbs.DestroyQp(host, qp, nowPs);
    });
    // It hears yet of what was flushed; within an event of this NIC no other may be left to come.
    m_ended.push_back(qp);
    WakeAt(m_fabric->GetCalendar().Now());
}

void
RdmaNic::ReleaseEnded()
{
    // What goes with them may end more, which wait for the next wake-up.
    std::vector<uint32_t> ended;
    ended.swap(m_ended);
    for (const uint32_t number : ended)
    {
        const auto found = m_qps.find(number);
        if (found != m_qps.end())
        {
            const Ptr<RdmaQp> qp = found->second;
            m_qps.erase(found);
            qp->End();
        }
    }
}

void
RdmaNic::TellCompletion(const FabricCompletion& completion)
{
    m_completionTrace(completion);
    const auto found = m_qps.find(completion.qp);
    if (found != m_qps.end())
    {
        // It may be destroyed by what it calls.
        const Ptr<RdmaQp> qp = found->second;
        qp->TellCompletion(completion);
    }
}

void
RdmaNic::Begin(uint64_t nowPs)
{
    FollowUp(nowPs);
}

uint32_t
RdmaNic::TakeStream()
{
    // Stream 0 is what PostMessage takes by itself.
    return FIRST_STREAM + m_streams++;
}

uint32_t
RdmaNic::GetHostNumber() const
{
    return m_host;
}

uint64_t
RdmaNic::GetDataSent() const
{
    return m_dataSent;
}

std::string
RdmaNic::DescribeSettings() const
{
    std::ostringstream text;
    text << "[transport]\n";
    text << "payload = \"" << m_payload << "B\"\n";
    text << "header = \"" << m_header << "B\"\n";
    text << "ack = \"" << m_ackBytes << "B\"\n";
    text << "ack_every = " << m_ackEvery << "\n";
    text << "ack_priority = " << (m_ackPriority ? "true" : "false") << "\n";
    text << "congestion_control = \"" << m_congestionControl << "\"\n";
    text << "recovery = \"" << m_recovery << "\"\n";
    text << "retransmit_timeout = \"" << m_retransmitTimeout.GetNanoSeconds() << "ns\"\n";
    return text.str();
}

FabricQpSettings
RdmaNic::DescribeQueuePairs() const
{
    FabricQpSettings settings;
    settings.sendQueue = m_sendQueue;
    settings.receiveQueue = m_receiveQueue;
    settings.rnrTimerPs = static_cast<uint64_t>(m_rnrTimer.GetPicoSeconds());
    settings.rnrRetries = m_rnrRetries;
    settings.retries = m_retries;
    return settings;
}

void
RdmaNic::SetHost(uint32_t host)
{
    m_host = host;
}

void
RdmaNic::Settle(uint64_t nowPs)
{
    Pump(nowPs);
    KeepWake();
}

void
RdmaNic::Receive(uint64_t nowPs, uint32_t place)
{
    const Handling handling(*this);
    const FabricPacket packet = m_pool->Remove(place);
    Pump(nowPs);
    if (packet.kind == FabricPacketKind::CNP && !m_cnpTrace.IsEmpty())
    {
        m_cnpTrace(packet, PicoSeconds(nowPs));
    }
    if (m_fabric->GetCore().HandlePacket(m_host, nowPs, packet))
    {
        m_fabric->TakeNews(nowPs);
    }
    FollowUp(nowPs);
}

void
RdmaNic::Obey(uint64_t nowPs, FabricPfc::Order order)
{
    // What went by now went by the old order.
    const Handling handling(*this);
    Pump(nowPs);
    m_fabric->RecordPause(nowPs, m_id, order);
    TracePause(order);
    m_paused = order == FabricPfc::PAUSE;
    FollowUp(nowPs);
    Pump(nowPs);
}

void
RdmaNic::HandleStart(uint64_t nowPs)
{
    m_startArmed = false;
    Settle(nowPs);
}

void
RdmaNic::HandleWake(uint64_t nowPs)
{
    if (m_wake != nowPs)
    {
        return;
    }
    m_wake = FABRIC_NEVER;
    const Handling handling(*this);
    Pump(nowPs);
    if (m_fabric->GetCore().HandleTimeout(m_host, nowPs))
    {
        m_fabric->TakeNews(nowPs);
    }
    // Nothing is left to be told.
    ReleaseEnded();
    FollowUp(nowPs);
}

void
RdmaNic::Pump(uint64_t nowPs)
{
    const Handling handling(*this);
    if (m_paused)
    {
        PumpControl(nowPs);
        return;
    }
    FabricPacket packet;
    while (m_free <= nowPs)
    {
        uint64_t start = m_free;
        if (!m_fabric->GetCore().PollTransmit(m_host, nowPs, start, packet))
        {
            m_free = start;
            break;
        }
        Inject(start, packet);
    }
    // With the wire free, what is left waits for its rate: the host's own event will come.
    ArmBusy(nowPs);
}

void
RdmaNic::PumpControl(uint64_t nowPs)
{
    FabricPacket packet;
    while (m_fabric->GetSettings().ackPriority && m_free <= nowPs &&
           m_fabric->GetCore().PollTransmitControl(m_host, packet))
    {
        Inject(m_free, packet);
    }
    // Data that its rate let go meanwhile goes when the port may go on, not before.
    m_free = std::max(m_free, nowPs);
    ArmBusy(nowPs);
}

void
RdmaNic::FollowUp(uint64_t nowPs)
{
    if (m_free <= nowPs)
    {
        // Until now there was nothing to send.
        m_free = nowPs;
        Pump(nowPs);
    }
    else if (!m_armed)
    {
        // In the gap behind a packet that has arrived no arrival is left to wake the host.
        ArmFor(m_wire.IsEmpty() && m_fabric->GetCore().HasPackets(m_host));
    }
    KeepWake();
}

void
RdmaNic::ArmBusy(uint64_t nowPs)
{
    if (m_punctual && m_free > nowPs)
    {
        ArmStart();
    }
    if (!m_armed)
    {
        const bool busy = m_wire.IsEmpty() && m_free > nowPs;
        ArmFor(busy && m_fabric->GetCore().HasPackets(m_host));
    }
}

void
RdmaNic::KeepWake()
{
    const uint64_t now = m_fabric->GetCalendar().Now();
    const uint64_t next = m_fabric->GetCore().NextWake(m_host, now, m_free);
    if (next == FABRIC_NEVER)
    {
        return;
    }
    // A timer shorter than a packet can run out before anybody looks; it is late, not lost.
    WakeAt(std::max(next, now));
}

void
RdmaNic::WakeAt(uint64_t timePs)
{
    if (timePs < m_wake)
    {
        m_wake = timePs;
        m_fabric->GetCalendar().Push(timePs, FabricCalendar::HOST, m_host);
    }
}

void
RdmaNic::Inject(uint64_t startPs, const FabricPacket& packet)
{
    m_dataSent += packet.IsControl() ? 0 : 1;
    m_fabric->NoteSent(packet);
    Transmit(m_pool->Insert(packet), startPs);
}

void
RdmaNic::TellNews(const FabricNews& news)
{
    const bool delivered = news.kind == FabricNews::DELIVERED;
    (delivered ? m_deliveredTrace : m_completedTrace)(news);
    auto& waiting = delivered ? m_onDelivery : m_onCompletion;
    const auto found = waiting.find(news.message);
    if (found != waiting.end())
    {
        // It may ask for more.
        const MessageCallback callback = found->second;
        waiting.erase(found);
        callback(news);
    }
}

std::ostream&
operator<<(std::ostream& os, const FabricNews& news)
{
    return os << "message " << news.message << " " << news.src << ">" << news.dst << " "
              << news.bytes << "B "
              << (news.kind == FabricNews::DELIVERED ? "delivered" : "complete") << " after "
              << (news.atPs - news.startPs) / 1000 << " ns";
}

} // namespace ns3
