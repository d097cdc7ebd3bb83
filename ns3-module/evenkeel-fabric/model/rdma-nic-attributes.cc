// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric.h"
#include "key-accessor.h"
#include "rdma-nic.h"
#include "toml-of.h"

#include "ns3/boolean.h"
#include "ns3/policy-parameters.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <sstream>
#include <vector>

// RdmaNic's attributes and trace sources, and the section of a scenario made from the attributes.

namespace ns3
{

namespace
{

/// An attribute that the core reads.
struct Row
{
    const char* name;                    //!< of the attribute
    const char* key;                     //!< key of [transport]; empty for queue pairs of scripts
    const char* unit;                    //!< unit of its number in [transport]
    const char* help;                    //!< what it sets
    Ptr<AttributeValue> initial;         //!< its default
    Ptr<const AttributeChecker> checker; //!< checks its values
};

/// @return the attributes that the core reads
const std::vector<Row>&
Rows()
{
    const auto number = [](uint64_t value) { return Create<UintegerValue>(value); };
    const auto text = [](const char* value) { return Create<StringValue>(value); };
    static const std::vector<Row> rows = {
        {"Payload",
         "payload",
         "B",
         "Payload of a full packet, in bytes.",
         number(4096),
         MakeUintegerChecker<uint32_t>(1, 65000)},
        {"Header",
         "header",
         "B",
         "Headers of a data packet, including the frame check sequence, in bytes.",
         number(62),
         MakeUintegerChecker<uint32_t>(0, 500)},
        {"AckBytes",
         "ack",
         "B",
         "Length of an acknowledgement on the wire, in bytes.",
         number(64),
         MakeUintegerChecker<uint32_t>(1, 65000)},
        {"AckEvery",
         "ack_every",
         "",
         "Data packets per acknowledgement.",
         number(1),
         MakeUintegerChecker<uint32_t>(1, 32)},
        {"AckPriority",
         "ack_priority",
         "",
         "Acknowledgements are sent before data on every wire.",
         Create<BooleanValue>(true),
         MakeBooleanChecker()},
        {"CongestionControl",
         "congestion_control",
         "",
         "The congestion control: line-rate, dcqcn, dcqcn-mlx, dctcp-rate, dctcp-window, nscc, "
         "swift or mswift.",
         text("dcqcn"),
         MakeStringChecker()},
        {"Recovery",
         "recovery",
         "",
         "The loss recovery: auto (the default of the policy), go-back-n, sack, per-packet, "
         "erasure, mrc, rod or rudi.",
         text("auto"),
         MakeStringChecker()},
        {"RetransmitTimeout",
         "retransmit_timeout",
         "",
         "The retransmission timer.",
         Create<TimeValue>(MilliSeconds(1)),
         MakeTimeChecker(Time(0))},
        {"Parameters",
         "",
         "",
         "Further keys of a scenario's section [transport], separated by semicolons or newlines: "
         "'cnp_interval = \"4us\"; parameters = { share = \"1/2\" }'.",
         text(""),
         MakeStringChecker()},
        {"SendQueue",
         "",
         "",
         "Work requests that the send queue of a queue pair holds.",
         number(1024),
         MakeUintegerChecker<uint32_t>(1, FABRIC_DEEPEST_QUEUE)},
        {"ReceiveQueue",
         "",
         "",
         "Receives that the receive queue of a queue pair holds.",
         number(1024),
         MakeUintegerChecker<uint32_t>(1, FABRIC_DEEPEST_QUEUE)},
        {"RnrTimer",
         "",
         "",
         "Time that a sender waits after an RNR NAK before it retransmits.",
         Create<TimeValue>(MicroSeconds(640)),
         MakeTimeChecker(Time(0))},
        {"RnrRetries",
         "",
         "",
         "The number of retries of work after consecutive RNR NAKs before it fails; the largest "
         "value means no limit.",
         number(FABRIC_WITHOUT_LIMIT),
         MakeUintegerChecker<uint32_t>()},
        {"Retries",
         "",
         "",
         "The number of retries of work after consecutive timeouts before it fails; the largest "
         "value means no limit. Messages retry without limit.",
         number(FABRIC_WITHOUT_LIMIT),
         MakeUintegerChecker<uint32_t>()},
    };
    return rows;
}

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
    static TypeId tid = [] {
        TypeId made = TypeId("ns3::RdmaNic")
                          .SetParent<FabricPort>()
                          .SetGroupName("Evenkeel")
                          .AddConstructor<RdmaNic>();
        for (const Row& row : Rows())
        {
            made.AddAttribute(row.name,
                              row.help,
                              *row.initial,
                              Create<const KeyAccessor<RdmaNic>>(row.name,
                                                                 &RdmaNic::m_values,
                                                                 &RdmaNic::HandleAttribute),
                              row.checker);
        }
        return AddTraceSources(made);
    }();
    return tid;
}

TypeId
RdmaNic::AddTraceSources(TypeId tid)
{
    return tid
        .AddAttribute("IpQueueBytes",
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
                        "ns3::FabricPort::PacketTracedCallback");
}

void
RdmaNic::HandleAttribute()
{
    if (m_fabric)
    {
        m_fabric->CheckAttributes();
    }
}

std::string
RdmaNic::DescribeSettings() const
{
    const std::string parameters = DynamicCast<StringValue>(m_values.at("Parameters"))->Get();
    // A preset is the base of what it covers, unless an attribute is set to another value.
    const bool hasPreset = NamesKey(parameters, "preset");
    const bool hasTimeout = NamesKey(parameters, "ack_timeout");
    std::ostringstream text;
    text << "[transport]\n";
    for (const Row& row : Rows())
    {
        const std::string key = row.key;
        const std::string value = TomlOf(key, *m_values.at(row.name), row.unit);
        const bool isCovered = hasPreset && (key == "congestion_control" || key == "recovery" ||
                                             key == "retransmit_timeout");
        const bool isInitial = value == TomlOf(key, *row.initial, row.unit);
        if (!key.empty() && !(isCovered && isInitial) &&
            !(hasTimeout && key == "retransmit_timeout"))
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
        return static_cast<uint32_t>(DynamicCast<UintegerValue>(m_values.at(name))->Get());
    };
    FabricQpSettings settings;
    settings.sendQueue = number("SendQueue");
    settings.receiveQueue = number("ReceiveQueue");
    const Time timer = DynamicCast<TimeValue>(m_values.at("RnrTimer"))->Get();
    settings.rnrTimerPs = static_cast<uint64_t>(timer.GetPicoSeconds());
    settings.rnrRetries = number("RnrRetries");
    settings.retries = number("Retries");
    return settings;
}

std::string
RdmaNic::DescribeAttributes() const
{
    std::string text;
    for (const auto& [name, value] : m_values)
    {
        text += name + "=" + TomlOf(name, *value) + "\n";
    }
    return text;
}

} // namespace ns3
