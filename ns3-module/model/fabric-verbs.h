// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_VERBS_H
#define FABRIC_VERBS_H

#include <cstdint>
#include <limits>
#include <ostream>

namespace ns3
{

/// A number of times in a row that is without limit.
constexpr uint32_t FABRIC_WITHOUT_LIMIT = std::numeric_limits<uint32_t>::max();

/// The deepest send or receive queue of a queue pair.
constexpr uint32_t FABRIC_DEEPEST_QUEUE = 4095;

/**
 * @ingroup evenkeel
 * @brief The state of a queue pair, in the order of the InfiniBand specification (volume 1, section
 * 10.3.1).
 */
enum class FabricQpState : uint8_t
{
    RESET = 0, //!< new, or taken back: it knows nothing of its peer
    INIT = 1,  //!< it takes receives; packets for it are dropped
    RTR = 2,   //!< it receives, and answers READs; work cannot be posted yet
    RTS = 3,   //!< it sends and receives
    SQD = 4,   //!< it finishes the messages that it began; work is taken, and waits
    SQE = 5,   //!< of unreliable services; queue pairs here never get there
    ERROR = 6, //!< packets for it are dropped; all work is flushed
};

/**
 * @ingroup evenkeel
 * @brief What the queue pairs of a fabric are set to.
 */
struct FabricQpSettings
{
    uint32_t sendQueue{1024};             //!< work requests that a send queue holds
    uint32_t receiveQueue{1024};          //!< receives that a receive queue holds
    uint64_t rnrTimerPs{640000000};       //!< how long a sender waits for a receive
    uint32_t rnrRetries{FABRIC_WITHOUT_LIMIT}; //!< how often in a row it does
    uint32_t retries{FABRIC_WITHOUT_LIMIT};    //!< timeouts in a row until work fails
};

/**
 * @ingroup evenkeel
 * @brief A work request for a send queue.
 */
struct FabricWork
{
    /// What it asks for.
    enum Operation : uint8_t
    {
        WRITE = 0,                //!< the bytes are there; the peer is told nothing
        WRITE_WITH_IMMEDIATE = 1, //!< ... then a number, which takes a receive of the peer's
        SEND = 2,                 //!< the bytes go to a receive that the peer posted
        READ = 3,                 //!< the peer's bytes come here
    };

    uint64_t workId{0};         //!< its name in its completion
    uint64_t bytes{0};          //!< how long the message is
    uint32_t immediate{0};      //!< the number
    Operation operation{WRITE}; //!< what it asks for
    bool signaled{true};        //!< false: it has a completion only if it fails
};

/**
 * @ingroup evenkeel
 * @brief What completed: a work request at its sender, or a receive.
 */
struct FabricCompletion
{
    /// What it was.
    enum Opcode : uint8_t
    {
        WRITE = 0,                  //!< a WRITE, with immediate data or without
        SEND = 1,                   //!< a SEND
        READ = 2,                   //!< a READ
        RECEIVE = 3,                //!< a receive, by a SEND; of those flushed always this
        RECEIVE_WITH_IMMEDIATE = 4, //!< a receive, by a WRITE with immediate data
    };

    /// How it ended, in the words of rdma-core.
    enum Status : uint8_t
    {
        SUCCESS = 0,       //!< done
        WR_FLUSH_ERR = 1,  //!< the queue pair came to its end before
        RETRY_EXC_ERR = 2, //!< the peer did not answer as often as allowed
        RNR_RETRY_EXC_ERR = 3, //!< the peer had no receive as often as allowed
        REM_INV_REQ_ERR = 4,   //!< the peer cannot serve the request
    };

    uint64_t workId{0};       //!< the name of the work request or of the receive
    uint64_t bytes{0};        //!< bytes moved; 0 if it failed
    uint64_t atPs{0};         //!< when
    uint32_t host{0};         //!< at which host
    uint32_t qp{0};           //!< number of the queue pair there
    uint32_t immediate{0};    //!< the number that came with a WRITE
    bool hasImmediate{false}; //!< true if one came
    Opcode opcode{WRITE};     //!< what it was
    Status status{SUCCESS};   //!< how it ended
};

/**
 * @ingroup evenkeel
 * @brief What a fabric asks of a core whose NICs have queue pairs that scripts use themselves.
 *
 * What is refused throws: std::runtime_error if a queue is full or all numbers are given,
 * std::invalid_argument otherwise, both with the reason. Whoever calls lets a host send before what
 * it could have sent by now, and asks it after for its packets and its wake-up.
 */
class FabricVerbs
{
  public:
    virtual ~FabricVerbs() = default;

    /**
     * @brief Makes a queue pair, in state RESET.
     * @param host where
     * @param peer host at its other end
     * @param stream those of a pair of hosts that differ in it are balanced apart
     * @return its number at the host
     */
    virtual uint32_t CreateQp(uint32_t host, uint32_t peer, uint32_t stream) = 0;
    /**
     * @brief Tells a queue pair the number of its other end.
     * @param host where
     * @param qp its number
     * @param peerQp number of the other end
     */
    virtual void SetPeerQp(uint32_t host, uint32_t qp, uint32_t peerQp) = 0;
    /**
     * @brief Takes a queue pair to another state.
     * @param host where
     * @param qp its number
     * @param state the state
     * @param nowPs the time
     */
    virtual void ModifyQp(uint32_t host, uint32_t qp, FabricQpState state, uint64_t nowPs) = 0;
    /**
     * @param host where
     * @param qp its number
     * @return the state of a queue pair
     */
    virtual FabricQpState QueryQp(uint32_t host, uint32_t qp) const = 0;
    /**
     * @brief Ends a queue pair; what has not completed is flushed.
     * @param host where
     * @param qp its number
     * @param nowPs the time
     */
    virtual void DestroyQp(uint32_t host, uint32_t qp, uint64_t nowPs) = 0;
    /**
     * @brief Posts a work request.
     * @param host where
     * @param qp number of the queue pair
     * @param work the request
     * @param nowPs the time
     */
    virtual void PostSend(uint32_t host,
                          uint32_t qp,
                          const FabricWork& work,
                          uint64_t nowPs) = 0;
    /**
     * @brief Posts a receive.
     * @param host where
     * @param qp number of the queue pair
     * @param workId its name in its completion
     * @param nowPs the time
     */
    virtual void PostReceive(uint32_t host, uint32_t qp, uint64_t workId, uint64_t nowPs) = 0;
    /**
     * @param completion set to what completed, at whatever host
     * @return false if there is none left
     */
    virtual bool PollCompletion(FabricCompletion& completion) = 0;
};

/**
 * @brief Prints a state as the specification spells it.
 * @param os the stream
 * @param state the state
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, FabricQpState state);
/**
 * @brief Prints what completed on one line.
 * @param os the stream
 * @param completion what completed
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, const FabricCompletion& completion);

} // namespace ns3

#endif /* FABRIC_VERBS_H */
