// SPDX-License-Identifier: Apache-2.0
// Which stream a null handle names. Programs compiled with nvcc --default-stream per-thread call
// functions whose names end in _ptsz or _ptds: the same functions, for which a null handle is the
// calling thread's own default stream.
#pragma once

namespace lockstep::cuda {

/// The calling thread is in such a function.
bool null_is_per_thread();

}  // namespace lockstep::cuda

/// What a trampoline (LOCKSTEP_PER_THREAD) calls before the function, with the address to which the
/// function returns, and after it, for that address.
extern "C" void lockstep_enter_per_thread(void* return_address);
extern "C" void* lockstep_leave_per_thread();

/// Defines `name` as `base`, called as above: whatever parameters it has stay where they are, on
/// the stack too, and on its return the thread comes by here again (System V ABI for x86-64).
#define LOCKSTEP_PER_THREAD(name, base)           \
    asm(".globl " #name                           \
        "\n"                                      \
        ".type " #name ", @function\n" #name      \
        ":\n"                                     \
        "  push %rdi\n  push %rsi\n  push %rdx\n" \
        "  push %rcx\n  push %r8\n  push %r9\n"   \
        "  push %rax\n"                           \
        "  mov 56(%rsp), %rdi\n"                  \
        "  call lockstep_enter_per_thread@PLT\n"  \
        "  pop %rax\n"                            \
        "  pop %r9\n  pop %r8\n  pop %rcx\n"      \
        "  pop %rdx\n  pop %rsi\n  pop %rdi\n"    \
        "  lea 0f(%rip), %r11\n"                  \
        "  mov %r11, (%rsp)\n"                    \
        "  jmp " #base                            \
        "@PLT\n"                                  \
        "0:\n"                                    \
        "  push %rax\n"                           \
        "  sub $8, %rsp\n"                        \
        "  call lockstep_leave_per_thread@PLT\n"  \
        "  mov %rax, %r11\n"                      \
        "  add $8, %rsp\n"                        \
        "  pop %rax\n"                            \
        "  jmp *%r11\n"                           \
        ".size " #name ", . - " #name "\n");
