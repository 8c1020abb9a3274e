#include "flow.h"

#include "anesi/core/error.h"
#include "anesi/flow/flow_drawing.h"
#include "anesi/flow/flow_learning.h"
#include "anesi/flow/problem_flow.h"
#include "anesi/options/value_named.h"
#include "core.h"
#include "python_function.h"

namespace anesi::python {
namespace {

using Numbers = std::vector<double>;

std::shared_ptr<FlowNetwork> make_network(const Core& core, const std::string& view) {
  const auto asked = value_named<FlowView>("view", view);
  const py::gil_scoped_release release;
  return std::make_shared<FlowNetwork>(make_flow_network(core.problem(), asked));
}

Flow flow_from(const FlowNetwork& network, Numbers states, Numbers actions) {
  if (states.size() != network.states().size() || actions.size() != network.actions().size()) {
    throw UsageError("flow: it is of another network");
  }
  return {std::move(states), std::move(actions)};
}

py::dict described(const FlowNetwork& network, const Flow& flow) {
  using namespace py::literals;
  return py::dict("states"_a = flow.states, "actions"_a = flow.actions, "forward"_a = forward_policy(network, flow),
                  "backward"_a = backward_policy(network, flow));
}

py::dict exact(const FlowNetwork& network, const torch::Tensor& belief) {
  return described(network, exact_flow(network, world_beliefs(belief, network.worlds())));
}

py::dict learned(const std::shared_ptr<FlowNetwork>& network, const torch::Tensor& belief, const std::string& objective,
                 const std::string& backward, std::int64_t steps, std::uint64_t seed) {
  const FlowLearningOptions options{.objective = value_named<Objective>("objective", objective),
                                    .backward = value_named<BackwardKind>("backward", backward),
                                    .steps = steps};
  Flow flow;
  {
    const py::gil_scoped_release release;
    flow = learned_flow(network, belief, options, seed, [](std::int64_t) { let_signals_in(); });
  }
  return described(*network, flow);
}

// One word for each variable, or none.
FlowWords words_from(const std::string& title, const std::vector<std::string>& worlds,
                     const std::vector<std::string>& outputs) {
  const auto words_of = [](const std::vector<std::string>& names) -> FlowWords::OfValue {
    if (names.empty()) return {};
    return [names](std::int64_t variable, std::int64_t value) {
      return names.at(static_cast<std::size_t>(variable)) + "=" + std::to_string(value);
    };
  };
  return {.title = title, .world = words_of(worlds), .output = words_of(outputs)};
}

py::list states_of(const FlowNetwork& network) {
  py::list states;
  for (const auto& state : network.states()) states.append(py::make_tuple(state.output, state.world, state.depth));
  return states;
}

py::list actions_of(const FlowNetwork& network) {
  static constexpr std::array<const char*, 3> kSets{"output", "world", "nothing"};
  py::list actions;
  for (const auto& [from, to, sets, variable, value] : network.actions()) {
    actions.append(py::make_tuple(from, to, kSets.at(static_cast<std::size_t>(sets)), variable, value));
  }
  return actions;
}

py::list ends_of(const FlowNetwork& network) {
  py::list ends;
  for (const auto& end : network.ends()) ends.append(py::make_tuple(end.world, end.state, end.stop));
  return ends;
}

}  // namespace

void bind_flow(py::module_& module) {
  py::class_<FlowNetwork, std::shared_ptr<FlowNetwork>>(module, "FlowNetwork")
      .def(py::init(&make_network))
      .def_property_readonly("nodes", &FlowNetwork::nodes)
      .def_property_readonly("states", &states_of)
      .def_property_readonly("actions", &actions_of)
      .def_property_readonly("ends", &ends_of)
      .def("exact", &exact)
      .def("learned", &learned)
      .def("imbalance",
           [](const FlowNetwork& network, Numbers states, Numbers actions) {
             return largest_imbalance(network, flow_from(network, std::move(states), std::move(actions)));
           })
      .def("svg", [](const FlowNetwork& network, Numbers states, Numbers actions, const std::string& title,
                     const std::vector<std::string>& worlds, const std::vector<std::string>& outputs) {
        return draw_flow(network, flow_from(network, std::move(states), std::move(actions)),
                         words_from(title, worlds, outputs));
      });
}

}  // namespace anesi::python
