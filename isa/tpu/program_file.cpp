// SPDX-License-Identifier: Apache-2.0
// The .tpu file, little-endian, one part after the other:
//   magic[8], u32 version, u32 generation, u32 buffers, u32 steps, u32 segments,
//     u32 host tasks, u64 instructions
//   a buffer: text name, u8 space, u8 role, u8 type, u8 rank, u64 address, u64 bytes,
//     u64 dimension[rank]
//   a step: text name, u64 macs
//   a host task: text name, u64 operations, u64 bytes
//   a segment: u32 buffer, u32 zero, u64 offset, u64 bytes, the bytes
//   an instruction: 80 bytes
// A text is its u16 length and the characters.
#include <bit>
#include <cstring>

#include "isa/tpu/encoding.h"
#include "isa/tpu/program.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

static_assert(std::endian::native == std::endian::little);

class Writer {
  public:
    template <typename T>
    void number(T value) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
        out.insert(out.end(), bytes, bytes + sizeof(T));
    }
    void text(std::string_view text) {
        number(static_cast<std::uint16_t>(text.size()));
        out.insert(out.end(), text.begin(), text.end());
    }
    std::vector<std::uint8_t> out;
};

/// Reads from front to back; past the end is the user's error.
class Cursor {
  public:
    Cursor(std::span<const std::uint8_t> bytes, std::string_view name)
        : bytes_(bytes), name_(name) {}

    std::uint64_t offset() const { return at_; }
    std::uint64_t left() const { return bytes_.size() - at_; }

    [[noreturn]] void fail(std::uint64_t offset, const std::string& reason) const {
        throw InputError(fmt::format("{}: offset {:#x}: {}", name_, offset, reason));
    }
    std::span<const std::uint8_t> take(std::uint64_t size, std::string_view what) {
        if (size > left())
            fail(at_, fmt::format("{} needs {} bytes, the file ends {} bytes after this offset",
                                  what, size, left()));
        at_ += size;
        return bytes_.subspan(at_ - size, size);
    }
    template <typename T>
    T number(std::string_view what) {
        T value;
        std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
        return value;
    }
    std::string text(std::string_view what) {
        const auto size = number<std::uint16_t>(what);
        const auto bytes = take(size, what);
        return {bytes.begin(), bytes.end()};
    }
    /// A byte that stands for one of `count` names.
    template <typename Enum>
    Enum name(std::size_t count, std::string_view what) {
        const auto value = number<std::uint8_t>(what);
        if (value >= count) fail(at_ - 1, fmt::format("{} means nothing as {}", value, what));
        return static_cast<Enum>(value);
    }
    /// A number of things that take at least `each` bytes: more than the file can hold is refused
    /// before anything is allocated.
    template <typename T>
    T count(std::uint64_t each, std::string_view what) {
        const std::uint64_t start = at_;
        const T value = number<T>(what);
        if (value > left() / each)
            fail(start, fmt::format("{} {}, but {} bytes are left", value, what, left()));
        return value;
    }
    void zero(std::string_view what) {
        if (number<std::uint32_t>(what) != 0) fail(at_ - 4, fmt::format("{} is not zero", what));
    }

  private:
    std::span<const std::uint8_t> bytes_;
    std::string_view name_;
    std::uint64_t at_ = 0;
};

Buffer read_buffer(Cursor& in) {
    Buffer buffer;
    buffer.name = in.text("a buffer's name");
    buffer.space = in.name<Space>(2, "a buffer's space");
    buffer.role = in.name<Role>(std::size(kRoleNames), "a buffer's role");
    buffer.type = in.name<DataType>(6, "a buffer's type");
    const auto rank = in.number<std::uint8_t>("a buffer's rank");
    buffer.address = in.number<std::uint64_t>("a buffer's address");
    buffer.bytes = in.number<std::uint64_t>("a buffer's size");
    for (int i = 0; i < rank; ++i)
        buffer.shape.push_back(in.number<std::uint64_t>("a buffer's shape"));
    return buffer;
}

Segment read_segment(Cursor& in) {
    Segment segment;
    segment.buffer = in.number<std::uint32_t>("a segment's buffer");
    in.zero("a segment's padding");
    segment.offset = in.number<std::uint64_t>("a segment's offset");
    const auto size = in.number<std::uint64_t>("a segment's size");
    const auto bytes = in.take(size, "a segment");
    segment.bytes.assign(bytes.begin(), bytes.end());
    return segment;
}

}  // namespace

bool is_program(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= kProgramMagic.size() &&
           std::memcmp(bytes.data(), kProgramMagic.data(), kProgramMagic.size()) == 0;
}

std::vector<std::uint8_t> write_program(const Program& program) {
    Writer out;
    out.out.assign(kProgramMagic.begin(), kProgramMagic.end());
    out.number(kProgramVersion);
    out.number(static_cast<std::uint32_t>(program.generation));
    out.number(static_cast<std::uint32_t>(program.buffers.size()));
    out.number(static_cast<std::uint32_t>(program.steps.size()));
    out.number(static_cast<std::uint32_t>(program.segments.size()));
    out.number(static_cast<std::uint32_t>(program.host_tasks.size()));
    out.number(static_cast<std::uint64_t>(program.instructions.size()));
    for (const Buffer& buffer : program.buffers) {
        out.text(buffer.name);
        out.number(buffer.space);
        out.number(buffer.role);
        out.number(buffer.type);
        out.number(static_cast<std::uint8_t>(buffer.shape.size()));
        out.number(buffer.address);
        out.number(buffer.bytes);
        for (const std::uint64_t dimension : buffer.shape) out.number(dimension);
    }
    for (const ProgramStep& step : program.steps) {
        out.text(step.name);
        out.number(step.macs);
    }
    for (const HostTask& task : program.host_tasks) {
        out.text(task.name);
        out.number(task.operations);
        out.number(task.bytes);
    }
    for (const Segment& segment : program.segments) {
        out.number(segment.buffer);
        out.number(std::uint32_t{0});
        out.number(segment.offset);
        out.number(static_cast<std::uint64_t>(segment.bytes.size()));
        out.out.insert(out.out.end(), segment.bytes.begin(), segment.bytes.end());
    }
    for (const Instruction& instruction : program.instructions) {
        const Word word = encode(instruction);
        out.out.insert(out.out.end(), word.begin(), word.end());
    }
    return std::move(out.out);
}

Program read_program(std::span<const std::uint8_t> bytes, std::string_view name) {
    Cursor in(bytes, name);
    if (!is_program(bytes)) in.fail(0, "not a TPU program: no magic LOCKTPU");
    in.take(kProgramMagic.size(), "the magic");
    const auto version = in.number<std::uint32_t>("the version");
    if (version != kProgramVersion)
        in.fail(8, fmt::format("version {}; this program reads {}", version, kProgramVersion));
    Program program;
    const auto generation = in.number<std::uint32_t>("the generation");
    if (generation < 1 || generation > kGenerations)
        in.fail(12, fmt::format("TPU generation {} does not exist (1 to {})", generation,
                                kGenerations));
    program.generation = static_cast<int>(generation);
    const auto buffers = in.count<std::uint32_t>(22, "buffers");
    const auto steps = in.count<std::uint32_t>(10, "steps");
    const auto segments = in.count<std::uint32_t>(24, "segments");
    const auto host_tasks = in.count<std::uint32_t>(18, "host tasks");
    const auto instructions = in.count<std::uint64_t>(kWordBytes, "instructions");
    for (std::uint32_t i = 0; i < buffers; ++i) program.buffers.push_back(read_buffer(in));
    for (std::uint32_t i = 0; i < steps; ++i) {
        ProgramStep step;
        step.name = in.text("a step's name");
        step.macs = in.number<std::uint64_t>("a step's MACs");
        program.steps.push_back(std::move(step));
    }
    for (std::uint32_t i = 0; i < host_tasks; ++i) {
        HostTask task;
        task.name = in.text("a host task's name");
        task.operations = in.number<std::uint64_t>("a host task's operations");
        task.bytes = in.number<std::uint64_t>("a host task's bytes");
        program.host_tasks.push_back(std::move(task));
    }
    for (std::uint32_t i = 0; i < segments; ++i) program.segments.push_back(read_segment(in));
    if (in.left() != instructions * kWordBytes)
        in.fail(in.offset(), fmt::format("{} instructions need {} bytes, {} are left", instructions,
                                         instructions * kWordBytes, in.left()));
    program.instructions.reserve(instructions);
    const std::uint64_t first = in.offset();
    for (std::uint64_t i = 0; i < instructions; ++i) {
        const std::uint64_t offset = in.offset();
        const auto word = in.take(kWordBytes, "an instruction");
        Decoded decoded = decode(word.first<kWordBytes>());
        if (!decoded.error.empty())
            in.fail(offset, fmt::format("instruction {}: {}", i, decoded.error));
        program.instructions.push_back(std::move(decoded.instruction));
    }
    validate(program, name, [&](std::size_t i) {
        return fmt::format("{}: offset {:#x}", name, first + i * kWordBytes);
    });
    return program;
}

}  // namespace lockstep::tpu
