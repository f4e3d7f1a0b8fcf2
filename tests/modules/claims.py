"""Numbers of the lessons that are said in words: exercises, answers and examples, each phrase with its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tests.modules.formulas import SCORES, K, Q, V, softmax, weights


def _of(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def _share(*scores: float) -> np.ndarray:
    """The softmax of some scores."""
    return softmax(_of(*scores) - max(scores))


def _nudged(more: float) -> float:
    """The second entry of the output of The, if the scaled score of cat were larger."""
    return float(_share(*(SCORES / 2 + _of(0, more, 0, 0, 0))) @ V[:, 1])


QUERY = _of(2, 1)
_BANK = _of(0, 2, 2)  # how well bank matches she, river and itself
_RIVER = _share(*_BANK / np.sqrt(2)) @ np.array([[0, 0], [2, 0], [1, 1]])  # bank by the river, in module 02
_BANKS = np.array([[2, 0], [0, 2], [1, 1]])  # water and money in river, money and bank
_MIXED = _of(2, -1, 1)
_LOW = _of(-3, 1)
_TOKEN = _of(3, 4, 0, 0)
_PHI_K = np.array([[1, 1], [3, 0]])
_FEATURES = (Q + 1.0) @ (K + 1.0).T
_LINEAR = _FEATURES / _FEATURES.sum(axis=1, keepdims=True)
_PHI_9 = [np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))) for x in (_of(9, 0), _of(9, -9), _of(-9, 9))]
_CORNERS = np.array([[0, 0], [4, 0], [0, 4]])

_FIRST = _of(1, 1, 0, 0) / 2
_SECOND = (_FIRST * np.exp(-0.5) + _of(0, 0, np.exp(-1), 1)) / (2 * np.exp(-0.5) + np.exp(-1) + 1)
_DIVIDED = (_SECOND + np.exp(-0.5) / 2) / (3 * np.exp(-0.5) + np.exp(-1) + 1)  # row on, divided in every tile
_EYE = 20 * np.eye(12) + 1  # the features of wide keys
_GPT_CACHE = 9663676416 / 1e9  # the GB of the cache of one text of GPT-3

CLAIMS: Mapping[str, Mapping[str, Sequence[float] | np.ndarray]] = {
    "01_softmax": {
        "2, −1, 1 become 1, −.5, .5": [*_MIXED, *_MIXED / _MIXED.sum()],
        "−3 and 1 become .75 and .25": [*_LOW, *np.abs(_LOW) / np.abs(_LOW).sum()],
        "2 and 1.999 become 1 and 0": [2, 1.999, 1, 0],
        "At 0.1 *cat* has .9932, at 0.01 it has 1.": [0.1, _share(*SCORES / 0.1)[1], 0.01, _share(*SCORES / 0.01)[1]],
        "the weights are .25 and .75": _share(0, np.log(3)),
        "$1 / (1 + e^{-2})$, which is .8808": [1, 1, -2, _share(2, 0)[0]],
        "the weight is .7311": _share(1, 0)[:1],
        "| 1 | 7.3891 | 7.3891 | 15.7781 |": [*np.exp(_BANK), np.exp(_BANK).sum()],
        "| .0634 | .4683 | .4683 | 1 |": [*_share(*_BANK), 1],
        "47 % *river*, 47 % of what it was before, and 6 % *she*": 100 * _share(*_BANK)[::-1],
        "$\\ln 9 = 2.1972$ and the score is 4.1972": [9, np.log(9), 2 + np.log(9)],
        # the page before the first lesson
        ".5 · (1, 1) + .5 · (2, 0) = (1.5, .5)": [0.5, 1, 1, 0.5, 2, 0, *(_of(1, 1) + _of(2, 0)) / 2],
        "(1, 1) has the products 0 with *she*, 2 with *river*, 2 with *money*, and 2 with itself": [
            *(1, 1),
            *(_of(1, 1) @ word for word in (_of(0, 0), _of(2, 0), _of(0, 2), _of(1, 1))),
        ],
        "1 · 3 + 2 · 4 = 11": [1, 3, 2, 4, _of(1, 2) @ _of(3, 4)],
        "about .05": np.exp([-3]),
        "a hundred steps keep 0.9^100": [0.9, 100],
        "7: 0 and 1, because": [7, _of(-1, 1).mean(), _of(-1, 1).var()],
        "angle 0, product 5": [0, QUERY @ QUERY],
        "B is at 37 degrees: 4": [np.degrees(np.arccos(4 / 5)), QUERY @ _of(1, 2)],
        "D is opposite: −5": [QUERY @ _of(-2, -1)],
        "its product is 8": [QUERY @ _of(2, 4)],
        "for A it is 1, for B and E it is .8": [1, 4 / 5],
    },
    "02_loop_attention": {
        "goes from .73 at width 1 to nearly 1 at width 64": [_share(1, 0)[0], 1, _share(8, 0)[0].round(2), 64],
        "the weights are .7311 and .2689": _share(1, 0),
        "for *river* it is 1 · 2 + 1 · 0 = 2": [1, 2, 1, 0, _of(1, 1) @ _of(2, 0)],
        "gave .0634, .4683 and .4683": _share(*_BANK),
        "It stays (1, 1). All its scores are 2": [*_share(2, 2, 2) @ _BANKS, *(_BANKS @ _of(1, 1))[:1]],
        "128 wide, so each score needs 128 multiply-adds, and 128 more to mix the values: 10 million million": [
            *(12288 / 96, 128, 128),
            96 * 96 * 2048**2 * 2 * 128 / 1e12,
        ],
        "$e^{1 / \\sqrt 2} = 2.0281$": [1, 2, np.exp(1 / np.sqrt(2))],
        ".382 / .236 = 1.6186": [0.382, 0.236, 0.382 / 0.236],
        "divided by 2.08": [1 / np.log(0.382 / 0.236)],
        "would be 0 and .125, and the weight .5312": [0, 8 / 64, _share(8 / 64, 0)[0]],
        "the weights of *cat* would sum to 1.1271, and those of *on* to .8997": weights(K, Q).sum(axis=0)[[1, 3]],
        "The output is 12.6894": [_share(1, 0) @ _of(10, 20)],
        "Scores need 84, the output needs 42: together 126 multiplications": [3 * 7 * 4, 3 * 7 * 2, 3 * 7 * 6],
        "*mat* gives .2430 to itself": weights(Q, K)[4, 4:],
        "*cat* gives .2442 to *sat*": weights(Q, K)[1, 2:3],
    },
    "03_attention": {
        "takes .6728 from *river* instead of .4458, and becomes (1.5093, .1636)": [
            _share(0, np.sqrt(2), 0)[1],
            _share(0, np.sqrt(2), np.sqrt(2))[1],
            *(_share(0, np.sqrt(2), 0) @ np.array([[0, 0], [2, 0], [1, 1]])),
        ],
        "The last rows are (1.3374, .4458) and (.4458, 1.3374)": [*_RIVER, *_RIVER[::-1]],
        "| 0 | 0 | .1636 |": [0, 0, _share(0, np.sqrt(2), 0)[0]],
        "| 2 | 1.4142 | .6728 |": [2, 2 / np.sqrt(2), _share(0, np.sqrt(2), 0)[1]],
        "14 · 14 = 196 patches. Each is a list of 16 · 16 · 3 = 768": [14, 224 / 16, 14 * 14, 16, 16, 3, 16 * 16 * 3],
        "| 48 | 8 | 500 | 96 million |": [48, 8, 500, 48 * 8 * 500**2 / 1e6],
        "196 patches and a class token": [(224 / 16) ** 2],
        "(1, 1) is the mean with the weights .5, .25 and .25": [*_of(0.5, 0.25, 0.25) @ _CORNERS, 0.5, 0.25, 0.25],
        "it would need the weights .75 and .75": np.linalg.solve(_CORNERS[1:].T, _of(3, 3)),
        "plus 1 times the second: (2, 3, 3)": [1, *_of(2, 1) @ np.array([[1, 0, 1], [0, 3, 1]])],
        "until that key gets 98 % of the weight": [100 * weights(10 * np.eye(4), np.eye(4))[0, 0]],
    },
    "04_masks": {
        ": 15 for five tokens": [np.tri(5).sum()],
        "table of 8 by 8 into blocks of 2 by 2. Of the 16 blocks, 6 are above the diagonal": [
            *(8, 8, 2, 2, 4 * 4, np.triu(np.ones((4, 4)), 1).sum()),
        ],
        "1 + 2 + 3 + 4 = 10 links are allowed, and 6 of 16 are blocked": [1, 2, 3, 4, np.tri(4).sum(), 6, 4 * 4],
        "the weights are .4683, .4683 and .0634": _share(2, 2, 0),
    },
    "05_torch_attention": {
        "by .1, and compute everything again: .4313. That is .0178 more, or .178 for each": [
            *(0.1, _nudged(0.1), _nudged(0.1) - _nudged(0), (_nudged(0.1) - _nudged(0)) / 0.1),
        ],
        "by .01 only: .00175 more, or .175 for each": [
            *(0.01, _nudged(0.01) - _nudged(0), (_nudged(0.01) - _nudged(0)) / 0.01),
        ],
        "In float16, 1 + .0001 is 1 again": [16, 1, 0.0001, float(np.float16(1) + np.float16(0.0001))],
        "a gradient below 3e−8 becomes 0": [2.0**-25 * 1e8, -8, float(np.float16(2.9e-8))],
        "rises from .5 to 1. Its slope falls from .25": [0.5, _share(16, 0)[0].round(4), _share(0, 0).prod()],
        "the typical score is 22.63, and the typical difference of *two* scores is 32": [
            np.sqrt(512),
            np.sqrt(512 + 512),
        ],
        "the smaller of two such weights is about 1.3e−14": [_share(32, 0)[1] * 1e14, -14],
        "Divided by 22.63, the scores differ by 1.41": [np.sqrt(512), 32 / np.sqrt(512)],
        "the smaller weight is .1956, and the slope is .1573": [
            _share(np.sqrt(2), 0)[1],
            _share(np.sqrt(2), 0).prod(),
        ],
        "12 layers of 12 heads and 1024 tokens in float32, the weights alone take 576 MiB": [
            *(12, 12, 1024, 32),
            12 * 12 * 1024**2 * 4 / 2**20,
        ],
        ".5 · (2 − 1) = .5 and .5 · (0 − 1) = −.5": [0.5, 2, 1, 0.5, 0.5, 0, 1, -0.5],
    },
    "06_multi_head_attention": {
        "are .37 for The and sat in head 0": [weights(Q[:, :2], K[:, :2])[1].max(), 0],
        "and .27 for The and on in head 1": [weights(Q[:, 2:], K[:, 2:])[1].max(), 1],
        "make 39 billion weights: 155 GB in float32. For 32 texts it is 4.9 TB": [
            *(96 * 96 * 2048**2 / 1e9, 4 * 96 * 96 * 2048**2 / 1e9, 32, 32),
            32 * 4 * 96 * 96 * 2048**2 / 1e12,
        ],
        "the memory of 62 GPUs of 80 GB": [32 * 4 * 96 * 96 * 2048**2 / 80e9, 80],
        "7 = 1 · 4 + 3": [1 * 4 + 3, 7 // 4, 4, 7 % 4],
        "Four layers of 8 · 8 + 8 are 288 parameters": [8, 8, 8, 4 * (8 * 8 + 8)],
        "For a width of 512, the projections are the larger part up to 1024": [512, 8 * 512**2 / (4 * 512)],
        "each half is 2. Divided by the root of 2, it is 1.4142": [2 * 2 / 2, 2, 2 / np.sqrt(2)],
    },
    "07_gpu_path": {
        "without a break until 16": [1 + 5 * 3],
        "take turns and are done at 20": [5 * (1 + 3)],
        "At 1 + 10 · 3 = 31": [1, 10, 3, 1 + 10 * 3],
        "each step takes 1 + 3, together 40": [1, 3, 10 * (1 + 3)],
        "128 · 16 · 16 = 32768 is below 65504": [128, 16, 16, 128 * 16 * 16, float(np.finfo(np.float16).max)],
        "With features of 32 it would be 131072": [32, 128 * 32 * 32],
        "by the root of 128, it is about 11585": [128, 128 * 32 * 32 / np.sqrt(128)],
        "1 MiB of bools for n = 1024, twice the output. Some kernels also make a float copy of it, 4 MiB": [
            *(1024**2 / 2**20, 1024, 1024**2 * 4 / 2**20),
        ],
        "102400 is 25 · 4096": [25 * 4096, 25, 4096],
        "With 96 layers of 96 heads, all tables of one text take 144 GiB in float32, and 72 GiB in 16 bits": [
            *(96, 96, 96 * 96 * 2048**2 * 4 / 2**30, 32, 96 * 96 * 2048**2 * 2 / 2**30, 16),
        ],
        "16 MiB. That is more than the output": [4096**2 / 2**20],
    },
    "08_positions": {
        "(0, 3), with the product 0, and (−3, 0), with the product −9": [0, 3, 0, -3, 0, -9],
        "1, .5, .25 and .125: each is half of the one before": 16.0 ** (-np.arange(0, 8, 2) / 8),
        "about 50.27 positions": [2 * np.pi / 16.0 ** (-6 / 8)],
        "4 · 8192 · 128 in each layer, about 4 million": [4, 8192, 128, 4 * 8192 * 128 / 1e6],
        "8192 · 8192 · 128, which is 2048 times as much": [8192, 8192, 128, 8192**2 * 128 / (4 * 8192 * 128)],
        "1.75 and .75. They differ by 1": [2 - 0.25, 2 - 5 * 0.25, 1],
        "it leaves 28 % for tokens more than one step away": [100 * _share(-1.5, -1, -0.5, 0, 0.75)[:3].sum()],
        "the weights are .7311 and .2689": _share(1.75, 0.75),
    },
    "09_kv_cache": {
        "The rows allow 5, 6 and 7 keys: 18 entries of 21": [4 + 1, 4 + 2, 4 + 3, 5 + 6 + 7, 3 * 7],
        "2 · 2 · 2 · 10 · 8 · 2 = 1280 bytes": [2, 2, 2, 10, 8, 2, 2 * 2 * 2 * 10 * 8 * 2],
        "37: their caches take 358 GB, and those of 36 texts 348 GB": [
            *(37, 37 * 9663676416 / 1e9),
            *(36, 36 * 9663676416 / 1e9),
        ],
        "query heads 2 and 3 share key-value head 1": [2, 3, 3 // (6 // 3)],
        "for all 1000 tokens of a text it moves 500 500": [1000, *divmod(sum(range(1, 1001)), 1000)],
        "350 GB of parameters and up to 9.7 GB of cache": [175e9 * 2 / 1e9, _GPT_CACHE],
        "For 36 users, it reads 350 GB and 348 GB, and makes 36. That is 19 GB for each token, and not 360": [
            *(36, 350, 36 * _GPT_CACHE, 36, (350 + 36 * _GPT_CACHE) / 36, 350 + _GPT_CACHE),
        ],
        "For a head of width 128 and 4096 tokens, a full cache has 1 048 576 numbers": [
            *(128, 4096, 2 * 128 * 4096 // 10**6, 2 * 128 * 4096 // 1000 % 1000, 2 * 128 * 4096 % 1000),
        ],
        "a window of 512 has 131 072, and the state 16 512": [
            *(512, *divmod(2 * 128 * 512, 1000), *divmod(128 * 128 + 128, 1000)),
        ],
    },
    "10_flash_attention": {
        "the factor is $e^{-1}$ = .3679, and $l$ is 1.7358": [-1, np.exp(-1), 2 * np.exp(-1) + 1],
        "It becomes (.1320, .1320, .1399, .2167). The sum is .6206, not 1": [*_DIVIDED, _DIVIDED.sum(), 1],
        "1 / 1.7358 = .5761": [1, 2 * np.exp(-1) + 1, _share(0, 0, 1)[2]],
        "3 · 3 = 9 tiles, the last ones smaller. 1 + 2 + 3 = 6 are computed": [3, 3, 9, 1, 2, 3, np.tri(3).sum()],
        "with tiles of 128 keys, 1 for every 256": [128, 1, 2 * 128],
        "the weights for 32 texts of 2048 tokens would take 4.9 TB in float32": [
            *(32, 2048, 96 * 96 * 32 * 2048**2 * 4 / 1e12, 32),
        ],
        ".2254 for *The* and .1475 for *cat*": [(weights(Q, K) @ V)[0, 0], (weights(Q, K) @ V)[1, 1]],
        "A score of width 64 costs 64 multiplications": [64, 64],
        "The output is .75 · 2 + .25 · 6 = 3": [0.75, 2, 0.25, 6, _of(0.75, 0.25) @ _of(2, 6)],
        ".75 · (2 − 3) = −.75 and .25 · (6 − 3) = .75": [*(0.75, 2, 3, 0.75 * (2 - 3)), *(0.25, 6, 3, 0.25 * (6 - 3))],
        "$e^{-2}$ = .1353: $l$ is 3 · .1353 + 1 = 1.4060": [
            *(-2, np.exp(-2), 3, np.exp(-2), 1),
            3 * np.exp(-2) + 1,
        ],
    },
    "11_efficient_attention": {
        "all weights are between .17 and .23": [_LINEAR.min(), _LINEAR.max()],
        "Take the query (9, 0) and the keys (9, −9) and (−9, 9): the weights are about 10 : 1": [
            *(9, 0, 9, -9, -9, 9),
            (_PHI_9[0] @ _PHI_9[1]) / (_PHI_9[0] @ _PHI_9[2]),
            1,
        ],
        "With the exponential they are $e^{162}$ : 1": [9 * 9 - -9 * 9, 1],
        "1 + 2 + 3 + 3 + 3 + 3 = 15, and 21 without a window": [1, 2, 3, 3, 3, 3, 1 + 2 + 4 * 3, np.tri(6).sum()],
        "the products are 3 and 3, so the output is the mean, 6": [*_PHI_K @ _of(1, 2), _of(4, 8).mean()],
        "is (28, 4), the sum of features is (4, 1)": [*_of(4, 8) @ _PHI_K, *_PHI_K.sum(axis=0)],
        "(1 · 28 + 2 · 4) / (1 · 4 + 2 · 1) = 36 / 6 = 6": [1, 28, 2, 4, 1, 4, 2, 1, 36, 6, 6],
        "it finds all 12, each with a weight of .4414": [12, (_EYE[0] @ _EYE[0]) / (_EYE[0] @ _EYE.T).sum()],
        "Each layer reaches 4 positions further: 3 layers": [5 - 1, 12 / 4],
        "For 256 vectors that is 8 % at the length 1, and 563 % at the length 3": [
            *(256, 100 * np.sqrt((np.exp(1) - 1) / 256), 1),
            *(100 * np.sqrt((np.exp(9) - 1) / 256), 3),
        ],
        "with 256 out of 131 072, that is 512 times fewer": [256, 131, 72, 131_072 / 256],
        "With a factor of .99, a token has half of its share after 69 more tokens": [0.99, np.log(0.5) / np.log(0.99)],
        "the last hundred tokens hold 63 % of everything": [100 * (1 - 0.99**100)],
    },
    "12_transformer": {
        "where only cat and mat are left with .6225 and .3775": _share(2, 1.5),
        "The loss is $-\\ln .125$, which is 3 times $\\ln 2$": [0.125, -np.log(0.125) / np.log(2), 2],
        "because .5 does not reach 0.6 and .75 does": [0.5, 0.6, 0.5 + 0.25],
        "They become .6667 and .3333": _of(0.5, 0.25) / 0.75,
        "The mean of the squares is 6.25, and its root is 2.5": [_TOKEN @ _TOKEN / 4, np.sqrt(_TOKEN @ _TOKEN / 4)],
        "The token becomes (1.2, 1.6, 0, 0)": _TOKEN / np.sqrt(_TOKEN @ _TOKEN / 4),
        "3 · 10 · 20 = 600, and 4 · (10 · 10 + 10) = 440": [
            *(3, 10, 20, 3 * 10 * 20),
            *(4, 10, 10, 10, 4 * (10 * 10 + 10)),
        ],
    },
    "13_triton_flash": {
        "on itself gets .3137": [_share(0.5, 0.5, 0, 1, 0.5)[3]],
        "that key takes .1035": [_share(0.5, 0.5, 0, 1, 0.5, 0)[5]],
        "300 / 64 is rounded up to 5, so there are 5 · 3 = 15 programs": [300, 64, np.ceil(300 / 64), 5, 3, 15],
        "has the rows 256 to 319, and 20 of them": [4 * 64, 5 * 64 - 1, 5 * 64 - 300],
        "keeps 10 bits after the leading one": [10],
        "off by up to 1 in 2048, and a product by up to about 1 in 1024": [
            *(1, 1 / 2.0**-11),
            *(1, 1 / ((1 + 2.0**-11) ** 2 - 1)),
        ],
        "each true key has .25 and not .5": [_share(0, 0, 0, 0)[0], _share(0, 0)[0]],
        "$e^{-5} / (2 + 2 e^{-5})$ = .0033": [-5, 2, 2, -5, _share(-5, -5, 0, 0)[0]],
        "That is 1 + 2 + 3 + 4 = 10 of 16": [1, 2, 3, 4, np.tri(4).sum(), 4 * 4],
    },
}
