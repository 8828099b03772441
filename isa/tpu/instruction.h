// SPDX-License-Identifier: Apache-2.0
// One TPU instruction: its opcode and a value for each field of the opcode's row.
#pragma once

#include <bit>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "isa/tpu/table.h"

namespace lockstep::tpu {

/// A field's raw bits: signed fields are sign-extended, floats are their fp32 bits.
struct FieldValue {
    constexpr FieldValue(std::uint64_t bits) : bits(bits) {}
    constexpr FieldValue(std::uint32_t value) : bits(value) {}
    constexpr FieldValue(int value) : bits(static_cast<std::uint64_t>(std::int64_t{value})) {}
    constexpr FieldValue(std::int64_t value) : bits(static_cast<std::uint64_t>(value)) {}
    constexpr FieldValue(bool value) : bits(value) {}
    constexpr FieldValue(float value) : bits(std::bit_cast<std::uint32_t>(value)) {}
    template <typename Enum>
    requires std::is_enum_v<Enum>
    constexpr FieldValue(Enum value) : bits(static_cast<std::uint64_t>(value)) {}
    std::uint64_t bits;
};

class Instruction {
  public:
    using Fields = std::initializer_list<std::pair<Field, FieldValue>>;

    Instruction() : Instruction(Opcode::kNop) {}
    explicit Instruction(Opcode opcode) : opcode_(opcode) {}
    /// Fields that are not given are 0. Checks that the opcode has each (LOCKSTEP_CHECK) and that
    /// it fits (InputError).
    Instruction(Opcode opcode, Fields fields);

    Opcode opcode() const { return opcode_; }
    /// A field as an unsigned number; 0 where the opcode does not have it.
    std::uint64_t operator[](Field field) const { return values_[index(field)]; }
    std::int64_t signed_value(Field field) const {
        return static_cast<std::int64_t>(values_[index(field)]);
    }
    float float_value(Field field) const {
        return std::bit_cast<float>(static_cast<std::uint32_t>(values_[index(field)]));
    }
    template <typename Enum>
    Enum as(Field field) const {
        return static_cast<Enum>(values_[index(field)]);
    }
    DataType type(Field field) const { return as<DataType>(field); }
    bool flag(Field field) const { return values_[index(field)] != 0; }
    std::uint8_t wait(Queue queue) const {
        return static_cast<std::uint8_t>(values_[static_cast<std::size_t>(queue)]);
    }

    /// Whether the value can stand in the field.
    static bool fits(Field field, FieldValue value);
    /// Checks as the constructor does.
    void set(Field field, FieldValue value);

    /// The queue it goes to: its unit's, for the matrix instructions.
    Queue queue() const {
        const Queue queue = row(opcode_).queue;
        if (queue != Queue::kMatrix0) return queue;
        return static_cast<Queue>(static_cast<std::size_t>(queue) + (*this)[Field::kUnit]);
    }

    bool operator==(const Instruction&) const = default;

  private:
    static std::size_t index(Field field) { return static_cast<std::size_t>(field); }

    Opcode opcode_;
    std::array<std::uint64_t, kFields> values_{};
};

}  // namespace lockstep::tpu
