// What discovery finds: functions of many kinds, each asked with nothing declared of it.
#pragma once

namespace anesi::cli {

// Prints a row for each function, as a table or JSON.
void bench_discover(bool json);

}  // namespace anesi::cli
