# SPDX-License-Identifier: Apache-2.0
"""Progress bars by tqdm, if it is installed."""
from __future__ import annotations


class Bar:
    """One bar per stage of the work; a stage of unknown length only shows a count."""

    def __init__(self, tqdm):
        self._tqdm = tqdm
        self._bar = None
        self._stage = None

    def update(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = self._tqdm(desc=stage, total=total or None, leave=False)
        self._bar.n = done
        self._bar.update(0)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = self._stage = None


def make_bar() -> Bar | None:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return Bar(tqdm)
