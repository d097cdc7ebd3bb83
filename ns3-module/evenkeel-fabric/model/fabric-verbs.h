// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_VERBS_H
#define FABRIC_VERBS_H

#include "fabric-verbs-records.h"

#include <cstdint>
#include <ostream>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Verbs: the interface to the queue pairs of scripts.
 *
 * An invalid call throws an exception that says why: std::runtime_error if a queue is full or no
 * numbers are left, std::invalid_argument otherwise. Before a call, the caller must poll the
 * packets that the host could have sent by now. After it, the caller must poll the host's new
 * packets and its wake-up.
 */
class FabricVerbs
{
  public:
    virtual ~FabricVerbs() = default;

    /**
     * @brief Creates a queue pair, in state RESET.
     * @param host number of its host
     * @param peer number of the host at the other end
     * @param stream queue pairs of two hosts with different streams are balanced independently
     * @return its number at the host
     */
    virtual uint32_t CreateQp(uint32_t host, uint32_t peer, uint32_t stream) = 0;
    /**
     * @brief Sets the peer's number of a queue pair.
     * @param host number of its host
     * @param qp its number
     * @param peerQp number of the queue pair at the other end
     */
    virtual void SetPeerQp(uint32_t host, uint32_t qp, uint32_t peerQp) = 0;
    /**
     * @brief Changes the state of a queue pair.
     * @param host number of its host
     * @param qp its number
     * @param state the state
     * @param nowPs the time
     */
    virtual void ModifyQp(uint32_t host, uint32_t qp, FabricQpState state, uint64_t nowPs) = 0;
    /**
     * @param host number of its host
     * @param qp its number
     * @return the state of a queue pair
     */
    virtual FabricQpState QueryQp(uint32_t host, uint32_t qp) const = 0;
    /**
     * @brief Destroys a queue pair and flushes its incomplete work.
     * @param host number of its host
     * @param qp its number
     * @param nowPs the time
     */
    virtual void DestroyQp(uint32_t host, uint32_t qp, uint64_t nowPs) = 0;
    /**
     * @brief Posts a work request.
     * @param host number of the host
     * @param qp number of the queue pair
     * @param work the request
     * @param nowPs the time
     */
    virtual void PostSend(uint32_t host, uint32_t qp, const FabricWork& work, uint64_t nowPs) = 0;
    /**
     * @brief Posts a receive.
     * @param host number of the host
     * @param qp number of the queue pair
     * @param workId id of its completion
     * @param nowPs the time
     */
    virtual void PostReceive(uint32_t host, uint32_t qp, uint64_t workId, uint64_t nowPs) = 0;
    /**
     * @param completion set to a completion of any host
     * @return false if no completion remains
     */
    virtual bool PollCompletion(FabricCompletion& completion) = 0;
};

/**
 * @brief Prints a state by its name in the specification.
 * @param os the stream
 * @param state the state
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, FabricQpState state);
/**
 * @brief Prints the kind of work that completed.
 * @param os the stream
 * @param opcode the kind
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, FabricOpcode opcode);
/**
 * @brief Prints a status by its name in rdma-core.
 * @param os the stream
 * @param status the status
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, FabricCompletionStatus status);
/**
 * @brief Prints a completion on one line.
 * @param os the stream
 * @param completion the completion
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, const FabricCompletion& completion);

} // namespace ns3

#endif /* FABRIC_VERBS_H */
