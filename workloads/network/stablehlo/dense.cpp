// SPDX-License-Identifier: Apache-2.0
// The values of constants: nested lists of numbers, one number for all, or bytes in hexadecimal.
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstring>

#include "workloads/network/stablehlo/attribute.h"

namespace lockstep::network::stablehlo {

namespace {

constexpr int kMaximumDepth = 16;

template <class T>
bool read_number(std::string_view text, T& value, int base = 10) {
    const char* const end = text.data() + text.size();
    std::from_chars_result result{};
    if constexpr (std::is_floating_point_v<T>)
        result = std::from_chars(text.data(), end, value);
    else
        result = std::from_chars(text.data(), end, value, base);
    return result.ec == std::errc{} && result.ptr == end;
}

class Values {
  public:
    Values(std::string_view raw, const TensorType& type, const Lexer& lexer)
        : raw_(raw), type_(type), lexer_(lexer), size_(size_of(type.type)) {}

    Tensor read() {
        skip_space();
        const bool is_splat = raw_.empty() || raw_[at_] != '[';
        // Each element takes a character at the least.
        if (!is_splat && element_count(type_.shape) > static_cast<std::int64_t>(raw_.size()))
            lexer_.fail_behind(fmt::format("dense<...> does not hold the {} elements of its type",
                                           element_count(type_.shape)));
        Tensor tensor(type_.type, is_splat ? Shape{} : type_.shape);
        bytes_ = &tensor.bytes;
        if (is_splat)
            read_element();
        else
            read_list(0);
        skip_space();
        if (at_ != raw_.size() || written_ != tensor.bytes.size())
            lexer_.fail_behind(fmt::format("dense<...> does not hold the {} elements of its type",
                                           element_count(tensor.shape)));
        return tensor;
    }

  private:
    void skip_space() {
        while (at_ < raw_.size() && std::isspace(static_cast<unsigned char>(raw_[at_])) != 0) ++at_;
    }
    bool accept(char c) {
        skip_space();
        if (at_ == raw_.size() || raw_[at_] != c) return false;
        ++at_;
        return true;
    }

    void read_list(int depth) {
        if (depth > kMaximumDepth) lexer_.fail_behind("dense<...> is nested too deep");
        if (!accept('[')) return read_element();
        if (accept(']')) return;
        do {
            skip_space();
            read_list(depth + 1);
        } while (accept(','));
        if (!accept(']')) lexer_.fail_behind("dense<...>: a list without its end");
    }

    void read_element() {
        skip_space();
        const std::size_t from = at_;
        while (at_ < raw_.size() && raw_[at_] != ',' && raw_[at_] != ']' &&
               std::isspace(static_cast<unsigned char>(raw_[at_])) == 0)
            ++at_;
        const std::string_view text = raw_.substr(from, at_ - from);
        if (written_ + size_ > bytes_->size())
            lexer_.fail_behind("dense<...> has too many elements");
        if (!write(text))
            lexer_.fail_behind(
                fmt::format("'{}' is no {}", text.substr(0, 40), name_of(type_.type)));
        written_ += size_;
    }

    bool write(std::string_view text) {
        std::byte* const to = bytes_->data() + written_;
        if (text == "true" || text == "false") {
            if (type_.type != ElementType::kBool) return false;
            *to = std::byte{text == "true"};
            return true;
        }
        if (text.starts_with("0x") && is_floating(type_.type)) {  // the bits
            std::uint64_t bits = 0;
            if (!read_number(text.substr(2), bits, 16)) return false;
            if (size_ < 8 && bits >> (8 * size_) != 0) return false;
            std::memcpy(to, &bits, size_);
            return true;
        }
        if (is_floating(type_.type)) {
            double value = 0;
            if (!read_number(text, value)) return false;
            return put(from_doubles(type_.type, {}, std::span(&value, 1)), to);
        }
        std::int64_t value = 0;
        const bool is_hex = text.starts_with("0x");
        if (!read_number(is_hex ? text.substr(2) : text, value, is_hex ? 16 : 10)) return false;
        return put(from_integers(type_.type, {}, std::span(&value, 1)), to);
    }
    bool put(const Tensor& scalar, std::byte* to) const {
        std::memcpy(to, scalar.bytes.data(), size_);
        return true;
    }

    std::string_view raw_;
    const TensorType& type_;
    const Lexer& lexer_;
    std::size_t size_, at_ = 0, written_ = 0;
    std::vector<std::byte>* bytes_ = nullptr;
};

}  // namespace

Tensor parse_bytes(std::string_view digits, const TensorType& type, const Lexer& lexer) {
    if (type.type == ElementType::kBool)
        lexer.fail_behind("bytes of an i1 tensor are not supported");
    const std::size_t count = digits.size() / 2;
    const auto whole = static_cast<std::size_t>(element_count(type.shape)) * size_of(type.type);
    const bool is_splat = count == size_of(type.type) && count != whole;
    if (digits.size() % 2 != 0 || (count != whole && !is_splat))
        lexer.fail_behind(fmt::format("{} bytes where the type has {}", count, whole));
    Tensor tensor(type.type, is_splat ? Shape{} : type.shape);
    for (std::size_t i = 0; i < count; ++i) {
        unsigned byte = 0;
        if (!read_number(digits.substr(2 * i, 2), byte, 16))
            lexer.fail_behind(fmt::format("'{}' is no byte", digits.substr(2 * i, 2)));
        tensor.bytes[i] = std::byte{static_cast<unsigned char>(byte)};
    }
    return tensor;
}

Tensor parse_dense(std::string_view raw, const TensorType& type, const Lexer& lexer) {
    const std::size_t quote = raw.find('"');
    if (quote != std::string_view::npos) {
        const std::size_t end = raw.find('"', quote + 1);
        if (end == std::string_view::npos) lexer.fail_behind("a string without its end");
        const std::string_view bytes = raw.substr(quote + 1, end - quote - 1);
        if (!bytes.starts_with("0x")) lexer.fail_behind("bytes that do not begin with 0x");
        return parse_bytes(bytes.substr(2), type, lexer);
    }
    if (raw.find_first_not_of(" \n\t") == std::string_view::npos) {
        if (element_count(type.shape) != 0) lexer.fail_behind("dense<> without elements");
        return Tensor(type.type, type.shape);
    }
    return Values(raw, type, lexer).read();
}

}  // namespace lockstep::network::stablehlo
