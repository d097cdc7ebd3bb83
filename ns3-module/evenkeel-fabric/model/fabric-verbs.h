// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_VERBS_H
#define FABRIC_VERBS_H

// The records of work requests and completions. Like fabric-records.h, this header is plain C++11,
// and rust/bridge/world/records.rs declares the same records.

#include <cstdint>
#include <limits>
#include <ostream>

namespace ns3
{

/// Stands for an unlimited number of retries.
constexpr uint32_t FABRIC_WITHOUT_LIMIT = std::numeric_limits<uint32_t>::max();

/// The maximum depth of a send or receive queue of a queue pair.
constexpr uint32_t FABRIC_DEEPEST_QUEUE = 4095;

/**
 * @ingroup evenkeel
 * @brief The state of a queue pair, in the order of the InfiniBand specification (volume 1, section
 * 10.3.1).
 */
enum class FabricQpState : uint8_t
{
    RESET = 0, //!< new, or reset; not connected
    INIT = 1,  //!< receives can be posted; packets for it are dropped
    RTR = 2,   //!< it receives and serves READs; work cannot be posted yet
    RTS = 3,   //!< it sends and receives
    SQD = 4,   //!< it completes messages in progress; other posted work waits
    SQE = 5,   //!< a state of unreliable services, never entered here
    ERROR = 6, //!< packets for it are dropped; all work is flushed
};

/**
 * @ingroup evenkeel
 * @brief The settings of the queue pairs of a fabric.
 */
struct FabricQpSettings
{
    uint32_t sendQueue{1024};                  //!< capacity of the send queue, in work requests
    uint32_t receiveQueue{1024};               //!< capacity of the receive queue, in receives
    uint64_t rnrTimerPs{640000000};            //!< wait of a sender after an RNR NAK
    uint32_t rnrRetries{FABRIC_WITHOUT_LIMIT}; //!< retries after consecutive RNR NAKs
    uint32_t retries{FABRIC_WITHOUT_LIMIT};    //!< retries after consecutive timeouts
};

/**
 * @ingroup evenkeel
 * @brief The operation of a work request.
 */
enum class FabricOperation : uint8_t
{
    WRITE = 0,                //!< writes bytes at the peer, which is not notified
    WRITE_WITH_IMMEDIATE = 1, //!< writes bytes and immediate data; completes a receive of the peer
    SEND = 2,                 //!< sends bytes to a receive that the peer posted
    READ = 3,                 //!< reads bytes of the peer
};

/**
 * @ingroup evenkeel
 * @brief A work request for a send queue.
 */
struct FabricWork
{
    uint64_t workId{0};                                //!< id, which its completion repeats
    uint64_t bytes{0};                                 //!< length of the message
    uint32_t immediate{0};                             //!< immediate data
    FabricOperation operation{FabricOperation::WRITE}; //!< operation
    bool signaled{true};                               //!< false: no completion on success
};

/**
 * @ingroup evenkeel
 * @brief The kind of completed work.
 */
enum class FabricOpcode : uint8_t
{
    WRITE = 0,                  //!< a WRITE, with immediate data or without
    SEND = 1,                   //!< a SEND
    READ = 2,                   //!< a READ
    RECEIVE = 3,                //!< a receive completed by a SEND, or flushed
    RECEIVE_WITH_IMMEDIATE = 4, //!< a receive completed by a WRITE with immediate data
};

/**
 * @ingroup evenkeel
 * @brief The status of a completion, with the names of rdma-core.
 */
enum class FabricCompletionStatus : uint8_t
{
    SUCCESS = 0,           //!< it succeeded
    WR_FLUSH_ERR = 1,      //!< the work was flushed
    RETRY_EXC_ERR = 2,     //!< the number of timeouts exceeded the limit
    RNR_RETRY_EXC_ERR = 3, //!< the number of RNR NAKs exceeded the limit
    REM_INV_REQ_ERR = 4,   //!< the peer cannot serve the request
};

/**
 * @ingroup evenkeel
 * @brief A completion of a work request or of a receive.
 */
struct FabricCompletion
{
    uint64_t workId{0};                       //!< id of the work request or of the receive
    uint64_t bytes{0};                        //!< bytes transferred; 0 if it failed
    uint64_t atPs{0};                         //!< when it completed
    uint32_t host{0};                         //!< number of the host
    uint32_t qp{0};                           //!< number of the queue pair at that host
    uint32_t immediate{0};                    //!< immediate data of a WRITE
    bool hasImmediate{false};                 //!< true if there is immediate data
    FabricOpcode opcode{FabricOpcode::WRITE}; //!< kind of work
    FabricCompletionStatus status{FabricCompletionStatus::SUCCESS}; //!< its status
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
