#include "program/rewrites/apply_rewrites.hpp"

#include <algorithm>
#include <utility>

#include <postlude/error.hpp>

#include "expression/signature.hpp"

namespace postlude {
namespace detail {
namespace {

bool is_work(const Value& value) {
  return value.kind == NodeKind::pointwise || value.kind == NodeKind::reduction ||
         value.kind == NodeKind::random || value.kind == NodeKind::gemm_result;
}

/// What computing a value costs, in words; `input` is the shape of what a reduction goes over.
std::string work_text(const Value& value, const Shape& input) {
  switch (value.kind) {
    case NodeKind::pointwise:
      return "1 operation on " + to_string(value.shape);
    case NodeKind::reduction:
      return "1 reduction of " + to_string(input);
    case NodeKind::random:
      return "random numbers of " + to_string(value.shape);
    case NodeKind::gemm_result:
      return "the GEMM";
    default:
      return "";
  }
}

/// Values that some result needs.
std::vector<bool> needed_values(const Program& program) {
  std::vector<bool> needed(program.values.size(), false);
  for (const ProgramResult& result : program.results)
    needed[static_cast<std::size_t>(result.value)] = true;
  for (std::size_t i = needed.size(); i-- > 0;)
    if (needed[i])
      for (const int input : program.values[i].inputs)
        needed[static_cast<std::size_t>(input)] = true;
  return needed;
}

class Rewriting {
 public:
  Rewriting(Program program, DataType arithmetic, const std::set<std::string>& without)
      : program_(std::move(program)), arithmetic_(arithmetic) {
    const auto is_on = [&](const char* name) { return without.count(name) == 0; };
    for (const Rewrite& rewrite : rewrite_list())
      if (rewrite.rule != nullptr && is_on(rewrite.name)) rules_.push_back(&rewrite);
    shares_values_ = is_on("common_subexpressions");
    drops_values_ = is_on("dead_values");
  }

  RewrittenProgram run() {
    // Every rule leaves less work or a simpler operation, so that it ends; the limit is for a pair
    // of rules that should undo each other by mistake.
    constexpr int most_passes = 100;
    drop_dead_values();
    for (int pass = 0; pass < most_passes && change(); ++pass) drop_dead_values();
    report_dead_values();
    return {std::move(program_), std::move(applied_)};
  }

 private:
  /// One pass over all values; whether one was rewritten.
  bool change() {
    std::vector<bool> is_result(program_.values.size(), false);
    for (const ProgramResult& result : program_.results)
      is_result[static_cast<std::size_t>(result.value)] = true;
    RewriteBuilder builder(program_, arithmetic_, shares_values_);
    bool has_changed = false;
    std::vector<int> places;
    places.reserve(program_.values.size());
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      Value value = program_.values[i];
      for (int& input : value.inputs) input = places[static_cast<std::size_t>(input)];
      int place = replacement(builder, value, is_result[i]);
      if (place >= 0) {
        has_changed = true;
      } else {
        const auto count = static_cast<int>(builder.program().values.size());
        place = builder.add(value);
        if (place < count) {
          has_changed = true;
          note(builder, "common_subexpressions", value, place, "it was computed before",
               saving(builder, value, 0));
        }
      }
      places.push_back(place);
    }
    if (!has_changed) return false;
    program_.values = std::move(builder.program().values);
    for (ProgramResult& result : program_.results)
      result.value = places[static_cast<std::size_t>(result.value)];
    return true;
  }

  /// What the first rule that applies puts in the place of `value`, -1 when none does.
  int replacement(RewriteBuilder& builder, const Value& value, bool is_result) {
    for (const Rewrite* rewrite : rules_) {
      const auto count = static_cast<int>(builder.program().values.size());
      const std::optional<Replacement> found = rewrite->rule(builder, value);
      if (!found) continue;
      // An index is stored as an integer, so that only an index may stand for one in a result.
      if (is_result && builder.value(found->value).is_index() != value.is_index()) continue;
      int new_operations = 0;
      for (int i = count; i < static_cast<int>(builder.program().values.size()); ++i)
        if (is_work(builder.value(i))) ++new_operations;
      note(builder, rewrite->name, value, found->value, found->reason,
           saving(builder, value, new_operations));
      return builder.expand(found->value, value.shape);
    }
    return -1;
  }

  static std::string saving(const RewriteBuilder& builder, const Value& value, int new_operations) {
    if (!is_work(value)) return "";
    const Shape input = value.inputs.empty() ? Shape() : builder.input(value, 0).shape;
    const bool is_traded = new_operations > 0 && value.kind != NodeKind::reduction;
    return is_traded ? "" : work_text(value, input);
  }

  void note(const RewriteBuilder& builder, const char* name, const Value& before, int after,
            const char* reason, std::string saved) {
    applied_.push_back({name, builder.text(before), builder.text(after), reason, std::move(saved)});
  }

  void drop_dead_values() {
    if (!drops_values_) return;
    const std::vector<bool> needed = needed_values(program_);
    std::vector<int> places(program_.values.size(), -1);
    std::vector<Value> kept;
    for (std::size_t i = 0; i < needed.size(); ++i) {
      Value& value = program_.values[i];
      if (!needed[i]) {
        if (is_work(value)) {
          const Shape input = value.inputs.empty() ? Shape() : dead_input_shape(value);
          const std::string work = work_text(value, input);
          saved_by_death_ += (saved_by_death_.empty() ? "" : ", ") + work;
          ++dead_count_;
        }
        continue;
      }
      places[i] = static_cast<int>(kept.size());
      kept.push_back(value);
      for (int& input : kept.back().inputs) input = places[static_cast<std::size_t>(input)];
    }
    program_.values = std::move(kept);
    for (ProgramResult& result : program_.results)
      result.value = places[static_cast<std::size_t>(result.value)];
  }

  Shape dead_input_shape(const Value& value) const {
    return program_.values[static_cast<std::size_t>(value.inputs[0])].shape;
  }

  void report_dead_values() {
    if (dead_count_ == 0) return;
    applied_.push_back(
        {"dead_values", std::to_string(dead_count_) + (dead_count_ == 1 ? " value" : " values"),
         "nothing", "no result needs what only they were needed for", saved_by_death_});
  }

  Program program_;
  DataType arithmetic_;
  std::vector<const Rewrite*> rules_;
  bool shares_values_ = true;
  bool drops_values_ = true;
  std::vector<AppliedRewrite> applied_;
  int dead_count_ = 0;
  std::string saved_by_death_;
};

}  // namespace

std::set<std::string> rewrites_left_out(const std::vector<std::string>& names) {
  std::vector<std::string> known = {"all"};
  for (const Rewrite& rewrite : rewrite_list()) known.emplace_back(rewrite.name);
  std::set<std::string> left_out;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string guess = closest_name(name, known);
      std::string list;
      for (const std::string& each : known) list += (list.empty() ? "" : ", ") + each;
      throw Error(Status::unknown_name,
                  "without_rewrites has '" + name.substr(0, 64) + "': expected one of " + list +
                      (guess.empty() ? "" : "; did you mean '" + guess + "'?"));
    }
    if (name == "all")
      left_out.insert(known.begin(), known.end());
    else
      left_out.insert(name);
  }
  return left_out;
}

RewrittenProgram apply_rewrites(const Program& program, DataType arithmetic,
                                const std::set<std::string>& without) {
  RewrittenProgram rewritten = Rewriting(program, arithmetic, without).run();
  verify(rewritten.program);
  return rewritten;
}

}  // namespace detail
}  // namespace postlude
