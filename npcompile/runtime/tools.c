/* Is a debugger, profiler or coverage tool at work? Then the original function runs, so that the tool sees every line.
   `sys.settrace` and `sys.setprofile` are seen in the thread state. A tool of `sys.monitoring` (3.12 on) shows nowhere in
   public, but it registers callbacks, which is an audited event: an audit hook notes it, and from then on every call asks
   until no tool is left. */
#include "runtime.h"

#if PY_VERSION_HEX >= 0x030C0000
#define N_TOOLS 6

int npc_monitored = 1; /* a tool may be in use; the first call asks for those that were there before us */
static PyObject *get_tool, *get_events, *get_local_events;

static int note(const char *event, PyObject *Py_UNUSED(args), void *Py_UNUSED(data)) {
  if (event[0] == 's' && !strcmp(event, "sys.monitoring.register_callback")) npc_monitored = 1;
  return 0;
}

/* 1 or 0; -1 with an exception. */
static int has_events(PyObject *function, PyObject *tool, PyObject *code) {
  PyObject *r = PyObject_CallFunctionObjArgs(function, tool, code, NULL);
  int has = r ? PyObject_IsTrue(r) : -1;
  Py_XDECREF(r);
  return has;
}

static int tool_wants(PyObject *code, int *used) {
  *used = 0;
  for (int i = 0; i < N_TOOLS; i++) {
    PyObject *tool = PyLong_FromLong(i), *name = tool ? PyObject_CallOneArg(get_tool, tool) : NULL;
    int wants = name ? 0 : -1;
    if (name && name != Py_None) {
      *used = 1;
      wants = has_events(get_events, tool, NULL);
      if (!wants) wants = has_events(get_local_events, tool, code);
    }
    Py_XDECREF(name);
    Py_XDECREF(tool);
    if (wants) return wants;
  }
  return 0;
}

/* Does a tool watch this code object? What fails counts as yes: the original function is always right. */
int npc_tool_watches(PyObject *code) {
  int used, wants;
  npc_monitored = 0; /* before asking: another thread may register meanwhile */
  wants = tool_wants(code, &used);
  if (wants || used) npc_monitored = 1;
  if (wants < 0) PyErr_Clear();
  return wants != 0;
}

int npc_tools_init(void) {
  PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
  if (!monitoring) return PyErr_SetString(PyExc_ImportError, "sys.monitoring is missing"), -1;
  get_tool = PyObject_GetAttrString(monitoring, "get_tool");
  get_events = PyObject_GetAttrString(monitoring, "get_events");
  get_local_events = PyObject_GetAttrString(monitoring, "get_local_events");
  if (!get_tool || !get_events || !get_local_events) return -1;
  return PySys_AddAuditHook(note, NULL);
}
#else
int npc_tools_init(void) { return 0; }
#endif
