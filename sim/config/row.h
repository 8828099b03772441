// SPDX-License-Identifier: Apache-2.0
// A parameter of a machine in one row: schema, documentation and reader at once. A model has a
// table of rows for each of its parameter structs:
//   {"vector.lanes", &VectorParameters::lanes, "1", 1, 4096, "elements of a row done at once"},
// and fills the struct by read_rows(). A row without a member is read by its path, where a value is
// made of several.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/config/machine.h"
#include "sim/config/schema.h"

namespace lockstep::config {

/// Which of its parameter's choices a machine has, from 0.
std::size_t chosen(const Machine& machine, std::string_view path, std::span<const Choice> choices);

template <typename P>
class Row {
  public:
    using Store = std::function<void(const Machine&, P&)>;

    /// A number: integers take whole numbers only.
    template <typename T>
    Row(std::string_view path, T P::*member, std::string_view unit, double minimum, double maximum,
        std::string_view meaning)
        : Row(path, std::is_floating_point_v<T> ? Type::kNumber : Type::kInteger, unit, minimum,
              maximum, meaning, [path, member](const Machine& machine, P& into) {
                  if constexpr (std::is_floating_point_v<T>)
                      into.*member = machine.number(path);
                  else
                      into.*member = static_cast<T>(machine.integer(path));
              }) {
        static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    }
    Row(std::string_view path, bool P::*member, std::string_view meaning)
        : Row(path, Type::kBoolean, "1", 0, 0, meaning,
              [path, member](const Machine& m, P& into) { into.*member = m.boolean(path); }) {}
    Row(std::string_view path, std::string P::*member, std::string_view meaning)
        : Row(path, Type::kText, "1", 0, 0, meaning,
              [path, member](const Machine& m, P& into) { into.*member = m.text(path); }) {}
    /// One of `choices`, which stand in the order of the enumeration.
    template <typename E>
    requires std::is_enum_v<E> Row(std::string_view path, E P::*member,
                                   std::span<const Choice> choices, std::string_view meaning)
        : Row(path, Type::kText, "1", 0, 0, meaning,
              [path, member, choices](const Machine& machine, P& into) {
                  into.*member = static_cast<E>(chosen(machine, path, choices));
              }) {
        entry_.choices = choices;
    }
    /// What has no member of its own: `store`, where there is one, makes something of it.
    Row(std::string_view path, Type type, std::string_view unit, double minimum, double maximum,
        std::string_view meaning, Store store = {})
        : entry_{path, type, unit, minimum, maximum, meaning}, store_(std::move(store)) {}

    /// Marks what changes no time.
    Row reporting_only() && {
        entry_.is_reporting_only = true;
        return std::move(*this);
    }

    /// A text's values.
    Row one_of(std::span<const Choice> choices) && {
        entry_.choices = choices;
        return std::move(*this);
    }
    /// Machine files may leave it out and have this then, as a file would say it.
    Row defaults_to(std::string_view value) && {
        entry_.is_optional = true;
        entry_.default_value = value;
        return std::move(*this);
    }

    const Entry& entry() const { return entry_; }
    void read(const Machine& machine, P& into) const {
        if (store_) store_(machine, into);
    }

  private:
    Entry entry_;
    Store store_;
};

template <typename P>
void read_rows(const Machine& machine, std::span<const Row<P>> rows, P& into) {
    for (const Row<P>& row : rows) row.read(machine, into);
}

template <typename P>
void append_entries(std::vector<Entry>& entries, std::span<const Row<P>> rows) {
    for (const Row<P>& row : rows) entries.push_back(row.entry());
}

/// Parameters that are read by path alone.
struct NoMembers {};

}  // namespace lockstep::config
