// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "evenkeel-two-hosts.h"

#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <memory>
#include <sstream>
#include <string>
#include <utility>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/// Tests callbacks that destroy or reset their own queue pair.
class VerbsEndInCallbackTestCase : public TestCase
{
  public:
    VerbsEndInCallbackTestCase()
        : TestCase("a callback can destroy its queue pair and the peer, or reset its queue pair")
    {
    }

  private:
    /// Completion time of a one-packet WRITE posted at the start, in picoseconds.
    static constexpr uint64_t FIRST = Across(DATA) + Across(ACK);

    /**
     * @brief Destroys both queue pairs at the first successful completion.
     * @param test the test case
     * @param own the queue pair of the callback, which thereby holds a reference to itself
     * @param peer its other end
     * @param completion the completion
     */
    static void DestroyBoth(VerbsEndInCallbackTestCase* test,
                            Ptr<RdmaQp> own,
                            Ptr<RdmaQp> peer,
                            const FabricCompletion& completion)
    {
        test->m_log << completion << "\n";
        if (completion.status == FabricCompletionStatus::SUCCESS)
        {
            own->Destroy();
            peer->Destroy();
        }
    }

    /**
     * @brief Posts more work at the first completion, and resets the queue pair.
     * @param test the test case
     * @param own the queue pair of the callback
     * @param completion the completion
     */
    static void PostAndReset(VerbsEndInCallbackTestCase* test,
                             Ptr<RdmaQp> own,
                             const FabricCompletion& completion)
    {
        test->m_log << completion << "\n";
        if (completion.workId == 1)
        {
            own->PostWrite(1000000, 2);
            own->PostReceive(3);
            own->SetState(FabricQpState::RESET);
        }
    }

    /// Destroys a queue pair in its destructor.
    struct Destroyer
    {
        /**
         * @param qp the queue pair to destroy
         */
        explicit Destroyer(Ptr<RdmaQp> qp)
            : qp(qp)
        {
        }

        ~Destroyer()
        {
            qp->Destroy();
        }

        Ptr<RdmaQp> qp; //!< the queue pair to destroy
    };

    /**
     * @brief Ignores a completion.
     * @param destroyer an object that the callback holds
     * @param completion the completion
     */
    static void Ignore(std::shared_ptr<Destroyer> destroyer, const FabricCompletion& completion)
    {
    }

    /// @return the completions that callbacks received since the last call, one per line
    std::string TakeLog()
    {
        const std::string log = m_log.str();
        m_log.str("");
        return log;
    }

    /**
     * @brief Destroys both queue pairs in a callback of one.
     * @param more true if other work has not completed by then
     */
    void DestroyBothInCallback(bool more)
    {
        TwoHosts two;
        two.Make();
        two.a->SetCompletionCallback(MakeBoundCallback(&DestroyBoth, this, two.a, two.b));
        two.b->PostReceive(7);
        two.a->PostWrite(4096, 1);
        if (more)
        {
            two.a->PostWrite(1000000, 2);
            two.a->PostReceive(3);
        }
        // Long before a timer could expire, only this test has references to them.
        Simulator::Schedule(PicoSeconds(2 * FIRST), [this, &two] {
            NS_TEST_EXPECT_MSG_EQ(two.a->GetReferenceCount(), 1, "the callback is released");
            NS_TEST_EXPECT_MSG_EQ(two.b->GetReferenceCount(), 1, "so is its reference to the peer");
        });
        Simulator::Run();
        const std::string at = " at " + std::to_string(FIRST / 1000) + " ns\n";
        const std::string flushed = " 0B IBV_WC_WR_FLUSH_ERR" + at;
        NS_TEST_EXPECT_MSG_EQ(
            TakeLog(),
            "host 0 qp 0 WRITE 1 4096B IBV_WC_SUCCESS" + at +
                (more ? "host 0 qp 0 WRITE 2" + flushed + "host 0 qp 0 receive 3" + flushed : ""),
            "the callback receives the flushed work");
        NS_TEST_EXPECT_MSG_EQ(Completions(two.b),
                              "host 1 qp 0 receive 7" + flushed,
                              "the peer, without a callback, keeps its completion");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(), Fabric::COMPLETED, "all work completed");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetFinishPs(), FIRST, "completion time");
        for (const auto& qp : {two.a, two.b})
        {
            NS_TEST_EXPECT_MSG_NE(ErrorOf([&qp] { qp->GetState(); }).find("has no queue pair 0"),
                                  std::string::npos,
                                  "the queue pair is destroyed");
        }
        // The NICs can create other queue pairs.
        const uint64_t now = two.fabric->GetNowPs();
        auto [c, d] = RdmaNicHelper::ConnectQps(two.fabric->GetNic(0), two.fabric->GetNic(1));
        c->PostWrite(4096, 4);
        Simulator::Run();
        FabricCompletion completion;
        NS_TEST_EXPECT_MSG_EQ(c->PollCompletion(completion), true, "work of another queue pair");
        NS_TEST_EXPECT_MSG_EQ(completion.status, FabricCompletionStatus::SUCCESS, completion);
        NS_TEST_EXPECT_MSG_EQ(completion.atPs, now + FIRST, "takes the same time");
    }

    /// Destroys a queue pair whose callback destroys another when it is released.
    void DestroyInTurn()
    {
        TwoHosts two;
        two.Make();
        Ptr<RdmaQp> next =
            RdmaNicHelper::ConnectQps(two.fabric->GetNic(0), two.fabric->GetNic(1)).first;
        next->PostReceive(5);
        two.a->SetCompletionCallback(MakeBoundCallback(&Ignore, std::make_shared<Destroyer>(next)));
        Simulator::Schedule(MicroSeconds(1), [&two] { two.a->Destroy(); });
        Simulator::Schedule(MicroSeconds(2), [this, &two, &next] {
            NS_TEST_EXPECT_MSG_EQ(two.a->GetReferenceCount(), 1, "the first is released");
            NS_TEST_EXPECT_MSG_EQ(next->GetReferenceCount(), 1, "so is the second");
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Completions(next),
                              "host 0 qp 1 receive 5 0B IBV_WC_WR_FLUSH_ERR at 1000 ns\n",
                              "its receive is flushed");
    }

    /**
     * @brief Destroys a queue pair at the end of the run.
     * @param qp the queue pair
     * @param end the time of the end
     */
    static void DestroyAtEnd(Ptr<RdmaQp> qp, Time end)
    {
        qp->Destroy();
    }

    /// Destroys a queue pair with a posted receive in a sink of `Finished`.
    void DestroyWhenFinished()
    {
        TwoHosts two;
        two.Make();
        two.fabric->TraceConnectWithoutContext("Finished", MakeBoundCallback(&DestroyAtEnd, two.a));
        two.a->PostReceive(3);
        two.a->PostWrite(4096, 1);
        Simulator::Run();
        const std::string at = " at " + std::to_string(FIRST / 1000) + " ns\n";
        NS_TEST_EXPECT_MSG_EQ(Completions(two.a),
                              "host 0 qp 0 WRITE 1 4096B IBV_WC_SUCCESS" + at +
                                  "host 0 qp 0 receive 3 0B IBV_WC_WR_FLUSH_ERR" + at,
                              "its receive is flushed");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(), Fabric::COMPLETED, "all work completed");
    }

    /// Posts work in a callback and resets the queue pair there.
    void Reset()
    {
        TwoHosts two;
        two.Make();
        two.a->SetCompletionCallback(MakeBoundCallback(&PostAndReset, this, two.a));
        two.a->PostWrite(4096, 1);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(TakeLog(),
                              "host 0 qp 0 WRITE 1 4096B IBV_WC_SUCCESS at " +
                                  std::to_string(FIRST / 1000) + " ns\n",
                              "the reset discards the work of the callback");
        NS_TEST_EXPECT_MSG_EQ(two.a->GetState(), FabricQpState::RESET, "the state after the reset");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetNic(0)->GetDataSent(),
                              1,
                              "no packet of the discarded work is sent");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(), Fabric::COMPLETED, "all work completed");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetFinishPs(), FIRST, "completion time");
        two.b->SetState(FabricQpState::RESET);
        RdmaQp::Connect(two.a, two.b);
        const uint64_t now = two.fabric->GetNowPs();
        two.a->PostWrite(4096, 4);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(TakeLog(),
                              "host 0 qp 0 WRITE 4 4096B IBV_WC_SUCCESS at " +
                                  std::to_string((now + FIRST) / 1000) + " ns\n",
                              "work after the queue pair is connected again");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetNic(0)->GetDataSent(), 2, "one more packet is sent");
    }

    void DoRun() override
    {
        DestroyBothInCallback(false);
        DestroyBothInCallback(true);
        DestroyInTurn();
        DestroyWhenFinished();
        Reset();
    }

    std::ostringstream m_log; //!< completions that callbacks received, one per line
};

/// Tests flushed work, failed work and invalid calls.
class VerbsErrorsTestCase : public TestCase
{
  public:
    VerbsErrorsTestCase()
        : TestCase("work is flushed, fails with a status, or is refused with a reason")
    {
    }

  private:
    /// Tests flushed work.
    void Flush()
    {
        TwoHosts two;
        two.Make();
        two.a->PostReceive(9);
        two.a->PostWrite(1000000, 1, RdmaQp::UNSIGNALED);
        two.a->PostWrite(1000000, 2);
        Simulator::Schedule(MicroSeconds(3), [&two] {
            two.a->SetState(FabricQpState::ERROR);
            two.a->PostWrite(1, 3);
        });
        Simulator::Schedule(MicroSeconds(90), [&two] { two.b->Destroy(); });
        Simulator::Run();
        const std::string end = " 0B IBV_WC_WR_FLUSH_ERR at 3000 ns\n";
        NS_TEST_EXPECT_MSG_EQ(Completions(two.a),
                              "host 0 qp 0 WRITE 1" + end + "host 0 qp 0 WRITE 2" + end +
                                  "host 0 qp 0 receive 9" + end + "host 0 qp 0 WRITE 3" + end,
                              "all work is flushed");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(), Fabric::COMPLETED, "all work completed");
        NS_TEST_EXPECT_MSG_EQ(two.a->GetState(), FabricQpState::ERROR, "it stays in Error");
        two.a->SetState(FabricQpState::RESET);
        two.b = two.fabric->GetNic(1)->CreateQp(two.fabric->GetNic(0));
        RdmaQp::Connect(two.a, two.b);
        two.a->PostWrite(1000000, 4);
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(), Fabric::RUNNING, "new work");
        two.a->SetState(FabricQpState::RESET);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Completions(two.a), "", "the reset discards it");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(),
                              Fabric::COMPLETED,
                              "the run does not wait for it");
        two.b->Destroy();
        NS_TEST_EXPECT_MSG_NE(ErrorOf([&] { two.b->GetState(); }).find("invalid: host 1 has no"),
                              std::string::npos,
                              "destroyed");
    }

    /// Tests work that fails with a status.
    void Fail()
    {
        TwoHosts two;
        two.helper.SetNicAttribute("RnrTimer", TimeValue(MicroSeconds(10)));
        two.helper.SetNicAttribute("RnrRetries", UintegerValue(1));
        two.helper.SetNicAttribute("Retries", UintegerValue(0));
        two.helper.SetNicAttribute("RetransmitTimeout", TimeValue(MicroSeconds(50)));
        two.helper.SetNicAttribute("SendQueue", UintegerValue(1));
        two.helper.SetNicAttribute("ReceiveQueue", UintegerValue(2));
        two.Make();
        two.a->PostSend(100, 1);
        const std::string full = ErrorOf([&] { two.a->PostWrite(100, 2); });
        NS_TEST_EXPECT_MSG_EQ(full,
                              "runtime: qp0: its send queue holds 1 work requests and is full; "
                              "poll completions (ENOMEM)",
                              "a full send queue");
        two.a->PostReceive();
        two.a->PostReceive();
        NS_TEST_EXPECT_MSG_NE(ErrorOf([&] { two.a->PostReceive(); }).find("runtime: "),
                              std::string::npos,
                              "a full receive queue");
        Simulator::Run();
        const uint64_t end = 2 * (Across(162) + Across(ACK)) + 10000000;
        FabricCompletion completion;
        two.a->PollCompletion(completion);
        NS_TEST_EXPECT_MSG_EQ(completion.status,
                              FabricCompletionStatus::RNR_RETRY_EXC_ERR,
                              completion);
        NS_TEST_EXPECT_MSG_EQ(completion.atPs, end, "after two RNR NAKs");
        NS_TEST_EXPECT_MSG_EQ(two.a->GetState(), FabricQpState::ERROR, "state after the failure");

        auto [c, d] = RdmaNicHelper::ConnectQps(two.fabric->GetNic(0), two.fabric->GetNic(1));
        d->Destroy();
        const uint64_t now = two.fabric->GetNowPs();
        c->PostWrite(100);
        Simulator::Run();
        c->PollCompletion(completion);
        NS_TEST_EXPECT_MSG_EQ(completion.status, FabricCompletionStatus::RETRY_EXC_ERR, completion);
        // The timer starts when the packet does.
        NS_TEST_EXPECT_MSG_EQ(completion.atPs, now + 50000000, "after one timeout");
    }

    /// Tests calls that are rejected with a reason.
    void Refuse()
    {
        TwoHosts two;
        two.helper.SetNicAttribute("Recovery", StringValue("erasure"));
        two.Make();
        NS_TEST_EXPECT_MSG_EQ(ErrorOf([&] { two.a->PostRead(1); }),
                              "invalid: erasure supports only WRITEs; choose another loss "
                              "recovery (EOPNOTSUPP)",
                              "a READ");
        Ptr<RdmaQp> unconnected = two.fabric->GetNic(0)->CreateQp(two.fabric->GetNic(1));
        NS_TEST_EXPECT_MSG_EQ(ErrorOf([&] { unconnected->PostWrite(1); }),
                              "invalid: qp1: post_send is not possible in state Reset (EINVAL)",
                              "work in state Reset");
        NS_TEST_EXPECT_MSG_NE(ErrorOf([&] {
                                  unconnected->SetState(FabricQpState::RTS);
                              }).find("Reset cannot become RTS"),
                              std::string::npos,
                              "a state transition");
        NS_TEST_EXPECT_MSG_NE(
            ErrorOf([&] { RdmaQp::Connect(unconnected, unconnected); }).find("invalid: "),
            std::string::npos,
            "a queue pair as its own peer");
        for (const auto& ends : {std::make_pair(unconnected, Ptr<RdmaQp>()),
                                 std::make_pair(Ptr<RdmaQp>(), unconnected)})
        {
            const std::string reason =
                ErrorOf([&ends] { RdmaQp::Connect(ends.first, ends.second); });
            NS_TEST_EXPECT_MSG_NE(reason.find("to connect is null"), std::string::npos, reason);
        }
        NS_TEST_EXPECT_MSG_NE(
            ErrorOf([&] { RdmaQp::Connect(unconnected, two.b); }).find("host 1 is in state RTS"),
            std::string::npos,
            "a peer that is connected");
        NS_TEST_EXPECT_MSG_NE(
            ErrorOf([&] { RdmaQp::Connect(two.b, unconnected); }).find("host 1 is in state RTS"),
            std::string::npos,
            "a peer that is connected, as the first argument");
        NS_TEST_EXPECT_MSG_EQ(unconnected->GetState(), FabricQpState::RESET, "unchanged");
        NS_TEST_EXPECT_MSG_EQ(two.b->GetState(), FabricQpState::RTS, "unchanged");
        unconnected->SetState(FabricQpState::INIT);
        NS_TEST_EXPECT_MSG_NE(ErrorOf([&] { unconnected->SetState(FabricQpState::RTR); }),
                              "",
                              "RTR without a peer");
        const auto nic = two.fabric->GetNic(0);
        NS_TEST_EXPECT_MSG_NE(ErrorOf([&] { nic->CreateQp(nic); }).find("to itself"),
                              std::string::npos,
                              "a queue pair from a NIC to itself");
        NS_TEST_EXPECT_MSG_NE(ErrorOf([&] { nic->CreateQp(nullptr); }).find("Finish"),
                              std::string::npos,
                              "a queue pair without a peer");
        NS_TEST_EXPECT_MSG_NE(
            ErrorOf([] { CreateObject<RdmaQp>()->PostWrite(1); }).find("RdmaNic::CreateQp"),
            std::string::npos,
            "a queue pair without a NIC");
    }

    void DoRun() override
    {
        Flush();
        Fail();
        Refuse();
        FabricHelper small;
        small.SetNicAttribute("Payload", UintegerValue(128));
        Ptr<Fabric> fabric = small.CreateLeafSpine(1, 1, 2);
        const std::string reason = ErrorOf([&] { fabric->GetNic(0)->CreateQp(fabric->GetNic(1)); });
        NS_TEST_EXPECT_MSG_NE(reason.find("MTU 128B"), std::string::npos, reason);
        Simulator::Destroy();
    }
};

/// The suite.
class EvenkeelVerbsEndTestSuite : public TestSuite
{
  public:
    EvenkeelVerbsEndTestSuite()
        : TestSuite("evenkeel-verbs-end")
    {
        AddTestCase(new VerbsEndInCallbackTestCase);
        AddTestCase(new VerbsErrorsTestCase);
    }
};

EvenkeelVerbsEndTestSuite g_evenkeelVerbsEndTestSuite; //!< registers itself

} // namespace
