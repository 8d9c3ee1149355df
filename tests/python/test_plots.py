"""The example draws its two pictures. SPDX-License-Identifier: MIT"""
import os
import re
import sys
import tempfile
import xml.dom.minidom

sys.path.insert(0, os.path.join(sys.argv[1], "python", "examples"))
import plots  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    plots.main(folder)
    for name, lines, dots in (("roofline.svg", 1, 3), ("occupancy.svg", 1, 0)):
        picture = xml.dom.minidom.parse(os.path.join(folder, name))
        assert len(picture.getElementsByTagName("polyline")) == lines, name
        assert len(picture.getElementsByTagName("circle")) == dots, name
        for line in picture.getElementsByTagName("polyline"):
            points = [tuple(map(float, p.split(","))) for p in
                      re.split(" +", line.getAttribute("points"))]
            assert len(points) > 10 and all(0 <= x <= 600 and 0 <= y <= 400
                                            for x, y in points), name
