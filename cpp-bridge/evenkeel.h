// SPDX-License-Identifier: GPL-2.0-only
//
// evenkeel for C++ programs: any simulator, from C++11 on. Needs nothing but this header and the
// static library (cargo build --release --features bridge).

#ifndef EVENKEEL_H
#define EVENKEEL_H

#include <cstdint>
#include <memory>
#include <string>

namespace evenkeel
{

/// The version of the library that is linked, such as "0.1.0".
std::string version();

/// The load-balancing policy of one switch: picks one of the equal-cost ports for each packet.
/// Not to be shared between threads.
class SwitchChooser
{
  public:
    /// The chooser of switch number `switchId` under `policy`, a name that `evenkeel list policies`
    /// prints and whose switches hash ("ecmp", "spray"). The same seed and number give the same
    /// choices in every run and on every platform.
    ///
    /// Throws std::invalid_argument for an unknown policy, naming those there are, and for one
    /// whose switches do not choose by headers alone.
    SwitchChooser(const std::string& policy, std::uint64_t seed, std::uint32_t switchId);
    ~SwitchChooser();
    SwitchChooser(SwitchChooser&& other) noexcept;
    SwitchChooser& operator=(SwitchChooser&& other) noexcept;

    /// Which of `candidates` equal-cost ports a packet leaves by: an index below it (0 where there
    /// is no candidate). `label` is a hash of the packet's 5-tuple without the entropy value;
    /// `entropy` is what its sender varies, such as the UDP source port. Never throws.
    std::uint32_t choose(std::uint32_t label, std::uint16_t entropy, std::uint32_t candidates);

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace evenkeel

#endif // EVENKEEL_H
