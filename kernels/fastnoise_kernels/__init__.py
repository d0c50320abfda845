"""Compiled kernels: noise as a pure function of (key, row, law).

Nothing here validates, fetches entropy or knows about mechanisms; `fastnoise` does. Importing the
package is free: numba is loaded by the modules that need it.
"""
