// SPDX-License-Identifier: Apache-2.0
// MLIR's text as tokens.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::network::stablehlo {

enum class TokenKind : std::uint8_t {
    kEnd,
    kWord,    ///< stablehlo.add, dense, x
    kValue,   ///< %0, %arg1, %2#1
    kSymbol,  ///< @main, with or without quotes
    kBlock,   ///< ^bb0
    kHash,    ///< #stablehlo.gather
    kBang,    ///< !stablehlo.token
    kNumber,  ///< 12, -1.5e+00, 0xFF800000
    kString,  ///< its contents
    kMark,    ///< punctuation: one character, or ->
};

struct Token {
    TokenKind kind = TokenKind::kEnd;
    std::string_view text;
    int line = 1;
};

class Lexer {
  public:
    Lexer(std::string_view text, const std::string& file, int first_line = 1);

    const Token& peek() const { return token_; }
    Token take();

    bool is_word(std::string_view word) const {
        return token_.kind == TokenKind::kWord && token_.text == word;
    }
    bool is_mark(std::string_view mark) const {
        return token_.kind == TokenKind::kMark && token_.text == mark;
    }
    /// Takes the mark or word where it stands here.
    bool accept(std::string_view mark);
    bool accept_word(std::string_view word);
    /// Takes it, or fails.
    void expect(std::string_view mark);
    Token expect(TokenKind kind, std::string_view what);

    /// What stands up to the `>` that closes the `<` that was just taken: it is no longer tokens.
    std::string_view raw_in_angles();

    /// Skips what stands from the opening mark here to the one that closes it.
    void skip_balanced();

    /// Throws InputError with file and line: of the token here, or of the one that was just taken.
    [[noreturn]] void fail(const std::string& reason) const;
    [[noreturn]] void fail_behind(const std::string& reason) const;

  private:
    void advance();
    void skip_space();

    std::string_view text_;
    const std::string& file_;
    std::size_t at_ = 0;     ///< behind token_
    std::size_t start_ = 0;  ///< of token_
    int line_ = 1;
    int taken_line_ = 1;
    Token token_;
};

}  // namespace lockstep::network::stablehlo
