/* Calls the library of a perceptron in right and wrong ways. */
#include "m.h"

#include <stdio.h>
#include <string.h>

static float x[3 * 64], y[512];

static void show(const char *what, int status) {
  if (status == 0)
    printf("%s: ok\n", what);
  else
    printf("%s: %d %s\n", what, status, m_last_error());
}

int main(void) {
  int64_t in[2] = {3, 64}, out[2] = {0, 0};
  size_t needed = 0;
  static char space[1 << 16];
  for (int i = 0; i < 3 * 64; i++) x[i] = (float)(i % 13) * 0.1f - 0.5f;
  show("dims", m_output_dims(in, out));
  printf("[%d, %d]\n", (int)out[0], (int)out[1]);
  show("run", m_run(x, in, y, out, NULL, 0));
  float sum = 0;
  for (int i = 0; i < 30; i++) sum += y[i];
  printf("sums to %.3f\n", sum);
  show("workspace", m_workspace_bytes(in, &needed));
  show("given", m_run(x, in, y, out, space + 1, needed));
  show("more", m_run(x, in, y, out, space + 1, needed + 1000));
  show("few", m_run(x, in, y, out, space, needed - 1));
  show("no address", m_run(x, in, y, out, NULL, needed));
  show("workspace is output", m_run(x, in, y, out, y, 1 << 16));
  show("workspace is input", m_run(x, in, y, out, x, 1 << 16));
  show("no bytes", m_workspace_bytes(in, NULL));
  show("no input", m_run(NULL, in, y, out, NULL, 0));
  show("no output", m_run(x, in, NULL, out, NULL, 0));
  show("no input dims", m_run(x, NULL, y, out, NULL, 0));
  show("no output dims", m_run(x, in, y, NULL, NULL, 0));
  show("no dims to infer", m_output_dims(in, NULL));
  show("misaligned input", m_run((float *)(void *)((char *)x + 2), in, y, out, NULL, 0));
  show("misaligned output", m_run(x, in, (float *)(void *)((char *)y + 1), out, NULL, 0));
  show("overlap", m_run(x, in, x + 191, out, NULL, 0));
  in[1] = 65;
  show("columns", m_run(x, in, y, out, NULL, 0));
  in[1] = 64, out[0] = 4;
  show("rows of the output", m_run(x, in, y, out, NULL, 0));
  in[0] = -1;
  show("negative", m_output_dims(in, out));
  in[0] = INT64_MAX;
  show("huge", m_output_dims(in, out));
  in[0] = (int64_t)1 << 31;
  show("many", m_workspace_bytes(in, &needed));
  in[0] = 0, out[0] = 0;
  show("empty", m_run(NULL, in, NULL, out, NULL, 0));
  return 0;
}
