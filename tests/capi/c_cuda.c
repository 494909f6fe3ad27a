/* A host with CUDA of its own: its streams, its memory, its graphs, its current device. Needs a
 * GPU. */

#include <cuda_runtime_api.h>

#include <pthread.h>

#include "support.h"

static void require_cuda(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  exit(1);
}
#define CUDA(call) require_cuda((call), #call)

enum { rows = 96, columns = 80, depth = 64, elements = rows * columns };

/* x, w and bias of small multiples of 1/4, and the expected relu(y + bias). */
typedef struct problem_on_gpu {
  float* x;
  float* w;
  float* bias;
  float* out;
  void* workspace;
  size_t workspace_bytes;
  double* expected;
  postlude_plan* plan;
  postlude_operand_value value;
  postlude_tensor output;
  postlude_bindings bindings;
} problem_on_gpu;

static float* on_gpu(const float* values, size_t count) {
  void* memory = NULL;
  CUDA(cudaMalloc(&memory, count * sizeof(float)));
  CUDA(cudaMemcpy(memory, values, count * sizeof(float), cudaMemcpyHostToDevice));
  return memory;
}

static void open_problem(problem_on_gpu* self, postlude_context* context, int seed,
                         const char* expression) {
  static float x[rows * depth];
  static float w[columns * depth];
  static float bias[columns];
  for (int i = 0; i < rows * depth; ++i) x[i] = quarter(i + seed);
  for (int i = 0; i < columns * depth; ++i) w[i] = quarter(3 * i + 2 * seed);
  for (int i = 0; i < columns; ++i) bias[i] = quarter(5 * i + seed);
  self->expected = malloc(elements * sizeof(double));
  REQUIRE(self->expected != NULL);
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < columns; ++n) {
      double sum = (double)bias[n];
      for (int k = 0; k < depth; ++k) sum += (double)x[m * depth + k] * (double)w[n * depth + k];
      self->expected[m * columns + n] = fmax(sum, 0);
    }
  self->x = on_gpu(x, rows * depth);
  self->w = on_gpu(w, columns * depth);
  self->bias = on_gpu(bias, columns);
  CUDA(cudaMalloc((void**)&self->out, elements * sizeof(float)));

  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  problem.x = matrix_of(context, self->x, POSTLUDE_FLOAT32, rows, depth, POSTLUDE_ROW_MAJOR);
  problem.w = matrix_of(context, self->w, POSTLUDE_FLOAT32, columns, depth, POSTLUDE_ROW_MAJOR);
  postlude_operand operand = POSTLUDE_OPERAND_INIT;
  operand.name = "bias";
  REQUIRE(postlude_plan_create(context, &problem, expression, &operand, 1, NULL, &self->plan) ==
          POSTLUDE_SUCCESS);
  REQUIRE(postlude_plan_workspace_size(self->plan, &self->workspace_bytes) == POSTLUDE_SUCCESS);
  self->workspace = NULL;
  if (self->workspace_bytes > 0) CUDA(cudaMalloc(&self->workspace, self->workspace_bytes));
  self->value = (postlude_operand_value)POSTLUDE_OPERAND_VALUE_INIT;
  self->value.tensor = vector_of(context, self->bias, POSTLUDE_FLOAT32, columns);
  self->output = matrix_of(context, self->out, POSTLUDE_FLOAT32, rows, columns, POSTLUDE_ROW_MAJOR);
  self->bindings = (postlude_bindings)POSTLUDE_BINDINGS_INIT;
  self->bindings.x = problem.x;
  self->bindings.w = problem.w;
  self->bindings.operands = &self->value;
  self->bindings.operand_count = 1;
  self->bindings.outputs = &self->output;
  self->bindings.output_count = 1;
  self->bindings.workspace = self->workspace;
  self->bindings.workspace_bytes = self->workspace_bytes;
}

static void close_problem(problem_on_gpu* self) {
  EXPECT_SUCCESS(postlude_plan_destroy(self->plan));
  CUDA(cudaFree(self->x));
  CUDA(cudaFree(self->w));
  CUDA(cudaFree(self->bias));
  CUDA(cudaFree(self->out));
  CUDA(cudaFree(self->workspace));
  free(self->expected);
}

static void poison_output(const problem_on_gpu* self, cudaStream_t stream) {
  CUDA(cudaMemsetAsync(self->out, 0xff, elements * sizeof(float), stream));
}

/* Elements that are not as expected; waits for the stream. */
static int wrong_elements(const problem_on_gpu* self, cudaStream_t stream) {
  static __thread float found[elements];
  CUDA(cudaMemcpyAsync(found, self->out, sizeof found, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  int wrong = 0;
  for (int i = 0; i < elements; ++i) wrong += (double)found[i] != self->expected[i];
  return wrong;
}

static const char* const programs[] = {
    "relu(y + bias)",
    /* With an intermediate in the workspace, whose value is 0 where y is finite. */
    "relu(y + bias) + 0 * max(sum(y, dim=0) + sum(y, dim=1), 0)"};

/* On the stream given, and asynchronously: while another kernel of the host's holds the stream, the
 * call returns, and the result is not there yet. */
static void CUDART_CB wait_for_release(void* argument) {
  volatile int* released = argument;
  while (!__atomic_load_n(released, __ATOMIC_ACQUIRE)) {
  }
}

static void test_given_stream(postlude_context* context) {
  for (int program = 0; program < 2; ++program) {
    problem_on_gpu self;
    open_problem(&self, context, 1, programs[program]);
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    /* The first time an instance and a library handle are made for the stream. */
    EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, stream));
    CUDA(cudaStreamSynchronize(stream));
    static int released;
    __atomic_store_n(&released, 0, __ATOMIC_RELEASE);
    poison_output(&self, stream);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaLaunchHostFunc(stream, wait_for_release, &released));
    EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, stream));
    EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
    unsigned first = 0;
    cudaStream_t other;
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA(cudaMemcpyAsync(&first, self.out, sizeof first, cudaMemcpyDeviceToHost, other));
    CUDA(cudaStreamSynchronize(other));
    EXPECT(first == 0xffffffffu);
    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
    EXPECT(wrong_elements(&self, stream) == 0);
    CUDA(cudaStreamDestroy(other));
    CUDA(cudaStreamDestroy(stream));
    close_problem(&self);
  }
}

/* Captured once, replayed with other data: nothing was decided or allocated on the way. */
static void test_graph(postlude_context* context) {
  for (int program = 0; program < 2; ++program) {
    problem_on_gpu self;
    problem_on_gpu other;
    open_problem(&self, context, 2, programs[program]);
    open_problem(&other, context, 9, programs[program]);
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, stream));
    CUDA(cudaStreamSynchronize(stream));
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int replay = 0; replay < 3; ++replay) {
      poison_output(&self, stream);
      CUDA(cudaGraphLaunch(executable, stream));
      EXPECT(wrong_elements(&self, stream) == 0);
    }
    /* Other numbers in the same memory. */
    CUDA(cudaMemcpy(self.x, other.x, rows * depth * sizeof(float), cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy(self.w, other.w, columns * depth * sizeof(float), cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy(self.bias, other.bias, columns * sizeof(float), cudaMemcpyDeviceToDevice));
    double* const expected = self.expected;
    self.expected = other.expected;
    poison_output(&self, stream);
    CUDA(cudaGraphLaunch(executable, stream));
    EXPECT(wrong_elements(&self, stream) == 0);
    self.expected = expected;
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    close_problem(&self);
    close_problem(&other);
  }
}

/* A context on a stream of the host's, beside one on its own: both work, the host's stream is used,
 * and the host's current device is what it was. */
static void test_context_stream(postlude_context* context) {
  cudaStream_t stream;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  postlude_context_options options = POSTLUDE_CONTEXT_OPTIONS_INIT;
  options.backend = POSTLUDE_BACKEND_CUDA;
  options.stream = stream;
  postlude_context* given = NULL;
  REQUIRE(postlude_context_create(&options, &given) == POSTLUDE_SUCCESS);
  problem_on_gpu self;
  problem_on_gpu other;
  open_problem(&self, given, 3, programs[0]);
  open_problem(&other, context, 4, programs[1]);
  poison_output(&self, stream);
  EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, NULL));
  EXPECT_SUCCESS(postlude_execute(other.plan, &other.bindings, NULL));
  EXPECT(wrong_elements(&self, stream) == 0);
  EXPECT_SUCCESS(postlude_context_synchronize(context));
  EXPECT(wrong_elements(&other, stream) == 0);
  int device = -1;
  CUDA(cudaGetDevice(&device));
  EXPECT(device == 0);
  close_problem(&self);
  close_problem(&other);
  EXPECT_SUCCESS(postlude_context_destroy(given));
  CUDA(cudaStreamDestroy(stream));
}

typedef struct thread_work {
  problem_on_gpu problem;
  int wrong;
} thread_work;

/* Each thread with a stream, data and workspace of its own. */
static void* execute_in_thread(void* argument) {
  thread_work* work = argument;
  cudaStream_t stream;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < 50; ++i) {
    poison_output(&work->problem, stream);
    if (postlude_execute(work->problem.plan, &work->problem.bindings, stream) != POSTLUDE_SUCCESS)
      ++work->wrong;
    work->wrong += wrong_elements(&work->problem, stream);
  }
  CUDA(cudaStreamDestroy(stream));
  return NULL;
}

static void test_threads(postlude_context* context) {
  enum { count = 4 };
  static thread_work work[count];
  pthread_t threads[count];
  for (int i = 0; i < count; ++i) open_problem(&work[i].problem, context, 5 + i, programs[i % 2]);
  for (int i = 0; i < count; ++i)
    REQUIRE(pthread_create(&threads[i], NULL, execute_in_thread, &work[i]) == 0);
  for (int i = 0; i < count; ++i) REQUIRE(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < count; ++i) {
    EXPECT(work[i].wrong == 0);
    close_problem(&work[i].problem);
  }
}

/* Device memory that overlaps is refused. */
static void test_aliasing(postlude_context* context) {
  problem_on_gpu self;
  open_problem(&self, context, 6, programs[0]);
  poison_output(&self, 0);
  CUDA(cudaDeviceSynchronize());
  const postlude_tensor good = self.output;
  self.output.data = self.x;
  EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_OVERLAP);
  self.output.data = self.bias;
  EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_OVERLAP);
  self.output = good;
  self.output.stride[0] = columns / 2;
  EXPECT_STATUS(postlude_execute(self.plan, &self.bindings, NULL), POSTLUDE_OVERLAP);
  self.output = good;
  EXPECT_SUCCESS(postlude_execute(self.plan, &self.bindings, NULL));
  EXPECT_SUCCESS(postlude_context_synchronize(context));
  EXPECT(wrong_elements(&self, 0) == 0);
  close_problem(&self);
}

int main(void) {
  postlude_context* context = create_context(POSTLUDE_BACKEND_CUDA);
  test_given_stream(context);
  test_graph(context);
  test_context_stream(context);
  test_threads(context);
  test_aliasing(context);
  EXPECT_SUCCESS(postlude_context_destroy(context));
  return finish("c_cuda");
}
