// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/train/dataset.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "sim/error/error.h"
#include "sim/numerics/random.h"
#include "workloads/cuda/digits/digits.h"

namespace lockstep::network {

namespace {

constexpr std::string_view kText =
#include "workloads/network/train/data/text.inc"
    ;

/// One-hot rows.
Tensor targets(const Shape& shape, const std::vector<int>& labels) {
    Tensor target(ElementType::kFp32, shape);
    const auto classes = static_cast<std::size_t>(shape.back());
    for (std::size_t i = 0; i < labels.size(); ++i)
        target.as<float>()[i * classes + static_cast<std::size_t>(labels[i])] = 1;
    return target;
}

/// Of a network: the shapes that a data set must fit.
struct Form {
    std::string name;
    std::vector<Value> inputs;
    Shape output;

    std::int64_t batch() const { return inputs.at(0).shape->at(0); }
    std::int64_t classes() const { return output.back(); }
    std::int64_t rows() const { return element_count(output) / classes(); }
    bool has_one_input(bool floating) const {
        return inputs.size() == 1 && is_floating(inputs[0].type) == floating &&
               !inputs[0].shape->empty();
    }
    [[noreturn]] void misfit(const std::string& wanted) const {
        std::string text;
        for (const Value& value : inputs)
            text +=
                fmt::format(" {} {}{}", value.name, name_of(value.type), to_string(*value.shape));
        throw InputError(
            fmt::format("{} takes{} and gives {}; {}", name, text, to_string(output), wanted));
    }
};

class DigitData : public Dataset {
  public:
    DigitData(Form form, cuda::Digits train, cuda::Digits test, std::string from)
        : form_(std::move(form)),
          train_(std::move(train)),
          test_(std::move(test)),
          from_(std::move(from)) {
        if (!fits(form_))
            form_.misfit(
                "digits are images of 28x28 pixels, [n,1,28,28] or [n,784], in 10 classes");
    }
    static bool fits(const Form& form) {
        return form.has_one_input(true) && form.batch() > 0 &&
               element_count(*form.inputs[0].shape) == form.batch() * 784 &&
               form.output == Shape{form.batch(), 10};
    }
    std::string description() const override {
        return fmt::format("{} training and {} test digits {}", train_.count(), test_.count(),
                           from_);
    }
    std::int64_t train_count() const override { return train_.count(); }
    std::int64_t test_count() const override { return test_.count(); }
    Batch train(std::span<const std::int64_t> indices) const override {
        return make(train_, indices);
    }
    Batch test(std::span<const std::int64_t> indices) const override {
        return make(test_, indices);
    }

  private:
    Batch make(const cuda::Digits& digits, std::span<const std::int64_t> indices) const {
        Batch batch;
        std::vector<float> pixels;
        for (const std::int64_t i : indices) {
            for (const std::uint8_t pixel : digits.image(static_cast<int>(i)))
                pixels.push_back(static_cast<float>(pixel) / 255.0f);
            batch.labels.push_back(digits.labels[static_cast<std::size_t>(i)]);
        }
        batch.inputs = {make_tensor(*form_.inputs[0].shape, std::span<const float>(pixels))};
        batch.target = targets(form_.output, batch.labels);
        return batch;
    }
    Form form_;
    cuda::Digits train_, test_;
    std::string from_;
};

/// The next character after each of a stretch of text; the last tenth is for the test.
class TextData : public Dataset {
  public:
    TextData(Form form, std::string_view text, std::string from)
        : form_(std::move(form)), from_(std::move(from)) {
        const bool fits = form_.has_one_input(false) && form_.inputs[0].shape->size() == 2 &&
                          form_.rows() == element_count(*form_.inputs[0].shape);
        if (!fits)
            form_.misfit("text is rows of characters [n,seq], each followed by one of the classes");
        std::map<char, int> ids;
        for (const char c : text) ids.emplace(c, 0);
        int next = 0;
        for (auto& [c, id] : ids) id = next++;
        if (next > form_.classes())
            throw InputError(fmt::format("{} has {} different characters; {} tells {} apart", from_,
                                         next, form_.name, form_.classes()));
        for (const char c : text) ids_.push_back(ids[c]);
        length_ = (*form_.inputs[0].shape)[1];
        split_ = static_cast<std::int64_t>(ids_.size()) * 9 / 10;
        if (test_count() < 1 || train_count() < form_.batch())
            throw InputError(
                fmt::format("{} has {} characters, too few for a batch of {} rows of {}", from_,
                            ids_.size(), form_.batch(), length_));
    }
    std::string description() const override {
        return fmt::format("{} characters to train on and {} to test with, {}", split_,
                           static_cast<std::int64_t>(ids_.size()) - split_, from_);
    }
    // A stretch begins every half of its length; those of the test do not overlap.
    std::int64_t train_count() const override {
        return split_ <= length_ ? 0 : (split_ - length_ - 1) / step() + 1;
    }
    std::int64_t test_count() const override {
        return (static_cast<std::int64_t>(ids_.size()) - split_ - 1) / length_;
    }
    Batch train(std::span<const std::int64_t> indices) const override {
        return make(indices, 0, step());
    }
    Batch test(std::span<const std::int64_t> indices) const override {
        return make(indices, split_, length_);
    }

  private:
    std::int64_t step() const { return std::max<std::int64_t>(1, length_ / 2); }
    Batch make(std::span<const std::int64_t> indices, std::int64_t first,
               std::int64_t apart) const {
        Batch batch;
        std::vector<std::int64_t> ids;
        for (const std::int64_t i : indices)
            for (std::int64_t t = 0; t < length_; ++t) {
                const auto at = static_cast<std::size_t>(first + i * apart + t);
                ids.push_back(ids_.at(at));
                batch.labels.push_back(static_cast<int>(ids_.at(at + 1)));
            }
        batch.inputs = {from_integers(form_.inputs[0].type, *form_.inputs[0].shape, ids)};
        batch.target = targets(form_.output, batch.labels);
        return batch;
    }
    Form form_;
    std::string from_;
    std::vector<std::int64_t> ids_;
    std::int64_t length_ = 0, split_ = 0;
};

/// For time alone: there is nothing to learn.
class RandomData : public Dataset {
  public:
    RandomData(Form form, const DatasetOptions& options)
        : form_(std::move(form)),
          seed_(options.seed),
          train_(options.train_examples != 0 ? options.train_examples : form_.batch()),
          test_(options.test_examples != 0 ? options.test_examples : form_.batch()) {}
    std::string description() const override {
        return fmt::format("random numbers with random labels (seed {}): there is nothing to learn",
                           seed_);
    }
    std::int64_t train_count() const override { return train_; }
    std::int64_t test_count() const override { return test_; }
    Batch train(std::span<const std::int64_t> indices) const override { return make(indices, 0); }
    Batch test(std::span<const std::int64_t> indices) const override { return make(indices, 1); }

  private:
    Batch make(std::span<const std::int64_t> indices, std::uint64_t part) const {
        Batch batch;
        const auto stream = [&](std::uint64_t what, std::int64_t i) {
            return numerics::mix(numerics::mix(2 * seed_ + part) + what) +
                   numerics::mix(static_cast<std::uint64_t>(i));
        };
        for (std::size_t k = 0; k < form_.inputs.size(); ++k) {
            const Value& value = form_.inputs[k];
            const auto count =
                static_cast<std::size_t>(element_count(*value.shape)) / indices.size();
            std::vector<double> numbers;
            for (const std::int64_t i : indices)
                for (std::size_t e = 0; e < count; ++e) {
                    const float unit = numerics::random_unit(stream(k, i), e);
                    numbers.push_back(is_floating(value.type) ? double{2 * unit - 1}
                                                              : (unit < 0.5f ? 1.0 : 0.0));
                }
            numbers.resize(static_cast<std::size_t>(element_count(*value.shape)));
            batch.inputs.push_back(from_doubles(value.type, *value.shape, numbers));
        }
        for (std::int64_t row = 0; row < form_.rows(); ++row) {
            const std::int64_t i = indices[static_cast<std::size_t>(row) % indices.size()];
            const float unit =
                numerics::random_unit(stream(99, i), static_cast<std::uint64_t>(row));
            batch.labels.push_back(static_cast<int>(unit * static_cast<float>(form_.classes())));
        }
        batch.target = targets(form_.output, batch.labels);
        return batch;
    }
    Form form_;
    std::uint64_t seed_;
    std::int64_t train_, test_;
};

void cut(cuda::Digits& digits, std::int64_t count) {
    if (count == 0 || count >= digits.count()) return;
    digits.labels.resize(static_cast<std::size_t>(count));
    digits.pixels.resize(static_cast<std::size_t>(count * digits.rows * digits.cols));
}

std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path))
        throw InputError(fmt::format("{}: cannot be read", path));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::unique_ptr<Dataset> make_dataset(const Trainable& network, const DatasetOptions& options) {
    Form form{network.graph.name, {}, network.graph.shape(network.graph.outputs.at(0))};
    for (std::size_t i = 0; i < network.network_inputs; ++i)
        form.inputs.push_back(network.graph.value(network.graph.inputs[i]));
    if (form.inputs.empty() || form.inputs[0].shape->empty() || form.output.empty() ||
        form.output.back() < 1 || form.batch() < 1)
        form.misfit("training needs an input with a batch and an output with classes");
    std::string name = options.name;
    if (name.empty())
        name = DigitData::fits(form)                                         ? "digits"
               : form.has_one_input(false) && form.name.starts_with("char_") ? "text"
                                                                             : "random";
    if (name == "random") return std::make_unique<RandomData>(std::move(form), options);
    if (name == "digits") {
        const std::int64_t train = options.train_examples != 0 ? options.train_examples : 1600,
                           test = options.test_examples != 0 ? options.test_examples : 500;
        return std::make_unique<DigitData>(
            std::move(form), cuda::draw_digits(static_cast<int>(train), 2 * options.seed),
            cuda::draw_digits(static_cast<int>(test), 2 * options.seed + 1),
            fmt::format("drawn from seed {}", options.seed));
    }
    if (name.starts_with("mnist:")) {
        const std::filesystem::path folder = name.substr(6);
        cuda::Digits train = cuda::read_digits(folder / "train-images-idx3-ubyte",
                                               folder / "train-labels-idx1-ubyte"),
                     test = cuda::read_digits(folder / "t10k-images-idx3-ubyte",
                                              folder / "t10k-labels-idx1-ubyte");
        for (const cuda::Digits* digits : {&train, &test})
            if (digits->rows != 28 || digits->cols != 28)
                throw InputError(fmt::format("{}: images of {}x{} pixels, not 28x28",
                                             folder.string(), digits->rows, digits->cols));
        cut(train, options.train_examples);
        cut(test, options.test_examples);
        return std::make_unique<DigitData>(std::move(form), std::move(train), std::move(test),
                                           "of " + folder.string());
    }
    if (name == "text")
        return std::make_unique<TextData>(std::move(form), kText, "of the built-in text");
    if (name.starts_with("text:")) {
        const std::string path = name.substr(5);
        return std::make_unique<TextData>(std::move(form), read_text(path), "of " + path);
    }
    throw InputError(
        fmt::format("data {}: there are digits, mnist:FOLDER, text, text:FILE and random", name));
}

std::int64_t batch_of(const Trainable& network) {
    return network.graph.shape(network.graph.inputs.at(0)).at(0);
}

std::vector<int> classes_of(const Tensor& output) {
    const std::vector<float> values = to_floats(output);
    const auto classes = static_cast<std::ptrdiff_t>(output.shape.back());
    std::vector<int> result;
    for (auto row = values.begin(); row != values.end(); row += classes)
        result.push_back(static_cast<int>(std::max_element(row, row + classes) - row));
    return result;
}

}  // namespace lockstep::network
