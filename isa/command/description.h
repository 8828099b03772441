// SPDX-License-Identifier: Apache-2.0
// A command ISA as data: instructions of a fixed length, each of which keeps a unit busy for
// hundreds of cycles, handed in order to queues that run decoupled. An ISA describes itself by
// tables of opcodes and fields; all that reads or writes instructions and programs walks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace lockstep::command {

class Instruction;
class Footprint;

/// Bounds that fixed storage is made for; an ISA's tables are checked against them.
inline constexpr std::size_t kMaxFields = 104;
inline constexpr std::size_t kMaxQueues = 12;
inline constexpr std::size_t kMaxSpaces = 4;

/// The number of an opcode, field, queue, space or class, written as the ISA's own enumerator.
struct Id {
    std::uint8_t value = 0;

    constexpr Id() = default;
    template <typename Enum>
    requires std::is_enum_v<Enum>
    constexpr Id(Enum name) : value(static_cast<std::uint8_t>(name)) {}
    static constexpr Id of(std::size_t number) {
        Id id;
        id.value = static_cast<std::uint8_t>(number);
        return id;
    }
    template <typename Enum>
    requires std::is_enum_v<Enum>
    constexpr explicit operator Enum() const { return static_cast<Enum>(value); }
    constexpr auto operator<=>(const Id&) const = default;
};

enum class FieldKind : std::uint8_t {
    kUnsigned,
    kHex,  ///< unsigned, an address: written in hexadecimal
    kSigned,
    kFloat,  ///< fp32 bits
    kName,   ///< one of `names`, by its index
};

struct FieldRow {
    Id field;
    std::string_view name;
    FieldKind kind;
    std::uint8_t width;  ///< bits
    std::string_view meaning;
    std::span<const std::string_view> names = {};  ///< of a kName
};

/// All there is to say of an instruction but what it computes and how long that takes.
struct OpcodeRow {
    Id opcode;
    std::string_view mnemonic;
    Id queue;  ///< Description::unit_queue stands for the queue of the instruction's unit
    Id time;   ///< class of time, by which the model chooses how long it takes
    std::uint8_t first_generation, last_generation;
    std::string_view meaning;
    std::span<const Id> fields;  ///< in the order of the word, without gaps; without waits
    /// Adds the ranges that it reads and writes; nullptr: none.
    void (*touch)(const Instruction&, Footprint&) = nullptr;
    /// What is wrong with its operands by themselves, "" where nothing is; nullptr: nothing ever.
    std::string (*check)(const Instruction&) = nullptr;
};

struct Description {
    std::string_view name;    ///< as messages say it: "TPU"
    std::string_view source;  ///< the file of the tables, for the reference page
    std::string_view magic;   ///< first 8 bytes of a program file, the last of them 0
    std::uint32_t version;    ///< of the program file
    std::uint32_t word_bytes;
    int generations;
    std::span<const OpcodeRow> opcodes;        ///< by number
    std::span<const FieldRow> fields;          ///< by number; the first are the waits, one a queue
    std::span<const std::string_view> queues;  ///< of queues, and last of the sequencer itself
    std::span<const std::string_view> spaces;  ///< host and memory, then those on the chip
    std::span<const std::string_view> types;   ///< of elements, by DataType

    // Opcodes that a program's structure rests on.
    Id halt, tag, interrupt_host, sync_host;
    // Fields: of tag, of interrupt_host and sync_host, of a transfer's place in host memory.
    Id step, code, host;
    // Units of a kind have a queue each, from unit_queue on; the field says which.
    Id unit_queue, unit;
    /// A queue whose instructions may overtake each other.
    Id unordered_queue;

    std::size_t queue_count() const { return queues.size() - 1; }
    Id sequencer() const { return Id::of(queue_count()); }
    const FieldRow& row(Id field) const { return fields[field.value]; }
    /// The row of an opcode, or nullptr where the number means none.
    const OpcodeRow* find(std::uint8_t opcode) const {
        return opcode < opcodes.size() ? &opcodes[opcode] : nullptr;
    }
    /// Whether instructions of this opcode have the field (waits: all have).
    bool has_field(const OpcodeRow& opcode, Id field) const;
};

/// What is wrong with the tables: rows out of order, two fields or opcodes of a name, a word that
/// is too short, more than the bounds above; "" where nothing is.
std::string check_description(const Description& isa);

/// The reference page of the instructions, Markdown.
std::string reference_page(const Description& isa);

}  // namespace lockstep::command
