// SPDX-License-Identifier: Apache-2.0
// Compiles sass.table into the constant arrays that table.cpp includes; runs at build time.
// The format is described in isa/sass/README.md. A line that is wrong stops the build with its
// number.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "isa/sass/table/table.h"

namespace {

using namespace lockstep::sass;
using namespace lockstep::sass::table;
using std::string;

std::vector<string> split(const string& text, const string& separator) {
    std::vector<string> parts;
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find(separator, begin)) != string::npos;
         begin = end + separator.size())
        parts.push_back(text.substr(begin, end - begin));
    parts.push_back(text.substr(begin));
    return parts;
}

unsigned number(const string& text, int base = 10) {
    std::size_t used = 0;
    const unsigned value = static_cast<unsigned>(std::stoul(text, &used, base));
    if (used != text.size()) throw std::runtime_error("not a number: " + text);
    return value;
}

constexpr unsigned kOpMask = 0x1ff;
constexpr const char* kMnemonicCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/// "ATOM.CAS" as kAtomCas.
string enumerator(const string& name) {
    string text = "k";
    bool upper = true;
    for (const char c : name) {
        if (c == '.' || c == '_') {
            upper = true;
            continue;
        }
        text += upper ? c : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        upper = false;
    }
    return text;
}

struct Generator {
    std::vector<string> texts;
    std::map<std::vector<string>, unsigned> known_texts;
    std::map<string, std::vector<string>> choices;
    std::vector<Piece> piece_list;
    std::vector<Operand> operand_list;
    std::vector<Row> row_list;
    std::map<unsigned, string> op_names;   ///< by bits 0-8, from lines `op`
    std::map<unsigned, string> mnemonics;  ///< likewise, of the first row

    unsigned intern(const std::vector<string>& list) {
        auto [it, inserted] = known_texts.try_emplace(list, static_cast<unsigned>(texts.size()));
        if (inserted) texts.insert(texts.end(), list.begin(), list.end());
        return it->second;
    }

    /// "74-75,80": least significant run first.
    static Field parse_field(const string& text) {
        Field field;
        for (const string& run : split(text, ",")) {
            if (field.runs == Field::kMaxRuns) throw std::runtime_error("too many runs: " + text);
            const auto ends = split(run, "-");
            const unsigned first = number(ends[0]), last = number(ends.back());
            if (last < first || last > 127) throw std::runtime_error("bad bits: " + text);
            field.run[field.runs++] = {static_cast<std::uint8_t>(first),
                                       static_cast<std::uint8_t>(last - first + 1)};
        }
        return field;
    }

    /// {80:/.FTZ} or {78-79=rounding}
    Piece parse_choice(const string& body) {
        const auto mark = body.find_first_of(":=");
        if (mark == string::npos) throw std::runtime_error("choice without ':' or '=': " + body);
        Piece piece{.kind = PieceKind::kChoice};
        piece.field = parse_field(body.substr(0, mark));
        std::vector<string> list;
        if (body[mark] == ':') {
            list = split(body.substr(mark + 1), "/");
        } else {
            auto it = choices.find(body.substr(mark + 1));
            if (it == choices.end()) throw std::runtime_error("no such choice: " + body);
            list = it->second;
        }
        if (list.size() != 1ull << piece.field.width())
            throw std::runtime_error("choice needs as many texts as the field has values: " + body);
        piece.text = static_cast<std::uint16_t>(intern(list));
        return piece;
    }

    /// <R16> <s40-63> <x40-53<<2> <s32-63?73> <s32-63?!73>
    static Piece parse_field_piece(string body) {
        static const std::map<string, std::pair<PieceKind, unsigned>> kKinds = {
            {"R", {PieceKind::kRegister, 8}},
            {"UR", {PieceKind::kUniformRegister, 6}},
            {"P", {PieceKind::kPredicate, 3}},
            {"UP", {PieceKind::kUniformPredicate, 3}},
            {"x", {PieceKind::kUnsigned, 0}},
            {"s", {PieceKind::kSigned, 0}},
            {"a", {PieceKind::kOffset, 0}},
            {"z", {PieceKind::kSignedUnlessZero, 0}},
            {"~P", {PieceKind::kInvertedPredicate, 3}},
            {"~UP", {PieceKind::kInvertedUniformPredicate, 3}},
            {"pc", {PieceKind::kBranch, 0}},
            {"d", {PieceKind::kDecimal, 0}},
            {"f32:", {PieceKind::kFloat32, 32}},
            {"f64:", {PieceKind::kFloat64, 32}},
            {"f16:", {PieceKind::kFloat16, 16}},
            {"bf16:", {PieceKind::kBfloat16, 16}},
            {"h16:", {PieceKind::kFloat16OrBfloat16, 16}},
            {"set", {PieceKind::kBitSet, 0}}};
        Piece piece;
        if (const auto at = body.find('?'); at != string::npos) {
            piece.condition_value = body[at + 1] != '!';
            piece.condition_bit = static_cast<std::uint8_t>(
                number(body.substr(at + (piece.condition_value ? 1 : 2))));
            body.resize(at);
        }
        if (const auto at = body.find("<<"); at != string::npos) {
            piece.shift = static_cast<std::uint8_t>(number(body.substr(at + 2)));
            body.resize(at);
        }
        auto split_at = body.find(':');
        split_at = split_at == string::npos ? body.find_first_of("0123456789") : split_at + 1;
        const auto kind = kKinds.find(body.substr(0, split_at));
        if (kind == kKinds.end()) throw std::runtime_error("unknown field: " + body);
        piece.kind = kind->second.first;
        string bits = body.substr(split_at);
        // A register or a float is named by its first bit alone.
        if (kind->second.second != 0 && bits.find_first_of("-,") == string::npos)
            bits += "-" + std::to_string(number(bits) + kind->second.second - 1);
        piece.field = parse_field(bits);
        return piece;
    }

    void parse_operand(string body) {
        Operand operand;
        if (body.starts_with("(?")) {  // (?81-83=7 <P81>)
            const auto space = body.find(' ');
            const auto condition = split(body.substr(2, space - 2), "=");
            operand.optional = true;
            operand.condition = parse_field(condition.at(0));
            operand.hidden_value = std::stoull(condition.at(1));
            if (body.back() != ')') throw std::runtime_error("missing ')': " + body);
            body = body.substr(space + 1, body.size() - space - 2);
        }
        operand.first_piece = static_cast<std::uint16_t>(piece_list.size());
        string literal;
        const auto flush = [&] {
            if (literal.empty()) return;
            piece_list.push_back({.text = static_cast<std::uint16_t>(intern({literal}))});
            literal.clear();
        };
        for (std::size_t i = 0; i < body.size(); ++i) {
            if (body[i] != '{' && body[i] != '<') {
                // The sign of an offset is printed with it.
                if (body[i] == '+') operand.address = true;
                literal += body[i];
                continue;
            }
            flush();
            const auto end = body[i] == '{' ? body.find('}', i) : body.find('>', i);
            if (end == string::npos) throw std::runtime_error("unclosed " + body.substr(i));
            const string inner = body.substr(i + 1, end - i - 1);
            piece_list.push_back(body[i] == '{' ? parse_choice(inner) : parse_field_piece(inner));
            i = end;
        }
        flush();
        operand.pieces = static_cast<std::uint8_t>(piece_list.size() - operand.first_piece);
        operand_list.push_back(operand);
    }

    static std::uint8_t parse_archs(const string& text) {
        std::uint8_t mask = 0;
        const std::array<string, 6> names = {"70", "75", "80", "86", "89", "90"};
        for (const string& part : split(text, ",")) {
            const auto ends = split(part, "-");
            bool inside = false, found = false;
            for (unsigned i = 0; i < names.size(); ++i) {
                inside |= names[i] == ends[0];
                if (inside) mask |= static_cast<std::uint8_t>(1u << i);
                found |= inside && names[i] == ends.back();
                if (names[i] == ends.back()) inside = false;
            }
            if (!found) throw std::runtime_error("bad architectures: " + text);
        }
        return mask;
    }

    static Pipe parse_pipe(const string& name) {
        static const std::array<string, 14> kNames = {
            "alu",    "fma", "half",    "double", "tensor",   "tensor_async", "variable",
            "memory", "tma", "uniform", "branch", "dispatch", "texture",      "other"};
        for (unsigned i = 0; i < kNames.size(); ++i)
            if (kNames[i] == name) return static_cast<Pipe>(i);
        throw std::runtime_error("no such pipe: " + name);
    }

    void parse_row(const string& line, unsigned line_number) {
        const auto columns = split(line, " : ");
        if (columns.size() != 4) throw std::runtime_error("a row has four columns");
        Row row;
        const auto keys = split(columns[0], " ");
        const auto require = [&](const Field& field, std::uint64_t value) {
            field.set(row.mask, ~0ull);
            field.set(row.value, value);
        };
        string opcode = keys[0];
        // 210 wants bit 91 clear, 210u wants it set, 210x takes either.
        const char last = opcode.back();
        if (last == 'u' || last == 'x') opcode.pop_back();
        require(parse_field("0-11"), number(opcode, 16));
        if (last != 'x') require(parse_field("91"), last == 'u');
        for (std::size_t i = 1; i < keys.size(); ++i) {
            const auto condition = split(keys[i], "=");
            require(parse_field(condition.at(0)), number(condition.at(1)));
        }
        row.archs = parse_archs(columns[1]);
        row.pipe = parse_pipe(columns[2]);
        string body = columns[3];
        row.uniform_guard = body.starts_with("@UP ");
        if (row.uniform_guard) body = body.substr(4);
        row.first_operand = static_cast<std::uint16_t>(operand_list.size());
        row.line = static_cast<std::uint16_t>(line_number);
        const auto space = body.find(' ');
        mnemonics.try_emplace(number(opcode, 16) & kOpMask,
                              body.substr(0, body.find_first_not_of(kMnemonicCharacters)));
        parse_operand(body.substr(0, space));
        if (space != string::npos)
            for (const string& operand : split(body.substr(space + 1), ", "))
                parse_operand(operand);
        row.operands = static_cast<std::uint8_t>(operand_list.size() - row.first_operand);
        row_list.push_back(row);
    }

    void parse(std::istream& in) {
        string line;
        for (unsigned line_number = 1; std::getline(in, line); ++line_number) try {
                if (line.empty() || line[0] == '#') continue;
                if (line.starts_with("op ")) {
                    const auto words = split(line, " ");
                    if (words.size() != 3) throw std::runtime_error("wanted: op NUMBER NAME");
                    const bool is_new = op_names.emplace(number(words[1], 16), words[2]).second;
                    if (!is_new) throw std::runtime_error("a second name of op " + words[1]);
                } else if (line.starts_with("choice ")) {
                    std::istringstream words(line.substr(7));
                    string name, word;
                    words >> name;
                    auto& list = choices[name];
                    while (words >> word) list.push_back(word == "-" ? "" : word);
                } else {
                    parse_row(line, line_number);
                }
            } catch (const std::exception& error) {
                throw std::runtime_error(std::to_string(line_number) + ": " + error.what());
            }
    }

    static void write(std::ostream& out, const Field& field) {
        out << "{{";
        for (unsigned i = 0; i < field.runs; ++i)
            out << "{" << +field.run[i].first << "," << +field.run[i].count << "},";
        out << "}," << +field.runs << "}";
    }

    /// The body of enum Op. A mnemonic of several opcodes has its number behind it where no line
    /// `op` names it.
    void write_ops(std::ostream& out) const {
        std::map<string, unsigned> users;
        for (const auto& [op, mnemonic] : mnemonics) ++users[mnemonic];
        std::map<unsigned, string> names = op_names;
        for (const auto& [op, mnemonic] : mnemonics) {
            std::ostringstream hex;
            hex << std::hex << op;
            names.try_emplace(op, users[mnemonic] == 1 ? mnemonic : mnemonic + "_X" + hex.str());
        }
        for (const auto& [op, name] : names)
            out << enumerator(name) << " = 0x" << std::hex << op << ",\n";
    }

    void write(std::ostream& out) {
        std::stable_sort(row_list.begin(), row_list.end(), [](const Row& a, const Row& b) {
            return a.value.opcode() < b.value.opcode();
        });
        out << "constexpr std::string_view kTexts[] = {\n";
        for (const string& text : texts) out << "\"" << text << "\",\n";
        out << "};\nconstexpr Piece kPieces[] = {\n";
        for (const Piece& piece : piece_list) {
            out << "{PieceKind(" << +static_cast<std::uint8_t>(piece.kind) << ")," << +piece.shift
                << "," << +piece.condition_bit << "," << piece.condition_value << "," << piece.text
                << ",";
            write(out, piece.field);
            out << "},\n";
        }
        out << "};\nconstexpr Operand kOperands[] = {\n";
        for (const Operand& operand : operand_list) {
            out << "{" << operand.first_piece << "," << +operand.pieces << "," << operand.address
                << "," << operand.optional << "," << operand.hidden_value << "u,";
            write(out, operand.condition);
            out << "},\n";
        }
        out << "};\nconstexpr Row kRows[] = {\n";
        for (const Row& row : row_list)
            out << "{{" << row.mask.lo << "u," << row.mask.hi << "u},{" << row.value.lo << "u,"
                << row.value.hi << "u}," << +row.archs << ",Pipe("
                << +static_cast<std::uint8_t>(row.pipe) << ")," << row.uniform_guard << ","
                << row.first_operand << "," << +row.operands << "," << row.line << "},\n";
        out << "};\nconstexpr std::uint16_t kFirstRow[] = {";
        unsigned next = 0;
        for (unsigned opcode = 0; opcode <= 4096; ++opcode) {
            while (next < row_list.size() && row_list[next].value.opcode() < opcode) ++next;
            out << next << ",";
        }
        out << "};\n";
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 1;
    try {
        std::ifstream in(argv[1]);
        Generator generator;
        generator.parse(in);
        std::ofstream out(argv[2]);
        generator.write(out);
        std::ofstream ops(argv[3]);
        generator.write_ops(ops);
        return out.flush() && ops.flush() ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << argv[1] << ":" << error.what() << "\n";
        return 1;
    }
}
