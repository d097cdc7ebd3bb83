// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup evenkeel
 * Queue pairs and verbs: a store of values that clients ask, in three ways.
 *
 * The server is host 0 of a leaf-spine; each other host is a client with a queue pair to it. A
 * client SENDs its question. The server answers with a WRITE of the value and a number that says
 * so, which completes a receive of the client's. For comparison the client then READs the same value,
 * which the server's program takes no part in.
 *
 *     client                         server
 *       PostReceive, PostSend  --->    receive completes
 *       receive completes      <---    PostWriteWithImmediate
 *       PostRead               --->
 *       READ completes         <---    (its NIC answers)
 */

#include "ns3/command-line.h"
#include "ns3/fabric-helper.h"
#include "ns3/rdma-nic-helper.h"
#include "ns3/rdma-qp.h"
#include "ns3/simulator.h"

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
     * @param qp its end
     * @param bytes of a value
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
     * @brief A question is here.
     * @param completion of a receive
     */
    void HandleCompletion(const FabricCompletion& completion)
    {
        m_qp->PostReceive();
        m_qp->PostWriteWithImmediate(m_bytes, 1, 0, RdmaQp::UNSIGNALED);
    }

    Ptr<RdmaQp> m_qp; //!< its end
    uint64_t m_bytes; //!< of a value
};

/// The client's end of a queue pair.
class Client
{
  public:
    /// What the names of its work requests say.
    enum Work : uint64_t
    {
        QUESTION, //!< the SEND
        ANSWER,   //!< the receive
        COPY,     //!< the READ
    };

    /**
     * @param qp its end
     * @param bytes of a value
     */
    Client(Ptr<RdmaQp> qp, uint64_t bytes)
        : m_qp(qp),
          m_bytes(bytes)
    {
        m_qp->SetCompletionCallback(MakeCallback(&Client::HandleCompletion, this));
        m_qp->PostReceive(ANSWER);
        m_qp->PostSend(64, QUESTION, RdmaQp::UNSIGNALED);
    }

    uint64_t answeredPs{0}; //!< when the answer was here
    uint64_t copiedPs{0};   //!< when the READ was complete

  private:
    /**
     * @brief The answer is here, or what was read.
     * @param completion of the receive or of the READ
     */
    void HandleCompletion(const FabricCompletion& completion)
    {
        if (completion.status != FabricCompletion::SUCCESS)
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

    Ptr<RdmaQp> m_qp; //!< its end
    uint64_t m_bytes; //!< of a value
};

} // namespace

int
main(int argc, char* argv[])
{
    uint64_t bytes = 65536;
    std::string policy = "ecmp";
    // The helper comes first: it sets ns-3's time resolution.
    FabricHelper helper;
    CommandLine cmd(__FILE__);
    cmd.AddValue("bytes", "length of a value", bytes);
    cmd.AddValue("policy", "of the fabric", policy);
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
    const bool done = fabric->GetVerdict() == Fabric::COMPLETED;
    for (std::size_t client = 0; client < clients.size(); ++client)
    {
        std::cout << "host " << client + 1 << ": SEND and WRITE "
                  << clients[client]->answeredPs / 1000 << " ns, READ "
                  << (clients[client]->copiedPs - clients[client]->answeredPs) / 1000 << " ns"
                  << std::endl;
    }
    Simulator::Destroy();
    return done ? 0 : 1;
}
