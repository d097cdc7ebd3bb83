// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef CORE_ATTRIBUTES_H
#define CORE_ATTRIBUTES_H

#include "ns3/attribute.h"
#include "ns3/object-base.h"
#include "ns3/ptr.h"
#include "ns3/type-id.h"

#include <map>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Base of objects with attributes that the core reads once, when the fabric is made. A
 * change after that aborts with a message.
 */
class CoreAttributes
{
  public:
    /// An attribute.
    struct Row
    {
        const char* name;                    //!< its name
        const char* initial;                 //!< its default, as text
        Ptr<const AttributeChecker> checker; //!< checks its values
        const char* help;                    //!< what it sets
    };

    /**
     * @brief Adds attributes to the type of an object with this base.
     * @param tid the type
     * @param rows the attributes
     * @return the type
     */
    static TypeId AddTo(TypeId tid, const std::vector<Row>& rows);
    /**
     * @brief Makes later changes abort.
     * @param owner the object, such as "RdmaNic (host 1)", for the message
     */
    void Close(const std::string& owner);
    /// @return all attributes as text
    std::string DescribeAttributes() const;

  protected:
    /**
     * @tparam V type of the attribute's value, such as UintegerValue
     * @param name name of the attribute
     * @return its value
     */
    template <class V>
    auto Read(const std::string& name) const
    {
        return DynamicCast<V>(m_values.at(name))->Get();
    }

    /**
     * @param name name of the attribute
     * @param unit unit of a number, such as "B"
     * @return its value as TOML
     */
    std::string ReadToml(const std::string& name, const std::string& unit = "") const;

  private:
    class Accessor;

    std::map<std::string, Ptr<AttributeValue>> m_values; //!< by name of the attribute
    std::string m_owner;                                 //!< see Close; empty before
};

} // namespace ns3

#endif /* CORE_ATTRIBUTES_H */
