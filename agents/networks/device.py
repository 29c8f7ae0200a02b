"""PyTorch devices by name."""

import torch


def find_device(name: str) -> torch.device:
    """Return a device that PyTorch can use on this machine.

    Args:
        name: such as `"cpu"`, `"cuda"` or `"cuda:1"`.

    Raises:
        ValueError: if there is no such device here.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()
    except Exception as error:  # each backend of PyTorch raises other errors
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(
            f"device must be one that PyTorch has here, such as cpu or cuda, got {name!r}: {reason}"
        ) from None
    return device
