# SPDX-License-Identifier: Apache-2.0
# feedring.decode: the pixels of a loader, and Pillow's, one picture at a time.
import io
import threading

import numpy
import pytest
from PIL import Image

import feedring
from feedring import decode

CHAIN = [{"name": "RandomResizedCrop", "size": [12, 10]}, {"name": "RandomHorizontalFlip"},
         {"name": "ColorJitter", "brightness": 0.4, "hue": 0.1}, {"name": "ToDtype", "dtype": "float32", "scale": True},
         {"name": "Normalize", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4]}]


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Seven JPEGs of noise over a ramp, in the order of their names."""
    folder = tmp_path_factory.mktemp("photos")
    random = numpy.random.default_rng(1)
    for number in range(7):
        size = (40 + 3 * number, 61 - 2 * number)
        ramp = numpy.add.outer(numpy.arange(size[1]), numpy.arange(size[0]))[..., None] * [1, 2, 3]
        pixels = (ramp + random.integers(0, 60, (size[1], size[0], 3))) % 256
        Image.fromarray(pixels.astype("uint8")).save(folder / f"{number}.jpg", quality=92)
    return folder


def test_a_whole_picture_is_pillows(photos):
    for file in sorted(photos.iterdir()):
        image = numpy.asarray(Image.open(file).convert("RGB"))
        for picture in (file, str(file), file.read_bytes(), memoryview(file.read_bytes())):
            pixels = decode(picture, backend="numpy")
            assert pixels.dtype == numpy.uint8 and pixels.shape == (3, *image.shape[:2])
            assert (pixels.transpose(1, 2, 0) == image).all()


def test_it_has_the_pixels_of_a_loader(photos):
    files = sorted(photos.iterdir())
    seen = 0
    with feedring.Loader(photos, batch_size=3, transform=CHAIN, seed=5, num_workers=1, timeout=30, backend="numpy",
                         drop_last=True) as loader:
        for epoch in range(2):
            for step, batch in enumerate(loader):
                for row, sample in enumerate(batch["sample_ids"].tolist()):
                    pixels = decode(files[sample], CHAIN, seed=5, epoch=epoch, ordinal=3 * step + row, backend="numpy")
                    assert (pixels == batch["images"][row]).all()
                    assert pixels.strides == batch["images"][row].strides
                    seen += 1
    assert seen == 12


def test_it_is_what_a_feed_of_a_configuration_says(photos, tmp_path):
    config = tmp_path / "feed.toml"
    config.write_text("""
[feed.train]
data = "nowhere"
views.wide = { count = 2, transform = [ { name = "RandomResizedCrop", size = [12, 3] } ] }
views.small = { transform = [ { name = "RandomResizedCrop", size = 6 } ] }
[feed.val]
data = "nowhere"
layout = "NCHW"
transform = [ { name = "Resize", size = [9, 3] } ]
""")
    file = photos / "3.jpg"
    first, second = (decode(file, config=config, feed="train", number=number, backend="numpy") for number in (0, 1))
    assert first.shape == second.shape == (3, 12, 3) and (first != second).any()
    assert (first == decode(file, [{"name": "RandomResizedCrop", "size": [12, 3]}], backend="numpy")).all()
    assert (decode(file, config=config, backend="numpy") == first).all(), "the first feed, its first view"
    assert decode(file, config=config, view="small", backend="numpy").shape == (3, 6, 6)
    val = decode(file, config=config, feed="val", backend="numpy")
    resized = Image.open(file).convert("RGB").resize((3, 9), Image.BILINEAR)
    assert val.flags.c_contiguous and (val.transpose(1, 2, 0) == numpy.asarray(resized)).all()
    config.write_text(config.read_text().replace("[9, 3]", "[10, 3]"))
    assert decode(file, config=config, feed="val", backend="numpy").shape == (3, 10, 3), "it is read again"


def test_pixels_are_the_callers(photos):
    pixels = decode(photos / "0.jpg", backend="numpy")
    before = pixels.copy()
    decode(photos / "1.jpg", backend="numpy")
    assert (pixels == before).all()
    pixels[:] = 0


def test_options_of_reading_are_a_loaders(photos):
    image = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    file = io.BytesIO()
    image.save(file, "PNG")
    assert (decode(file.getvalue(), background=(9, 8, 7), backend="numpy")[:, 0, 0] == [9, 8, 7]).all()
    whole = (photos / "0.jpg").read_bytes()
    with pytest.raises(feedring.DataError, match="truncated|premature|end"):
        decode(whole[:len(whole) // 2])
    assert decode(whole[:len(whole) // 2], accept_damaged=True, backend="numpy").shape == (3, 61, 40)


def test_what_is_wrong_is_said(photos, tmp_path):
    text = tmp_path / "text.jpg"
    text.write_text("This is no picture.")
    with pytest.raises(feedring.DataError, match="text.jpg.*no known image format") as caught:
        decode(text)
    assert caught.value.path == str(text)
    with pytest.raises(feedring.DataError, match="no known image format"):
        decode(b"This is no picture.")
    with pytest.raises(feedring.DataError, match="none.jpg: No such file"):
        decode(tmp_path / "none.jpg")
    with pytest.raises(feedring.UsageError, match="did you mean"):
        decode(photos / "0.jpg", [{"name": "Resise", "size": 8}])
    with pytest.raises(feedring.UsageError, match="leave out transform"):
        decode(photos / "0.jpg", CHAIN, config="feed.toml")
    with pytest.raises(feedring.UsageError, match="give config"):
        decode(photos / "0.jpg", feed="val")
    with pytest.raises(feedring.UsageError, match="view 1 was asked for"):
        decode(photos / "0.jpg", CHAIN, number=1)
    with pytest.raises(TypeError):
        decode(17)


def test_threads_decode_at_once(photos):
    files = sorted(photos.iterdir())
    alone = [decode(file, CHAIN, ordinal=3, backend="numpy") for file in files]
    wrong = []

    def work(place):
        for turn in range(30):
            at = (place + turn) % len(files)
            if (decode(files[at], CHAIN, ordinal=3, backend="numpy") != alone[at]).any():
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
