// SPDX-License-Identifier: GPL-2.0-only

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
 * @brief A queue pair: work requests go in, completions come out, as with libibverbs.
 *
 * RdmaNic::CreateQp makes one; Connect brings two together. Its service is the reliable connection.
 * Its packets are balanced by the policy of the fabric, with the part of the sender and that of the
 * switches; a policy that splits messages does not split work requests, because each goes on the
 * queue pair that it was posted to.
 *
 * Completions go to the callback. Without one they are kept until PollCompletion takes them. The
 * trace source Completion, here and at the NIC, hears of them in any case. From a callback
 * everything may be called.
 *
 * What is refused throws an exception with the reason, and changes nothing: std::runtime_error if a
 * queue is full, std::invalid_argument otherwise. Where this is simpler than hardware: payloads are
 * not carried, so that there are no buffers and keys, and a receive takes a message of any length;
 * a place in the send queue is free as soon as its work is complete, whether it is signaled or not;
 * SENDs carry no immediate data.
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
     * @brief TracedCallback signature for what completed.
     * @param completion what completed
     */
    typedef void (*CompletionTracedCallback)(const FabricCompletion& completion);

    /// What hears of completions.
    typedef Callback<void, const FabricCompletion&> CompletionCallback;

    /// Whether work that succeeds has a completion.
    enum Signal
    {
        SIGNALED,   //!< it has
        UNSIGNALED, //!< it has one only if it fails
    };

    /**
     * @brief Makes each the other's end, and both ready to send: from RESET to RTS.
     *
     * Throws std::invalid_argument with the reason, and has changed neither, if one is null or in
     * another state than RESET, or they were not made for each other.
     *
     * @param a a queue pair to the NIC of b
     * @param b a queue pair to the NIC of a
     */
    static void Connect(Ptr<RdmaQp> a, Ptr<RdmaQp> b);

    // Work.

    /**
     * @brief Posts a SEND: the bytes go to a receive that the peer posted.
     *
     * Without one the peer refuses it (RNR NAK), and it goes again after the RNR timer.
     *
     * @param bytes how many, up to 2^31
     * @param workId its name in its completion
     * @param signal whether success has a completion
     */
    void PostSend(uint64_t bytes, uint64_t workId = 0, Signal signal = SIGNALED);
    /**
     * @brief Posts a WRITE: the bytes are there, and the peer is told nothing.
     * @param bytes how many, up to 2^31
     * @param workId its name in its completion
     * @param signal whether success has a completion
     */
    void PostWrite(uint64_t bytes, uint64_t workId = 0, Signal signal = SIGNALED);
    /**
     * @brief Posts a WRITE and a number that is told to the peer, by a receive of its.
     * @param bytes how many, up to 2^31
     * @param immediate the number
     * @param workId its name in its completion
     * @param signal whether success has a completion
     */
    void PostWriteWithImmediate(uint64_t bytes,
                                uint32_t immediate,
                                uint64_t workId = 0,
                                Signal signal = SIGNALED);
    /**
     * @brief Posts a READ: the peer's bytes come here.
     *
     * A loss recovery that delivers unordered has none.
     *
     * @param bytes how many, from 1 to 2^31
     * @param workId its name in its completion
     * @param signal whether success has a completion
     */
    void PostRead(uint64_t bytes, uint64_t workId = 0, Signal signal = SIGNALED);
    /**
     * @brief Posts a receive, for a SEND or the number of a WRITE.
     * @param workId its name in its completion
     */
    void PostReceive(uint64_t workId = 0);

    // Completions.

    /**
     * @brief Takes the oldest completion that no callback was there for.
     * @param completion set to it
     * @return false if there is none
     */
    bool PollCompletion(FabricCompletion& completion);
    /**
     * @brief Sets what is called for each completion; those kept for PollCompletion stay there.
     * @param callback what to call
     */
    void SetCompletionCallback(CompletionCallback callback);

    // The queue pair itself.

    /// @return number of the queue pair at its NIC, as it is on the wire
    uint32_t GetNumber() const;
    /// @return the NIC that it is of
    Ptr<RdmaNic> GetNic() const;
    /// @return the NIC at its other end
    Ptr<RdmaNic> GetPeer() const;
    /// @return its state
    FabricQpState GetState() const;
    /**
     * @brief Takes it to another state: ERROR flushes its work, SQD lets it finish what it began,
     * RESET forgets everything without a word.
     * @param state one that may follow
     */
    void SetState(FabricQpState state);
    /**
     * @brief Tells it the number of its other end, before it is RTR; Connect does it.
     * @param peerQp the number
     */
    void SetPeerNumber(uint32_t peerQp);
    /**
     * @brief Ends it: what has not completed is flushed, and packets for it are dropped.
     *
     * The callback hears of what was flushed, and is let go of then. Nothing can be asked of it any
     * more but PollCompletion, and its number is not given again.
     */
    void Destroy();

    // What a NIC does with it; not for scripts.

    /**
     * @brief Becomes a queue pair of a NIC.
     * @param nic the NIC
     * @param peer the NIC at the other end
     * @param number its number
     */
    void Attach(Ptr<RdmaNic> nic, Ptr<RdmaNic> peer, uint32_t number);
    /**
     * @brief Work or a receive of its completed.
     * @param completion which
     */
    void ReportCompletion(const FabricCompletion& completion);
    /// It is destroyed and was told everything: lets go of its callback, which may hold it.
    void End();

  protected:
    void DoDispose() override;

  private:
    /**
     * @brief Posts a work request.
     * @param work the request
     */
    void Post(const FabricWork& work);
    /// @return its NIC, if it has one
    RdmaNic& NicOrThrow() const;

    Ptr<RdmaNic> m_nic;                         //!< that it is of
    Ptr<RdmaNic> m_peer;                        //!< at its other end
    uint32_t m_number{0};                       //!< its number at its NIC
    CompletionCallback m_callback;              //!< what hears of completions
    std::deque<FabricCompletion> m_completions; //!< that nobody has heard of
    TracedCallback<const FabricCompletion&> m_completionTrace; //!< work completed
};

} // namespace ns3

#endif /* RDMA_QP_H */
