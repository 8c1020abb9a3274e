#include "anesi/data/path_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <queue>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/input_file.h"

namespace anesi {
namespace {

std::vector<std::string_view> pieces_of(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const auto end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

// Numbers below `limit`, joined by '-'.
std::vector<int> numbers_of(std::string_view text, std::size_t limit, const std::string& where) {
  std::vector<int> numbers;
  if (text.empty()) return numbers;
  for (const auto piece : pieces_of(text, '-')) {
    int number = 0;
    const auto [end, failure] = std::from_chars(piece.data(), piece.data() + piece.size(), number);
    if (failure != std::errc() || end != piece.data() + piece.size() || number < 0 ||
        static_cast<std::size_t>(number) >= limit) {
      throw Error(fmt::format("{}: \"{:.40}\" is no number below {}", where, piece, limit));
    }
    numbers.push_back(number);
  }
  return numbers;
}

class PathRows {
 public:
  explicit PathRows(const UndirectedGraph& graph)
      : vertices_(graph.vertices), edges_(static_cast<std::int64_t>(graph.edges.size())) {}

  void add(const std::vector<int>& removed, int source, int target, const std::vector<int>& path) {
    const auto start = inputs_.size();
    inputs_.resize(start + static_cast<std::size_t>(edges_ + vertices_), 0.0F);
    std::fill_n(inputs_.begin() + static_cast<std::ptrdiff_t>(start), edges_, 1.0F);
    for (const auto edge : removed) inputs_[start + static_cast<std::size_t>(edge)] = 0;
    const auto begin = worlds_.size();
    worlds_.resize(begin + static_cast<std::size_t>(edges_ + vertices_), 0);
    for (const auto vertex : {source, target}) {
      inputs_[start + static_cast<std::size_t>(edges_ + vertex)] = 1;
      worlds_[begin + static_cast<std::size_t>(vertex)] = 1;
    }
    for (const auto edge : path) worlds_[begin + static_cast<std::size_t>(vertices_ + edge)] = 1;
  }

  PathData data() const {
    const auto width = vertices_ + edges_;
    const auto size = std::ssize(worlds_) / width;
    return {Array::of<float>({size, width}, inputs_), Points(PointRows(worlds_.data(), size, width))};
  }

 private:
  std::int64_t vertices_, edges_;
  std::vector<float> inputs_;
  std::vector<std::int64_t> worlds_;
};

// Whether the edges, in that order or another, lead from source to target without a fork.
bool is_path(const UndirectedGraph& graph, int source, int target, std::vector<int> path) {
  auto at = source;
  while (!path.empty()) {
    const auto next = std::ranges::find_if(path, [&](int edge) {
      const auto [from, to] = graph.edges[static_cast<std::size_t>(edge)];
      return from == at || to == at;
    });
    if (next == path.end()) return false;
    const auto [from, to] = graph.edges[static_cast<std::size_t>(*next)];
    at = from == at ? to : from;
    path.erase(next);
  }
  return at == target && source != target;
}

// The edges of a shortest path; none where there is no path.
std::vector<int> shortest_path(const UndirectedGraph& graph, const std::vector<bool>& removed, int source, int target) {
  std::vector<int> by(static_cast<std::size_t>(graph.vertices), -1);  // the edge that a vertex was reached by
  std::vector<bool> seen(static_cast<std::size_t>(graph.vertices), false);
  std::queue<int> open;
  open.push(source);
  seen[static_cast<std::size_t>(source)] = true;
  while (!open.empty() && !seen[static_cast<std::size_t>(target)]) {
    const auto at = open.front();
    open.pop();
    for (std::size_t edge = 0; edge < graph.edges.size(); ++edge) {
      const auto [from, to] = graph.edges[edge];
      if (removed[edge] || (from != at && to != at)) continue;
      const auto next = static_cast<std::size_t>(from == at ? to : from);
      if (seen[next]) continue;
      seen[next] = true;
      by[next] = static_cast<int>(edge);
      open.push(static_cast<int>(next));
    }
  }
  std::vector<int> path;
  if (!seen[static_cast<std::size_t>(target)]) return path;
  for (auto at = target; at != source;) {
    path.push_back(by[static_cast<std::size_t>(at)]);
    const auto [from, to] = graph.edges[static_cast<std::size_t>(path.back())];
    at = from == at ? to : from;
  }
  return path;
}

}  // namespace

PathData read_paths(const std::filesystem::path& file, const UndirectedGraph& graph) {
  const auto text = read_file(file, kLargestText);
  PathRows rows(graph);
  std::int64_t line_number = 0;
  for (auto line : pieces_of(text, '\n')) {
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const auto where = fmt::format("{}:{}", file.string(), line_number);
    const auto fields = pieces_of(line, ',');
    if (fields.size() < 3) throw Error(fmt::format("{}: removed edges, two ends and a path are wanted", where));
    const auto removed = numbers_of(fields[0], graph.edges.size(), where);
    const auto ends = numbers_of(fields[1], static_cast<std::size_t>(graph.vertices), where);
    const auto path = numbers_of(fields[2], graph.edges.size(), where);
    if (ends.size() != 2) throw Error(fmt::format("{}: a path has two ends, not {}", where, ends.size()));
    if (!is_path(graph, ends[0], ends[1], path)) {
      throw Error(fmt::format("{}: these edges are no path between {} and {}", where, ends[0], ends[1]));
    }
    rows.add(removed, ends[0], ends[1], path);
  }
  auto data = rows.data();
  if (data.worlds.size() == 0) throw Error(file.string() + ": no example in it");
  return data;
}

PathData make_paths(const UndirectedGraph& graph, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t limit) { return static_cast<int>(random() % limit); };
  PathRows rows(graph);
  const auto missing = graph.edges.size() / 3;
  for (std::int64_t made = 0; made < count;) {
    std::vector<bool> removed(graph.edges.size(), false);
    std::vector<int> listed;
    while (listed.size() < missing) {
      const auto edge = below(graph.edges.size());
      if (removed[static_cast<std::size_t>(edge)]) continue;
      removed[static_cast<std::size_t>(edge)] = true;
      listed.push_back(edge);
    }
    const auto source = below(static_cast<std::size_t>(graph.vertices)),
               target = below(static_cast<std::size_t>(graph.vertices));
    if (source == target) continue;
    const auto path = shortest_path(graph, removed, source, target);
    if (path.empty()) continue;
    rows.add(listed, source, target, path);
    ++made;
  }
  return rows.data();
}

}  // namespace anesi
