#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The right pixels of image files, for tests: what Pillow makes of each, converted to RGB.

Reads file names from standard input, one a line, and writes for each, in order, either
    ok WIDTH HEIGHT\n  followed by WIDTH * HEIGHT * 3 bytes, or
    fault REASON\n
Gray of more than 8 bits is rounded to 8, which Pillow clips: of a PNG by a small decoder of our own. With --exif pictures
are turned as their EXIF data say, with --background=R,G,B what is transparent is pasted over that colour, with
--accept-damaged Pillow loads truncated files. With --version it prints Pillow's version and ends (1 when Pillow is missing).
"""
import array
import struct
import sys
import warnings
import zlib

try:
    import PIL
    from PIL import Image, ImageFile, ImageOps
except ImportError:
    sys.exit(1)

ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
EXIF = "--exif" in sys.argv
BACKGROUND = next((tuple(map(int, a[13:].split(","))) for a in sys.argv if a.startswith("--background=")), None)
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def chunks(data):
    at = 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at:at + 4])
        yield data[at + 4:at + 8], data[at + 8:at + 8 + length]
        at += 12 + length


def unfilter(raw, row_bytes, rows, pixel_bytes):
    """Rows of a PNG pass without their filters (PNG specification, section 9)."""
    above = bytearray(row_bytes)
    for y in range(rows):
        kind = raw[y * (row_bytes + 1)]
        row = bytearray(raw[y * (row_bytes + 1) + 1:(y + 1) * (row_bytes + 1)])
        for i in range(row_bytes):
            a = row[i - pixel_bytes] if i >= pixel_bytes else 0
            b = above[i]
            c = above[i - pixel_bytes] if i >= pixel_bytes else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = (row[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        yield row
        above = row


def png16(path):
    with open(path, "rb") as file:
        data = file.read()
    width, height, _, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    raw = zlib.decompress(b"".join(body for kind, body in chunks(data) if kind == b"IDAT"))
    channels = CHANNELS[colour]
    picture = bytearray(width * height * 3)
    at = 0
    for x0, y0, dx, dy in (ADAM7 if interlaced else ((0, 0, 1, 1),)):
        columns, rows = len(range(x0, width, dx)), len(range(y0, height, dy))
        if not columns or not rows:
            continue
        row_bytes = columns * channels * 2
        for y, row in enumerate(unfilter(raw[at:], row_bytes, rows, channels * 2)):
            samples = struct.unpack(">%dH" % (columns * channels), row)
            for x in range(columns):
                pixel = samples[x * channels:x * channels + (3 if channels > 2 else 1)]
                if len(pixel) == 1:
                    pixel = pixel * 3
                to = ((y0 + y * dy) * width + x0 + x * dx) * 3
                picture[to:to + 3] = bytes(round(v / 257) for v in pixel)
        at += (row_bytes + 1) * rows
    return width, height, bytes(picture)


def wide_gray(image):
    values = array.array("H", image.tobytes())
    if (image.mode == "I;16B") == (sys.byteorder == "little"):
        values.byteswap()
    most = 4095 if image.tag_v2[258] == (12,) else 65535
    return image.size + (bytes(gray for value in values for gray in 3 * ((value * 255 + most // 2) // most,)),)


def picture_of(path):
    with Image.open(path) as image:
        image.load()
        with open(path, "rb") as file:
            head = file.read(26)
        if head.startswith(b"\x89PNG") and head[24:26] == b"\x10\0":
            return png16(path)
        if image.mode.startswith("I;16"):
            return wide_gray(image)
        if EXIF:
            image = ImageOps.exif_transpose(image)
        if BACKGROUND and image.has_transparency_data:
            over = Image.new("RGB", image.size, BACKGROUND)
            over.paste(image.convert("RGB"), mask=image.convert("RGBA").getchannel("A"))
            image = over
        return image.size + (image.convert("RGB").tobytes(),)


def main():
    if sys.argv[1:] == ["--version"]:
        print(PIL.__version__)
        return
    warnings.simplefilter("ignore")
    ImageFile.LOAD_TRUNCATED_IMAGES = "--accept-damaged" in sys.argv
    out = sys.stdout.buffer
    for line in sys.stdin:
        try:
            width, height, pixels = picture_of(line.rstrip("\n"))
            out.write(b"ok %d %d\n" % (width, height))
            out.write(pixels)
        except Exception as error:  # whatever Pillow raises is its verdict
            out.write(b"fault %s\n" % repr(error).replace("\n", " ").encode())


main()
