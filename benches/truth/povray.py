"""A ray tracer: a tree of bounds over many objects, of which the rays of a picture's line meet a part."""

from truth.program import Program, kept


class Povray(Program):
    """What is near the line that is drawn is hot, what all rays pass is hot always; the picture goes from top to bottom."""

    name = "povray"
    about = "POV-Ray 3.7, one thread, 150,000 shining spheres, two lights"
    packages = ("povray",)
    fill_seconds = 90

    def scene(self, place):
        def make(half):
            random = place.random()
            with half.open("w", encoding="ascii") as out:
                out.write('#version 3.7;\nglobal_settings { assumed_gamma 1 max_trace_level 6 }\n'
                          'camera { location <0, 2, -30> look_at 0 }\nlight_source { <50, 80, -60> rgb 1 }\n'
                          'light_source { <-70, 40, -20> rgb 0.5 }\n'
                          '#declare T = texture { pigment { rgb 0.7 } finish { reflection 0.3 } }\n')
                for _ in range(150_000):
                    x, y, z = random.gauss(0, 8), random.gauss(0, 5), random.gauss(0, 8)
                    out.write(f"sphere {{ <{x:.3f}, {y:.3f}, {z:.3f}>, {random.uniform(0.02, 0.15):.3f} texture {{ T }} }}\n")
        return kept(place.inputs / "spheres.pov", make)

    def prepare(self, place):
        self.scene(place)

    def command(self, place):
        return ["povray", f"+I{self.scene(place)}", f"+O{place.folder / 'picture.png'}", "+W6000", "+H4500", "-D", "+WT1", "+A0.1", "+R3"]
