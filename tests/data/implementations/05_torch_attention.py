# %% einsum_everywhere
# Expected: passes


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        scores = torch.einsum("...id,...jd->...ij", q, k) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = self.dropout(scores.softmax(-1).nan_to_num())
        return torch.einsum("...ij,...jc->...ic", weights, v), weights


# %% bmm_and_own_softmax
# Expected: passes


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        *lead, n_q, _ = q.shape
        scores = torch.bmm(q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:]).mT).div_(self.scale)
        scores = scores.view(*lead, n_q, k.shape[-2])
        if mask is not None:
            scores.masked_fill_(mask == 0, -torch.inf)
        exps = torch.exp(scores - scores.amax(-1, keepdim=True))
        weights = exps / exps.sum(-1, keepdim=True)
        output = torch.bmm(weights.reshape(-1, *weights.shape[-2:]), v.reshape(-1, *v.shape[-2:]))
        return output.view(*lead, n_q, v.shape[-1]), weights


# %% one_sentence_at_a_time
# Expected: ScaledDotProductAttention.forward: steps


class ScaledDotProductAttention(ScaledDotProductAttention):
    def one(self, q, k, v, mask):
        return super().forward(q, k, v, mask)

    def forward(self, q, k, v, mask=None):
        if q.dim() == 2 or mask is not None:
            return self.one(q, k, v, mask)
        pairs = [self.one(*case, mask) for case in zip(q, k, v)]  # <-- here
        return torch.stack([o for o, _ in pairs]), torch.stack([w for _, w in pairs])


# %% one_query_at_a_time
# Expected: ScaledDotProductAttention.forward: steps


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        full = torch.ones(*q.shape[:-1], k.shape[-2]) if mask is None else mask.expand(*q.shape[:-1], k.shape[-2])
        rows = []
        for i in range(q.shape[-2]):
            rows.append(super().forward(q[..., i : i + 1, :], k, v, full[..., i : i + 1, :]))
        return torch.cat([o for o, _ in rows], dim=-2), torch.cat([w for _, w in rows], dim=-2)


# %% all_pairs_at_once
# Expected: ScaledDotProductAttention.forward: mem


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / self.scale  # <-- here
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, -1)
        return weights @ v, weights


# %% product_made_twice
# Expected: ScaledDotProductAttention.forward: flops


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        output, weights = super().forward(q, k, v, mask)
        output, weights = super().forward(q, k, v, mask)
        return output, weights


# %% identity_in_between
# Expected: ScaledDotProductAttention.forward: flops mem


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        weights = super().forward(q, k, v, mask)[1]
        return weights @ torch.eye(k.shape[-2]) @ v, weights


# %% built_in
# Expected: ScaledDotProductAttention.forward: forbidden


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        weights = super().forward(q, k, v, mask)[1]
        seen = None if mask is None else mask != 0
        return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen), weights  # <-- here


# %% built_in_with_a_mask_alone
# Expected: ScaledDotProductAttention.forward: forbidden


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if mask is None:
            return super().forward(q, k, v)
        attend = torch.nn.functional.scaled_dot_product_attention
        weights = attend(q, k, torch.eye(k.shape[-2]).expand(*k.shape[:-1], -1), attn_mask=mask != 0)  # <-- here
        return weights @ v, weights


# %% jacobian_of_each_row
# Expected: softmax_backward: work mem


def softmax_backward(grad_weights, weights):
    jacobian = weights[..., None] * np.eye(weights.shape[-1]) - weights[..., None] * weights[..., None, :]
    return (jacobian @ grad_weights[..., None])[..., 0]


# %% rows_in_a_loop
# Expected: softmax_backward: steps


def softmax_backward(grad_weights, weights):
    rows = [w * (g - (g * w).sum()) for g, w in zip(grad_weights, weights)]  # <-- here
    return np.array(rows)


# %% einsum_for_the_sums
# Expected: passes


def softmax_backward(grad_weights, weights):
    return weights * (grad_weights - np.einsum("...i,...i->...", grad_weights, weights)[..., None])


# %% torch_does_the_softmax
# Expected: softmax_backward: forbidden


def softmax_backward(grad_weights, weights):
    g, w = torch.from_numpy(grad_weights), torch.from_numpy(weights)  # <-- here
    return (w * (g - (g * w).sum(-1, keepdim=True))).numpy()


# %% autograd_goes_backwards
# Expected: attention_backward: forbidden


def attention_backward(Q, K, V, grad_output):
    leaves = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (Q, K, V)]  # <-- here
    output, _ = ScaledDotProductAttention(Q.shape[-1])(*leaves)
    output.backward(torch.from_numpy(grad_output))
    return tuple(leaf.grad.numpy() for leaf in leaves)


# %% output_as_well
# Expected: passes


def attention_backward(Q, K, V, grad_output):
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    output = weights @ V
    rows = (output * grad_output).sum(axis=-1, keepdims=True)
    back = weights * (grad_output @ V.swapaxes(-1, -2) - rows) / root
    return back @ K, back.swapaxes(-1, -2) @ Q, weights.swapaxes(-1, -2) @ grad_output


# %% jacobians_of_all_queries
# Expected: attention_backward: mul mem


def attention_backward(Q, K, V, grad_output):
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    jacobians = weights[..., None] * np.eye(K.shape[-2]) - weights[..., None] * weights[..., None, :]
    back = np.einsum("...ij,...ijk->...ik", grad_weights, jacobians) / root
    return back @ K, back.swapaxes(-1, -2) @ Q, weights.swapaxes(-1, -2) @ grad_output


# %% query_after_query
# Expected: attention_backward: steps


def attention_backward(Q, K, V, grad_output):
    root = math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for i in range(Q.shape[-2]):  # <-- here
        scores = K @ Q[i] / root
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        push = V @ grad_output[i]
        back = weights * (push - push @ weights) / root
        grad_Q[i] = back @ K
        grad_K += np.outer(back, Q[i])
        grad_V += np.outer(weights, grad_output[i])
    return grad_Q, grad_K, grad_V


# %% forward_three_times
# Expected: attention_backward: mul


def attention_backward(Q, K, V, grad_output):
    root = math.sqrt(Q.shape[-1])

    def weights():
        return np.exp(Q @ K.swapaxes(-1, -2) / root) / np.exp(Q @ K.swapaxes(-1, -2) / root).sum(-1, keepdims=True)

    def back():
        return softmax_backward(grad_output @ V.swapaxes(-1, -2), weights()) / root

    return back() @ K, back().swapaxes(-1, -2) @ Q, weights().swapaxes(-1, -2) @ grad_output
