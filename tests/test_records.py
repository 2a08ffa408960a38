"""Records behave as standard dataclasses do."""

import dataclasses

import pytest

from npcompile import records
from npcompile.records import dataclass, field


def pair(decorate):
    @decorate(frozen=True)
    class Frozen:
        x: int
        y: tuple = ()
        z: int = field(default=0, compare=False)
        self: int = 0

    @decorate(frozen=True)
    class One:
        x: object

    @decorate(frozen=True)
    class Empty:
        """Nothing."""

    @decorate(frozen=True)
    class Own:
        x: int

        def __eq__(self, other):
            return True

        def __repr__(self):
            return "own"

    @decorate()
    class Open:
        x: list = field(default_factory=list)
        n: int = field(default=1, init=False)
        later: int = field(init=False, repr=False, compare=False)

        def __post_init__(self):
            self.later = len(self.x)

    @decorate(eq=False)
    class Identity:
        x: int

    return Frozen, One, Empty, Own, Open, Identity


def facts(classes, replace):
    frozen, one, empty, own, open_, identity = classes
    a, b, c = frozen(1, (2,), 3), frozen(1, (2,), 4), frozen(1)
    yield from (a == b, a == c, a == 1, hash(a) == hash(b), hash(a) == hash((1, (2,))), repr(a).split(".")[-1])
    yield from (one(1) == one(1.0), hash(one("k")) == hash(("k",)), one(1) == empty(), empty() == empty(), hash(empty()))
    yield from (own(1) == own(2), repr(own(1)), hash(own(1)) == hash((1,)))
    yield from (open_() == open_(), open_().x is open_().x, open_([1, 2]).later, open_.__hash__, repr(open_([1])).split(".")[-1])
    yield from (identity(1) == identity(1), identity.__hash__ is object.__hash__)
    yield from (vars(replace(a, x=5)), [f.name for f in dataclasses.fields(a)], frozen.__match_args__)
    loop = open_()
    loop.x.append(loop)
    yield repr(loop).split(".")[-1]


def test_as_the_standard_library():
    assert list(facts(pair(dataclass), records.replace)) == list(facts(pair(dataclasses.dataclass), dataclasses.replace))
    assert list(facts(pair(dataclass), dataclasses.replace))


def test_arguments_that_are_missing():
    frozen = pair(dataclass)[0]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        frozen()


def test_many_objects_are_made_like_the_first_ones():
    for decorate in (dataclass, dataclasses.dataclass):
        frozen, *_, open_, _ = pair(decorate)
        made = [frozen(1, z=2) for _ in range(100)]
        assert all((x.x, x.y, x.z, x.self) == (1, (), 2, 0) for x in made)
        lists = [open_() for _ in range(100)]
        assert len({id(x.x) for x in lists}) == 100 and all(x.n == 1 and x.later == 0 for x in lists)


@pytest.mark.parametrize("args, values", [((), {}), ((1, 2, 3, 4, 5), {}), ((1,), {"x": 1}), ((1,), {"w": 1})])
def test_wrong_arguments_are_type_errors(args, values):
    for decorate in (dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError):
            pair(decorate)[0](*args, **values)
