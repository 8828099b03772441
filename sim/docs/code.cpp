// SPDX-License-Identifier: Apache-2.0
// Colours by the lexical classes that all three languages have: comments, strings, numbers, words.
// No parser: a line that is misread costs a colour.
#include "sim/docs/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "sim/html/plot.h"

namespace lockstep::docs {

namespace {

enum class Language { kNone, kShell, kCpp, kYaml };

constexpr std::array<std::string_view, 41> kCppWords = {
    "__constant__", "__device__", "__global__", "__host__",  "__restrict__", "__shared__",
    "auto",         "bool",       "break",      "case",      "char",         "class",
    "const",        "constexpr",  "continue",   "do",        "double",       "else",
    "enum",         "extern",     "float",      "for",       "half",         "if",
    "inline",       "int",        "long",       "namespace", "nullptr",      "private",
    "public",       "return",     "sizeof",     "static",    "struct",       "switch",
    "template",     "typename",   "unsigned",   "using",     "void"};

Language language_of(std::string_view code, std::string_view name) {
    if (name == "sh" || name == "bash" || name == "shell" || name == "console")
        return Language::kShell;
    if (name == "c" || name == "cpp" || name == "c++" || name == "cuda") return Language::kCpp;
    if (name == "yaml") return Language::kYaml;
    const bool is_shell =
        name.empty() && (code.starts_with("$ ") || code.starts_with("./lockstep "));
    return is_shell ? Language::kShell : Language::kNone;
}

std::string span(std::string_view style, std::string_view text) {
    return fmt::format("<span class=\"{}\">{}</span>", style, html::escape(text));
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The length of the word, string or comment at the front of `line`, and its class ("" for none).
struct Token {
    std::size_t length;
    std::string_view style;
};

std::size_t string_length(std::string_view line) {
    for (std::size_t i = 1; i < line.size(); ++i) {
        if (line[i] == '\\')
            ++i;
        else if (line[i] == line[0])
            return i + 1;
    }
    return line.size();
}

Token word_token(std::string_view line, Language language) {
    std::size_t length = 0;
    while (length < line.size() && (is_word(line[length]) || line[length] == '.')) ++length;
    const std::string_view word = line.substr(0, length);
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return {length, "number"};
    if (language == Language::kCpp && std::binary_search(kCppWords.begin(), kCppWords.end(), word))
        return {length, "keyword"};
    return {length, ""};
}

Token token_at(std::string_view line, std::size_t at, Language language) {
    const std::string_view rest = line.substr(at);
    const bool follows_space = at == 0 || line[at - 1] == ' ';
    if (language == Language::kCpp && rest.starts_with("//")) return {rest.size(), "comment"};
    if (language == Language::kCpp && at == 0 && rest[0] == '#') return {rest.size(), "keyword"};
    if (language != Language::kCpp && rest[0] == '#' && follows_space)
        return {rest.size(), "comment"};
    if (rest[0] == '"' || (rest[0] == '\'' && follows_space))
        return {string_length(rest), "string"};
    if (language == Language::kShell) {
        if (rest[0] == '-' && follows_space) {
            const std::size_t end = rest.find_first_of(" =", 1);
            return {std::min(end, rest.size()), "option"};
        }
        const std::size_t end = rest.find(' ');
        return {rest[0] == ' ' ? 1 : std::min(end, rest.size()), ""};
    }
    return is_word(rest[0]) ? word_token(rest, language) : Token{1, ""};
}

std::string highlight_line(std::string_view line, Language language) {
    std::string html;
    std::size_t at = 0;
    if (language == Language::kYaml) {
        const std::size_t key = line.find_first_not_of(" -");
        const std::size_t colon = line.find(':');
        if (key < colon && colon != std::string_view::npos && line[key] != '#') {
            html =
                html::escape(line.substr(0, key)) + span("keyword", line.substr(key, colon - key));
            at = colon;
        }
    }
    while (at < line.size()) {
        const Token token = token_at(line, at, language);
        const std::string_view text = line.substr(at, token.length);
        html += token.style.empty() ? html::escape(text) : span(token.style, text);
        at += token.length;
    }
    return html;
}

/// A shell's session: prompts, commands, and what they print.
std::string highlight_session(std::string_view line, bool continues) {
    if (line.starts_with("$ "))
        return "<span class=\"prompt\">$ </span>" +
               highlight_line(line.substr(2), Language::kShell);
    return continues ? highlight_line(line, Language::kShell) : span("output", line);
}

}  // namespace

std::string highlight(std::string_view code, std::string_view name) {
    const Language language = language_of(code, name);
    if (language == Language::kNone) return html::escape(code);
    const bool is_session = language == Language::kShell && code.starts_with("$ ");
    std::string html;
    bool continues = false;
    while (!code.empty()) {
        const std::size_t end = std::min(code.find('\n'), code.size());
        const std::string_view line = code.substr(0, end);
        html += is_session ? highlight_session(line, continues) : highlight_line(line, language);
        continues = line.ends_with('\\') && (continues || line.starts_with("$ "));
        if (end < code.size()) html += '\n';
        code.remove_prefix(std::min(end + 1, code.size()));
    }
    return html;
}

std::string code_block(std::string_view code, std::string_view language) {
    const bool is_shell = language_of(code, language) == Language::kShell;
    return fmt::format("<div class=\"code\"><pre tabindex=\"0\"{}><code>{}</code></pre></div>",
                       is_shell ? " data-shell" : "", highlight(code, language));
}

}  // namespace lockstep::docs
