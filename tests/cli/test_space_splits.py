# SPDX-License-Identifier: Apache-2.0
"""kfe cv --split kennard-stone: the rows by hand on a line, and one split in every command that divides rows."""
import json


def test_rows_on_a_line(kfe):
    """0 and 10 are farthest apart, 5 is next. Then 2 is 2 away from 0; with targets, 9 is 0.29 away from 10, and 2 only 0.24 from 0."""
    places = [0, 10, 5, 2, 9, 1]
    kfe.write("line.csv", "x,y\n" + "".join(f"{x},{x * x / 10}\n" for x in places))
    for split, train in (("kennard-stone", {0, 10, 5, 2}), ("spxy", {0, 10, 5, 9})):
        found = json.loads(kfe.ok("cv", "-q", "-m", "pls", "--dim", 1, "--learner", "ls", "--label", "y", "--task", "regress", "--split", split,
                                  "--train-size", 4, "--held-out", "yes", "line.csv", "--json").out)
        assert {places[row["row"] - 1] for row in found["held_out"]} == set(places) - train
    kfe.refused("cv", "-m", "pls", "--learner", "ls", "--label", "y", "--task", "regress", "--split", "kennard-stone", "--repeats", 3, "line.csv",
                says="--repeats")
