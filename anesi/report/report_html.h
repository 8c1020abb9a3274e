// A report as one HTML file that needs nothing else: no network, no script, no font. It opens from a mail, reads on a
// telephone and on paper, in light and in dark.
//
// Every figure in it is an element <data value="0.9536" data-at="/runs/0/result/accuracy">95.36 %</data>: the number,
// and where it stands in the JSON that the file holds too (the element with the id `figures`).
#pragma once

#include <string>

#include "anesi/report/run_figures.h"

namespace anesi {

// Everything that comes from files is escaped.
std::string report_html(const Report& report);

}  // namespace anesi
