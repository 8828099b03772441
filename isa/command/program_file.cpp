// SPDX-License-Identifier: Apache-2.0
// The program file, little-endian, one part after the other:
//   magic[8], u32 version, u32 generation, u32 buffers, u32 steps, u32 segments,
//     u32 host tasks, u64 instructions
//   a buffer: text name, u8 space, u8 role, u8 type, u8 rank, u64 address, u64 bytes,
//     u64 dimension[rank]
//   a step: text name, u64 macs
//   a host task: text name, u64 operations, u64 bytes
//   a segment: u32 buffer, u32 zero, u64 offset, u64 bytes, the bytes
//   an instruction: its word
// A text is its u16 length and the characters.
#include <bit>
#include <cstring>

#include "isa/command/program.h"
#include "isa/command/word.h"
#include "sim/error/error.h"

namespace lockstep::command {

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
    std::uint8_t name(std::size_t count, std::string_view what) {
        const auto value = number<std::uint8_t>(what);
        if (value >= count) fail(at_ - 1, fmt::format("{} means nothing as {}", value, what));
        return value;
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

Buffer read_buffer(Cursor& in, const Description& isa) {
    Buffer buffer;
    buffer.name = in.text("a buffer's name");
    buffer.space = Id::of(in.name(kBufferSpaces, "a buffer's space"));
    buffer.role = static_cast<Role>(in.name(std::size(kRoleNames), "a buffer's role"));
    buffer.type = static_cast<DataType>(in.name(isa.types.size(), "a buffer's type"));
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

bool is_program(const Description& isa, std::span<const std::uint8_t> bytes) {
    return bytes.size() >= isa.magic.size() &&
           std::memcmp(bytes.data(), isa.magic.data(), isa.magic.size()) == 0;
}

std::vector<std::uint8_t> write_program(const Program& program) {
    const Description& isa = program.isa();
    Writer out;
    out.out.assign(isa.magic.begin(), isa.magic.end());
    out.number(isa.version);
    out.number(static_cast<std::uint32_t>(program.generation));
    out.number(static_cast<std::uint32_t>(program.buffers.size()));
    out.number(static_cast<std::uint32_t>(program.steps.size()));
    out.number(static_cast<std::uint32_t>(program.segments.size()));
    out.number(static_cast<std::uint32_t>(program.host_tasks.size()));
    out.number(static_cast<std::uint64_t>(program.size()));
    for (const Buffer& buffer : program.buffers) {
        out.text(buffer.name);
        out.number(buffer.space.value);
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
    const std::size_t first = out.out.size();
    out.out.resize(first + program.size() * isa.word_bytes);
    for (std::size_t i = 0; i < program.size(); ++i)
        encode(program.instruction(i),
               std::span(out.out).subspan(first + i * isa.word_bytes, isa.word_bytes));
    return std::move(out.out);
}

void read_program(Program& program, std::span<const std::uint8_t> bytes, std::string_view name) {
    const Description& isa = program.isa();
    Cursor in(bytes, name);
    if (!is_program(isa, bytes))
        in.fail(0, fmt::format("not a {} program: no magic {}", isa.name, isa.magic.data()));
    in.take(isa.magic.size(), "the magic");
    const auto version = in.number<std::uint32_t>("the version");
    if (version != isa.version)
        in.fail(8, fmt::format("version {}; this program reads {}", version, isa.version));
    const auto generation = in.number<std::uint32_t>("the generation");
    if (generation < 1 || generation > static_cast<std::uint32_t>(isa.generations))
        in.fail(12, fmt::format("{} generation {} does not exist (1 to {})", isa.name, generation,
                                isa.generations));
    program.generation = static_cast<int>(generation);
    const auto buffers = in.count<std::uint32_t>(22, "buffers");
    const auto steps = in.count<std::uint32_t>(10, "steps");
    const auto segments = in.count<std::uint32_t>(24, "segments");
    const auto host_tasks = in.count<std::uint32_t>(18, "host tasks");
    const auto instructions = in.count<std::uint64_t>(isa.word_bytes, "instructions");
    for (std::uint32_t i = 0; i < buffers; ++i) program.buffers.push_back(read_buffer(in, isa));
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
    if (in.left() != instructions * isa.word_bytes)
        in.fail(in.offset(), fmt::format("{} instructions need {} bytes, {} are left", instructions,
                                         instructions * isa.word_bytes, in.left()));
    program.reserve(instructions);
    const std::uint64_t first = in.offset();
    for (std::uint64_t i = 0; i < instructions; ++i) {
        const std::uint64_t offset = in.offset();
        const auto word = in.take(isa.word_bytes, "an instruction");
        std::string error = check_opcode(isa, word);
        if (error.empty()) error = decode_fields(word, program.append(Id::of(word[0])));
        if (!error.empty()) in.fail(offset, fmt::format("instruction {}: {}", i, error));
    }
    validate(program, name, [&](std::size_t i) {
        return fmt::format("{}: offset {:#x}", name, first + i * isa.word_bytes);
    });
}

}  // namespace lockstep::command
