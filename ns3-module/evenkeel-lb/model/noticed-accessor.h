// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef NOTICED_ACCESSOR_H
#define NOTICED_ACCESSOR_H

#include "ns3/attribute.h"
#include "ns3/object-base.h"
#include "ns3/ptr.h"

namespace ns3
{

namespace evenkeelinternal
{

/**
 * @brief Attribute accessor that notifies the object, which reads the attribute only once.
 * @tparam T type of the object
 */
template <class T>
class NoticedAccessor : public AttributeAccessor
{
  public:
    /// Method called after the attribute was set.
    using Notice = void (T::*)();

    /**
     * @param accessor reads and sets the attribute
     * @param notice method called after the attribute was set
     */
    NoticedAccessor(Ptr<const AttributeAccessor> accessor, Notice notice)
        : m_accessor(accessor),
          m_notice(notice)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        const bool isSet = m_accessor->Set(object, value);
        if (isSet)
        {
            (dynamic_cast<T*>(object)->*m_notice)();
        }
        return isSet;
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        return m_accessor->Get(object, value);
    }

    bool HasGetter() const override
    {
        return m_accessor->HasGetter();
    }

    bool HasSetter() const override
    {
        return m_accessor->HasSetter();
    }

  private:
    Ptr<const AttributeAccessor> m_accessor; //!< reads and sets the attribute
    Notice m_notice;                         //!< called after the attribute was set
};

/**
 * @tparam T type of the object
 * @param notice method called after the attribute was set
 * @param accessor reads and sets the attribute
 * @return an accessor that also calls notice
 */
template <class T>
Ptr<const AttributeAccessor>
Noticed(void (T::*notice)(), Ptr<const AttributeAccessor> accessor)
{
    return Create<const NoticedAccessor<T>>(accessor, notice);
}

} // namespace evenkeelinternal

} // namespace ns3

#endif /* NOTICED_ACCESSOR_H */
