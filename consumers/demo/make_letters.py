#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Renders letters of the installed fonts as a picture set, one folder per class: OUT/train/A … OUT/val/Z.

Every picture differs: font, size, place, rotation, shear, colours, a background gradient, noise, JPEG quality; every
eighth is a PNG. The same fonts give the same pictures. Needs python3-pil and no network.
"""
import argparse
import math
import multiprocessing
import pathlib
import random
import string
import sys

from PIL import Image, ImageChops, ImageDraw, ImageFont

SIDE = 96
NOISE = 256  # side of the sheet of noise that pictures take pieces of


def font_files():
    root = pathlib.Path("/usr/share/fonts/truetype")
    return sorted(str(f) for folder in ("dejavu", "liberation*") for f in root.glob(folder + "/*.ttf"))


def contrasting_colours(rng):
    """Ink and paper whose brightness differs enough to read the letter."""
    while True:
        ink, paper = ([rng.randrange(256) for _ in range(3)] for _ in range(2))
        brightness = [0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] for c in (ink, paper)]
        if abs(brightness[0] - brightness[1]) > 60:
            return tuple(ink), tuple(paper)


def letter_mask(letter, font, rng):
    """The letter in white on black, moved, turned, sheared."""
    upright = Image.new("L", (SIDE, SIDE))
    ImageDraw.Draw(upright).text((SIDE / 2, SIDE / 2), letter, font=font, fill=255, anchor="mm")
    angle, shear = math.radians(rng.uniform(-20, 20)), rng.uniform(-0.25, 0.25)
    cos, sin = math.cos(angle), math.sin(angle)
    a, b, d, e = cos, -sin + shear * cos, sin, cos + shear * sin
    x, y = SIDE / 2 + rng.uniform(-8, 8), SIDE / 2 + rng.uniform(-8, 8)  # where the centre comes from
    matrix = (a, b, x - a * SIDE / 2 - b * SIDE / 2, d, e, y - d * SIDE / 2 - e * SIDE / 2)
    return upright.transform((SIDE, SIDE), Image.Transform.AFFINE, matrix, Image.Resampling.BICUBIC)


def picture(letter, font, noise, rng):
    ink, paper = contrasting_colours(rng)
    shade = tuple(max(0, min(255, c + rng.randrange(-40, 41))) for c in paper)
    gradient = Image.linear_gradient("L").resize((SIDE, SIDE)).rotate(rng.choice((0, 90, 180, 270)))
    image = Image.composite(Image.new("RGB", (SIDE, SIDE), shade), Image.new("RGB", (SIDE, SIDE), paper), gradient)
    image.paste(ink, mask=letter_mask(letter, font, rng))
    strength = rng.uniform(0.05, 0.4)
    x, y = rng.randrange(NOISE - SIDE), rng.randrange(NOISE - SIDE)
    grain = noise.crop((x, y, x + SIDE, y + SIDE)).point([128 + (v - 128) * strength for v in range(256)] * 3)
    return ImageChops.add(image, grain, offset=-128)


def make_class(job):
    out, split, letter, count = job
    folder = pathlib.Path(out, split, letter)
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(f"{split} {letter}")
    files = font_files()
    fonts = [ImageFont.truetype(f, size) for f in files for size in (52, 64, 76)]
    noise = Image.frombytes("RGB", (NOISE, NOISE), rng.randbytes(NOISE * NOISE * 3))
    for i in range(count):
        image = picture(letter, rng.choice(fonts), noise, rng)
        if i % 8 == 7:
            image.save(folder / f"{i:04}.png", compress_level=1)
        else:
            image.save(folder / f"{i:04}.jpg", quality=rng.randrange(70, 96))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", help="folder to make; its pictures of an earlier run are overwritten")
    parser.add_argument("--train", type=int, default=200, help="pictures per letter for training (%(default)s)")
    parser.add_argument("--val", type=int, default=40, help="pictures per letter for validation (%(default)s)")
    args = parser.parse_args()
    if not font_files():
        sys.exit("make_letters: no fonts in /usr/share/fonts/truetype: install fonts-dejavu-core or fonts-liberation")
    jobs = [(args.out, s, c, n) for s, n in (("train", args.train), ("val", args.val)) for c in string.ascii_uppercase]
    with multiprocessing.Pool() as pool:
        for _ in pool.imap_unordered(make_class, jobs):
            pass


if __name__ == "__main__":
    main()
