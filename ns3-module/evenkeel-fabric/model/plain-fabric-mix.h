// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef PLAIN_FABRIC_MIX_H
#define PLAIN_FABRIC_MIX_H

#include <cstdint>

namespace ns3
{

/**
 * @param value any number
 * @return a hash of it (the finaliser of splitmix64; Steele, Lea and Flood, 2014)
 */
inline uint64_t
PlainFabricMix(uint64_t value)
{
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

} // namespace ns3

#endif /* PLAIN_FABRIC_MIX_H */
