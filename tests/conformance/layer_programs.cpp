#include "support/catch.hpp"

#include <string>
#include <vector>

#include "support/case_count.hpp"
#include "support/error_model.hpp"
#include "support/layer_programs.hpp"
#include "support/mixed_workload.hpp"
#include "support/workload.hpp"

using namespace postlude;
using namespace postlude::test;

// Layers as models have them, within 1e-4 + 1e-4 |ref| in float32 and 1e-11 + 1e-11 |ref| in
// float64, which is what check_real() asks for.

namespace {

/// Programs cut dim 1 into 16 and 8 groups and into pairs.
std::vector<Settings> settings_of_layers(DataType dtype) {
  const std::int64_t sizes[][3] = {{16, 32, 24}, {33, 48, 17}, {65, 112, 64}, {128, 256, 96}};
  std::vector<Settings> list;
  for (const auto& size : sizes) {
    Settings settings;
    settings.dtype = dtype;
    settings.m = size[0];
    settings.n = size[1];
    settings.k = size[2];
    for (const ResultLayout layout : {ResultLayout::row_major, ResultLayout::column_major}) {
      settings.result = layout;
      const bool by_rows = layout == ResultLayout::row_major;
      settings.x = by_rows ? Layout::row_major : Layout::column_major;
      settings.w = settings.operands = settings.x;
      list.push_back(settings);
    }
  }
  return list;
}

}  // namespace

TEST_CASE("layers of models agree with the reference", "[conformance]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  for (const LayerProgram& program : layer_programs)
    for (const Settings& settings : settings_of_layers(dtype)) {
      Random random;
      INFO(random.hint());
      INFO(program.name << ": " << program.text << ", " << describe(settings));
      Workload workload(settings, program.text, layer_operands());
      workload.fill_real(random);
      workload.execute();
      check_real(workload);
      count_case("layer programs");
    }
}

// Only when it is asked for: a minute on a GPU node of 16 cores, most of it the reference's.
TEST_CASE("layers of models agree with the reference at full size", "[.full_size]") {
  for (const LayerProgram& program : layer_programs) {
    Settings settings;
    settings.m = 1024;
    settings.n = 8192;
    settings.k = 8192;
    Random random;
    INFO(random.hint());
    INFO(program.name << ": " << program.text << ", " << describe(settings));
    Workload workload(settings, program.text, layer_operands());
    workload.fill_real(random);
    workload.execute();
    check_real(workload);
    count_case("layer programs at full size");
  }
}

TEST_CASE("layers of models agree with the reference within their error bounds", "[conformance]") {
  // The same programs against bounds that follow from the arithmetic, which are tighter for most
  // of them, and in 16-bit floats too.
  const DataType dtype =
      GENERATE(DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16);
  for (const LayerProgram& program : layer_programs)
    for (const Settings& settings : settings_of_layers(dtype)) {
      if (settings.m > 100) continue;
      Random random;
      INFO(random.hint());
      INFO(program.name << ": " << program.text << ", " << describe(settings));
      MixedWorkload workload(settings_of(settings), program.text, layer_operands());
      workload.fill_real(random);
      workload.execute();
      workload.check();
      count_case("layer programs");
    }
}
