// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef RDMA_CONNECTION_H
#define RDMA_CONNECTION_H

#include "rdma-nic.h"

#include "ns3/object.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief A connection from one NIC to another, with queue pairs that only its own messages use.
 *
 * Without a splitter it has one queue pair at each end; a splitter creates more when it splits
 * messages. Messages are sent in the order in which they are posted. RdmaNic::PostMessage posts
 * messages that share queue pairs instead. The attribute Class is the traffic class of its
 * messages. A connection lives at least until its messages have completed.
 */
class RdmaConnection : public Object
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    RdmaConnection();
    ~RdmaConnection() override;

    /**
     * @brief Sets the two ends, which must be in one finished fabric.
     * @param from the sender
     * @param to the receiver
     */
    void Connect(Ptr<RdmaNic> from, Ptr<RdmaNic> to);
    /**
     * @brief Posts a message.
     * @param bytes payload, at least 1
     * @return number of the message in the fabric
     */
    uint32_t Send(uint64_t bytes);
    /**
     * @brief Sets the callback for the delivery of a message.
     * @param callback the callback
     */
    void SetDeliveryCallback(RdmaNic::MessageCallback callback);
    /**
     * @brief Sets the callback for the completion of a message.
     * @param callback the callback
     */
    void SetCompletionCallback(RdmaNic::MessageCallback callback);
    /// @return number of posted messages that have not completed
    uint32_t GetOutstanding() const;
    /// @return number of the message stream
    uint32_t GetStream() const;

  protected:
    void DoDispose() override;

  private:
    /**
     * @brief Handles the delivery of a message.
     * @param event the event
     */
    void HandleDelivery(const FabricMessageEvent& event);
    /**
     * @brief Handles the completion of a message.
     * @param event the event
     */
    void HandleCompletion(const FabricMessageEvent& event);

    Ptr<RdmaNic> m_from;                                        //!< sender
    Ptr<RdmaNic> m_to;                                          //!< receiver
    uint32_t m_stream{0};                                       //!< its message stream
    uint32_t m_outstanding{0};                                  //!< messages that are not completed
    std::string m_class;                                        //!< name of its traffic class
    RdmaNic::MessageCallback m_delivered;                       //!< callback for deliveries
    RdmaNic::MessageCallback m_completed;                       //!< callback for completions
    TracedCallback<const FabricMessageEvent&> m_deliveredTrace; //!< a message is delivered
    TracedCallback<const FabricMessageEvent&> m_completedTrace; //!< a message completed
};

} // namespace ns3

#endif /* RDMA_CONNECTION_H */
