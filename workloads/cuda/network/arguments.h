// SPDX-License-Identifier: Apache-2.0
// What the kernels of networks take: one structure by value, the same for nvcc and for the host
// that fills it. Strides count elements and positions stay below 2^31. A structure without pointers
// set can be copied and compared.
#pragma once

#include <cstdint>

namespace lockstep::kernels {

/// In the order of network::ElementType.
enum class Type : std::int32_t {
    kFp32,
    kFp64,
    kBf16,
    kFp16,
    kInt8,
    kUint8,
    kInt16,
    kInt32,
    kInt64,
    kBool
};

/// Division by a number that the host knows: x / divisor = (x * multiplier >> 32) >> shift for
/// 0 <= x < 2^31.
struct Divider {
    std::uint32_t divisor = 1, multiplier = 0, shift = 0;
};

/// What a chain of functions does with a value v. x and y are its operands.
enum class Function : std::int16_t {
    // Of v and x.
    kAdd,
    kSubtract,      ///< v - x
    kSubtractFrom,  ///< x - v
    kMultiply,
    kDivide,      ///< v / x
    kDivideInto,  ///< x / v
    kMaximum,
    kMinimum,
    kPower,                 ///< v ^ x
    kPowerOf,               ///< x ^ v
    kRemainder,             ///< of v / x, with the sign of x
    kRemainderOf,           ///< of x / v
    kTruncatedRemainder,    ///< of v / x, with the sign of v
    kTruncatedRemainderOf,  ///< of x / v
    kEqual,
    kLess,  ///< v < x
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kAnd,
    kOr,
    kXor,
    kSlope,    ///< v < 0 ? v * x : v
    kSlopeOf,  ///< x < 0 ? v * x : x
    // Of v, x and y: the one of two that a condition chooses.
    kChoose,      ///< v ? x : y
    kChooseThen,  ///< x ? v : y
    kChooseElse,  ///< x ? y : v
    // Of v, with the constants a and b.
    kConstant,  ///< a
    kScale,     ///< a v + b
    kAbsolute,
    kNegate,
    kSign,
    kRelu,
    kLeakyRelu,    ///< v < 0 ? a v : v
    kClip,         ///< into [a, b]
    kHardSigmoid,  ///< a v + b, into [0, 1]
    kHardSwish,
    kNot,
    kIsInfinite,  ///< a: negative ones count, b: positive ones do
    kIsNaN,
    kReciprocal,
    kSquareRoot,
    kCeiling,
    kFloor,
    kRound,     ///< ties to even
    kQuantise,  ///< round(v / x) + y, into [a, b]
    kRoundFp16,
    kRoundBf16,
    // Of v, long: a call.
    kSigmoid,
    kTanh,
    kExp,
    kLog,
    kErf,
    kGelu,
    kGeluTanh,
    kSoftplus,
    kSoftsign,
    kElu,  ///< v < 0 ? a (e^v - 1) : v
    kSin,
    kCos,
    kTan,
    kSinh,
    kCosh,
    kAsin,
    kAcos,
    kAtan,
};

constexpr int kDims = 6, kOperands = 6, kSteps = 12;

/// A function and where its operands are: of a slot, or the constant a where it is -1.
struct Step {
    Function function = Function::kAdd;
    std::int8_t x = -1, y = -1;
    float a = 0, b = 0;
};

/// The same on 64-bit integers.
struct IntegerStep {
    Function function = Function::kAdd;
    std::int8_t x = -1, y = -1;
    std::int64_t a = 0, b = 0;
};

/// Elements at data[index . stride], the last dimensions used; `vector`: four consecutive ones of
/// the last dimension are consecutive in memory and aligned.
struct Operand {
    void* data = nullptr;
    Type type = Type::kFp32;
    std::int32_t vector = 0;
    std::int32_t stride[kDims] = {};
};

/// map_*: out[i] = chain(in[0][i], ...), i over `count` elements of extent[first...].
template <class StepType>
struct MapOf {
    std::int32_t count = 0, first = kDims - 1, operands = 0, steps = 0;
    Divider extent[kDims];
    Operand out;
    Operand in[kOperands];
    StepType step[kSteps];
};
using Map = MapOf<Step>;
using IntegerMap = MapOf<IntegerStep>;

constexpr int kBatchDims = 3, kProductSteps = 6, kProductOperands = 3;

/// An operand of what happens to a product's sums: at row, column and batch of the result.
struct ProductOperand {
    void* data = nullptr;
    Type type = Type::kFp32;
    std::int32_t vector = 0;
    std::int32_t row = 0, column = 0, batch[kBatchDims] = {};
};

/// What happens to sums on their way out, and where they go: rows of consecutive columns. Integer
/// products have no steps: operand 0 is an int32 bias by column (bias < 0: none), 1 and 2 are int32
/// multipliers and shifts by column, and the result is
/// (sum + bias) * multiplier / 2^shift, ties toward plus infinity, into [low, high].
struct Epilogue {
    void* out = nullptr;
    Type type = Type::kFp32;
    std::int32_t vector = 0;  ///< four consecutive columns can be written at once
    std::int32_t row = 0, batch[kBatchDims] = {};
    /// The common one, for kernels of the type that result and operands then have: factor, a vector
    /// over the columns, a tensor like the result, limits; all in fours.
    std::int32_t is_simple = 0, bias = -1, residual = -1;  ///< numbers of the operands, or -1
    float low = 0, high = 0;
    std::int32_t steps = 0;
    float factor = 1;
    Step step[kProductSteps];
    ProductOperand operand[kProductOperands];
};

/// product_*: sums[m][n] = A[m][k] B[k][n], for each of batch[0] * batch[1] * batch[2] batches.
/// A is a matrix or an image that a window slides over: row m is the position (image, y, x) of the
/// result, k is (tap of the window, channel), the channel the faster.
struct Product {
    void* a = nullptr;
    void* b = nullptr;
    float* partial = nullptr;  ///< [split][batch][m][n], where `splits` > 1
    std::int32_t m = 0, n = 0, k = 0;
    std::int32_t splits = 1, split_k = 0;     ///< k is cut into pieces of split_k
    std::int32_t a_vector = 0, b_vector = 0;  ///< 16 bytes along k are consecutive and aligned
    // A at image a_image + (y step_y + tap_y dilation_y - pad_y) a_y + (...) a_x + channel a_k.
    Divider pixels, width;     ///< rows by image; rows by line
    Divider channels, taps_x;  ///< of k by tap; taps by line of the window
    std::int32_t a_image = 0, a_y = 0, a_x = 0, a_k = 0;
    std::int32_t step_y = 1, step_x = 1, dilation_y = 1, dilation_x = 1, pad_y = 0, pad_x = 0;
    std::int32_t in_y = 1, in_x = 1;  ///< extents of the image
    std::int32_t b_n = 0, b_tap = 0, b_k = 0;
    Divider batch[kBatchDims];
    std::int32_t a_batch[kBatchDims] = {}, b_batch[kBatchDims] = {};
    Epilogue epilogue;
};

enum class AttentionMask : std::int32_t {
    kNone,
    kAdded,   ///< elements of the kernel's type, added to the scaled scores
    kChosen,  ///< bools: where they are `hides`, the score is `hidden`
};

/// attention_*: softmax(scale Q K' + mask) V for each of batch[0] * batch[1] * batch[2] batches.
struct Attention {
    void* q = nullptr;
    void* k = nullptr;
    void* v = nullptr;
    void* out = nullptr;
    void* mask = nullptr;
    std::int32_t queries = 0, keys = 0;
    std::int32_t depth = 0, columns = 0;  ///< of Q and K; of V and the result
    std::int32_t q_row = 0, k_row = 0, v_row = 0, out_row = 0, mask_row = 0;
    std::int32_t q_column = 1, k_column = 1, v_column = 1, out_column = 1, mask_column = 0;
    /// 16 bytes along a row are consecutive and aligned.
    std::int32_t q_vector = 0, k_vector = 0, v_vector = 0, out_vector = 0;
    Divider batch[kBatchDims];
    std::int32_t q_batch[kBatchDims] = {}, k_batch[kBatchDims] = {}, v_batch[kBatchDims] = {},
                 out_batch[kBatchDims] = {}, mask_batch[kBatchDims] = {};
    AttentionMask masked = AttentionMask::kNone;
    std::int32_t hides = 0;
    float hidden = 0, scale = 1;
    std::int32_t causal = 0, ahead = 0;  ///< query i sees keys 0 to i + ahead
};

enum class QuantisedWork : std::int32_t {
    kSum,         ///< ((x - zero_x) first + (y - zero_y) second) / 2^shift
    kProduct,     ///< (x - zero_x) (y - zero_y) first / 2^shift
    kRequantise,  ///< (x - zero_x) first / 2^shift
    kTable,       ///< table[x - low of int8]
};

/// map_quantised: int8 values with scales; results are rounded (ties toward plus infinity), get
/// `zero` added and are limited to [low, high].
struct QuantisedMap {
    QuantisedWork work = QuantisedWork::kTable;
    std::int32_t count = 0, first = kDims - 1;
    Divider extent[kDims];
    Operand out;
    Operand in[2];
    void* table = nullptr;
    std::int32_t zero_in[2] = {}, factor[2] = {}, shift = 1, zero = 0, low = -128, high = 127;
};

/// depthwise_*: each channel with a window of its own; w[tap][channel].
struct Depthwise {
    void* x = nullptr;
    void* w = nullptr;
    std::int32_t rows = 0, channels = 0, multiplier = 1;  ///< rows: positions of the result
    Divider units;                                        ///< channels, or fours of them
    Divider pixels, width;
    std::int32_t x_image = 0, x_y = 0, x_x = 0;  ///< its channels have the stride x_channel
    std::int32_t x_channel = 1;
    std::int32_t taps_y = 1, taps_x = 1;
    std::int32_t step_y = 1, step_x = 1, dilation_y = 1, dilation_x = 1, pad_y = 0, pad_x = 0;
    std::int32_t in_y = 1, in_x = 1;
    Epilogue epilogue;
};

enum class Pooling : std::int32_t { kMaximum, kAverage };

/// pool_*: windows over images. The four dimensions of the result in the order of its memory; y and
/// x say which of them the window slides over.
struct Pool {
    Pooling pooling = Pooling::kMaximum;
    std::int32_t count = 0;
    Divider extent[4];
    std::int32_t y = 2, x = 3;
    std::int32_t in_stride[4] = {}, out_stride[4] = {};
    void* in = nullptr;
    void* out = nullptr;
    Type in_type = Type::kFp32, out_type = Type::kFp32;
    std::int32_t taps_y = 1, taps_x = 1;
    std::int32_t step_y = 1, step_x = 1, dilation_y = 1, dilation_x = 1, pad_y = 0, pad_x = 0;
    std::int32_t in_y = 1, in_x = 1, end_y = 1, end_x = 1;  ///< of the image; with its padding
    std::int32_t counts_padding = 0;
    /// Means of int8: multipliers and shifts by the number of elements; zero points and limits.
    void* multipliers = nullptr;
    void* shifts = nullptr;
    std::int32_t zero_in = 0, zero = 0, low = -128, high = 127;
};

constexpr int kRowDims = 4;

enum class Reduction : std::int32_t {
    kSum,
    kMean,
    kMaximum,
    kMinimum,
    kProduct,
    kSquares,
    kNorm,
    kFirstLargest,
    kLastLargest,
    kFirstSmallest,
    kLastSmallest
};

/// Warps of a block of reduce_columns; a lane of each takes elements of one result.
constexpr int kColumnWarps = 8;

/// reduce_*: out[kept] = over all `reduced` of in[kept][reduced].
struct Reduce {
    Reduction reduction = Reduction::kSum;
    std::int32_t count = 0, extent = 1;  ///< results; elements of each
    Divider kept[kRowDims], reduced[kRowDims];
    std::int32_t in_kept[kRowDims] = {}, in_reduced[kRowDims] = {}, out_kept[kRowDims] = {};
    void* in = nullptr;
    void* out = nullptr;
    Type in_type = Type::kFp32, out_type = Type::kFp32;
};

/// Rows that kernels work on as a whole: row r begins at kept . stride, its elements are `along`
/// apart.
struct RowOperand {
    void* data = nullptr;
    Type type = Type::kFp32;
    std::int32_t kept[kRowDims] = {}, along = 0;
};

/// softmax_rows, normalise_rows.
struct Rows {
    std::int32_t rows = 0, extent = 0;
    Divider kept[kRowDims];
    std::int32_t logarithm = 0;  ///< of softmax
    float epsilon = 0;           ///< of the normalisation; scale and shift may be null
    RowOperand in, out, scale, shift;
};

constexpr int kIndexDims = 6;

/// take: out[i] = data[position of i], where indices[...] gives the position in `depth` dimensions
/// of data; put: the other way round, where data was copied before. An index out of range sets
/// *fault to 1 + the node.
struct Take {
    void* data = nullptr;
    void* indices = nullptr;  ///< int64 or int32
    void* values = nullptr;   ///< out, or updates
    std::int32_t* fault = nullptr;
    Type type = Type::kFp32, index_type = Type::kInt64;
    std::int32_t count = 0, node = 0;
    std::int32_t depth = 1;  ///< indices that make a position, index_step apart
    std::int32_t index_step = 0;
    std::int32_t extent[kIndexDims] = {}, along[kIndexDims] = {};  ///< of the dimensions indexed
    Divider dims[kIndexDims];                                      ///< of i
    std::int32_t data_stride[kIndexDims] = {}, index_stride[kIndexDims] = {};
    std::int32_t operation = 0;  ///< of put: 0 replaces, 1 adds, 2 multiplies
    std::int32_t ordered = 1;    ///< of put: consecutive elements that go to different places
};

/// top_rows: the `wanted` largest or smallest of each row, in order.
struct Top {
    std::int32_t rows = 0, extent = 0, wanted = 0, largest = 1;
    Divider kept[kRowDims];
    RowOperand in, values, indices;
};

// The shapes of the product kernels, for who launches them.
struct TileShape {
    int m, n, threads;
};
constexpr TileShape kLargeTile = {128, 128, 256}, kSmallTile = {64, 64, 128};
/// Of k in one step: elements (fp32 on CUDA cores), or bytes (Tensor Cores).
constexpr int kLargeDepth = 8, kSmallDepth = 16, kTensorDepthBytes = 64;
constexpr int kTensorStages = 3;
/// Bytes of shared memory that a product on Tensor Cores is launched with.
constexpr int tensor_shared_bytes(TileShape tile) {
    const int stages = kTensorStages * (tile.m + tile.n) * (kTensorDepthBytes + 16);
    const int sums = 64 * (tile.n + 4) * 4;
    return stages > sums ? stages : sums;
}
/// Products of warpgroups (product_wgmma_*, sm_90a): one of 64 rows each.
constexpr TileShape kWideGroupTile = {128, 256, 256}, kGroupTile = {128, 128, 256},
                    kSmallGroupTile = {64, 64, 128};
constexpr int kGroupDepthBytes = 128, kGroupStages = 4;
constexpr int group_shared_bytes(TileShape tile) {
    constexpr int kAlignment = 1024;
    return kGroupStages * (tile.m + tile.n) * kGroupDepthBytes + kAlignment;
}
/// attention_*: queries of a warp and keys of a step, on Tensor Cores and on CUDA cores; warps.
constexpr int kTensorQueries = 16, kTensorKeys = 64, kRealQueries = 8, kRealKeys = 32;
constexpr int kAttentionWarps = 4;
/// Bytes of shared memory: tiles of queries, keys and values, whose rows are `columns` (64 or 128)
/// and 16 bytes long; on CUDA cores also the probabilities.
constexpr int tensor_attention_bytes(int warps, int columns) {
    return (kTensorQueries * warps + 2 * kTensorKeys) * (columns + 8) * 2;
}
constexpr int real_attention_bytes(int warps, int columns) {
    return ((kRealQueries * warps + 2 * kRealKeys) * (columns + 4) +
            kRealQueries * warps * (kRealKeys + 4)) *
           4;
}
/// product_rows_*: rows of A at most, columns of a block.
constexpr int kFewRows = 4, kRowsColumns = 4;

}  // namespace lockstep::kernels
