# SPDX-License-Identifier: Apache-2.0
"""Transforms as torchvision writes them, read by their attributes: producers run feedring's own, which mean the same.

Nothing of torchvision is imported or run, so that its version does not matter; v1 and v2 are told by their modules.
"""

from __future__ import annotations

from .errors import UsageError

_MODULES = tuple(f"torchvision.transforms.{name}" for name in ("transforms", "autoaugment", "v2", "_"))
_DTYPES = ("uint8", "float32", "float16", "bfloat16")


def describe(transform: object) -> list[dict]:
    """feedring's list of transforms for a list of dicts, a transform of torchvision, or a Compose of them.

    Raises UsageError, naming the transform, for one that producers cannot run.
    """
    if isinstance(transform, dict):
        transform = [transform]
    if isinstance(transform, (list, tuple)) and all(isinstance(step, dict) for step in transform):
        for place, step in enumerate(transform, 1):
            if not isinstance(step.get("name"), str):
                raise UsageError(f"transform {place} must be a dict with a \"name\", not {step!r}")
        return [dict(step) for step in transform]
    return _Walk().run(transform)


class _Walk:
    """Through the steps in order: what a step means depends on whether the image is a tensor yet."""

    def __init__(self) -> None:
        self.steps: list[dict] = []
        self.is_tensor = False  # torchvision resizes those otherwise than PIL images
        self.place = 0

    def run(self, transform: object) -> list[dict]:
        for each in _flat(transform):
            self.place += 1
            self.add(each)
        return self.steps

    def add(self, each: object) -> None:
        name = type(each).__name__
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            self.steps.append(dict(each))
            return
        read = getattr(self, "_" + name, None)
        if not type(each).__module__.startswith(_MODULES) or read is None:
            self.refuse(each, "is not among what producers run (docs/configuration.md lists that)")
        read(each)

    def refuse(self, each: object, why: str) -> None:
        kind = type(each)
        raise UsageError(f"transform {self.place}, {kind.__module__}.{kind.__qualname__}, {why}; leave it out of "
                         "the loader's transform and apply it to the batches")

    # What makes tensors of images: the batches are tensors from the start.
    def _PILToTensor(self, each: object) -> None:
        self.is_tensor = True

    _ToImage = _ToPureTensor = _PILToTensor

    def _ToTensor(self, each: object) -> None:
        self.is_tensor = True
        self.steps.append({"name": "ToDtype", "dtype": "float32", "scale": True})

    def _ConvertImageDtype(self, each: object) -> None:
        self.to_dtype(each, each.dtype, True)

    def _ToDtype(self, each: object) -> None:
        self.to_dtype(each, each.dtype, bool(getattr(each, "scale", False)))

    def to_dtype(self, each: object, dtype: object, scale: bool) -> None:
        name = str(dtype).rsplit(".", maxsplit=1)[-1]  # torch.float32
        if name not in _DTYPES:
            self.refuse(each, f"makes {dtype!r} of images, and a batch's are one of {', '.join(_DTYPES)}")
        self.steps.append({"name": "ToDtype", "dtype": name, "scale": scale})

    def _Resize(self, each: object) -> None:
        self.steps.append(self.resizing(each, {"size": _size(each.size), "max_size": getattr(each, "max_size", None)}))

    def _RandomResizedCrop(self, each: object) -> None:
        self.steps.append(self.resizing(each, {"size": _size(each.size), "scale": list(each.scale),
                                               "ratio": list(each.ratio)}))

    def resizing(self, each: object, step: dict) -> dict:
        if self.is_tensor and getattr(each, "antialias", True) is False:
            self.refuse(each, "has antialias=False on a tensor, and producers always smooth")
        interpolation = getattr(each, "interpolation", "bilinear")
        step["interpolation"] = str(getattr(interpolation, "value", interpolation))
        return {"name": type(each).__name__, **{key: value for key, value in step.items() if value is not None}}

    def _CenterCrop(self, each: object) -> None:
        self.steps.append({"name": "CenterCrop", "size": _size(each.size)})

    def _RandomCrop(self, each: object) -> None:
        step = {"name": "RandomCrop", "size": _size(each.size), "pad_if_needed": bool(each.pad_if_needed),
                "padding_mode": str(each.padding_mode)}
        if each.padding is not None:
            step["padding"] = each.padding if isinstance(each.padding, int) else list(each.padding)
            if type(each).__module__.startswith("torchvision.transforms.v2") and isinstance(step["padding"], list):
                left, right, top, bottom = step["padding"]  # the order in which v2 keeps what it was given
                step["padding"] = [left, top, right, bottom]
        self.steps.append({**step, **self.filling(each)})

    def _Pad(self, each: object) -> None:
        padding = each.padding if isinstance(each.padding, int) else list(each.padding)
        self.steps.append({"name": "Pad", "padding": padding, "padding_mode": str(each.padding_mode),
                           **self.filling(each)})

    def filling(self, each: object) -> dict:
        fill = each.fill
        if fill is None:
            return {}
        if isinstance(fill, (tuple, list)):
            return {"fill": [int(value) for value in fill]}
        if not isinstance(fill, (int, float)):
            self.refuse(each, f"has fill={fill!r}; producers take a number, or three")
        return {"fill": int(fill)}

    def _with_probability(self, each: object) -> None:
        self.steps.append({"name": type(each).__name__, "p": float(each.p)})

    _RandomHorizontalFlip = _RandomVerticalFlip = _RandomGrayscale = _with_probability
    _RandomAutocontrast = _RandomEqualize = _RandomInvert = _with_probability

    def _RandomSolarize(self, each: object) -> None:
        self.steps.append({"name": "RandomSolarize", "threshold": float(each.threshold), "p": float(each.p)})

    def _RandomPosterize(self, each: object) -> None:
        self.steps.append({"name": "RandomPosterize", "bits": int(each.bits), "p": float(each.p)})

    def _RandomAdjustSharpness(self, each: object) -> None:
        self.steps.append({"name": "RandomAdjustSharpness", "sharpness_factor": float(each.sharpness_factor),
                           "p": float(each.p)})

    def _Grayscale(self, each: object) -> None:
        self.steps.append({"name": "Grayscale", "num_output_channels": int(each.num_output_channels)})

    def _GaussianBlur(self, each: object) -> None:
        self.steps.append({"name": "GaussianBlur", "kernel_size": [int(side) for side in each.kernel_size],
                           "sigma": [float(value) for value in each.sigma]})

    def _RandomErasing(self, each: object) -> None:
        value = each.value
        if value is None or value == "random":
            value = "random"
        elif not isinstance(value, (int, float)):
            value = [float(part) for part in value]
        self.steps.append({"name": "RandomErasing", "p": float(each.p), "scale": [float(part) for part in each.scale],
                           "ratio": [float(part) for part in each.ratio], "value": value})

    def _RandomRotation(self, each: object) -> None:
        self.steps.append(self.warping(each, {"degrees": list(each.degrees), "expand": bool(each.expand)}))

    def _RandomAffine(self, each: object) -> None:
        ranges = {key: getattr(each, key) for key in ("translate", "scale", "shear")}
        self.steps.append(self.warping(each, {"degrees": list(each.degrees),
                                              **{key: list(drawn) for key, drawn in ranges.items() if drawn is not None}}))

    def warping(self, each: object, step: dict) -> dict:
        if each.center is not None:
            step["center"] = list(each.center)
        interpolation = each.interpolation
        return {"name": type(each).__name__, **step, "interpolation": str(getattr(interpolation, "value", interpolation)),
                **self.filling(each)}

    def _RandomApply(self, each: object) -> None:
        outside, self.steps = self.steps, []
        for inner in _flat(list(each.transforms)):
            self.add(inner)
        self.steps = [*outside, {"name": "RandomApply", "transforms": self.steps, "p": float(each.p)}]

    def _RandAugment(self, each: object) -> None:
        self.steps.append(self.choosing(each, "num_ops", "magnitude", "num_magnitude_bins"))

    def _TrivialAugmentWide(self, each: object) -> None:
        self.steps.append(self.choosing(each, "num_magnitude_bins"))

    def _AutoAugment(self, each: object) -> None:
        policy = str(getattr(each.policy, "value", each.policy))
        if policy != "imagenet":
            self.refuse(each, f"has the policy {policy}, and producers have that of imagenet")
        self.steps.append(self.choosing(each))

    def choosing(self, each: object, *numbers: str) -> dict:
        interpolation = each.interpolation
        return {"name": type(each).__name__, **{name: int(getattr(each, name)) for name in numbers},
                "interpolation": str(getattr(interpolation, "value", interpolation)), **self.filling(each)}

    def _ColorJitter(self, each: object) -> None:
        ranges = {key: getattr(each, key) for key in ("brightness", "contrast", "saturation", "hue")}
        self.steps.append({"name": "ColorJitter", **{key: [float(value) for value in drawn]
                                                     for key, drawn in ranges.items() if drawn is not None}})

    def _Normalize(self, each: object) -> None:
        self.steps.append({"name": "Normalize", "mean": [float(value) for value in each.mean],
                           "std": [float(value) for value in each.std]})

    def _Identity(self, each: object) -> None:
        pass


def _size(size: object) -> object:
    """One number is the shorter side, for which v2 keeps [size]; two are height and width."""
    if size is None or isinstance(size, int):
        return size
    sides = [int(side) for side in size]
    return sides[0] if len(sides) == 1 else sides


def _flat(transform: object):
    """The steps of nested Compose, nn.Sequential, lists and tuples."""
    kind = type(transform)
    if isinstance(transform, (list, tuple)):
        parts = transform
    elif kind.__name__ == "Compose" and kind.__module__.startswith(_MODULES):
        parts = transform.transforms
    elif kind.__name__ == "Sequential" and kind.__module__.startswith("torch.nn."):
        parts = transform.children()
    else:
        yield transform
        return
    for part in parts:
        yield from _flat(part)
