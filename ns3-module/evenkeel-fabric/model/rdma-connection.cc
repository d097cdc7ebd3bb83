// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "rdma-connection.h"

#include "fabric.h"
#include "ns3/refuse.h"

#include "ns3/log.h"
#include "ns3/string.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaConnection");

NS_OBJECT_ENSURE_REGISTERED(RdmaConnection);

TypeId
RdmaConnection::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaConnection")
            .SetParent<Object>()
            .SetGroupName("Evenkeel")
            .AddConstructor<RdmaConnection>()
            .AddAttribute("Class",
                          "The name of the traffic class of its messages, read by Connect; empty "
                          "for the first one.",
                          StringValue(""),
                          MakeStringAccessor(&RdmaConnection::m_class),
                          MakeStringChecker())
            .AddTraceSource("Delivered",
                            "A message is delivered: the receiver has received every byte.",
                            MakeTraceSourceAccessor(&RdmaConnection::m_deliveredTrace),
                            "ns3::RdmaNic::MessageTracedCallback")
            .AddTraceSource("Completed",
                            "A message completed: the sender received the last acknowledgement.",
                            MakeTraceSourceAccessor(&RdmaConnection::m_completedTrace),
                            "ns3::RdmaNic::MessageTracedCallback");
    return tid;
}

RdmaConnection::RdmaConnection()
{
    NS_LOG_FUNCTION(this);
}

RdmaConnection::~RdmaConnection()
{
    NS_LOG_FUNCTION(this);
}

void
RdmaConnection::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_from = nullptr;
    m_to = nullptr;
    m_delivered = RdmaNic::MessageCallback();
    m_completed = RdmaNic::MessageCallback();
    Object::DoDispose();
}

void
RdmaConnection::Connect(Ptr<RdmaNic> from, Ptr<RdmaNic> to)
{
    NS_LOG_FUNCTION(this << from << to);
    EVENKEEL_REFUSE_IF(m_from,
                       "RdmaConnection::Connect",
                       "it is connected already: make another RdmaConnection");
    EVENKEEL_REFUSE_IF(!from || !to,
                       "RdmaConnection::Connect",
                       "a NIC is null: pass an RdmaNic for both ends");
    const Fabric* fabric = from->GetFabric();
    EVENKEEL_REFUSE_IF(!fabric && !m_class.empty(),
                       "RdmaConnection::Connect",
                       "the traffic classes are not known yet: call FabricHelper::Finish first");
    const std::optional<uint32_t> trafficClass =
        fabric ? FabricClass::Find(fabric->GetClasses(), m_class) : 0;
    EVENKEEL_REFUSE_IF(!trafficClass,
                       "RdmaConnection::Connect",
                       FabricClass::Explain(fabric->GetClasses(), m_class));
    m_from = from;
    m_to = to;
    m_stream = from->TakeStream(*trafficClass);
}

uint32_t
RdmaConnection::Send(uint64_t bytes)
{
    NS_LOG_FUNCTION(this << bytes);
    EVENKEEL_REFUSE_IF(!m_from,
                       "RdmaConnection::Send",
                       "it is not connected: call RdmaConnection::Connect first");
    const uint32_t message = m_from->PostMessage(m_to, bytes, Time(0), m_stream);
    // The NICs keep the connection alive until they report the message; the script may drop it.
    const Ptr<RdmaConnection> kept(this);
    m_to->NotifyDelivery(message, MakeCallback(&RdmaConnection::HandleDelivery, kept));
    m_from->NotifyCompletion(message, MakeCallback(&RdmaConnection::HandleCompletion, kept));
    ++m_outstanding;
    return message;
}

void
RdmaConnection::SetDeliveryCallback(RdmaNic::MessageCallback callback)
{
    m_delivered = callback;
}

void
RdmaConnection::SetCompletionCallback(RdmaNic::MessageCallback callback)
{
    m_completed = callback;
}

uint32_t
RdmaConnection::GetOutstanding() const
{
    return m_outstanding;
}

uint32_t
RdmaConnection::GetStream() const
{
    return m_stream;
}

void
RdmaConnection::HandleDelivery(const FabricMessageEvent& event)
{
    m_deliveredTrace(event);
    if (!m_delivered.IsNull())
    {
        m_delivered(event);
    }
}

void
RdmaConnection::HandleCompletion(const FabricMessageEvent& event)
{
    --m_outstanding;
    m_completedTrace(event);
    if (!m_completed.IsNull())
    {
        m_completed(event);
    }
}

} // namespace ns3
