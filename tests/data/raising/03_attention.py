"""Right code with one slip that raises."""

# %% matmul_without_transpose
# A product of shapes that do not fit.
# Expected: no name; In this call, Q is
class ScaledDotProductAttention:

    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f'queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}')
        Q = 1.0 * Q
        return Q @ K[..., :-1, :]

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        allowed = True if mask is None else np.asarray(mask) != 0
        scores = np.where(allowed, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        largest = np.where(np.isinf(largest), 0.0, largest)
        exps = np.exp(scores - largest)
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)

    def compute_output(self, weights, V):
        return weights @ (1.0 * V)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f'there are {K.shape[-2]} keys but {V.shape[-2]} values')
        scores = self.compute_scores(Q, K)
        weights = self.compute_weights(self.scale_scores(scores), mask)
        output = self.compute_output(weights, V)
        return (output, weights)

    def explain(self, Q, K, V, tokens, query_idx=0):
        scores = self.compute_scores(Q, K)
        scaled = self.scale_scores(scores)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        told = [f'{tokens[query_idx]} looks at', f"{'token':>12} {'raw':>10} {'scaled':>10} {'weight':>10}"]
        for token, *numbers in zip(tokens, scores[query_idx], scaled[query_idx], weights[query_idx], strict=True):
            told.append(f'{token:>12} ' + ' '.join((f'{number:10.4f}' for number in numbers)))
        told.append('and gets [' + ' '.join((f'{number:.4f}' for number in output[query_idx])) + ']')
        return '\n'.join(told)


# %% misspelt_self
# An attribute that was never set.
# Expected: no name; no line has set self.dk
class ScaledDotProductAttention:

    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f'queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}')
        Q = 1.0 * Q
        return Q @ K.swapaxes(-1, -2)

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.dk))

    def compute_weights(self, scaled_scores, mask=None):
        allowed = True if mask is None else np.asarray(mask) != 0
        scores = np.where(allowed, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        largest = np.where(np.isinf(largest), 0.0, largest)
        exps = np.exp(scores - largest)
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)

    def compute_output(self, weights, V):
        return weights @ (1.0 * V)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f'there are {K.shape[-2]} keys but {V.shape[-2]} values')
        scores = self.compute_scores(Q, K)
        weights = self.compute_weights(self.scale_scores(scores), mask)
        output = self.compute_output(weights, V)
        return (output, weights)

    def explain(self, Q, K, V, tokens, query_idx=0):
        scores = self.compute_scores(Q, K)
        scaled = self.scale_scores(scores)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        told = [f'{tokens[query_idx]} looks at', f"{'token':>12} {'raw':>10} {'scaled':>10} {'weight':>10}"]
        for token, *numbers in zip(tokens, scores[query_idx], scaled[query_idx], weights[query_idx], strict=True):
            told.append(f'{token:>12} ' + ' '.join((f'{number:10.4f}' for number in numbers)))
        told.append('and gets [' + ' '.join((f'{number:.4f}' for number in output[query_idx])) + ']')
        return '\n'.join(told)


# %% without_self
# A method called without self.
# Expected: no name; nothing has the name compute_scores here
class ScaledDotProductAttention:

    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f'queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}')
        Q = 1.0 * Q
        return Q @ K.swapaxes(-1, -2)

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        allowed = True if mask is None else np.asarray(mask) != 0
        scores = np.where(allowed, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        largest = np.where(np.isinf(largest), 0.0, largest)
        exps = np.exp(scores - largest)
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)

    def compute_output(self, weights, V):
        return weights @ (1.0 * V)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f'there are {K.shape[-2]} keys but {V.shape[-2]} values')
        scores = compute_scores(Q, K)
        weights = self.compute_weights(self.scale_scores(scores), mask)
        output = self.compute_output(weights, V)
        return (output, weights)

    def explain(self, Q, K, V, tokens, query_idx=0):
        scores = compute_scores(Q, K)
        scaled = self.scale_scores(scores)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        told = [f'{tokens[query_idx]} looks at', f"{'token':>12} {'raw':>10} {'scaled':>10} {'weight':>10}"]
        for token, *numbers in zip(tokens, scores[query_idx], scaled[query_idx], weights[query_idx], strict=True):
            told.append(f'{token:>12} ' + ' '.join((f'{number:10.4f}' for number in numbers)))
        told.append('and gets [' + ' '.join((f'{number:.4f}' for number in output[query_idx])) + ']')
        return '\n'.join(told)


# %% tilde_of_numbers
# ~ of a mask of numbers.
# Expected: no name; this needs booleans
class ScaledDotProductAttention:

    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f'queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}')
        Q = 1.0 * Q
        return Q @ K.swapaxes(-1, -2)

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        allowed = True if mask is None else ~(1.0 * np.asarray(mask))
        scores = np.where(allowed, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        largest = np.where(np.isinf(largest), 0.0, largest)
        exps = np.exp(scores - largest)
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)

    def compute_output(self, weights, V):
        return weights @ (1.0 * V)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f'there are {K.shape[-2]} keys but {V.shape[-2]} values')
        scores = self.compute_scores(Q, K)
        weights = self.compute_weights(self.scale_scores(scores), mask)
        output = self.compute_output(weights, V)
        return (output, weights)

    def explain(self, Q, K, V, tokens, query_idx=0):
        scores = self.compute_scores(Q, K)
        scaled = self.scale_scores(scores)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        told = [f'{tokens[query_idx]} looks at', f"{'token':>12} {'raw':>10} {'scaled':>10} {'weight':>10}"]
        for token, *numbers in zip(tokens, scores[query_idx], scaled[query_idx], weights[query_idx], strict=True):
            told.append(f'{token:>12} ' + ' '.join((f'{number:10.4f}' for number in numbers)))
        told.append('and gets [' + ' '.join((f'{number:.4f}' for number in output[query_idx])) + ']')
        return '\n'.join(told)


# %% or_of_arrays
# `or` on a mask.
# Expected: no name; asks for one answer
class ScaledDotProductAttention:

    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f'queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}')
        Q = 1.0 * Q
        return Q @ K.swapaxes(-1, -2)

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        allowed = mask or True
        scores = np.where(allowed, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        largest = np.where(np.isinf(largest), 0.0, largest)
        exps = np.exp(scores - largest)
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)

    def compute_output(self, weights, V):
        return weights @ (1.0 * V)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f'there are {K.shape[-2]} keys but {V.shape[-2]} values')
        scores = self.compute_scores(Q, K)
        weights = self.compute_weights(self.scale_scores(scores), mask)
        output = self.compute_output(weights, V)
        return (output, weights)

    def explain(self, Q, K, V, tokens, query_idx=0):
        scores = self.compute_scores(Q, K)
        scaled = self.scale_scores(scores)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        told = [f'{tokens[query_idx]} looks at', f"{'token':>12} {'raw':>10} {'scaled':>10} {'weight':>10}"]
        for token, *numbers in zip(tokens, scores[query_idx], scaled[query_idx], weights[query_idx], strict=True):
            told.append(f'{token:>12} ' + ' '.join((f'{number:10.4f}' for number in numbers)))
        told.append('and gets [' + ' '.join((f'{number:.4f}' for number in output[query_idx])) + ']')
        return '\n'.join(told)


# %% none_plus_array
# A mask that is None is added.
# Expected: no name; a value here is None
class ScaledDotProductAttention:

    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f'queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}')
        Q = 1.0 * Q
        return Q @ K.swapaxes(-1, -2)

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        allowed = mask + 0 != 0
        scores = np.where(allowed, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        largest = np.where(np.isinf(largest), 0.0, largest)
        exps = np.exp(scores - largest)
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)

    def compute_output(self, weights, V):
        return weights @ (1.0 * V)

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f'there are {K.shape[-2]} keys but {V.shape[-2]} values')
        scores = self.compute_scores(Q, K)
        weights = self.compute_weights(self.scale_scores(scores), mask)
        output = self.compute_output(weights, V)
        return (output, weights)

    def explain(self, Q, K, V, tokens, query_idx=0):
        scores = self.compute_scores(Q, K)
        scaled = self.scale_scores(scores)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        told = [f'{tokens[query_idx]} looks at', f"{'token':>12} {'raw':>10} {'scaled':>10} {'weight':>10}"]
        for token, *numbers in zip(tokens, scores[query_idx], scaled[query_idx], weights[query_idx], strict=True):
            told.append(f'{token:>12} ' + ' '.join((f'{number:10.4f}' for number in numbers)))
        told.append('and gets [' + ' '.join((f'{number:.4f}' for number in output[query_idx])) + ']')
        return '\n'.join(told)


# %% torch_name
# A method of PyTorch on an array.
# Expected: no name; an array has no matmul
def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    Q = X @ W_q
    K = X @ W_k
    V = X.matmul(W_v)
    return (Q, K, V)


# %% too_few_values
# Three sizes out of two.
# Expected: no name; takes 3 values out of
class ScaledDotProductAttention:

    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f'queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}')
        Q = 1.0 * Q
        return Q @ K.swapaxes(-1, -2)

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        allowed = True if mask is None else np.asarray(mask) != 0
        scores = np.where(allowed, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        largest = np.where(np.isinf(largest), 0.0, largest)
        exps = np.exp(scores - largest)
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)

    def compute_output(self, weights, V):
        return weights @ (1.0 * V)

    def forward(self, Q, K, V, mask=None):
        batch, n, d_k = Q.shape
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f'there are {K.shape[-2]} keys but {V.shape[-2]} values')
        scores = self.compute_scores(Q, K)
        weights = self.compute_weights(self.scale_scores(scores), mask)
        output = self.compute_output(weights, V)
        return (output, weights)

    def explain(self, Q, K, V, tokens, query_idx=0):
        scores = self.compute_scores(Q, K)
        scaled = self.scale_scores(scores)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        told = [f'{tokens[query_idx]} looks at', f"{'token':>12} {'raw':>10} {'scaled':>10} {'weight':>10}"]
        for token, *numbers in zip(tokens, scores[query_idx], scaled[query_idx], weights[query_idx], strict=True):
            told.append(f'{token:>12} ' + ' '.join((f'{number:10.4f}' for number in numbers)))
        told.append('and gets [' + ' '.join((f'{number:.4f}' for number in output[query_idx])) + ']')
        return '\n'.join(told)
