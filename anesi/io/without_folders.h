// Texts for others: without places of this machine.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace anesi {

// Every absolute path in it becomes the last of its names: "/home/me/a.npy: cut short" is "a.npy: cut short". Other
// slashes stay: "and/or", "21 / 03", "examples/meal.cnf", "https://…". Where a path ends is a guess, for names may have
// spaces in them: it goes on to its last slash, but not beyond a colon and space, a closing quote, a line's end or the
// next path. So a few words behind a path may go with its folders; a folder stays only where its own name has such an
// end in it.
std::string without_folders(const std::string& text);

// All texts in it.
nlohmann::ordered_json without_folders(nlohmann::ordered_json json);

// Where data came from, as Splits::origin says it, without the folder: "MNIST from /home/me/mnist, in 4x4 puzzles" is
// "MNIST, in 4x4 puzzles".
std::string origin_without_folder(const std::string& origin);

}  // namespace anesi
