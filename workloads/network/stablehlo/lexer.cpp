// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/stablehlo/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sim/error/error.h"

namespace lockstep::network::stablehlo {

namespace {

bool is_name_part(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
           c == '-';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

Lexer::Lexer(std::string_view text, const std::string& file, int first_line)
    : text_(text), file_(file), line_(first_line) {
    advance();
}

void Lexer::fail(const std::string& reason) const {
    throw InputError(fmt::format("{}:{}: {}", file_, token_.line, reason));
}

void Lexer::fail_behind(const std::string& reason) const {
    throw InputError(fmt::format("{}:{}: {}", file_, taken_line_, reason));
}

void Lexer::skip_space() {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '\n') {
            ++line_;
        } else if (text_.substr(at_).starts_with("//")) {
            at_ = std::min(text_.find('\n', at_), text_.size());
            continue;
        } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
            return;
        }
        ++at_;
    }
}

void Lexer::advance() {
    taken_line_ = line_;
    skip_space();
    start_ = at_;
    token_ = {TokenKind::kEnd, {}, line_};
    if (at_ == text_.size()) return;
    const auto run = [&](std::size_t from, auto&& belongs) {
        std::size_t end = from;
        while (end < text_.size() && belongs(text_[end])) ++end;
        return end;
    };
    const auto finish = [&](TokenKind kind, std::size_t end) {
        token_.kind = kind;
        token_.text = text_.substr(start_, end - start_);
        at_ = end;
    };
    const char c = text_[at_];
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == '"' || (c == '@' && next == '"')) {
        const std::size_t from = c == '"' ? at_ : at_ + 1;
        std::size_t end = from + 1;
        while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
            end += text_[end] == '\\' ? 2 : 1;
        if (end >= text_.size() || text_[end] != '"') fail("a string without its end");
        finish(c == '"' ? TokenKind::kString : TokenKind::kSymbol, end + 1);
        token_.text = text_.substr(from + 1, end - from - 1);
        return;
    }
    constexpr std::pair<char, TokenKind> kSigils[] = {{'%', TokenKind::kValue},
                                                      {'@', TokenKind::kSymbol},
                                                      {'^', TokenKind::kBlock},
                                                      {'#', TokenKind::kHash},
                                                      {'!', TokenKind::kBang}};
    for (const auto& [sigil, kind] : kSigils) {
        if (c != sigil || !is_name_part(next)) continue;
        std::size_t end = run(at_ + 1, is_name_part);
        if (kind == TokenKind::kValue && end < text_.size() && text_[end] == '#')
            end = run(end + 1, is_digit);
        finish(kind, end);
        if (kind == TokenKind::kSymbol) token_.text.remove_prefix(1);
        return;
    }
    if (is_digit(c) || (c == '-' && is_digit(next))) {
        std::size_t end = at_ + 1;
        if (c == '0' && next == 'x') {
            end = run(at_ + 2, [](char d) { return std::isxdigit(static_cast<unsigned char>(d)); });
        } else {
            end = run(end, is_digit);
            if (end < text_.size() && text_[end] == '.') end = run(end + 1, is_digit);
            if (end + 1 < text_.size() && (text_[end] == 'e' || text_[end] == 'E') &&
                (is_digit(text_[end + 1]) || text_[end + 1] == '+' || text_[end + 1] == '-'))
                end = run(end + 2, is_digit);
        }
        return finish(TokenKind::kNumber, end);
    }
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_')
        return finish(TokenKind::kWord,
                      run(at_, [](char d) { return is_name_part(d) && d != '-'; }));
    finish(TokenKind::kMark, at_ + (c == '-' && next == '>' ? 2 : 1));
}

Token Lexer::take() {
    const Token taken = token_;
    advance();
    return taken;
}

bool Lexer::accept(std::string_view mark) {
    if (!is_mark(mark)) return false;
    advance();
    return true;
}

bool Lexer::accept_word(std::string_view word) {
    if (!is_word(word)) return false;
    advance();
    return true;
}

void Lexer::expect(std::string_view mark) {
    if (!accept(mark))
        fail(fmt::format("expected {}, found {}", mark,
                         token_.kind == TokenKind::kEnd ? "the end" : token_.text));
}

Token Lexer::expect(TokenKind kind, std::string_view what) {
    if (token_.kind != kind)
        fail(fmt::format("expected {}, found {}", what,
                         token_.kind == TokenKind::kEnd ? "the end" : token_.text));
    return take();
}

std::string_view Lexer::raw_in_angles() {
    at_ = start_;
    line_ = token_.line;
    int depth = 1;
    bool in_string = false;
    for (std::size_t end = at_; end < text_.size(); ++end) {
        const char c = text_[end];
        if (c == '"') in_string = !in_string;
        if (in_string) continue;
        if (c == '<') ++depth;
        const bool is_arrow = c == '>' && end > 0 && text_[end - 1] == '-';
        if (c == '>' && !is_arrow && --depth == 0) {
            const std::string_view raw = text_.substr(at_, end - at_);
            line_ += static_cast<int>(std::ranges::count(raw, '\n'));
            at_ = end + 1;
            advance();
            return raw;
        }
    }
    fail("< without >");
}

void Lexer::skip_balanced() {
    int depth = 0;
    do {
        if (token_.kind == TokenKind::kEnd) fail("brackets that are not closed");
        if (token_.kind == TokenKind::kMark && token_.text.size() == 1) {
            const char c = token_.text.front();
            if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
            if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
        }
        advance();
    } while (depth > 0);
}

}  // namespace lockstep::network::stablehlo
