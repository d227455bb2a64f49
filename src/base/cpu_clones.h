// cpu_clones: one function compiled for several instruction sets, the processor's own chosen when
// the program starts. The baseline of the build is plain x86-64: machines with and without AVX-512
// both occur. What such a function calls must be TANDEM_INLINE, or it stays in the baseline.
#pragma once

// Not with ThreadSanitizer: the choice is made before its own start, and it would crash there.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define TANDEM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TANDEM_CLONES
#endif
// For AVX-512 alone; the caller has asked whether the processor has it.
#if defined(__x86_64__)
#define TANDEM_WIDE __attribute__((target("arch=x86-64-v4")))
#else
#define TANDEM_WIDE
#endif
#define TANDEM_INLINE inline __attribute__((always_inline))
