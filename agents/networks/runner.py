"""Inference of networks on a GPU or a CPU, in float32, bfloat16 or 16-bit integers."""

import copy
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks import fused
from ludoteca.agents.networks.device import find_device
from ludoteca.agents.networks.layers import Trunk
from ludoteca.agents.networks.vectors import LANES
from ludoteca.envs.params import check_choice

Precision = Literal["auto", "float32", "bfloat16"]
InferencePrecision = Literal["auto", "float32", "bfloat16", "int16"]
Backend = Literal["auto", "torch", "compiled"]
# Types of PyTorch's weights by precision; compiled networks convert them to integers.
DTYPES: dict[InferencePrecision, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "int16": torch.float32,
}
BFLOAT16_UNITS = {"amx_bf16", "avx512_bf16"}  # flags of CPUs in /proc/cpuinfo
# Positions per forward pass; larger batches are not faster and take more memory.
MAX_BATCH = 1024


class Runner:
    """Inference of a network, with NumPy arrays as input and output.

    Attributes:
        precision: precision of the computation, `"float32"`, `"bfloat16"` or `"int16"`.
        backend: `"torch"` or `"compiled"`.
    """

    def __init__(
        self,
        network: nn.Module,
        scale: float = 1.0,
        device: str = "cpu",
        precision: InferencePrecision = "float32",
        backend: Backend = "torch",
    ):
        """Make a runner with a copy of the weights.

        Args:
            network: the network; its weights are copied.
            scale: factor by which planes are multiplied before they enter the network.
            device: device, such as `"cpu"` or `"cuda"`.
            precision: `"bfloat16"` is several times faster on CPUs and GPUs with bfloat16 units,
                and has three significant digits. `"int16"` is for compiled networks on CPUs, about
                1.5 times as fast as `"float32"`, and more exact than `"bfloat16"` (see
                `int16_products`). `"auto"`: `"int16"` if `backend` is not `"torch"` and the network
                can be compiled with it; else `"float32"` with `backend="compiled"`, otherwise the
                result of `faster_precision`.
            backend: `"torch"`: PyTorch's layers; `"compiled"`: one compiled function for all layers
                of a policy-value network, several times faster for small batches on CPUs, and equal
                up to rounding (see `compiled_network`); `"auto"`: compiled where possible.

        Raises:
            ValueError: if a parameter is out of range, or the network cannot be compiled.
        """
        check_choice("precision", precision, ("auto", *DTYPES))
        check_choice("backend", backend, ("auto", "torch", "compiled"))
        self._scale, self._device = scale, find_device(device)
        self._original = copy.deepcopy(network).to(self._device).eval()
        self.precision = self._find_precision(precision, backend)
        self.backend: Backend = "torch" if backend == "torch" else self._find_backend(backend)
        self._running = self._convert()

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the converted network, which depends on the machine."""
        return vars(self) | {"_running": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._running = self._convert()

    def load(self, network: nn.Module) -> None:
        """Copy the weights of a network of the same architecture."""
        modules = [self._original]
        if isinstance(self._running, nn.Module) and self._running is not self._original:
            modules.append(self._running)
        with torch.no_grad():
            for module in modules:
                weights, module_weights = network.state_dict(), module.state_dict()
                for name, tensor in module_weights.items():
                    tensor.copy_(weights[name])
        if self.backend == "compiled":
            self._running = self._convert()

    def __call__(self, planes: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the outputs, float32 `[K, ...]`, for planes `[K, planes, rows, columns]`."""
        batches = [  # also for K = 0, for the shape of the outputs
            self._run(planes[k : k + MAX_BATCH]) for k in range(0, max(len(planes), 1), MAX_BATCH)
        ]
        return batches[0] if len(batches) == 1 else np.concatenate(batches)

    def _run(self, planes: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the outputs of one batch."""
        if self.backend == "compiled":
            compiled_outputs: NDArray[np.float32] = self._running(planes)
            return compiled_outputs
        with torch.inference_mode():
            outputs: Tensor = self._running(
                to_tensor(planes, self._scale, self._device, self._type)
            )
            result: NDArray[np.float32] = outputs.float().cpu().numpy()
            return result

    @property
    def _type(self) -> torch.dtype:
        """Type of the computation."""
        return DTYPES[self.precision]

    def _find_precision(
        self, precision: InferencePrecision, backend: Backend
    ) -> InferencePrecision:
        """Return the precision, with `"auto"` resolved.

        Raises:
            ValueError: if it is `"int16"`, and the network cannot be compiled with it.
        """
        compiles = False
        if backend != "torch" and self._device.type == "cpu":
            compiles = _compiled_network().can_compile_int16(self._original)
        if precision == "int16" and not compiles:
            raise ValueError(
                "precision='int16' needs backend='compiled' or 'auto', a CPU with AVX2 or AVX-512, "
                f"and a policy-value network with a multiple of {2 * LANES} filters"
            )
        if precision != "auto":
            return precision
        if compiles:
            return "int16"
        return "float32" if backend == "compiled" else faster_precision(str(self._device))

    def _find_backend(self, backend: Backend) -> Backend:
        """Return `"compiled"` if the network can be compiled, `"torch"` if not.

        Raises:
            ValueError: if it cannot be compiled, and `backend` is `"compiled"`.
        """
        on_cpu = self._device.type == "cpu" and self._type == torch.float32
        if on_cpu and _compiled_network().can_compile(self._original):
            return "compiled"
        if backend == "compiled":
            raise ValueError(
                "backend='compiled' needs a CPU, float32 or int16, and a policy-value network with "
                f"a multiple of {LANES} filters"
            )
        return "torch"

    def _convert(self) -> Any:
        """Return the network in the form that is run: for the backend and the precision."""
        module: Any = self._original
        if self.backend == "compiled":
            int16 = self.precision == "int16"
            return _compiled_network().CompiledNetwork(module, self._scale, int16)
        if self._type != torch.float32:
            module = copy.deepcopy(module).to(self._type)
        module = module.to(memory_format=torch.channels_last)
        if self._device.type == "cpu" and self.precision == "bfloat16":
            for submodule in module.modules():
                if isinstance(submodule, Trunk):
                    submodule.fused = fused.is_available(self._type)
        return module


def _compiled_network() -> Any:
    """Import the module of compiled networks, which most trainings do not need."""
    from ludoteca.agents.networks import compiled_network

    return compiled_network


@cache
def faster_precision(device: str = "cpu") -> Precision:
    """Return the precision that is faster for convolutions on a device.

    The choice depends on the features of the hardware, not on timing, so that runs are reproducible
    on one machine. CPUs with bfloat16 units are recognized on Linux only.
    """
    if torch.device(device).type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    info = Path("/proc/cpuinfo")
    flags = set(info.read_text().split()) if info.exists() else set()
    return "bfloat16" if flags & BFLOAT16_UNITS else "float32"


def to_tensor(
    planes: NDArray[np.int8], scale: float, device: torch.device, dtype: torch.dtype
) -> Tensor:
    """Return planes, multiplied by `scale`, as a tensor in channels last."""
    tensor = torch.from_numpy(planes).to(device).to(dtype, memory_format=torch.channels_last)
    return tensor if scale == 1 else tensor * scale
