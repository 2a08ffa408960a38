"""A concrete interpreter of micro-ops that can stop at any instruction boundary and hand its frames to resume stubs.

Test tool: slow and plain. Calls of Python functions defined in the files given run in frames of its own (so that a stop
may be inside a callee), everything else is called as it is. Exceptions it handles have no traceback of its frames.
"""

from __future__ import annotations

import builtins
import inspect
import operator
import sys
from functools import cache
from types import CellType, FunctionType, MethodType

from npcompile.bytecode import NULL, FrameValues, Op, normalise, resumable
from npcompile.bytecode.microops import AS_BOOL, FREE, NULL_FIRST

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul,
    "/=": operator.itruediv, "//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow, "@=": operator.imatmul,
    "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor, "<<=": operator.ilshift, ">>=": operator.irshift,
}  # fmt: skip
COMPARE = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
SPECIAL_BINARY = {"+": "__add__", "@": "__matmul__", "+=": "__iadd__"}
SPECIAL_COMPARE = {"<": "__lt__", "==": "__eq__"}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_, "bool": bool}
CONVERT = {"": lambda v: v, "str": str, "repr": repr, "ascii": ascii}
TEST = {
    "true": bool, "false": operator.not_, "none": lambda v: v is None, "not_none": lambda v: v is not None,
}  # fmt: skip
MATCH_SELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


class Returned(Exception):
    """The outermost frame has returned."""


@cache
def unpacker(before, after=None):
    """CPython's own unpacking, with its own messages."""
    names = [f"a{k}" for k in range(before)]
    if after is not None:
        names += ["*rest", *(f"b{k}" for k in range(after))]
    space = {}
    pattern = ", ".join(names)
    result = pattern.replace("*", "")
    exec(f"def unpack(x):\n    [{pattern}] = x\n    return [{result}]", space)
    return space["unpack"]


def bind(function, args, kwargs):
    """Slots of a new frame, as CPython binds arguments; None if they do not fit."""
    code = function.__code__
    names = code.co_varnames
    count, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    slots = dict(zip(names[:count], args))
    place = total
    if code.co_flags & 4:
        slots[names[place]] = tuple(args[count:])
        place += 1
    elif len(args) > count:
        return None
    extra = {}
    for name, value in kwargs.items():
        if name in names[code.co_posonlyargcount : total] and name not in slots:
            slots[name] = value
        else:
            extra[name] = value
    if code.co_flags & 8:
        if set(extra) & set(names[code.co_posonlyargcount : total]):
            return None
        slots[names[place]] = extra
    elif extra:
        return None
    defaults = function.__defaults__ or ()
    filled = dict(zip(names[count - len(defaults) : count], defaults)) | (function.__kwdefaults__ or {})
    for name in names[:total]:
        if name not in slots:
            if name not in filled:
                return None
            slots[name] = filled[name]
    return slots


class Frame:
    def __init__(self, function, slots):
        self.code = function.__code__
        self.instrs = normalise(self.code).instrs
        self.globals = function.__globals__
        self.closure = function.__closure__ or ()
        self.slots = slots
        self.made = set()  # slots whose MAKE_CELL has run
        self.index = 0
        self.stack = []
        self.pushes = True

    @property
    def instr(self):
        return self.instrs[self.index]

    def cell(self, instr):
        if instr.extra is FREE:
            return self.closure[self.code.co_freevars.index(instr.arg)]
        return self.slots[instr.arg]

    def values(self):
        cells = {n: v for n, v in self.slots.items() if isinstance(v, CellType) and n in self.made}
        plain = {n: v for n, v in self.slots.items() if n not in cells}
        stack = tuple(self.stack)
        return FrameValues(self.code, self.globals, self.instr.offset, plain, cells, self.closure, stack, self.pushes)


class Machine:
    """Runs `function(*args)`.

    files : functions whose code comes from one of these files run in frames of the machine.
    """

    def __init__(self, function, args=(), kwargs=None, files=(), depth=8):
        self.files = {function.__code__.co_filename, *files}
        self.depth = depth
        self.handled = None
        self.steps = 0
        self.frames = []
        self.frames.append(Frame(function, bind(function, args, kwargs or {})))

    def run(self, boundaries=None):
        """Run before the given number of boundaries is passed. True: stopped there; False: returned, see `result`."""
        passed = 0
        try:
            while True:
                if self.frames[-1].instr.start:
                    if passed == boundaries:
                        return True
                    passed += 1
                self.step()
        except Returned as returned:
            (self.result,) = returned.args
            self.passed = passed
            return False

    def refusal(self):
        """Reason for which the frames at this boundary cannot be resumed, or None."""
        for frame in self.frames[:-1]:
            reason = resumable(frame.code, frame.instr.offset, "call")
            if reason:
                return reason
        return resumable(self.frames[-1].code, self.frames[-1].instr.offset)

    def values(self):
        return [frame.values() for frame in self.frames]

    # -------------------------------------------------------------------------------------- one micro-op

    def step(self):
        frame = self.frames[-1]
        instr = frame.instr
        try:
            jump = getattr(self, instr.op.name)(frame, instr)
        except Returned:
            raise
        except BaseException as error:
            exception = error
        else:
            if frame is self.frames[-1]:
                frame.index = frame.index + 1 if jump is None else jump
            return
        if exception.__context__ is None and exception is not self.handled:
            exception.__context__ = self.handled
        self.unwind(exception)

    def unwind(self, exception):
        while self.frames:
            frame = self.frames[-1]
            handler = frame.instr.handler
            if handler:
                del frame.stack[handler.depth :]
                if handler.lasti:
                    frame.stack.append(frame.instr.at)
                frame.stack.append(exception)
                frame.index = handler.target
                return
            self.frames.pop()
        raise exception

    def inline(self, frame, function, args, kwargs=None, pushes=True):
        """Enter a Python function in a frame of the machine; False if it has to be called as it is."""
        if type(function) is MethodType:
            function, args = function.__func__, (function.__self__, *args)
        if type(function) is not FunctionType or function.__code__.co_filename not in self.files:
            return False
        if len(self.frames) >= self.depth or resumable(function.__code__, 0) not in (None, "resume-in-handler"):
            return False
        slots = bind(function, args, kwargs or {})
        if slots is None:
            return False
        frame.pushes = pushes
        self.frames.append(Frame(function, slots))
        return True

    def special(self, frame, name, operands, pushes=True):
        """Enter the Python method `name` of the first operand's class, if it is one; the operands are off the stack."""
        method = inspect.getattr_static(type(operands[0]), name, None)
        return type(method) is FunctionType and self.inline(frame, method, operands, pushes=pushes)

    # -------------------------------------------------------------------------------------- constants, names

    def NOP(self, frame, instr):
        pass

    def COPY_FREE_VARS(self, frame, instr):
        pass

    def PUSH_CONST(self, frame, instr):
        frame.stack.append(instr.arg)

    def PUSH_NULL(self, frame, instr):
        frame.stack.append(NULL)

    def LOAD_FAST(self, frame, instr):
        if instr.arg not in frame.slots:
            raise UnboundLocalError(f"cannot access local variable {instr.arg!r} where it is not associated with a value")
        frame.stack.append(frame.slots[instr.arg])

    def LOAD_FAST_CLEAR(self, frame, instr):
        frame.stack.append(frame.slots.pop(instr.arg, NULL))

    def STORE_FAST(self, frame, instr):
        value = frame.stack.pop()
        if value is NULL:
            frame.slots.pop(instr.arg, None)
        else:
            frame.slots[instr.arg] = value

    def DELETE_FAST(self, frame, instr):
        if instr.arg not in frame.slots:
            raise UnboundLocalError(f"cannot access local variable {instr.arg!r} where it is not associated with a value")
        del frame.slots[instr.arg]

    def MAKE_CELL(self, frame, instr):
        frame.slots[instr.arg] = CellType(*([frame.slots[instr.arg]] if instr.arg in frame.slots else []))
        frame.made.add(instr.arg)

    def LOAD_CLOSURE(self, frame, instr):
        frame.stack.append(frame.cell(instr))

    def LOAD_DEREF(self, frame, instr):
        try:
            frame.stack.append(frame.cell(instr).cell_contents)
        except ValueError:
            kind = NameError if instr.extra is FREE else UnboundLocalError
            where = "in enclosing scope" if instr.extra is FREE else ""
            name = "free" if instr.extra is FREE else "local"
            raise kind(
                f"cannot access {name} variable {instr.arg!r} where it is not associated with a value {where}".strip()
            ) from None

    def STORE_DEREF(self, frame, instr):
        frame.cell(instr).cell_contents = frame.stack.pop()

    def DELETE_DEREF(self, frame, instr):
        self.LOAD_DEREF(frame, instr)
        frame.stack.pop()
        del frame.cell(instr).cell_contents

    def LOAD_GLOBAL(self, frame, instr):
        for space in (frame.globals, vars(builtins)):
            if instr.arg in space:
                frame.stack.append(space[instr.arg])
                return
        raise NameError(f"name {instr.arg!r} is not defined")

    def STORE_GLOBAL(self, frame, instr):
        frame.globals[instr.arg] = frame.stack.pop()

    def DELETE_GLOBAL(self, frame, instr):
        if instr.arg not in frame.globals:
            raise NameError(f"name {instr.arg!r} is not defined")
        del frame.globals[instr.arg]

    def LOAD_BUILD_CLASS(self, frame, instr):
        frame.stack.append(builtins.__build_class__)

    def LOAD_ASSERTION_ERROR(self, frame, instr):
        frame.stack.append(AssertionError)

    # -------------------------------------------------------------------------------------- attributes, items

    def LOAD_ATTR(self, frame, instr):
        owner = frame.stack.pop()
        found = inspect.getattr_static(type(owner), instr.arg, None)
        if not (type(found) is property and self.inline(frame, found.fget, (owner,))):
            frame.stack.append(getattr(owner, instr.arg))

    def _push_pair(self, frame, instr, attr):
        frame.stack += [NULL, attr] if instr.extra is NULL_FIRST else [attr, NULL]

    def LOAD_METHOD(self, frame, instr):
        owner = frame.stack.pop()
        found = inspect.getattr_static(type(owner), instr.arg, None)
        if type(found) is property and self.inline(frame, found.fget, (owner,)):
            return
        if type(found) is FunctionType and instr.arg not in getattr(owner, "__dict__", {}):
            frame.stack += [found, owner]
        else:
            self._push_pair(frame, instr, getattr(owner, instr.arg))

    def _super(self, frame, instr):
        _, cls, owner = frame.stack[-3:]
        del frame.stack[-3:]
        return getattr(super(cls, owner), instr.arg[0])

    def LOAD_SUPER_ATTR(self, frame, instr):
        frame.stack.append(self._super(frame, instr))

    def LOAD_SUPER_METHOD(self, frame, instr):
        self._push_pair(frame, instr, self._super(frame, instr))

    def STORE_ATTR(self, frame, instr):
        owner, value = frame.stack.pop(), frame.stack.pop()
        found = inspect.getattr_static(type(owner), instr.arg, None)
        if not (type(found) is property and self.inline(frame, found.fset, (owner, value), pushes=False)):
            setattr(owner, instr.arg, value)

    def DELETE_ATTR(self, frame, instr):
        delattr(frame.stack.pop(), instr.arg)

    def _take(self, frame, count):
        if not count:
            return []
        taken = frame.stack[-count:]
        del frame.stack[-count:]
        return taken

    def GET_ITEM(self, frame, instr):
        owner, key = operands = self._take(frame, 2)
        if not self.special(frame, "__getitem__", operands):
            frame.stack.append(owner[key])

    def SET_ITEM(self, frame, instr):
        value, owner, key = self._take(frame, 3)
        if not self.special(frame, "__setitem__", (owner, key, value), pushes=False):
            owner[key] = value

    def DEL_ITEM(self, frame, instr):
        owner, key = self._take(frame, 2)
        if not self.special(frame, "__delitem__", (owner, key), pushes=False):
            del owner[key]

    def GET_SLICE(self, frame, instr):
        owner, low, high = self._take(frame, 3)
        if not self.special(frame, "__getitem__", (owner, slice(low, high))):
            frame.stack.append(owner[low:high])

    def SET_SLICE(self, frame, instr):
        value, owner, low, high = self._take(frame, 4)
        owner[low:high] = value

    # -------------------------------------------------------------------------------------- operators

    def BINARY(self, frame, instr):
        operands = self._take(frame, 2)
        name = SPECIAL_BINARY.get(instr.arg)
        if not (name and self.special(frame, name, operands)):
            frame.stack.append(BINARY[instr.arg](*operands))

    def UNARY(self, frame, instr):
        operands = self._take(frame, 1)
        if not (instr.arg == "-" and self.special(frame, "__neg__", operands)):
            frame.stack.append(UNARY[instr.arg](*operands))

    def COMPARE(self, frame, instr):
        operands = self._take(frame, 2)
        name = SPECIAL_COMPARE.get(instr.arg)
        if not (name and self.special(frame, name, operands)):
            result = COMPARE[instr.arg](*operands)
            frame.stack.append(bool(result) if instr.extra is AS_BOOL else result)

    def IS(self, frame, instr):
        a, b = self._take(frame, 2)
        frame.stack.append((a is b) != instr.arg)

    def CONTAINS(self, frame, instr):
        a, b = self._take(frame, 2)
        frame.stack.append((a in b) != instr.arg)

    # -------------------------------------------------------------------------------------- building

    def BUILD_TUPLE(self, frame, instr):
        frame.stack.append(tuple(self._take(frame, instr.arg)))

    def BUILD_LIST(self, frame, instr):
        frame.stack.append(self._take(frame, instr.arg))

    def BUILD_SET(self, frame, instr):
        frame.stack.append(set(self._take(frame, instr.arg)))

    def BUILD_MAP(self, frame, instr):
        flat = self._take(frame, 2 * instr.arg)
        frame.stack.append(dict(zip(flat[::2], flat[1::2])))

    def BUILD_CONST_KEY_MAP(self, frame, instr):
        keys = frame.stack.pop()
        frame.stack.append(dict(zip(keys, self._take(frame, instr.arg))))

    def BUILD_SLICE(self, frame, instr):
        frame.stack.append(slice(*self._take(frame, instr.arg)))

    def BUILD_STRING(self, frame, instr):
        frame.stack.append("".join(self._take(frame, instr.arg)))

    def LIST_EXTEND(self, frame, instr):
        value = frame.stack.pop()
        if not hasattr(value, "__iter__") and not hasattr(value, "__getitem__"):
            raise TypeError(f"Value after * must be an iterable, not {type(value).__name__}")
        frame.stack[-instr.arg].extend(value)

    def LIST_APPEND(self, frame, instr):
        value = frame.stack.pop()
        frame.stack[-instr.arg].append(value)

    def SET_ADD(self, frame, instr):
        value = frame.stack.pop()
        frame.stack[-instr.arg].add(value)

    def SET_UPDATE(self, frame, instr):
        value = frame.stack.pop()
        frame.stack[-instr.arg].update(value)

    def MAP_ADD(self, frame, instr):
        key, value = self._take(frame, 2)
        frame.stack[-instr.arg][key] = value

    def DICT_UPDATE(self, frame, instr):
        value = frame.stack.pop()
        frame.stack[-instr.arg].update(value)

    def DICT_MERGE(self, frame, instr):
        value = frame.stack.pop()
        target = frame.stack[-instr.arg]
        for key in value:
            if key in target:
                raise TypeError(f"got multiple values for keyword argument {key!r}")
            target[key] = value[key]

    def LIST_TO_TUPLE(self, frame, instr):
        frame.stack.append(tuple(frame.stack.pop()))

    def FORMAT(self, frame, instr):
        conversion, has_spec = instr.arg
        spec = frame.stack.pop() if has_spec else ""
        frame.stack.append(format(CONVERT[conversion](frame.stack.pop()), spec))

    def CONVERT(self, frame, instr):
        frame.stack.append(CONVERT[instr.arg](frame.stack.pop()))

    def UNPACK_SEQUENCE(self, frame, instr):
        value = frame.stack.pop()
        frame.stack += reversed(unpacker(instr.arg)(value))

    def UNPACK_EX(self, frame, instr):
        value = frame.stack.pop()
        frame.stack += reversed(unpacker(*instr.arg)(value))

    # -------------------------------------------------------------------------------------- stack, calls

    def POP(self, frame, instr):
        frame.stack.pop()

    def COPY(self, frame, instr):
        frame.stack.append(frame.stack[-instr.arg])

    def SWAP(self, frame, instr):
        frame.stack[-1], frame.stack[-instr.arg] = frame.stack[-instr.arg], frame.stack[-1]

    def _call(self, frame, pair, args, kwargs):
        first, second = pair
        if first is NULL:
            function = second
        elif second is NULL:
            function = first
        else:
            function, args = first, (second, *args)
        if function is super and not args:
            cell = frame.closure[frame.code.co_freevars.index("__class__")]
            first = frame.slots[frame.code.co_varnames[0]]
            frame.stack.append(super(cell.cell_contents, first.cell_contents if isinstance(first, CellType) else first))
        elif function is locals:
            contents = {**frame.slots, **dict(zip(frame.code.co_freevars, frame.closure))}
            unpacked = {n: v.cell_contents if isinstance(v, CellType) else v for n, v in contents.items()}
            frame.stack.append(unpacked)
        elif self._construct(frame, function, args, kwargs) or self.inline(frame, function, args, kwargs):
            pass
        else:
            frame.stack.append(function(*args, **kwargs))

    def _construct(self, frame, cls, args, kwargs):
        if type(cls) is not type or type(cls.__init__) is not FunctionType or cls.__new__ is not object.__new__:
            return False
        new = cls.__new__(cls)
        if self.inline(frame, cls.__init__, (new, *args), kwargs, pushes=False):
            frame.stack.append(new)
            return True
        return False

    def CALL(self, frame, instr):
        count, names = instr.arg
        args = self._take(frame, count)
        pair = self._take(frame, 2)
        kwargs = dict(zip(names, args[count - len(names) :]))
        self._call(frame, pair, tuple(args[: count - len(names)]), kwargs)

    def CALL_EX(self, frame, instr):
        kwargs = frame.stack.pop() if instr.arg else {}
        args = frame.stack.pop()
        pair = self._take(frame, 2)
        self._call(frame, pair, tuple(args), dict(kwargs))

    def CALL_INTRINSIC(self, frame, instr):
        name, count = instr.arg
        operands = self._take(frame, count)
        if name == "prep_reraise_star":
            rest = [e for e in operands[1] if e is not None]
            frame.stack.append(rest[0] if len(rest) == 1 else BaseExceptionGroup("", rest) if rest else None)
        elif name == "typevar":
            import typing

            frame.stack.append(typing.TypeVar(operands[0], infer_variance=True))
        elif name == "subscript_generic":
            import typing

            frame.stack.append(typing.Generic[operands[0]])
        elif name == "set_function_type_params":
            operands[0].__type_params__ = operands[1]
            frame.stack.append(operands[0])
        else:
            raise NotImplementedError(name)

    def MAKE_FUNCTION(self, frame, instr):
        code = frame.stack.pop()
        closure = frame.stack[-1] if instr.arg & 8 else tuple(CellType() for _ in code.co_freevars)
        function = FunctionType(code, frame.globals, None, None, closure)
        for flag in (8, 4, 2, 1):  # a closure is given first where it comes as an attribute (3.13)
            if instr.arg & flag:
                self._set_part(function, flag, frame.stack.pop())
        frame.stack.append(function)

    def SET_FUNCTION_ATTRIBUTE(self, frame, instr):
        value, function = self._take(frame, 2)
        if instr.arg == 8:
            function = FunctionType(function.__code__, frame.globals, None, function.__defaults__, value)
        self._set_part(function, instr.arg, value)
        frame.stack.append(function)

    def _set_part(self, function, flag, value):
        if flag == 1:
            function.__defaults__ = value
        elif flag == 2:
            function.__kwdefaults__ = value
        elif flag == 4:
            function.__annotations__ = dict(zip(value[::2], value[1::2])) if isinstance(value, tuple) else value

    # -------------------------------------------------------------------------------------- control flow

    def JUMP(self, frame, instr):
        return instr.target

    def POP_JUMP_IF(self, frame, instr):
        return instr.target if TEST[instr.arg](frame.stack.pop()) else None

    def JUMP_IF_OR_POP(self, frame, instr):
        if TEST[instr.arg](frame.stack[-1]):
            return instr.target
        frame.stack.pop()
        return None

    def GET_ITER(self, frame, instr):
        operands = self._take(frame, 1)
        if not self.special(frame, "__iter__", operands):
            frame.stack.append(iter(*operands))

    def FOR_ITER(self, frame, instr):
        try:
            frame.stack.append(next(frame.stack[-1]))
        except StopIteration:
            frame.stack.pop()
            return instr.target
        return None

    def RETURN(self, frame, instr):
        value = frame.stack.pop()
        self.frames.pop()
        if not self.frames:
            raise Returned(value)
        caller = self.frames[-1]
        instr = caller.instr
        if caller.pushes:
            if instr.op is Op.LOAD_METHOD:
                self._push_pair(caller, instr, value)
            else:
                caller.stack.append(bool(value) if instr.extra is AS_BOOL else value)
        caller.pushes = True
        caller.index += 1

    # -------------------------------------------------------------------------------------- exceptions

    def RAISE(self, frame, instr):
        operands = self._take(frame, instr.arg)
        if not operands:
            if self.handled is None:
                raise RuntimeError("No active exception to reraise")
            raise self.handled
        exception = operands[0]() if isinstance(operands[0], type) else operands[0]
        if not isinstance(exception, BaseException):
            raise TypeError("exceptions must derive from BaseException")
        if len(operands) == 2:
            cause = operands[1]() if isinstance(operands[1], type) else operands[1]
            exception.__cause__ = cause
        raise exception

    def RERAISE(self, frame, instr):
        raise frame.stack.pop()

    def PUSH_EXC_INFO(self, frame, instr):
        exception = frame.stack.pop()
        frame.stack += [self.handled, exception]
        self.handled = exception

    def POP_EXCEPT(self, frame, instr):
        self.handled = frame.stack.pop()

    def CHECK_EXC_MATCH(self, frame, instr):
        kinds = frame.stack.pop()
        frame.stack.append(isinstance(frame.stack[-1], kinds))

    def CHECK_EG_MATCH(self, frame, instr):
        group, kinds = self._take(frame, 2)
        if not isinstance(group, BaseExceptionGroup):
            match, rest = (ExceptionGroup("", [group]), None) if isinstance(group, kinds) else (None, group)
        else:
            match, rest = group.split(kinds)
        frame.stack += [rest, match]
        if match is not None:
            self.handled = match

    def BEFORE_WITH(self, frame, instr):
        manager = frame.stack.pop()
        kind = type(manager)
        if not hasattr(kind, "__enter__"):
            raise TypeError(f"{kind.__name__!r} object does not support the context manager protocol")
        frame.stack.append(kind.__exit__.__get__(manager))
        if not self.special(frame, "__enter__", (manager,)):
            frame.stack.append(kind.__enter__(manager))

    def WITH_EXCEPT_START(self, frame, instr):
        exception = frame.stack[-1]
        frame.stack.append(frame.stack[-4](type(exception), exception, exception.__traceback__))

    # -------------------------------------------------------------------------------------- match, import

    def GET_LEN(self, frame, instr):
        frame.stack.append(len(frame.stack[-1]))

    def MATCH_MAPPING(self, frame, instr):
        frame.stack.append(bool(type(frame.stack[-1]).__flags__ & 1 << 6))

    def MATCH_SEQUENCE(self, frame, instr):
        frame.stack.append(bool(type(frame.stack[-1]).__flags__ & 1 << 5))

    def MATCH_KEYS(self, frame, instr):
        subject, keys = frame.stack[-2:]
        found = tuple(subject[key] for key in keys) if all(key in subject for key in keys) else None
        frame.stack.append(found)

    def MATCH_CLASS(self, frame, instr):
        subject, cls, names = self._take(frame, 3)
        frame.stack.append(self._match_class(subject, cls, instr.arg, names))

    def _match_class(self, subject, cls, count, names):
        if not isinstance(subject, cls):
            return None
        try:
            if count == 1 and issubclass(cls, MATCH_SELF):
                return (subject, *(getattr(subject, name) for name in names))
            if count > len(getattr(cls, "__match_args__", ())):
                raise TypeError(f"{cls.__name__}() accepts 0 positional sub-patterns ({count} given)")
            positional = cls.__match_args__[:count] if count else ()
            return tuple(getattr(subject, name) for name in (*positional, *names))
        except AttributeError:
            return None

    def IMPORT_NAME(self, frame, instr):
        level, names = self._take(frame, 2)
        frame.stack.append(__import__(instr.arg, frame.globals, None, names, level))

    def IMPORT_FROM(self, frame, instr):
        module = frame.stack[-1]
        try:
            frame.stack.append(getattr(module, instr.arg))
        except AttributeError:
            if f"{module.__name__}.{instr.arg}" not in sys.modules:
                raise ImportError(f"cannot import name {instr.arg!r} from {module.__name__!r}") from None
            frame.stack.append(sys.modules[f"{module.__name__}.{instr.arg}"])
