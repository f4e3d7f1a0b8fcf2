"""Prices of torch operations, by the sizes of their input and output tensors.

torch tags many operations as pointwise or reduction; the tag gives their price. The others are listed here. An
operation that is neither tagged nor listed makes a measurement inconclusive, never wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from grader.sandbox.worker.meters.meter import Meter

Tensors = list[torch.Tensor]


class OperationDone(NamedTuple):
    """A finished operation: its input tensors, its result, and the tensors of the result that are new memory."""

    meter: Meter
    at: int
    name: str
    given: Tensors
    new: Tensors
    result: Any
    args: Any = ()

    def computed(self, size: int) -> None:
        self.meter.computed(self.at, size)

    def moved(self, size: int) -> None:
        self.meter.worked(self.at, size)

    def multiplied_and_added(self, size: int) -> None:
        self.meter.multiplied_and_added(self.at, size)


TorchPrice = Callable[[OperationDone], None]
PRODUCTS = {"mul", "square", "pow", "addcmul", "addcdiv", "float_power", "lerp", "prod", "cumprod", "addr", "ger"}


def elementwise(done: OperationDone) -> None:
    """Arithmetic on every entry of tensors that are broadcast together."""
    size = max((one.numel() for one in (*done.given, *done.new)), default=1)
    done.computed(size)
    if done.name.strip("_") in PRODUCTS:
        done.meter.multiplied(done.at, size, scalar=False)


def reduction(done: OperationDone) -> None:
    """Operations that read every entry of the first tensor once."""
    elementwise(done._replace(given=done.given[:1]))


def moved(done: OperationDone) -> None:
    """Operations that rearrange entries: free if the result is a view, else its size."""
    done.moved(sum(one.numel() for one in done.new))


def filled(done: OperationDone) -> None:
    """Operations that overwrite every entry of a tensor or view."""
    done.moved(done.given[0].numel())


def put(done: OperationDone) -> None:
    """Operations that write some entries: as many as there are indices or values."""
    size = max(one.numel() for one in done.given[1:])
    if done.name == "index_fill_":
        target, axis = done.given[0], int(done.args[1])
        size *= target.numel() // max(1, target.shape[axis])
    if done.name.strip("_") in _ADDING:
        done.computed(size)
    else:
        done.moved(size)


def put_in_a_copy(done: OperationDone) -> None:
    """The same operations where they return a new tensor."""
    moved(done)
    put(done)


def free(done: OperationDone) -> None:
    """Operations whose cost does not depend on size."""


def sorting(done: OperationDone) -> None:
    """Sorts: each entry is read about log2(size) times."""
    size = done.given[0].numel()
    done.moved(size * size.bit_length())


def product(done: OperationDone) -> None:
    """mm, bmm, mv, dot: a multiply-add for each entry of the first factor and each column of the second."""
    a, b = done.given[-2:]  # in addmm and similar, the tensor to add comes first
    columns = b.shape[-1] if b.ndim > 1 else 1
    done.multiplied_and_added(a.numel() * columns)
    if len(done.given) > 2:
        done.computed(done.result.numel())


def convolution(done: OperationDone) -> None:
    """Convolutions: each entry of the result is a sum over one filter."""
    transposed = len(done.args) > 6 and done.args[6] is True
    places = done.given[0] if transposed else done.result
    done.multiplied_and_added(places.numel() * done.given[1][0].numel())


def distance(done: OperationDone) -> None:
    """Distances between all pairs of rows."""
    done.multiplied_and_added(done.result.numel() * done.given[0].shape[-1])


def attention(done: OperationDone) -> None:
    """Fused attention: scores and output. All scores are never in memory at once."""
    q, k, v = done.given[:3]
    done.multiplied_and_added(q.numel() * k.shape[-2] + q[..., 0].numel() * k.shape[-2] * v.shape[-1])


def multi_head_attention(done: OperationDone) -> None:
    """Multi-head attention as one operation: four projections and the attention of all heads."""
    q, k, _ = done.given[:3]
    width, queries, keys = q.shape[-1], q[..., 0].numel(), k[..., 0].numel()
    done.multiplied_and_added(2 * (queries + keys) * width**2 + 2 * q.numel() * k.shape[-2])


@cache
def price_of(operation: Any, name: str) -> TorchPrice | None:
    """Return the price of an operation, or None."""
    if name in _FILLED:
        return filled
    if name in _PUT:
        return put
    plain = name.strip("_")
    if plain in _PRICES:
        return _PRICES[plain]
    tags = getattr(operation, "tags", ())
    if torch.Tag.pointwise in tags:
        return elementwise
    return reduction if torch.Tag.reduction in tags else None


_PRICES: dict[str, TorchPrice] = {
    name: price
    for price, names in {
        product: "mm bmm mv dot vdot addmm baddbmm addmv sspaddmm addmm_activation int_mm",
        convolution: "convolution mkldnn_convolution thnn_conv2d slow_conv2d_forward",
        distance: "cdist_forward euclidean_dist pdist_forward",
        attention: """scaled_dot_product_flash_attention_for_cpu scaled_dot_product_flash_attention
            scaled_dot_product_efficient_attention scaled_dot_product_cudnn_attention""",
        multi_head_attention: "native_multi_head_attention",
        elementwise: """softmax log_softmax safe_softmax softmax_backward_data log_softmax_backward_data native_dropout
            native_dropout_backward fused_dropout masked_softmax masked_scale addr ger outer threshold_backward
            nan_to_num embedding_renorm native_layer_norm cumsum cumprod logcumsumexp cummax cummin softmax_backward
            addcmul addcdiv lerp bernoulli uniform normal exponential random dropout where floor_divide masked_fill""",
        reduction: """sum mean amax amin max min prod any all argmax argmin std var var_mean std_mean logsumexp norm
            linalg_vector_norm aminmax count_nonzero equal is_nonzero is_all_true is_any_true trace median nanmedian
            mode sum_to_size isin bincount histc nll_loss_forward nll_loss2d_forward""",
        moved: """view unsafe_view reshape reshape_alias expand permute transpose t slice select unsqueeze squeeze
            as_strided detach alias split split_with_sizes unbind diagonal unfold view_as_real view_as_complex clone
            to_copy copy cat stack index index_select gather masked_select repeat repeat_interleave roll flip rot90
            tril triu zeros ones full empty empty_strided empty_like zeros_like ones_like full_like new_zeros
            new_ones new_full new_empty new_empty_strided arange linspace logspace eye rand randn rand_like randn_like
            randint randint_like randperm scalar_tensor tril_indices triu_indices constant_pad_nd pad narrow movedim
            lift_fresh lift_fresh_copy lift nonzero one_hot diag_embed diag take take_along_dim embedding conj_physical
            resolve_conj resolve_neg conj neg_view select_scatter slice_scatter diagonal_scatter index_fill block_diag
            combinations cartesian_prod im2col col2im unsafe_split slice_backward select_backward expand_copy view_copy
            permute_copy transpose_copy t_copy squeeze_copy unsqueeze_copy select_copy slice_copy unfold_backward
            tile channel_shuffle pixel_shuffle unique_dim""",
        put_in_a_copy: """scatter scatter_add index_put index_add index_copy masked_scatter scatter_reduce
            index_reduce""",
        sorting: "sort topk argsort kthvalue msort unique unique2 searchsorted bucketize unique_consecutive",
        free: """sym_size sym_numel sym_stride sym_storage_offset is_same_size size stride numel dim device
            local_scalar_dense item assert_async assert_scalar has_same_storage_numel set requires_grad
            is_contiguous is_pinned record_stream nested_tensor_size shape_as_tensor version""",  # resize may copy
    }.items()
    for name in names.split()
}
# Operations that write in place.
_FILLED = {"copy_", "fill_", "zero_"}
_PUT = {"index_put_", "_index_put_impl_", "scatter_", "scatter_add_", "index_add_", "index_fill_", "index_copy_"}
_PUT |= {"masked_scatter_", "scatter_reduce_", "index_reduce_"}
_ADDING = {"scatter_add", "index_add", "scatter_reduce", "index_reduce"}
