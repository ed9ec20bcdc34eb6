"""Hot loops on arrays, compiled by numba when they are first called.

Every loop is plain Python that also runs uncompiled (``loop.py_func``). Compiled loops are cached
on disk until any file of this package changes, so that loops may call loops of other files.
"""
