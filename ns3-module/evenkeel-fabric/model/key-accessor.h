// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef KEY_ACCESSOR_H
#define KEY_ACCESSOR_H

#include "ns3/attribute.h"
#include "ns3/boolean.h"
#include "ns3/nstime.h"
#include "ns3/object-base.h"
#include "ns3/ptr.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <map>
#include <string>

namespace ns3
{

/// Attribute values by key, as an object with keys stores them.
using KeyValues = std::map<std::string, Ptr<AttributeValue>>;

/**
 * @ingroup evenkeel
 * @brief Accessor of an attribute that the object stores by key, because only the core reads it.
 * @tparam T type of the object
 */
template <class T>
class KeyAccessor : public AttributeAccessor
{
  public:
    /**
     * @param key the key
     * @param values the object's values
     * @param notice method called after the attribute was set
     */
    KeyAccessor(const std::string& key, KeyValues T::* values, void (T::*notice)())
        : m_key(key),
          m_values(values),
          m_notice(notice)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        T& owner = *dynamic_cast<T*>(object);
        (owner.*m_values)[m_key] = value.Copy();
        (owner.*m_notice)();
        return true;
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        const AttributeValue& stored = *(dynamic_cast<const T*>(object)->*m_values).at(m_key);
        return CopyAs<StringValue>(stored, value) || CopyAs<UintegerValue>(stored, value) ||
               CopyAs<BooleanValue>(stored, value) || CopyAs<TimeValue>(stored, value);
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
    /**
     * @tparam V a type of value
     * @param from a value
     * @param to set to that value
     * @return false unless both have this type
     */
    template <class V>
    static bool CopyAs(const AttributeValue& from, AttributeValue& to)
    {
        const auto* source = dynamic_cast<const V*>(&from);
        auto* target = dynamic_cast<V*>(&to);
        if (source && target)
        {
            *target = *source;
        }
        return source && target;
    }

    std::string m_key;       //!< the key
    KeyValues T::* m_values; //!< the object's values
    void (T::*m_notice)();   //!< called after the attribute was set
};

} // namespace ns3

#endif /* KEY_ACCESSOR_H */
