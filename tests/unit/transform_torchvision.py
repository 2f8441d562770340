# SPDX-License-Identifier: Apache-2.0
"""What torchvision.transforms.v2 makes of the chains that transform_torchvision_test.cpp wrote down.

Reads DIR/cases.json, a list of {"width", "height", "image", "transform", "choices", "layout"}: a file of interleaved RGB,
the chain as in a feed's configuration, and what its random steps drew. Writes DIR/N.out, the bytes of the result. Random
steps get the recorded choices through the functions that the transforms themselves call. Exits with 77 where torchvision
or its v2 is missing.
"""
import json
import pathlib
import sys

try:
    import PIL.Image
    import torch
    from torchvision.transforms import v2
    from torchvision.transforms.v2 import functional as F
except ImportError as error:
    print(error)
    sys.exit(77)


pillow_resize = PIL.Image.Image.resize


def rows_first(image, size, resample=None, *_, **__):
    """Resizes the rows, then the columns, as Pillow 9 does; newer ones choose the order by the amount of work."""
    return pillow_resize(pillow_resize(image, (size[0], image.height), resample), size, resample)


PIL.Image.Image.resize = rows_first


def pair(size):
    return [size, size] if isinstance(size, int) else size


def check_magnitude(chooser, step, image, op, magnitude):
    """It is one of those that torchvision would draw."""
    bins = 10 if "num_magnitude_bins" not in vars(chooser) else step.get("num_magnitude_bins", 31)
    values, _ = chooser._AUGMENTATION_SPACE[op]
    values = values(bins, image.height, image.width)
    if values is None:
        return
    if isinstance(chooser, v2.RandAugment):
        values = values[step.get("magnitude", 9)].reshape(1)
    nearest = min(abs(abs(magnitude) - float(value)) for value in values)
    assert nearest <= 1e-6 * max(1, abs(magnitude)), (op, magnitude, values)


# What is done or left out: the word for it in the choices, and the function.
OPERATIONS = {
    "RandomGrayscale": ("grayscale", lambda image, step: F.rgb_to_grayscale(image, 3)),
    "RandomInvert": ("invert", lambda image, step: F.invert(image)),
    "RandomPosterize": ("posterize", lambda image, step: F.posterize(image, step["bits"])),
    "RandomSolarize": ("solarize", lambda image, step: F.solarize(image, step["threshold"])),
    "RandomAdjustSharpness": ("sharpness", lambda image, step: F.adjust_sharpness(image, step["sharpness_factor"])),
    "RandomAutocontrast": ("autocontrast", lambda image, step: F.autocontrast(image)),
    "RandomEqualize": ("equalize", lambda image, step: F.equalize(image)),
}


def sides(padding):
    """Left, top, right, bottom."""
    padding = pair(padding)
    return padding * 2 if len(padding) == 2 else padding


def apply(image, step, choices):
    name = step.pop("name")
    if name == "RandomResizedCrop":
        crop = choices.pop(0)["crop"]
        mode = v2.InterpolationMode(step.get("interpolation", "bilinear"))
        return F.resized_crop(image, crop["y"], crop["x"], crop["height"], crop["width"], pair(step["size"]), mode)
    if name == "RandomCrop":
        crop = choices.pop(0)["crop"]
        left, top = max(-crop["x"], 0), max(-crop["y"], 0)
        right = max(crop["x"] + crop["width"] - image.width, 0)
        bottom = max(crop["y"] + crop["height"] - image.height, 0)
        fill = step.get("fill", 0)
        # The padding in full: what a mode makes of the far side depends on it.
        left, top, right, bottom = (max(a, b) for a, b in zip((left, top, right, bottom), sides(step.get("padding", 0))))
        padded = F.pad(image, [left, top, right, bottom], fill=tuple(fill) if isinstance(fill, list) else fill,
                       padding_mode=step.get("padding_mode", "constant"))
        return F.crop(padded, crop["y"] + top, crop["x"] + left, crop["height"], crop["width"])
    if name == "RandomHorizontalFlip":
        return F.horizontal_flip(image) if choices.pop(0)["flip"] else image
    if name == "RandomVerticalFlip":
        return F.vertical_flip(image) if choices.pop(0)["vertical_flip"] else image
    if name == "RandomApply":
        if choices.pop(0)["apply"]:
            for inner in step["transforms"]:
                image = apply(image, inner, choices)
        return image
    if name in ("RandAugment", "TrivialAugmentWide", "AutoAugment"):
        chooser = getattr(v2, name)(interpolation=v2.InterpolationMode(step.get("interpolation", "nearest")),
                                    fill=step.get("fill"))
        left = {"RandAugment": step.get("num_ops", 2), "TrivialAugmentWide": 1, "AutoAugment": 2}[name]  # at most
        while left > 0 and choices and "augment" in choices[0]:
            left -= 1
            drawn = choices.pop(0)["augment"]
            check_magnitude(chooser, step, image, drawn["op"], drawn["magnitude"])
            image = chooser._apply_image_or_video_transform(image, drawn["op"], drawn["magnitude"],
                                                            chooser.interpolation, chooser._fill)
        return image
    if name == "GaussianBlur":
        return F.gaussian_blur(image, pair(step["kernel_size"]), [choices.pop(0)["blur"]] * 2)
    if name == "RandomErasing":
        part = choices.pop(0)["erase"]
        if part is None:
            return image
        value = step.get("value", 0)
        value = torch.tensor(value if isinstance(value, list) else [value], dtype=torch.float32)[:, None, None]
        return F.erase(image, part["y"], part["x"], part["height"], part["width"], value)
    if name == "RandomRotation":
        return F.rotate(image, choices.pop(0)["rotate"], v2.InterpolationMode(step.get("interpolation", "nearest")),
                        step.get("expand", False), step.get("center"), step.get("fill", 0))
    if name == "RandomAffine":
        return F.affine(image, **choices.pop(0)["affine"], fill=step.get("fill", 0), center=step.get("center"),
                        interpolation=v2.InterpolationMode(step.get("interpolation", "nearest")))
    if name == "ColorJitter":
        for _ in [key for key in ("brightness", "contrast", "saturation", "hue") if step.get(key)]:
            (drawn, amount), = choices.pop(0).items()
            image = getattr(F, "adjust_" + drawn)(image, amount)
        return image
    if name in OPERATIONS:
        drawn, does = OPERATIONS[name]
        return does(image, step) if choices.pop(0)[drawn] else image
    if name in ("ToDtype", "Normalize") and isinstance(image, PIL.Image.Image):
        image = F.to_image(image)
    if name == "ToDtype":
        step["dtype"] = getattr(torch, step["dtype"])
    if name == "Resize":
        step.setdefault("size", None)
        step["interpolation"] = v2.InterpolationMode(step.get("interpolation", "bilinear"))
    return getattr(v2, name)(**step)(image)


def main(folder):
    for number, case in enumerate(json.loads((folder / "cases.json").read_text())):
        rgb = (folder / case["image"]).read_bytes()
        image = PIL.Image.frombytes("RGB", (case["width"], case["height"]), rgb)
        for step in case["transform"]:
            image = apply(image, step, case["choices"])
        if isinstance(image, PIL.Image.Image):
            image = F.pil_to_tensor(image)
        if case["layout"] == "NHWC":
            image = image.permute(1, 2, 0)
        data = image.contiguous().flatten().view(torch.uint8)
        (folder / f"{number}.out").write_bytes(data.numpy().tobytes())


main(pathlib.Path(sys.argv[1]))
