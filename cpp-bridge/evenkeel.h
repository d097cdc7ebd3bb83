// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors
//
// evenkeel's policies for C++ programs, from C++11 on. A program needs this header and the static
// library. README.md in this folder shows the command that builds it, and the lines to add to forks
// of ns-3.

#ifndef EVENKEEL_H
#define EVENKEEL_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace evenkeel
{

/// Returns the version of the linked library, such as "0.1.0".
std::string version();

/// Source of the packets' entropy values, which sender policies (spray, flowlet) choose.
enum class Senders
{
    /// Senders do not run the policy (TCP, another NIC). The switch chooses entropy values by flow,
    /// for policies that need no feedback.
    Other,
    /// Senders put the policy's entropy values into packets.
    OfPolicy
};

/// Routing of acknowledgements and other control packets.
enum class Acknowledgements
{
    /// The policy chooses their ports, as for data.
    ByPolicy,
    /// A hash of the flow chooses their ports, regardless of the policy.
    Hashed
};

/// Constant properties of a switch.
struct Switch
{
    /// Seed of the run.
    std::uint64_t seed = 1;
    /// Id of the switch, unique in a run.
    std::uint32_t id = 0;
    /// Number of ports; port numbers are smaller.
    std::uint32_t ports = 64;
    /// Number of switch tiers between it and the hosts: 0 at the edge.
    std::uint8_t tier = 0;
    /// Buffer of one port, in bytes. Thresholds of `adaptive` are fractions of it.
    std::uint64_t portBufferBytes = 1000000;
    /// Longest round-trip time of the idle network, in picoseconds. The default gap of `flowlet` is
    /// half of it.
    std::uint64_t baseRttPs = 8000000;
    /// The source of entropy values.
    Senders senders = Senders::Other;
    /// Routing of packets with Arrival::control.
    Acknowledgements acknowledgements = Acknowledgements::ByPolicy;
};

/// A packet that needs an output port, as the switch sees it.
struct Arrival
{
    Arrival() = default;

    /// Makes the arrival of a flow's packet.
    Arrival(std::uint64_t timePs, std::uint32_t flowLabel, std::uint32_t length)
        : nowPs(timePs),
          label(flowLabel),
          bytes(length)
    {
    }

    /// Time of the arrival, in picoseconds. A time before that of an earlier packet is raised to
    /// that time.
    std::uint64_t nowPs = 0;
    /// Hash of the flow: the 5-tuple without the field in `entropy`.
    std::uint32_t label = 0;
    /// Header field that the sender varies, such as the UDP source port; 0 if the label includes
    /// it.
    std::uint16_t entropy = 0;
    /// Length on the wire, in bytes.
    std::uint32_t bytes = 0;
    /// Edge switch of the destination, taken modulo 65,536; only `ofan` uses it.
    std::uint32_t edge = 0;
    /// Pod of the destination, taken modulo 65,536; only `ofan` uses it.
    std::uint32_t pod = 0;
    /// True for an acknowledgement or another packet without a payload.
    bool control = false;
};

/// The equal-cost ports of a packet.
struct Candidates
{
    /// Port numbers within the switch, the same for all destinations.
    const std::uint32_t* ports = nullptr;
    /// Number of candidates.
    std::uint32_t count = 0;
    /// Bytes queued at each port; may be null for policies that do not look at queues.
    const std::uint64_t* queueBytes = nullptr;
    /// Weight of each port; null if all are equal.
    const std::uint32_t* weights = nullptr;
};

/// The load-balancing policy of one switch: chooses one of the equal-cost ports for each packet.
/// Threads must not share it.
class SwitchChooser
{
  public:
    /// Makes the chooser of a switch. `policy` is a name that `evenkeel list policies` prints.
    /// `parameters` are lines of TOML, as in a scenario's `[policy]`, such as "gap = \"50us\"". The
    /// same seed and id give the same choices in every run and on every platform.
    ///
    /// Throws std::invalid_argument for an unknown policy or parameter, with a list of known ones,
    /// and for a policy that needs more than a switch, with an explanation.
    SwitchChooser(const std::string& policy, const std::string& parameters, const Switch& facts);
    ~SwitchChooser();
    SwitchChooser(SwitchChooser&& other) noexcept;
    SwitchChooser& operator=(SwitchChooser&& other) noexcept;

    /// Makes the chooser of switch `id` from the environment: EVENKEEL_POLICY, EVENKEEL_PARAMETERS
    /// (default: none), EVENKEEL_SEED (default: 1) and EVENKEEL_ACKNOWLEDGEMENTS ("policy", the
    /// default, or "hash"). Returns null if EVENKEEL_POLICY is unset or empty. Throws as the
    /// constructor does.
    static std::unique_ptr<SwitchChooser> fromEnvironment(std::uint32_t id, std::uint32_t ports);

    /// Chooses one of the first 65,536 candidates for the packet. Returns its index; 0 without
    /// candidates. Never throws or aborts, even for invalid values.
    std::uint32_t choose(const Arrival& arrival, const Candidates& candidates);

    /// Does the same for switches that keep their equal-cost ports as numbers in a vector, as the
    /// HPCC family of ns-3 forks does. Returns an index into `ports`. Only policies that look at
    /// queues call `queueBytes(port)`.
    template <typename QueueBytes>
    std::uint32_t chooseIndex(const Arrival& arrival,
                              const std::vector<int>& ports,
                              QueueBytes queueBytes);

    /// Notifies the policy that candidates or weights changed; must be called at each change.
    void routingChanged();

    /// True if the policy uses Candidates::queueBytes.
    bool looksAtQueues() const;

    /// True if the policy sets weights by capacity (`wcmp`, or weights = "capacity"). Other
    /// policies also use Candidates::weights if given.
    bool usesWeights() const;

    /// Returns the flowlet gap in picoseconds; 0 if the policy has no flowlets.
    std::uint64_t flowletGapPs() const;

    /// Returns the size of the policy's state, without its configuration, in bits.
    std::uint64_t stateBits() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
    /// Scratch buffers of chooseIndex, which avoid an allocation per packet.
    std::vector<std::uint32_t> m_ports;
    std::vector<std::uint64_t> m_queueBytes;
};

template <typename QueueBytes>
std::uint32_t
SwitchChooser::chooseIndex(const Arrival& arrival,
                           const std::vector<int>& ports,
                           QueueBytes queueBytes)
{
    m_ports.assign(ports.begin(), ports.end());
    Candidates candidates;
    candidates.ports = m_ports.data();
    candidates.count = static_cast<std::uint32_t>(m_ports.size());
    if (looksAtQueues() && candidates.count > 1)
    {
        m_queueBytes.clear();
        for (int port : ports)
        {
            m_queueBytes.push_back(queueBytes(port));
        }
        candidates.queueBytes = m_queueBytes.data();
    }
    return choose(arrival, candidates);
}

} // namespace evenkeel

#endif // EVENKEEL_H
