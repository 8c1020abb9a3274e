// What learning spends its time in (anesi/kernels), on NumPy's arrays.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "anesi/kernels/dirichlet_fit.h"
#include "anesi/kernels/dirichlet_sampler.h"
#include "anesi/kernels/pooling.h"
#include "arrays.h"
#include "bind.h"
#include "computing.h"

namespace anesi::python {
namespace {

template <typename Array>
auto numbers_in(const Array& array) {
  return std::span(array.data(), array.size());
}

template <typename Array>
std::int64_t size_at(const Array& array, std::size_t dimension) {
  return static_cast<std::int64_t>(array.shape(dimension));
}

void require_size(std::size_t size, std::size_t expected, const char* name, const std::string& shape) {
  require_shape(size == expected, name, shape, std::to_string(expected) + " numbers");
}

void fit_by_adam_of(const std::vector<std::int64_t>& domains, const Reads<double>& mean_logs, double beliefs, double l2,
                    const Writes<double>& x, const Writes<double>& first, const Writes<double>& second,
                    std::int64_t before, std::int64_t steps, double learning_rate) {
  compute(1, [&] {
    const auto means = numbers_in(mean_logs);
    const DirichletObjective objective(Space(domains), {means.begin(), means.end()}, beliefs, l2);
    require_size(x.size(), means.size(), "x", shape_of(x));
    require_size(first.size(), means.size(), "first", shape_of(first));
    require_size(second.size(), means.size(), "second", shape_of(second));
    fit_by_adam(objective, {numbers_in(x), numbers_in(first), numbers_in(second), before}, steps, learning_rate);
  });
}

// Beliefs [any number, variables, domain].
template <typename Array>
void require_beliefs(const Array& beliefs, std::size_t variables, std::size_t width) {
  require_shape(beliefs.ndim() == 3 && beliefs.shape(1) == variables && beliefs.shape(2) == width, "beliefs",
                shape_of(beliefs), fmt::format("(n, {}, {})", variables, width));
}

// What is past a variable's domain counts as the smallest belief; nobody looks at its sum.
void add_logs(const Reads<float>& beliefs, std::int64_t sign, const Writes<std::int64_t>& sums) {
  compute(1, [&] {
    require_shape(sums.ndim() == 2 && sums.size() > 0, "sums", shape_of(sums), "(variables, domain)");
    require_beliefs(beliefs, sums.shape(0), sums.shape(1));
    add_log_beliefs(Space::uniform(size_at(sums, 0), size_at(sums, 1)), numbers_in(beliefs), sign, numbers_in(sums));
  });
}

void draw_dirichlets(const Reads<double>& concentration, std::uint64_t seed, const Writes<float>& beliefs,
                     std::int64_t threads) {
  compute(threads, [&] {
    require_shape(concentration.ndim() == 2, "concentration", shape_of(concentration), "(variables, domain)");
    require_beliefs(beliefs, concentration.shape(0), concentration.shape(1));
    const auto variables = size_at(concentration, 0), width = size_at(concentration, 1);
    DirichletSampler({concentration.data(), variables, width})
        .draw(seed, {beliefs.data(), size_at(beliefs, 0), variables * width});
  });
}

// Width and channels of pooled values [images, height, width, channels].
template <typename Array>
std::pair<std::int64_t, std::int64_t> sizes_of(const Reads<float>& pixels, const Array& pooled) {
  require_shape(pixels.ndim() == 4 && pooled.ndim() == 4 && pixels.size() == 4 * pooled.size() &&
                    pixels.shape(2) == 2 * pooled.shape(2) && pixels.shape(3) == pooled.shape(3),
                "pixels", shape_of(pixels), "(images, 2 height, 2 width, channels)");
  return {size_at(pooled, 2), size_at(pooled, 3)};
}

void pool(const Reads<float>& pixels, const Writes<float>& pooled, std::int64_t threads) {
  compute(threads, [&] {
    const auto [width, channels] = sizes_of(pixels, pooled);
    pool_and_rectify(numbers_in(pixels), width, channels, numbers_in(pooled));
  });
}

void unpool(const Reads<float>& pixels, const Reads<float>& pooled, const Reads<float>& gradient,
            const Writes<float>& result, std::int64_t threads) {
  compute(threads, [&] {
    const auto [width, channels] = sizes_of(pixels, pooled);
    require_size(gradient.size(), pooled.size(), "gradient", shape_of(gradient));
    require_size(result.size(), pixels.size(), "result", shape_of(result));
    gradient_of_pooling(numbers_in(pixels), numbers_in(pooled), numbers_in(gradient), width, channels,
                        numbers_in(result));
  });
}

}  // namespace

void bind_kernels(nb::module_& module) {
  module.def("fit_dirichlets_by_adam", &fit_by_adam_of, nb::arg("domains"), nb::arg("mean_logs").noconvert(),
             nb::arg("beliefs"), nb::arg("l2"), nb::arg("x").noconvert(), nb::arg("first").noconvert(),
             nb::arg("second").noconvert(), nb::arg("before"), nb::arg("steps"), nb::arg("lr"));
  module.def("add_log_beliefs", &add_logs, nb::arg("beliefs").noconvert(), nb::arg("sign"),
             nb::arg("sums").noconvert());
  module.def("draw_dirichlets", &draw_dirichlets, nb::arg("concentration").noconvert(), nb::arg("seed"),
             nb::arg("beliefs").noconvert(), nb::arg("threads") = 0);
  module.def("pool_and_rectify", &pool, nb::arg("pixels").noconvert(), nb::arg("pooled").noconvert(),
             nb::arg("threads") = 0);
  module.def("gradient_of_pooling", &unpool, nb::arg("pixels").noconvert(), nb::arg("pooled").noconvert(),
             nb::arg("gradient").noconvert(), nb::arg("result").noconvert(), nb::arg("threads") = 0);
}

}  // namespace anesi::python
