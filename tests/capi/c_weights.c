/* Prepared weights: what they give, and every wrong use is answered. The argument names the
 * backend. */

#include "support.h"

static postlude_context* context;
static problem_data host;
static void* x;
static void* w;
static void* memory;
static postlude_problem problem = POSTLUDE_PROBLEM_INIT;
static postlude_tensor output;
static postlude_plan* plan;

static postlude_plan* plan_for(postlude_context* owner, const postlude_problem* of) {
  postlude_plan* made = NULL;
  REQUIRE(postlude_plan_create(owner, of, "relu(y)", NULL, 0, NULL, &made) == POSTLUDE_SUCCESS);
  return made;
}

static void open_problem(postlude_backend backend) {
  context = create_context(backend);
  fill(&host);
  x = upload(context, host.x, sizeof host.x);
  w = upload(context, host.w, sizeof host.w);
  memory = upload(context, NULL, sizeof(float[M * N]));
  problem.x = matrix_of(context, x, POSTLUDE_FLOAT32, M, K, POSTLUDE_ROW_MAJOR);
  problem.w = matrix_of(context, w, POSTLUDE_FLOAT32, N, K, POSTLUDE_ROW_MAJOR);
  output = matrix_of(context, memory, POSTLUDE_FLOAT32, M, N, POSTLUDE_ROW_MAJOR);
  plan = plan_for(context, &problem);
}

static postlude_weights* prepare(void) {
  postlude_weights* weights = NULL;
  REQUIRE(postlude_weights_create(context, plan, &problem.w, &weights) == POSTLUDE_SUCCESS);
  REQUIRE(weights != NULL);
  return weights;
}

static postlude_bindings bindings_with(const postlude_weights* weights) {
  postlude_bindings bindings = POSTLUDE_BINDINGS_INIT;
  bindings.x = problem.x;
  bindings.w = problem.w;
  bindings.outputs = &output;
  bindings.output_count = 1;
  bindings.weights = weights;
  return bindings;
}

static void poison(void) {
  float values[M * N];
  for (int i = 0; i < M * N; ++i) values[i] = -1;
  REQUIRE(postlude_copy_to_backend(context, memory, values, sizeof values) == POSTLUDE_SUCCESS);
}

static int wrong_elements(double factor) {
  float values[M * N];
  int wrong = 0;
  download(context, values, memory, sizeof values);
  for (int i = 0; i < M * N; ++i) wrong += (double)values[i] != factor * fmax(host.y[i], 0);
  return wrong;
}

static void expect_untouched(void) {
  float values[M * N];
  int touched = 0;
  download(context, values, memory, sizeof values);
  for (int i = 0; i < M * N; ++i) touched += values[i] != -1;
  EXPECT(touched == 0);
}

static void test_execution(void) {
  postlude_weights* weights = prepare();
  size_t with_w = 0;
  size_t with_weights = 0;
  size_t bytes = 12345;
  EXPECT_SUCCESS(postlude_plan_workspace_size(plan, &with_w));
  EXPECT_SUCCESS(postlude_plan_workspace_size_with_weights(plan, &with_weights));
  EXPECT_SUCCESS(postlude_weights_size(weights, &bytes));
  EXPECT(with_weights <= with_w);
  /* Those of onednn serve plans that read w in its own place. */
  const char* choice = NULL;
  EXPECT_SUCCESS(postlude_plan_gemm_choice(plan, &choice));
  EXPECT(bytes == 0 || with_weights < with_w || strncmp(choice, "onednn;", 7) == 0);
  poison();
  postlude_bindings bindings = bindings_with(weights);
  EXPECT_SUCCESS(postlude_execute(plan, &bindings, NULL));
  EXPECT(wrong_elements(1) == 0);

  /* From other memory, with other elements. */
  float twice[N * K];
  for (int i = 0; i < N * K; ++i) twice[i] = 2 * host.w[i];
  postlude_tensor other = problem.w;
  other.data = upload(context, twice, sizeof twice);
  EXPECT_SUCCESS(postlude_weights_refresh(weights, &other, NULL));
  bindings.w = other;
  EXPECT_SUCCESS(postlude_execute(plan, &bindings, NULL));
  EXPECT(wrong_elements(2) == 0);
  EXPECT_SUCCESS(postlude_weights_destroy(weights));
  EXPECT_SUCCESS(postlude_free(context, other.data));
}

static void test_creation(void) {
  postlude_weights* weights = (postlude_weights*)context;
  const postlude_status invalid = POSTLUDE_INVALID_ARGUMENT;
  REFUSED(postlude_weights_create(NULL, plan, &problem.w, &weights), invalid, "context is null");
  EXPECT(weights == NULL);
  REFUSED(postlude_weights_create(context, NULL, &problem.w, &weights), invalid, "plan is null");
  REFUSED(postlude_weights_create(context, plan, NULL, &weights), invalid, "w is null");
  REFUSED(postlude_weights_create(context, plan, &problem.w, NULL), invalid, "weights is null");

  postlude_tensor wrong = problem.w;
  wrong.data = NULL;
  REFUSED(postlude_weights_create(context, plan, &wrong, &weights), invalid, "w has null data");
  wrong = problem.w;
  wrong.extent[0] = N - 1;
  REFUSED(postlude_weights_create(context, plan, &wrong, &weights), POSTLUDE_SHAPE_MISMATCH,
          "w is");
  wrong = problem.w;
  wrong.dtype = POSTLUDE_FLOAT64;
  REFUSED(postlude_weights_create(context, plan, &wrong, &weights), POSTLUDE_SHAPE_MISMATCH,
          "w is");
  EXPECT(weights == NULL);

  postlude_context* elsewhere = create_context(POSTLUDE_BACKEND_DEFAULT);
  REFUSED(postlude_weights_create(elsewhere, plan, &problem.w, &weights), invalid,
          "another context");
  EXPECT_SUCCESS(postlude_context_destroy(elsewhere));
}

static void test_use(postlude_backend backend) {
  postlude_weights* weights = prepare();
  const postlude_status invalid = POSTLUDE_INVALID_ARGUMENT;
  size_t bytes = 0;
  REFUSED(postlude_weights_size(NULL, &bytes), invalid, "weights is null");
  REFUSED(postlude_weights_size((postlude_weights*)plan, &bytes), invalid, "weights is not");
  REFUSED(postlude_weights_size(weights, NULL), invalid, "bytes is null");
  REFUSED(postlude_weights_refresh(NULL, &problem.w, NULL), invalid, "weights is null");
  REFUSED(postlude_weights_refresh(weights, NULL, NULL), invalid, "w is null");
  postlude_tensor wrong = problem.w;
  wrong.extent[1] = K - 1;
  REFUSED(postlude_weights_refresh(weights, &wrong, NULL), POSTLUDE_SHAPE_MISMATCH, "w is");

  /* The refused refresh has left the weights as they were. */
  poison();
  postlude_bindings bindings = bindings_with(weights);
  EXPECT_SUCCESS(postlude_execute(plan, &bindings, NULL));
  EXPECT(wrong_elements(1) == 0);

  poison();
  bindings.w.data = upload(context, host.w, sizeof host.w);
  REFUSED(postlude_execute(plan, &bindings, NULL), invalid, "stale");
  EXPECT_SUCCESS(postlude_free(context, bindings.w.data));

  postlude_problem smaller = problem;
  smaller.w.extent[0] = N - 1;
  postlude_plan* other_plan = plan_for(context, &smaller);
  postlude_weights* others = NULL;
  EXPECT_SUCCESS(postlude_weights_create(context, other_plan, &smaller.w, &others));
  bindings = bindings_with(others);
  REFUSED(postlude_execute(plan, &bindings, NULL), POSTLUDE_SHAPE_MISMATCH, "prepared_weights");
  EXPECT_SUCCESS(postlude_weights_destroy(others));
  EXPECT_SUCCESS(postlude_plan_destroy(other_plan));

  postlude_context* elsewhere = create_context(backend);
  postlude_plan* foreign_plan = plan_for(elsewhere, &problem);
  bindings = bindings_with(weights);
  REFUSED(postlude_execute(foreign_plan, &bindings, NULL), invalid, "another context");
  EXPECT_SUCCESS(postlude_plan_destroy(foreign_plan));
  EXPECT_SUCCESS(postlude_context_destroy(elsewhere));

  EXPECT_SUCCESS(postlude_weights_destroy(weights));
  bindings = bindings_with(weights);
  REFUSED(postlude_execute(plan, &bindings, NULL), invalid, "destroyed");
  REFUSED(postlude_weights_size(weights, &bytes), invalid, "destroyed");
  REFUSED(postlude_weights_refresh(weights, &problem.w, NULL), invalid, "destroyed");
  REFUSED(postlude_weights_destroy(weights), invalid, "destroyed");
  REFUSED(postlude_weights_destroy((postlude_weights*)plan), invalid, "weights");
  EXPECT_SUCCESS(postlude_weights_destroy(NULL));
  expect_untouched();
}

int main(int argc, char** argv) {
  const postlude_backend backend = backend_of_arguments(argc, argv);
  open_problem(backend);
  test_execution();
  test_creation();
  test_use(backend);
  EXPECT_SUCCESS(postlude_plan_destroy(plan));
  EXPECT_SUCCESS(postlude_free(context, x));
  EXPECT_SUCCESS(postlude_free(context, w));
  EXPECT_SUCCESS(postlude_free(context, memory));
  EXPECT_SUCCESS(postlude_context_destroy(context));
  return finish("c_weights");
}
