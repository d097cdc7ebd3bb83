// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_HELPER_H
#define FABRIC_HELPER_H

#include "ns3/fabric-channel.h"
#include "ns3/fabric-core.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric.h"
#include "rdma-nic-helper.h"
#include "ns3/rdma-nic.h"
#include "switch-helper.h"

#include "ns3/attribute.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Builds fabrics: link by link, in one call, or from files.
 *
 * By hand: SwitchHelper::Install makes nodes switches, Install(a, b) wires two nodes, Finish
 * describes the graph to evenkeel and wires everything together. In one call: CreateLeafSpine,
 * CreateTopology, CreateFromScenario. Everything that a scenario's file can say and no attribute
 * says goes through AddSettings.
 *
 * Making the first helper sets ns-3's time resolution to picoseconds, so it comes before anything
 * else that makes times; see Fabric::UsePicoseconds. It aborts with the reason where evenkeel
 * refuses what it is told.
 */
class FabricHelper
{
  public:
    /// What makes the core of a fabric from its graph and the text of its settings.
    typedef std::function<std::unique_ptr<FabricCore>(const FabricGraph&, const std::string&)>
        CoreFactory;

    /// Whether to set ns3's time resolution.
    enum Resolution
    {
        PICOSECONDS, //!< set it to picoseconds
        UNCHANGED,   //!< leave it
    };

    /**
     * @param resolution whether to set ns-3's time resolution
     */
    explicit FabricHelper(Resolution resolution = PICOSECONDS);

    // What is to come.

    /**
     * @brief Sets an attribute of the NICs to come.
     * @param name of an attribute of RdmaNic
     * @param value its value
     */
    void SetNicAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets an attribute of the switches to come.
     * @param name of an attribute of FabricSwitch
     * @param value its value
     */
    void SetSwitchAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets an attribute of the links to come.
     * @param name of an attribute of FabricChannel
     * @param value its value
     */
    void SetChannelAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets an attribute of the fabric to come.
     * @param name of an attribute of Fabric
     * @param value its value
     */
    void SetFabricAttribute(const std::string& name, const AttributeValue& value);
    /**
     * @brief Sets the load-balancing policy of the switches to come.
     * @param policy a name that `evenkeel list policies` prints
     * @param parameters as in FabricSwitch's attribute PolicyParameters
     */
    void SetPolicy(const std::string& policy, const std::string& parameters = "");
    /**
     * @brief Sets how long the wires are busy behind each packet: preamble and inter-frame gap.
     * @param bytes so many; 20 by default
     */
    void SetGap(uint32_t bytes);
    /**
     * @brief Sets how long a packet is in a switch before it can leave.
     * @param delay that time; none by default
     */
    void SetForwardingDelay(Time delay);
    /**
     * @brief Adds sections of a scenario's file, such as a workload or failures.
     * @param sections their text
     */
    void AddSettings(const std::string& sections);
    /**
     * @brief Adds a failure of a link.
     * @param link the link
     * @param keys of a scenario's section [[failure]], without the link
     */
    void AddFailure(Ptr<FabricChannel> link, const std::string& keys);
    /**
     * @brief Makes these the hosts of the lowest numbers, in this order: the ranks of a collective.
     * @param hosts nodes that will have a NIC each
     */
    void SetFirstHosts(const NodeContainer& hosts);
    /**
     * @brief Puts several NICs on each node that is made in one call: host h is NIC h % nics of
     * node h / nics, such as a GPU of a server in a rail-optimised fabric.
     * @param nics of each node; 1 by default
     */
    void SetNicsPerNode(uint32_t nics);
    /**
     * @brief Takes another core than evenkeel's.
     * @param factory what makes it
     */
    void SetCoreFactory(CoreFactory factory);
    /**
     * @brief Fixes where random draws come from, beside ns-3's seed and run.
     * @param stream first stream to use
     * @return streams used
     */
    int64_t AssignStreams(int64_t stream);

    // By hand.

    /**
     * @brief Wires two nodes; one that is no switch is a host and gets a NIC if it has none that
     * is free.
     * @param a a node
     * @param b another
     * @return the two ends
     */
    NetDeviceContainer Install(Ptr<Node> a, Ptr<Node> b);
    /**
     * @brief Wires each of several nodes to another.
     * @param nodes the nodes
     * @param to the other, such as a switch
     * @return the ends at the nodes
     */
    NetDeviceContainer Install(const NodeContainer& nodes, Ptr<Node> to);
    /**
     * @brief Makes a fabric of everything that was wired.
     * @return the fabric
     */
    Ptr<Fabric> Finish();

    // In one call.

    /**
     * @brief A leaf-spine with the links that SetChannelAttribute describes.
     * @param leaves switches with hosts
     * @param spines switches that every leaf is wired to
     * @param hostsPerLeaf hosts of each leaf
     * @return the fabric
     */
    Ptr<Fabric> CreateLeafSpine(uint32_t leaves, uint32_t spines, uint32_t hostsPerLeaf);
    /**
     * @brief A fat-tree of three tiers with the links that SetChannelAttribute describes.
     * @param k ports of each switch, an even number
     * @return the fabric
     */
    Ptr<Fabric> CreateFatTree(uint32_t k);
    /**
     * @brief A fabric of any kind that evenkeel knows.
     * @param topology the text of a scenario's section [topology], without its heading
     * @param folder what paths in it are relative to
     * @return the fabric
     */
    Ptr<Fabric> CreateTopology(const std::string& topology, const std::string& folder = ".");
    /**
     * @brief A fabric from a topology file.
     * @param path of the file
     * @param format "hpcc" or "htsim"
     * @return the fabric
     */
    Ptr<Fabric> CreateFromTopologyFile(const std::string& path,
                                       const std::string& format = "hpcc");
    /**
     * @brief Everything that a scenario's file says: fabric, workload, failures, seed.
     * @param path of the file
     * @return the fabric
     */
    Ptr<Fabric> CreateFromScenario(const std::string& path);
    /**
     * @brief A fabric around a core that there is.
     * @param core the core
     * @return the fabric
     */
    Ptr<Fabric> CreateFromCore(std::unique_ptr<FabricCore> core);

    // What there is.

    /// @return the node of each host, by number of host; one with several NICs comes several times
    NodeContainer GetHosts() const;
    /// @return nodes that are switches, by number
    NodeContainer GetSwitches() const;
    /// @return NICs, by number of host
    NetDeviceContainer GetNics() const;
    /// @return links, by number
    const std::vector<Ptr<FabricChannel>>& GetChannels() const;
    /// @return the text that Finish hands to evenkeel beside the graph
    std::string DescribeSettings() const;
    /// @return what queue pairs of scripts are set to, which Finish hands to evenkeel too
    FabricQpSettings DescribeQueuePairs() const;
    /// @return the graph that Finish hands to evenkeel
    FabricGraph DescribeGraph() const;

  private:
    /**
     * @param node a node
     * @return the end of a link to come there
     */
    Ptr<FabricPort> MakePort(Ptr<Node> node);
    /**
     * @brief Makes nodes and links of a graph.
     * @param graph the graph
     */
    void Build(const FabricGraph& graph);
    /// Puts the hosts of SetFirstHosts first.
    void OrderHosts();
    /**
     * @param core what it is to ask
     * @return the fabric, assembled
     */
    Ptr<Fabric> Assemble(std::unique_ptr<FabricCore> core);
    /**
     * @param channel a link
     * @return its number
     */
    uint32_t IndexOf(Ptr<FabricChannel> channel) const;
    /// @return a link with the rate and the delay that SetChannelAttribute describes
    FabricLink DescribeLink() const;

    RdmaNicHelper m_nicHelper;       //!< NICs to come
    SwitchHelper m_switchHelper;     //!< switches to come
    ObjectFactory m_channelFactory;  //!< links to come
    ObjectFactory m_fabricFactory;   //!< the fabric to come
    CoreFactory m_coreFactory;       //!< what makes its core; null for evenkeel's
    std::vector<Ptr<RdmaNic>> m_nics;         //!< by number of host
    std::vector<Ptr<Node>> m_switchNodes;     //!< by number
    std::vector<Ptr<FabricSwitch>> m_switches; //!< by number
    std::vector<std::string> m_switchNames;   //!< by number; empty for what Finish makes up
    std::vector<Ptr<FabricChannel>> m_channels; //!< by number of link
    NodeContainer m_firstHosts;               //!< hosts of the lowest numbers
    std::string m_sections;                   //!< of AddSettings
    std::vector<std::pair<Ptr<FabricChannel>, std::string>> m_failures; //!< of AddFailure
    uint32_t m_gapBytes{20};                  //!< behind each packet
    uint32_t m_nicsPerNode{1};                //!< of SetNicsPerNode
    Time m_forwardingDelay;                   //!< in a switch
    int64_t m_stream{0};                      //!< of AssignStreams
};

} // namespace ns3

#endif /* FABRIC_HELPER_H */
