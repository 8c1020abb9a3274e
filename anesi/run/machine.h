// What a training ran on, and when: what its figures of time are about.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

namespace anesi {

// {"cpu": "AMD EPYC 7B13", "cores": 2, "threads": 2, "torch": "2.13.0", "anesi": "0.2.0"}: `cores` are those that the
// system shows, `threads` those that torch uses here. "cpu" is null where the system does not say.
nlohmann::ordered_json this_machine();

// As "2026-11-17T21:49:00Z", in universal time.
std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace anesi
