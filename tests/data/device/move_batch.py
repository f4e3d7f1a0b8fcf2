# %% recursive
# Expected: nothing


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% by_a_table
# Expected: nothing


def move_batch(batch, device):
    device = torch.device(device)
    match batch:
        case dict():
            return dict(zip(batch, (move_batch(value, device) for value in batch.values())))
        case list():
            return [move_batch(value, device) for value in batch]
        case tuple():
            return tuple(move_batch(value, device) for value in batch)
        case _ if torch.is_tensor(batch):
            return batch.to(device=device, dtype=batch.dtype, non_blocking=True)
    return batch


# %% cuda_where_it_is_meant
# Expected: nothing


def move_batch(batch, device):
    if torch.is_tensor(batch):
        if torch.device(device).type == "cuda":
            return batch.cuda(torch.device(device).index, non_blocking=True)
        return batch.cpu()
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)([move_batch(value, device) for value in batch])
    return batch


# %% pinned_first
# Expected: nothing


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        if torch.device(device).type == "cuda" and not batch.is_cuda and not batch.is_pinned():
            batch = batch.pin_memory()
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)([move_batch(value, device) for value in batch])
    return batch


# %% blocking
# Expected: blocking


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)  # <-- here
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% only_the_upper_level
# Expected: stray


def move_batch(batch, device):
    return {
        key: value.to(device, non_blocking=True) if isinstance(value, torch.Tensor) else value
        for key, value in batch.items()
    }


# %% always_cuda
# Expected: stray


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.cuda(non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% made_anew
# Expected: blocking


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return torch.tensor(batch.tolist(), dtype=batch.dtype, device=device)  # <-- here
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch
