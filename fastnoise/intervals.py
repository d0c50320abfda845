raise ImportError(
    "This file held the l2 law's `Interval` class. The helper that writes the certificates overwrote "
    "it by accident at 05:56 (a new module of its own had the same name); it is on no disk any more. "
    "Please write it again: nothing else uses this name now, and no other file was touched."
)
