#ifndef POSTLUDE_PERF_UNFUSED_WORK_HPP
#define POSTLUDE_PERF_UNFUSED_WORK_HPP

#include <algorithm>
#include <memory>
#include <vector>

#include "execute/memory.hpp"
#include "peer.hpp"
#include "unfused_layers.hpp"

namespace postlude {
namespace perf {
namespace unfused {

/// Why a case has no unfused counterpart, empty when it has.
template <class Executor>
std::string refusal(const Case& what) {
  if (what.dtype != DataType::float32 && what.dtype != DataType::float64)
    return "the GEMM interface has float and double only";
  if (Layers<float, Executor>::recipes().count(what.program) == 0)
    return what.text.find("dropout") != std::string::npos
               ? "the dropout mask is of Postlude's own random numbers"
               : "the program is not written for it";
  return "";
}

/// The work of a case: the recipe of its program.
template <class T, class Executor>
Work work_of(const ExecutionSpace& space, const Executor& executor, const LinearFunction<T>& linear,
             const Case& what, const Inputs& inputs, const std::vector<DeviceTensor>& outputs) {
  const std::size_t matrix = static_cast<std::size_t>(what.m * what.n) * sizeof(T);
  const std::size_t line = static_cast<std::size_t>(std::max(what.m, what.n)) * sizeof(T);
  struct Memory {
    detail::BackendBuffer y, second, lines[4];
  };
  const auto memory = std::make_shared<Memory>(
      Memory{{space, matrix},
             {space, matrix},
             {{space, line}, {space, line}, {space, line}, {space, line}}});
  std::vector<Buffers<T>> buffers;
  for (int copy = 0; copy < inputs.copies(); ++copy) {
    const auto data = [](const detail::BackendBuffer& buffer) {
      return static_cast<T*>(buffer.data());
    };
    Buffers<T> one{static_cast<const T*>(inputs.x(copy).tensor().data),
                   static_cast<const T*>(inputs.w(copy).tensor().data),
                   data(memory->y),
                   data(memory->second),
                   data(memory->lines[0]),
                   data(memory->lines[1]),
                   data(memory->lines[2]),
                   data(memory->lines[3]),
                   static_cast<T*>(outputs[static_cast<std::size_t>(copy)].tensor().data),
                   {},
                   what.m,
                   what.n,
                   what.k};
    for (const CaseOperand& operand : what.operands)
      if (operand.kind != OperandKind::scalar)
        one.operands[operand.name] =
            static_cast<const T*>(inputs.operand(operand.name, copy).tensor().data);
    buffers.push_back(one);
  }
  using Program = Layers<T, Executor>;
  const auto recipe = Program::recipes().at(what.program);
  return [executor, linear, memory, buffers, recipe](int copy) {
    Program program(executor, linear, buffers[static_cast<std::size_t>(copy)]);
    recipe(program);
  };
}

}  // namespace unfused
}  // namespace perf
}  // namespace postlude

#endif
