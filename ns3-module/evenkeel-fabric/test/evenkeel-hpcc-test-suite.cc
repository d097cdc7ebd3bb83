// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "ns3/boolean.h"
#include "ns3/fabric-helper.h"
#include "ns3/hpcc-experiment.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ns3
{
namespace tests
{

/**
 * @ingroup evenkeel-tests
 * @brief Tests the files of an experiment with one flow through one switch.
 */
class HpccOneFlowTestCase : public TestCase
{
  public:
    HpccOneFlowTestCase()
        : TestCase("an experiment of the HPCC family runs from its files and writes its results")
    {
    }

  private:
    void DoRun() override;

    /**
     * @brief Runs an experiment and checks its files.
     * @param config path of its configuration
     */
    void CheckFiles(const std::string& config);
    /**
     * @brief Destroys an experiment during its simulation, and checks that the simulation
     * continues.
     * @param config path of its configuration
     */
    void CheckEarlyEnd(const std::string& config);

    /**
     * @param name of a file
     * @return its path
     */
    std::string PathOf(const std::string& name)
    {
        return CreateTempDirFilename(name);
    }

    /**
     * @param name of a file to write
     * @param text its contents
     */
    void WriteFile(const std::string& name, const std::string& text)
    {
        std::ofstream(PathOf(name)) << text;
    }

    /**
     * @param name of a file
     * @return its contents
     */
    std::string ReadFile(const std::string& name)
    {
        std::ifstream file(PathOf(name));
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
};

void
HpccOneFlowTestCase::DoRun()
{
    WriteFile("topology.txt", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n");
    WriteFile("flow.txt", "1\n0 1 3 100 1000000 2.0\n");
    const std::string configuration =
        "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nCC_MODE 1\nSIMULATOR_STOP_TIME 2.1\n"
        "KMAX_MAP 1 100000000000 1600\nKMIN_MAP 1 100000000000 400\n"
        "PMAX_MAP 1 100000000000 0.2\nBUFFER_SIZE 32\nLB_POLICY spray\n"
        "QLEN_MON_START 2000000000\nQLEN_MON_END 2000001000\n";
    WriteFile("config.txt", configuration);
    CheckFiles(PathOf("config.txt"));

    // With samples, and with every port of every node traced.
    WriteFile("trace.txt", "3\n0 1 2\n");
    WriteFile("traced.txt", configuration + "ENABLE_TRACE 1\nTRACE_FILE trace.txt\n");
    CheckEarlyEnd(PathOf("traced.txt"));

    std::string refusal;
    try
    {
        HpccExperiment(PathOf("config.txt"), "no-such-policy");
    }
    catch (const std::invalid_argument& error)
    {
        refusal = error.what();
    }
    NS_TEST_ASSERT_MSG_NE(refusal.find("unknown policy 'no-such-policy'"),
                          std::string::npos,
                          refusal);
}

void
HpccOneFlowTestCase::CheckFiles(const std::string& config)
{
    const std::string folder = config.substr(0, config.rfind('/'));

    // Other suites in the test runner have already set the time resolution.
    FabricHelper helper(FabricHelper::UNCHANGED);
    HpccExperiment experiment(config, "", FabricRounding::TRUNCATE_NS);
    NS_TEST_ASSERT_MSG_EQ(experiment.GetPolicy(), "spray", "LB_POLICY is a key");
    Ptr<Fabric> fabric = experiment.Build(helper);
    fabric->SetAttribute("StopWhenDone", BooleanValue(true));
    Simulator::Run();
    experiment.Write(folder);
    Simulator::Destroy();

    NS_TEST_ASSERT_MSG_EQ(fabric->GetVerdict(), Fabric::COMPLETED, "verdict");
    // 1,000 packets of 83 ns, one more hop, four propagations, 4 ns per hop for the
    // acknowledgement.
    NS_TEST_ASSERT_MSG_EQ(ReadFile("fct.txt"),
                          "0b000001 0b000101 10000 100 1000000 2000000000 87091 88000\n",
                          "the columns of fct.txt");
    NS_TEST_ASSERT_MSG_EQ(ReadFile("pfc.txt"), "", "no pauses");
    const std::string queues = ReadFile("qlen.txt");
    NS_TEST_ASSERT_MSG_EQ(queues.substr(0, queues.find("time", 1)),
                          "time: 2000000000\n2 1 1\n2 2 1\n",
                          "the queues are empty at the start");
    NS_TEST_ASSERT_MSG_NE(queues.find("\n2 1 11\n2 2 11\n"),
                          std::string::npos,
                          "eleven samples in 1 us: " << queues);
}

void
HpccOneFlowTestCase::CheckEarlyEnd(const std::string& config)
{
    auto early = std::make_unique<HpccExperiment>(config);
    FabricHelper other(FabricHelper::UNCHANGED);
    Ptr<Fabric> alone = early->Build(other);
    alone->SetAttribute("StopWhenDone", BooleanValue(true));
    Simulator::Schedule(NanoSeconds(2000000550), [&early] { early.reset(); });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ((early == nullptr), true, "the experiment is destroyed");
    NS_TEST_ASSERT_MSG_EQ(alone->GetVerdict(),
                          Fabric::COMPLETED,
                          "the fabric continues without it");
    Simulator::Destroy();
}

/**
 * @ingroup evenkeel-tests
 * @brief The suite for experiments of the HPCC family.
 */
class EvenkeelHpccTestSuite : public TestSuite
{
  public:
    EvenkeelHpccTestSuite()
        : TestSuite("evenkeel-hpcc")
    {
        AddTestCase(new HpccOneFlowTestCase);
    }
};

/// The suite registers itself.
static EvenkeelHpccTestSuite g_evenkeelHpccTestSuite;

} // namespace tests
} // namespace ns3
