// SPDX-License-Identifier: Apache-2.0
// One instruction: its opcode and a value for each field of the opcode's row. What is common to all
// ISAs works on Instruction; an ISA's own class adds its enumerators and nothing else.
#pragma once

#include <array>
#include <bit>
#include <initializer_list>
#include <utility>

#include "isa/command/description.h"
#include "sim/error/error.h"

namespace lockstep::command {

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

/// A value that its field does not hold: it comes from the network or program that is compiled.
class FieldOverflow : public InputError {
  public:
    using InputError::InputError;
};

/// Whether the value can stand in the field.
bool fits(const FieldRow& field, FieldValue value);

/// Every object is one of an ISA's own class: a row's functions may cast to it.
class Instruction {
  public:
    const Description& isa() const { return *isa_; }
    std::uint8_t number() const { return opcode_; }
    const OpcodeRow& row() const { return isa_->opcodes[opcode_]; }

    /// A field's bits; 0 where the opcode does not have it.
    std::uint64_t value(Id field) const { return values_[field.value]; }
    std::uint8_t wait(std::size_t queue) const { return static_cast<std::uint8_t>(values_[queue]); }
    /// The queue it goes to: its unit's, for opcodes of the units' queues.
    std::size_t queue_number() const {
        const Id queue = row().queue;
        return queue != isa_->unit_queue ? queue.value : queue.value + value(isa_->unit);
    }

    /// Checks that the opcode has the field (LOCKSTEP_CHECK) and that the value fits (InputError).
    void put(Id field, FieldValue value);

    bool operator==(const Instruction&) const = default;

  protected:
    Instruction(const Description& isa, Id opcode) : isa_(&isa), opcode_(opcode.value) {}
    ~Instruction() = default;
    Instruction(const Instruction&) = default;
    Instruction& operator=(const Instruction&) = default;

  private:
    const Description* isa_;
    std::uint8_t opcode_;
    std::array<std::uint64_t, kMaxFields> values_{};
};

/// An ISA's instruction. Isa has the types Opcode, Field and Queue, and a static description().
template <typename Isa>
class InstructionOf : public Instruction {
  public:
    using Opcode = typename Isa::Opcode;
    using Field = typename Isa::Field;
    using Queue = typename Isa::Queue;
    using Fields = std::initializer_list<std::pair<Field, FieldValue>>;

    static const Description& description() { return Isa::description(); }

    InstructionOf() : InstructionOf(Opcode{}) {}
    explicit InstructionOf(Opcode opcode) : Instruction(description(), opcode) {}
    /// Fields that are not given are 0. Checks as put() does.
    InstructionOf(Opcode opcode, Fields fields) : InstructionOf(opcode) {
        for (const auto& [field, value] : fields) set(field, value);
    }

    Opcode opcode() const { return static_cast<Opcode>(number()); }
    Queue queue() const { return static_cast<Queue>(queue_number()); }
    std::uint64_t operator[](Field field) const { return value(field); }
    std::int64_t signed_value(Field field) const { return static_cast<std::int64_t>(value(field)); }
    float float_value(Field field) const {
        return std::bit_cast<float>(static_cast<std::uint32_t>(value(field)));
    }
    template <typename Enum>
    Enum as(Field field) const {
        return static_cast<Enum>(value(field));
    }
    bool flag(Field field) const { return value(field) != 0; }
    std::uint8_t wait(Queue queue) const {
        return Instruction::wait(static_cast<std::size_t>(queue));
    }
    void set(Field field, FieldValue value) { put(field, value); }
    static bool fits(Field field, FieldValue value) {
        return command::fits(description().row(field), value);
    }

    bool operator==(const InstructionOf&) const = default;
};

}  // namespace lockstep::command
