/* A hand-written host.so for the tests: y = x * scale + bias - sum of the row, and the sums, for x: f32[rows, cols].
 *
 * The sums go through the workspace, so two kernels run one after the other. Macros make it misbehave:
 *   TEST_ABI=n       another interface version          TEST_NO_RUN    no sutura_run
 *   TEST_FAIL=n      sutura_run returns n               TEST_ROUTINE   calls the routine "twice" on y
 *   TEST_BAD_OUTPUT  a wrong output dim                 TEST_BAD_CHECK returns a check that is not in the manifest
 *   TEST_NO_CHECKS   accepts everything                 TEST_BAD_WORKSPACE  a negative size
 *   TEST_INTERFACE=s  generated for other arrays
 *   TEST_BEYOND     reads behind the buffer of x
 */
#include "sutura_abi.h"

#ifndef TEST_ABI
#define TEST_ABI SUTURA_ABI_VERSION
#endif

uint32_t sutura_abi_version(void) { return TEST_ABI; }

#ifndef TEST_INTERFACE
#define TEST_INTERFACE                                                                                              \
  "symbols 2; inputs f32[s0,s1] f32[s1]; outputs f32[s0,s1] f32[s0]; constants f32[1]; checks 3; data_checks 2; "   \
  "kernels - -"
#endif

const char sutura_interface[] = TEST_INTERFACE;

/* Inputs: x[rows, cols], bias[cols]. */
int32_t sutura_shapes(const int64_t *input_dims, int64_t *symbols, int64_t *output_dims, int64_t *workspace_bytes,
                      int64_t *detail) {
  int64_t rows = input_dims[0], cols = input_dims[1];
#ifndef TEST_NO_CHECKS
  if (cols != input_dims[2]) {
    detail[0] = input_dims[2];
    detail[1] = cols;
    return 1;
  }
  if (rows > 5000) {
    detail[0] = rows;
    detail[1] = 5000;
    return 2;
  }
  if (cols % 2 != 0 && cols > 100) {
    detail[0] = cols;
    detail[1] = 2;
    return 3;
  }
#endif
#ifdef TEST_BAD_CHECK
  return 17;
#endif
  symbols[0] = rows;
  symbols[1] = cols;
  output_dims[0] = rows;
  output_dims[1] = cols;
  output_dims[2] = rows;
#ifdef TEST_BAD_OUTPUT
  output_dims[1] = cols + 1;
#endif
  *workspace_bytes = rows * (int64_t)sizeof(float);
#ifdef TEST_BAD_WORKSPACE
  *workspace_bytes = -1;
#endif
  return 0;
}

static void row_sums(void *const *bufs, const int64_t *dims, int64_t begin, int64_t end) {
  const float *x = bufs[0];
  float *sums = bufs[1];
  for (int64_t row = begin; row < end; row++) {
    float sum = 0;
#ifdef TEST_BEYOND
    sum = x[1000 * dims[1]] * 0;
#endif
    for (int64_t col = 0; col < dims[1]; col++) sum += x[row * dims[1] + col];
    sums[row] = sum;
  }
}

static void finish(void *const *bufs, const int64_t *dims, int64_t begin, int64_t end) {
  const float *x = bufs[0], *bias = bufs[1], *scale = bufs[2], *sums = bufs[3];
  float *y = bufs[4], *out = bufs[5];
  for (int64_t row = begin; row < end; row++) {
    out[row] = sums[row];
    for (int64_t col = 0; col < dims[1]; col++) {
      int64_t at = row * dims[1] + col;
      y[at] = x[at] * scale[0] + bias[col] - sums[row];
    }
  }
}

#ifdef TEST_REPORT
/* Finds that the data of every other row is wrong. */
static void check(void *const *bufs, const int64_t *dims, int64_t begin, int64_t end) {
  const SuturaRt *rt = bufs[0];
  for (int64_t row = begin; row < end; row++)
#ifdef TEST_NOWHERE
    if (row % 2) rt->report(rt->ctx, TEST_REPORT, -1, 0, 0);
#else
    if (row % 2) rt->report(rt->ctx, TEST_REPORT, row, row + 40, dims[0]);
#endif
}
#endif

static int aligned(const void *p) { return (uintptr_t)p % SUTURA_ALIGNMENT == 0; }

#ifndef TEST_NO_RUN
int32_t sutura_run(const SuturaRt *rt, const int64_t *symbols, const void *const *inputs, void *const *outputs,
                   const void *const *constants, void *workspace) {
  if (rt->abi != SUTURA_ABI_VERSION || rt->reported != 0) return 101;
  for (int i = 0; i < 2; i++)
    if (!aligned(inputs[i]) || !aligned(outputs[i])) return 102;
  if (!aligned(constants[0]) || !aligned(workspace)) return 103;
#ifdef TEST_FAIL
  return TEST_FAIL;
#endif
#ifdef TEST_REPORT
  void *table[] = {(void *)rt};
  rt->parallel_for(rt->ctx, check, table, symbols, symbols[0], 1);
#endif
  void *first[] = {(void *)inputs[0], workspace};
  rt->parallel_for(rt->ctx, row_sums, first, symbols, symbols[0], 8);
  void *second[] = {(void *)inputs[0], (void *)inputs[1], (void *)constants[0], workspace, outputs[0], outputs[1]};
  rt->parallel_for(rt->ctx, finish, second, symbols, symbols[0], 8);
#ifdef TEST_ROUTINE
  return rt->call(rt->ctx, "twice", outputs, symbols, 1, 2);
#endif
  return 0;
}
#endif
