"""PyTorch devices by name."""

import torch


def find_device(name: str) -> torch.device:
    """Return a device that PyTorch can use on this machine.

    Args:
        name: name of the device, such as `"cpu"`, `"cuda"` or `"cuda:1"`.

    Raises:
        ValueError: if PyTorch cannot use the device.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()
    except Exception as error:  # the backends of PyTorch raise different exceptions
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(
            f"device must be one that PyTorch can use, such as cpu or cuda, got {name!r}: {reason}"
        ) from None
    return device
