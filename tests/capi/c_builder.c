/* Programs built by calls: they are the programs that the text gives, and every wrong call is
 * answered. The argument names the backend. */

#include "support.h"

static postlude_value constant(postlude_builder* builder, double number) {
  postlude_value value = 0;
  EXPECT_SUCCESS(postlude_builder_constant(builder, number, &value));
  return value;
}

static postlude_value operand(postlude_builder* builder, const char* name) {
  postlude_value value = 0;
  EXPECT_SUCCESS(postlude_builder_operand(builder, name, &value));
  return value;
}

static postlude_argument positional(postlude_value value) {
  postlude_argument argument = POSTLUDE_ARGUMENT_INIT;
  argument.value = value;
  return argument;
}

static postlude_argument keyword(const char* name, postlude_value value) {
  postlude_argument argument = positional(value);
  argument.keyword = name;
  return argument;
}

static postlude_value call_1(postlude_builder* builder, const char* function, postlude_value a) {
  postlude_value value = 0;
  const postlude_argument argument = positional(a);
  EXPECT_SUCCESS(postlude_builder_call(builder, function, &argument, 1, &value));
  return value;
}

static postlude_value call_2(postlude_builder* builder, const char* function, postlude_value a,
                             postlude_value b) {
  postlude_value value = 0;
  const postlude_argument arguments[] = {positional(a), positional(b)};
  EXPECT_SUCCESS(postlude_builder_call(builder, function, arguments, 2, &value));
  return value;
}

static postlude_value reduce(postlude_builder* builder, const char* function, postlude_value v,
                             double dim) {
  postlude_value value = 0;
  const postlude_argument arguments[] = {positional(v), keyword("dim", constant(builder, dim))};
  EXPECT_SUCCESS(postlude_builder_call(builder, function, arguments, 2, &value));
  return value;
}

static postlude_problem problem_of(const postlude_context* context) {
  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  problem.x = matrix_of(context, NULL, POSTLUDE_FLOAT32, M, K, POSTLUDE_ROW_MAJOR);
  problem.w = matrix_of(context, NULL, POSTLUDE_FLOAT32, N, K, POSTLUDE_ROW_MAJOR);
  return problem;
}

static const postlude_operand operands[] = {{sizeof(postlude_operand), "bias", POSTLUDE_ROW, 0},
                                            {sizeof(postlude_operand), "gain", POSTLUDE_COLUMN, 0},
                                            {sizeof(postlude_operand), "c", POSTLUDE_SCALAR, 0}};

/* Two plans are one program when they explain themselves alike, their text apart. */
static void expect_program(postlude_context* context, const postlude_builder* builder,
                           const char* text) {
  const postlude_problem problem = problem_of(context);
  postlude_plan* built = NULL;
  postlude_plan* parsed = NULL;
  REQUIRE(postlude_plan_build(context, &problem, builder, operands, 3, NULL, &built) ==
          POSTLUDE_SUCCESS);
  REQUIRE(postlude_plan_create(context, &problem, text, operands, 3, NULL, &parsed) ==
          POSTLUDE_SUCCESS);
  const char* built_text = NULL;
  const char* parsed_text = NULL;
  EXPECT_SUCCESS(postlude_plan_explain(built, &built_text));
  EXPECT_SUCCESS(postlude_plan_explain(parsed, &parsed_text));
  if (strcmp(built_text, parsed_text) != 0) {
    ++failure_count;
    fprintf(stderr, "built:\n%s\nparsed from %s:\n%s\n", built_text, text, parsed_text);
  }
  EXPECT_SUCCESS(postlude_plan_destroy(built));
  EXPECT_SUCCESS(postlude_plan_destroy(parsed));
}

static void test_programs(postlude_context* context) {
  postlude_builder* builder = NULL;
  postlude_value y = 0;

  /* S1. */
  REQUIRE(postlude_builder_create(&builder) == POSTLUDE_SUCCESS);
  EXPECT_SUCCESS(postlude_builder_y(builder, &y));
  const postlude_value c = operand(builder, "c");
  postlude_value z = call_2(builder, "+", y, operand(builder, "bias"));
  z = call_2(builder, "-", call_2(builder, "min", z, c), c);
  EXPECT_SUCCESS(postlude_builder_result(builder, "result", z));
  expect_program(context, builder, "min(y + bias, c) - c");
  /* A builder can go on after a plan. */
  EXPECT_SUCCESS(postlude_builder_result(builder, "more", call_1(builder, "swish", z)));
  expect_program(context, builder,
                 "result = min(y + bias, c) - c; more = silu(result); return result, more");
  EXPECT_SUCCESS(postlude_builder_destroy(builder));

  /* S2. */
  REQUIRE(postlude_builder_create(&builder) == POSTLUDE_SUCCESS);
  EXPECT_SUCCESS(postlude_builder_y(builder, &y));
  const postlude_value m =
      reduce(builder, "max", call_2(builder, "+", y, operand(builder, "bias")), 0);
  EXPECT_SUCCESS(postlude_builder_result(
      builder, "result",
      call_1(builder, "gelu", call_2(builder, "-", m, reduce(builder, "mean", m, -1)))));
  expect_program(context, builder, "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))");
  EXPECT_SUCCESS(postlude_builder_destroy(builder));

  /* Every operator, keywords in any order, defaults, a composite function. */
  REQUIRE(postlude_builder_create(&builder) == POSTLUDE_SUCCESS);
  EXPECT_SUCCESS(postlude_builder_y(builder, &y));
  const postlude_value gain = operand(builder, "gain");
  postlude_value value = call_2(builder, "**", call_2(builder, "*", y, gain), y);
  const postlude_argument quotient[] = {keyword("b", call_1(builder, "-", gain)),
                                        keyword("a", value)};
  EXPECT_SUCCESS(postlude_builder_call(builder, "/", quotient, 2, &value));
  static const char* const comparisons[] = {"<", "<=", ">", ">=", "==", "!="};
  for (int i = 0; i < 6; ++i) value = call_2(builder, comparisons[i], value, gain);
  const postlude_argument clamp[] = {positional(value), keyword("max", constant(builder, 2)),
                                     keyword("min", operand(builder, "c"))};
  EXPECT_SUCCESS(postlude_builder_call(builder, "clamp", clamp, 3, &value));
  const postlude_argument norm[] = {positional(value), keyword("weight", operand(builder, "bias"))};
  EXPECT_SUCCESS(postlude_builder_call(builder, "layer_norm", norm, 2, &value));
  EXPECT_SUCCESS(postlude_builder_result(builder, "result", value));
  expect_program(context, builder,
                 "v = (y * gain) ** y / -gain; v = v < gain; v = v <= gain; v = v > gain; "
                 "v = v >= gain; v = v == gain; v = v != gain; "
                 "layer_norm(clamp(v, c, 2), weight=bias)");
  EXPECT_SUCCESS(postlude_builder_destroy(builder));
}

/* A built plan outlives its builder, and computes. */
static void test_execution(postlude_context* context) {
  postlude_builder* builder = NULL;
  postlude_value y = 0;
  REQUIRE(postlude_builder_create(&builder) == POSTLUDE_SUCCESS);
  EXPECT_SUCCESS(postlude_builder_y(builder, &y));
  EXPECT_SUCCESS(postlude_builder_result(
      builder, "shifted",
      call_2(builder, "+", call_1(builder, "relu", y), constant(builder, 0.5))));
  postlude_problem problem = problem_of(context);
  postlude_plan* plan = NULL;
  REQUIRE(postlude_plan_build(context, &problem, builder, NULL, 0, NULL, &plan) ==
          POSTLUDE_SUCCESS);
  EXPECT_SUCCESS(postlude_builder_destroy(builder));
  postlude_result_info info = POSTLUDE_RESULT_INFO_INIT;
  EXPECT_SUCCESS(postlude_plan_result(plan, 0, &info));
  EXPECT(strcmp(info.name, "shifted") == 0);

  problem_data host;
  fill(&host);
  float result[M * N];
  void* x = upload(context, host.x, sizeof host.x);
  void* w = upload(context, host.w, sizeof host.w);
  void* memory = upload(context, NULL, sizeof result);
  const postlude_tensor output =
      matrix_of(context, memory, POSTLUDE_FLOAT32, M, N, POSTLUDE_ROW_MAJOR);
  postlude_bindings bindings = POSTLUDE_BINDINGS_INIT;
  bindings.x = problem.x;
  bindings.w = problem.w;
  bindings.x.data = x;
  bindings.w.data = w;
  bindings.outputs = &output;
  bindings.output_count = 1;
  EXPECT_SUCCESS(postlude_execute(plan, &bindings, NULL));
  download(context, result, memory, sizeof result);
  for (int i = 0; i < M * N; ++i) EXPECT((double)result[i] == fmax(host.y[i], 0) + 0.5);
  EXPECT_SUCCESS(postlude_free(context, x));
  EXPECT_SUCCESS(postlude_free(context, w));
  EXPECT_SUCCESS(postlude_free(context, memory));
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
}

static void test_invalid_input(postlude_context* context) {
  postlude_builder* builder = NULL;
  postlude_builder* none = NULL;
  postlude_builder* foreign = (postlude_builder*)context;
  REFUSED(postlude_builder_create(NULL), POSTLUDE_INVALID_ARGUMENT, "builder is null");
  REQUIRE(postlude_builder_create(&builder) == POSTLUDE_SUCCESS);
  postlude_value value = -5;
  const postlude_status invalid = POSTLUDE_INVALID_ARGUMENT;

  REFUSED(postlude_builder_y(none, &value), invalid, "builder is null");
  REFUSED(postlude_builder_y(foreign, &value), invalid, "builder is not a handle");
  REFUSED(postlude_builder_y(builder, NULL), invalid, "value is null");
  REFUSED(postlude_builder_constant(none, 1, &value), invalid, "builder is null");
  REFUSED(postlude_builder_constant(builder, 1, NULL), invalid, "value is null");
  REFUSED(postlude_builder_operand(none, "a", &value), invalid, "builder is null");
  REFUSED(postlude_builder_operand(builder, NULL, &value), invalid, "name is null");
  REFUSED(postlude_builder_operand(builder, "a", NULL), invalid, "value is null");
  REFUSED(postlude_builder_operand(builder, "", &value), invalid, "name is ''");
  REFUSED(postlude_builder_operand(builder, "relu", &value), invalid, "name is 'relu'");
  REFUSED(postlude_builder_operand(builder, "a b", &value), invalid, "name is 'a b'");
  EXPECT(value == -5);

  postlude_value y = 0;
  EXPECT_SUCCESS(postlude_builder_y(builder, &y));
  EXPECT(y == 1);
  postlude_argument arguments[] = {positional(y), positional(y), positional(y)};
  REFUSED(postlude_builder_call(none, "min", arguments, 2, &value), invalid, "builder is null");
  REFUSED(postlude_builder_call(builder, NULL, arguments, 2, &value), invalid,
          "function_name is null");
  REFUSED(postlude_builder_call(builder, "min", NULL, 2, &value), invalid, "arguments is null");
  REFUSED(postlude_builder_call(builder, "min", arguments, 2, NULL), invalid, "value is null");
  REFUSED(postlude_builder_call(builder, "min", arguments, SIZE_MAX, &value), invalid,
          "argument_count");
  REFUSED(postlude_builder_call(builder, "min", arguments, 3, &value), POSTLUDE_SYNTAX_ERROR,
          "at most 2 arguments");
  REFUSED(postlude_builder_call(builder, "min", arguments, 1, &value), POSTLUDE_SYNTAX_ERROR,
          "dim");
  REFUSED(postlude_builder_call(builder, "relu", NULL, 0, &value), POSTLUDE_SYNTAX_ERROR, "needs");
  REFUSED(postlude_builder_call(builder, "sum", arguments, 1, &value), POSTLUDE_SYNTAX_ERROR,
          "needs dim");
  REFUSED(postlude_builder_call(builder, "rellu", arguments, 1, &value), POSTLUDE_UNKNOWN_NAME,
          "did you mean 'relu'?");
  REFUSED(postlude_builder_call(builder, "", arguments, 1, &value), POSTLUDE_UNKNOWN_NAME, "''");
  REFUSED(postlude_builder_call(builder, "<>", arguments, 2, &value), POSTLUDE_UNKNOWN_NAME,
          "'<>'");
  REFUSED(postlude_builder_call(builder, "+", arguments, 1, &value), POSTLUDE_SYNTAX_ERROR,
          "'+' needs its argument 'b'");
  REFUSED(postlude_builder_call(builder, "+", arguments, 3, &value), POSTLUDE_SYNTAX_ERROR,
          "'+' takes at most 2 arguments");
  const postlude_value wrong_values[] = {0, -1, 2, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 5; ++i) {
    arguments[1].value = wrong_values[i];
    REFUSED(postlude_builder_call(builder, "min", arguments, 2, &value), invalid,
            "arguments[1].value is");
    REFUSED(postlude_builder_result(builder, "z", wrong_values[i]), invalid, "value is");
  }
  arguments[1].value = y;
  arguments[1].size = 8;
  REFUSED(postlude_builder_call(builder, "min", arguments, 2, &value), POSTLUDE_VERSION_MISMATCH,
          "arguments[1].size");
  arguments[1].size = arguments[0].size;
  arguments[1].keyword = "lowest";
  REFUSED(postlude_builder_call(builder, "clamp", arguments, 3, &value), POSTLUDE_SYNTAX_ERROR,
          "positional argument");
  REFUSED(postlude_builder_call(builder, "clamp", arguments, 2, &value), POSTLUDE_UNKNOWN_NAME,
          "'lowest'");
  arguments[1].keyword = "c";
  REFUSED(postlude_builder_call(builder, "+", arguments, 2, &value), POSTLUDE_UNKNOWN_NAME, "'c'");
  arguments[1].keyword = "dim";
  REFUSED(postlude_builder_call(builder, "sum", arguments, 2, &value), POSTLUDE_SYNTAX_ERROR,
          "'dim' must be a number");
  EXPECT(value == -5);
  EXPECT_SUCCESS(postlude_builder_constant(builder, 2, &arguments[1].value));
  REFUSED(postlude_builder_call(builder, "sum", arguments, 2, &value), invalid, "dim is 2");
  EXPECT(value == -5);

  const postlude_problem problem = problem_of(context);
  postlude_plan* plan = NULL;
  REFUSED(postlude_plan_build(context, &problem, builder, NULL, 0, NULL, &plan), invalid,
          "builder has no result");
  REFUSED(postlude_builder_result(none, "z", y), invalid, "builder is null");
  REFUSED(postlude_builder_result(builder, NULL, y), invalid, "name is null");
  REFUSED(postlude_builder_result(builder, "9", y), invalid, "name is '9'");
  EXPECT_SUCCESS(postlude_builder_result(builder, "z", y));
  REFUSED(postlude_builder_result(builder, "z", y), invalid, "earlier result");
  REFUSED(postlude_plan_build(NULL, &problem, builder, NULL, 0, NULL, &plan), invalid, "context");
  REFUSED(postlude_plan_build(context, NULL, builder, NULL, 0, NULL, &plan), invalid, "problem");
  REFUSED(postlude_plan_build(context, &problem, NULL, NULL, 0, NULL, &plan), invalid, "builder");
  REFUSED(postlude_plan_build(context, &problem, foreign, NULL, 0, NULL, &plan), invalid,
          "builder is not a handle");
  REFUSED(postlude_plan_build(context, &problem, builder, NULL, 1, NULL, &plan), invalid,
          "operands is null");
  REFUSED(postlude_plan_build(context, &problem, builder, NULL, 0, NULL, NULL), invalid,
          "plan is null");
  /* An operand that is not declared is found when the plan is made. */
  EXPECT_SUCCESS(postlude_builder_result(builder, "b", operand(builder, "biaz")));
  REFUSED(postlude_plan_build(context, &problem, builder, operands, 3, NULL, &plan),
          POSTLUDE_UNKNOWN_NAME, "did you mean 'bias'?");
  EXPECT(plan == NULL);

  EXPECT_SUCCESS(postlude_builder_destroy(builder));
  REFUSED(postlude_builder_destroy(builder), invalid, "destroyed");
  REFUSED(postlude_builder_y(builder, &value), invalid, "destroyed");
  REFUSED(postlude_builder_destroy(foreign), invalid, "builder");
  EXPECT_SUCCESS(postlude_builder_destroy(NULL));
}

int main(int argc, char** argv) {
  postlude_context* context = create_context(backend_of_arguments(argc, argv));
  test_programs(context);
  test_execution(context);
  test_invalid_input(context);
  EXPECT_SUCCESS(postlude_context_destroy(context));
  return finish("c_builder");
}
