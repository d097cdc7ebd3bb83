// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "rdma-qp.h"

#include "fabric-bridge.h"
#include "rdma-nic.h"

#include "ns3/log.h"

#include <sstream>
#include <stdexcept>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaQp");

NS_OBJECT_ENSURE_REGISTERED(RdmaQp);

TypeId
RdmaQp::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RdmaQp")
                            .SetParent<Object>()
                            .SetGroupName("Evenkeel")
                            .AddConstructor<RdmaQp>()
                            .AddTraceSource("Completion",
                                            "A work request or a receive completed.",
                                            MakeTraceSourceAccessor(&RdmaQp::m_completionTrace),
                                            "ns3::RdmaQp::CompletionTracedCallback");
    return tid;
}

RdmaQp::RdmaQp() = default;
RdmaQp::~RdmaQp() = default;

void
RdmaQp::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_nic = nullptr;
    m_peer = nullptr;
    m_callback = CompletionCallback();
    m_completions.clear();
    Object::DoDispose();
}

void
RdmaQp::Connect(Ptr<RdmaQp> a, Ptr<RdmaQp> b)
{
    NS_LOG_FUNCTION(a << b);
    if (!a || !b)
    {
        throw std::invalid_argument("a queue pair to connect is null");
    }
    if (a->m_peer != b->m_nic || b->m_peer != a->m_nic)
    {
        throw std::invalid_argument("the queue pairs to connect are not peers: the peer of each "
                                    "must be the NIC of the other");
    }
    // Check both before changing either.
    for (const auto& qp : {a, b})
    {
        const FabricQpState state = qp->GetState();
        if (state != FabricQpState::RESET)
        {
            std::ostringstream reason;
            reason << "queue pair " << qp->m_number << " of host " << qp->m_nic->GetHostNumber()
                   << " is in state " << state << "; it must be in state " << FabricQpState::RESET
                   << " to be connected: call SetState first";
            throw std::invalid_argument(reason.str());
        }
    }
    bridge::CallVerb([&] {
        evenkeel::contract::Core& verbs = a->NicOrThrow().GetVerbs();
        verbs.set_peer_qp(a->m_nic->GetHostNumber(), a->m_number, b->m_number);
        verbs.set_peer_qp(b->m_nic->GetHostNumber(), b->m_number, a->m_number);
    });
    for (const FabricQpState state : {FabricQpState::INIT, FabricQpState::RTR, FabricQpState::RTS})
    {
        a->SetState(state);
        b->SetState(state);
    }
}

RdmaNic&
RdmaQp::NicOrThrow() const
{
    if (!m_nic)
    {
        throw std::invalid_argument("this queue pair has no NIC: it was not made by "
                                    "RdmaNic::CreateQp, or its NIC has been disposed");
    }
    return *m_nic;
}

void
RdmaQp::Post(FabricOperation operation,
             uint64_t bytes,
             uint64_t workId,
             Signal signal,
             uint32_t immediate)
{
    NS_LOG_FUNCTION(this << static_cast<int>(operation) << bytes << workId);
    FabricWork work;
    work.operation = operation;
    work.bytes = bytes;
    work.workId = workId;
    work.signaled = signal == SIGNALED;
    work.immediate = immediate;
    const uint32_t number = m_number;
    NicOrThrow().UseVerbs([&](evenkeel::contract::Core& verbs, uint32_t host, uint64_t nowPs) {
        verbs.post_send(host, number, work, nowPs);
    });
}

void
RdmaQp::PostSend(uint64_t bytes, uint64_t workId, Signal signal)
{
    Post(FabricOperation::SEND, bytes, workId, signal);
}

void
RdmaQp::PostWrite(uint64_t bytes, uint64_t workId, Signal signal)
{
    Post(FabricOperation::WRITE, bytes, workId, signal);
}

void
RdmaQp::PostWriteWithImmediate(uint64_t bytes, uint32_t immediate, uint64_t workId, Signal signal)
{
    Post(FabricOperation::WRITE_WITH_IMMEDIATE, bytes, workId, signal, immediate);
}

void
RdmaQp::PostRead(uint64_t bytes, uint64_t workId, Signal signal)
{
    Post(FabricOperation::READ, bytes, workId, signal);
}

void
RdmaQp::PostReceive(uint64_t workId)
{
    NS_LOG_FUNCTION(this << workId);
    const uint32_t number = m_number;
    NicOrThrow().UseVerbs([=](evenkeel::contract::Core& verbs, uint32_t host, uint64_t nowPs) {
        verbs.post_receive(host, number, workId, nowPs);
    });
}

bool
RdmaQp::PollCompletion(FabricCompletion& completion)
{
    if (m_completions.empty())
    {
        return false;
    }
    completion = m_completions.front();
    m_completions.pop_front();
    return true;
}

void
RdmaQp::SetCompletionCallback(CompletionCallback callback)
{
    m_callback = callback;
}

Ptr<RdmaNic>
RdmaQp::GetNic() const
{
    return m_nic;
}

FabricQpState
RdmaQp::GetState() const
{
    const evenkeel::contract::Core& verbs = NicOrThrow().GetVerbs();
    return bridge::CallVerb([&] { return verbs.query_qp(m_nic->GetHostNumber(), m_number); });
}

void
RdmaQp::SetState(FabricQpState state)
{
    NS_LOG_FUNCTION(this << state);
    const uint32_t number = m_number;
    NicOrThrow().UseVerbs([=](evenkeel::contract::Core& verbs, uint32_t host, uint64_t nowPs) {
        verbs.modify_qp(host, number, state, nowPs);
    });
}

void
RdmaQp::Destroy()
{
    NS_LOG_FUNCTION(this);
    NicOrThrow().DestroyQp(m_number);
}

void
RdmaQp::Attach(Ptr<RdmaNic> nic, Ptr<RdmaNic> peer, uint32_t number)
{
    m_nic = nic;
    m_peer = peer;
    m_number = number;
}

void
RdmaQp::ReportCompletion(const FabricCompletion& completion)
{
    NS_LOG_LOGIC(completion);
    m_completionTrace(completion);
    if (m_callback.IsNull())
    {
        m_completions.push_back(completion);
        return;
    }
    // A copy, because the callback may set another callback.
    const CompletionCallback callback = m_callback;
    callback(completion);
}

void
RdmaQp::ReleaseCallback()
{
    NS_LOG_FUNCTION(this);
    // Clear m_callback first, because the callback's destructor may use this queue pair.
    const CompletionCallback callback = m_callback;
    m_callback = CompletionCallback();
}

} // namespace ns3
