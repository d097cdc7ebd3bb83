// SPDX-License-Identifier: GPL-2.0-only

#ifndef RDMA_CONNECTION_H
#define RDMA_CONNECTION_H

#include "rdma-nic.h"

#include "ns3/object.h"
#include "ns3/ptr.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief A connection from one NIC to another, which nobody else's messages use: the queue pairs of
 * a message stream of its own.
 *
 * Without a splitter that is one queue pair at each end; a splitter opens more as it cuts messages
 * up. Messages are sent in the order posted. A script that wants no more than messages between
 * hosts calls RdmaNic::PostMessage.
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
     * @brief Names the two ends, of one fabric that is finished.
     * @param from the sender
     * @param to the receiver
     */
    void Connect(Ptr<RdmaNic> from, Ptr<RdmaNic> to);
    /**
     * @brief Posts a message.
     * @param bytes payload, at least 1
     * @return its number in the fabric
     */
    uint32_t Send(uint64_t bytes);
    /**
     * @brief Sets what is called when the receiver has all of a message.
     * @param callback what to call
     */
    void SetDeliveryCallback(RdmaNic::MessageCallback callback);
    /**
     * @brief Sets what is called when the sender has the last acknowledgement of a message.
     * @param callback what to call
     */
    void SetCompletionCallback(RdmaNic::MessageCallback callback);
    /// @return messages that are posted and not complete
    uint32_t GetOutstanding() const;
    /// @return number of the message stream
    uint32_t GetStream() const;

  protected:
    void DoDispose() override;

  private:
    /**
     * @brief The receiver has all of a message.
     * @param event which
     */
    void HandleDelivery(const FabricMessageEvent& event);
    /**
     * @brief The sender has the last acknowledgement of a message.
     * @param event which
     */
    void HandleCompletion(const FabricMessageEvent& event);

    Ptr<RdmaNic> m_from;                   //!< sender
    Ptr<RdmaNic> m_to;                     //!< receiver
    uint32_t m_stream{0};                  //!< its message stream
    uint32_t m_outstanding{0};             //!< messages that are not complete
    RdmaNic::MessageCallback m_delivered;  //!< of the script
    RdmaNic::MessageCallback m_completed;  //!< of the script
    TracedCallback<const FabricMessageEvent&> m_deliveredTrace; //!< a message is there
    TracedCallback<const FabricMessageEvent&> m_completedTrace; //!< a message is acknowledged
};

} // namespace ns3

#endif /* RDMA_CONNECTION_H */
