// SPDX-License-Identifier: GPL-2.0-only
//
// A stand-in for SwitchNode of the HPCC family: no more of its names than the lines of
// cpp-bridge/README.md use, which take the place of the marks. Prints the ports of eight packets
// of one flow.

#include <cstdint>
#include <iostream>
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

    SwitchNode()
        : m_id(3)
    {
        for (uint32_t bytes : {0, 0, 0, 0, 5000, 1000, 6000, 4000})
        {
            QbbNetDevice* device = new QbbNetDevice;
            device->queue.bytes = bytes;
            m_devices.push_back(Ptr<NetDevice>{device});
        }
        m_rtTable[9] = {4, 5, 6, 7};
        m_ecmpSeed = m_id;
// [constructor]
    }

    ~SwitchNode()
    {
        for (Ptr<NetDevice> device : m_devices)
        {
            delete device.object;
        }
    }

    int GetOutDev(Ptr<const Packet> p, CustomHeader& ch)
    {
        auto& nexthops = m_rtTable[ch.dip];
        union {
            uint8_t u8[4 + 4 + 2 + 2];
            uint32_t u32[3];
        } buf;
        buf.u32[0] = ch.sip;
        buf.u32[1] = ch.dip;
        buf.u32[2] = ch.udp.sport | ((uint32_t)ch.udp.dport << 16);
        (void)p;
// [choice]
        uint32_t idx = EcmpHash(buf.u8, 12, m_ecmpSeed) % nexthops.size();
        return nexthops[idx];
    }

  private:
    uint32_t EcmpHash(const uint8_t* key, size_t len, uint32_t seed)
    {
        uint32_t h = seed;
        for (size_t i = 0; i < len; i++)
        {
            h = (h ^ key[i]) * 16777619;
        }
        return h >> 8;
    }

    uint32_t m_id;
    uint32_t m_ecmpSeed;
    std::vector<Ptr<NetDevice>> m_devices;
    std::map<uint32_t, std::vector<int>> m_rtTable;
// [member]
};

int
main()
{
    SwitchNode node;
    Packet packet;
    std::cout << "ports:";
    for (int i = 0; i < 8; i++)
    {
        CustomHeader header = {1, 9, 0x11, {10000, 100}};
        std::cout << " " << node.GetOutDev(Ptr<const Packet>{&packet}, header);
    }
    std::cout << "\n";
}
