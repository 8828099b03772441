// SPDX-License-Identifier: Apache-2.0
// Networks over sequences. Sources: Devlin et al., "BERT" (2019), base, uncased vocabulary, with
// the pooler; Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), the
// 124M model, its head tied to the embedding; Hochreiter and Schmidhuber's LSTM as in ONNX.
#include <cmath>
#include <numeric>

#include "sim/error/error.h"
#include "workloads/network/builtin/families.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network::builtin {

namespace {

constexpr std::int64_t kHidden = 768, kHeads = 12, kLayers = 12;
constexpr float kBertEpsilon = 1e-12f, kEpsilon = 1e-5f;

ValueId scalar(Builder& b, const std::string& name, float value) {
    return b.constant(name, make_tensor({}, std::span<const float>(&value, 1)));
}

ValueId integers(Builder& b, const std::string& name, Shape shape,
                 std::vector<std::int64_t> values) {
    return b.constant(name, make_tensor(std::move(shape), std::span<const std::int64_t>(values)));
}

/// Row i of the table for each index i.
ValueId embed(Builder& b, const std::string& name, ValueId table, ValueId index) {
    return b.node(Operator::kGather, name, {table, index}, {{"axis", std::int64_t{0}}});
}

ValueId positions(Builder& b, std::int64_t seq, std::int64_t limit) {
    if (seq > limit) throw InputError(fmt::format("seq={} is more than {}", seq, limit));
    std::vector<std::int64_t> values(static_cast<std::size_t>(seq));
    std::iota(values.begin(), values.end(), 0);
    return integers(b, "positions", {1, seq}, values);
}

/// [n, seq, hidden] -> [n, heads, seq, hidden / heads]
ValueId split_heads(Builder& b, const std::string& name, ValueId x, std::int64_t heads) {
    const Shape& shape = b.shape(x);
    x = b.reshape(name + ".heads", x, {shape[0], shape[1], heads, shape[2] / heads});
    return b.transpose(name + ".transpose", x, {0, 2, 1, 3});
}

/// How attention is computed.
struct Attending {
    std::int64_t axis = -1;  ///< that the softmax is along
    /// Queries and keys that a fused kernel takes at a time; 0: the machine's compiler's.
    std::int64_t block = 0;
    /// Keys of a page, of which such a kernel loads one after the other; 0: they lie in one piece.
    std::int64_t page = 0;
};

/// softmax(q k' / sqrt(d) + mask) v over [n, heads, seq, d].
ValueId attend(Builder& b, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId mask,
               const Attending& how = {}) {
    k = b.transpose(name + ".key.columns", k, {0, 1, 3, 2});
    ValueId scores = b.node(Operator::kMatMul, name + ".scores", {q, k});
    const auto root = std::sqrt(static_cast<float>(b.shape(q).back()));
    scores = b.node(Operator::kDiv, name + ".scale", {scores, scalar(b, name + ".root", root)});
    if (mask != kNoValue) scores = b.node(Operator::kAdd, name + ".mask", {scores, mask});
    Attributes attributes = {{"axis", how.axis}};
    if (how.block != 0) attributes.emplace("block", how.block);
    if (how.page != 0) attributes.emplace("page", how.page);
    scores = b.node(Operator::kSoftmax, name + ".softmax", {scores}, std::move(attributes));
    return b.node(Operator::kMatMul, name + ".context", {scores, v});
}

/// The same over [n, seq, hidden], in heads that are split and joined again.
ValueId attend_in_heads(Builder& b, const std::string& name, ValueId q, ValueId k, ValueId v,
                        ValueId mask, std::int64_t heads, const Attending& how = {}) {
    const Shape shape = b.shape(q);
    q = split_heads(b, name + ".query", q, heads);
    k = split_heads(b, name + ".key", k, heads);
    v = split_heads(b, name + ".value", v, heads);
    const ValueId y =
        b.transpose(name + ".join", attend(b, name, q, k, v, mask, how), {0, 2, 1, 3});
    return b.reshape(name + ".joined", y, shape);
}

/// `gelu`: how it is computed; nullptr: ReLU instead.
ValueId feed_forward(Builder& b, const std::string& name, ValueId x, const char* gelu) {
    const std::int64_t hidden = b.shape(x).back();
    x = b.linear(name + ".up", x, 4 * hidden);
    x = gelu == nullptr
            ? b.node(Operator::kRelu, name + ".relu", {x})
            : b.node(Operator::kGelu, name + ".gelu", {x}, {{"approximate", std::string(gelu)}});
    return b.linear(name + ".down", x, hidden);
}

ValueId add(Builder& b, const std::string& name, ValueId x, ValueId y) {
    return b.node(Operator::kAdd, name, {x, y});
}

ValueId encoder_layer(Builder& b, const std::string& name, ValueId x, std::int64_t heads,
                      const char* gelu = "none", const Attending& how = {}) {
    const std::int64_t hidden = b.shape(x).back();
    const ValueId q = b.linear(name + ".q", x, hidden), k = b.linear(name + ".k", x, hidden),
                  v = b.linear(name + ".v", x, hidden);
    ValueId y = attend_in_heads(b, name + ".attention", q, k, v, kNoValue, heads, how);
    y = b.linear(name + ".out", y, hidden);
    x = b.layer_normalisation(name + ".norm1", add(b, name + ".add1", x, y), kBertEpsilon);
    y = feed_forward(b, name + ".mlp", x, gelu);
    return b.layer_normalisation(name + ".norm2", add(b, name + ".add2", x, y), kBertEpsilon);
}

/// Added to the scores of what comes later. The queries are the last of the sequence, and come
/// `groups` times, one group after the other.
ValueId causal_mask(Builder& b, std::int64_t seq, std::int64_t queries, std::int64_t groups) {
    const std::int64_t rows = groups * queries;
    Tensor later(ElementType::kFp32, {1, 1, rows, seq});
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = seq - queries + i % queries + 1; j < seq; ++j)
            later.as<float>()[static_cast<std::size_t>(i * seq + j)] = -10000;
    return b.constant("causal_mask", std::move(later));
}

ValueId causal_mask(Builder& b, std::int64_t seq) {
    return causal_mask(b, seq, seq, 1);
}

/// As of GPT-2: normalised before attention and before the perceptron; `dropout`: percent of what
/// either adds.
ValueId decoder_layer(Builder& b, const std::string& name, ValueId x, ValueId mask,
                      std::int64_t heads, std::int64_t dropout = 0, const Attending& how = {}) {
    const std::int64_t hidden = b.shape(x).back();
    ValueId y = b.layer_normalisation(name + ".ln_1", x, kEpsilon);
    y = b.linear(name + ".c_attn", y, 3 * hidden);
    const ValueId q = b.node(Operator::kSplit, name + ".split",
                             {y, integers(b, name + ".parts", {3}, {hidden, hidden, hidden})},
                             {{"axis", std::int64_t{2}}}, 3);
    // The outputs of one node have consecutive numbers.
    y = attend_in_heads(b, name + ".attention", q, q + 1, q + 2, mask, heads, how);
    y = b.dropout(name + ".drop1", b.linear(name + ".c_proj", y, hidden), dropout);
    x = add(b, name + ".add1", x, y);
    y = feed_forward(b, name + ".mlp", b.layer_normalisation(name + ".ln_2", x, kEpsilon), "tanh");
    return add(b, name + ".add2", x, b.dropout(name + ".drop2", y, dropout));
}

Attending attending_of(const Parameters& parameters) {
    const Attending how{.axis = parameters.at("axis"), .block = parameters.at("block")};
    if (how.axis != -1 && how.axis != -2)
        throw InputError(fmt::format("axis={}; softmax of the scores is along -1 or -2", how.axis));
    if (how.block != 0 && how.axis != -1)
        throw InputError("block: a fused kernel has its softmax along axis=-1");
    return how;
}

}  // namespace

Graph attention(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    Builder b("attention", seed, with_values);
    const std::int64_t batch = parameters.at("batch"), heads = parameters.at("heads"),
                       keys = parameters.at("seq"), d = parameters.at("d");
    const auto or_all = [&](const char* name, std::int64_t all) {
        return parameters.at(name) == 0 ? all : parameters.at(name);
    };
    const std::int64_t shared = or_all("kv_heads", heads), queries = or_all("queries", keys),
                       groups = heads / shared;
    Attending how = attending_of(parameters);
    how.page = parameters.at("page");
    if (heads % shared != 0)
        throw InputError(fmt::format(
            "attention: heads={}, of which kv_heads={} cannot each serve as many", heads, shared));
    if (queries > keys)
        throw InputError(
            fmt::format("attention: queries={}; they are the last of seq={}", queries, keys));
    if (groups > 1 && how.axis != -1)
        throw InputError(
            "attention: kv_heads: heads that share keys have their softmax along "
            "axis=-1");
    if (how.page != 0 && how.block == 0)
        throw InputError("attention: page: keys in pages are of a fused kernel, with block=");
    if (how.page != 0 && (keys % how.page != 0 || how.block % how.page != 0))
        throw InputError(fmt::format("attention: page={}; seq={} and block={} are whole pages",
                                     how.page, keys, how.block));
    // Heads that share keys and values are rows of one product, a head after the other: as [batch,
    // heads, queries, d] lies.
    const ValueId q = b.input("q", ElementType::kFp32, {batch, shared, groups * queries, d}),
                  k = b.input("k", ElementType::kFp32, {batch, shared, keys, d}),
                  v = b.input("v", ElementType::kFp32, {batch, shared, keys, d});
    const ValueId mask =
        parameters.at("causal") != 0 ? causal_mask(b, keys, queries, groups) : kNoValue;
    return b.finish({attend(b, "attention", q, k, v, mask, how)});
}

Graph bert_block(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    const std::int64_t hidden = parameters.at("hidden"), heads = parameters.at("heads");
    if (hidden % heads != 0)
        throw InputError(fmt::format("bert_block: hidden={} in {} heads", hidden, heads));
    Builder b("bert_block", seed, with_values);
    const ValueId x =
        b.input("x", ElementType::kFp32, {parameters.at("batch"), parameters.at("seq"), hidden});
    return b.finish(
        {encoder_layer(b, "layer", x, heads, parameters.at("relu") != 0 ? nullptr : "none",
                       attending_of(parameters))});
}

Graph bert_base(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    constexpr std::int64_t kVocabulary = 30522, kPositions = 512, kTypes = 2;
    const std::int64_t batch = parameters.at("batch"), seq = parameters.at("seq");
    Builder b("bert_base", seed, with_values);
    const ValueId ids = b.input("input_ids", ElementType::kInt64, {batch, seq});
    const ValueId types = b.input("token_type_ids", ElementType::kInt64, {batch, seq});
    ValueId x = embed(b, "embed.word", b.weight("word", {kVocabulary, kHidden}, 0.05f), ids);
    x = add(b, "embed.1", x,
            embed(b, "embed.type", b.weight("type", {kTypes, kHidden}, 0.05f), types));
    x = add(b, "embed.2", x,
            embed(b, "embed.position", b.weight("position", {kPositions, kHidden}, 0.05f),
                  positions(b, seq, kPositions)));
    x = b.layer_normalisation("embed.norm", x, kBertEpsilon);
    for (std::int64_t i = 0; i < kLayers; ++i)
        x = encoder_layer(b, "layer" + std::to_string(i), x, kHeads, "none",
                          {.block = parameters.at("block")});
    const ValueId first =
        b.node(Operator::kGather, "pooler.first", {x, integers(b, "pooler.index", {}, {0})},
               {{"axis", std::int64_t{1}}});
    const ValueId pooled =
        b.node(Operator::kTanh, "pooler.tanh", {b.linear("pooler", first, kHidden)});
    return b.finish({x, pooled});
}

Graph gpt2_small(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    constexpr std::int64_t kVocabulary = 50257, kPositions = 1024;
    const std::int64_t batch = parameters.at("batch"), seq = parameters.at("seq");
    Builder b("gpt2_small", seed, with_values);
    const ValueId ids = b.input("input_ids", ElementType::kInt64, {batch, seq});
    const ValueId words = b.weight("wte", {kVocabulary, kHidden}, 0.05f);
    ValueId x = add(b, "embed", embed(b, "embed.word", words, ids),
                    embed(b, "embed.position", b.weight("wpe", {kPositions, kHidden}, 0.05f),
                          positions(b, seq, kPositions)));
    const ValueId mask = causal_mask(b, seq);
    for (std::int64_t i = 0; i < kLayers; ++i)
        x = decoder_layer(b, "h" + std::to_string(i), x, mask, kHeads, 0,
                          {.block = parameters.at("block")});
    x = b.layer_normalisation("ln_f", x, kEpsilon);
    x = b.reshape("tokens", x, {batch * seq, kHidden});
    x = b.node(Operator::kGemm, "lm_head", {x, words}, {{"transB", std::int64_t{1}}});
    return b.finish({b.reshape("logits", x, {batch, seq, kVocabulary})});
}

Graph char_transformer(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    const std::int64_t batch = parameters.at("batch"), seq = parameters.at("seq"),
                       hidden = parameters.at("hidden"), heads = parameters.at("heads"),
                       vocabulary = parameters.at("vocabulary"), dropout = parameters.at("dropout");
    if (hidden % heads != 0)
        throw InputError(fmt::format("char_transformer: hidden={} in {} heads", hidden, heads));
    Builder b("char_transformer", seed, with_values);
    const ValueId ids = b.input("characters", ElementType::kInt64, {batch, seq});
    ValueId x = add(b, "embed",
                    embed(b, "embed.character",
                          b.weight("characters.weight", {vocabulary, hidden}, 0.05f), ids),
                    embed(b, "embed.position", b.weight("positions.weight", {seq, hidden}, 0.05f),
                          positions(b, seq, seq)));
    x = b.dropout("embed.drop", x, dropout);
    const ValueId mask = causal_mask(b, seq);
    for (std::int64_t i = 0; i < parameters.at("layers"); ++i)
        x = decoder_layer(b, "h" + std::to_string(i), x, mask, heads, dropout);
    x = b.layer_normalisation("ln_f", x, kEpsilon);
    x = b.reshape("tokens", x, {batch * seq, hidden});
    return b.finish({b.linear("head", x, vocabulary)});
}

Graph lstm(const Parameters& parameters, std::uint64_t seed, bool with_values) {
    const std::int64_t batch = parameters.at("batch"), seq = parameters.at("seq"),
                       hidden = parameters.at("hidden");
    Builder b("lstm", seed, with_values);
    ValueId x = b.input("x", ElementType::kFp32, {seq, batch, parameters.at("input")});
    for (std::int64_t i = 0; i < parameters.at("layers"); ++i) {
        const std::string name = "layer" + std::to_string(i);
        const float spread = 1 / std::sqrt(static_cast<float>(hidden));
        x = b.node(Operator::kLSTM, name,
                   {x, b.weight(name + ".W", {1, 4 * hidden, b.shape(x).at(2)}, spread),
                    b.weight(name + ".R", {1, 4 * hidden, hidden}, spread),
                    b.weight(name + ".B", {1, 8 * hidden}, spread)},
                   {{"hidden_size", hidden}}, 3);
        x = b.reshape(name + ".squeeze", x, {seq, batch, hidden});
    }
    return b.finish({x});
}

}  // namespace lockstep::network::builtin
