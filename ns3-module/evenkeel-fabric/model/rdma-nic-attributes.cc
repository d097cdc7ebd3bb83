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

static_assert(FABRIC_WITHOUT_LIMIT == 4294967295, "the default of RnrRetries and Retries");

/// An attribute that the core reads.
struct Row
{
    /// How it is named and set.
    struct Names
    {
        const char* name;    //!< of the attribute
        const char* key;     //!< key of [transport]; empty for queue pairs of scripts
        const char* unit;    //!< unit of its number in [transport]
        const char* initial; //!< its default, as text
    };

    Names names;                         //!< how it is named and set
    const char* help;                    //!< what it sets
    Ptr<const AttributeChecker> checker; //!< checks its values

    /// @return its default
    Ptr<AttributeValue> GetInitial() const
    {
        return checker->CreateValidValue(StringValue(names.initial));
    }
};

/// @return the attributes that the core reads
const std::vector<Row>&
Rows()
{
    static const std::vector<Row> rows = {
        {{"Payload", "payload", "B", "4096"},
         "Payload of a full packet, in bytes.",
         MakeUintegerChecker<uint32_t>(1, 65000)},
        {{"Header", "header", "B", "62"},
         "Headers of a data packet, including the frame check sequence, in bytes.",
         MakeUintegerChecker<uint32_t>(0, 500)},
        {{"AckBytes", "ack", "B", "64"},
         "Length of an acknowledgement on the wire, in bytes.",
         MakeUintegerChecker<uint32_t>(1, 65000)},
        {{"AckEvery", "ack_every", "", "1"},
         "Data packets per acknowledgement.",
         MakeUintegerChecker<uint32_t>(1, 32)},
        {{"AckPriority", "ack_priority", "", "true"},
         "Acknowledgements are sent before data on every wire.",
         MakeBooleanChecker()},
        {{"CongestionControl", "congestion_control", "", "dcqcn"},
         "The congestion control: line-rate, dcqcn, dcqcn-mlx, dctcp-rate, dctcp-window, nscc, "
         "swift or mswift.",
         MakeStringChecker()},
        {{"Recovery", "recovery", "", "auto"},
         "The loss recovery: auto (the default of the policy), go-back-n, sack, per-packet, "
         "erasure, mrc, rod or rudi.",
         MakeStringChecker()},
        {{"RetransmitTimeout", "retransmit_timeout", "", "1ms"},
         "The retransmission timer.",
         MakeTimeChecker(Time(0))},
        {{"Parameters", "", "", ""},
         "Further keys of a scenario's section [transport], separated by semicolons or "
         "newlines: 'cnp_interval = \"4us\"; parameters = { share = \"1/2\" }'.",
         MakeStringChecker()},
        {{"SendQueue", "", "", "1024"},
         "Work requests that the send queue of a queue pair holds.",
         MakeUintegerChecker<uint32_t>(1, FABRIC_DEEPEST_QUEUE)},
        {{"ReceiveQueue", "", "", "1024"},
         "Receives that the receive queue of a queue pair holds.",
         MakeUintegerChecker<uint32_t>(1, FABRIC_DEEPEST_QUEUE)},
        {{"RnrTimer", "", "", "640us"},
         "Time that a sender waits after an RNR NAK before it retransmits.",
         MakeTimeChecker(Time(0))},
        {{"RnrRetries", "", "", "4294967295"},
         "The number of retries of work after consecutive RNR NAKs before it fails; the "
         "largest value means no limit.",
         MakeUintegerChecker<uint32_t>()},
        {{"Retries", "", "", "4294967295"},
         "The number of retries of work after consecutive timeouts before it fails; the "
         "largest value means no limit. Messages retry without limit.",
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
            made.AddAttribute(row.names.name,
                              row.help,
                              *row.GetInitial(),
                              Create<const KeyAccessor<RdmaNic>>(row.names.name,
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
        const std::string key = row.names.key;
        const std::string value = TomlOf(key, *m_values.at(row.names.name), row.names.unit);
        const bool isCovered = hasPreset && (key == "congestion_control" || key == "recovery" ||
                                             key == "retransmit_timeout");
        const bool isInitial = value == TomlOf(key, *row.GetInitial(), row.names.unit);
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
