// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef RDMA_QP_H
#define RDMA_QP_H

#include "fabric-verbs.h"

#include "ns3/callback.h"
#include "ns3/object.h"
#include "ns3/ptr.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>

namespace ns3
{

class RdmaNic;

/**
 * @ingroup evenkeel
 * @brief A queue pair with work requests and completions, as in libibverbs.
 *
 * RdmaNic::CreateQp makes one; Connect connects two. Its service is the reliable connection. The
 * policy of the fabric balances its packets, at the sender and in the switches. A policy that
 * splits messages does not split work requests: each stays on the queue pair that it was posted to.
 *
 * Completions are passed to the callback, or, without one, kept for PollCompletion. The trace
 * sources Completion of the queue pair and of the NIC always report them. A callback may call every
 * method.
 *
 * An invalid call throws an exception that says why and changes nothing: std::runtime_error if a
 * queue is full, std::invalid_argument otherwise.
 *
 * Simplifications compared with hardware:
 * - Payloads are not carried, so there are no buffers and keys, and a receive accepts a message of
 *   any length.
 * - A send queue entry is free as soon as its work completed, whether it is signaled or not.
 * - SENDs carry no immediate data.
 */
class RdmaQp : public Object
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    RdmaQp();
    ~RdmaQp() override;

    /**
     * @brief TracedCallback signature for completions.
     * @param completion the completion
     */
    typedef void (*CompletionTracedCallback)(const FabricCompletion& completion);

    /// A callback for completions.
    typedef Callback<void, const FabricCompletion&> CompletionCallback;

    /// Whether successful work has a completion.
    enum Signal
    {
        SIGNALED,   //!< it has a completion
        UNSIGNALED, //!< it has a completion only if it fails
    };

    /**
     * @brief Connects two queue pairs and takes both from RESET to RTS.
     *
     * Throws std::invalid_argument with an explanation, and changes neither, if one is null or not
     * in state RESET, or if the peer of each is not the NIC of the other.
     *
     * @param a a queue pair to the NIC of b
     * @param b a queue pair to the NIC of a
     */
    static void Connect(Ptr<RdmaQp> a, Ptr<RdmaQp> b);

    // Work.

    /**
     * @brief Posts a SEND, which completes a receive of the peer.
     *
     * If the peer has no receive posted, it returns an RNR NAK, and the SEND is retransmitted after
     * the RNR timer.
     *
     * @param bytes number of bytes, up to 2^31
     * @param workId id of its completion
     * @param signal whether success has a completion
     */
    void PostSend(uint64_t bytes, uint64_t workId = 0, Signal signal = SIGNALED);
    /**
     * @brief Posts a WRITE to the peer, which is not notified.
     * @param bytes number of bytes, up to 2^31
     * @param workId id of its completion
     * @param signal whether success has a completion
     */
    void PostWrite(uint64_t bytes, uint64_t workId = 0, Signal signal = SIGNALED);
    /**
     * @brief Posts a WRITE with immediate data, which completes a receive of the peer.
     * @param bytes number of bytes, up to 2^31
     * @param immediate the immediate data
     * @param workId id of its completion
     * @param signal whether success has a completion
     */
    void PostWriteWithImmediate(uint64_t bytes,
                                uint32_t immediate,
                                uint64_t workId = 0,
                                Signal signal = SIGNALED);
    /**
     * @brief Posts a READ from the peer.
     *
     * READs are invalid with unordered delivery.
     *
     * @param bytes number of bytes, from 1 to 2^31
     * @param workId id of its completion
     * @param signal whether success has a completion
     */
    void PostRead(uint64_t bytes, uint64_t workId = 0, Signal signal = SIGNALED);
    /**
     * @brief Posts a receive, for a SEND or for the immediate data of a WRITE.
     * @param workId id of its completion
     */
    void PostReceive(uint64_t workId = 0);

    // Completions.

    /**
     * @brief Returns the oldest completion that was not passed to a callback.
     * @param completion set to the completion
     * @return false without such a completion
     */
    bool PollCompletion(FabricCompletion& completion);
    /**
     * @brief Sets the callback for later completions; those kept for PollCompletion stay there.
     * @param callback the callback
     */
    void SetCompletionCallback(CompletionCallback callback);

    // The queue pair itself.

    /// @return its NIC
    Ptr<RdmaNic> GetNic() const;
    /// @return its state
    FabricQpState GetState() const;
    /**
     * @brief Changes its state. ERROR flushes its work, SQD completes the messages in progress,
     * RESET discards all work without completions.
     * @param state a state that may follow the current one
     */
    void SetState(FabricQpState state);
    /**
     * @brief Destroys the queue pair: its incomplete work is flushed, and packets for it are
     * dropped.
     *
     * The callback is called for flushed work and then released. Afterwards only PollCompletion may
     * be called. The number of the queue pair is not reused.
     */
    void Destroy();

    // For the NIC; not for scripts.

    /**
     * @brief Attaches the queue pair to a NIC.
     * @param nic the NIC
     * @param peer the NIC at the other end
     * @param number its number
     */
    void Attach(Ptr<RdmaNic> nic, Ptr<RdmaNic> peer, uint32_t number);
    /**
     * @brief Reports a completion of work or of a receive.
     * @param completion the completion
     */
    void ReportCompletion(const FabricCompletion& completion);
    /// Releases the callback after flushed work is reported: it may hold a reference to this
    /// object.
    void ReleaseCallback();

  protected:
    void DoDispose() override;

  private:
    /**
     * @brief Posts a work request.
     * @param operation the operation
     * @param bytes number of bytes
     * @param workId id of its completion
     * @param signal whether success has a completion
     * @param immediate the immediate data, if the operation has any
     */
    void Post(FabricOperation operation,
              uint64_t bytes,
              uint64_t workId,
              Signal signal,
              uint32_t immediate = 0);
    /// @return its NIC; throws std::invalid_argument without one
    RdmaNic& NicOrThrow() const;

    Ptr<RdmaNic> m_nic;                                        //!< its NIC
    Ptr<RdmaNic> m_peer;                                       //!< NIC at its other end
    uint32_t m_number{0};                                      //!< its number at its NIC
    CompletionCallback m_callback;                             //!< callback for completions
    std::deque<FabricCompletion> m_completions;                //!< completions for PollCompletion
    TracedCallback<const FabricCompletion&> m_completionTrace; //!< work completed
};

} // namespace ns3

#endif /* RDMA_QP_H */
