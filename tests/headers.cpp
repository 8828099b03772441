// SPDX-License-Identifier: Apache-2.0
// Nothing but the target that the tests' precompiled headers belong to.
int main() {}
