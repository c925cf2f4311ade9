// A function before which EVERY_PROCESSOR stands is compiled once for each generation of x86 processors, and the
// machine takes the best it has (function multiversioning). Elsewhere, and where one version is asked for, it is
// compiled once.
#pragma once

#if !defined(PARETOCLF_ONE_VERSION) && defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && \
    !defined(__clang__)
#define EVERY_PROCESSOR __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define EVERY_PROCESSOR
#endif
#define RESTRICT __restrict__
