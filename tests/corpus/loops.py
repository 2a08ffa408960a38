"""for, while, break, continue, else, nesting, early return."""

from . import Cases

cases = Cases()


@cases(lambda: (5,), lambda: (0,))
def total(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


@cases(lambda: ([3, 1, 4, 1, 5],), lambda: ([],), lambda: ([1],))
def bubble(a):
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


@cases(lambda: (27,), lambda: (1,))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2:
            n = 3 * n + 1
        else:
            n //= 2
        steps += 1
        if steps > 8:
            return n, steps
    return steps


@cases(lambda: ([1, 2, 3], 2), lambda: ([1, 2, 3], 9))
def find(items, wanted):
    for position, item in enumerate(items):
        if item == wanted:
            break
    else:
        return -1
    return position


@cases(lambda: (7,))
def odd_only(n):
    out = []
    for i in range(n):
        if i % 2 == 0:
            continue
        out.append(i)
    return out


@cases(lambda: (3,), lambda: (0,))
def while_else(n):
    while n > 0:
        n -= 1
        if n == 77:
            break
    else:
        n = "exhausted"
    return n


@cases(lambda: (5,))
def while_true(n):
    k = 0
    while True:
        k += 1
        if k == 3:
            continue
        if k >= n:
            break
    return k


@cases(lambda: (4,))
def nested_breaks(n):
    seen = []
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            if (i + j) % 3 == 0:
                continue
            for k in (1, 2):
                if k == j:
                    break
            else:
                seen.append((i, j))
        else:
            seen.append(i)
    return seen


@cases(lambda: ("abc", [1, 2, 3], {"x": 1}))
def many_iterables(text, numbers, mapping):
    out = []
    for a, b in zip(text, numbers):
        out.append(a * b)
    for key, value in mapping.items():
        out.append((key, value))
    for char in reversed(text):
        out.append(char)
    for _ in iter(numbers.pop, 1):
        out.append(_)
    return out, numbers


def countdown(n):
    while n:
        yield n
        n -= 1


@cases(lambda: (3,))
def over_generator(n):
    got = []
    for x in countdown(n):
        got += [x]
    return got + [y for y in countdown(2)]


@cases(lambda: (3,))
def starred_target(n):
    out = []
    for first, *rest in [(1, 2, 3), "ab", [n]]:
        out.append((first, rest))
    return out


@cases(lambda: (2,))
def target_is_item_and_attribute(n):
    class Box:
        pass

    box = Box()
    store = [0, 0]
    for box.value in range(n):
        pass
    for store[1] in range(n, n + 2):
        pass
    return box.value, store


class Node:
    def __init__(self, value, following):
        self.value = value
        self.following = following


@cases(lambda: (3,), lambda: (0,))
def linked_list(n):
    head = None
    for i in range(n):
        head = Node(i, head)
    out = []
    while head is not None:
        out.append(head.value)
        head = head.following
    while head is None:
        head = out
    return head
