// SPDX-License-Identifier: Apache-2.0
// Algorithms of thrust: their kernels are right, so that checks find nothing in them.
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include "check.h"

int main() {
    const int n = 20000;
    thrust::host_vector<int> host(n);
    unsigned random = 1;
    for (int& x : host) x = static_cast<int>((random = random * 1664525u + 1013904223u) >> 12);
    thrust::device_vector<int> values = host, sums(n), order(n);
    long long expected = 0;
    for (const int x : host) expected += x;
    EXPECT(thrust::reduce(values.begin(), values.end(), 0ll) == expected);
    thrust::inclusive_scan(values.begin(), values.end(), sums.begin());
    unsigned sum = 0;
    const thrust::host_vector<int> scanned = sums;
    for (int i = 0; i < n; ++i) EXPECT(static_cast<unsigned>(scanned[i]) == (sum += host[i]));
    thrust::sequence(order.begin(), order.end());
    thrust::sort_by_key(values.begin(), values.end(), order.begin());
    const thrust::host_vector<int> sorted = values, from = order;
    for (int i = 0; i < n; ++i) {
        EXPECT(sorted[i] == host[from[i]]);
        EXPECT(i == 0 || sorted[i - 1] <= sorted[i]);
    }
    thrust::transform(values.begin(), values.end(), values.begin(), [] __device__(int x) { return x % 100; });
    thrust::stable_sort(values.begin(), values.end(), thrust::greater<int>());
    const auto end = thrust::unique(values.begin(), values.end());
    EXPECT(end - values.begin() == 100);
    EXPECT(*thrust::max_element(values.begin(), end) == 99);
    return 0;
}
