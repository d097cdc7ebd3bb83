// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "core-attributes.h"

#include "toml-of.h"

#include "ns3/refuse.h"
#include "ns3/string.h"

namespace ns3
{

/// Accessor of one attribute.
class CoreAttributes::Accessor : public AttributeAccessor
{
  public:
    /**
     * @param row the attribute
     */
    explicit Accessor(const Row& row)
        : m_row(row)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto& owner = *dynamic_cast<CoreAttributes*>(object);
        Ptr<AttributeValue>& stored = owner.m_values[m_row.name];
        EVENKEEL_REFUSE_IF(
            !owner.m_owner.empty() && TomlOf(m_row.name, *stored) != TomlOf(m_row.name, value),
            "an attribute of " << owner.m_owner << " was changed",
            m_row.name << " is set too late: the fabric has been made, so it would have no effect; "
                          "set it before FabricHelper::Finish or a Create call");
        stored = value.Copy();
        return true;
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        const auto& owner = *dynamic_cast<const CoreAttributes*>(object);
        return m_row.checker->Copy(*owner.m_values.at(m_row.name), value);
    }

    bool HasGetter() const override
    {
        return true;
    }

    bool HasSetter() const override
    {
        return true;
    }

  private:
    Row m_row; //!< the attribute
};

TypeId
CoreAttributes::AddTo(TypeId tid, const std::vector<Row>& rows)
{
    for (const Row& row : rows)
    {
        tid.AddAttribute(row.name,
                         row.help,
                         *row.checker->CreateValidValue(StringValue(row.initial)),
                         Create<const Accessor>(row),
                         row.checker);
    }
    return tid;
}

void
CoreAttributes::Close(const std::string& owner)
{
    m_owner = owner;
}

std::string
CoreAttributes::DescribeAttributes() const
{
    std::string text;
    for (const auto& each : m_values)
    {
        text += each.first + " = " + ReadToml(each.first) + "\n";
    }
    return text;
}

std::string
CoreAttributes::ReadToml(const std::string& name, const std::string& unit) const
{
    return TomlOf(name, *m_values.at(name), unit);
}

} // namespace ns3
