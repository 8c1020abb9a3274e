// A picture of a flow network, as SVG: the paper's figures of appendix D, for any small problem.
//
// Choices stand from left to right. An edge says what flows along it, and is the thicker the more that is; where there
// is no room for a number, pointing at the edge shows it. Worlds come out at states with two outlines.
#pragma once

#include <string>

#include "anesi/flow/exact_flow.h"
#include "anesi/flow/flow_words.h"

namespace anesi {

inline constexpr std::int64_t kMostFlowStatesInAColumn = 72;

// Throws UsageError where as many choices lead to more than kMostFlowStatesInAColumn states.
std::string draw_flow(const FlowNetwork& network, const Flow& flow, const FlowWords& words = {});

}  // namespace anesi
