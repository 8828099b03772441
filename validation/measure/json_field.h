// SPDX-License-Identifier: Apache-2.0
// A value in a JSON file that knows where in which file it stands, so that an error names both.
// Each way to read one throws InputError where it is not of that kind.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "isa/sass/state.h"
#include "sim/error/error.h"

namespace lockstep::validation {

using Json = nlohmann::ordered_json;

inline bool is_hexadecimal(const std::string& text) {
    return text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

class Field {
  public:
    Field(const Json& json, std::string file, std::string path)
        : json_(json), file_(std::move(file)), path_(std::move(path)) {}

    [[noreturn]] void fail(const std::string& why) const {
        throw InputError(fmt::format("{}: {}: {}", file_, path_.empty() ? "the file" : path_, why));
    }
    Field operator[](const std::string& key) const {
        if (!json_.is_object()) fail("must be an object");
        const auto found = json_.find(key);
        const std::string path = path_.empty() ? key : path_ + "." + key;
        if (found == json_.end()) Field(json_, file_, path).fail("is missing");
        return {*found, file_, path};
    }
    std::string text() const {
        if (!json_.is_string()) fail("must be a text");
        return json_.get<std::string>();
    }
    bool boolean() const {
        if (!json_.is_boolean()) fail("must be true or false");
        return json_.get<bool>();
    }
    double number() const {
        if (!json_.is_number()) fail("must be a number");
        return json_.get<double>();
    }
    /// A time, a clock or a counter.
    double measured() const {
        const double value = number();
        if (value < 0) fail("must not be negative");
        return value;
    }
    double measured_or_null() const {
        return json_.is_null() ? std::numeric_limits<double>::quiet_NaN() : measured();
    }
    std::uint64_t count() const {
        if (!json_.is_number_unsigned()) fail("must be a whole number");
        return json_.get<std::uint64_t>();
    }
    template <class T>
    T count() const {
        constexpr auto kMost = std::numeric_limits<T>::max();
        if (count() > std::uint64_t{kMost}) fail(fmt::format("must be at most {}", kMost));
        return static_cast<T>(count());
    }
    std::vector<double> numbers() const {
        return list<double>([](const Field& field) { return field.number(); });
    }
    std::vector<double> times() const {
        return list<double>([](const Field& field) { return field.measured(); });
    }
    sass::Dim3 size() const {
        const auto all = list<std::uint64_t>([](const Field& field) { return field.count(); });
        if (all.size() != 3) fail("must have three numbers");
        for (const std::uint64_t n : all)
            if (n == 0 || n > 0xffffffff) fail("must be from 1 to 2^32 - 1");
        return {static_cast<std::uint32_t>(all[0]), static_cast<std::uint32_t>(all[1]),
                static_cast<std::uint32_t>(all[2])};
    }
    std::string digest() const {
        const std::string value = text();
        if (value.size() != 64 || !is_hexadecimal(value))
            fail("must be a SHA-256 of 64 hexadecimal digits");
        return value;
    }
    std::string hexadecimal() const {
        const std::string value = text();
        if (!is_hexadecimal(value)) fail("must be of hexadecimal digits");
        return value;
    }
    template <class T, class Read>
    std::vector<T> list(const Read& read) const {
        if (!json_.is_array()) fail("must be a list");
        std::vector<T> all;
        for (std::size_t i = 0; i < json_.size(); ++i)
            all.push_back(read(Field(json_[i], file_, fmt::format("{}[{}]", path_, i))));
        return all;
    }
    template <class T, class Read>
    std::map<std::string, T> map(const Read& read) const {
        if (!json_.is_object()) fail("must be an object");
        std::map<std::string, T> all;
        for (const auto& [key, value] : json_.items())
            all.emplace(key, read(Field(value, file_, path_ + "." + key)));
        return all;
    }

  private:
    const Json& json_;
    std::string file_, path_;
};

inline Json parse(const std::string& text, const std::string& file_name) {
    if (text.empty()) throw InputError(fmt::format("{}: the file is empty", file_name));
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        throw InputError(
            fmt::format("{}: offset {}: not whole JSON: {}", file_name, error.byte, error.what()));
    } catch (const Json::exception& error) {  // a number that no double can hold
        throw InputError(fmt::format("{}: {}", file_name, error.what()));
    }
}

}  // namespace lockstep::validation
