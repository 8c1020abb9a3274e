// Compiling a hot function for several instruction sets at once.
#pragma once

// Marks a function to be compiled for several instruction sets, of which the loader takes the best that the machine
// has. The address and thread sanitizers cannot run code that early, and other compilers and processors need none of
// it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ANESI_VECTORIZED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ANESI_VECTORIZED
#endif
