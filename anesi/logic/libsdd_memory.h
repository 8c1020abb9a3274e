// Comes before every source of libsdd, which ends the process where memory runs out: its allocations throw
// std::bad_alloc instead (circuit_complement.cc). Its clock is ours as well, since that is how it learns that its time
// is up. This is C.
#pragma once

#include <stdlib.h>
#include <time.h>

void* anesi_sdd_malloc(size_t size);
void* anesi_sdd_calloc(size_t count, size_t size);
void* anesi_sdd_realloc(void* old, size_t size);
clock_t anesi_sdd_clock(void);

#define malloc anesi_sdd_malloc
#define calloc anesi_sdd_calloc
#define realloc anesi_sdd_realloc
#define clock anesi_sdd_clock
