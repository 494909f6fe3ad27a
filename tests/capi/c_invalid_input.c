/* Every C function with every argument wrong in turn. Each fault must be answered with its status
 * and a message that names the argument, and must leave the outputs as they were, to the bit,
 * with the red zones around them. The argument names the backend. */

#include "support.h"

#include <stdbool.h>
#include <stddef.h>

enum {
  red_zone = 256, /* bytes on either side of an output, a multiple of the alignment */
  poison = 0xa5
};

/* The arguments of all functions in one struct, so that a fault is a patch of a few bytes of it. */
typedef struct scene {
  /* What is passed. */
  postlude_context* context;
  postlude_plan* plan;
  postlude_problem* problem_argument;
  const char* expression;
  postlude_operand* operands_argument;
  size_t operand_count;
  postlude_plan_options* options_argument;
  postlude_plan** plan_argument;
  postlude_bindings* bindings_argument;
  void* stream;
  double tolerance;
  postlude_check_result* results_argument;
  size_t result_count;
  /* What the arguments point to. */
  postlude_problem problem;
  postlude_operand operands[2];
  postlude_plan_options options;
  postlude_plan* created;
  postlude_bindings bindings;
  postlude_operand_value values[2];
  postlude_tensor outputs[2];
  postlude_check_result results[2];
  /* Where faults copy values from. */
  void* poisoned_output;
  void* foreign_handle;
  void* destroyed_context;
  void* destroyed_plan;
  postlude_memory_space unreachable_space;
  double not_a_number;
  double infinity;
} scene;

enum { SET, ADD, COPY };

/* One wrong argument: `width` bytes at `offset` of the scene are set to a number, increased by it,
 * or replaced by those at another offset. */
typedef struct fault {
  const char* what;
  int change;
  size_t offset;
  size_t width;
  int64_t value;
  postlude_status status;
  const char* mention;
} fault;

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define MEMBER(member) offsetof(scene, member), sizeof(((scene*)0)->member)
#define SET_TO(member, value) #member " = " #value, SET, MEMBER(member), (int64_t)(value)
#define ADD_TO(member, value) #member " += " #value, ADD, MEMBER(member), (int64_t)(value)
#define COPY_TO(member, source) \
#member " = " #source, COPY, MEMBER(member), (int64_t)offsetof(scene, source)

static void apply(scene* target, const fault* wrong) {
  unsigned char* bytes = (unsigned char*)target + wrong->offset;
  if (wrong->change == COPY) {
    memmove(bytes, (const unsigned char*)target + wrong->value, wrong->width);
  } else if (wrong->width == sizeof(int32_t)) {
    int32_t number;
    memcpy(&number, bytes, sizeof number);
    number = (int32_t)((wrong->change == ADD ? number : 0) + wrong->value);
    memcpy(bytes, &number, sizeof number);
  } else {
    int64_t number;
    REQUIRE(wrong->width == sizeof number);
    memcpy(&number, bytes, sizeof number);
    number = (wrong->change == ADD ? number : 0) + wrong->value;
    memcpy(bytes, &number, sizeof number);
  }
}

static void expect_refusal(const char* function, const fault* wrong, postlude_status found) {
  const char* message = postlude_last_error_message();
  if (found == wrong->status && strstr(message, wrong->mention) != NULL) return;
  ++failure_count;
  fprintf(stderr,
          "%s with %s:\n  found '%s', expected '%s'\n  expected a message with '%s', found: %s\n",
          function, wrong->what, postlude_status_name(found), postlude_status_name(wrong->status),
          wrong->mention, message);
}

/* A call that is not worth a scene. */
#define EXPECT_REFUSAL(call, refusal, text)                                        \
  do {                                                                             \
    const fault wrong_ = {"the arguments shown", SET, 0, 0, 0, (refusal), (text)}; \
    expect_refusal(#call, &wrong_, (call));                                        \
  } while (0)

/* The memory of the scene, made once. */
typedef struct fixture {
  postlude_context* context;
  problem_data host;
  void* x;
  void* w;
  void* bias;
  void* z_zone;    /* red zone, M x N results, red zone */
  void* sums_zone; /* red zone, M results, red zone */
  void* workspace;
  postlude_plan* plan;
  scene valid;
} fixture;

enum { z_bytes = M * N * sizeof(float), sums_bytes = M * sizeof(float), workspace_bytes = 1 << 20 };

static void* inside(void* zone) { return (char*)zone + red_zone; }

static void* poisoned(postlude_context* context, size_t bytes) {
  unsigned char* pattern = malloc(bytes);
  REQUIRE(pattern != NULL);
  memset(pattern, poison, bytes);
  void* memory = upload(context, pattern, bytes);
  free(pattern);
  return memory;
}

static bool is_untouched(postlude_context* context, const void* memory, size_t bytes) {
  unsigned char* found = malloc(bytes);
  REQUIRE(found != NULL);
  download(context, found, memory, bytes);
  bool untouched = true;
  for (size_t i = 0; i < bytes; ++i) untouched = untouched && found[i] == poison;
  free(found);
  return untouched;
}

/* The valid arguments, with the scene's own structs as what the pointers point to. */
static scene valid_scene(const fixture* self) {
  scene built;
  memset(&built, 0, sizeof built);
  built.context = self->context;
  built.plan = self->plan;
  built.expression = "z = min(y + bias, c) - c; return z, sum(z, dim=1)";
  built.operand_count = 2;
  built.result_count = 2;

  built.problem = (postlude_problem)POSTLUDE_PROBLEM_INIT;
  built.problem.x = matrix_of(self->context, NULL, POSTLUDE_FLOAT32, M, K, POSTLUDE_ROW_MAJOR);
  built.problem.w = matrix_of(self->context, NULL, POSTLUDE_FLOAT32, N, K, POSTLUDE_ROW_MAJOR);
  built.operands[0] = (postlude_operand)POSTLUDE_OPERAND_INIT;
  built.operands[0].name = "bias";
  built.operands[1] = (postlude_operand)POSTLUDE_OPERAND_INIT;
  built.operands[1].name = "c";
  built.operands[1].kind = POSTLUDE_SCALAR;
  built.options = (postlude_plan_options)POSTLUDE_PLAN_OPTIONS_INIT;
  built.options.layout = POSTLUDE_ANY_LAYOUT; /* So that y needs the workspace. */

  built.bindings = (postlude_bindings)POSTLUDE_BINDINGS_INIT;
  built.bindings.x = built.problem.x;
  built.bindings.x.data = self->x;
  built.bindings.w = built.problem.w;
  built.bindings.w.data = self->w;
  built.bindings.operand_count = 2;
  built.bindings.output_count = 2;
  built.bindings.workspace = self->workspace;
  built.bindings.workspace_bytes = workspace_bytes;
  built.values[0] = (postlude_operand_value)POSTLUDE_OPERAND_VALUE_INIT;
  built.values[0].tensor = vector_of(self->context, self->bias, POSTLUDE_FLOAT32, N);
  built.values[1] = (postlude_operand_value)POSTLUDE_OPERAND_VALUE_INIT;
  built.values[1].scalar = 2;
  built.outputs[0] =
      matrix_of(self->context, inside(self->z_zone), POSTLUDE_FLOAT32, M, N, POSTLUDE_ROW_MAJOR);
  built.outputs[1] =
      matrix_of(self->context, inside(self->sums_zone), POSTLUDE_FLOAT32, M, 1, POSTLUDE_ROW_MAJOR);
  built.results[0] = (postlude_check_result)POSTLUDE_CHECK_RESULT_INIT;
  built.results[1] = (postlude_check_result)POSTLUDE_CHECK_RESULT_INIT;

  built.foreign_handle = &built;
  built.unreachable_space =
      space_of(self->context) == POSTLUDE_HOST ? POSTLUDE_DEVICE : POSTLUDE_HOST;
  built.not_a_number = (double)NAN;
  built.infinity = (double)INFINITY;
  return built;
}

/* Points the arguments at the scene's own structs; a fault is applied afterwards. */
static void connect(scene* self) {
  self->problem_argument = &self->problem;
  self->operands_argument = self->operands;
  self->options_argument = &self->options;
  self->plan_argument = &self->created;
  self->bindings_argument = &self->bindings;
  self->bindings.operands = self->values;
  self->bindings.outputs = self->outputs;
  self->results_argument = self->results;
}

static postlude_status create_plan_of(scene* self) {
  return postlude_plan_create(self->context, self->problem_argument, self->expression,
                              self->operands_argument, self->operand_count, self->options_argument,
                              self->plan_argument);
}

static postlude_status execute_of(scene* self) {
  return postlude_execute(self->plan, self->bindings_argument, self->stream);
}

static postlude_status check_of(scene* self) {
  return postlude_check(self->plan, self->bindings_argument, self->tolerance,
                        self->results_argument, self->result_count);
}

static void open_fixture(fixture* self, postlude_backend backend) {
  memset(self, 0, sizeof *self);
  self->context = create_context(backend);
  fill(&self->host);
  self->x = upload(self->context, self->host.x, sizeof self->host.x);
  self->w = upload(self->context, self->host.w, sizeof self->host.w);
  self->bias = upload(self->context, self->host.bias, sizeof self->host.bias);
  self->z_zone = poisoned(self->context, z_bytes + 2 * red_zone);
  self->sums_zone = poisoned(self->context, sums_bytes + 2 * red_zone);
  self->workspace = upload(self->context, NULL, workspace_bytes);
  self->valid = valid_scene(self);
  connect(&self->valid);
  REQUIRE(create_plan_of(&self->valid) == POSTLUDE_SUCCESS);
  self->plan = self->valid.created;
  size_t needed = 0;
  REQUIRE(postlude_plan_workspace_size(self->plan, &needed) == POSTLUDE_SUCCESS);
  REQUIRE(needed > 0 && needed <= workspace_bytes);
  self->valid = valid_scene(self);

  postlude_context* context = create_context(backend);
  REQUIRE(postlude_context_destroy(context) == POSTLUDE_SUCCESS);
  self->valid.destroyed_context = context;
  scene again = self->valid;
  connect(&again);
  REQUIRE(create_plan_of(&again) == POSTLUDE_SUCCESS);
  REQUIRE(postlude_plan_destroy(again.created) == POSTLUDE_SUCCESS);
  self->valid.destroyed_plan = again.created;
}

static void close_fixture(fixture* self) {
  EXPECT_SUCCESS(postlude_plan_destroy(self->plan));
  EXPECT_SUCCESS(postlude_free(self->context, self->x));
  EXPECT_SUCCESS(postlude_free(self->context, self->w));
  EXPECT_SUCCESS(postlude_free(self->context, self->bias));
  EXPECT_SUCCESS(postlude_free(self->context, self->z_zone));
  EXPECT_SUCCESS(postlude_free(self->context, self->sums_zone));
  EXPECT_SUCCESS(postlude_free(self->context, self->workspace));
  EXPECT_SUCCESS(postlude_context_destroy(self->context));
}

static const fault plan_faults[] = {
    {SET_TO(context, 0), POSTLUDE_INVALID_ARGUMENT, "context is null"},
    {COPY_TO(context, plan), POSTLUDE_INVALID_ARGUMENT, "context is not a handle"},
    {COPY_TO(context, destroyed_context), POSTLUDE_INVALID_ARGUMENT, "context is a destroyed"},
    {ADD_TO(context, 1), POSTLUDE_INVALID_ARGUMENT, "context is not a handle"},
    {SET_TO(plan_argument, 0), POSTLUDE_INVALID_ARGUMENT, "plan is null"},

    {SET_TO(problem_argument, 0), POSTLUDE_INVALID_ARGUMENT, "problem is null"},
    {SET_TO(problem.size, 0), POSTLUDE_VERSION_MISMATCH, "problem.size is 0"},
    {ADD_TO(problem.size, -1), POSTLUDE_VERSION_MISMATCH, "problem.size"},
    /* What follows in the scene is not zero. */
    {ADD_TO(problem.size, 8), POSTLUDE_VERSION_MISMATCH, "problem.size"},
    {SET_TO(problem.size, -1), POSTLUDE_VERSION_MISMATCH, "problem.size"},
    {SET_TO(problem.compute, -1), POSTLUDE_INVALID_ARGUMENT, "compute is -1"},
    {SET_TO(problem.compute, 5), POSTLUDE_INVALID_ARGUMENT, "compute is 5"},
    {SET_TO(problem.compute, POSTLUDE_COMPUTE_F64), POSTLUDE_UNSUPPORTED, "compute"},
    {ADD_TO(problem.x.size, 8), POSTLUDE_VERSION_MISMATCH, "x.size"},
    {SET_TO(problem.x.dtype, 0), POSTLUDE_INVALID_ARGUMENT, "x.dtype is 0"},
    {SET_TO(problem.x.dtype, 6), POSTLUDE_INVALID_ARGUMENT, "x.dtype is 6"},
    {SET_TO(problem.x.dtype, POSTLUDE_FLOAT64), POSTLUDE_INVALID_ARGUMENT, "dtype"},
    {SET_TO(problem.x.rank, 0), POSTLUDE_INVALID_ARGUMENT, "x.rank is 0"},
    {SET_TO(problem.x.rank, 4), POSTLUDE_INVALID_ARGUMENT, "x.rank is 4"},
    {SET_TO(problem.x.rank, 1), POSTLUDE_SHAPE_MISMATCH, "x has rank 1"},
    {SET_TO(problem.x.extent[0], -1), POSTLUDE_INVALID_ARGUMENT, "x.extent[0] is -1"},
    {SET_TO(problem.x.extent[1], INT64_MIN), POSTLUDE_INVALID_ARGUMENT, "x.extent[1]"},
    {SET_TO(problem.x.extent[0], INT64_MAX), POSTLUDE_INVALID_ARGUMENT, "x has extents"},
    {SET_TO(problem.x.extent[1], K + 1), POSTLUDE_SHAPE_MISMATCH, "in_features"},
    {SET_TO(problem.x.stride[0], INT64_MAX), POSTLUDE_INVALID_ARGUMENT, "x has extents"},
    {SET_TO(problem.x.stride[1], INT64_MIN), POSTLUDE_INVALID_ARGUMENT, "x has extents"},
    {SET_TO(problem.x.memory_space, 0), POSTLUDE_INVALID_ARGUMENT, "x.memory_space is 0"},
    {SET_TO(problem.x.memory_space, 4), POSTLUDE_INVALID_ARGUMENT, "x.memory_space is 4"},
    {SET_TO(problem.x.reserved, 1), POSTLUDE_INVALID_ARGUMENT, "x.reserved is 1"},
    {SET_TO(problem.w.size, 0), POSTLUDE_VERSION_MISMATCH, "w.size is 0"},
    {SET_TO(problem.w.dtype, -5), POSTLUDE_INVALID_ARGUMENT, "w.dtype is -5"},
    {SET_TO(problem.w.dtype, POSTLUDE_FLOAT64), POSTLUDE_INVALID_ARGUMENT, "w has dtype f64"},
    {SET_TO(problem.w.rank, 1), POSTLUDE_SHAPE_MISMATCH, "w has rank 1"},
    {SET_TO(problem.w.extent[1], 0), POSTLUDE_SHAPE_MISMATCH, "in_features"},
    {SET_TO(problem.w.extent[0], -7), POSTLUDE_INVALID_ARGUMENT, "w.extent[0] is -7"},

    {SET_TO(expression, 0), POSTLUDE_INVALID_ARGUMENT, "expression is null"},
    {SET_TO(operands_argument, 0), POSTLUDE_INVALID_ARGUMENT, "operands is null"},
    {SET_TO(operand_count, -1), POSTLUDE_INVALID_ARGUMENT, "operand_count"},
    {SET_TO(operand_count, 0), POSTLUDE_UNKNOWN_NAME, "bias"},
    {SET_TO(operand_count, 1), POSTLUDE_UNKNOWN_NAME, "'c'"},
    {SET_TO(operands[0].size, 0), POSTLUDE_VERSION_MISMATCH, "operands[0].size is 0"},
    {SET_TO(operands[1].size, 0), POSTLUDE_VERSION_MISMATCH, "operands[1].size is 0"},
    {SET_TO(operands[0].name, 0), POSTLUDE_INVALID_ARGUMENT, "operands[0].name is null"},
    {COPY_TO(operands[1].name, operands[0].name), POSTLUDE_INVALID_ARGUMENT, "bias"},
    {SET_TO(operands[1].kind, 0), POSTLUDE_INVALID_ARGUMENT, "operands[1].kind is 0"},
    {SET_TO(operands[1].kind, 6), POSTLUDE_INVALID_ARGUMENT, "operands[1].kind is 6"},
    {SET_TO(operands[0].is_batched, 2), POSTLUDE_INVALID_ARGUMENT, "operands[0].is_batched is 2"},
    {SET_TO(operands[1].is_batched, 1), POSTLUDE_INVALID_ARGUMENT, "batched scalar"},

    {SET_TO(options.size, 1), POSTLUDE_VERSION_MISMATCH, "options.size is 1"},
    {SET_TO(options.layout, 0), POSTLUDE_INVALID_ARGUMENT, "layout is 0"},
    {SET_TO(options.layout, 4), POSTLUDE_INVALID_ARGUMENT, "layout is 4"},
    {SET_TO(options.expression_length, 1000), POSTLUDE_INVALID_ARGUMENT, "NUL at byte"},
    {SET_TO(problem.reserved, 7), POSTLUDE_INVALID_ARGUMENT, "problem.reserved is 7"},
    {SET_TO(options.compilation, 3), POSTLUDE_INVALID_ARGUMENT, "options.compilation is 3"},
    {SET_TO(options.compilation, -1), POSTLUDE_INVALID_ARGUMENT, "options.compilation is -1"},
    {COPY_TO(options.engine, expression), POSTLUDE_UNKNOWN_NAME, "engine"},
    {COPY_TO(options.gemm_choice, expression), POSTLUDE_INVALID_ARGUMENT, "gemm_choice is"},
    {SET_TO(options.autotune, 2), POSTLUDE_INVALID_ARGUMENT, "options.autotune is 2"},
    {SET_TO(options.reserved, 7), POSTLUDE_INVALID_ARGUMENT, "options.reserved is 7"},
    {COPY_TO(options.without_rewrites, expression), POSTLUDE_UNKNOWN_NAME, "without_rewrites"},
};

static void test_plan_create(const fixture* self) {
  for (size_t i = 0; i < COUNT_OF(plan_faults); ++i) {
    scene faulty = self->valid;
    connect(&faulty);
    faulty.created = self->plan; /* Must become null. */
    apply(&faulty, &plan_faults[i]);
    expect_refusal("postlude_plan_create", &plan_faults[i], create_plan_of(&faulty));
    if (faulty.plan_argument != NULL && faulty.created != NULL) {
      ++failure_count;
      fprintf(stderr, "postlude_plan_create with %s: the handle is not null\n",
              plan_faults[i].what);
    }
  }
}

static void expect_expression_refused(const fixture* self, const char* expression,
                                      postlude_status status, const char* mention) {
  scene faulty = self->valid;
  connect(&faulty);
  faulty.expression = expression;
  fault wrong = {"expression", SET, 0, 0, 0, status, mention};
  char shown[64];
  snprintf(shown, sizeof shown, "expression '%.40s'", expression);
  wrong.what = shown;
  expect_refusal("postlude_plan_create", &wrong, create_plan_of(&faulty));
  EXPECT(faulty.created == NULL);
  EXPECT(strlen(postlude_last_error_message()) < 1000);
}

/* `count` copies of `part` between `head` and `tail`. */
static char* repeated(const char* head, const char* part, size_t count, const char* tail) {
  const size_t length = strlen(part);
  char* text = malloc(strlen(head) + count * length + strlen(tail) + 1);
  REQUIRE(text != NULL);
  char* end = text + sprintf(text, "%s", head);
  for (size_t i = 0; i < count; ++i, end += length) memcpy(end, part, length);
  sprintf(end, "%s", tail);
  return text;
}

static void test_expressions(const fixture* self) {
  expect_expression_refused(self, "", POSTLUDE_SYNTAX_ERROR, "empty");
  expect_expression_refused(self, " \n;  # nothing", POSTLUDE_SYNTAX_ERROR, "empty");
  expect_expression_refused(self, "y +", POSTLUDE_SYNTAX_ERROR, "^");
  expect_expression_refused(self, "y + )", POSTLUDE_SYNTAX_ERROR, "^");
  expect_expression_refused(self, "y\x01", POSTLUDE_SYNTAX_ERROR, "^");
  expect_expression_refused(self, "\xff\xfe", POSTLUDE_SYNTAX_ERROR, "^");
  expect_expression_refused(self, "y + biaz", POSTLUDE_UNKNOWN_NAME, "biaz");
  expect_expression_refused(self, "rellu(y)", POSTLUDE_UNKNOWN_NAME, "rellu");
  expect_expression_refused(self, "max(y, dim=2)", POSTLUDE_INVALID_ARGUMENT, "dim");

  char* parentheses = repeated("", "(", 100000, "y");
  expect_expression_refused(self, parentheses, POSTLUDE_SYNTAX_ERROR, "nesting");
  free(parentheses);
  char* signs = repeated("", "-", 100000, "y");
  expect_expression_refused(self, signs, POSTLUDE_SYNTAX_ERROR, "nesting");
  free(signs);
  char* megabyte = repeated("y", " + y", 1 << 18, "");
  expect_expression_refused(self, megabyte, POSTLUDE_INVALID_ARGUMENT, "1000");
  free(megabyte);

  /* 1 MB of comment is long, but nothing is wrong with it. */
  scene longest = self->valid;
  connect(&longest);
  char* comment = repeated("# ", "postlude ", 1 << 17, "\nmin(y + bias, c)");
  longest.expression = comment;
  EXPECT_SUCCESS(create_plan_of(&longest));
  EXPECT_SUCCESS(postlude_plan_destroy(longest.created));
  free(comment);
}

/* Of both functions that take bindings. */
static const fault binding_faults[] = {
    {SET_TO(plan, 0), POSTLUDE_INVALID_ARGUMENT, "plan is null"},
    {COPY_TO(plan, context), POSTLUDE_INVALID_ARGUMENT, "plan is not a handle"},
    {COPY_TO(plan, destroyed_plan), POSTLUDE_INVALID_ARGUMENT, "plan is a destroyed"},
    {SET_TO(bindings_argument, 0), POSTLUDE_INVALID_ARGUMENT, "bindings is null"},
    {SET_TO(bindings.size, 0), POSTLUDE_VERSION_MISMATCH, "bindings.size is 0"},
    {ADD_TO(bindings.size, -8), POSTLUDE_VERSION_MISMATCH, "bindings.size"},
    /* What follows in the scene is not zero. */
    {ADD_TO(bindings.size, 8), POSTLUDE_VERSION_MISMATCH, "bindings.size"},
    {ADD_TO(bindings.x.size, -8), POSTLUDE_VERSION_MISMATCH, "x.size"},
    {SET_TO(bindings.x.dtype, 9), POSTLUDE_INVALID_ARGUMENT, "x.dtype is 9"},
    {SET_TO(bindings.x.dtype, POSTLUDE_FLOAT64), POSTLUDE_SHAPE_MISMATCH, "x is f64"},
    {SET_TO(bindings.x.rank, -1), POSTLUDE_INVALID_ARGUMENT, "x.rank is -1"},
    {SET_TO(bindings.x.extent[0], -1), POSTLUDE_INVALID_ARGUMENT, "x.extent[0] is -1"},
    {SET_TO(bindings.x.extent[0], M + 1), POSTLUDE_SHAPE_MISMATCH, "x is"},
    {SET_TO(bindings.x.stride[0], INT64_MAX), POSTLUDE_SHAPE_MISMATCH, "x has stride"},
    {SET_TO(bindings.x.data, 0), POSTLUDE_INVALID_ARGUMENT, "x has null data"},
    {SET_TO(bindings.x.memory_space, 7), POSTLUDE_INVALID_ARGUMENT, "x.memory_space is 7"},
    {SET_TO(bindings.x.reserved, -1), POSTLUDE_INVALID_ARGUMENT, "x.reserved is -1"},
    {SET_TO(bindings.w.size, 0), POSTLUDE_VERSION_MISMATCH, "w.size is 0"},
    {SET_TO(bindings.w.dtype, 0), POSTLUDE_INVALID_ARGUMENT, "w.dtype is 0"},
    {SET_TO(bindings.w.extent[1], K - 1), POSTLUDE_SHAPE_MISMATCH, "w is"},
    {SET_TO(bindings.w.data, 0), POSTLUDE_INVALID_ARGUMENT, "w has null data"},
    {ADD_TO(bindings.x.data, 1), POSTLUDE_INVALID_ARGUMENT, "x is misaligned"},
    {ADD_TO(bindings.w.data, 2), POSTLUDE_INVALID_ARGUMENT, "w is misaligned"},
    {ADD_TO(values[0].tensor.data, 3), POSTLUDE_INVALID_ARGUMENT, "bias' is misaligned"},
    {ADD_TO(outputs[0].data, 1), POSTLUDE_INVALID_ARGUMENT, "'z' is misaligned"},
    {SET_TO(bindings.operands, 0), POSTLUDE_INVALID_ARGUMENT, "operands is null"},
    {SET_TO(bindings.operand_count, 0), POSTLUDE_MISSING_OPERAND, "operand bias"},
    {SET_TO(bindings.operand_count, 1), POSTLUDE_MISSING_OPERAND, "operand c"},
    {SET_TO(bindings.operand_count, 3), POSTLUDE_INVALID_ARGUMENT, "operand_count is 3"},
    {SET_TO(bindings.operand_count, -1), POSTLUDE_INVALID_ARGUMENT, "operand_count"},
    {SET_TO(values[0].size, 3), POSTLUDE_VERSION_MISMATCH, "operands[0].size is 3"},
    {SET_TO(values[1].size, 3), POSTLUDE_VERSION_MISMATCH, "operands[1].size is 3"},
    {SET_TO(values[0].tensor.size, 8), POSTLUDE_VERSION_MISMATCH, "[0].tensor.size is 8"},
    {SET_TO(values[0].tensor.dtype, 8), POSTLUDE_INVALID_ARGUMENT, "[0].tensor.dtype is 8"},
    {SET_TO(values[0].tensor.dtype, POSTLUDE_INT64), POSTLUDE_UNSUPPORTED, "bias"},
    {SET_TO(values[0].tensor.extent[0], N + 1), POSTLUDE_SHAPE_MISMATCH, "bias"},
    {SET_TO(values[0].tensor.data, 0), POSTLUDE_INVALID_ARGUMENT, "bias' has null data"},
    {SET_TO(bindings.outputs, 0), POSTLUDE_INVALID_ARGUMENT, "outputs is null"},
    {SET_TO(bindings.output_count, 0), POSTLUDE_INVALID_ARGUMENT, "output_count is 0"},
    {SET_TO(bindings.output_count, 3), POSTLUDE_INVALID_ARGUMENT, "output_count is 3"},
    {SET_TO(outputs[0].size, 0), POSTLUDE_VERSION_MISMATCH, "outputs[0].size is 0"},
    {SET_TO(outputs[1].size, 0), POSTLUDE_VERSION_MISMATCH, "outputs[1].size is 0"},
    {SET_TO(outputs[0].dtype, 77), POSTLUDE_INVALID_ARGUMENT, "outputs[0].dtype is 77"},
    {SET_TO(outputs[1].dtype, POSTLUDE_INT64), POSTLUDE_UNSUPPORTED, "dtype"},
    {SET_TO(outputs[0].data, 0), POSTLUDE_INVALID_ARGUMENT, "'z' has null data"},
    {SET_TO(outputs[0].extent[1], N - 1), POSTLUDE_SHAPE_MISMATCH, "'z' has shape"},
    {SET_TO(outputs[1].extent[0], M + 1), POSTLUDE_SHAPE_MISMATCH, "output"},
};

static const fault execute_faults[] = {
    {COPY_TO(bindings.x.memory_space, unreachable_space), POSTLUDE_WRONG_MEMORY_SPACE, "x is in"},
    {COPY_TO(bindings.w.memory_space, unreachable_space), POSTLUDE_WRONG_MEMORY_SPACE, "w is in"},
    {COPY_TO(values[0].tensor.memory_space, unreachable_space), POSTLUDE_WRONG_MEMORY_SPACE,
     "bias"},
    {COPY_TO(outputs[0].memory_space, unreachable_space), POSTLUDE_WRONG_MEMORY_SPACE, "'z'"},
    {SET_TO(outputs[0].stride[0], 0), POSTLUDE_OVERLAP, "'z'"},
    {SET_TO(outputs[0].stride[0], N - 1), POSTLUDE_OVERLAP, "'z'"},
    {COPY_TO(outputs[0].data, bindings.x.data), POSTLUDE_OVERLAP, "overlaps x"},
    {COPY_TO(outputs[0].data, bindings.w.data), POSTLUDE_OVERLAP, "overlaps w"},
    {COPY_TO(outputs[1].data, values[0].tensor.data), POSTLUDE_OVERLAP, "bias"},
    {COPY_TO(outputs[1].data, outputs[0].data), POSTLUDE_OVERLAP, "'z'"},
    {COPY_TO(outputs[0].data, bindings.workspace), POSTLUDE_OVERLAP, "workspace"},
    {ADD_TO(bindings.workspace, 64), POSTLUDE_INVALID_ARGUMENT, "workspace is misaligned"},
    {SET_TO(bindings.workspace_bytes, 0), POSTLUDE_INVALID_ARGUMENT, "workspace_bytes is 0"},
    {SET_TO(bindings.workspace, 0), POSTLUDE_INVALID_ARGUMENT, "workspace is null"},
};

static void expect_execute_refused(const fixture* self, const fault* wrong) {
  scene faulty = self->valid;
  connect(&faulty);
  apply(&faulty, wrong);
  expect_refusal("postlude_execute", wrong, execute_of(&faulty));
  if (is_untouched(self->context, self->z_zone, z_bytes + 2 * red_zone) &&
      is_untouched(self->context, self->sums_zone, sums_bytes + 2 * red_zone))
    return;
  ++failure_count;
  fprintf(stderr, "postlude_execute with %s: outputs were touched\n", wrong->what);
}

static void test_execute(const fixture* self) {
  for (size_t i = 0; i < COUNT_OF(binding_faults); ++i)
    expect_execute_refused(self, &binding_faults[i]);
  for (size_t i = 0; i < COUNT_OF(execute_faults); ++i)
    expect_execute_refused(self, &execute_faults[i]);
  const fault cpu_fault = {SET_TO(stream, 16), POSTLUDE_INVALID_ARGUMENT, "stream is not null"};
  if (space_of(self->context) == POSTLUDE_HOST) expect_execute_refused(self, &cpu_fault);
}

static const fault check_faults[] = {
    {SET_TO(bindings.x.memory_space, POSTLUDE_DEVICE), POSTLUDE_WRONG_MEMORY_SPACE, "x.memory"},
    {SET_TO(bindings.w.memory_space, POSTLUDE_DEVICE), POSTLUDE_WRONG_MEMORY_SPACE, "w.memory"},
    {SET_TO(values[0].tensor.memory_space, POSTLUDE_DEVICE), POSTLUDE_WRONG_MEMORY_SPACE, "bias"},
    {SET_TO(outputs[1].memory_space, POSTLUDE_DEVICE), POSTLUDE_WRONG_MEMORY_SPACE, "outputs[1]"},
    {COPY_TO(tolerance, not_a_number), POSTLUDE_INVALID_ARGUMENT, "tolerance is"},
    {COPY_TO(tolerance, infinity), POSTLUDE_INVALID_ARGUMENT, "tolerance is inf"},
    {SET_TO(tolerance, INT64_MIN + 1), POSTLUDE_INVALID_ARGUMENT, "tolerance is -"},
    {SET_TO(results_argument, 0), POSTLUDE_INVALID_ARGUMENT, "results is null"},
    {SET_TO(result_count, 1), POSTLUDE_INVALID_ARGUMENT, "result_count is 1"},
    {SET_TO(result_count, -1), POSTLUDE_INVALID_ARGUMENT, "result_count"},
    {SET_TO(results[0].size, 0), POSTLUDE_VERSION_MISMATCH, "results[0].size is 0"},
    {SET_TO(results[1].size, 4), POSTLUDE_VERSION_MISMATCH, "results[1].size is 4"},
};

static void expect_check_refused(const fixture* self, const fault* wrong) {
  problem_data host = self->host;
  float z[M * N] = {0};
  float sums[M] = {0};
  scene faulty = self->valid;
  connect(&faulty);
  faulty.bindings.x.data = host.x;
  faulty.bindings.w.data = host.w;
  faulty.values[0].tensor.data = host.bias;
  faulty.outputs[0].data = z;
  faulty.outputs[1].data = sums;
  faulty.bindings.x.memory_space = POSTLUDE_HOST;
  faulty.bindings.w.memory_space = POSTLUDE_HOST;
  faulty.values[0].tensor.memory_space = POSTLUDE_HOST;
  faulty.outputs[0].memory_space = POSTLUDE_HOST;
  faulty.outputs[1].memory_space = POSTLUDE_HOST;
  faulty.results[0].violations = faulty.results[1].violations = -42;
  apply(&faulty, wrong);
  expect_refusal("postlude_check", wrong, check_of(&faulty));
  EXPECT(faulty.results[0].violations == -42 && faulty.results[1].violations == -42);
}

static void test_check(const fixture* self) {
  for (size_t i = 0; i < COUNT_OF(binding_faults); ++i)
    expect_check_refused(self, &binding_faults[i]);
  for (size_t i = 0; i < COUNT_OF(check_faults); ++i) expect_check_refused(self, &check_faults[i]);
}

static void test_context(const fixture* self, postlude_backend backend) {
  const bool on_host = space_of(self->context) == POSTLUDE_HOST;
  postlude_context* context = self->context;
  EXPECT_REFUSAL(postlude_context_create(NULL, NULL), POSTLUDE_INVALID_ARGUMENT, "context is null");
  postlude_context_options options = POSTLUDE_CONTEXT_OPTIONS_INIT;
  options.backend = backend;
  options.size -= 1;
  EXPECT_REFUSAL(postlude_context_create(&options, &context), POSTLUDE_VERSION_MISMATCH,
                 "options.size");
  EXPECT(context == NULL);
  struct {
    postlude_context_options known;
    int32_t later[4];
  } longer = {POSTLUDE_CONTEXT_OPTIONS_INIT, {0, 0, 0, 1}};
  longer.known.size = sizeof longer;
  EXPECT_REFUSAL(postlude_context_create(&longer.known, &context), POSTLUDE_VERSION_MISMATCH,
                 "options.size");
  options.size = sizeof options;
  options.backend = -1;
  EXPECT_REFUSAL(postlude_context_create(&options, &context), POSTLUDE_INVALID_ARGUMENT,
                 "backend is -1");
  options.backend = POSTLUDE_BACKEND_SYCL + 1;
  EXPECT_REFUSAL(postlude_context_create(&options, &context), POSTLUDE_INVALID_ARGUMENT,
                 "backend is 7");
  for (postlude_backend other = POSTLUDE_BACKEND_SERIAL; other <= POSTLUDE_BACKEND_SYCL; ++other) {
    options.backend = other;
    if (!postlude_backend_available(other))
      EXPECT_REFUSAL(postlude_context_create(&options, &context), POSTLUDE_UNSUPPORTED, "backend");
  }
  options.backend = backend;
  options.threads = -1;
  EXPECT_REFUSAL(postlude_context_create(&options, &context), POSTLUDE_INVALID_ARGUMENT,
                 "threads is -1");
  options.threads = 100000;
  EXPECT_REFUSAL(postlude_context_create(&options, &context), POSTLUDE_INVALID_ARGUMENT,
                 "threads is 100000");
  options.threads = 0;
  options.stages_host_memory = 2;
  EXPECT_REFUSAL(postlude_context_create(&options, &context), POSTLUDE_INVALID_ARGUMENT,
                 "stages_host_memory is 2");
  options.stages_host_memory = 0;
  if (on_host) {
    options.stream = self->x;
    EXPECT_REFUSAL(postlude_context_create(&options, &context), POSTLUDE_INVALID_ARGUMENT,
                   "stream is not null");
  } else {
    options.device = -2;
    EXPECT_REFUSAL(postlude_context_create(&options, &context), POSTLUDE_INVALID_ARGUMENT,
                   "device is -2");
    options.device = 1000;
    EXPECT_REFUSAL(postlude_context_create(&options, &context), POSTLUDE_UNSUPPORTED,
                   "device is 1000");
  }

  postlude_context* none = NULL;
  postlude_context* destroyed = self->valid.destroyed_context;
  postlude_context* foreign = (postlude_context*)self->plan;
  postlude_backend found = 0;
  postlude_memory_space space = 0;
  EXPECT_REFUSAL(postlude_context_destroy(destroyed), POSTLUDE_INVALID_ARGUMENT, "destroyed");
  EXPECT_REFUSAL(postlude_context_destroy(foreign), POSTLUDE_INVALID_ARGUMENT, "context");
  EXPECT_REFUSAL(postlude_context_backend(none, &found), POSTLUDE_INVALID_ARGUMENT, "context");
  EXPECT_REFUSAL(postlude_context_backend(foreign, &found), POSTLUDE_INVALID_ARGUMENT, "context");
  EXPECT_REFUSAL(postlude_context_backend(self->context, NULL), POSTLUDE_INVALID_ARGUMENT,
                 "backend is null");
  EXPECT_REFUSAL(postlude_context_synchronize(none), POSTLUDE_INVALID_ARGUMENT, "context");
  EXPECT_REFUSAL(postlude_context_synchronize(destroyed), POSTLUDE_INVALID_ARGUMENT, "destroyed");
  EXPECT_REFUSAL(postlude_context_memory_space(none, &space), POSTLUDE_INVALID_ARGUMENT, "context");
  EXPECT_REFUSAL(postlude_context_memory_space(self->context, NULL), POSTLUDE_INVALID_ARGUMENT,
                 "space is null");
}

static void test_memory(const fixture* self) {
  postlude_context* none = NULL;
  postlude_context* context = self->context;
  char host[16] = {0};
  void* memory = host;
  EXPECT_REFUSAL(postlude_allocate(none, 16, &memory), POSTLUDE_INVALID_ARGUMENT, "context");
  EXPECT(memory == NULL);
  EXPECT_REFUSAL(postlude_allocate(context, 16, NULL), POSTLUDE_INVALID_ARGUMENT, "memory is null");
  const size_t too_large[] = {SIZE_MAX, SIZE_MAX - 100, SIZE_MAX / 2, SIZE_MAX / 2 - 256,
                              SIZE_MAX / 4};
  for (size_t i = 0; i < COUNT_OF(too_large); ++i) {
    memory = host;
    EXPECT_REFUSAL(postlude_allocate(context, too_large[i], &memory), POSTLUDE_OUT_OF_MEMORY,
                   "bytes is");
    EXPECT(memory == NULL);
  }

  EXPECT_REFUSAL(postlude_free(none, self->x), POSTLUDE_INVALID_ARGUMENT, "context");
  EXPECT_REFUSAL(postlude_free(context, host), POSTLUDE_INVALID_ARGUMENT, "memory");
  EXPECT_REFUSAL(postlude_free(context, inside(self->z_zone)), POSTLUDE_INVALID_ARGUMENT, "memory");
  EXPECT_SUCCESS(postlude_allocate(context, 16, &memory));
  EXPECT_SUCCESS(postlude_free(context, memory));
  EXPECT_REFUSAL(postlude_free(context, memory), POSTLUDE_INVALID_ARGUMENT, "memory");

  EXPECT_REFUSAL(postlude_copy_to_backend(none, self->x, host, 1), POSTLUDE_INVALID_ARGUMENT,
                 "context");
  EXPECT_REFUSAL(postlude_copy_to_backend(context, NULL, host, 1), POSTLUDE_INVALID_ARGUMENT,
                 "destination is null");
  EXPECT_REFUSAL(postlude_copy_to_backend(context, self->x, NULL, 1), POSTLUDE_INVALID_ARGUMENT,
                 "source is null");
  EXPECT_REFUSAL(postlude_copy_to_host(none, host, self->x, 1), POSTLUDE_INVALID_ARGUMENT,
                 "context");
  EXPECT_REFUSAL(postlude_copy_to_host(context, NULL, self->x, 1), POSTLUDE_INVALID_ARGUMENT,
                 "destination is null");
  EXPECT_REFUSAL(postlude_copy_to_host(context, host, NULL, 1), POSTLUDE_INVALID_ARGUMENT,
                 "source is null");
}

static void test_tensor(void) {
  postlude_tensor tensor;
  memset(&tensor, poison, sizeof tensor);
  const postlude_tensor before = tensor;
#define MATRIX_REFUSAL(place, dtype, rows, columns, layout, space, text)                     \
  do {                                                                                       \
    EXPECT_REFUSAL(postlude_tensor_matrix(place, NULL, dtype, rows, columns, layout, space), \
                   POSTLUDE_INVALID_ARGUMENT, text);                                         \
    EXPECT(memcmp(&tensor, &before, sizeof tensor) == 0);                                    \
  } while (0)
  MATRIX_REFUSAL(NULL, POSTLUDE_FLOAT32, 1, 1, POSTLUDE_ROW_MAJOR, POSTLUDE_HOST, "tensor");
  MATRIX_REFUSAL(&tensor, 0, 1, 1, POSTLUDE_ROW_MAJOR, POSTLUDE_HOST, "dtype is 0");
  MATRIX_REFUSAL(&tensor, POSTLUDE_FLOAT32, -1, 1, POSTLUDE_ROW_MAJOR, POSTLUDE_HOST, "rows is -1");
  MATRIX_REFUSAL(&tensor, POSTLUDE_FLOAT32, 1, -2, POSTLUDE_ROW_MAJOR, POSTLUDE_HOST,
                 "columns is -2");
  MATRIX_REFUSAL(&tensor, POSTLUDE_FLOAT32, INT64_MAX, 2, POSTLUDE_ROW_MAJOR, POSTLUDE_HOST,
                 "rows is");
  MATRIX_REFUSAL(&tensor, POSTLUDE_FLOAT64, INT64_MAX / 8 + 1, 1, POSTLUDE_COLUMN_MAJOR,
                 POSTLUDE_HOST, "rows is");
  MATRIX_REFUSAL(&tensor, POSTLUDE_FLOAT32, 1, 1, 0, POSTLUDE_HOST, "layout is 0");
  MATRIX_REFUSAL(&tensor, POSTLUDE_FLOAT32, 1, 1, POSTLUDE_ANY_LAYOUT, POSTLUDE_HOST,
                 "layout is 3");
  MATRIX_REFUSAL(&tensor, POSTLUDE_FLOAT32, 1, 1, POSTLUDE_ROW_MAJOR, 0, "space is 0");
#undef MATRIX_REFUSAL
  EXPECT_REFUSAL(postlude_tensor_vector(NULL, NULL, POSTLUDE_FLOAT32, 1, POSTLUDE_HOST),
                 POSTLUDE_INVALID_ARGUMENT, "tensor is null");
  EXPECT_REFUSAL(postlude_tensor_vector(&tensor, NULL, 6, 1, POSTLUDE_HOST),
                 POSTLUDE_INVALID_ARGUMENT, "dtype is 6");
  EXPECT_REFUSAL(postlude_tensor_vector(&tensor, NULL, POSTLUDE_FLOAT32, -1, POSTLUDE_HOST),
                 POSTLUDE_INVALID_ARGUMENT, "elements is -1");
  EXPECT_REFUSAL(postlude_tensor_vector(&tensor, NULL, POSTLUDE_FLOAT32, INT64_MAX, POSTLUDE_HOST),
                 POSTLUDE_INVALID_ARGUMENT, "elements is");
  EXPECT_REFUSAL(postlude_tensor_vector(&tensor, NULL, POSTLUDE_FLOAT32, 1, 4),
                 POSTLUDE_INVALID_ARGUMENT, "space is 4");
  EXPECT(memcmp(&tensor, &before, sizeof tensor) == 0);
}

static void test_plan_queries(const fixture* self) {
  const postlude_plan* none = NULL;
  postlude_plan* destroyed = self->valid.destroyed_plan;
  size_t number = 0;
  double flops = 0;
  double bytes = 0;
  const char* text = NULL;
  postlude_result_info info = POSTLUDE_RESULT_INFO_INIT;
  EXPECT_REFUSAL(postlude_plan_destroy(destroyed), POSTLUDE_INVALID_ARGUMENT, "destroyed");
  EXPECT_REFUSAL(postlude_plan_destroy((postlude_plan*)self->context), POSTLUDE_INVALID_ARGUMENT,
                 "plan");
  EXPECT_REFUSAL(postlude_plan_workspace_size(none, &number), POSTLUDE_INVALID_ARGUMENT,
                 "plan is null");
  EXPECT_REFUSAL(postlude_plan_workspace_size(self->plan, NULL), POSTLUDE_INVALID_ARGUMENT,
                 "bytes is null");
  EXPECT_REFUSAL(postlude_plan_result_count(none, &number), POSTLUDE_INVALID_ARGUMENT,
                 "plan is null");
  EXPECT_REFUSAL(postlude_plan_result_count(self->plan, NULL), POSTLUDE_INVALID_ARGUMENT,
                 "count is null");
  EXPECT_REFUSAL(postlude_plan_result(none, 0, &info), POSTLUDE_INVALID_ARGUMENT, "plan is null");
  EXPECT_REFUSAL(postlude_plan_result(self->plan, 0, NULL), POSTLUDE_INVALID_ARGUMENT,
                 "info is null");
  EXPECT_REFUSAL(postlude_plan_result(self->plan, 2, &info), POSTLUDE_INVALID_ARGUMENT,
                 "index is 2");
  EXPECT_REFUSAL(postlude_plan_result(self->plan, SIZE_MAX, &info), POSTLUDE_INVALID_ARGUMENT,
                 "index is");
  info.size = 16;
  EXPECT_REFUSAL(postlude_plan_result(self->plan, 0, &info), POSTLUDE_VERSION_MISMATCH,
                 "info.size is 16");
  EXPECT(info.name == NULL);
  EXPECT_REFUSAL(postlude_plan_work(none, &flops, &bytes), POSTLUDE_INVALID_ARGUMENT,
                 "plan is null");
  EXPECT_REFUSAL(postlude_plan_work(self->plan, NULL, &bytes), POSTLUDE_INVALID_ARGUMENT,
                 "gemm_flops is null");
  EXPECT_REFUSAL(postlude_plan_work(self->plan, &flops, NULL), POSTLUDE_INVALID_ARGUMENT,
                 "minimum_bytes is null");
  EXPECT_REFUSAL(postlude_plan_explain(none, &text), POSTLUDE_INVALID_ARGUMENT, "plan is null");
  EXPECT_REFUSAL(postlude_plan_explain(destroyed, &text), POSTLUDE_INVALID_ARGUMENT, "destroyed");
  EXPECT_REFUSAL(postlude_plan_explain(self->plan, NULL), POSTLUDE_INVALID_ARGUMENT,
                 "text is null");
  EXPECT_REFUSAL(postlude_plan_explain_json(none, &text), POSTLUDE_INVALID_ARGUMENT,
                 "plan is null");
  EXPECT_REFUSAL(postlude_plan_explain_json(destroyed, &text), POSTLUDE_INVALID_ARGUMENT,
                 "destroyed");
  EXPECT_REFUSAL(postlude_plan_explain_json(self->plan, NULL), POSTLUDE_INVALID_ARGUMENT,
                 "text is null");
  EXPECT_REFUSAL(postlude_plan_gemm_choice(none, &text), POSTLUDE_INVALID_ARGUMENT, "plan is null");
  EXPECT_REFUSAL(postlude_plan_gemm_choice(destroyed, &text), POSTLUDE_INVALID_ARGUMENT,
                 "destroyed");
  EXPECT_REFUSAL(postlude_plan_gemm_choice(self->plan, NULL), POSTLUDE_INVALID_ARGUMENT,
                 "text is null");
  EXPECT_REFUSAL(postlude_plan_explain_json(none, &text), POSTLUDE_INVALID_ARGUMENT,
                 "plan is null");
  EXPECT_REFUSAL(postlude_plan_explain_json(destroyed, &text), POSTLUDE_INVALID_ARGUMENT,
                 "destroyed");
  EXPECT_REFUSAL(postlude_plan_explain_json(self->plan, NULL), POSTLUDE_INVALID_ARGUMENT,
                 "text is null");
}

/* Without a fault everything succeeds and writes nothing into the red zones. */
static void test_valid(fixture* self) {
  scene valid = self->valid;
  connect(&valid);
  EXPECT_SUCCESS(execute_of(&valid));
  EXPECT_SUCCESS(postlude_context_synchronize(self->context));
  EXPECT(is_untouched(self->context, self->z_zone, red_zone));
  EXPECT(is_untouched(self->context, (char*)self->z_zone + red_zone + z_bytes, red_zone));
  EXPECT(is_untouched(self->context, self->sums_zone, red_zone));
  EXPECT(is_untouched(self->context, (char*)self->sums_zone + red_zone + sums_bytes, red_zone));
  EXPECT(!is_untouched(self->context, inside(self->z_zone), z_bytes));
}

int main(int argc, char** argv) {
  const postlude_backend backend = backend_of_arguments(argc, argv);
  fixture self;
  open_fixture(&self, backend);
  test_context(&self, backend);
  test_memory(&self);
  test_tensor();
  test_plan_create(&self);
  test_expressions(&self);
  test_plan_queries(&self);
  test_execute(&self);
  test_check(&self);
  test_valid(&self);
  close_fixture(&self);
  return finish("c_invalid_input");
}
