"""The loops of ``compiled.decisions`` without compilation, all the way down."""

from types import FunctionType, SimpleNamespace

from taxonomist.compiled import decisions

names = dict(vars(decisions))
names.update(
    (name, FunctionType(loop.py_func.__code__, names))
    for name, loop in vars(decisions).items()
    if hasattr(loop, "py_func")
)
plain = SimpleNamespace(**names)
