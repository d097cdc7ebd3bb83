// SPDX-License-Identifier: GPL-2.0-only
//
// A stand-in for SwitchNode of the HPCC family. It has only the names that the lines of
// cpp-bridge/README.md use, and a table for failed ports. Those lines replace the marks.

#ifndef SWITCH_NODE_H
#define SWITCH_NODE_H

#include <cstdint>
#include <map>
#include <vector>

// [include]

// In ns-3 a pointer that counts; here one that does not.
template <typename T>
struct Ptr
{
    T* object;

    T* operator->() const
    {
        return object;
    }
};

template <typename T, typename U>
Ptr<T>
DynamicCast(const Ptr<U>& from)
{
    return Ptr<T>{dynamic_cast<T*>(from.object)};
}

struct Time
{
    int64_t GetPicoSeconds() const
    {
        return 1000000;
    }
};

struct Simulator
{
    static Time Now()
    {
        return Time();
    }
};

struct Packet
{
    uint32_t GetSize() const
    {
        return 1048;
    }
};

struct CustomHeader
{
    uint32_t sip, dip, l3Prot;

    struct
    {
        uint16_t sport, dport;
    } udp;
};

struct BEgressQueue
{
    uint32_t bytes;

    uint32_t GetNBytesTotal() const
    {
        return bytes;
    }
};

struct NetDevice
{
    virtual ~NetDevice() = default;
};

struct QbbNetDevice : NetDevice
{
    BEgressQueue queue;

    Ptr<BEgressQueue> GetQueue()
    {
        return Ptr<BEgressQueue>{&queue};
    }
};

class SwitchNode
{
  public:
    static const uint32_t pCnt = 257;

    SwitchNode();
    ~SwitchNode();
    int GetOutDev(Ptr<const Packet> p, CustomHeader& ch);

    int m_failed = -1;

  private:
    uint32_t EcmpHash(const uint8_t* key, size_t len, uint32_t seed);

    uint32_t m_id;
    uint32_t m_ecmpSeed;
    std::vector<Ptr<NetDevice>> m_devices;
    std::map<uint32_t, std::vector<int>> m_rtTable;
    std::map<uint32_t, std::vector<int>> m_rtTableFailure;
// [member]
};

#endif // SWITCH_NODE_H
