"""Hot loops on arrays, compiled by numba when they are first called.

Every loop is plain Python that also runs uncompiled (``loop.py_func``). A loop calls only loops of
its own file: numba's cache on disk notices changes of that file and of no other.
"""
