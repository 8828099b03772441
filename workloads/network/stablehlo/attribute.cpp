// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/stablehlo/attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/error/error.h"

namespace lockstep::network::stablehlo {

namespace {

constexpr std::pair<std::string_view, ElementType> kTypes[] = {
    {"f32", ElementType::kFp32},  {"f64", ElementType::kFp64},  {"bf16", ElementType::kBf16},
    {"f16", ElementType::kFp16},  {"i8", ElementType::kInt8},   {"ui8", ElementType::kUint8},
    {"i16", ElementType::kInt16}, {"i32", ElementType::kInt32}, {"i64", ElementType::kInt64},
    {"i1", ElementType::kBool}};

AttributeValue text_of(std::string_view text) {
    return {std::string(text)};
}

/// A number's type, where one is written: `1 : i64`.
void skip_type(Lexer& lexer) {
    if (!lexer.accept(":")) return;
    if (lexer.is_word("tensor"))
        parse_type(lexer);
    else
        lexer.take();
}

AttributeValue parse_list(Lexer& lexer, const Resources& resources, std::string_view close) {
    AttributeValue::List list;
    while (!lexer.accept(close)) {
        list.push_back(parse_attribute(lexer, resources));
        if (!lexer.accept(",") && !lexer.is_mark(close)) lexer.expect(close);
    }
    return {std::move(list)};
}

/// One value for all elements as all of them: attributes are short.
std::shared_ptr<const Tensor> expanded(Tensor tensor, const TensorType& type) {
    constexpr std::int64_t kLongest = 4096;
    const std::int64_t count = element_count(type.shape);
    if (tensor.shape.empty() && !type.shape.empty() && count <= kLongest) {
        const std::vector<double> values(static_cast<std::size_t>(count), to_doubles(tensor)[0]);
        tensor = from_doubles(type.type, type.shape, values);
    }
    return std::make_shared<const Tensor>(std::move(tensor));
}

/// #stablehlo<kind VALUE>, #stablehlo.NAME<...>, or another dialect's, which means nothing here.
AttributeValue parse_hash(Lexer& lexer, const Resources& resources) {
    const std::string_view name = lexer.take().text;
    if (!lexer.is_mark("<")) return text_of(name);
    if (name == "#stablehlo" || name == "#chlo") {
        lexer.expect("<");
        lexer.expect(TokenKind::kWord, "the kind of an enumeration");
        const Token value = lexer.expect(TokenKind::kWord, "a value of an enumeration");
        lexer.expect(">");
        return text_of(value.text);
    }
    if (name == "#stablehlo.conv") {
        lexer.expect("<");
        AttributeValue dimensions = parse_convolution_dimensions(lexer);
        lexer.expect(">");
        return dimensions;
    }
    if (name.starts_with("#stablehlo.")) {
        lexer.expect("<");
        return {parse_dictionary(lexer, resources, ">")};
    }
    lexer.skip_balanced();
    return text_of(name);
}

}  // namespace

TensorType parse_type(Lexer& lexer) {
    if (!lexer.accept_word("tensor"))
        lexer.fail(fmt::format("only tensors are supported, not the type {}", lexer.peek().text));
    lexer.expect("<");
    std::string_view raw = lexer.raw_in_angles();
    raw = raw.substr(0, raw.find_first_of(", "));  // an encoding
    TensorType type;
    for (;;) {
        const std::size_t times = raw.find('x');
        const std::string_view extent = raw.substr(0, times);
        if (extent == "?")
            lexer.fail_behind(
                "a dimension without an extent: export the network with static shapes");
        std::int64_t count = 0;
        const auto result = std::from_chars(extent.data(), extent.data() + extent.size(), count);
        const bool is_extent = times != std::string_view::npos && result.ec == std::errc{} &&
                               result.ptr == extent.data() + extent.size() && count >= 0;
        if (!is_extent) break;
        type.shape.push_back(count);
        raw.remove_prefix(times + 1);
    }
    for (const auto& [name, element] : kTypes)
        if (raw == name) {
            type.type = element;
            element_count(type.shape);
            return type;
        }
    lexer.fail_behind(fmt::format("element type {} is not supported", raw));
}

AttributeValue parse_number(Lexer& lexer) {
    const std::string_view text = lexer.take().text;
    const bool is_hex = text.find("0x") != std::string_view::npos;
    const bool is_whole = is_hex || text.find_first_of(".eE") == std::string_view::npos;
    const char* const end = text.data() + text.size();
    std::int64_t whole = 0;
    double real = 0;
    const auto result =
        is_whole ? std::from_chars(text.data() + (is_hex ? 2 : 0), end, whole, is_hex ? 16 : 10)
                 : std::from_chars(text.data(), end, real);
    if (result.ec != std::errc{} || result.ptr != end)
        lexer.fail_behind(fmt::format("'{}' is no number of 64 bits", text));
    return is_whole ? AttributeValue{whole} : AttributeValue{real};
}

std::vector<TensorType> parse_types(Lexer& lexer) {
    std::vector<TensorType> types;
    if (!lexer.accept("(")) return {parse_type(lexer)};
    while (!lexer.accept(")")) {
        types.push_back(parse_type(lexer));
        if (lexer.is_mark("{")) lexer.skip_balanced();  // {jax.result_info = ""}
        if (!lexer.accept(",") && !lexer.is_mark(")")) lexer.expect(")");
    }
    return types;
}

AttributeValue::Dictionary parse_dictionary(Lexer& lexer, const Resources& resources,
                                            std::string_view close) {
    AttributeValue::Dictionary dictionary;
    while (!lexer.accept(close)) {
        const bool is_string = lexer.peek().kind == TokenKind::kString;
        const Token key = is_string ? lexer.take() : lexer.expect(TokenKind::kWord, "a name");
        AttributeValue value = text_of("unit");
        if (lexer.accept("=")) value = parse_attribute(lexer, resources);
        dictionary.insert_or_assign(std::string(key.text), std::move(value));
        if (!lexer.accept(",") && !lexer.is_mark(close)) lexer.expect(close);
    }
    return dictionary;
}

AttributeValue parse_convolution_dimensions(Lexer& lexer) {
    AttributeValue::Dictionary all;
    for (const char* part : {"input", "kernel", "output"}) {
        if (part == std::string_view("kernel") && !lexer.accept_word("x")) lexer.expect("x");
        if (part == std::string_view("output")) lexer.expect("->");
        AttributeValue::List names;
        lexer.expect("[");
        while (!lexer.accept("]")) {
            names.push_back(text_of(lexer.take().text));
            if (!lexer.accept(",") && !lexer.is_mark("]")) lexer.expect("]");
        }
        all[part] = {std::move(names)};
    }
    return {std::move(all)};
}

AttributeValue parse_attribute(Lexer& lexer, const Resources& resources) {
    const Token& token = lexer.peek();
    switch (token.kind) {
        case TokenKind::kNumber: {
            AttributeValue value = parse_number(lexer);
            skip_type(lexer);
            return value;
        }
        case TokenKind::kString: {
            AttributeValue value = text_of(lexer.take().text);
            skip_type(lexer);
            return value;
        }
        case TokenKind::kSymbol:
        case TokenKind::kBang:
            return text_of(lexer.take().text);
        case TokenKind::kHash:
            return parse_hash(lexer, resources);
        case TokenKind::kWord:
            break;
        default:
            if (lexer.accept("[")) return parse_list(lexer, resources, "]");
            if (lexer.accept("{")) return {parse_dictionary(lexer, resources, "}")};
            if (lexer.accept("<")) return {parse_dictionary(lexer, resources, ">")};
            lexer.fail(fmt::format("expected an attribute, found {}", token.text));
    }
    if (lexer.accept_word("true")) return {std::int64_t{1}};
    if (lexer.accept_word("false")) return {std::int64_t{0}};
    if (lexer.is_word("tensor")) {
        parse_type(lexer);
        return text_of("type");
    }
    const std::string_view name = lexer.take().text;
    if (name == "array" && lexer.accept("<")) {
        lexer.expect(TokenKind::kWord, "an element type");
        if (lexer.accept(">")) return {AttributeValue::List{}};
        lexer.expect(":");
        return parse_list(lexer, resources, ">");
    }
    if ((name == "dense" || name == "dense_resource") && lexer.accept("<")) {
        const std::string_view raw = lexer.raw_in_angles();
        lexer.expect(":");
        const TensorType type = parse_type(lexer);
        if (name == "dense") return {expanded(parse_dense(raw, type, lexer), type)};
        const auto found = resources.find(raw);
        if (found == resources.end()) lexer.fail(fmt::format("no resource {} in this file", raw));
        return {std::make_shared<const Tensor>(parse_bytes(found->second, type, lexer))};
    }
    return text_of(name);
}

Resources take_resources(std::string_view& text, const std::string& file) {
    Resources resources;
    const std::size_t begin = text.rfind("{-#");
    if (begin == std::string_view::npos) return resources;
    const std::string_view part = text.substr(begin + 3);
    text = text.substr(0, begin);
    // name: "0x..." wherever it stands; the first four bytes are the alignment of the others.
    constexpr std::size_t kBeforeBytes = std::string_view("0x00000000").size();
    Lexer lexer(part, file, 1 + static_cast<int>(std::ranges::count(text, '\n')));
    while (lexer.peek().kind != TokenKind::kEnd) {
        const Token name = lexer.take();
        if ((name.kind != TokenKind::kWord && name.kind != TokenKind::kString) ||
            !lexer.accept(":") || lexer.peek().kind != TokenKind::kString)
            continue;
        const std::string_view bytes = lexer.take().text;
        if (!bytes.starts_with("0x") || bytes.size() < kBeforeBytes)
            lexer.fail(fmt::format("resource {} has no bytes", name.text));
        resources.emplace(std::string(name.text), bytes.substr(kBeforeBytes));
    }
    return resources;
}

}  // namespace lockstep::network::stablehlo
