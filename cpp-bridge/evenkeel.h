// SPDX-License-Identifier: GPL-2.0-only
//
// evenkeel for C++ programs: any simulator, from C++11 on. Needs nothing but this header and the
// static library (cargo build --release --features bridge). README.md beside it shows the lines
// that forks of ns-3 add.

#ifndef EVENKEEL_H
#define EVENKEEL_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace evenkeel
{

/// The version of the library that is linked, such as "0.1.0".
std::string version();

/// Where the entropy values of packets come from, which policies of senders (spray, flowlet)
/// choose.
enum class Senders
{
    /// Senders know nothing of the policy (TCP, another NIC): the switch chooses by flow, for
    /// policies that need no feedback.
    Other,
    /// Senders put the policy's entropy values into packets.
    OfPolicy
};

/// What a chooser is told of its switch once and for all.
struct Switch
{
    /// Of the run.
    std::uint64_t seed = 1;
    /// Tells the switches of one run apart.
    std::uint32_t id = 0;
    /// How many ports it has: their numbers are below.
    std::uint32_t ports = 64;
    /// Switch tiers between it and the hosts: 0 at the edge.
    std::uint8_t tier = 0;
    /// What waits at one port at most: thresholds of `adaptive` are parts of it.
    std::uint64_t portBufferBytes = 1000000;
    /// The longest round trip of the idle network: the gap of `flowlet` is half of it, unless its
    /// parameter says otherwise.
    std::uint64_t baseRttPs = 8000000;
    Senders senders = Senders::Other;
};

/// What a switch sees of a packet that it has to choose a port for.
struct Arrival
{
    Arrival() = default;

    /// Of a packet of so many bytes.
    Arrival(std::uint64_t timePs, std::uint32_t flowLabel, std::uint32_t length)
        : nowPs(timePs),
          label(flowLabel),
          bytes(length)
    {
    }

    std::uint64_t nowPs = 0;
    /// A hash of the flow: of the 5-tuple, without what `entropy` has.
    std::uint32_t label = 0;
    /// What the sender varies, such as the UDP source port; 0 if it is in the label.
    std::uint16_t entropy = 0;
    /// Length on the wire.
    std::uint32_t bytes = 0;
    /// The edge switch of the destination, and its pod; for `ofan` alone.
    std::uint32_t edge = 0;
    std::uint32_t pod = 0;
    /// Whether it is an acknowledgement or another packet without a payload.
    bool control = false;
};

/// The equal-cost ports of a packet.
struct Candidates
{
    /// Their numbers in the switch, the same for all destinations.
    const std::uint32_t* ports = nullptr;
    std::uint32_t count = 0;
    /// Bytes that wait at each; may be null for policies that do not look at queues.
    const std::uint64_t* queueBytes = nullptr;
    /// The share that routing gives each; null where all are alike.
    const std::uint32_t* weights = nullptr;
};

/// The load-balancing policy of one switch: picks one of the equal-cost ports for each packet.
/// Not to be shared between threads.
class SwitchChooser
{
  public:
    /// The chooser of a switch under `policy`, a name that `evenkeel list policies` prints.
    /// `parameters` are lines of TOML, as in `[policy]` of a scenario, such as "gap = \"50us\"".
    /// The same seed and number give the same choices in every run and on every platform.
    ///
    /// Throws std::invalid_argument for an unknown policy or parameter, naming those there are,
    /// and for a policy that a switch alone cannot serve, saying why.
    SwitchChooser(const std::string& policy, const std::string& parameters, const Switch& facts);
    ~SwitchChooser();
    SwitchChooser(SwitchChooser&& other) noexcept;
    SwitchChooser& operator=(SwitchChooser&& other) noexcept;

    /// The chooser of switch `id` under the policy that the environment names: EVENKEEL_POLICY,
    /// EVENKEEL_PARAMETERS (none by default) and EVENKEEL_SEED (1 by default). Null where
    /// EVENKEEL_POLICY is not set or empty. Throws as the constructor does.
    static std::unique_ptr<SwitchChooser> fromEnvironment(std::uint32_t id, std::uint32_t ports);

    /// Which of the candidates the packet leaves by: an index below their count (0 where there is
    /// none). Never throws.
    std::uint32_t choose(const Arrival& arrival, const Candidates& candidates);

    /// The same for switches that keep their equal-cost ports (at least one) as numbers in a
    /// vector, as the HPCC family of ns-3 forks does: one of `ports`. `queueBytes(port)` is asked
    /// only by policies that look at queues.
    template <typename QueueBytes>
    int choosePort(const Arrival& arrival, const std::vector<int>& ports, QueueBytes queueBytes);

    /// To be called when candidates or weights change: what was made from them is made anew.
    void routingChanged();

    /// Whether the policy heeds Candidates::queueBytes.
    bool looksAtQueues() const;

    /// What the switch keeps for the policy beyond its configuration, in bits.
    std::uint64_t stateBits() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
    /// What choosePort hands on; kept to keep their memory.
    std::vector<std::uint32_t> m_ports;
    std::vector<std::uint64_t> m_queueBytes;
};

template <typename QueueBytes>
int
SwitchChooser::choosePort(const Arrival& arrival,
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
    return ports[choose(arrival, candidates)];
}

} // namespace evenkeel

#endif // EVENKEEL_H
