// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-verbs-bridge.h"

#include <stdexcept>
#include <string>

namespace ns3
{

namespace contract = evenkeel::contract;

namespace
{

/// Suffix of error messages of calls that may succeed later.
const std::string FULL = "(ENOMEM)";

/**
 * @brief Calls a verb and converts an error from Rust to a standard exception.
 * @tparam Verb type of the function
 * @param verb the function that calls the verb
 * @return its result
 */
template <class Verb>
auto
CallVerb(Verb verb) -> decltype(verb())
{
    try
    {
        return verb();
    }
    catch (const rust::Error& error)
    {
        const std::string reason = error.what();
        if (reason.size() >= FULL.size() &&
            reason.compare(reason.size() - FULL.size(), FULL.size(), FULL) == 0)
        {
            throw std::runtime_error(reason);
        }
        throw std::invalid_argument(reason);
    }
}

} // namespace

FabricVerbsBridge::FabricVerbsBridge(contract::Core& core)
    : m_core(core)
{
}

uint32_t
FabricVerbsBridge::CreateQp(uint32_t host, uint32_t peer, uint32_t stream)
{
    return CallVerb([&] { return m_core.create_qp(host, peer, stream); });
}

void
FabricVerbsBridge::SetPeerQp(uint32_t host, uint32_t qp, uint32_t peerQp)
{
    CallVerb([&] { m_core.set_peer_qp(host, qp, peerQp); });
}

void
FabricVerbsBridge::ModifyQp(uint32_t host, uint32_t qp, FabricQpState state, uint64_t nowPs)
{
    CallVerb([&] { m_core.modify_qp(host, qp, state, nowPs); });
}

FabricQpState
FabricVerbsBridge::QueryQp(uint32_t host, uint32_t qp) const
{
    return CallVerb([&] { return m_core.query_qp(host, qp); });
}

void
FabricVerbsBridge::DestroyQp(uint32_t host, uint32_t qp, uint64_t nowPs)
{
    CallVerb([&] { m_core.destroy_qp(host, qp, nowPs); });
}

void
FabricVerbsBridge::PostSend(uint32_t host, uint32_t qp, const FabricWork& work, uint64_t nowPs)
{
    CallVerb([&] { m_core.post_send(host, qp, work, nowPs); });
}

void
FabricVerbsBridge::PostReceive(uint32_t host, uint32_t qp, uint64_t workId, uint64_t nowPs)
{
    CallVerb([&] { m_core.post_receive(host, qp, workId, nowPs); });
}

bool
FabricVerbsBridge::PollCompletion(FabricCompletion& completion)
{
    return m_core.poll_completion(completion);
}

} // namespace ns3
