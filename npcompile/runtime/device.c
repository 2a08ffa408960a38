/* Kernels on a device: launches and copies of one call. The driver library is opened when it is first needed; a kernel that
   has no machine code yet is asked of the entry's `launcher`, a Python object, once for each variant. */
#include "runtime.h"
#include <dlfcn.h>

typedef struct { unsigned grid[3], block[3], shared; void *stream, *attributes; unsigned n_attributes; } LaunchConfig;

static struct {
  int (*cuInit)(unsigned);
  int (*cuCtxGetDevice)(int *);
  int (*cuCtxGetCurrent)(void **context);
  int (*cuCtxSetCurrent)(void *context);
  int (*cuCtxPushCurrent)(void *context);
  int (*cuCtxPopCurrent)(void **context);
  int (*cuDeviceGet)(int *, int number);
  int (*cuDevicePrimaryCtxRetain)(void **context, int device);
  int (*cuDeviceGetAttribute)(int *, int attribute, int device);
  int (*cuGetErrorString)(int, const char **);
  int (*cuModuleLoadData)(void **module, const void *image);
  int (*cuModuleGetFunction)(void **function, void *module, const char *name);
  int (*cuFuncSetAttribute)(void *function, int attribute, int value);
  int (*cuLaunchKernelEx)(const LaunchConfig *, void *function, void **params, void **extra);
  int (*cuMemcpyDtoHAsync)(void *, uint64_t, size_t, void *stream);
  int (*cuMemcpyHtoDAsync)(uint64_t, const void *, size_t, void *stream);
  int (*cuStreamSynchronize)(void *stream);
  int (*cuDeviceGetCount)(int *);
  int (*cuMemPoolCreate)(void **pool, const void *properties);
  int (*cuMemPoolSetAttribute)(void *pool, int attribute, void *value);
  int (*cuMemAllocFromPoolAsync)(uint64_t *, size_t, void *pool, void *stream);
  int (*cuMemFreeAsync)(uint64_t, void *stream);
} cuda;
static int cuda_ready;

static int cuda_open(void) {
  if (cuda_ready) return 0;
  void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!h) return PyErr_SetString(PyExc_RuntimeError, "no CUDA driver: libcuda.so.1 cannot be loaded"), -1;
  static const char *names[] = {
      "cuInit", "cuCtxGetDevice", "cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuDeviceGet",
      "cuDevicePrimaryCtxRetain", "cuDeviceGetAttribute", "cuGetErrorString", "cuModuleLoadData", "cuModuleGetFunction",
      "cuFuncSetAttribute", "cuLaunchKernelEx", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize", "cuDeviceGetCount",
      "cuMemPoolCreate", "cuMemPoolSetAttribute", "cuMemAllocFromPoolAsync", "cuMemFreeAsync"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!(((void **)&cuda)[i] = dlsym(h, names[i]))) return PyErr_Format(PyExc_RuntimeError, "the CUDA driver has no %s", names[i]), -1;
  int code = cuda.cuInit(0);
  if (code) return PyErr_Format(PyExc_RuntimeError, "no CUDA device: the driver says %d", code), -1;
  cuda_ready = 1;
  return 0;
}

static int check(int code, const char *what) {
  if (NPC_LIKELY(code == 0)) return 0;
  const char *text = "unknown error";
  cuda.cuGetErrorString(code, &text);
  PyErr_Format(PyExc_RuntimeError, "CUDA: %s: %s", what, text);
  return -1;
}

/* ------------------------------------------------------------------------------------------------ one call */

static void *primary_contexts[64]; /* by device number; retained for ever, as the libraries do */

/* A thread that has not used a device yet gets the one of the call. One that is on another device gets it for the while of the call. */
static int enter_context(npc_ctx *ctx) {
  void *context = NULL, **primary;
  int want = ctx->entry->device, have, device;
  if (check(cuda.cuCtxGetCurrent(&context), "finding the current context")) return -1;
  if (context && !check(cuda.cuCtxGetDevice(&have), "finding the current device") && have == want) return 0;
  if (want < 0 || want >= 64) return PyErr_Format(PyExc_RuntimeError, "CUDA device %d", want), -1;
  primary = &primary_contexts[want];
  if (!*primary && (check(cuda.cuDeviceGet(&device, want), "finding a device") ||
                    check(cuda.cuDevicePrimaryCtxRetain(primary, device), "finding a device's context")))
    return -1;
  if (!context) return check(cuda.cuCtxSetCurrent(*primary), "entering a device's context");
  if (check(cuda.cuCtxPushCurrent(*primary), "entering a device's context")) return -1;
  ctx->pushed = 1;
  return 0;
}

/* The current stream of the caller's library; asked once a call. Nothing to find for kernels that run in the interpreter. */
int npc_device_enter(npc_ctx *ctx) {
  if (ctx->has_stream || !ctx->entry->stream) return 0;
  if (cuda_open() || enter_context(ctx)) return -1;
  PyObject *s = PyObject_CallNoArgs(ctx->entry->stream);
  if (!s) return -1;
  ctx->stream = PyLong_AsVoidPtr(s);
  Py_DECREF(s);
  if (!ctx->stream && PyErr_Occurred()) return -1;
  ctx->has_stream = 1;
  return 0;
}

void npc_device_leave(npc_ctx *ctx) {
  void *context;
  if (ctx->pushed) cuda.cuCtxPopCurrent(&context);
  ctx->pushed = 0;
}

static DeviceVariant *find_variant(Entry *e, npc_i64 k, npc_i64 variant) {
  for (DeviceVariant *v = e->variants; v; v = v->next)
    if (v->kernel == k && v->variant == variant) return v;
  return NULL;
}

/* The launcher has either run the kernel (None) or says what to launch: (function, threads, shared bytes, hidden arguments). */
static DeviceVariant *make_variant(npc_ctx *ctx, npc_i64 k, npc_i64 variant, const npc_i64 *grid, npc_i64 n, const npc_i64 *args, int *done) {
  Entry *e = ctx->entry;
  if (!e->launcher) return PyErr_SetString(PyExc_SystemError, "segment launches a kernel without a launcher"), NULL;
  PyObject *words = PyTuple_New(n);
  for (npc_i64 i = 0; words && i < n; i++) {
    PyObject *w = PyLong_FromLongLong(args[i]);
    if (w) PyTuple_SET_ITEM(words, i, w);
    else Py_CLEAR(words);
  }
  PyObject *r = words ? PyObject_CallFunction(e->launcher, "LLLLO", k, variant, grid[0], grid[1], words) : NULL;
  Py_XDECREF(words);
  if (!r) return NULL;
  if (r == Py_None) {
    Py_DECREF(r);
    *done = 1;
    return NULL;
  }
  DeviceVariant *v = PyMem_Calloc(1, sizeof *v);
  PyObject *f;
  if (!v || !PyArg_ParseTuple(r, "Oiii", &f, &v->threads, &v->shared, &v->hidden)) {
    if (!v) PyErr_NoMemory();
    PyMem_Free(v);
    Py_DECREF(r);
    return NULL;
  }
  v->function = PyLong_AsVoidPtr(f);
  v->kernel = k, v->variant = variant;
  Py_DECREF(r);
  v->next = e->variants;
  e->variants = v;
  return v;
}

npc_i64 npc_launch(npc_ctx *ctx, npc_i64 k, npc_i64 variant, const npc_i64 *grid, npc_i64 n, const npc_i64 *args) {
  Entry *e = ctx->entry;
  int done = 0;
  if (ctx->trial < 0 || npc_device_enter(ctx)) return -1;
  DeviceVariant *v = find_variant(e, k, variant);
  if (NPC_UNLIKELY(!v) && e->stream && !ctx->trial && !ctx->tried) {
    ctx->tried = 1;
    if (npc_try_kernels(ctx)) return -1;
    v = find_variant(e, k, variant);
  }
  if (NPC_UNLIKELY(!v) && !(v = make_variant(ctx, k, variant, grid, n, args, &done))) {
    if (grid[2] && done) ctx->stored = 1;
    return done ? 0 : (ctx->broken = 1, -1);
  }
  if (ctx->trial) return --ctx->trial ? 0 : (ctx->trial = -1);
  if (grid[2] && !e->n_copies) ctx->stored = 1;
  void *inline_params[64], **params = inline_params;
  npc_i64 zero = 0;
  if (n + v->hidden > 64 && !(params = PyMem_Malloc((n + v->hidden) * sizeof *params))) return PyErr_NoMemory(), -1;
  for (npc_i64 i = 0; i < n; i++) params[i] = (void *)&args[i];
  for (int i = 0; i < v->hidden; i++) params[n + i] = &zero;
  LaunchConfig c = {{(unsigned)grid[0], (unsigned)grid[1], 1}, {(unsigned)v->threads, 1, 1}, (unsigned)v->shared, ctx->stream, NULL, 0};
  int code = cuda.cuLaunchKernelEx(&c, v->function, params, NULL);
  if (params != inline_params) PyMem_Free(params);
  return check(code, "launch of a kernel");
}

static npc_i64 copy(npc_ctx *ctx, int to_host, void *host, uint64_t device, npc_i64 bytes) {
  if (ctx->trial) return ctx->trial = -1; /* there is nothing to copy */
  if (!ctx->entry->stream) {
    if (to_host) memcpy(host, (void *)device, bytes);
    else memcpy((void *)device, host, bytes);
    return 0;
  }
  if (npc_device_enter(ctx)) return -1;
  int code = to_host ? cuda.cuMemcpyDtoHAsync(host, device, bytes, ctx->stream) : cuda.cuMemcpyHtoDAsync(device, host, bytes, ctx->stream);
  if (!code) {
    Py_BEGIN_ALLOW_THREADS
    code = cuda.cuStreamSynchronize(ctx->stream);
    Py_END_ALLOW_THREADS
  }
  return check(code, "copy");
}

npc_i64 npc_fetch(npc_ctx *ctx, void *host, const void *device, npc_i64 bytes) { return copy(ctx, 1, host, (uint64_t)device, bytes); }
npc_i64 npc_put(npc_ctx *ctx, void *device, const void *host, npc_i64 bytes) {
  if (!ctx->trial && !ctx->entry->n_copies) ctx->stored = 1;
  return copy(ctx, 0, (void *)host, (uint64_t)device, bytes);
}

/* Memory for arrays that no library owns, from a pool of our own on each device, in order of the default stream. */
void *npc_device_alloc(npc_ctx *ctx, npc_i64 bytes) {
  static void *pools[64];
  uint64_t p = 0, keep = UINT64_MAX;
  if (npc_device_enter(ctx)) return NULL;
  void **pool = &pools[ctx->entry->device];
  if (!*pool) {
    int32_t properties[32] = {1, 0, 1, ctx->entry->device}; /* pinned (ordinary) memory, no handles, on a device, its number */
    if (check(cuda.cuMemPoolCreate(pool, properties), "making a memory pool")) return NULL;
    cuda.cuMemPoolSetAttribute(*pool, 4, &keep); /* CU_MEMPOOL_ATTR_RELEASE_THRESHOLD */
  }
  return check(cuda.cuMemAllocFromPoolAsync(&p, bytes, *pool, ctx->stream), "allocating memory") ? NULL : (void *)p;
}

void npc_device_free(void *p) { cuda.cuMemFreeAsync((uint64_t)p, NULL); }

void npc_free_variants(Entry *e) {
  for (DeviceVariant *v = e->variants, *next; v; v = next) {
    next = v->next;
    PyMem_Free(v);
  }
}

/* ------------------------------------------------------------------------------------------------ Python side */

#define MAX_DYNAMIC_SHARED 8 /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */

static PyObject *device_load(PyObject *Py_UNUSED(module), PyObject *args) {
  const char *image, *name;
  Py_ssize_t size;
  int shared;
  void *m = NULL, *f = NULL;
  if (!PyArg_ParseTuple(args, "y#si", &image, &size, &name, &shared) || cuda_open()) return NULL;
  if (check(cuda.cuModuleLoadData(&m, image), "loading a kernel") || check(cuda.cuModuleGetFunction(&f, m, name), "finding a kernel"))
    return NULL;
  if (shared > 48 << 10 && check(cuda.cuFuncSetAttribute(f, MAX_DYNAMIC_SHARED, shared), "shared memory of a kernel")) return NULL;
  return PyLong_FromVoidPtr(f);
}

static PyObject *device_capability(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
  int device, major = 0, minor = 0; /* attributes 75 and 76 of cuDeviceGetAttribute */
  if (cuda_open() || check(cuda.cuCtxGetDevice(&device), "finding the current device") ||
      check(cuda.cuDeviceGetAttribute(&major, 75, device), "compute capability") ||
      check(cuda.cuDeviceGetAttribute(&minor, 76, device), "compute capability"))
    return NULL;
  return PyLong_FromLong(10 * major + minor);
}

static PyObject *device_count(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored)) {
  int n = 0;
  if (cuda_open() || check(cuda.cuDeviceGetCount(&n), "counting devices")) return NULL;
  return PyLong_FromLong(n);
}

static PyMethodDef methods[] = {
    {"device_count", device_count, METH_NOARGS, "Number of CUDA devices; RuntimeError when there is no driver or no device."},
    {"device_capability", device_capability, METH_NOARGS, "Ten times the compute capability of the device of the current CUDA context."},
    {"device_load", device_load, METH_VARARGS, "device_load(cubin, name, shared) -> function handle, in the current CUDA context."},
    {NULL, NULL, 0, NULL}};

int npc_device_init(PyObject *module) { return PyModule_AddFunctions(module, methods); }
