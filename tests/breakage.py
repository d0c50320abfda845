"""Breaking things on purpose, to see whether `fastnoise verify` notices."""

import json
import re
import sys

import fastnoise as fn
from fastnoise.cli import main
from fastnoise.laws.law import Law
from fastnoise.verify import (
    attack,
    certificates,
    duplicates,
    kernels,
    laws,
    ratios,
    slices,
    tables,
)

MODULES = [tables, kernels, laws, ratios, attack, duplicates, slices, certificates]


class Broken:
    """What a test breaks, and what the command says of it.

    Laws are kept once they are made: no broken one outlives its test.
    """

    def __init__(self, monkeypatch, capsys):
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __enter__(self):
        self.forget()
        return self

    def __exit__(self, *problem):
        self.forget()

    def forget(self):
        for name, module in list(sys.modules.items()):
            if name.startswith("fastnoise."):
                for value in list(vars(module).values()):
                    if hasattr(value, "cache_clear"):
                        value.cache_clear()

    def only_of(self, *mechanisms):
        """Verify these alone, which is faster."""
        choices = [m for m in mechanisms if isinstance(m, fn.StaircaseChoice)]
        lists = {"USUAL": [m for m in mechanisms if m not in choices], "CHOICES": choices}
        for module in MODULES:
            for name, chosen in (lists | {"EXTREME": []}).items():
                if hasattr(module, name):
                    self.monkeypatch.setattr(module, name, chosen)

    def spoil(self, module, name, spoilt):
        """All that `module.name` returns is spoilt."""
        right = getattr(module, name)
        self.monkeypatch.setattr(
            module, name, lambda *given, **named: spoilt(right(*given, **named))
        )

    def spoil_values(self, spoil):
        """All that kernels write is spoilt: spoil(values, law)."""
        right = Law.perturb

        def wrong(law, key, rows, done, x, out, limits):
            right(law, key, rows, done, x, out, limits)
            spoil(out, law)

        self.monkeypatch.setattr(Law, "perturb", wrong)

    def failures(self, check):
        """What the command says is wrong, and exits with status 1 for; nothing else fails."""
        status = main(["verify", "--only", check, "--json"])
        report = json.loads(self.capsys.readouterr().out)
        wrong = [row["detail"] for row in report["outcomes"] if not row["passed"]]
        assert report["passed"] == (not wrong) == (status == 0)
        said = " ".join(wrong)
        assert not re.search(r"\wError: ", said), said
        return said
