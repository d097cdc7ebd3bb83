// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_TEST_TWO_HOSTS_H
#define EVENKEEL_TEST_TWO_HOSTS_H

// Shared by the verbs suites: two hosts with a queue pair each, completions and errors as text.

#include "evenkeel-small-fabric.h"

#include "ns3/rdma-qp.h"

#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>

namespace ns3
{

namespace tests
{

/// Transmission time of a byte at 400 Gbps, in picoseconds.
inline constexpr uint64_t BYTE = 20;
/// Propagation delay of a link, in picoseconds.
inline constexpr uint64_t LINK = 500000;

/// Returns the time that a packet of this length takes over the two links between two hosts.
constexpr uint64_t
Across(uint64_t bytes)
{
    return 2 * (bytes * BYTE + LINK);
}

/// Two hosts on one switch, with a queue pair each.
struct TwoHosts
{
    FabricHelper helper; //!< makes the fabric
    Ptr<Fabric> fabric;  //!< the fabric
    Ptr<RdmaQp> a;       //!< at host 0
    Ptr<RdmaQp> b;       //!< at host 1

    TwoHosts()
    {
        helper.SetNicAttribute("CongestionControl", StringValue("line-rate"));
    }

    ~TwoHosts()
    {
        Simulator::Destroy();
    }

    /// Makes the fabric and the queue pairs.
    void Make()
    {
        fabric = helper.CreateLeafSpine(1, 1, 2);
        std::tie(a, b) = RdmaNicHelper::ConnectQps(fabric->GetNic(0), fabric->GetNic(1));
    }
};

/**
 * @param qp a queue pair
 * @return its completions, one per line
 */
inline std::string
Completions(Ptr<RdmaQp> qp)
{
    std::ostringstream text;
    FabricCompletion completion;
    while (qp->PollCompletion(completion))
    {
        text << completion << "\n";
    }
    return text.str();
}

/**
 * @param verb a function that must throw an exception
 * @return the kind of the exception and its message; empty without an exception
 */
template <class Verb>
std::string
ErrorOf(Verb verb)
{
    try
    {
        verb();
    }
    catch (const std::invalid_argument& error)
    {
        return std::string("invalid: ") + error.what();
    }
    catch (const std::runtime_error& error)
    {
        return std::string("runtime: ") + error.what();
    }
    return "";
}

} // namespace tests

} // namespace ns3

#endif /* EVENKEEL_TEST_TWO_HOSTS_H */
