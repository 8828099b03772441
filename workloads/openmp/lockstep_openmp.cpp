// SPDX-License-Identifier: Apache-2.0
// Measures a matrix product and a convolution on this computer's cores (lab.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <thread>

#include "workloads/openmp/timing.h"

int main(int argc, char** argv) {
    namespace openmp = lockstep::openmp;
    CLI::App app(
        "Measure a matrix product and a convolution on this computer: naive, one core, all");
    openmp::MatrixProduct product{512, 512, 512};
    openmp::Convolution convolution{1, 56, 56, 64, 64, 3, 3};
    int repeats = 3;
    const CLI::Range size(1, 4096);
    app.add_option("-m", product.m, "rows of the product")->check(size)->capture_default_str();
    app.add_option("-n", product.n, "its columns")->check(size)->capture_default_str();
    app.add_option("-k", product.k, "products summed in each")->check(size)->capture_default_str();
    app.add_option("--batch", convolution.n, "images")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    app.add_option("--repeats", repeats, "the best of so many")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    fmt::print("measured on this computer ({} cores); FP32\n\nmatrix product {}x{}x{}\n{}",
               std::thread::hardware_concurrency(), product.m, product.n, product.k,
               openmp::table_of(product, repeats));
    fmt::print("\nconvolution of {} x {}x{}x{}, {} filters of {}x{}\n{}", convolution.n,
               convolution.c, convolution.h, convolution.w, convolution.k, convolution.r,
               convolution.s, openmp::table_of(convolution, repeats));
}
