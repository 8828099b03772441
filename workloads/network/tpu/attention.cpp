// SPDX-License-Identifier: Apache-2.0
// A turn is a block of queries with a block of keys. The arrays make the next turn's scores while
// the vector unit works on this one's, and what a turn adds to the result leaves the accumulators
// in the next turn: the vector unit works in order, and does not wait for the array (software
// pipelining, as compilers for VLIW cores schedule such a kernel).
#include "workloads/network/tpu/attention.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/numerics/integer.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/tpu/copies.h"
#include "workloads/network/tpu/operators.h"
#include "workloads/network/tpu/product.h"
#include "workloads/network/tpu/vector.h"

namespace lockstep::network::lowering {

using numerics::divide_up;
using tpu::Broadcast;
using tpu::DataType;
using tpu::Field;
using tpu::Function;
using tpu::Opcode;

namespace {

constexpr std::uint64_t kBytes = 4;  // of a statistic and of a sum: fp32
constexpr std::size_t kSlots = 2;

/// The nodes of attention in blocks.
struct Pattern {
    std::vector<const Node*> nodes;  ///< after the scores, the product with the values last
    float factor = 1;                ///< of the scores
    ValueId mask = kNoValue;         ///< what is added to them then
    std::int64_t block = 0;          ///< queries and keys of one
    std::int64_t page = 0;           ///< keys that are loaded at a time; 0: those of a block

    const Node& context() const { return *nodes.back(); }
};

/// One constant matrix for all heads.
bool is_mask(const Graph& graph, ValueId id, const Shape& scores) {
    const Value& v = graph.value(id);
    const Shape& shape = *v.shape;
    return is_given(v) && shape.size() >= 2 && shape.back() == scores.back() &&
           shape.end()[-2] == scores.end()[-2] &&
           element_count(shape) == shape.back() * shape.end()[-2];
}

std::optional<Pattern> pattern_of(const Compilation& c, const Node& scores) {
    if (!c.has_memory() || c.target.limits.dataflow != tpu::Dataflow::kWeightStationary ||
        scores.op != Operator::kMatMul || has_constant_weights(c.graph, scores))
        return std::nullopt;
    Pattern found;
    ValueId value = scores.outputs[0];
    const Node* next = c.places.only_reader(value);
    const auto take = [&] {
        found.nodes.push_back(next);
        value = next->outputs[0];
        next = c.places.only_reader(value);
    };
    while (next != nullptr) {
        const std::optional<float> factor = factor_of(c.graph, *next, value);
        if (!factor) break;
        found.factor *= *factor;
        take();
    }
    if (next != nullptr && next->op == Operator::kAdd) {
        found.mask = next->inputs[next->inputs[0] == value ? 1 : 0];
        if (!is_mask(c.graph, found.mask, c.shape(value))) return std::nullopt;
        take();
    }
    if (next == nullptr || next->op != Operator::kSoftmax || is_along_rows(c.graph, *next))
        return std::nullopt;
    found.block = next->integer("block", 0);
    found.page = next->integer("page", 0);
    take();
    if (found.block <= 0 || next == nullptr || next->op != Operator::kMatMul ||
        next->inputs[0] != value || next->inputs[1] == value ||
        has_constant_weights(c.graph, *next) || c.value(next->outputs[0]).quantisation)
        return std::nullopt;
    found.nodes.push_back(next);
    return found;
}

/// A score that has no more added vanishes beside others: masks of transformers add -10^4 (-9984 in
/// bf16) or less.
constexpr float kVanishes = -9e3;

/// What is known of a mask, block by block.
class Mask {
  public:
    enum class Kind { kNothing, kAdded, kTakesAway };

    Mask() = default;
    Mask(Compilation& c, ValueId id)
        : matrix_((*matrices_of(c.places.of(id)))[0]),
          values_(c.value(id).is_known() ? to_doubles(*c.value(id).data) : std::vector<double>()) {
        find_seen();
    }
    /// A block whose every score it makes vanish beside others need not be computed.
    Kind of(std::int64_t query, std::int64_t queries, std::int64_t key, std::int64_t keys) const {
        if (!matrix_) return Kind::kNothing;
        if (values_.empty()) return Kind::kAdded;
        bool nothing = true, all = true;
        for (std::int64_t q = query; q < query + queries; ++q)
            for (std::int64_t k = key; k < key + keys; ++k) {
                const double x = value(q, k);
                nothing &= x == 0;
                all &= x <= kVanishes;
            }
        return nothing ? Kind::kNothing : all ? Kind::kTakesAway : Kind::kAdded;
    }
    /// Whether each of the queries may see some key: only beside its scores others vanish.
    bool leaves_each_a_key(std::int64_t query, std::int64_t queries) const {
        for (std::int64_t q = query; q < query + queries; ++q)
            if (of(q, 1, 0, matrix_ ? matrix_->columns : 0) == Kind::kTakesAway) return false;
        return true;
    }
    const Matrix& matrix() const { return *matrix_; }
    /// Where it takes away what comes after some key of each query, and leaves all before: so many
    /// keys by query, one at least. Such a mask is made on the chip.
    const std::vector<std::int64_t>& seen() const { return seen_; }

  private:
    double value(std::int64_t query, std::int64_t key) const {
        return values_[static_cast<std::size_t>(query * matrix_->columns + key)];
    }
    void find_seen() {
        if (values_.empty()) return;
        std::vector<std::int64_t> seen;
        for (std::int64_t q = 0; q < matrix_->rows; ++q) {
            std::int64_t keys = 0;
            while (keys < matrix_->columns && value(q, keys) == 0) ++keys;
            for (std::int64_t k = keys; k < matrix_->columns; ++k)
                if (value(q, k) > kVanishes) return;
            if (keys == 0) return;
            seen.push_back(keys);
        }
        seen_ = std::move(seen);
    }

    std::optional<Matrix> matrix_;
    std::vector<double> values_;
    std::vector<std::int64_t> seen_;
};

class AttentionInBlocks {
  public:
    AttentionInBlocks(Compilation& c, std::vector<Matrix> q, std::vector<Matrix> k,
                      std::vector<Matrix> v, std::vector<Matrix> out, const Pattern& pattern);
    void run();

  private:
    /// What a block of queries has in the unified buffer while keys pass by. Two of them take
    /// turns.
    struct Slot {
        std::uint64_t queries, maxima, sums, result;
        std::array<std::uint64_t, 2> rescale;  ///< of this turn, and of the one before
    };
    struct Turn {
        std::size_t head, slot, parity;
        std::int64_t query, queries, key, keys;
        bool is_first, is_last;  ///< of its queries
        bool is_masked;          ///< by what is loaded
        BufferRows q, k, v, mask, scores;
        std::uint64_t scores_at, result_at;  ///< accumulators
    };

    std::vector<Turn> turns() const;
    void load(Turn& turn);
    /// The numbers that tell which keys a query sees, where the mask is made of them.
    std::uint64_t number_bytes() const;
    void load_numbers(std::uint64_t at);
    /// What is to be added to the scores.
    void make_mask(Turn& turn);
    /// Keys or values, page by page where they lie in pages: each is a transfer of its own.
    BufferRows load_keys(const Matrix& m, const Turn& turn);
    void make_scores(const Turn& turn);
    void make_probabilities(Turn& turn);
    void add_context(const Turn& turn);
    /// Takes what the turn adds to the result out of the accumulators.
    void finish(const Turn& turn);
    /// rows x k by k x columns into accumulators from `accumulator` on, a tile of columns after the
    /// other. Units share the columns, or where these are few the rows.
    void multiply(const BufferRows& left, std::int64_t rows, std::int64_t k,
                  const BufferRows& right, bool is_transposed, std::int64_t columns,
                  std::uint64_t accumulator);
    void leave(std::uint64_t accumulator, std::int64_t rows, std::int64_t columns, float factor,
               const BufferRows& to, const BufferRows* addend);
    /// So many columns of a block of queries.
    std::uint64_t accumulators(std::int64_t columns) const {
        return static_cast<std::uint64_t>(queries_ *
                                          divide_up(columns, c_.target.limits.array_columns));
    }
    std::uint64_t rescale(const Turn& turn) const { return slots_[turn.slot].rescale[turn.parity]; }
    /// A statistic of each of the rows: as a column, or as one row.
    static BufferRows column(std::uint64_t address) { return {address, kBytes, DataType::kFp32}; }
    static BufferRows row(std::uint64_t address, std::int64_t rows) {
        return {address, static_cast<std::uint64_t>(rows) * kBytes, DataType::kFp32};
    }
    void on_statistics(Function function, Function then, std::uint64_t a, std::uint64_t b,
                       std::uint64_t out, std::int64_t rows);

    Compilation& c_;
    const std::vector<Matrix> q_, k_, v_, out_;
    const float factor_;
    const std::int64_t block_, page_;
    const Mask mask_;
    std::int64_t queries_;  ///< of a block
    std::vector<Slot> slots_;
    /// In the unified buffer, where the mask is made there: of each query its last key, of each
    /// key its number, both times what makes a score vanish.
    std::uint64_t last_keys_ = 0, key_numbers_ = 0;
};

AttentionInBlocks::AttentionInBlocks(Compilation& c, std::vector<Matrix> q, std::vector<Matrix> k,
                                     std::vector<Matrix> v, std::vector<Matrix> out,
                                     const Pattern& pattern)
    : c_(c),
      q_(std::move(q)),
      k_(std::move(k)),
      v_(std::move(v)),
      out_(std::move(out)),
      factor_(pattern.factor),
      block_(pattern.block),
      page_(pattern.page == 0 ? pattern.block : pattern.page),
      mask_(pattern.mask == kNoValue ? Mask() : Mask(c, pattern.mask)),
      queries_(std::min(block_, q_[0].rows)) {
    // Accumulators for two turns.
    const tpu::CoreLimits& limits = c.target.limits;
    const std::int64_t tiles = divide_up(std::min(block_, k_[0].rows), limits.array_columns) +
                               divide_up(v_[0].columns, limits.array_columns);
    queries_ = std::min<std::int64_t>(queries_, limits.accumulator_rows / 2 / tiles);
    if (queries_ == 0)
        throw compile::Refusal(
            fmt::format("attention in blocks of {} keys; there are {} "
                        "accumulators for their scores",
                        block_, limits.accumulator_rows));
    // Of equal parts, so that none is short.
    queries_ = divide_up(q_[0].rows, divide_up(q_[0].rows, queries_));
}

void AttentionInBlocks::multiply(const BufferRows& left, std::int64_t rows, std::int64_t k,
                                 const BufferRows& right, bool is_transposed, std::int64_t columns,
                                 std::uint64_t accumulator) {
    const tpu::CoreLimits& limits = c_.target.limits;
    c_.staging.check_held(left);
    c_.staging.check_held(right);
    const std::int64_t tiles = divide_up(columns, limits.array_columns),
                       shares = std::clamp<std::int64_t>(limits.matrix_units / tiles, 1, rows),
                       share = divide_up(rows, shares);
    for (std::int64_t lane = 0; lane < k; lane += limits.array_rows) {
        const std::int64_t lanes = std::min<std::int64_t>(limits.array_rows, k - lane);
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            const std::int64_t first = tile * limits.array_columns,
                               width =
                                   std::min<std::int64_t>(limits.array_columns, columns - first);
            const std::int64_t row_of_weights = is_transposed ? first : lane,
                               element = is_transposed ? lane : first;
            for (std::int64_t from = 0; from < rows; from += share) {
                const std::int64_t count = std::min(share, rows - from);
                const auto unit = static_cast<std::uint32_t>(
                    static_cast<std::uint32_t>(tile * shares + from / share) % limits.matrix_units);
                c_.builder.emit(
                    Opcode::kReadWeights,
                    {{Field::kUnit, unit},
                     {Field::kFrom, tpu::WeightSource::kUnifiedBuffer},
                     {Field::kAddress,
                      right.address + static_cast<std::uint64_t>(row_of_weights) * right.pitch +
                          static_cast<std::uint64_t>(element) * tpu::size_of(right.type)},
                     {Field::kPitch, right.pitch},
                     {Field::kLanes, lanes},
                     {Field::kColumns, width},
                     {Field::kTransposed, is_transposed},
                     {Field::kWeightType, right.type}});
                count_use(c_, count, lanes, width);
                c_.builder.emit(Opcode::kMatrixMultiply,
                                {{Field::kUnit, unit},
                                 {Field::kSource,
                                  left.address + static_cast<std::uint64_t>(from) * left.pitch +
                                      static_cast<std::uint64_t>(lane) * tpu::size_of(left.type)},
                                 {Field::kPitch, left.pitch},
                                 {Field::kRows, count},
                                 {Field::kLanes, lanes},
                                 {Field::kColumns, width},
                                 {Field::kAccumulator,
                                  accumulator + static_cast<std::uint64_t>(tile * rows + from)},
                                 {Field::kAccumulate, lane != 0},
                                 {Field::kSwitchWeights, true},
                                 {Field::kType, left.type},
                                 {Field::kWeightType, right.type},
                                 {Field::kDataflow, limits.dataflow}});
            }
        }
    }
    ++c_.steps.layer().row_blocks;
}

void AttentionInBlocks::leave(std::uint64_t accumulator, std::int64_t rows, std::int64_t columns,
                              float factor, const BufferRows& to, const BufferRows* addend) {
    const std::int64_t step = c_.target.limits.array_columns;
    for (std::int64_t first = 0; first < columns; first += step) {
        tpu::Instruction activate(
            Opcode::kActivate,
            {{Field::kAccumulator, accumulator + static_cast<std::uint64_t>(first / step * rows)},
             {Field::kAccumulatorType, DataType::kFp32},
             {Field::kRows, rows},
             {Field::kColumns, std::min(step, columns - first)},
             {Field::kDestination,
              to.address + static_cast<std::uint64_t>(first) * tpu::size_of(to.type)},
             {Field::kPitch, to.pitch},
             {Field::kType, to.type},
             {Field::kFunction, Function::kIdentity},
             {Field::kScale, factor},
             {Field::kOutScale, 1.0f}});
        if (addend != nullptr) {
            activate.set(Field::kHasAddend, true);
            activate.set(Field::kAddend, addend->address + static_cast<std::uint64_t>(first) *
                                                               tpu::size_of(addend->type));
            activate.set(Field::kAddendPitch, addend->pitch);
            activate.set(Field::kAddendType, addend->type);
            activate.set(Field::kAddendScale, 1.0f);
        }
        c_.builder.emit(std::move(activate));
    }
}

void AttentionInBlocks::on_statistics(Function function, Function then, std::uint64_t a,
                                      std::uint64_t b, std::uint64_t out, std::int64_t rows) {
    const BufferRows second = row(b, rows);
    vector_op(c_, function, then, row(a, rows), &second, Broadcast::kNone, 0, row(out, rows), 1,
              rows);
}

BufferRows AttentionInBlocks::load_keys(const Matrix& m, const Turn& turn) {
    const BufferRows room = c_.staging.room_for(m, turn.key, turn.keys);
    if (m.space == tpu::Space::kUnifiedBuffer) return room;
    for (std::int64_t key = 0; key < turn.keys; key += page_)
        c_.staging.load_at(room.address + static_cast<std::uint64_t>(key) * room.pitch, m,
                           turn.key + key, std::min(page_, turn.keys - key));
    return room;
}

void AttentionInBlocks::load(Turn& turn) {
    const Matrix& q = q_[turn.head];
    if (q.space == tpu::Space::kUnifiedBuffer) {
        turn.q = c_.staging.load(q, turn.query, turn.queries);
    } else {
        const std::uint64_t at = slots_[turn.slot].queries;
        turn.q = {at, static_cast<std::uint64_t>(q.columns) * tpu::size_of(q.type), q.type};
        if (turn.is_first) c_.staging.load_at(at, q, turn.query, turn.queries);
    }
    turn.k = load_keys(k_[turn.head], turn);
    turn.v = load_keys(v_[turn.head], turn);
    if (!turn.is_masked) return;
    Matrix part = mask_.matrix();
    part.address += static_cast<std::uint64_t>(turn.key) * tpu::size_of(part.type);
    part.columns = turn.keys;
    turn.mask = c_.staging.load(part, turn.query, turn.queries);
}

void AttentionInBlocks::make_scores(const Turn& turn) {
    multiply(turn.q, turn.queries, q_[turn.head].columns, turn.k, true, turn.keys, turn.scores_at);
}

std::uint64_t AttentionInBlocks::number_bytes() const {
    if (mask_.seen().empty()) return 0;
    return compile::aligned(static_cast<std::uint64_t>(q_[0].rows) * kBytes) +
           compile::aligned(static_cast<std::uint64_t>(k_[0].rows) * kBytes);
}

void AttentionInBlocks::load_numbers(std::uint64_t at) {
    const auto load = [&](const char* name, std::int64_t count, const auto& number) {
        std::vector<float> numbers;
        for (std::int64_t i = 0; i < count; ++i)
            numbers.push_back(static_cast<float>(number(i)) * kVanishes);
        const std::span bytes(reinterpret_cast<const std::uint8_t*>(numbers.data()),
                              numbers.size() * kBytes);
        const tpu::Space space = c_.places.backing();
        const Matrix all{space,
                         c_.places.add_constant(name, space, DataType::kFp32, bytes.size(), bytes),
                         DataType::kFp32,
                         1,
                         count,
                         count};
        c_.staging.load_at(at, all, 0, 1);
        return std::exchange(at, at + compile::aligned(bytes.size()));
    };
    last_keys_ = load("last_keys", q_[0].rows, [&](std::int64_t query) {
        return mask_.seen()[static_cast<std::size_t>(query)] - 1;
    });
    key_numbers_ = load("key_numbers", k_[0].rows, [](std::int64_t key) { return key; });
}

void AttentionInBlocks::make_mask(Turn& turn) {
    const auto at = [](std::uint64_t address, std::int64_t i) {
        return address + static_cast<std::uint64_t>(i) * kBytes;
    };
    turn.mask = c_.staging.temporary(turn.queries, turn.keys, DataType::kFp32);
    const BufferRows every_row{at(key_numbers_, turn.key), 0, DataType::kFp32},
        last = column(at(last_keys_, turn.query));
    vector_op(c_, Function::kShortfall, Function::kIdentity, every_row, &last, Broadcast::kColumn,
              0, turn.mask, turn.queries, turn.keys);
}

void AttentionInBlocks::make_probabilities(Turn& turn) {
    const Slot& slot = slots_[turn.slot];
    const BufferRows& scores = turn.scores;
    const std::int64_t rows = turn.queries;
    const bool makes_mask = !mask_.seen().empty();
    if (makes_mask) make_mask(turn);
    if (turn.is_masked) c_.staging.check_held(turn.mask);
    leave(turn.scores_at, rows, turn.keys, factor_, scores,
          makes_mask || turn.is_masked ? &turn.mask : nullptr);
    const BufferRows maxima = column(slot.maxima);
    if (turn.is_first) {
        reduce(c_, tpu::Reduction::kMax, scores, maxima, rows, turn.keys);
    } else {
        const BufferRows own = c_.staging.temporary(rows, 1, DataType::kFp32);
        reduce(c_, tpu::Reduction::kMax, scores, own, rows, turn.keys);
        // What was summed up is larger by exp(old maximum) than what comes.
        on_statistics(Function::kMaximum, Function::kIdentity, slot.maxima, own.address,
                      own.address, rows);
        on_statistics(Function::kSubtract, Function::kExp, slot.maxima, own.address, rescale(turn),
                      rows);
        on_statistics(Function::kMultiply, Function::kIdentity, slot.sums, rescale(turn), slot.sums,
                      rows);
        vector_op(c_, Function::kIdentity, Function::kIdentity, row(own.address, rows), nullptr,
                  Broadcast::kNone, 0, row(slot.maxima, rows), 1, rows);
    }
    vector_op(c_, Function::kSubtract, Function::kExp, scores, &maxima, Broadcast::kColumn, 0,
              scores, rows, turn.keys);
    if (turn.is_first)
        return reduce(c_, tpu::Reduction::kSum, scores, column(slot.sums), rows, turn.keys);
    const BufferRows own = c_.staging.temporary(rows, 1, DataType::kFp32);
    reduce(c_, tpu::Reduction::kSum, scores, own, rows, turn.keys);
    on_statistics(Function::kAdd, Function::kIdentity, slot.sums, own.address, slot.sums, rows);
}

void AttentionInBlocks::add_context(const Turn& turn) {
    multiply(turn.scores, turn.queries, turn.keys, turn.v, false, v_[turn.head].columns,
             turn.result_at);
}

void AttentionInBlocks::finish(const Turn& turn) {
    const Slot& slot = slots_[turn.slot];
    const Matrix& out = out_[turn.head];
    const BufferRows result{slot.result, static_cast<std::uint64_t>(out.columns) * kBytes,
                            DataType::kFp32};
    if (!turn.is_first) {
        const BufferRows factors = column(rescale(turn));
        vector_op(c_, Function::kMultiply, Function::kIdentity, result, &factors,
                  Broadcast::kColumn, 0, result, turn.queries, out.columns);
    }
    leave(turn.result_at, turn.queries, out.columns, 1, result, turn.is_first ? nullptr : &result);
    if (!turn.is_last) return;
    const BufferRows sums = row(slot.sums, turn.queries), factors = column(slot.sums);
    vector_op(c_, Function::kReciprocal, Function::kIdentity, sums, nullptr, Broadcast::kNone, 0,
              sums, 1, turn.queries);
    const BufferRows to = c_.staging.room_for(out, turn.query, turn.queries);
    vector_op(c_, Function::kMultiply, Function::kIdentity, result, &factors, Broadcast::kColumn, 0,
              to, turn.queries, out.columns);
    c_.staging.store(to, out, turn.query, turn.queries);
}

std::vector<AttentionInBlocks::Turn> AttentionInBlocks::turns() const {
    struct Keys {
        std::int64_t key, keys;
        bool is_masked;
    };
    std::vector<std::vector<Keys>> met;  // by each block of queries, of any head
    for (std::int64_t query = 0; query < q_[0].rows; query += queries_) {
        const std::int64_t queries = std::min(queries_, q_[0].rows - query);
        std::vector<Keys> all, left;
        for (std::int64_t key = 0; key < k_[0].rows; key += block_) {
            const std::int64_t keys = std::min(block_, k_[0].rows - key);
            const Mask::Kind kind = mask_.of(query, queries, key, keys);
            all.push_back({key, keys, mask_.seen().empty() && kind != Mask::Kind::kNothing});
            if (kind != Mask::Kind::kTakesAway) left.push_back(all.back());
        }
        met.push_back(mask_.leaves_each_a_key(query, queries) ? left : all);
    }
    // Two turns have scores and results in the accumulators at one time.
    const std::uint64_t scores = accumulators(std::min(block_, k_[0].rows)),
                        results = accumulators(v_[0].columns);
    std::vector<Turn> turns;
    for (std::size_t head = 0; head < q_.size(); ++head)
        for (std::size_t block = 0; block < met.size(); ++block)
            for (std::size_t i = 0; i < met[block].size(); ++i) {
                const std::int64_t query = static_cast<std::int64_t>(block) * queries_;
                turns.push_back({.head = head,
                                 .slot = (head * met.size() + block) % kSlots,
                                 .parity = i % 2,
                                 .query = query,
                                 .queries = std::min(queries_, q_[0].rows - query),
                                 .key = met[block][i].key,
                                 .keys = met[block][i].keys,
                                 .is_first = i == 0,
                                 .is_last = i + 1 == met[block].size(),
                                 .is_masked = met[block][i].is_masked,
                                 .q = {},
                                 .k = {},
                                 .v = {},
                                 .mask = {},
                                 .scores = {},
                                 .scores_at = turns.size() % 2 * scores,
                                 .result_at = 2 * scores + turns.size() % 2 * results});
            }
    return turns;
}

void AttentionInBlocks::run() {
    std::vector<Turn> turns = this->turns();
    const std::uint64_t statistic = compile::aligned(static_cast<std::uint64_t>(queries_) * kBytes),
                        queries =
                            compile::aligned(static_cast<std::uint64_t>(queries_ * q_[0].columns) *
                                             tpu::size_of(q_[0].type)),
                        result = compile::aligned(
                            static_cast<std::uint64_t>(queries_ * v_[0].columns) * kBytes),
                        bytes = queries + result + 4 * statistic;
    std::uint64_t at = c_.staging.ring().pin(kSlots * bytes + number_bytes());
    for (std::size_t i = 0; i < kSlots; ++i, at += bytes) {
        const std::uint64_t statistics = at + queries + result;
        slots_.push_back({at,
                          statistics,
                          statistics + statistic,
                          at + queries,
                          {statistics + 2 * statistic, statistics + 3 * statistic}});
    }
    if (!mask_.seen().empty()) load_numbers(at);
    load(turns[0]);
    make_scores(turns[0]);
    for (std::size_t i = 0; i < turns.size(); ++i) {
        Turn& turn = turns[i];
        if (i + 1 < turns.size()) load(turns[i + 1]);
        turn.scores = c_.staging.temporary(turn.queries, turn.keys, DataType::kFp32);
        if (i + 1 < turns.size()) make_scores(turns[i + 1]);
        make_probabilities(turn);
        add_context(turn);
        if (i > 0) finish(turns[i - 1]);
    }
    finish(turns.back());
    c_.staging.ring().release();
}

}  // namespace

bool lower_attention_in_blocks(Compilation& c, const Node& scores) {
    const std::optional<Pattern> pattern = pattern_of(c, scores);
    if (!pattern) return false;
    const Node& context = pattern->context();
    const ValueId result = context.outputs[0];
    Place q = c.places.of(scores.inputs[0]), k = c.places.of(scores.inputs[1]),
          v = c.places.of(context.inputs[1]);
    const Shape& shape = c.shape(result);
    const Shape batches(shape.begin(), shape.end() - 2);
    // Keys lie one after the other.
    std::swap(k.shape.end()[-1], k.shape.end()[-2]);
    std::swap(k.strides.end()[-1], k.strides.end()[-2]);
    const auto in_rows = [&](Place& place, const char* suffix) {
        if (matrices_of(place)) return;
        c.steps.begin(context.name + suffix);
        place = dense_copy(c, place, context.name + suffix);
    };
    in_rows(q, ".queries");
    in_rows(k, ".keys");
    in_rows(v, ".values");
    const std::int64_t heads = element_count(batches), width = c.shape(scores.inputs[0]).back();
    std::string name = scores.name;
    for (const Node* node : pattern->nodes) {
        name += "+" + node->name;
        c.fused.insert(node);
    }
    c.steps.begin(name, heads * shape.end()[-2] * k.shape.end()[-2] * (width + shape.back()));
    c.steps.layer().products = 2 * heads;
    Place to = c.places.make(result, strides_of_product(c, result));
    std::array<std::vector<Matrix>, 4> parts;
    const std::array<const Place*, 4> places = {&q, &k, &v, &to};
    for (std::size_t i = 0; i < places.size(); ++i)
        for (std::int64_t head = 0; head < heads; ++head) {
            const auto found = matrices_of(matrix_of(*places[i], batches, head));
            if (!found || found->size() != 1)
                throw compile::Refusal("attention whose operands do not lie row by row");
            parts[i].push_back((*found)[0]);
        }
    AttentionInBlocks(c, parts[0], parts[1], parts[2], parts[3], *pattern).run();
    c.places.set(result, std::move(to));
    return true;
}

}  // namespace lockstep::network::lowering
