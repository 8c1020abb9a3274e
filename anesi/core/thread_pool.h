// A few threads that share out a range of rows.
//
// For work that libtorch does not do itself: calling c on a batch of worlds, filtering through a transducer. The number
// of threads follows torch::get_num_threads(), so one setting governs both.
#pragma once

#include <cstdint>
#include <functional>

namespace anesi {

// Calls body(begin, end) on pieces that together are [0, size), from several threads at once, and returns when all are
// done. Pieces are at least `grain` long and depend only on size, grain and the number of threads, so the same machine
// adds in the same order. The first exception thrown by a body is rethrown here. May be called from within a body (it
// then runs in place).
void parallel_for(std::int64_t size, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body);

// How many pieces parallel_for cuts [0, size) into.
std::int64_t parallel_pieces(std::int64_t size, std::int64_t grain);

}  // namespace anesi
