// SPDX-License-Identifier: GPL-2.0-only

#ifndef PLAIN_FABRIC_CORE_H
#define PLAIN_FABRIC_CORE_H

#include "fabric-core.h"

#include <deque>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief A core of a few lines of C++: NICs that send at line rate and answer each packet, switches
 * that hash.
 *
 * It is what a fabric is tested with against closed forms, and the bottom line that the cost of
 * asking evenkeel's Rust code is measured against. Nothing is sent again: where a fabric may lose
 * packets it is of no use. Faults, steps and pools are for tests to set.
 */
class PlainFabricCore : public FabricCore
{
  public:
    /// What its NICs send.
    struct Transport
    {
        uint32_t payload{4096}; //!< of a full packet
        uint32_t header{62};    //!< around it
        uint32_t ackBytes{64};  //!< an acknowledgement
    };

    /**
     * @param graph who is wired to whom
     * @param settings of switches and links
     * @param transport what NICs send
     */
    PlainFabricCore(FabricGraph graph, FabricSettings settings, Transport transport);

    std::vector<FabricFault> faults; //!< what GetFaults returns
    std::vector<FabricStep> steps;   //!< what GetSteps returns
    FabricEcn ecn;                   //!< marking at every port
    FabricIngress ingress;           //!< what flow control keeps for every link
    uint64_t poolSize{0};            //!< every switch's memory beyond that
    bool cacheRoutes{true};          //!< tell switches where there is no choice

    const FabricGraph& GetGraph() const override;
    const FabricSettings& GetSettings() const override;
    FabricEcn GetEcn(uint32_t port) const override;
    FabricIngress GetIngress(uint32_t port) const override;
    uint64_t GetPoolSize(uint32_t switchNumber) const override;
    std::vector<FabricFault> GetFaults() const override;
    std::vector<FabricStep> GetSteps() const override;
    bool PollTransmit(uint32_t host,
                      uint64_t nowPs,
                      uint64_t& freePs,
                      FabricPacket& packet) override;
    bool PollTransmitControl(uint32_t host, FabricPacket& packet) override;
    bool HasPackets(uint32_t host) override;
    bool HandlePacket(uint32_t host, uint64_t nowPs, const FabricPacket& packet) override;
    bool HandleTimeout(uint32_t host, uint64_t nowPs) override;
    uint64_t NextWake(uint32_t host, uint64_t nowPs, uint64_t freePs) override;
    uint32_t PollTouched() override;
    bool PollNews(FabricNews& news) override;
    bool IsFinished() const override;
    uint32_t Post(uint32_t src,
                  uint32_t dst,
                  uint64_t bytes,
                  uint64_t startPs,
                  uint32_t stream) override;
    uint32_t Route(uint32_t switchNumber,
                   uint64_t nowPs,
                   FabricPacket& packet,
                   const std::vector<uint64_t>* loads) override;
    uint32_t OnlyPort(uint32_t switchNumber, uint32_t dst) override;
    bool Marks(uint32_t port, uint64_t waitingBytes) override;
    bool Loses(uint32_t port, uint64_t numerator, uint64_t denominator) override;
    void ApplyStep(uint32_t step, uint64_t nowPs) override;
    std::vector<FabricFlow> GetFlows() const override;
    FabricNicCounters GetCounters() const override;
    FabricQpCounts GetQpCounts() const override;

  private:
    /// A message; its number is the queue pair at the receiver.
    struct Message
    {
        FabricFlow flow;        //!< what is known of it
        uint64_t sent{0};       //!< payload bytes sent
        uint64_t received{0};   //!< payload bytes received
        uint32_t packets{0};    //!< packets sent
        uint32_t answered{0};   //!< acknowledgements received
    };

    /// A host.
    struct Host
    {
        std::deque<FabricPacket> answers;                     //!< go before data
        std::deque<uint32_t> open;                            //!< messages, in turn
        std::vector<std::pair<uint64_t, uint32_t>> toStart;   //!< by time
        FabricNicCounters counters;                           //!< what it counted
    };

    /// Fills the routing tables: ports on shortest paths.
    void FillRoutes();
    /**
     * @brief Notes what happened to a message.
     * @param kind what
     * @param message which
     * @param nowPs when
     */
    void AddNews(FabricNews::Kind kind, uint32_t message, uint64_t nowPs);

    FabricGraph m_graph;         //!< who is wired to whom
    FabricSettings m_settings;   //!< of switches and links
    Transport m_transport;       //!< what NICs send
    std::vector<Host> m_hosts;   //!< by number
    std::vector<Message> m_messages; //!< by number
    std::deque<FabricNews> m_news;   //!< for PollNews
    uint64_t m_completed{0};     //!< messages that are complete
    uint64_t m_draw{1};          //!< state of draws
    /// By switch, then host: numbers of equal-cost ports.
    std::vector<std::vector<std::vector<uint32_t>>> m_routes;
};

} // namespace ns3

#endif /* PLAIN_FABRIC_CORE_H */
