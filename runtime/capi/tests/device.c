/* Sessions on a device, right and wrong; prints a line for each wrong answer. The model is
 * "chain(x: f32[n]) -> (y: f32[n], z: f32[n])". */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sutura.h"

static int failures = 0, cases = 0;

static void status_at(int line, sutura_status status, sutura_status expected, const char *words) {
  cases++;
  if (status == expected && (status == SUTURA_OK || strstr(sutura_last_error(), words))) return;
  failures++;
  printf("line %d: status %d instead of %d, '%s' instead of '%s'\n", line, status, expected, sutura_last_error(), words);
}

static void holds_at(int line, int condition, const char *what) {
  cases++;
  if (condition) return;
  failures++;
  printf("line %d: %s is not so\n", line, what);
}

#define FINE(call) status_at(__LINE__, call, SUTURA_OK, "")
#define USAGE(call, words) status_at(__LINE__, call, SUTURA_USAGE, words)
#define INPUT(call, words) status_at(__LINE__, call, SUTURA_INPUT, words)
#define UNSUPPORTED(call, words) status_at(__LINE__, call, SUTURA_UNSUPPORTED, words)
#define HOLDS(condition) holds_at(__LINE__, condition, #condition)

static void *odd(const void *pointer) { return (char *)pointer + 1; }

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  sutura_device *device = NULL, *second = NULL;
  FINE(sutura_device_open("cuda", &device));
  FINE(sutura_device_open("cuda:0", &second));
  if (device == NULL || second == NULL) return 3;
  HOLDS(sutura_device_name(device) != NULL && *sutura_device_name(device));
  sutura_options options = SUTURA_OPTIONS_INIT;
  sutura_model *model = NULL, *by_name = NULL, *rows = NULL;
  options.device = device, options.profile = 1;
  FINE(sutura_model_open_with(argv[1], &options, &model));
  UNSUPPORTED(sutura_model_open_with(argv[2], &options, &rows), "compiled for the processor");
  options.device = NULL, options.device_name = "cuda:0";
  FINE(sutura_model_open_with(argv[1], &options, &by_name));
  options.device_name = "cpu";
  UNSUPPORTED(sutura_model_open_with(argv[1], &options, &rows), "`cpu` is the processor");
  FINE(sutura_model_open_with(argv[2], &options, &rows));
  HOLDS(!strcmp(sutura_model_device(model), sutura_device_name(device)));

  sutura_session *session = NULL, *other = NULL;
  FINE(sutura_session_open(device, &session));
  FINE(sutura_session_open(device, &other));
  USAGE(sutura_session_open(device, NULL), "null pointer: session");
  USAGE(sutura_session_open(odd(device), &session), "misaligned pointer: device");
  sutura_device_close(device), device = NULL; /* models and sessions keep it */

  /* The results are those of a run on memory of the caller. */
  float x[70], y[70], z[70], back[70];
  for (int i = 0; i < 70; i++) x[i] = (float)i - 20.0f;
  int64_t dims[] = {70}, fewer[] = {69};
  sutura_tensor from = {SUTURA_F32, 1, dims, x}, host[2] = {{SUTURA_F32, 1, dims, y}, {SUTURA_F32, 1, dims, z}};
  sutura_tensor to = {SUTURA_F32, 1, dims, back};
  FINE(sutura_model_run(model, &from, 1, host, 2));
  sutura_device_tensor *in = NULL, *out[2] = {NULL, NULL}, *made[2] = {NULL, NULL}, *foreign = NULL, *small = NULL;
  FINE(sutura_session_upload(session, &from, &in));
  memset(x, 0, sizeof x); /* it was read */
  const sutura_device_tensor *ins[] = {in};
  FINE(sutura_session_run(session, model, ins, 1, out, 2));
  FINE(sutura_session_download(session, out[0], &to));
  HOLDS(!memcmp(back, y, sizeof y) && y[69] != y[0]);
  FINE(sutura_session_download(session, out[1], &to));
  HOLDS(!memcmp(back, z, sizeof z));
  FINE(sutura_session_tensor(session, SUTURA_F32, 1, dims, &made[0]));
  FINE(sutura_session_tensor(session, SUTURA_F32, 1, dims, &made[1]));
  FINE(sutura_session_run_into(session, model, ins, 1, made, 2));
  FINE(sutura_session_run_into(session, model, ins, 1, made, 2));
  FINE(sutura_session_synchronize(session));
  FINE(sutura_session_download(session, made[1], &to));
  HOLDS(!memcmp(back, z, sizeof z));
  FINE(sutura_session_copy(session, out[0], made[1]));
  FINE(sutura_session_download(session, made[1], &to));
  HOLDS(!memcmp(back, y, sizeof y));
  sutura_value value;
  FINE(sutura_device_tensor_describe(in, &value));
  HOLDS(value.name == NULL && value.element_type == SUTURA_F32 && value.rank == 1 && value.dims[0] == 70);
  sutura_profile *profile = NULL;
  FINE(sutura_model_profile(model, &profile));
  HOLDS(sutura_profile_count(profile) > 0);
  sutura_profile_free(profile);

  /* Wrong calls. */
  FINE(sutura_session_upload(other, &from, &foreign));
  FINE(sutura_session_tensor(session, SUTURA_F32, 1, fewer, &small));
  const sutura_device_tensor *foreign_in[] = {foreign}, *none[] = {NULL}, *odd_in[] = {odd(in)}, *y_in[] = {made[0]};
  sutura_device_tensor *new_out[2] = {NULL, NULL}, *twice[] = {made[0], made[0]}, *short_out[] = {small, made[1]};
  sutura_device_tensor *foreign_out[] = {foreign, made[1]}, *null_out[] = {made[0], NULL};
#define RUN(i, o) sutura_session_run(session, model, i, 1, o, 2)
#define INTO(i, o) sutura_session_run_into(session, model, i, 1, o, 2)
  USAGE(RUN(NULL, new_out), "null pointer: inputs");
  USAGE(RUN(odd(ins), new_out), "misaligned pointer: inputs");
  USAGE(RUN(none, new_out), "null pointer: input 0");
  USAGE(RUN(odd_in, new_out), "misaligned pointer: input 0");
  USAGE(RUN(ins, NULL), "null pointer: outputs");
  USAGE(sutura_session_run(session, model, ins, 2, new_out, 2), "the model has 1 input");
  USAGE(sutura_session_run(session, model, ins, 1, new_out, INT_MIN), "the model has 2 outputs");
  USAGE(sutura_session_run(session, NULL, ins, 1, new_out, 2), "null pointer: model");
  INPUT(RUN(foreign_in, new_out), "is of another session");
  INPUT(sutura_session_download(session, foreign, &to), "is of another session");
  INPUT(sutura_session_copy(session, foreign, made[0]), "is of another session");
  HOLDS(new_out[0] == NULL && new_out[1] == NULL);
  USAGE(INTO(ins, NULL), "null pointer: outputs");
  USAGE(INTO(NULL, made), "null pointer: inputs");
  USAGE(INTO(ins, null_out), "null pointer: output 1");
  USAGE(INTO(ins, twice), "output 1 is also output 0");
  USAGE(INTO(y_in, made), "output 0 is also input 0");
  USAGE(INTO(ins, short_out), "output `y` needs dims [70]");
  INPUT(INTO(ins, foreign_out), "is of another session");
  USAGE(sutura_session_copy(session, in, in), "a tensor is copied to itself");
  USAGE(sutura_session_copy(session, in, NULL), "null pointer: to");
  INPUT(sutura_session_copy(session, in, small), "is copied to");
  INPUT(sutura_session_run(session, rows, (const sutura_device_tensor *[]){in, in}, 2, new_out, 2), "has rank 1");
  sutura_session *on_second = NULL;
  FINE(sutura_session_open(second, &on_second));
  sutura_device_tensor *there = NULL;
  FINE(sutura_session_upload(on_second, &from, &there));
  const sutura_device_tensor *there_in[] = {there};
  USAGE(sutura_session_run(on_second, model, there_in, 1, new_out, 2), "Options::on");
  sutura_device_tensor_free(there), sutura_session_close(on_second), sutura_device_close(second);

  int32_t ranks[] = {-1, INT_MIN, INT_MAX, 65};
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
    sutura_tensor wrong = {SUTURA_F32, ranks[i], dims, x};
    INPUT(sutura_session_tensor(session, SUTURA_F32, ranks[i], dims, &small), "there is no tensor of rank");
    INPUT(sutura_session_upload(session, &wrong, &small), "there is no tensor of rank");
    INPUT(sutura_session_download(session, in, &wrong), "there is no tensor of rank");
  }
  int64_t negative[] = {-1}, huge[] = {INT64_MAX}, large[] = {INT64_C(1) << 60};
  INPUT(sutura_session_tensor(session, SUTURA_F32, 1, negative, &small), "negative");
  INPUT(sutura_session_tensor(session, SUTURA_F32, 1, huge, &small), "invalid tensor");
  HOLDS(sutura_session_tensor(session, SUTURA_F32, 1, large, &small) != SUTURA_OK);
  USAGE(sutura_session_tensor(session, 99, 1, dims, &small), "there is no element type 99");
  USAGE(sutura_session_tensor(session, SUTURA_F32, 1, NULL, &small), "null pointer: dims");
  USAGE(sutura_session_tensor(session, SUTURA_F32, 1, odd(dims), &small), "misaligned pointer: dims");
  USAGE(sutura_session_tensor(session, SUTURA_F32, 1, dims, NULL), "null pointer: tensor");
  sutura_tensor wrong = from;
  wrong.data = NULL;
  USAGE(sutura_session_upload(session, &wrong, &small), "null pointer: data of the tensor");
  wrong.data = odd(x);
  USAGE(sutura_session_upload(session, &wrong, &small), "misaligned pointer: data of the tensor");
  USAGE(sutura_session_download(session, in, &wrong), "misaligned pointer: data of the buffer");
  wrong = from, wrong.dims = huge;
  INPUT(sutura_session_upload(session, &wrong, &small), "invalid tensor");
  wrong.dims = fewer;
  INPUT(sutura_session_download(session, in, &wrong), "the tensor is f32[70], but the buffer for it is f32[69]");
  wrong = from, wrong.element_type = SUTURA_I32;
  INPUT(sutura_session_download(session, in, &wrong), "the buffer for it is i32[70]");
  USAGE(sutura_session_upload(session, NULL, &small), "null pointer: from");
  USAGE(sutura_session_upload(session, &from, NULL), "null pointer: to");
  USAGE(sutura_session_download(session, NULL, &to), "null pointer: from");
  USAGE(sutura_session_download(session, in, NULL), "null pointer: to");
  USAGE(sutura_device_tensor_describe(in, NULL), "null pointer: value");
  FINE(sutura_session_run(session, model, ins, 1, new_out, 2));

  /* Tensors may outlive their session. */
  sutura_model_close(model), sutura_model_close(by_name), sutura_model_close(rows);
  sutura_session_close(session);
  FINE(sutura_device_tensor_describe(in, &value));
  for (int i = 0; i < 2; i++)
    sutura_device_tensor_free(out[i]), sutura_device_tensor_free(made[i]), sutura_device_tensor_free(new_out[i]);
  sutura_device_tensor_free(in), sutura_device_tensor_free(foreign), sutura_device_tensor_free(small);
  sutura_session_close(other);
  printf("%d of %d wrong\n", failures, cases);
  return failures != 0;
}
