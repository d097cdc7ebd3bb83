// SPDX-License-Identifier: GPL-2.0-only

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

/// Callbacks may end what they are called for.
class VerbsEndInCallbackTestCase : public TestCase
{
  public:
    VerbsEndInCallbackTestCase()
        : TestCase("a callback ends its queue pair and the peer, or takes it back, and all ends")
    {
    }

  private:
    /// When a packet that was posted at the start is acknowledged, in picoseconds.
    static constexpr uint64_t FIRST = Across(DATA) + Across(ACK);

    /**
     * @brief Ends both queue pairs with the first success.
     * @param test whose
     * @param own the queue pair that it is called for, which so holds itself
     * @param peer its other end
     * @param completion what completed
     */
    static void EndBoth(VerbsEndInCallbackTestCase* test,
                        Ptr<RdmaQp> own,
                        Ptr<RdmaQp> peer,
                        const FabricCompletion& completion)
    {
        test->m_heard << completion << "\n";
        if (completion.status == FabricCompletion::SUCCESS)
        {
            own->Destroy();
            peer->Destroy();
        }
    }

    /**
     * @brief Posts more with the first success, and forgets it.
     * @param test whose
     * @param own the queue pair that it is called for
     * @param completion what completed
     */
    static void PostAndReset(VerbsEndInCallbackTestCase* test,
                             Ptr<RdmaQp> own,
                             const FabricCompletion& completion)
    {
        test->m_heard << completion << "\n";
        if (completion.workId == 1)
        {
            own->PostWrite(1000000, 2);
            own->PostReceive(3);
            own->SetState(FabricQpState::RESET);
        }
    }

    /// Ends a queue pair when it ends itself.
    struct Ender
    {
        /**
         * @param qp what to end
         */
        explicit Ender(Ptr<RdmaQp> qp)
            : qp(qp)
        {
        }

        ~Ender()
        {
            qp->Destroy();
        }

        Ptr<RdmaQp> qp; //!< what to end
    };

    /**
     * @brief Does nothing, and keeps what it is bound to.
     * @param ender what goes with the callback
     * @param completion what completed
     */
    static void Keep(std::shared_ptr<Ender> ender, const FabricCompletion& completion)
    {
    }

    /// @return what callbacks heard since this was asked last
    std::string Heard()
    {
        const std::string heard = m_heard.str();
        m_heard.str("");
        return heard;
    }

    /**
     * @brief Ends both from a callback of one.
     * @param more whether further work is open then
     */
    void End(bool more)
    {
        TwoHosts two;
        two.Make();
        two.a->SetCompletionCallback(MakeBoundCallback(&EndBoth, this, two.a, two.b));
        two.b->PostReceive(7);
        two.a->PostWrite(4096, 1);
        if (more)
        {
            two.a->PostWrite(1000000, 2);
            two.a->PostReceive(3);
        }
        // Long before a timer of theirs could wake anybody nobody holds them but this test.
        Simulator::Schedule(PicoSeconds(2 * FIRST), [this, &two] {
            NS_TEST_EXPECT_MSG_EQ(two.a->GetReferenceCount(), 1, "it held itself by its callback");
            NS_TEST_EXPECT_MSG_EQ(two.b->GetReferenceCount(), 1, "which held the peer");
        });
        Simulator::Run();
        const std::string at = " at " + std::to_string(FIRST / 1000) + " ns\n";
        const std::string flushed = " 0B IBV_WC_WR_FLUSH_ERR" + at;
        NS_TEST_EXPECT_MSG_EQ(Heard(),
                              "host 0 qp 0 WRITE 1 4096B IBV_WC_SUCCESS" + at +
                                  (more ? "host 0 qp 0 WRITE 2" + flushed +
                                              "host 0 qp 0 receive 3" + flushed
                                        : ""),
                              "who ends it hears what was flushed, by the same callback");
        NS_TEST_EXPECT_MSG_EQ(Completions(two.b),
                              "host 1 qp 0 receive 7" + flushed,
                              "the peer keeps what no callback was there for");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(), Fabric::COMPLETED, "nothing is open");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetFinishPs(), FIRST, "from then on");
        for (const auto& qp : {two.a, two.b})
        {
            NS_TEST_EXPECT_MSG_NE(Refusal([&qp] { qp->GetState(); }).find("has no queue pair 0"),
                                  std::string::npos,
                                  "it is no more");
        }
        // The NICs go on.
        const uint64_t now = two.fabric->GetNowPs();
        auto [c, d] = RdmaNicHelper::ConnectQps(two.fabric->GetNic(0), two.fabric->GetNic(1));
        c->PostWrite(4096, 4);
        Simulator::Run();
        FabricCompletion completion;
        NS_TEST_EXPECT_MSG_EQ(c->PollCompletion(completion), true, "work of the next one");
        NS_TEST_EXPECT_MSG_EQ(completion.status, FabricCompletion::SUCCESS, completion);
        NS_TEST_EXPECT_MSG_EQ(completion.atPs, now + FIRST, "takes as long");
    }

    /// Ends a queue pair whose callback, when it is let go of, ends another.
    void EndInTurn()
    {
        TwoHosts two;
        two.Make();
        Ptr<RdmaQp> next =
            RdmaNicHelper::ConnectQps(two.fabric->GetNic(0), two.fabric->GetNic(1)).first;
        next->PostReceive(5);
        two.a->SetCompletionCallback(MakeBoundCallback(&Keep, std::make_shared<Ender>(next)));
        Simulator::Schedule(MicroSeconds(1), [&two] { two.a->Destroy(); });
        Simulator::Schedule(MicroSeconds(2), [this, &two, &next] {
            NS_TEST_EXPECT_MSG_EQ(two.a->GetReferenceCount(), 1, "the first is let go of");
            NS_TEST_EXPECT_MSG_EQ(next->GetReferenceCount(), 1, "so is the second");
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Completions(next),
                              "host 0 qp 1 receive 5 0B IBV_WC_WR_FLUSH_ERR at 1000 ns\n",
                              "which was told before");
    }

    /// Posts work from a callback, and takes the queue pair back there.
    void Reset()
    {
        TwoHosts two;
        two.Make();
        two.a->SetCompletionCallback(MakeBoundCallback(&PostAndReset, this, two.a));
        two.a->PostWrite(4096, 1);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Heard(),
                              "host 0 qp 0 WRITE 1 4096B IBV_WC_SUCCESS at " +
                                  std::to_string(FIRST / 1000) + " ns\n",
                              "what was posted then is forgotten without a word");
        NS_TEST_EXPECT_MSG_EQ(two.a->GetState(), FabricQpState::RESET, "taken back");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetNic(0)->GetDataSent(), 1, "none of it was sent");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(), Fabric::COMPLETED, "nothing is open");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetFinishPs(), FIRST, "from then on");
        two.b->SetState(FabricQpState::RESET);
        RdmaQp::Connect(two.a, two.b);
        const uint64_t now = two.fabric->GetNowPs();
        two.a->PostWrite(4096, 4);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Heard(),
                              "host 0 qp 0 WRITE 4 4096B IBV_WC_SUCCESS at " +
                                  std::to_string((now + FIRST) / 1000) + " ns\n",
                              "connected again it works as before");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetNic(0)->GetDataSent(), 2, "with one packet more");
    }

    void DoRun() override
    {
        End(false);
        End(true);
        EndInTurn();
        Reset();
    }

    std::ostringstream m_heard; //!< what completed, a line each
};

/// The end of a queue pair, and what is not possible.
class VerbsErrorsTestCase : public TestCase
{
  public:
    VerbsErrorsTestCase()
        : TestCase("what ends is flushed, what fails says how, what is refused says why")
    {
    }

  private:
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
                              "all of it");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(), Fabric::COMPLETED, "nothing is open");
        NS_TEST_EXPECT_MSG_EQ(two.a->GetState(), FabricQpState::ERROR, "for good");
        two.a->SetState(FabricQpState::RESET);
        two.b = two.fabric->GetNic(1)->CreateQp(two.fabric->GetNic(0));
        RdmaQp::Connect(two.a, two.b);
        two.a->PostWrite(1000000, 4);
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(), Fabric::RUNNING, "work again");
        two.a->SetState(FabricQpState::RESET);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Completions(two.a), "", "forgotten");
        NS_TEST_EXPECT_MSG_EQ(two.fabric->GetVerdict(), Fabric::COMPLETED, "and not waited for");
        two.b->Destroy();
        NS_TEST_EXPECT_MSG_NE(Refusal([&] { two.b->GetState(); }).find("invalid: host 1 has no"),
                              std::string::npos,
                              "destroyed");
    }

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
        const std::string full = Refusal([&] { two.a->PostWrite(100, 2); });
        NS_TEST_EXPECT_MSG_EQ(full,
                              "runtime: qp0: its send queue holds 1 work requests and is full; "
                              "poll completions (ENOMEM)",
                              "the send queue");
        two.a->PostReceive();
        two.a->PostReceive();
        NS_TEST_EXPECT_MSG_NE(Refusal([&] { two.a->PostReceive(); }).find("runtime: "),
                              std::string::npos,
                              "the receive queue");
        Simulator::Run();
        const uint64_t end = 2 * (Across(162) + Across(ACK)) + 10000000;
        FabricCompletion completion;
        two.a->PollCompletion(completion);
        NS_TEST_EXPECT_MSG_EQ(completion.status, FabricCompletion::RNR_RETRY_EXC_ERR, completion);
        NS_TEST_EXPECT_MSG_EQ(completion.atPs, end, "after two refusals");
        NS_TEST_EXPECT_MSG_EQ(two.a->GetState(), FabricQpState::ERROR, "and that is all");

        auto [c, d] = RdmaNicHelper::ConnectQps(two.fabric->GetNic(0), two.fabric->GetNic(1));
        d->Destroy();
        const uint64_t now = two.fabric->GetNowPs();
        c->PostWrite(100);
        Simulator::Run();
        c->PollCompletion(completion);
        NS_TEST_EXPECT_MSG_EQ(completion.status, FabricCompletion::RETRY_EXC_ERR, completion);
        // The timer starts when the packet does.
        NS_TEST_EXPECT_MSG_EQ(completion.atPs, now + 50000000, "after one timeout");
    }

    void Refuse()
    {
        TwoHosts two;
        two.helper.SetNicAttribute("Recovery", StringValue("erasure"));
        two.Make();
        NS_TEST_EXPECT_MSG_EQ(Refusal([&] { two.a->PostRead(1); }),
                              "invalid: with erasure as loss recovery there are only "
                              "WRITEs; choose another (EOPNOTSUPP)",
                              "of a READ");
        Ptr<RdmaQp> lonely = two.fabric->GetNic(0)->CreateQp(two.fabric->GetNic(1));
        NS_TEST_EXPECT_MSG_EQ(Refusal([&] { lonely->PostWrite(1); }),
                              "invalid: qp1: post_send is not possible in state Reset (EINVAL)",
                              "of work too early");
        NS_TEST_EXPECT_MSG_NE(Refusal([&] { lonely->SetState(FabricQpState::RTS); })
                                  .find("Reset cannot become RTS"),
                              std::string::npos,
                              "of a state");
        NS_TEST_EXPECT_MSG_NE(Refusal([&] { RdmaQp::Connect(lonely, lonely); }).find("invalid: "),
                              std::string::npos,
                              "of itself as its peer");
        for (const auto& ends :
             {std::make_pair(lonely, Ptr<RdmaQp>()), std::make_pair(Ptr<RdmaQp>(), lonely)})
        {
            const std::string reason =
                Refusal([&ends] { RdmaQp::Connect(ends.first, ends.second); });
            NS_TEST_EXPECT_MSG_NE(reason.find("invalid: two "), std::string::npos, reason);
        }
        NS_TEST_EXPECT_MSG_NE(
            Refusal([&] { RdmaQp::Connect(lonely, two.b); }).find("host 1 is in state RTS"),
            std::string::npos,
            "of a peer that is connected");
        NS_TEST_EXPECT_MSG_NE(
            Refusal([&] { RdmaQp::Connect(two.b, lonely); }).find("host 1 is in state RTS"),
            std::string::npos,
            "or the other way round");
        NS_TEST_EXPECT_MSG_EQ(lonely->GetState(), FabricQpState::RESET, "which changes nothing");
        NS_TEST_EXPECT_MSG_EQ(two.b->GetState(), FabricQpState::RTS, "at either end");
        lonely->SetState(FabricQpState::INIT);
        NS_TEST_EXPECT_MSG_NE(Refusal([&] { lonely->SetState(FabricQpState::RTR); }),
                              "",
                              "it was not told of a peer either");
        const auto nic = two.fabric->GetNic(0);
        NS_TEST_EXPECT_MSG_NE(Refusal([&] { nic->CreateQp(nic); }).find("to itself"),
                              std::string::npos,
                              "of a queue pair to itself");
        NS_TEST_EXPECT_MSG_NE(Refusal([&] { nic->CreateQp(nullptr); }).find("Finish"),
                              std::string::npos,
                              "of a queue pair to nowhere");
        NS_TEST_EXPECT_MSG_NE(
            Refusal([] { CreateObject<RdmaQp>()->PostWrite(1); }).find("RdmaNic::CreateQp"),
            std::string::npos,
            "of one that nobody made");
    }

    void DoRun() override
    {
        Flush();
        Fail();
        Refuse();
        {
            PlainFabric plain{Plan()};
            const auto nic = plain.fabric->GetNic(0);
            const std::string reason =
                Refusal([&] { nic->CreateQp(plain.fabric->GetNic(1)); });
            NS_TEST_EXPECT_MSG_NE(reason.find("has no verbs"), std::string::npos, reason);
        }
        FabricHelper small(FabricHelper::UNCHANGED);
        small.SetNicAttribute("Payload", UintegerValue(128));
        Ptr<Fabric> fabric = small.CreateLeafSpine(1, 1, 2);
        const std::string reason =
            Refusal([&] { fabric->GetNic(0)->CreateQp(fabric->GetNic(1)); });
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
