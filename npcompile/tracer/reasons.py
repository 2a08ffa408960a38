"""Registry of reasons: why code was not compiled. Each id has an explanation and a hint, both shown by `explain`.

Ids are stable: tests, logs and documentation refer to them.
"""

from __future__ import annotations

from npcompile.bytecode.stubs import REFUSALS
from npcompile.records import dataclass


@dataclass(frozen=True)
class Reason:
    """What happened, in one sentence, and what the user can do about it."""

    explanation: str
    hint: str


_NATIVE = "Python runs this step, compiled code goes on after it; in a hot loop, better keep it out."

REASONS: dict[str, Reason] = {
    # -- values and types
    "operand": Reason(
        "An operand is of a type that is not compiled.",
        "Use numbers and arrays of bool, integer, float or complex dtype in native byte order, no subclasses.",
    ),
    "opaque-object": Reason("An object of a type that is not modelled is used.", "Pass its arrays and numbers as arguments."),
    "dtype": Reason("This dtype is not compiled.", "Convert to bool, an integer, float or complex dtype first."),
    "static-value": Reason(
        "A value that must be known when compiling (an axis, a dtype, a flag) is computed at run time.",
        "Pass it as an argument or write it as a constant.",
    ),
    "lazy-input": Reason("An input cannot be looked at here.", _NATIVE),
    "big-int": Reason("A Python int does not fit in 64 bits.", "Use smaller integers or floats."),
    "big-size": Reason("An array of more than 2**31 elements is made.", "None needed: NumPy makes it, compiled code goes on."),
    "int-overflow": Reason("A Python int left the 64-bit range at run time.", "Use smaller integers or floats."),
    "signal": Reason("A signal such as Ctrl-C waits to be handled.", "None needed: the loop goes on when the handler returns."),
    "unbound": Reason("A variable may be unbound here.", "Assign it on every path."),
    "undefined-name": Reason("A global name is not defined.", "Define or import it."),
    # -- arithmetic
    "zero-division": Reason("A Python number was divided by zero: Python raises the error.", "Check the divisor."),
    "math-domain": Reason("A math function left its domain: Python raises the error.", "Check the argument."),
    "number-op": Reason("This operation on Python numbers is not compiled.", _NATIVE),
    "negative-shift": Reason("A shift count is negative: Python raises the error.", "Check the count."),
    "float-to-int": Reason("A float that is converted to int is not finite or beyond 64 bits.", "Check the value."),
    "complex-to-real": Reason("A complex value is cast to a real one, which warns.", "Take .real or .imag explicitly."),
    # -- arrays
    "read-only": Reason("A read-only array is stored to.", "Copy it first."),
    "self-overlap": Reason("An array is stored to whose elements may share memory.", "Store to the array that it is a view of."),
    "overlap-order": Reason(
        "A vector is assigned with a cast or a mask to one that it may overlap: elements may be read after they were written.",
        "Copy it first.",
    ),
    "shape-mismatch": Reason("Shapes do not match; NumPy raises the error.", "Check the shapes."),
    "dim-changed": Reason(
        "A size computed inside the function was not as assumed when compiling.", "Avoid slices whose length becomes 1 or varies."
    ),
    "index-range": Reason("An index is out of range: NumPy raises the error.", "Check the index."),
    "advanced-indexing": Reason("This kind of indexing by arrays is not compiled.", _NATIVE),
    "broadcast-arrays": Reason("np.broadcast_arrays gives arrays that warn when written to.", "Use np.broadcast_to."),
    "empty-reduction": Reason("An empty array is reduced by an operation without identity; NumPy raises.", "Check the size."),
    "int-out-of-range": Reason("A Python int does not fit the array's dtype; NumPy raises.", "Use a wider dtype."),
    "negative-power": Reason("An integer is raised to a negative power; NumPy raises.", "Use floats."),
    "python-warning": Reason("NumPy warns here from Python code.", "Check for empty slices or zero weights."),
    "scalar-warning": Reason("NumPy's scalars warn here, and its arrays do not, or the other way round.", "Use an array."),
    "reshape": Reason("A reshape depends on sizes in a way that is not modelled.", "Give all sizes."),
    "alias-merge": Reason(
        "An array found while tracing overlaps two others in memory.", "Pass overlapping arrays as arguments of the function."
    ),
    "library-call": Reason(
        "A function of NumPy or SciPy raised, or returned something else than expected when compiling.", "None needed."
    ),
    "data-dependent-shape": Reason("A size depends on array values.", "Compute the size before and pass it."),
    # -- tensors
    "requires-grad": Reason(
        "A tensor requires grad: torch records its operations itself.", "Call the function under torch.no_grad() for inference."
    ),
    "unsupported-tensor": Reason(
        "A tensor is sparse, quantised, named, lazily conjugated, made in inference mode and stored to, or of a dtype or device "
        "that is not compiled.",
        "Convert it first.",
    ),
    "torch-mode": Reason(
        "A mode of torch (autocast, a function mode, vmap, tracing) changes what operations do.",
        "Call the function outside of it.",
    ),
    "mixed-devices": Reason("Arrays on different devices meet.", "Move them to one device first."),
    "number-range": Reason("A Python number is beyond a tensor's dtype: torch raises the error.", "Check the number."),
    "integer-division": Reason("An integer tensor is divided by zero: torch raises the error.", "Check the divisor."),
    "torch-arguments": Reason("These arguments are not modelled for this function of torch or CuPy.", _NATIVE),
    "no-rule": Reason("This function has no rule.", _NATIVE),
    "no-attribute": Reason("An object has no such attribute; Python raises the error.", "Check the name."),
    "no-attribute-rule": Reason("This array attribute or method has no rule.", _NATIVE),
    "arguments": Reason("These arguments are not modelled for this function.", _NATIVE),
    "numpy-arguments": Reason("These arguments are not modelled for this NumPy function.", _NATIVE),
    "invalid-arguments": Reason("The library refuses these arguments; it raises the error itself.", "Check the arguments."),
    # -- calls, attributes, names
    "call-object": Reason("An object that is not a known function is called.", _NATIVE),
    "call-arguments": Reason("A call does not match the function's parameters.", "Check the call."),
    "builtin": Reason("This use of a builtin is not compiled.", _NATIVE),
    "recursion": Reason(
        "A function calls itself more often than is inlined.",
        "The calls from here on are calls of their own; where they do little work each, write the recursion as a loop.",
    ),
    "inline-depth": Reason("Too many functions are nested.", "Decorate inner functions of their own."),
    "generator": Reason("Generators and coroutines run as plain Python.", "Use a list or a loop."),
    "attribute": Reason("This attribute cannot be read without running user code.", "Read it before and pass the value."),
    "super": Reason("This use of super() is not compiled.", "Call methods of the base class as super().method(...)."),
    "side-effect-call": Reason("A call with side effects (print, file, log, ...) runs as plain Python.", _NATIVE),
    "import": Reason("A module is imported inside the function.", "Import at the top of the file."),
    "class-definition": Reason("A class is defined inside the function.", "Define it outside."),
    # -- mutation of what existed before
    "mutate-global": Reason("A global variable is assigned in a way that is not compiled.", "Return the value instead."),
    "mutate-attribute": Reason(
        "An attribute of an object is assigned in a way that is not compiled.", "Return the value instead."
    ),
    "mutate-object": Reason(
        "An object that existed before the call is changed in a way that is not compiled.", "Build a new one and return it."
    ),
    # -- control flow
    "data-dependent-branch": Reason(
        "A branch depends on run-time values, and its arms end in states that cannot be joined.",
        "Let both arms assign the same variables, with values of one type and shape.",
    ),
    "ambiguous-truth": Reason("The truth value of an array with several elements is taken.", "Use .any() or .all()."),
    "branch-types": Reason("A variable has another type after one arm of a branch than after the other.", "Keep types stable."),
    "release": Reason("An object dies here whose end others may notice: Python lets it go.", "None needed."),
    "recorded-warnings": Reason(
        "A container is read to which warnings are added when they are given.", "Read it after the decorated function."
    ),
    "loop-turn": Reason("Python's own iterator gives the next element.", "None needed."),
    "not-iterable": Reason("What is iterated over is a number; Python raises the error.", "Check the type."),
    "loop-iterator": Reason("A loop over something else than range, zip, enumerate, a tuple, list or array.", _NATIVE),
    "loop-types": Reason("A variable has a different type from one turn of the loop to the next.", "Keep types stable."),
    "loop-alias": Reason(
        "Arrays that a loop exchanges are used under other names as well.", "Use only the exchanged variables in the loop."
    ),
    "loop-container": Reason(
        "A list, dict or set changes inside a loop in a way that is not compiled.",
        "Append numbers of one type or fresh arrays of one shape, or store into an array.",
    ),
    "list-growth": Reason(
        "A list grows beyond what was reserved for it, or is empty where its items decide what NumPy makes of it.",
        "None needed, or use a for loop, whose number of turns is known.",
    ),
    "loop-leaves": Reason("A loop is left from within (break, return).", "Bound the loop beforehand."),
    "unroll-limit": Reason("A loop over a container is too long to unroll.", "Use an array or range."),
    "too-long": Reason("The function is too long to compile as one piece.", "Split it."),
    "exception-handling": Reason(
        "A raise or except block runs as plain Python, and what follows a handler.", "Keep array work out of handlers."
    ),
    "with-statement": Reason("A context manager is entered by Python.", _NATIVE),
    "match-statement": Reason("This pattern of a match statement is not compiled.", "Use if and isinstance."),
    "unpack-count": Reason("The number of values to unpack does not match.", "Check the number of names."),
    "container-op": Reason("This operation on a list, tuple, dict, set or slice is not compiled.", _NATIVE),
    "key-error": Reason("A key or index is not there; Python raises the error.", "Check the key."),
    "nan-order": Reason("Numbers are sorted or looked for, and a NaN is among them.", "Take the NaN out first."),
    "string-op": Reason("Strings that depend on run-time values are made by plain Python.", _NATIVE),
    "identity": Reason("Identity of two objects is only known at run time.", "Compare values instead."),
    "comparison": Reason("This comparison is not compiled.", _NATIVE),
    "unknown-instruction": Reason("An instruction of this Python version is not known.", "Report it."),
    "not-resumable": Reason(
        "Something that is not compiled stands where Python cannot take over.", "Move it out of the expression or handler."
    ),
    **{id: Reason(f"Python cannot take over here: {why}.", "Move it to another place.") for id, why in REFUSALS.items()},
    # -- generating code
    "not-lowered": Reason("An operation has no form in generated code.", "Move it into a function of its own."),
    "backend-device": Reason("This backend works on arrays in host memory.", "Leave backend out for arrays on a device."),
    "no-triton": Reason("An operation is not compiled for devices.", "Move it into a function of its own."),
    "no-device": Reason("There is no such CUDA device.", "Check nvidia-smi, the driver and CUDA_VISIBLE_DEVICES."),
    "triton-missing": Reason("Kernels for devices need Triton.", "pip install 'npcompile[gpu]'"),
    "triton-version": Reason("The installed Triton is not one that is known.", "pip install 'npcompile[gpu]'"),
    "triton-interpreter": Reason(
        "backend='triton' on NumPy arrays runs in Triton's interpreter.", "Set TRITON_INTERPRET=1, or pass device='cuda'."
    ),
    "internal-error": Reason(
        "npcompile failed: a defect of its own. The function runs as plain Python.",
        "Report it with the detail; NPCOMPILE_LOGS=graph_breaks shows the traceback.",
    ),
}

RAISES = frozenset({"unbound", "undefined-name", "zero-division", "math-domain", "negative-shift", "read-only", "shape-mismatch"})
RAISES |= {"no-attribute", "invalid-arguments", "index-range", "empty-reduction", "unpack-count", "key-error", "ambiguous-truth"}
RAISES |= {"number-range", "not-iterable"}
"""Reasons for which Python raises an exception: leaving there loses nothing."""


BETWEEN = frozenset({"loop-turn", "release", "signal"})
"""Reasons for leaving that are no breaks: Python does something between two pieces of compiled code."""


def explain(reason: str) -> Reason:
    """The entry of a reason id; every id raised anywhere must have one."""
    return REASONS[reason]
