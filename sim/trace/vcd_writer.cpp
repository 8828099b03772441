// SPDX-License-Identifier: Apache-2.0
// The header names all variables and comes first, while tracks are made until the end: changes are
// kept apart and follow it when the file is completed. It is written anew only where tracks have
// come since. Strings escape what is not a visible character, as GTKWave reads it.
#include "sim/trace/vcd_writer.h"

#include <filesystem>
#include <map>

#include "sim/error/error.h"

namespace lockstep::trace {

namespace {

constexpr std::size_t kBufferBytes = 1 << 16;

bool is_visible(char c) {
    return c > ' ' && c <= '~';
}

/// The short name of a variable: digits of base 94.
std::string identifier(std::size_t variable) {
    constexpr std::size_t kDigits = '~' - '!' + 1;
    std::string text;
    do {
        text += static_cast<char>('!' + variable % kDigits);
        variable /= kDigits;
    } while (variable != 0);
    return text;
}

std::string reference(std::string_view name) {
    std::string text;
    for (const char c : name) text += is_visible(c) ? c : '_';
    return text;
}

std::string escaped(std::string_view value) {
    std::string text;
    for (const char c : value) {
        if (is_visible(c) && c != '\\')
            text += c;
        else
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return text;
}

std::string value_of(TrackKind kind, const WaveValue& value, const std::string& text) {
    switch (kind) {
        case TrackKind::kText:
            return 's' + text;
        case TrackKind::kReal:
            return fmt::format("r{:.16g}", value.number);
        case TrackKind::kInteger:
            break;
    }
    if (value.kind == WaveValue::Kind::kIdle) return "bx";
    return fmt::format("b{:b}", static_cast<std::uint64_t>(value.number));
}

/// "sm0.sub_core1": sub_core1 inside sm0.
struct Scope {
    std::map<std::string, Scope> inside;
    std::vector<std::string> variables;
};

void print(std::string& text, const Scope& scope) {
    for (const std::string& variable : scope.variables) text += variable;
    for (const auto& [name, inner] : scope.inside) {
        text += fmt::format("$scope module {} $end\n", name);
        print(text, inner);
        text += "$upscope $end\n";
    }
}

}  // namespace

VcdWriter::VcdWriter(const std::string& path, const std::string& title, std::uint64_t most_bytes)
    : path_(std::filesystem::absolute(path)),
      title_(title),
      most_bytes_(most_bytes),
      file_(std::make_unique<OutputFile>(path)),
      body_(file::open_scratch(path)) {
    if (body_ == nullptr) fail();
}

VcdWriter::~VcdWriter() {
    if (body_ != nullptr) std::fclose(body_);
}

void VcdWriter::fail() const {
    throw InputError(fmt::format("{}: cannot be written", path_));
}

void VcdWriter::change(Cycle at, std::size_t variable, const WaveValue& value) {
    if (is_too_large_) return;
    if (!has_begun_ || at != last_) buffer_ += fmt::format("#{}\n", at);
    if (!has_begun_) first_ = at;
    has_begun_ = true;
    last_ = at;
    const bool has_text = value.kind == WaveValue::Kind::kText;
    buffer_ +=
        value_of(variables()[variable].kind, value, has_text ? escaped(text_of(value.label)) : "");
    buffer_ += ' ';
    buffer_ += identifier(variable);
    buffer_ += '\n';
    if (buffer_.size() >= kBufferBytes) flush();
}

void VcdWriter::flush() {
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), body_) != buffer_.size()) fail();
    body_bytes_ += buffer_.size();
    buffer_.clear();
    if (body_bytes_ <= most_bytes_) return;
    is_too_large_ = true;
    throw InputError(fmt::format(
        "--trace {}: cycles {} to {} take {:.1f} GiB, and at most that is written: "
        "choose up to {} cycles with --trace-window FROM:TO, or fewer SMs with "
        "--trace-sms",
        path_, first_, last_, static_cast<double>(most_bytes_) / static_cast<double>(1 << 30),
        last_ - first_));
}

std::string VcdWriter::header() const {
    Scope top;
    std::string values;
    for (std::size_t i = 0; i < variables().size(); ++i) {
        const Variable& variable = variables()[i];
        Scope* scope = &top;
        for (std::string_view rest = variable.group; !rest.empty();) {
            const std::size_t dot = std::min(rest.find('.'), rest.size());
            scope = &scope->inside[reference(rest.substr(0, dot))];
            rest.remove_prefix(std::min(dot + 1, rest.size()));
        }
        const char* const type = variable.kind == TrackKind::kText   ? "string 1"
                                 : variable.kind == TrackKind::kReal ? "real 64"
                                                                     : "wire 64";
        scope->variables.push_back(
            fmt::format("$var {} {} {} $end\n", type, identifier(i), reference(variable.name)));
        values += value_of(variable.kind, {}, "") + ' ' + identifier(i) + '\n';
    }
    std::string text = fmt::format(
        "$comment {} $end\n$comment one nanosecond is one cycle $end\n$timescale 1 ns $end\n",
        title_);
    print(text, top);
    return text + "$enddefinitions $end\n$dumpvars\n" + values + "$end\n";
}

void VcdWriter::complete() {
    if (is_too_large_) return;
    flush();
    const std::string now = header();
    if (now != written_header_) {
        if (!written_header_.empty()) file_ = std::make_unique<OutputFile>(path_);
        file_->print("{}", now);
        written_header_ = now;
        copied_ = 0;
    }
    if (std::fseek(body_, static_cast<long>(copied_), SEEK_SET) != 0) fail();
    std::string part(kBufferBytes, '\0');
    for (; copied_ < body_bytes_;) {
        const std::size_t bytes = std::fread(
            part.data(), 1, std::min<std::uint64_t>(part.size(), body_bytes_ - copied_), body_);
        if (bytes == 0) fail();
        file_->print("{}", std::string_view(part).substr(0, bytes));
        copied_ += bytes;
    }
    if (std::fseek(body_, 0, SEEK_END) != 0) fail();
    file_->end_with("");
}

}  // namespace lockstep::trace
