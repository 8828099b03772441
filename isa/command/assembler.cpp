// SPDX-License-Identifier: Apache-2.0
// The assembler's language, line by line; `#` begins a comment.
//   .generation 1
//   .buffer NAME host|memory ROLE TYPE BYTES ADDRESS [DIMENSION...]
//   .data NAME OFFSET TYPE VALUE...      values of a type; `hex` instead of TYPE: pairs of digits
//   .step NAME [MACS]
//   .host NAME OPERATIONS BYTES          a task of the host, numbered from 0
//   mnemonic field=value, ...            an address may be @NAME or @NAME+OFFSET
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "isa/command/disassembler.h"
#include "isa/command/program.h"
#include "sim/error/error.h"
#include "sim/numerics/bf16.h"

namespace lockstep::command {

namespace {

std::string_view trim(std::string_view text) {
    while (!text.empty() && std::strchr(" \t\r", text.front()) != nullptr) text.remove_prefix(1);
    while (!text.empty() && std::strchr(" \t\r", text.back()) != nullptr) text.remove_suffix(1);
    return text;
}

/// Cuts the next word off the front.
std::string_view next_word(std::string_view& text) {
    text = trim(text);
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    text = trim(text.substr(end));
    return word;
}

/// Cuts the last word off the end.
std::string_view last_word(std::string_view& text) {
    const std::size_t begin = text.find_last_of(" \t") + 1;
    const std::string_view word = text.substr(begin);
    text = trim(text.substr(0, begin));
    return word;
}

class Assembler {
  public:
    Assembler(Program& program, std::string_view text, std::string_view name)
        : program_(program), isa_(program.isa()), text_(text), name_(name) {}

    void run() {
        while (!text_.empty()) {
            const std::size_t end = std::min(text_.find('\n'), text_.size());
            std::string_view line = text_.substr(0, end);
            text_.remove_prefix(std::min(end + 1, text_.size()));
            ++line_;
            line = trim(line.substr(0, line.find('#')));
            if (line.empty()) continue;
            if (line.front() == '.')
                directive(line);
            else
                instruction(line);
        }
        validate(program_, name_,
                 [&](std::size_t i) { return fmt::format("{}:{}", name_, lines_[i]); });
    }

    void one() { instruction(trim(text_)); }

  private:
    [[noreturn]] void fail(const std::string& reason) const {
        throw InputError(fmt::format("{}:{}: {}", name_, line_, reason));
    }

    template <typename T>
    T number(std::string_view text) const {
        bool negative = false;
        std::string_view digits = text;
        if constexpr (std::is_signed_v<T>) {
            negative = !digits.empty() && digits.front() == '-';
            if (negative) digits.remove_prefix(1);
        }
        const bool hex = digits.starts_with("0x");
        if (hex) digits.remove_prefix(2);
        std::uint64_t value = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
        if (digits.empty() || error == std::errc::invalid_argument ||
            end != digits.data() + digits.size())
            fail(fmt::format("'{}' is not a number", text));
        const auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
        if (error != std::errc{} || value > (negative ? most + 1 : most))
            fail(fmt::format("{} does not fit into {} bits", text, 8 * sizeof(T)));
        return static_cast<T>(negative ? 0 - value : value);
    }

    /// An element of .data, of an integer type.
    std::uint64_t integer(std::string_view text, DataType type) const {
        switch (type) {
            case DataType::kInt8:
                return static_cast<std::uint64_t>(number<std::int8_t>(text));
            case DataType::kUint8:
                return number<std::uint8_t>(text);
            case DataType::kInt16:
                return static_cast<std::uint64_t>(number<std::int16_t>(text));
            default:
                return static_cast<std::uint64_t>(number<std::int32_t>(text));
        }
    }

    float real(std::string_view text) const {
        if (text.starts_with("bits:"))
            return std::bit_cast<float>(number<std::uint32_t>(text.substr(5)));
        float value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size())
            fail(fmt::format("'{}' is not a number", text));
        return value;
    }

    std::uint64_t choice(std::string_view text, std::span<const std::string_view> names,
                         std::string_view what) const {
        std::string all;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (names[i] == text) return i;
            all += fmt::format(" {}", names[i]);
        }
        fail(fmt::format("'{}' is no {} (one of:{})", text, what, all));
    }

    const Buffer& buffer(std::string_view name) const {
        const Buffer* found = program_.find(name);
        if (found == nullptr) fail(fmt::format("no buffer is named '{}'", name));
        return *found;
    }

    /// A number, @NAME or @NAME+OFFSET.
    std::uint64_t address(std::string_view text) const {
        if (text.empty() || text.front() != '@') return number<std::uint64_t>(text);
        const std::size_t plus = std::min(text.find('+'), text.size());
        const std::uint64_t base = buffer(text.substr(1, plus - 1)).address;
        const std::uint64_t offset =
            plus == text.size() ? 0 : number<std::uint64_t>(text.substr(plus + 1));
        if (base + offset < base) fail(fmt::format("{} does not fit into 64 bits", text));
        return base + offset;
    }

    void directive(std::string_view rest) {
        const std::string_view what = next_word(rest);
        if (what == ".generation") {
            program_.generation = number<std::int32_t>(rest);
        } else if (what == ".buffer") {
            Buffer made;
            made.name = next_word(rest);
            made.space = Id::of(choice(next_word(rest), isa_.spaces.first(kBufferSpaces), "space"));
            made.role = static_cast<Role>(choice(next_word(rest), kRoleNames, "role"));
            made.type = type(next_word(rest));
            made.bytes = number<std::uint64_t>(next_word(rest));
            made.address = number<std::uint64_t>(next_word(rest));
            while (!rest.empty()) made.shape.push_back(number<std::uint64_t>(next_word(rest)));
            if (made.shape.size() > 255) fail("more than 255 dimensions");
            program_.buffers.push_back(std::move(made));
        } else if (what == ".data") {
            data(rest);
        } else if (what == ".step") {
            ProgramStep step;
            // The MACs are the last of several words, where that is a number.
            std::string_view name = rest;
            const std::string_view last = last_word(name);
            const bool has_macs = !name.empty() && last.front() >= '0' && last.front() <= '9';
            if (has_macs) step.macs = number<std::uint64_t>(last);
            step.name = has_macs ? name : rest;
            program_.steps.push_back(std::move(step));
        } else if (what == ".host") {
            HostTask task;
            task.bytes = number<std::uint64_t>(last_word(rest));
            task.operations = number<std::uint64_t>(last_word(rest));
            task.name = rest;
            program_.host_tasks.push_back(std::move(task));
        } else {
            fail(fmt::format("unknown directive {} (.generation .buffer .data .step .host)", what));
        }
    }

    DataType type(std::string_view text) const {
        return static_cast<DataType>(choice(text, isa_.types, "type"));
    }

    void data(std::string_view rest) {
        Segment segment;
        const Buffer& target = buffer(next_word(rest));
        segment.buffer = static_cast<std::uint32_t>(&target - program_.buffers.data());
        segment.offset = number<std::uint64_t>(next_word(rest));
        const std::string_view format = next_word(rest);
        const auto append = [&](auto value) {
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
            segment.bytes.insert(segment.bytes.end(), bytes, bytes + sizeof(value));
        };
        if (format == "hex") {
            for (; !rest.empty(); rest = trim(rest)) {
                std::uint8_t byte = 0;
                const auto [end, error] = std::from_chars(
                    rest.data(), rest.data() + std::min<std::size_t>(2, rest.size()), byte, 16);
                if (error != std::errc{} || end != rest.data() + 2)
                    fail("hex wants pairs of digits");
                segment.bytes.push_back(byte);
                rest.remove_prefix(2);
            }
        } else {
            const DataType element = type(format);
            while (!rest.empty()) {
                const std::string_view word = next_word(rest);
                if (element == DataType::kFp32)
                    append(real(word));
                else if (element == DataType::kBf16)
                    append(numerics::fp32_to_bf16(real(word)));
                else if (size_of(element) == 1)
                    append(static_cast<std::uint8_t>(integer(word, element)));
                else if (size_of(element) == 2)
                    append(static_cast<std::uint16_t>(integer(word, element)));
                else
                    append(static_cast<std::uint32_t>(integer(word, element)));
            }
        }
        program_.segments.push_back(std::move(segment));
    }

    void instruction(std::string_view rest) {
        const std::string_view mnemonic = next_word(rest);
        const OpcodeRow* opcode = nullptr;
        for (const OpcodeRow& candidate : isa_.opcodes)
            if (candidate.mnemonic == mnemonic) opcode = &candidate;
        if (opcode == nullptr) fail(fmt::format("unknown instruction '{}'", mnemonic));
        Instruction& made = program_.append(opcode->opcode);
        std::set<Id> assigned;
        while (!rest.empty()) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            const Id field = assign(made, trim(rest.substr(0, comma)));
            if (!assigned.insert(field).second)
                fail(fmt::format("{} has '{}' twice", mnemonic, isa_.row(field).name));
            rest = trim(rest.substr(std::min(comma + 1, rest.size())));
        }
        lines_.push_back(line_);
    }

    /// Which field it was.
    Id assign(Instruction& made, std::string_view text) {
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) fail(fmt::format("'{}' is not field=value", text));
        const std::string_view name = trim(text.substr(0, equals));
        const std::string_view value = trim(text.substr(equals + 1));
        for (const FieldRow& properties : isa_.fields) {
            if (properties.name != name || !isa_.has_field(made.row(), properties.field)) continue;
            FieldValue bits = std::uint64_t{0};
            switch (properties.kind) {
                case FieldKind::kName:
                    bits = choice(value, properties.names, name);
                    break;
                case FieldKind::kSigned:
                    bits = number<std::int64_t>(value);
                    break;
                case FieldKind::kFloat:
                    bits = real(value);
                    break;
                case FieldKind::kUnsigned:
                case FieldKind::kHex:
                    bits = address(value);
                    break;
            }
            if (!fits(properties, bits))
                fail(fmt::format("{} does not fit into {} ({} bits)", value, name,
                                 properties.width));
            made.put(properties.field, bits);
            return properties.field;
        }
        fail(fmt::format("{} has no field '{}'", made.row().mnemonic, name));
    }

    Program& program_;
    const Description& isa_;
    std::string_view text_;
    std::string_view name_;
    int line_ = 0;
    std::vector<int> lines_;  ///< of the instructions
};

}  // namespace

void assemble(Program& into, std::string_view text, std::string_view name) {
    Assembler(into, text, name).run();
}

void assemble_instruction(Program& into, std::string_view line) {
    Assembler(into, line, "instruction").one();
}

std::string listing(const Program& program, bool with_data) {
    const Description& isa = program.isa();
    std::string text = fmt::format(".generation {}\n", program.generation);
    for (const Buffer& buffer : program.buffers) {
        text += fmt::format(
            ".buffer {} {} {} {} {} {:#x}", buffer.name, isa.spaces[buffer.space.value],
            kRoleNames[static_cast<std::size_t>(buffer.role)],
            isa.types[static_cast<std::size_t>(buffer.type)], buffer.bytes, buffer.address);
        for (const std::uint64_t dimension : buffer.shape) text += fmt::format(" {}", dimension);
        text += "\n";
    }
    for (const Segment& segment : program.segments) {
        const std::string& name = program.buffers[segment.buffer].name;
        if (!with_data) {
            text += fmt::format("# {} bytes of data for {} at {:#x}\n", segment.bytes.size(), name,
                                segment.offset);
            continue;
        }
        text += fmt::format(".data {} {:#x} hex", name, segment.offset);
        for (const std::uint8_t byte : segment.bytes) text += fmt::format(" {:02x}", byte);
        text += "\n";
    }
    for (const ProgramStep& step : program.steps)
        text += fmt::format(".step {} {}\n", step.name, step.macs);
    for (const HostTask& task : program.host_tasks)
        text += fmt::format(".host {} {} {}\n", task.name, task.operations, task.bytes);
    for (std::size_t i = 0; i < program.size(); ++i)
        text += disassemble(program.instruction(i)) + "\n";
    return text;
}

}  // namespace lockstep::command
