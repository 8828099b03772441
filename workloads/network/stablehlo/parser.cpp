// SPDX-License-Identifier: Apache-2.0
// Two forms of an operation are read into one. The generic one, "stablehlo.add"(%a, %b) <{...}> :
// (T, T) -> T, says everything by itself. The other is a row of operands, names of values, words
// and key = value in an order of the operation's own; what stands where is told by its first token,
// so that one reader serves all of them but those with regions.
#include <fmt/format.h>

#include "sim/error/error.h"
#include "workloads/network/stablehlo/attribute.h"
#include "workloads/network/stablehlo/syntax.h"

namespace lockstep::network::stablehlo {

namespace {

constexpr int kMaximumDepth = 64;

class Parser {
  public:
    Parser(std::string_view text, const std::string& file)
        : resources_(take_resources(text, file)), lexer_(text, file) {}

    Module parse() {
        Module module;
        skip_aliases();
        const bool has_shell = lexer_.accept_word("module") || lexer_.accept_word("builtin.module");
        if (has_shell) {
            if (lexer_.peek().kind == TokenKind::kSymbol) module.name = lexer_.take().text;
            if (lexer_.accept_word("attributes")) lexer_.skip_balanced();
            lexer_.expect("{");
        }
        while (lexer_.is_word("func.func")) {
            Function function = parse_function();
            if (module.first.empty()) module.first = function.name;
            const std::string name = function.name;
            if (!module.functions.emplace(name, std::move(function)).second)
                lexer_.fail(fmt::format("function @{} is written twice", name));
            skip_aliases();
        }
        if (has_shell) lexer_.expect("}");
        skip_location();
        skip_aliases();
        if (lexer_.peek().kind != TokenKind::kEnd)
            lexer_.fail(fmt::format("expected a function, found {}", lexer_.peek().text));
        if (module.functions.empty()) lexer_.fail("the module has no function");
        return module;
    }

  private:
    /// #loc = loc(...), and other names for attributes at the top.
    void skip_aliases() {
        while (lexer_.peek().kind == TokenKind::kHash) {
            lexer_.take();
            lexer_.expect("=");
            if (lexer_.peek().kind == TokenKind::kWord || lexer_.peek().kind == TokenKind::kHash)
                lexer_.take();
            if (lexer_.is_mark("(") || lexer_.is_mark("<") || lexer_.is_mark("{"))
                lexer_.skip_balanced();
        }
    }
    void skip_location() {
        if (lexer_.accept_word("loc")) lexer_.skip_balanced();
    }

    Function parse_function() {
        lexer_.take();
        if (!lexer_.accept_word("public")) lexer_.accept_word("private");
        Function function;
        function.name = lexer_.expect(TokenKind::kSymbol, "a function's name").text;
        lexer_.expect("(");
        function.body.arguments = parse_arguments(")");
        if (lexer_.accept("->")) parse_types(lexer_);
        if (lexer_.accept_word("attributes")) lexer_.skip_balanced();
        lexer_.expect("{");
        parse_operations(function.body);
        skip_location();
        return function;
    }

    /// %a: T {...}, %b: T loc(...)
    std::vector<Argument> parse_arguments(std::string_view close) {
        std::vector<Argument> arguments;
        while (!lexer_.accept(close)) {
            Argument argument;
            argument.name = lexer_.expect(TokenKind::kValue, "an argument").text;
            lexer_.expect(":");
            argument.type = parse_type(lexer_);
            if (lexer_.is_mark("{")) lexer_.skip_balanced();
            skip_location();
            arguments.push_back(std::move(argument));
            if (!lexer_.accept(",") && !lexer_.is_mark(close)) lexer_.expect(close);
        }
        return arguments;
    }

    /// Up to the brace that closes the region, whose opening one was taken.
    void parse_operations(Region& region) {
        if (++depth_ > kMaximumDepth) lexer_.fail("regions are nested too deep");
        if (lexer_.peek().kind == TokenKind::kBlock) {
            lexer_.take();
            if (lexer_.accept("(")) region.arguments = parse_arguments(")");
            lexer_.expect(":");
        }
        while (!lexer_.accept("}")) region.operations.push_back(parse_operation());
        --depth_;
    }
    Region parse_region() {
        Region region;
        lexer_.expect("{");
        parse_operations(region);
        return region;
    }

    Operation parse_operation() {
        Operation operation;
        operation.line = lexer_.peek().line;
        while (lexer_.peek().kind == TokenKind::kValue) {
            const std::string name(lexer_.take().text);
            std::int64_t count = 0;
            if (lexer_.accept(":")) {  // %0:2
                const AttributeValue number = parse_number(lexer_);
                if (const auto* whole = std::get_if<std::int64_t>(&number.value)) count = *whole;
                if (count < 1 || count > 1024) lexer_.fail("a number of results is expected");
            }
            if (count == 0) operation.results.push_back(name);
            for (std::int64_t i = 0; i < count; ++i)
                operation.results.push_back(fmt::format("{}#{}", name, i));
            if (!lexer_.accept(",")) break;
        }
        if (!operation.results.empty()) lexer_.expect("=");
        if (lexer_.peek().kind == TokenKind::kString) {
            operation.name = lexer_.take().text;
            parse_generic(operation);
        } else {
            operation.name = lexer_.expect(TokenKind::kWord, "an operation").text;
            parse_pretty(operation);
        }
        skip_location();
        return operation;
    }

    void parse_operands(Operation& operation) {
        while (!lexer_.accept(")")) {
            operation.operands.emplace_back(lexer_.expect(TokenKind::kValue, "a value").text);
            if (!lexer_.accept(",") && !lexer_.is_mark(")")) lexer_.expect(")");
        }
    }
    void add_attributes(Operation& operation, std::string_view close) {
        operation.attributes.merge(parse_dictionary(lexer_, resources_, close));
    }

    void parse_generic(Operation& operation) {
        lexer_.expect("(");
        parse_operands(operation);
        if (lexer_.accept("<")) {
            lexer_.expect("{");
            add_attributes(operation, "}");
            lexer_.expect(">");
        }
        if (lexer_.accept("(")) {
            do {
                operation.regions.push_back(parse_region());
            } while (lexer_.accept(","));
            lexer_.expect(")");
        }
        if (lexer_.accept("{")) add_attributes(operation, "}");
        lexer_.expect(":");
        parse_types(lexer_);
        lexer_.expect("->");
        operation.result_types = parse_types(lexer_);
        check_results(operation);
    }

    void parse_pretty(Operation& operation) {
        if (operation.name == "stablehlo.constant") return parse_constant(operation);
        if (operation.name == "stablehlo.reduce") return parse_reduce(operation);
        if (operation.name == "stablehlo.while") return parse_while(operation);
        while (!lexer_.is_mark(":") && parse_item(operation)) lexer_.accept(",");
        parse_suffix(operation);
    }

    /// One operand, word, key = value, or bracketed group of the form without a fixed order. False
    /// where something else stands there.
    bool parse_item(Operation& operation) {
        const Token& token = lexer_.peek();
        if (token.kind == TokenKind::kValue) {
            operation.operands.emplace_back(lexer_.take().text);
            if (lexer_.is_mark("[")) parse_ranges(operation);
            return true;
        }
        if (token.kind == TokenKind::kSymbol) {
            operation.attributes["callee"] = {std::string(lexer_.take().text)};
            return true;
        }
        if (token.kind == TokenKind::kString) {  // the name of a composite
            operation.words.emplace_back(lexer_.take().text);
            return true;
        }
        if (lexer_.accept("(")) {
            parse_operands(operation);
            return true;
        }
        if (lexer_.accept("{")) {
            add_attributes(operation, "}");
            return true;
        }
        if (token.kind != TokenKind::kWord || token.text == "loc") return false;
        const std::string name(lexer_.take().text);
        if (!lexer_.accept("=")) {
            operation.words.push_back(name);
            return true;
        }
        if (name == "dim_numbers") {
            operation.attributes["dimension_numbers"] = parse_convolution_dimensions(lexer_);
            return true;
        }
        // The colon behind a number here is the operation's.
        AttributeValue value = lexer_.peek().kind == TokenKind::kNumber
                                   ? parse_number(lexer_)
                                   : parse_attribute(lexer_, resources_);
        if (lexer_.accept_word("x")) {  // [1] x [0]
            AttributeValue::List both;
            both.push_back(std::move(value));
            both.push_back(parse_attribute(lexer_, resources_));
            value = {std::move(both)};
        }
        operation.attributes.insert_or_assign(name, std::move(value));
        return true;
    }

    /// [0:1, 2:8:2], as lists of starts, limits and strides.
    void parse_ranges(Operation& operation) {
        AttributeValue::List starts, limits, strides;
        lexer_.expect("[");
        while (!lexer_.accept("]")) {
            starts.push_back(range_part());
            lexer_.expect(":");
            limits.push_back(range_part());
            strides.push_back(lexer_.accept(":") ? range_part() : AttributeValue{std::int64_t{1}});
            if (!lexer_.accept(",") && !lexer_.is_mark("]")) lexer_.expect("]");
        }
        operation.attributes["start_indices"] = {std::move(starts)};
        operation.attributes["limit_indices"] = {std::move(limits)};
        operation.attributes["strides"] = {std::move(strides)};
    }
    AttributeValue range_part() {
        const Token token = lexer_.expect(TokenKind::kNumber, "a number");
        const std::string digits(token.text);
        if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos)
            lexer_.fail(fmt::format("'{}' is no index", digits));
        return {static_cast<std::int64_t>(std::stoll(digits))};
    }

    /// : T, : T, U, or : (T, U) -> V. Of a list without an arrow the last is the result's, and all
    /// are where there are several results.
    void parse_suffix(Operation& operation) {
        if (!lexer_.accept(":")) return check_results(operation);  // return without values
        const bool is_list = !lexer_.is_mark("(");
        std::vector<TensorType> types = parse_types(lexer_);
        while (lexer_.accept(",")) types.push_back(parse_type(lexer_));
        if (lexer_.accept("->"))
            types = parse_types(lexer_);
        else if (is_list && types.size() > operation.results.size())
            types.erase(types.begin(),
                        types.end() - static_cast<std::ptrdiff_t>(operation.results.size()));
        operation.result_types = std::move(types);
        check_results(operation);
    }
    void check_results(const Operation& operation) const {
        if (operation.result_types.size() != operation.results.size())
            lexer_.fail_behind(fmt::format("{} results with {} types", operation.results.size(),
                                           operation.result_types.size()));
    }

    void parse_constant(Operation& operation) {
        if (lexer_.accept("{")) add_attributes(operation, "}");
        // The value's type is the result's.
        AttributeValue value = parse_typed_constant(operation);
        operation.attributes["value"] = std::move(value);
    }
    AttributeValue parse_typed_constant(Operation& operation) {
        const Token kind = lexer_.expect(TokenKind::kWord, "dense<...>");
        if (kind.text != "dense" && kind.text != "dense_resource")
            lexer_.fail(fmt::format("expected dense<...>, found {}", kind.text));
        lexer_.expect("<");
        const std::string_view raw = lexer_.raw_in_angles();
        lexer_.expect(":");
        operation.result_types = {parse_type(lexer_)};
        check_results(operation);
        const TensorType& type = operation.result_types.front();
        if (kind.text == "dense")
            return {std::make_shared<const Tensor>(parse_dense(raw, type, lexer_))};
        const auto found = resources_.find(raw);
        if (found == resources_.end()) lexer_.fail(fmt::format("no resource {} in this file", raw));
        return {std::make_shared<const Tensor>(parse_bytes(found->second, type, lexer_))};
    }

    /// (%x init: %i), (%y init: %j) [applies OP] across dimensions = [1] : ... [reducer(...) {...}]
    void parse_reduce(Operation& operation) {
        std::vector<std::string> initial;
        do {
            lexer_.expect("(");
            operation.operands.emplace_back(lexer_.expect(TokenKind::kValue, "a value").text);
            if (!lexer_.accept_word("init")) lexer_.expect("init");
            lexer_.expect(":");
            initial.emplace_back(lexer_.expect(TokenKind::kValue, "a value").text);
            lexer_.expect(")");
        } while (lexer_.accept(","));
        operation.operands.insert(operation.operands.end(), initial.begin(), initial.end());
        if (lexer_.accept_word("applies"))
            operation.words.emplace_back(lexer_.expect(TokenKind::kWord, "an operation").text);
        if (!lexer_.accept_word("across")) lexer_.expect("across");
        while (!lexer_.is_mark(":") && parse_item(operation)) lexer_.accept(",");
        parse_suffix(operation);
        if (!lexer_.accept_word("reducer")) return;
        Region region;
        // (%a: T, %b: T) (%c: U, %d: U), a pair for each operand
        while (lexer_.accept("(")) {
            std::vector<Argument> pair = parse_arguments(")");
            region.arguments.insert(region.arguments.end(), pair.begin(), pair.end());
        }
        lexer_.expect("{");
        parse_operations(region);
        operation.regions.push_back(std::move(region));
    }

    /// (%iterArg = %x, ...) : T, U  cond {...} do {...}
    void parse_while(Operation& operation) {
        std::vector<Argument> arguments;
        lexer_.expect("(");
        while (!lexer_.accept(")")) {
            arguments.push_back(
                {std::string(lexer_.expect(TokenKind::kValue, "a value").text), {}});
            lexer_.expect("=");
            operation.operands.emplace_back(lexer_.expect(TokenKind::kValue, "a value").text);
            if (!lexer_.accept(",") && !lexer_.is_mark(")")) lexer_.expect(")");
        }
        parse_suffix(operation);
        if (operation.result_types.size() != arguments.size())
            lexer_.fail("while: as many results as values are expected");
        for (std::size_t i = 0; i < arguments.size(); ++i)
            arguments[i].type = operation.result_types[i];
        if (lexer_.accept_word("attributes")) lexer_.skip_balanced();
        for (const char* part : {"cond", "do"}) {
            if (!lexer_.accept_word(part)) lexer_.expect(part);
            operation.regions.push_back(parse_region());
            operation.regions.back().arguments = arguments;
        }
    }

    Resources resources_;
    Lexer lexer_;
    int depth_ = 0;
};

}  // namespace

Module parse_module(std::string_view text, const std::string& file) {
    return Parser(text, file).parse();
}

}  // namespace lockstep::network::stablehlo
