// SPDX-License-Identifier: Apache-2.0
// nvcc passes printf's arguments in a buffer, each aligned to its size: 4 bytes for integers up to
// int, 8 for long, pointers and floating point. The driver formats on the host with the C library,
// and so do we, one conversion at a time. %n and what C does not define are printed as they stand.
#include "models/gpu/execution/device_printf.h"

#include <bit>
#include <cstdio>

namespace lockstep::gpu {

namespace {

template <typename... Values>
void append(std::string& text, const std::string& conversion, Values... values) {
    const int bytes = std::snprintf(nullptr, 0, conversion.c_str(), values...);
    if (bytes <= 0) return;
    const std::size_t begin = text.size();
    text.resize(begin + static_cast<std::size_t>(bytes) + 1);
    std::snprintf(text.data() + begin, static_cast<std::size_t>(bytes) + 1, conversion.c_str(),
                  values...);
    text.pop_back();
}

class Formatter {
  public:
    Formatter(std::string_view format, const PrintfArguments& arguments, std::string& text)
        : format_(format), arguments_(arguments), text_(text) {}

    int run() {
        while (at_ < format_.size()) {
            if (format_[at_] != '%')
                text_ += format_[at_++];
            else
                conversion();
        }
        return used_;
    }

  private:
    std::uint64_t argument(unsigned bytes) {
        offset_ = (offset_ + bytes - 1) / bytes * bytes;
        const std::uint64_t value = arguments_.read(offset_, bytes);
        offset_ += bytes;
        ++used_;
        return value;
    }

    /// Digits, or a number from the arguments in place of '*'.
    void number(std::string& spec) {
        if (peek() == '*') {
            ++at_;
            spec += std::to_string(static_cast<std::int32_t>(argument(4)));
            return;
        }
        while (peek() >= '0' && peek() <= '9') spec += format_[at_++];
    }

    char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

    void conversion() {
        const std::size_t begin = at_++;
        std::string spec = "%";
        while (std::string_view("-+ #0").find(peek()) != std::string_view::npos && peek() != '\0')
            spec += format_[at_++];
        number(spec);
        if (peek() == '.') {
            spec += format_[at_++];
            number(spec);
        }
        std::string length;
        while (std::string_view("hljztL").find(peek()) != std::string_view::npos && peek() != '\0')
            length += format_[at_++];
        const char type = peek();
        if (type != '\0') ++at_;
        // A negative precision from '*' means none.
        if (const std::size_t dot = spec.find(".-"); dot != std::string::npos) spec.resize(dot);
        const bool is_long = !length.empty() && length[0] != 'h' && length[0] != 'L';
        switch (type) {
            case '%':
                text_ += '%';
                return;
            case 'd':
            case 'i':
                if (is_long)
                    append(text_, spec + "ll" + type, static_cast<long long>(argument(8)));
                else
                    append(text_, spec + length + type, static_cast<int>(argument(4)));
                return;
            case 'u':
            case 'o':
            case 'x':
            case 'X':
                if (is_long)
                    append(text_, spec + "ll" + type, static_cast<unsigned long long>(argument(8)));
                else
                    append(text_, spec + length + type, static_cast<unsigned>(argument(4)));
                return;
            case 'c':
                append(text_, spec + type, static_cast<int>(argument(4)));
                return;
            case 'e':
            case 'E':
            case 'f':
            case 'F':
            case 'g':
            case 'G':
            case 'a':
            case 'A':
                append(text_, spec + type, std::bit_cast<double>(argument(8)));
                return;
            case 'p':
                append(text_, spec + type, reinterpret_cast<void*>(argument(8)));
                return;
            case 's': {
                const std::uint64_t address = argument(8);
                const std::string value = address == 0 ? "(null)" : arguments_.string_at(address);
                append(text_, spec + type, value.c_str());
                return;
            }
            default:
                text_ += format_.substr(begin, at_ - begin);
        }
    }

    std::string_view format_;
    const PrintfArguments& arguments_;
    std::string& text_;
    std::size_t at_ = 0;
    std::uint64_t offset_ = 0;
    int used_ = 0;
};

}  // namespace

int format_printf(std::string_view format, const PrintfArguments& arguments, std::string& text) {
    return Formatter(format, arguments, text).run();
}

}  // namespace lockstep::gpu
