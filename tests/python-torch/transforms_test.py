# SPDX-License-Identifier: Apache-2.0
# torchvision's transforms, v1 and v2, against torchvision itself.
import numpy
import pytest
import torch
from PIL import Image

import feedring
from feedring.transforms import describe

torchvision = pytest.importorskip("torchvision")
from torchvision import transforms as v1  # noqa: E402

try:
    from torchvision.transforms import v2
except ImportError:  # before 0.15
    v2 = None
both = pytest.mark.parametrize("tv", [v1] + ([v2] if v2 else []))
needs_v2 = pytest.mark.skipif(v2 is None, reason="this torchvision has no transforms.v2")


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    noise = numpy.random.default_rng(1)
    for number, (width, height) in enumerate([(50, 40), (31, 64), (40, 40)]):
        coarse = Image.fromarray(noise.integers(0, 256, (7, 9, 3), dtype="uint8"))
        coarse.resize((width, height), Image.BICUBIC).save(folder / f"{number}.png")
    return folder


def arrived(photos, transform):
    """The three images, in order."""
    with feedring.Loader(photos, batch_size=3, shuffle=False, transform=transform, num_workers=1) as loader:
        return next(iter(loader))["images"].clone()


def expected(photos, transform):
    return torch.stack([transform(Image.open(photos / f"{number}.png").convert("RGB")) for number in range(3)])


# The producers resize as Pillow 9.4 does, byte for byte (tests/unit); later Pillows round a few values otherwise.
LEVEL = 1 / 255


def difference(photos, transform):
    return (arrived(photos, transform).float() - expected(photos, transform).float()).abs().max()


def test_v1_compose_arrives_as_torchvision_computes_it(photos):
    transform = v1.Compose([v1.Resize(32), v1.CenterCrop(24), v1.ToTensor(),
                            v1.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
    assert difference(photos, transform) < 1.01 * LEVEL / 0.224


def test_v1_pil_to_tensor_stays_in_bytes(photos):
    transform = v1.Compose([v1.Resize((20, 28), v1.InterpolationMode.BICUBIC), v1.PILToTensor()])
    assert arrived(photos, transform).dtype == torch.uint8
    assert difference(photos, transform) <= 1


def test_v1_convert_image_dtype(photos):
    transform = v1.Compose([v1.CenterCrop((16, 20)), v1.PILToTensor(), v1.ConvertImageDtype(torch.float32)])
    assert difference(photos, transform) < 1e-6


@needs_v2
def test_v2_compose_arrives_as_torchvision_computes_it(photos):
    transform = v2.Compose([v2.Resize(size=30, antialias=True), v2.CenterCrop(size=(24, 22)), v2.ToImage(),
                            v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean=[0.5] * 3, std=[0.25] * 3)])
    assert difference(photos, transform) < 1.01 * LEVEL / 0.25


@needs_v2
def test_v2_in_a_sequential_and_nested(photos):
    transform = v2.Compose([v2.Compose([v2.Resize([20, 20]), v2.Identity()]), v2.ToImage(), v2.ToPureTensor()])
    assert difference(photos, transform) <= 1
    flat = torch.nn.Sequential(v2.Resize([20, 20]), v2.ToDtype(torch.float16, scale=True))
    assert describe(flat)[1] == {"name": "ToDtype", "dtype": "float16", "scale": True}


@both
def test_random_ones_are_read_with_all_their_parameters(tv):
    steps = describe(tv.Compose([
        tv.RandomResizedCrop(20, scale=(0.2, 0.9), ratio=(0.5, 2.0), interpolation=v1.InterpolationMode.BICUBIC),
        tv.RandomCrop(16, padding=(1, 2), fill=(1, 2, 3), pad_if_needed=True), tv.RandomHorizontalFlip(p=0.3)]))
    left, top, right, bottom = 1, 2, 1, 2  # of (1, 2): left and right, top and bottom
    if len(steps[1]["padding"]) == 2:
        steps[1]["padding"] = [*steps[1]["padding"], *steps[1]["padding"]]
    assert steps == [
        {"name": "RandomResizedCrop", "size": [20, 20], "scale": [0.2, 0.9], "ratio": [0.5, 2.0],
         "interpolation": "bicubic"},
        {"name": "RandomCrop", "size": [16, 16], "padding": [left, top, right, bottom], "fill": [1, 2, 3],
         "pad_if_needed": True, "padding_mode": "constant"},
        {"name": "RandomHorizontalFlip", "p": 0.3}]


@both
def test_paddings_arrive_as_torchvision_makes_them(photos, tv):
    for mode in ("constant", "edge", "reflect", "symmetric"):
        for padding in (5, (3, 70), (1, 2, 3, 4)):
            transform = tv.Compose([tv.CenterCrop(32), tv.Pad(padding, fill=(9, 8, 7), padding_mode=mode),
                                    tv.RandomVerticalFlip(p=1.0), tv.PILToTensor()])
            assert difference(photos, transform) == 0, (mode, padding)


@both
def test_colours_arrive_as_torchvision_makes_them(photos, tv):
    for steps in ([tv.ColorJitter(brightness=(1.3, 1.3))], [tv.ColorJitter(contrast=(0.4, 0.4))],
                  [tv.ColorJitter(saturation=(1.9, 1.9))], [tv.ColorJitter(hue=(-0.2, -0.2))],
                  [tv.Grayscale(3)], [tv.RandomGrayscale(1.0)], [tv.RandomSolarize(100, 1.0)],
                  [tv.RandomPosterize(2, 1.0)], [tv.RandomAdjustSharpness(2, 1.0)], [tv.RandomAutocontrast(1.0)],
                  [tv.RandomEqualize(1.0)], [tv.RandomInvert(1.0)]):
        transform = tv.Compose([tv.CenterCrop(32), *steps, tv.PILToTensor()])
        assert difference(photos, transform) == 0, steps


@both
def test_warps_and_erasing_are_read_with_all_their_parameters(tv):
    bicubic = v1.InterpolationMode.BICUBIC
    assert describe(tv.Compose([
        tv.RandomRotation((3, 30), interpolation=bicubic, expand=True, center=(1, 2), fill=(1, 2, 3)),
        tv.RandomAffine(5, translate=(0.1, 0.2), scale=(0.5, 2), shear=7, fill=9),
        tv.GaussianBlur((5, 7), sigma=0.5), tv.RandomErasing(0.3, value=(1, 2, 3))])) == [
        {"name": "RandomRotation", "degrees": [3, 30], "expand": True, "center": [1, 2], "interpolation": "bicubic",
         "fill": [1, 2, 3]},
        {"name": "RandomAffine", "degrees": [-5, 5], "translate": [0.1, 0.2], "scale": [0.5, 2],
         "shear": [-7, 7], "interpolation": "nearest", "fill": 9},
        {"name": "GaussianBlur", "kernel_size": [5, 7], "sigma": [0.5, 0.5]},
        {"name": "RandomErasing", "p": 0.3, "scale": [0.02, 0.33], "ratio": [0.3, 3.3], "value": [1, 2, 3]}]
    assert describe(tv.RandomErasing(value="random"))[0]["value"] == "random"


@both
def test_chosen_and_nested_ones_are_read(photos, tv):
    chain = tv.Compose([
        tv.RandomApply([tv.ColorJitter(0.4), tv.Compose([tv.RandomGrayscale(0.3)])], p=0.8), tv.RandAugment(3, 7),
        tv.TrivialAugmentWide(fill=(1, 2, 3)), tv.AutoAugment(interpolation=v1.InterpolationMode.BILINEAR)])
    assert describe(chain) == [
        {"name": "RandomApply", "p": 0.8, "transforms": [{"name": "ColorJitter", "brightness": [0.6, 1.4]},
                                                         {"name": "RandomGrayscale", "p": 0.3}]},
        {"name": "RandAugment", "num_ops": 3, "magnitude": 7, "num_magnitude_bins": 31, "interpolation": "nearest"},
        {"name": "TrivialAugmentWide", "num_magnitude_bins": 31, "interpolation": "nearest", "fill": [1, 2, 3]},
        {"name": "AutoAugment", "interpolation": "bilinear"}]
    assert arrived(photos, tv.Compose([tv.CenterCrop(24), chain, tv.PILToTensor()])).shape == (3, 3, 24, 24)
    with pytest.raises(feedring.UsageError, match="svhn"):
        describe(tv.AutoAugment(v1.AutoAugmentPolicy.SVHN))


@both
def test_warps_arrive_as_torchvision_makes_them(photos, tv):
    for steps in ([tv.RandomRotation((33, 33), fill=7)],
                  [tv.RandomRotation((-70, -70), interpolation=v1.InterpolationMode.BILINEAR)]):
        transform = tv.Compose([tv.CenterCrop(32), *steps, tv.PILToTensor()])
        assert difference(photos, transform) == 0, steps


@both
def test_a_blur_differs_by_a_rounding_at_most(photos, tv):
    transform = tv.Compose([tv.CenterCrop(32), tv.GaussianBlur(9, sigma=(1.3, 1.3)), tv.PILToTensor()])
    ours, theirs = arrived(photos, transform).int(), expected(photos, transform).int()
    assert (ours - theirs).abs().max() <= 1
    assert (ours != theirs).float().mean() < 0.002


@both
def test_random_ones_run(photos, tv):
    images = arrived(photos, tv.Compose([tv.RandomCrop(16, padding=2), tv.RandomHorizontalFlip(p=1.0)]))
    assert images.shape == (3, 3, 16, 16)


@both
def test_one_that_is_not_supported_is_named(tv):
    with pytest.raises(feedring.UsageError, match=r"transform 2, torchvision\..*RandomPerspective, is not among"):
        describe(tv.Compose([tv.CenterCrop(8), tv.RandomPerspective()]))


def test_a_users_own_transform_is_not_taken_for_torchvisions():
    class RandomHorizontalFlip(v1.RandomHorizontalFlip):
        def forward(self, image):
            return image

    with pytest.raises(feedring.UsageError, match="RandomHorizontalFlip, is not among"):
        describe(RandomHorizontalFlip())
    with pytest.raises(feedring.UsageError, match="function, is not among"):
        describe(v1.Compose([lambda image: image]))


@needs_v2
def test_what_would_change_the_result_is_refused():
    with pytest.raises(feedring.UsageError, match="antialias=False"):
        describe(v2.Compose([v2.ToImage(), v2.Resize(8, antialias=False)]))
    with pytest.raises(feedring.UsageError, match="float64"):
        describe(v2.ToDtype(torch.float64, scale=True))
    with pytest.raises(feedring.UsageError, match="fill="):
        describe(v2.RandomCrop(8, fill={object: 3}))
