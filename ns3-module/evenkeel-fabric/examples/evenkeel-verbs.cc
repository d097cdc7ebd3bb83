// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

/**
 * @file
 * @ingroup evenkeel
 * Uses queue pairs and verbs for a key-value store that clients query in two ways.
 *
 * The server is host 0 of a leaf-spine. Each other host is a client with a queue pair to it, and
 * SENDs its query. The server responds with a WRITE of the value with immediate data, which
 * completes a receive of the client. For comparison, the client then READs the same value, without
 * involving the server's program.
 *
 *     client                         server
 *       PostReceive, PostSend  --->    receive completes
 *       receive completes      <---    PostWriteWithImmediate
 *       PostRead               --->
 *       READ completes         <---    (its NIC responds)
 */

#include "example-options.h"

#include "ns3/fabric-helper.h"
#include "ns3/rdma-nic-helper.h"
#include "ns3/rdma-qp.h"

#include <iostream>
#include <memory>
#include <vector>

using namespace ns3;

namespace
{

/// The server's end of a queue pair.
class Server
{
  public:
    /**
     * @param qp its end of the queue pair
     * @param bytes length of a value
     */
    Server(Ptr<RdmaQp> qp, uint64_t bytes)
        : m_qp(qp),
          m_bytes(bytes)
    {
        m_qp->SetCompletionCallback(MakeCallback(&Server::HandleCompletion, this));
        m_qp->PostReceive();
    }

  private:
    /**
     * @brief Responds to a query.
     * @param completion of the receive that the query completed
     */
    void HandleCompletion(const FabricCompletion& completion)
    {
        m_qp->PostReceive();
        m_qp->PostWriteWithImmediate(m_bytes, 1, 0, RdmaQp::UNSIGNALED);
    }

    Ptr<RdmaQp> m_qp; //!< its end of the queue pair
    uint64_t m_bytes; //!< length of a value
};

/// The client's end of a queue pair.
class Client
{
  public:
    /// The ids of its work requests.
    enum Work : uint64_t
    {
        QUERY,  //!< the SEND
        ANSWER, //!< the receive
        COPY,   //!< the READ
    };

    /**
     * @param qp its end of the queue pair
     * @param bytes length of a value
     */
    Client(Ptr<RdmaQp> qp, uint64_t bytes)
        : m_qp(qp),
          m_bytes(bytes)
    {
        m_qp->SetCompletionCallback(MakeCallback(&Client::HandleCompletion, this));
        m_qp->PostReceive(ANSWER);
        m_qp->PostSend(64, QUERY, RdmaQp::UNSIGNALED);
    }

    uint64_t answeredPs{0}; //!< when the response arrived
    uint64_t copiedPs{0};   //!< when the READ completed

  private:
    /**
     * @brief Handles the response, or the value that was READ.
     * @param completion of the receive or of the READ
     */
    void HandleCompletion(const FabricCompletion& completion)
    {
        if (completion.status != FabricCompletionStatus::SUCCESS)
        {
            std::cout << completion << std::endl;
            return;
        }
        if (completion.workId == ANSWER)
        {
            answeredPs = completion.atPs;
            m_qp->PostRead(m_bytes, COPY);
        }
        else
        {
            copiedPs = completion.atPs;
        }
    }

    Ptr<RdmaQp> m_qp; //!< its end of the queue pair
    uint64_t m_bytes; //!< length of a value
};

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    uint64_t bytes = 65536;
    std::string policy = "ecmp";
    FabricHelper helper;
    CommandLine cmd(__FILE__);
    cmd.AddValue("bytes", "length of a value", bytes);
    cmd.AddValue("policy", "load-balancing policy", policy);
    cmd.Parse(argc, argv);

    helper.SetPolicy(policy);
    Ptr<Fabric> fabric = helper.CreateLeafSpine(2, 2, 2);
    std::vector<std::unique_ptr<Server>> servers;
    std::vector<std::unique_ptr<Client>> clients;
    for (uint32_t host = 1; host < fabric->GetNNics(); ++host)
    {
        const auto [server, client] =
            RdmaNicHelper::ConnectQps(fabric->GetNic(0), fabric->GetNic(host));
        servers.push_back(std::make_unique<Server>(server, bytes));
        clients.push_back(std::make_unique<Client>(client, bytes));
    }
    Simulator::Run();
    for (std::size_t client = 0; client < clients.size(); ++client)
    {
        std::cout << "host " << client + 1 << ": SEND and WRITE "
                  << clients[client]->answeredPs / 1000 << " ns, READ "
                  << (clients[client]->copiedPs - clients[client]->answeredPs) / 1000 << " ns"
                  << std::endl;
    }
    return EndRun(fabric);
}
