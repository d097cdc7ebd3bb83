// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "rdma-nic.h"

#include "ns3/boolean.h"
#include "ns3/nstime.h"
#include "ns3/policy-parameters.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <sstream>

// RdmaNic's attributes and trace sources, and the section of a scenario made from the attributes.

namespace ns3
{

namespace
{

static_assert(FABRIC_WITHOUT_LIMIT == 4294967295, "the default of RnrRetries and Retries");

/// An attribute as a key of a scenario.
struct Key
{
    const char* attribute; //!< name of the attribute
    const char* key;       //!< key of [transport]
    const char* unit;      //!< unit of its number there
    const char* covered;   //!< default, as TOML, that a preset replaces; null without one
};

/// The attributes of [transport].
constexpr Key KEYS[] = {
    {"Payload", "payload", "B", nullptr},
    {"Header", "header", "B", nullptr},
    {"AckBytes", "ack", "B", nullptr},
    {"AckEvery", "ack_every", "", nullptr},
    {"AckPriority", "ack_priority", "", nullptr},
    {"CongestionControl", "congestion_control", "", "\"dcqcn\""},
    {"Recovery", "recovery", "", "\"auto\""},
    {"RetransmitTimeout", "retransmit_timeout", "", "\"1000000000ps\""},
};

/// @return true if a line of parameters sets the key
bool
NamesKey(const std::string& parameters, const std::string& key)
{
    std::istringstream lines(PolicyParameterLines(parameters));
    std::string line;
    while (std::getline(lines, line))
    {
        const std::string name = line.substr(0, line.find_first_of("=."));
        const auto begin = name.find_first_not_of(" \t");
        const auto end = name.find_last_not_of(" \t");
        if (name.size() < line.size() && begin != std::string::npos &&
            name.substr(begin, end + 1 - begin) == key)
        {
            return true;
        }
    }
    return false;
}

} // namespace

TypeId
RdmaNic::GetTypeId()
{
    static TypeId tid = AddTo(
        TypeId("ns3::RdmaNic")
            .SetParent<FabricPort>()
            .SetGroupName("Evenkeel")
            .AddConstructor<RdmaNic>()
            .AddAttribute(
                "IpQueueBytes",
                "IP packets that wait at each port to be sent, as frames in bytes; a packet "
                "that does not fit is dropped (MacTxDrop). Each packet waits before it "
                "starts, so a longer frame is always dropped.",
                UintegerValue(4000000),
                MakeUintegerAccessor(&RdmaNic::m_ipQueueBytes),
                MakeUintegerChecker<uint32_t>())
            .AddTraceSource("Completion",
                            "A work request or a receive of a queue pair of this NIC completed.",
                            MakeTraceSourceAccessor(&RdmaNic::m_completionTrace),
                            "ns3::RdmaQp::CompletionTracedCallback")
            .AddTraceSource("MessageDelivered",
                            "A message is delivered: this receiver has received every byte.",
                            MakeTraceSourceAccessor(&RdmaNic::m_deliveredTrace),
                            "ns3::RdmaNic::MessageTracedCallback")
            .AddTraceSource("MessageCompleted",
                            "A message of this sender completed: it is delivered and acknowledged.",
                            MakeTraceSourceAccessor(&RdmaNic::m_completedTrace),
                            "ns3::RdmaNic::MessageTracedCallback")
            .AddTraceSource("CnpReceived",
                            "A congestion notification packet (CNP) arrived.",
                            MakeTraceSourceAccessor(&RdmaNic::m_cnpTrace),
                            "ns3::FabricPort::PacketTracedCallback"),
        {
            {"Payload",
             "4096",
             MakeUintegerChecker<uint32_t>(1, 65000),
             "Payload of a full packet, in bytes."},
            {"Header",
             "62",
             MakeUintegerChecker<uint32_t>(0, 500),
             "Headers of a data packet, including the frame check sequence, in bytes."},
            {"AckBytes",
             "64",
             MakeUintegerChecker<uint32_t>(1, 65000),
             "Length of an acknowledgement on the wire, in bytes."},
            {"AckEvery",
             "1",
             MakeUintegerChecker<uint32_t>(1, 32),
             "Data packets per acknowledgement."},
            {"AckPriority",
             "true",
             MakeBooleanChecker(),
             "Acknowledgements are sent before data on every wire."},
            {"CongestionControl",
             "dcqcn",
             MakeStringChecker(),
             "The congestion control: line-rate, dcqcn, dcqcn-mlx, dctcp-rate, dctcp-window, nscc, "
             "swift or mswift."},
            {"Recovery",
             "auto",
             MakeStringChecker(),
             "The loss recovery: auto (the default of the policy), go-back-n, sack, per-packet, "
             "erasure, mrc, rod or rudi."},
            {"RetransmitTimeout", "1ms", MakeTimeChecker(Time(0)), "The retransmission timer."},
            {"Parameters",
             "",
             MakeStringChecker(),
             "Further keys of a scenario's section [transport], separated by semicolons or "
             "newlines: 'cnp_interval = \"4us\"; parameters = { share = \"1/2\" }'."},
            {"SendQueue",
             "1024",
             MakeUintegerChecker<uint32_t>(1, FABRIC_DEEPEST_QUEUE),
             "Work requests that the send queue of a queue pair holds."},
            {"ReceiveQueue",
             "1024",
             MakeUintegerChecker<uint32_t>(1, FABRIC_DEEPEST_QUEUE),
             "Receives that the receive queue of a queue pair holds."},
            {"RnrTimer",
             "640us",
             MakeTimeChecker(Time(0)),
             "Time that a sender waits after an RNR NAK before it retransmits."},
            {"RnrRetries",
             "4294967295",
             MakeUintegerChecker<uint32_t>(),
             "The number of retries of work after consecutive RNR NAKs before it fails; the "
             "largest value means no limit."},
            {"Retries",
             "4294967295",
             MakeUintegerChecker<uint32_t>(),
             "The number of retries of work after consecutive timeouts before it fails; the "
             "largest value means no limit. Messages retry without limit."},
        });
    return tid;
}

std::string
RdmaNic::DescribeSettings() const
{
    const std::string parameters = Read<StringValue>("Parameters");
    // A preset is the base of what it covers, unless an attribute is set to another value.
    const bool hasPreset = NamesKey(parameters, "preset");
    const bool hasTimeout = NamesKey(parameters, "ack_timeout");
    std::ostringstream text;
    text << "[transport]\n";
    for (const Key& each : KEYS)
    {
        const std::string key = each.key;
        const std::string value = ReadToml(each.attribute, each.unit);
        const bool isCovered = hasPreset && each.covered && value == each.covered;
        if (!isCovered && !(hasTimeout && key == "retransmit_timeout"))
        {
            text << key << " = " << value << "\n";
        }
    }
    text << PolicyParameterLines(parameters) << "\n";
    return text.str();
}

FabricQpSettings
RdmaNic::DescribeQueuePairs() const
{
    const auto number = [this](const char* name) {
        return static_cast<uint32_t>(Read<UintegerValue>(name));
    };
    FabricQpSettings settings;
    settings.sendQueue = number("SendQueue");
    settings.receiveQueue = number("ReceiveQueue");
    settings.rnrTimerPs = static_cast<uint64_t>(Read<TimeValue>("RnrTimer").GetPicoSeconds());
    settings.rnrRetries = number("RnrRetries");
    settings.retries = number("Retries");
    return settings;
}

} // namespace ns3
