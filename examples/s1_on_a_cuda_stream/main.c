/* S1 on a stream of the program's own: min(x w^T + bias, c) - c for arrays in GPU memory, launched
 * asynchronously, then captured into a CUDA graph and replayed. */

#include <cuda_runtime_api.h>
#include <postlude.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void require(postlude_status status) {
  if (status == POSTLUDE_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", postlude_status_name(status), postlude_last_error_message());
  exit(1);
}

static void require_cuda(cudaError_t result) {
  if (result == cudaSuccess) return;
  fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(result));
  exit(1);
}

enum { M = 3, K = 2, N = 4 };

static postlude_tensor device_matrix(void* data, int64_t rows, int64_t columns) {
  postlude_tensor tensor;
  require(postlude_tensor_matrix(&tensor, data, POSTLUDE_FLOAT32, rows, columns, POSTLUDE_ROW_MAJOR,
                                 POSTLUDE_DEVICE));
  return tensor;
}

static void* to_device(const float* values, size_t bytes) {
  void* memory;
  require_cuda(cudaMalloc(&memory, bytes));
  require_cuda(cudaMemcpy(memory, values, bytes, cudaMemcpyHostToDevice));
  return memory;
}

int main(void) {
  const float x[M * K] = {1, 2, 3, 4, 5, 6};
  const float w[N * K] = {1, 2, 0.5f, -1, 0, 1, -1, 0};
  const float bias[N] = {0.5f, 0, -2, 1};
  const double c = 2;
  float out[M * N];

  cudaStream_t stream;
  require_cuda(cudaStreamCreate(&stream));
  void* x_memory = to_device(x, sizeof x);
  void* w_memory = to_device(w, sizeof w);
  void* bias_memory = to_device(bias, sizeof bias);
  void* out_memory = to_device(out, sizeof out);

  postlude_context_options options = POSTLUDE_CONTEXT_OPTIONS_INIT;
  options.backend = POSTLUDE_BACKEND_CUDA;
  options.stream = stream;
  postlude_context* context;
  require(postlude_context_create(&options, &context));

  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  problem.x = device_matrix(x_memory, M, K);
  problem.w = device_matrix(w_memory, N, K);
  const postlude_operand operands[] = {{sizeof(postlude_operand), "bias", POSTLUDE_ROW, 0},
                                       {sizeof(postlude_operand), "c", POSTLUDE_SCALAR, 0}};
  postlude_plan* plan;
  require(
      postlude_plan_create(context, &problem, "min(y + bias, c) - c", operands, 2, NULL, &plan));

  postlude_operand_value values[] = {POSTLUDE_OPERAND_VALUE_INIT, POSTLUDE_OPERAND_VALUE_INIT};
  values[0].tensor = device_matrix(bias_memory, 1, N);
  values[1].scalar = c;
  const postlude_tensor output = device_matrix(out_memory, M, N);
  postlude_bindings bindings = POSTLUDE_BINDINGS_INIT;
  bindings.x = problem.x;
  bindings.w = problem.w;
  bindings.operands = values;
  bindings.operand_count = 2;
  bindings.outputs = &output;
  bindings.output_count = 1;
  /* Workspace of our own, where a plan needs any: the library then allocates nothing. */
  void* workspace = NULL;
  require(postlude_plan_workspace_size(plan, &bindings.workspace_bytes));
  if (bindings.workspace_bytes > 0) require_cuda(cudaMalloc(&workspace, bindings.workspace_bytes));
  bindings.workspace = workspace;

  require(postlude_execute(plan, &bindings, NULL)); /* on the context's stream; returns at once */

  cudaGraph_t graph;
  cudaGraphExec_t replay;
  require_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  require(postlude_execute(plan, &bindings, NULL));
  require_cuda(cudaStreamEndCapture(stream, &graph));
  require_cuda(cudaGraphInstantiate(&replay, graph, 0));
  require_cuda(cudaMemsetAsync(out_memory, 0xff, sizeof out, stream));
  require_cuda(cudaGraphLaunch(replay, stream));
  require_cuda(cudaMemcpyAsync(out, out_memory, sizeof out, cudaMemcpyDeviceToHost, stream));
  require_cuda(cudaStreamSynchronize(stream));

  int wrong = 0;
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      double y = 0;
      for (int k = 0; k < K; ++k) y += (double)x[m * K + k] * (double)w[n * K + k];
      const double expected = fmin(y + (double)bias[n], c) - c;
      printf("%8.3f", (double)out[m * N + n]);
      if (!(fabs((double)out[m * N + n] - expected) <= 1e-6)) ++wrong;
    }
    printf("\n");
  }

  require_cuda(cudaGraphExecDestroy(replay));
  require_cuda(cudaGraphDestroy(graph));
  require(postlude_plan_destroy(plan));
  require(postlude_context_destroy(context));
  require_cuda(cudaFree(x_memory));
  require_cuda(cudaFree(w_memory));
  require_cuda(cudaFree(bias_memory));
  require_cuda(cudaFree(out_memory));
  require_cuda(cudaFree(workspace));
  require_cuda(cudaStreamDestroy(stream));
  if (wrong != 0) fprintf(stderr, "%d elements are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
