# SPDX-License-Identifier: Apache-2.0
"""What Pillow makes of the cases of paint_test.cpp.

Reads DIR/cases.json, a list of {"image", "width", "height", "operation", "amount"}: a file of interleaved RGB and what to
do to it, by the name that feedring gives it; of "rotate" and "transform" the amount is a list of arguments. Writes the pixels of all results to DIR/out, one after the other. Each
operation is the call that torchvision's function for Pillow images makes. Exits with 77 where Pillow is missing.
"""
import json
import pathlib
import sys

try:
    from PIL import Image, ImageEnhance, ImageOps
except ImportError as error:
    print(error)
    sys.exit(77)


def hue(image, share):
    h, s, v = image.convert("HSV").split()
    shift = int(share * 255) % 256
    return Image.merge("HSV", (h.point([(old + shift) % 256 for old in range(256)]), s, v)).convert("RGB")


OPERATIONS = {
    "grayscale": lambda image, _: Image.merge("RGB", [image.convert("L")] * 3),
    "solarize": ImageOps.solarize,
    "invert": lambda image, _: ImageOps.invert(image),
    "posterize": lambda image, bits: ImageOps.posterize(image, int(bits)),
    "autocontrast": lambda image, _: ImageOps.autocontrast(image),
    "equalize": lambda image, _: ImageOps.equalize(image),
    "brightness": lambda image, factor: ImageEnhance.Brightness(image).enhance(factor),
    "contrast": lambda image, factor: ImageEnhance.Contrast(image).enhance(factor),
    "saturation": lambda image, factor: ImageEnhance.Color(image).enhance(factor),
    "hue": hue,
    "rotate": lambda image, how: image.rotate(how[0], getattr(Image.Resampling, how[1].upper()), how[2], how[3],
                                              fillcolor=(9, 8, 7)),
    "transform": lambda image, how: image.transform(how[0], Image.Transform.AFFINE, how[1],
                                                    getattr(Image.Resampling, how[2].upper()), fillcolor=(9, 8, 7)),
    "sharpness": lambda image, factor: ImageEnhance.Sharpness(image).enhance(factor),
}


def main(folder):
    with open(folder / "out", "wb") as out:
        for case in json.loads((folder / "cases.json").read_text()):
            size = (case["width"], case["height"])
            image = Image.frombytes("RGB", size, (folder / case["image"]).read_bytes())
            out.write(OPERATIONS[case["operation"]](image, case["amount"]).tobytes())


main(pathlib.Path(sys.argv[1]))
