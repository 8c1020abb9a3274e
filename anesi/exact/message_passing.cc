#include "anesi/exact/message_passing.h"

#include <algorithm>
#include <cmath>

#include "anesi/core/index.h"
#include "anesi/core/vectorized_math.h"

namespace anesi {
namespace {

// Messages keep clear of certainty, from which there would be no way back while they are still wrong: a clause that has
// to do with loops leaves each value this much.
constexpr double kLogLeastLeft = -9;
constexpr double kNothing = -1e100;  // the logarithm of an empty sum

// e^x for x <= 0; rounding may have left it a little above.
ANESI_INLINE double exponential(double x) { return vectorized::exponential_of_minus(x < 0 ? -x : 0); }
ANESI_INLINE double log_add(double a, double b) {
  const double difference = a - b;
  const double e = vectorized::exponential_of_minus(std::abs(difference));
  return (a > b ? a : b) + vectorized::logarithm_of_one_plus(e);
}

// The logarithm of the sum over some values.
ANESI_INLINE ColumnNumbers log_sum(const ColumnNumbers* numbers, const std::int64_t* places, std::int64_t count) {
  ColumnNumbers highest = numbers[places[0]];
  if (count == 1) return highest;
  for (std::int64_t i = 1; i < count; ++i) {
    const auto& next = numbers[places[i]];
    for (std::size_t l = 0; l < kColumns; ++l) highest[l] = highest[l] < next[l] ? next[l] : highest[l];
  }
  ColumnNumbers sum{};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto& next = numbers[places[i]];
    for (std::size_t l = 0; l < kColumns; ++l) sum[l] += exponential(next[l] - highest[l]);
  }
  for (std::size_t l = 0; l < kColumns; ++l) sum[l] = highest[l] + vectorized::logarithm(sum[l]);
  return sum;
}

// Adds `slope` times the share of each value in the sum over some values.
ANESI_INLINE void add_shares(const ColumnNumbers* numbers, const std::int64_t* places, std::int64_t count,
                             const ColumnNumbers& slope, double sign, ColumnNumbers* slopes) {
  if (count == 1) {
    for (std::size_t l = 0; l < kColumns; ++l) slopes[places[0]][l] += sign * slope[l];
    return;
  }
  const auto sum = log_sum(numbers, places, count);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto& number = numbers[places[i]];
    auto& result = slopes[places[i]];
    for (std::size_t l = 0; l < kColumns; ++l) result[l] += sign * slope[l] * exponential(number[l] - sum[l]);
  }
}

}  // namespace

// The loops that take the time, each compiled for several instruction sets.
struct MessageKernel {
  // How likely each variable of a clause fails it, and of all before each, that they do and that some does not.
  ANESI_INLINE static void look(MessagePassing& of, const MessagePlan::Clause& clause) {
    const auto& plan = of.plan_;
    for (auto edge = clause.begin; edge < clause.end; ++edge) {
      const auto& [begin, middle, end] = plan.edges[as_size(edge)];
      const auto place = as_size(edge - clause.begin);
      const auto fail = log_sum(of.totals_.data(), plan.places.data() + begin, middle - begin);
      const auto save = log_sum(of.totals_.data(), plan.places.data() + middle, end - middle);
      const auto& message = of.messages_[as_size(edge)];
      auto &failing = of.failing_[place], &saving = of.saving_[place];
      for (std::size_t l = 0; l < kColumns; ++l) {
        const double odds = fail[l] - message[l] - save[l];
        const double e = vectorized::exponential_of_minus(std::abs(odds));
        const double more = vectorized::logarithm_of_one_plus(e);
        failing[l] = (odds < 0 ? odds : 0) - more;
        saving[l] = (odds < 0 ? 0 : -odds) - more;
      }
    }
    for (std::size_t l = 0; l < kColumns; ++l) {
      const bool satisfied =
          clause.decided >= 0 && plan.satisfied[as_size(clause.decided * plan.cases + of.cases_[l])] != 0;
      of.all_fail_[0][l] = satisfied ? kImpossible : 0;
      of.some_saves_[0][l] = satisfied ? 0 : kNothing;
    }
    for (std::size_t place = 0; place < as_size(clause.end - clause.begin); ++place) {
      const auto &failing = of.failing_[place], &saving = of.saving_[place];
      const auto &all = of.all_fail_[place], &some = of.some_saves_[place];
      auto &next_all = of.all_fail_[place + 1], &next_some = of.some_saves_[place + 1];
      for (std::size_t l = 0; l < kColumns; ++l) {
        next_all[l] = all[l] + failing[l];
        next_some[l] = log_add(some[l], all[l] + saving[l]);
      }
    }
  }

  // What a clause says to each of its variables by what it hears of the others, unbounded.
  ANESI_INLINE static void answer(MessagePassing& of, const MessagePlan::Clause& clause, double violated) {
    ColumnNumbers all_after{}, some_after;
    some_after.fill(kNothing);
    for (auto place = as_size(clause.end - clause.begin); place-- > 0;) {
      const auto &failing = of.failing_[place], &saving = of.saving_[place];
      const auto &all = of.all_fail_[place], &some = of.some_saves_[place];
      auto &others = of.others_fail_[place], &fresh = of.fresh_[place];
      for (std::size_t l = 0; l < kColumns; ++l) {
        others[l] = all[l] + all_after[l];
        fresh[l] = log_add(log_add(some[l], all[l] + some_after[l]), others[l] + violated);
        some_after[l] = log_add(saving[l], failing[l] + some_after[l]);
        all_after[l] += failing[l];
      }
    }
  }

  ANESI_VECTORIZED static void send(MessagePassing& of, const MessagePlan::Clause& clause, double violated,
                                    ColumnNumbers* record) {
    look(of, clause);
    answer(of, clause, violated);
    const double least = clause.in_loop ? kLogLeastLeft : -HUGE_VAL;
    const double kept = clause.in_loop ? of.damping_ : 0;
    for (auto edge = clause.begin; edge < clause.end; ++edge) {
      auto& message = of.messages_[as_size(edge)];
      const auto& fresh = of.fresh_[as_size(edge - clause.begin)];
      if (record != nullptr) *record++ = message;
      ColumnNumbers change;
      for (std::size_t l = 0; l < kColumns; ++l) {
        const double bounded = fresh[l] < least ? least : fresh[l];
        const double next = kept * message[l] + (1 - kept) * bounded;
        change[l] = next - message[l];
        message[l] = next;
      }
      const auto& [begin, middle, end] = of.plan_.edges[as_size(edge)];
      for (auto value = begin; value < middle; ++value) {
        auto& total = of.totals_[as_size(of.plan_.places[as_size(value)])];
        for (std::size_t l = 0; l < kColumns; ++l) total[l] += change[l];
      }
    }
  }

  // Adds the derivatives by each variable's log-odds of failing, of_.slope_, to those by totals and messages.
  ANESI_INLINE static void pass_on(MessagePassing& of, const MessagePlan::Clause& clause) {
    const auto* const places = of.plan_.places.data();
    for (auto edge = clause.begin; edge < clause.end; ++edge) {
      const auto& slope = of.slope_[as_size(edge - clause.begin)];
      const auto& [begin, middle, end] = of.plan_.edges[as_size(edge)];
      add_shares(of.totals_.data(), places + begin, middle - begin, slope, 1, of.slopes_.data());
      add_shares(of.totals_.data(), places + middle, end - middle, slope, -1, of.slopes_.data());
      auto& of_message = of.message_slopes_[as_size(edge)];
      for (std::size_t l = 0; l < kColumns; ++l) of_message[l] -= slope[l];
    }
  }

  // The reverse of send(): takes the messages back.
  ANESI_VECTORIZED static void take_back(MessagePassing& of, const MessagePlan::Clause& clause, double violated,
                                         const ColumnNumbers* record, ColumnNumbers& violated_slope) {
    const auto size = as_size(clause.end - clause.begin);
    const double least = clause.in_loop ? kLogLeastLeft : -HUGE_VAL;
    const double kept = clause.in_loop ? of.damping_ : 0;
    std::vector<ColumnNumbers>& slope = of.slope_;  // first by the fresh messages, then by log-odds
    for (auto edge = clause.begin; edge < clause.end; ++edge) {
      const auto place = as_size(edge - clause.begin);
      const auto& [begin, middle, end] = of.plan_.edges[as_size(edge)];
      auto &message = of.messages_[as_size(edge)], &of_message = of.message_slopes_[as_size(edge)];
      ColumnNumbers of_totals{};
      for (auto value = begin; value < middle; ++value) {
        auto& total = of.totals_[as_size(of.plan_.places[as_size(value)])];
        const auto& of_total = of.slopes_[as_size(of.plan_.places[as_size(value)])];
        for (std::size_t l = 0; l < kColumns; ++l) {
          of_totals[l] += of_total[l];
          total[l] -= message[l] - record[place][l];
        }
      }
      message = record[place];
      for (std::size_t l = 0; l < kColumns; ++l) {
        const double both = of_message[l] + of_totals[l];
        of_message[l] = kept * both - of_totals[l];
        slope[place][l] = (1 - kept) * both;
      }
    }
    look(of, clause);
    answer(of, clause, violated);
    for (std::size_t place = 0; place < size; ++place) {
      const auto &fresh = of.fresh_[place], &others = of.others_fail_[place];
      for (std::size_t l = 0; l < kColumns; ++l) {
        slope[place][l] = fresh[l] < least ? 0 : slope[place][l];
        violated_slope[l] += slope[place][l] * exponential(others[l] + violated - fresh[l]);
      }
    }
    // d fresh / d odds of another = s (e^violated - 1) e^others / e^fresh, s that the other does not fail.
    for (std::size_t place = 0; place < size; ++place) {
      ColumnNumbers sum{};
      const auto& saving = of.saving_[place];
      for (std::size_t from = 0; from < size; ++from) {
        if (from == place) continue;
        const auto &fresh = of.fresh_[from], &others = of.others_fail_[from], &of_fresh = slope[from];
        for (std::size_t l = 0; l < kColumns; ++l) {
          const double share = others[l] + saving[l] - fresh[l];
          sum[l] += of_fresh[l] * (exponential(share + violated) - exponential(share));
        }
      }
      of.all_fail_[place] = sum;  // which is not needed any more
    }
    std::copy_n(of.all_fail_.begin(), size, slope.begin());
    pass_on(of, clause);
  }

  // What a clause and its edges add to Bethe's free energy.
  ANESI_VECTORIZED static void add_energy(MessagePassing& of, const MessagePlan::Clause& clause, double violated,
                                          ColumnNumbers& total) {
    look(of, clause);
    const auto size = as_size(clause.end - clause.begin);
    const double least = clause.in_loop ? kLogLeastLeft : -HUGE_VAL;
    for (std::size_t l = 0; l < kColumns; ++l) {
      const double left = log_add(of.some_saves_[size][l], of.all_fail_[size][l] + violated);
      total[l] += left < least ? least : left;
    }
    for (std::size_t place = 0; place < size; ++place) {
      const auto& message = of.messages_[as_size(clause.begin) + place];
      for (std::size_t l = 0; l < kColumns; ++l) {
        total[l] -= log_add(of.saving_[place][l], of.failing_[place][l] + message[l]);
      }
    }
  }

  ANESI_VECTORIZED static void differentiate_energy(MessagePassing& of, const MessagePlan::Clause& clause,
                                                    double violated, ColumnNumbers& violated_slope) {
    look(of, clause);
    const auto size = as_size(clause.end - clause.begin);
    const double least = clause.in_loop ? kLogLeastLeft : -HUGE_VAL;
    const auto &all = of.all_fail_[size], &some = of.some_saves_[size];
    ColumnNumbers left;
    for (std::size_t l = 0; l < kColumns; ++l) {
      left[l] = log_add(some[l], all[l] + violated);
      violated_slope[l] += left[l] < least ? 0 : exponential(all[l] + violated - left[l]);
    }
    for (std::size_t place = 0; place < size; ++place) {
      const auto &message = of.messages_[as_size(clause.begin) + place], &failing = of.failing_[place],
                 &saving = of.saving_[place];
      auto &of_message = of.message_slopes_[as_size(clause.begin) + place], &slope = of.slope_[place];
      for (std::size_t l = 0; l < kColumns; ++l) {
        const double share = all[l] + saving[l] - left[l];
        const double of_clause = exponential(share + violated) - exponential(share);
        const double on_edge = log_add(saving[l], failing[l] + message[l]);
        const double both = failing[l] + saving[l] - on_edge;
        of_message[l] -= exponential(failing[l] + message[l] - on_edge);
        slope[l] = (left[l] < least ? 0 : of_clause) - (exponential(both + message[l]) - exponential(both));
      }
    }
    pass_on(of, clause);
  }

  ANESI_VECTORIZED static ColumnNumbers sum_of_values(const ColumnNumbers* totals, const std::int64_t* places,
                                                      std::int64_t count) {
    return log_sum(totals, places, count);
  }
  ANESI_VECTORIZED static void add_marginals(const ColumnNumbers* totals, const std::int64_t* places,
                                             std::int64_t count, ColumnNumbers* slopes) {
    ColumnNumbers one;
    one.fill(1);
    add_shares(totals, places, count, one, 1, slopes);
  }

  // Calls visit(clause, its place) in the order in which clauses send: trees in the first two sweeps only.
  template <typename Visit>
  static void for_each_update(const MessagePassing& of, Visit visit) {
    const auto size = of.plan_.clauses.size();
    for (std::int64_t round = 0; round < of.rounds_; ++round) {
      if (round >= 2 && !of.plan_.has_loops) return;
      for (std::size_t step = 0; step < size; ++step) {
        const auto place = round % 2 == 0 ? step : size - 1 - step;
        if (round < 2 || of.plan_.clauses[place].in_loop) visit(of.plan_.clauses[place], place);
      }
    }
  }
};

MessagePassing::MessagePassing(const MessagePlan& plan, std::vector<double> violated, std::int64_t rounds,
                               double damping)
    : plan_(plan),
      violated_(std::move(violated)),
      rounds_(std::max<std::int64_t>(rounds, 2)),
      damping_(damping),
      weights_(as_size(plan.values())),
      messages_(plan.edges.size()) {
  for (auto* const scratch : {&failing_, &saving_, &all_fail_, &some_saves_, &others_fail_, &fresh_, &slope_}) {
    scratch->resize(as_size(plan.longest_clause) + 1);
  }
}

namespace {

// Calls visit(places of its values, how many) for each variable that is not known.
template <typename Visit>
void for_each_unknown(const MessagePlan& plan, Visit visit) {
  std::vector<bool> is_known(plan.first.size() - 1, false);
  for (const auto variable : plan.known) is_known[as_size(variable)] = true;
  std::vector<std::int64_t> places;
  for (std::size_t variable = 0; variable < is_known.size(); ++variable) {
    if (is_known[variable]) continue;
    places.clear();
    for (auto place = plan.first[variable]; place < plan.first[variable + 1]; ++place) places.push_back(place);
    visit(places.data(), std::ssize(places));
  }
}

}  // namespace

ColumnNumbers MessagePassing::count(bool record) {
  totals_ = weights_;
  std::ranges::fill(messages_, ColumnNumbers{});
  record_.clear();
  MessageKernel::for_each_update(*this, [&](const MessagePlan::Clause& clause, std::size_t place) {
    const auto before = record_.size();
    if (record) record_.resize(before + as_size(clause.end - clause.begin));
    MessageKernel::send(*this, clause, violated_[place], record ? record_.data() + before : nullptr);
  });
  ColumnNumbers total{};
  for_each_unknown(plan_, [&](const std::int64_t* places, std::int64_t count) {
    const auto sum = MessageKernel::sum_of_values(totals_.data(), places, count);
    for (std::size_t l = 0; l < kColumns; ++l) total[l] += sum[l];
  });
  for (std::size_t place = 0; place < plan_.clauses.size(); ++place) {
    MessageKernel::add_energy(*this, plan_.clauses[place], violated_[place], total);
  }
  return total;
}

void MessagePassing::differentiate() {
  slopes_.assign(weights_.size(), {});
  clause_slopes_.assign(plan_.clauses.size(), {});
  message_slopes_.assign(messages_.size(), {});
  for_each_unknown(plan_, [&](const std::int64_t* places, std::int64_t count) {
    MessageKernel::add_marginals(totals_.data(), places, count, slopes_.data());
  });
  std::vector<std::size_t> updates;
  MessageKernel::for_each_update(*this, [&](const auto&, std::size_t place) { updates.push_back(place); });
  for (std::size_t place = 0; place < plan_.clauses.size(); ++place) {
    MessageKernel::differentiate_energy(*this, plan_.clauses[place], violated_[place], clause_slopes_[place]);
  }
  auto recorded = record_.size();
  for (auto update = updates.rbegin(); update != updates.rend(); ++update) {
    const auto& clause = plan_.clauses[*update];
    recorded -= as_size(clause.end - clause.begin);
    MessageKernel::take_back(*this, clause, violated_[*update], record_.data() + recorded, clause_slopes_[*update]);
  }
}

}  // namespace anesi
