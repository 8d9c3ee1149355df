"""The example draws its two pictures. SPDX-License-Identifier: MIT"""
import math
import os
import sys
import tempfile
import xml.dom.minidom

sys.path.insert(0, os.path.join(sys.argv[1], "python", "examples"))
import plots  # noqa: E402


def words(picture):
    return [t.firstChild.data for t in picture.getElementsByTagName("text")]


with tempfile.TemporaryDirectory() as folder:
    plots.main(folder)
    for name, least, dots, marks in (("roofline.svg", 3, 3, ["FLOP/byte", "GFLOP/s", "0.01", "1000", "100000", "1 FMA a lane"]),
                                     ("occupancy.svg", 10, 0, ["shader cycles", "waves", "0", "700"])):
        picture = xml.dom.minidom.parse(os.path.join(folder, name))
        assert len(picture.getElementsByTagName("polyline")) == 1, name
        assert len(picture.getElementsByTagName("circle")) == dots, name
        assert set(marks) <= set(words(picture)), (name, words(picture))
        points = [tuple(map(float, p.split(","))) for p in
                  picture.getElementsByTagName("polyline")[0].getAttribute("points").split()]
        assert len(points) >= least and all(80 <= x <= 600 and 40 <= y <= 340 for x, y in points), name
        # the roof's bend is where the two peaks meet; the last wave ends
        x, y = points[1] if dots else points[-1]
        at = 80 + 520 * (math.log10(plots.PEAK_GFLOPS / plots.PEAK_GBS) + 2) / 5
        assert abs(x - at) < 0.1 and abs(y - points[2][1]) < 0.1 if dots else y == 340, (name, x, y)
