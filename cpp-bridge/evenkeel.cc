// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// Implements evenkeel.h with the contract in rust/bridge/chooser.rs.

#include "evenkeel.h"

#include "evenkeel-bridge/chooser.rs.h"
#include "rust/cxx.h"

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace evenkeel
{

namespace
{

// Makes the chooser in Rust. Converts rust::Error, which belongs to cxx, to a standard exception.
rust::Box<contract::SwitchChooser>
makeChooser(const std::string& policy, const std::string& parameters, const Switch& facts)
{
    contract::SwitchFacts properties{};
    properties.seed = facts.seed;
    properties.port_buffer_bytes = facts.portBufferBytes;
    properties.base_rtt_ps = facts.baseRttPs;
    properties.switch_id = facts.id;
    properties.ports = facts.ports;
    properties.tier = facts.tier;
    properties.own_senders = facts.senders == Senders::OfPolicy;
    properties.hash_control = facts.acknowledgements == Acknowledgements::Hashed;
    try
    {
        return contract::switch_chooser(policy, parameters, properties);
    }
    catch (const rust::Error& error)
    {
        throw std::invalid_argument(error.what());
    }
}

// Makes a slice of an array; empty if the array is null.
template <typename T>
rust::Slice<const T>
sliceOf(const T* values, std::uint32_t count)
{
    return values ? rust::Slice<const T>(values, count) : rust::Slice<const T>();
}

// Returns the value of an environment variable; empty if it is not set.
std::string
environment(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

} // namespace

std::string
version()
{
    return std::string(contract::version());
}

struct SwitchChooser::Impl
{
    explicit Impl(rust::Box<contract::SwitchChooser> made)
        : chooser(std::move(made))
    {
    }

    rust::Box<contract::SwitchChooser> chooser;
};

SwitchChooser::SwitchChooser(const std::string& policy,
                             const std::string& parameters,
                             const Switch& facts)
    : m_impl(new Impl(makeChooser(policy, parameters, facts)))
{
}

SwitchChooser::~SwitchChooser() = default;
SwitchChooser::SwitchChooser(SwitchChooser&& other) noexcept = default;
SwitchChooser& SwitchChooser::operator=(SwitchChooser&& other) noexcept = default;

std::unique_ptr<SwitchChooser>
SwitchChooser::fromEnvironment(std::uint32_t id, std::uint32_t ports)
{
    const std::string policy = environment("EVENKEEL_POLICY");
    if (policy.empty())
    {
        return nullptr;
    }
    Switch facts;
    facts.id = id;
    facts.ports = ports;
    const std::string seed = environment("EVENKEEL_SEED");
    if (!seed.empty())
    {
        char* end = nullptr;
        facts.seed = std::strtoull(seed.c_str(), &end, 10);
        if (*end != '\0')
        {
            throw std::invalid_argument("EVENKEEL_SEED is '" + seed +
                                        "': expected a number, such as 1");
        }
    }
    const std::string acknowledgements = environment("EVENKEEL_ACKNOWLEDGEMENTS");
    if (acknowledgements == "hash")
    {
        facts.acknowledgements = Acknowledgements::Hashed;
    }
    else if (!acknowledgements.empty() && acknowledgements != "policy")
    {
        throw std::invalid_argument("EVENKEEL_ACKNOWLEDGEMENTS is '" + acknowledgements +
                                    "': expected policy or hash");
    }
    return std::unique_ptr<SwitchChooser>(
        new SwitchChooser(policy, environment("EVENKEEL_PARAMETERS"), facts));
}

std::uint32_t
SwitchChooser::choose(const Arrival& arrival, const Candidates& candidates)
{
    contract::Arrival packet{};
    packet.now_ps = arrival.nowPs;
    packet.label = arrival.label;
    packet.wire_bytes = arrival.bytes;
    packet.edge = arrival.edge;
    packet.pod = arrival.pod;
    packet.entropy = arrival.entropy;
    packet.control = arrival.control;
    return m_impl->chooser->choose(packet,
                                   sliceOf(candidates.ports, candidates.count),
                                   sliceOf(candidates.queueBytes, candidates.count),
                                   sliceOf(candidates.weights, candidates.count));
}

void
SwitchChooser::routingChanged()
{
    m_impl->chooser->routing_changed();
}

bool
SwitchChooser::looksAtQueues() const
{
    return m_impl->chooser->looks_at_queues();
}

bool
SwitchChooser::usesWeights() const
{
    return m_impl->chooser->uses_weights();
}

std::uint64_t
SwitchChooser::flowletGapPs() const
{
    return m_impl->chooser->flowlet_gap_ps();
}

std::uint64_t
SwitchChooser::stateBits() const
{
    return m_impl->chooser->state_bits();
}

} // namespace evenkeel
