#include <cmath>
#include <string>
#include <vector>

#include <postlude/error.hpp>

#include "support/backend.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/given_values.hpp"
#include "support/mixed_workload.hpp"
#include "sweep/runtime_kernels.hpp"

using namespace postlude;
using namespace postlude::test;

TEST_CASE("stages that are compiled at run time give what interpreted ones give", "[conformance]") {
  Random random;
  INFO(random.hint());
  const std::string refusal = detail::runtime_compilation_refusal(execution_space().backend());
  for (const std::string text :
       {"gelu(y + bias) * scale + residual", "return max(y + bias, dim=0), sum(y, dim=1)",
        "softmax(y, dim=1)", "group_norm(y, groups=3, weight=bias)", "max_pool(y, 4, 3)",
        "dropout(y, p=0.5, seed=3)", "return argmax(y, dim=1), var(y, dim=0)"}) {
    for (const DataType dtype : {DataType::float32, DataType::float64, DataType::bfloat16}) {
      INFO(text << ", " << name_of(dtype));
      MixedSettings settings;
      settings.base.m = 37;
      settings.base.n = 135;
      settings.base.k = 5;
      settings.base.dtype = settings.operand_dtype = settings.output_dtype = dtype;
      settings.base.compilation = StageCompilation::always;
      const std::vector<OperandDeclaration> operands = {{"bias", OperandKind::row},
                                                        {"scale", OperandKind::column},
                                                        {"residual", OperandKind::matrix}};
      if (!refusal.empty()) {
        check_error(
            Status::unsupported, [&] { MixedWorkload(settings, Epilogue(text), operands); },
            "compilation");
        continue;
      }
      MixedWorkload workload(settings, Epilogue(text), operands);
      workload.fill_exact(random);
      workload.execute();
      workload.check();
    }
  }
}
