// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "../model/roce-bytes.h"
#include "evenkeel-small-fabric.h"

#include "ns3/fabric-helper.h"
#include "ns3/fabric.h"
#include "ns3/rdma-nic-helper.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

/**
 * @param packet a packet of a fabric
 * @param bytes the encoder, which has recorded all earlier packets
 * @return its bytes
 */
std::vector<uint8_t>
BytesOf(const FabricPacket& packet, const RoceBytes& bytes)
{
    Ptr<Packet> made = bytes.MakePacket(packet);
    std::vector<uint8_t> copy(made->GetSize());
    made->CopyData(copy.data(), made->GetSize());
    return copy;
}

/**
 * @param bytes of a packet
 * @param at index of a byte
 * @return the 16-bit integer at that index
 */
uint32_t
Short(const std::vector<uint8_t>& bytes, std::size_t at)
{
    return static_cast<uint32_t>(bytes[at]) << 8 | bytes[at + 1];
}

/**
 * @brief Computes the invariant CRC bit by bit. It covers 8 bytes of ones for the local route
 * header, then all bytes from IP on, with ones for the fields that routers may change.
 * @param bytes of a packet, including its CRC
 * @return the expected CRC
 */
uint32_t
SlowInvariantCrc(std::vector<uint8_t> bytes)
{
    bytes.resize(bytes.size() - 4);
    for (const std::size_t at : {15, 22, 24, 25, 40, 41, 46})
    {
        bytes[at] = 0xff;
    }
    for (std::size_t at = 6; at < 14; ++at)
    {
        bytes[at] = 0xff;
    }
    uint32_t crc = 0xffffffffU;
    for (std::size_t at = 6; at < bytes.size(); ++at)
    {
        for (unsigned bit = 0; bit < 8; ++bit)
        {
            const bool one = ((crc ^ static_cast<uint32_t>(bytes[at] >> bit)) & 1) != 0;
            crc = (crc >> 1) ^ (one ? 0xedb88320U : 0);
        }
    }
    return ~crc;
}

/// Tests the opcodes, lengths and fields of every kind of packet.
class RoceBytesTestCase : public TestCase
{
  public:
    RoceBytesTestCase()
        : TestCase("packets have the opcodes, lengths, PSNs and ECN bits of RoCEv2")
    {
    }

  private:
    void DoRun() override
    {
        RoceBytes bytes;
        FabricPacket data;
        data.src = 1;
        data.dst = 2;
        data.qp = 0x123456;
        data.wireBytes = 4158;
        data.entropy = 0xabcd;
        // A message of three packets, then a message of one packet.
        std::vector<uint8_t> opcodes;
        for (uint32_t psn = 7; psn < 11; ++psn)
        {
            data.psn = psn;
            data.flags = psn >= 9 ? FabricPacket::LAST : 0;
            bytes.RecordSent(data);
            const std::vector<uint8_t> made = BytesOf(data, bytes);
            NS_TEST_EXPECT_MSG_EQ(made.size(), 4154, "the frame check sequence is missing");
            opcodes.push_back(made[42]);
            NS_TEST_EXPECT_MSG_EQ(+made[53], psn, "sequence number");
            NS_TEST_EXPECT_MSG_EQ(Short(made, 12), 0x0800, "IPv4");
            NS_TEST_EXPECT_MSG_EQ(Short(made, 34), 0xebcd, "entropy");
            NS_TEST_EXPECT_MSG_EQ(Short(made, 36), 4791, "RoCEv2");
            NS_TEST_EXPECT_MSG_EQ(+made[47], 0x12, "QP");
            NS_TEST_EXPECT_MSG_EQ(Short(made, 48), 0x3456, "QP");
            NS_TEST_EXPECT_MSG_EQ((made[15] & 3), 2, "ECN capable");
        }
        const std::vector<uint8_t> expected{0x06, 0x07, 0x08, 0x0a};
        NS_TEST_EXPECT_MSG_EQ((opcodes == expected), true, "first, middle, last, only");
        data.flags |= FabricPacket::MARKED;
        NS_TEST_EXPECT_MSG_EQ((BytesOf(data, bytes)[15] & 3), 3, "marked");
        std::vector<uint8_t> whole = BytesOf(data, bytes);
        uint32_t crc = 0;
        for (unsigned at = 1; at <= 4; ++at)
        {
            crc = crc << 8 | whole[whole.size() - at];
        }
        NS_TEST_EXPECT_MSG_EQ(crc, SlowInvariantCrc(whole), "invariant CRC");
        FabricPacket answer;
        answer.wireBytes = 64;
        answer.kind = FabricPacketKind::ACK;
        answer.ack = 8;
        std::vector<uint8_t> made = BytesOf(answer, bytes);
        NS_TEST_EXPECT_MSG_EQ(+made[42], 0x11, "acknowledgement");
        NS_TEST_EXPECT_MSG_EQ(+made[53], 7, "the PSN of the last packet that arrived");
        NS_TEST_EXPECT_MSG_EQ((made[54] >> 5), 0, "positive");
        answer.kind = FabricPacketKind::NACK;
        made = BytesOf(answer, bytes);
        NS_TEST_EXPECT_MSG_EQ(+made[53], 8, "the PSN of the missing packet");
        NS_TEST_EXPECT_MSG_EQ(+made[54], 0x60, "sequence error");
        answer.kind = FabricPacketKind::CNP;
        made = BytesOf(answer, bytes);
        NS_TEST_EXPECT_MSG_EQ(+made[42], 0x81, "congestion notification");
        NS_TEST_EXPECT_MSG_EQ(+made[46], 0x40, "BECN");
        NS_TEST_EXPECT_MSG_EQ(made.size(), 14 + 20 + 8 + 12 + 16 + 4, "16 reserved bytes");
        answer.kind = FabricPacketKind::PAUSE;
        made = BytesOf(answer, bytes);
        NS_TEST_EXPECT_MSG_EQ(Short(made, 12), 0x8808, "MAC control");
        NS_TEST_EXPECT_MSG_EQ(Short(made, 14), 0x0101, "priority flow control");
        NS_TEST_EXPECT_MSG_EQ(made.size(), 60, "the smallest frame");
    }
};

/// Tests a capture of two hosts with Wireshark's dissector, if installed.
class CaptureTestCase : public TestCase
{
  public:
    CaptureTestCase()
        : TestCase("Wireshark dissects a capture as RoCEv2")
    {
    }

  private:
    void DoRun() override
    {
        const std::string file = CreateTempDirFilename("two-hosts.pcap");
        {
            FabricHelper helper;
            helper.SetNicAttribute("CongestionControl", StringValue("line-rate"));
            Ptr<Fabric> fabric = helper.CreateLeafSpine(1, 1, 2);
            fabric->GetNic(0)->PostMessage(fabric->GetNic(1), 3 * 4096);
            RdmaNicHelper().EnablePcap(file, fabric->GetNic(0), true, true);
            Simulator::Run();
        }
        Simulator::Destroy();
        std::ifstream capture(file, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(capture)),
                                std::istreambuf_iterator<char>());
        // A file header of 24 bytes, then three packets and three acknowledgements, each with a
        // record header of 16 bytes.
        NS_TEST_EXPECT_MSG_EQ(bytes.size(), 24 + 3 * (16 + 4154) + 3 * (16 + 62), "capture");
        if (OutputOf("tshark --version 2>/dev/null").empty())
        {
            std::cout << "skipped: tshark is not installed" << std::endl;
            return;
        }
        const std::string fields = OutputOf("tshark -r '" + file +
                                            "' -Y infiniband.bth -T fields "
                                            "-e infiniband.bth.opcode -e infiniband.bth.psn "
                                            "-e infiniband.bth.destqp "
                                            "-e frame.time_relative 2>/dev/null");
        NS_TEST_EXPECT_MSG_EQ(fields,
                              "6\t0\t0x000000\t0.000000000\n"
                              "7\t1\t0x000000\t0.000000083\n"
                              "8\t2\t0x000000\t0.000000167\n"
                              "17\t0\t0x000000\t0.000002168\n"
                              "17\t1\t0x000000\t0.000002252\n"
                              "17\t2\t0x000000\t0.000002336\n",
                              "the fields that Wireshark prints");
        const std::string malformed =
            OutputOf("tshark -r '" + file + "' -Y _ws.malformed 2>/dev/null; true");
        NS_TEST_EXPECT_MSG_EQ(malformed, "", "malformed packets");
    }
};

/// The suite.
class EvenkeelCaptureTestSuite : public TestSuite
{
  public:
    EvenkeelCaptureTestSuite()
        : TestSuite("evenkeel-capture")
    {
        AddTestCase(new RoceBytesTestCase);
        AddTestCase(new CaptureTestCase);
    }
};

EvenkeelCaptureTestSuite g_evenkeelCaptureTestSuite; //!< registers itself

} // namespace
